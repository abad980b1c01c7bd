//! What an answer of a seat says, as commands of its agent. Its shape is looked at
//! loosely: one post that is not there loses one annotation, and not all of them.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::{Choice, Command, Content, Finding, Note, PostId, PostKind, Severity, State};
use super::{Asked, Task, answers};
use crate::fits;
use crate::reject::{Reject, Wrong, told};

#[derive(Deserialize)]
struct Posts {
    posts: Vec<SaidPost>,
}

#[derive(Deserialize)]
struct SaidPost {
    #[serde(rename = "type")]
    kind: PostKind,
    title: String,
    body: String,
    #[serde(default)]
    target_file: Option<String>,
    #[serde(default)]
    target_location: Option<String>,
    #[serde(default)]
    severity: Option<Severity>,
}

#[derive(Deserialize)]
struct Notes {
    annotations: Vec<SaidNote>,
}

#[derive(Deserialize)]
struct SaidNote {
    post: String,
    #[serde(rename = "type")]
    kind: String,
    body: String,
    #[serde(default)]
    result: Option<Finding>,
}

#[derive(Deserialize)]
struct Votes {
    votes: Vec<SaidVote>,
}

#[derive(Deserialize)]
struct SaidVote {
    post: String,
    vote: Choice,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    body: String,
}

/// Each is a command, or what is wrong with it.
pub(super) fn commands(
    board: &State,
    asked: &Asked,
    text: &str,
) -> Result<Vec<Result<Command, Reject>>, String> {
    let agent = || asked.agent.clone();
    Ok(match &asked.task {
        Task::Post => {
            let Posts { posts } = found(text, &shape("posts"))?;
            let command = |post| Ok(Command::Post { agent: agent(), content: content(post) });
            posts.into_iter().map(command).collect()
        }
        Task::Validate | Task::Debate => {
            let Notes { annotations } = found(text, &shape("annotations"))?;
            let command = |said: SaidNote| {
                let note = note(&asked.task, &said)?;
                Ok(Command::Annotate {
                    agent: agent(),
                    post: PostId(said.post),
                    note,
                    body: said.body,
                })
            };
            annotations.into_iter().map(command).collect()
        }
        Task::Rebut { challenge } => {
            let schema = answers::object(json!({ "body": answers::text() }), &["body"]);
            let Said { body } = found(text, &schema)?;
            let of = |post: &&Arc<super::Post>| {
                post.annotations.iter().any(|note| note.id == *challenge)
            };
            let post = board.posts.iter().find(of).map(|post| post.id.clone());
            let post = post.ok_or_else(|| "the challenge is not there any more".to_owned())?;
            let note = Note::Rebuttal { challenge: Some(challenge.clone()) };
            vec![Ok(Command::Annotate { agent: agent(), post, note, body })]
        }
        Task::Vote => {
            let Votes { votes } = found(text, &shape("votes"))?;
            let command = |said: SaidVote| {
                let (post, choice) = (PostId(said.post), said.vote);
                Ok(Command::Vote { agent: agent(), post, choice, reason: said.reason })
            };
            votes.into_iter().map(command).collect()
        }
    })
}

/// A list of maps under this name.
fn shape(name: &str) -> Value {
    answers::list(name, json!({ "type": "object" }))
}

fn found<T: serde::de::DeserializeOwned>(text: &str, schema: &Value) -> Result<T, String> {
    let value = fits::json_of(text, schema)?;
    serde_json::from_value(value)
        .map_err(|error| format!("The answer does not have the form asked for: {error}."))
}

fn content(said: SaidPost) -> Content {
    Content {
        kind: said.kind,
        title: answers::title(&said.title),
        body: said.body,
        // A place without its file is of no use, and no reason to lose the post.
        target_location: said.target_location.filter(|_| said.target_file.is_some()),
        target_file: said.target_file,
        severity: said.severity,
        finding_refs: vec![],
        cascade_targets: vec![],
    }
}

fn note(task: &Task, said: &SaidNote) -> Result<Note, Reject> {
    match (task, said.kind.as_str(), said.result) {
        (Task::Validate, "validation", Some(result)) => Ok(Note::Validation { result }),
        (Task::Validate, "validation", None) => {
            let problem = "a validation needs a result: confirmed, refuted or inconclusive";
            Err(Reject::Invalid(vec![Wrong::new("result", problem)]))
        }
        (Task::Debate, "challenge", _) => Ok(Note::Challenge),
        (Task::Debate, "corroboration", _) => Ok(Note::Corroboration),
        _ => Err(Reject::Invalid(vec![Wrong::new("type", "was not asked for")])),
    }
}

/// Why the board did not take something, in a sentence.
pub(super) fn why(reject: Reject) -> String {
    match reject {
        Reject::Invalid(wrong) => told(wrong).0,
        Reject::NotNow { message, .. }
        | Reject::Unknown(message)
        | Reject::Forbidden(message)
        | Reject::NotInvited(message)
        | Reject::Taken(message) => message,
        Reject::Stale => "It came too late.".to_owned(),
    }
}
