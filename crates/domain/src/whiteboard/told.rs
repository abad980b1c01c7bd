//! A board in words for a model that sits at it: what it sees there, and what it may answer.
//! Seats of the board itself and steps of workflows are told alike.

use serde::{Deserialize, Serialize};

use super::{Choice, Finding, Note, PostKind, Severity, State};
use crate::ids::AgentName;
use crate::limits;
use crate::view::{self, Board, Seen, Viewer};

/// A kind of annotation, and what it may be about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MayNote {
    #[serde(rename = "type")]
    pub kind: String,
    pub posts: Vec<String>,
    /// The challenges that it can answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub challenges: Vec<String>,
}

/// The whiteboard as an agent sees it, in words for a model.
pub fn seen(state: &State, agent: &AgentName) -> String {
    let board = view::board(state, &Viewer::Agent(agent.clone()));
    let most = share(&board);
    let mut out = format!("Topic: {}\nPhase: {}\n", board.topic, board.phase.name());
    if board.posts.is_empty() {
        out.push_str("\nYou see no posts.\n");
    }
    for seen in &board.posts {
        let post = seen.post;
        let own = if post.author == *agent { ", which is you" } else { "" };
        let withdrawn = if post.withdrawn { ", withdrawn" } else { "" };
        out += &format!(
            "\nPost {} ({}{withdrawn}) by {}{own}: {}\n",
            post.id.0,
            kind(post.content.kind),
            post.author,
            post.content.title
        );
        for (name, value) in [
            ("File", post.content.target_file.as_deref()),
            ("Location", post.content.target_location.as_deref()),
            ("Severity", post.content.severity.map(severity)),
        ] {
            out += &value.map(|value| format!("{name}: {value}\n")).unwrap_or_default();
        }
        out += &format!("{}\n", clipped(&post.content.body, most));
        for note in &seen.annotations {
            let body = clipped(&note.body, most);
            out += &format!("- {} ({}) by {}: {body}\n", note.id.0, noted(&note.note), note.by);
        }
        for vote in &seen.votes {
            let reason = clipped(vote.reason.as_deref().unwrap_or_default(), most);
            out += &format!("- {} votes {}: {reason}\n", vote.by, choice(vote.choice));
        }
    }
    out
}

/// The posts that an agent sees and that nobody has taken back.
pub fn standing_posts(state: &State, agent: &AgentName) -> Vec<String> {
    let board = view::board(state, &Viewer::Agent(agent.clone()));
    let posts = board.posts.iter().map(|seen| seen.post).filter(|post| !post.withdrawn);
    posts.map(|post| post.id.0.clone()).collect()
}

/// What an agent may write about which posts now, the most usual first.
pub fn annotatable(state: &State, agent: &AgentName) -> Vec<MayNote> {
    let board = view::board(state, &Viewer::Agent(agent.clone()));
    let allowed = state.allowed(state.member(agent));
    let mut notes: Vec<MayNote> = vec![];
    let mut may = |kind: &str, post: &str, challenge: Option<&str>| {
        if !allowed.contains(&format!("annotate {kind}").as_str()) {
            return;
        }
        let place = notes.iter().position(|note| note.kind == kind).unwrap_or(notes.len());
        if place == notes.len() {
            notes.push(MayNote { kind: kind.to_owned(), posts: vec![], challenges: vec![] });
        }
        let note = &mut notes[place];
        if !note.posts.iter().any(|other| other == post) {
            note.posts.push(post.to_owned());
        }
        note.challenges.extend(challenge.map(str::to_owned));
    };
    let standing = || board.posts.iter().filter(|seen| !seen.post.withdrawn);
    for kind in ["validation", "challenge", "corroboration"] {
        for seen in standing().filter(|seen| seen.post.author != *agent) {
            may(kind, &seen.post.id.0, None);
        }
    }
    for seen in standing() {
        let is_own = seen.post.author == *agent;
        for challenge in seen.annotations.iter().filter(|note| note.is_open_challenge()) {
            let (post, id) = (&seen.post.id.0, Some(challenge.id.0.as_str()));
            if is_own {
                may("rebuttal", post, id);
            } else if challenge.by != *agent {
                may("resolution", post, id);
            }
        }
    }
    notes
}

/// The posts that an agent may vote on.
pub fn votable(state: &State, agent: &AgentName) -> Vec<String> {
    let board = view::board(state, &Viewer::Agent(agent.clone()));
    let posts = board.posts.iter().map(|seen| seen.post);
    let others = posts.filter(|post| !post.withdrawn && post.author != *agent);
    others.map(|post| post.id.0.clone()).collect()
}

/// How much of each text of a board may be told, so that all of it has room.
pub(crate) fn share(board: &Board<'_>) -> usize {
    let texts = |seen: &Seen<'_>| 1 + seen.annotations.len() + seen.votes.len();
    let texts: usize = board.posts.iter().map(texts).sum();
    limits::BOARD_TOLD_BYTES / texts.max(1)
}

pub(crate) fn clipped(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{} […]", text[..end].trim_end())
}

pub(crate) fn kind(kind: PostKind) -> &'static str {
    match kind {
        PostKind::Proposal => "proposal",
        PostKind::Claim => "claim",
        PostKind::Concern => "concern",
        PostKind::Informational => "informational",
    }
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
    }
}

pub(crate) fn choice(choice: Choice) -> &'static str {
    match choice {
        Choice::Accept => "accept",
        Choice::Reject => "reject",
        Choice::Defer => "defer",
    }
}

fn noted(note: &Note) -> &'static str {
    match note {
        Note::Validation { result: Finding::Confirmed } => "validation: confirmed",
        Note::Validation { result: Finding::Refuted } => "validation: refuted",
        Note::Validation { result: Finding::Inconclusive } => "validation: inconclusive",
        Note::Challenge => "challenge",
        Note::Corroboration => "corroboration",
        Note::Rebuttal { .. } => "rebuttal",
        Note::Withdrawal { .. } => "withdrawal",
        Note::Resolution { .. } => "resolution",
    }
}
