//! A model is asked: for itself, or as a seat at a whiteboard that sees its own view of
//! the board and nothing else.

use serde_json::{Map, Value, json};

use super::calls::{What, ask_call};
use super::event::{Place, Seat};
use super::fits::misfit;
use super::kinds::{Act, POSTS, SEVERITIES};
use super::{Attempt, State};
use crate::budget::Allowance;
use crate::call::{Answer, Ask, Message, Patience, Shape, Speaker};
use crate::ids::CallId;
use crate::quote::{quoted, quoting};
use crate::spoken;

/// Places at which JSON is looked for in an answer.
const PLACES: usize = 64;

impl State {
    /// The words of a question that is due.
    pub(super) fn question(&self, call: &CallId) -> Option<Ask> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        let What::Ask(place) = wanted.what else { return None };
        let (act, with) = self.act(&place)?;
        let Attempt::Asking { seat, asked, so_far } = self.attempt(&place)? else { return None };
        debug_assert_eq!(
            self.steps.get(&place).map(|step| ask_call(&place, step)).as_ref(),
            Some(call)
        );
        let text = |name: &str| with.get(name).and_then(Value::as_str).unwrap_or_default();
        let schema = schema(act, with).map(|schema| about(schema, &seat.posts));
        let (system, prompt) = match act {
            Act::Ask => {
                let own = text("system");
                let system =
                    [seat.system.as_str(), own].into_iter().filter(|part| !part.is_empty());
                (system.collect::<Vec<_>>().join("\n\n"), text("prompt").to_owned())
            }
            Act::Boardroom
            | Act::Discussion
            | Act::WhiteboardOpen
            | Act::WhiteboardRegister
            | Act::WhiteboardPost
            | Act::WhiteboardAnnotate
            | Act::WhiteboardVote
            | Act::WhiteboardTransition
            | Act::WhiteboardConflicts
            | Act::WhiteboardSummarize
            | Act::WhiteboardArchive
            | Act::CouncilOpen
            | Act::CouncilPost
            | Act::CouncilRead
            | Act::CouncilClose
            | Act::Workflow
            | Act::Http
            | Act::Write => (
                self.standing_of(seat, text("as")),
                self.board_question(seat, act, text("ask"), *asked, so_far),
            ),
        };
        let prompt = match &schema {
            Some(schema) => format!(
                "{}\n\nAnswer with JSON that follows this schema, and nothing else:\n{schema}",
                prompt.trim_end()
            ),
            None => prompt,
        };
        Some(Ask {
            model: seat.model.clone(),
            system,
            messages: vec![Message::new(Speaker::User, prompt)],
            shape: schema.map_or(Shape::Free, Shape::Json),
            patience: Patience::default(),
            workspace: None,
        })
    }

    /// Whose question a call is, and what that seat may spend.
    pub(super) fn seat_of(&self, call: &CallId) -> Option<(String, Allowance)> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        let What::Ask(place) = wanted.what else { return None };
        let budget = self.definition.step(place.id()).and_then(|step| step.budget);
        Some((self.seat_name(&place), budget.unwrap_or_default().allowance()))
    }

    /// A seat at a whiteboard is the same in all steps; whoever is asked for itself has a
    /// seat in that step alone.
    pub(super) fn seat_name(&self, place: &Place) -> String {
        let with = self.act(place).map(|(_, with)| with);
        let text = |name: &str| with.and_then(|with| with.get(name)).and_then(Value::as_str);
        match (text("board"), text("as")) {
            (Some(board), Some(agent)) => format!("{agent} at {board}"),
            (_, _) => place.to_string(),
        }
    }

    fn standing_of(&self, seat: &Seat, name: &str) -> String {
        let quoting = quoting(&self.code);
        let own =
            if seat.system.is_empty() { String::new() } else { format!("{}\n\n", seat.system) };
        let name = crate::quote::named(name);
        format!(
            "{own}You are {name}, and take part in a whiteboard. What stands on it will {quoting}"
        )
    }

    fn board_question(
        &self,
        seat: &Seat,
        act: Act,
        ask: &str,
        asked: u32,
        so_far: &Value,
    ) -> String {
        let board = quoted("the board as you see it", &seat.view, &self.code);
        let missing = missing(seat, so_far);
        let again = match act == Act::WhiteboardVote && asked > 1 {
            true => {
                format!("\n\nYour votes on these posts are still missing: {}.", missing.join(", "))
            }
            false => String::new(),
        };
        format!("{board}\n{ask}{again}")
    }

    /// What an answer says: the output of `ask`, or what is written on the board.
    pub(super) fn read_answer(&self, place: &Place, answer: &Answer) -> Result<Value, String> {
        let Some((act, with)) = self.act(place) else { return Err("nothing was asked".into()) };
        let text = spoken::own(crate::call::Outcome::Answered(answer.clone()), &self.code);
        let (text, _) = text.handed_back();
        let found = schema(act, with).map(|schema| json_of(&text, &schema)).transpose()?;
        Ok(match act == Act::Ask {
            true => {
                let model = match self.attempt(place) {
                    Some(Attempt::Asking { seat, .. }) => seat.model.0.clone(),
                    Some(_) | None => String::new(),
                };
                json!({ "text": text, "json": found, "model": model, "cut": answer.cut })
            }
            false => found.unwrap_or_default(),
        })
    }

    /// What comes after an answer that could be read: the next question, or the deed.
    pub(super) fn after_answer(&self, place: &Place, answer: &Answer) -> Option<Attempt> {
        let (act, _) = self.act(place)?;
        let Attempt::Asking { seat, asked, so_far } = self.attempt(place)? else { return None };
        let found = self.read_answer(place, answer).unwrap_or_default();
        match act {
            Act::Ask => None,
            Act::WhiteboardVote => {
                let votes = merged(seat, so_far, &found);
                let missing = missing(seat, &votes);
                Some(match missing.is_empty() || *asked > 1 {
                    true => {
                        let answer = json!({ "votes": votes, "abstained": missing });
                        Attempt::Doing { answer: Some(answer) }
                    }
                    false => {
                        Attempt::Asking { seat: seat.clone(), asked: asked + 1, so_far: votes }
                    }
                })
            }
            Act::Boardroom
            | Act::Discussion
            | Act::WhiteboardOpen
            | Act::WhiteboardRegister
            | Act::WhiteboardPost
            | Act::WhiteboardAnnotate
            | Act::WhiteboardTransition
            | Act::WhiteboardConflicts
            | Act::WhiteboardSummarize
            | Act::WhiteboardArchive
            | Act::CouncilOpen
            | Act::CouncilPost
            | Act::CouncilRead
            | Act::CouncilClose
            | Act::Workflow
            | Act::Http
            | Act::Write => Some(Attempt::Doing { answer: Some(found) }),
        }
    }
}

fn post_of(vote: &Value) -> Option<&str> {
    vote.get("post").and_then(Value::as_str)
}

/// All votes on posts of the board, the first on each.
fn merged(seat: &Seat, so_far: &Value, found: &Value) -> Value {
    let mut votes: Vec<Value> = so_far.as_array().cloned().unwrap_or_default();
    for vote in found.get("votes").and_then(Value::as_array).into_iter().flatten() {
        let Some(post) = post_of(vote) else { continue };
        let is_new = !votes.iter().any(|other| post_of(other) == Some(post));
        if is_new && seat.posts.iter().any(|known| known == post) {
            votes.push(vote.clone());
        }
    }
    Value::Array(votes)
}

fn missing(seat: &Seat, votes: &Value) -> Vec<String> {
    let has = |post: &&String| {
        votes.as_array().is_some_and(|votes| votes.iter().any(|vote| post_of(vote) == Some(post)))
    };
    seat.posts.iter().filter(|post| !has(post)).cloned().collect()
}

/// What an answer has to look like.
pub(super) fn schema(act: Act, with: &Map<String, Value>) -> Option<Value> {
    let of = |fields: Value, required: Value| json!({ "type": "object", "properties": fields, "required": required });
    let list = |name: &str, item: Value| {
        of(json!({ name: { "type": "array", "items": item } }), json!([name]))
    };
    let text = json!({ "type": "string" });
    match act {
        Act::Ask => with.get("schema").cloned(),
        Act::WhiteboardPost => Some(of(
            json!({
                "title": text, "body": text,
                "type": { "enum": POSTS },
                "target_file": text, "target_location": text,
                "severity": { "enum": SEVERITIES },
            }),
            json!(["title", "body"]),
        )),
        Act::WhiteboardAnnotate => Some(list(
            "annotations",
            of(
                json!({
                    "post": text, "body": text,
                    "type": { "enum": ["validation", "challenge", "corroboration", "rebuttal", "resolution"] },
                    "result": { "enum": ["confirmed", "refuted", "inconclusive"] },
                }),
                json!(["post", "type", "body"]),
            ),
        )),
        Act::WhiteboardVote => Some(list(
            "votes",
            of(
                json!({ "post": text, "vote": { "enum": ["accept", "reject", "defer"] }, "reason": text }),
                json!(["post", "vote"]),
            ),
        )),
        Act::Boardroom
        | Act::Discussion
        | Act::WhiteboardOpen
        | Act::WhiteboardRegister
        | Act::WhiteboardTransition
        | Act::WhiteboardConflicts
        | Act::WhiteboardSummarize
        | Act::WhiteboardArchive
        | Act::CouncilOpen
        | Act::CouncilPost
        | Act::CouncilRead
        | Act::CouncilClose
        | Act::Workflow
        | Act::Http
        | Act::Write => None,
    }
}

/// Where posts are answered, they are named as they are called: a small model that is held
/// to the schema cannot name one that is not there.
fn about(mut schema: Value, posts: &[String]) -> Value {
    for list in ["annotations", "votes"] {
        let path = format!("/properties/{list}/items/properties/post");
        if let Some(post) = schema.pointer_mut(&path).filter(|_| !posts.is_empty()) {
            *post = json!({ "enum": posts });
        }
    }
    schema
}

/// The first JSON in a text that follows the schema.
pub(super) fn json_of(text: &str, schema: &Value) -> Result<Value, String> {
    let mut why = "there is no JSON in the answer".to_owned();
    let begins = text.match_indices(['{', '[']).map(|(at, _)| at);
    let whole = std::iter::once(text.len() - text.trim_start().len());
    for at in whole.chain(begins).take(PLACES) {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        match misfit(&value, schema) {
            None => return Ok(value),
            Some(problem) => why = problem,
        }
    }
    Err(format!("The answer does not have the form asked for: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_and_annotations_can_only_name_posts_that_are_there() {
        let posts = ["ann/1".to_owned(), "ben/1".to_owned()];
        for (act, list) in
            [(Act::WhiteboardVote, "votes"), (Act::WhiteboardAnnotate, "annotations")]
        {
            let schema = schema(act, &Map::new()).unwrap();
            let path = format!("/properties/{list}/items/properties/post");
            assert_eq!(about(schema.clone(), &[]), schema);
            assert_eq!(about(schema, &posts).pointer(&path), Some(&json!({ "enum": posts })));
        }
    }
}
