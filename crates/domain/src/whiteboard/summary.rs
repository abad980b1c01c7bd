//! Where a board stands: counts and tallies, made by code from what a viewer sees.

use super::{Annotation, Choice, Finding, Note, Phase, PostId, PostKind, State};
use crate::ids::AgentName;
use crate::view::{Board, Seen};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Summary {
    pub agents: usize,
    /// In the blind phase those who lead know of more than `lines` has.
    pub posts: usize,
    pub annotations: usize,
    pub votes: usize,
    pub lines: Vec<Line>,
    /// Challenges that nobody has settled or taken back: post, challenge, challenger.
    pub unresolved: Vec<(PostId, super::AnnotationId, AgentName)>,
    pub unvalidated: Vec<PostId>,
    pub outcome: Outcome,
}

/// One post without its body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    pub id: PostId,
    pub author: AgentName,
    pub kind: PostKind,
    pub title: String,
    pub standing: Standing,
    pub tally: Tally,
    pub confirmed: usize,
    pub refuted: usize,
    pub inconclusive: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    Surviving,
    /// Somebody has refuted it.
    Excluded,
    Withdrawn,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub accept: usize,
    pub reject: usize,
    pub defer: usize,
}

/// What the votes say about the proposals that survive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// More accept than reject, and none has a greater lead, or the same lead with
    /// as many who accept.
    Accepted(PostId),
    /// Several have the same lead, and as many who accept.
    Tied(Vec<PostId>),
    Undecided,
}

/// Whether the phase has done its work. Advice only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Readiness {
    pub ready: bool,
    pub why_not: Vec<String>,
}

pub fn summarize(board: &Board<'_>) -> Summary {
    let lines: Vec<Line> = board.posts.iter().map(line).collect();
    let standing = board.posts.iter().filter(|seen| !seen.post.withdrawn);
    let unresolved = standing.clone().flat_map(|seen| {
        let open = seen.annotations.iter().filter(|a| a.is_open_challenge());
        open.map(|a| (seen.post.id.clone(), a.id.clone(), a.by.clone()))
    });
    let unvalidated = standing.filter(|seen| validations(&seen.annotations).is_empty());
    Summary {
        agents: board.members.len(),
        posts: board.known_posts,
        annotations: board.posts.iter().map(|seen| seen.annotations.len()).sum(),
        votes: board.posts.iter().map(|seen| seen.votes.len()).sum(),
        unresolved: unresolved.collect(),
        unvalidated: unvalidated.map(|seen| seen.post.id.clone()).collect(),
        outcome: outcome(&lines),
        lines,
    }
}

/// A post in one line.
pub fn line(seen: &Seen<'_>) -> Line {
    let validations = validations(&seen.annotations);
    let count = |wanted| validations.iter().filter(|finding| **finding == wanted).count();
    let refuted = count(Finding::Refuted);
    let standing = match (seen.post.withdrawn, refuted) {
        (true, _) => Standing::Withdrawn,
        (false, 0) => Standing::Surviving,
        (false, _) => Standing::Excluded,
    };
    let votes = |wanted| seen.votes.iter().filter(|vote| vote.choice == wanted).count();
    Line {
        id: seen.post.id.clone(),
        author: seen.post.author.clone(),
        kind: seen.post.content.kind,
        title: seen.post.content.title.clone(),
        standing,
        tally: Tally {
            accept: votes(Choice::Accept),
            reject: votes(Choice::Reject),
            defer: votes(Choice::Defer),
        },
        confirmed: count(Finding::Confirmed),
        refuted,
        inconclusive: count(Finding::Inconclusive),
    }
}

/// Each validator's last word.
fn validations(annotations: &[&Annotation]) -> Vec<Finding> {
    let mut last: Vec<(&AgentName, Finding)> = vec![];
    for annotation in annotations {
        if let Note::Validation { result } = annotation.note {
            last.retain(|(by, _)| **by != annotation.by);
            last.push((&annotation.by, result));
        }
    }
    last.into_iter().map(|(_, finding)| finding).collect()
}

fn outcome(lines: &[Line]) -> Outcome {
    let lead =
        |line: &Line| (line.tally.accept as i64 - line.tally.reject as i64, line.tally.accept);
    let candidates: Vec<&Line> = lines
        .iter()
        .filter(|line| line.kind == PostKind::Proposal && line.standing == Standing::Surviving)
        .filter(|line| line.tally.accept > line.tally.reject)
        .collect();
    let Some(best) = candidates.iter().map(|line| lead(line)).max() else {
        return Outcome::Undecided;
    };
    let mut best: Vec<PostId> = candidates
        .into_iter()
        .filter(|line| lead(line) == best)
        .map(|line| line.id.clone())
        .collect();
    if best.len() == 1 { Outcome::Accepted(best.remove(0)) } else { Outcome::Tied(best) }
}

/// In the blind phase this tells who has posted: for those who lead only.
pub fn readiness(state: &State) -> Readiness {
    let posts = || state.posts.iter().filter(|post| !post.withdrawn);
    let mut why_not: Vec<String> = vec![];
    match state.phase {
        Phase::Blind => {
            let silent = state.members.iter().filter(|m| !m.role.leads() && m.posts == 0);
            why_not.extend(silent.map(|member| format!("{} has not posted yet", member.name)));
            if state.posts.is_empty() {
                why_not.push("no one has posted yet".to_owned());
            }
        }
        Phase::Read => {}
        Phase::Validate => {
            let validated = |post: &super::Post| {
                post.annotations.iter().any(|a| matches!(a.note, Note::Validation { .. }))
            };
            let missing = posts().filter(|post| !validated(post));
            why_not.extend(missing.map(|post| format!("no one has validated {}", post.id)));
        }
        Phase::Debate => {
            why_not.extend(unsettled(state));
            let proposals = posts().filter(|post| post.content.kind == PostKind::Proposal);
            let unvoted = proposals.filter(|post| post.votes.is_empty());
            why_not.extend(unvoted.map(|post| format!("no one has voted on {}", post.id)));
        }
        Phase::Resolve => why_not.extend(unsettled(state)),
        Phase::Archived => why_not.push("the board is archived".to_owned()),
    }
    let mut asked: Vec<String> = state.asked().into_iter().map(|asked| asked.agent.0).collect();
    asked.dedup();
    why_not.extend(asked.into_iter().map(|agent| format!("{agent} is answering")));
    Readiness { ready: why_not.is_empty(), why_not }
}

fn unsettled(state: &State) -> Vec<String> {
    let open = state
        .posts
        .iter()
        .flat_map(|post| post.open_challenges().map(move |challenge| (challenge, post)));
    open.map(|(challenge, post)| {
        format!("challenge {} to {} is not settled", challenge.id, post.id)
    })
    .collect()
}
