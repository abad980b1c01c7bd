//! A whiteboard as the server shows it to one viewer.

use jiff::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Whiteboard {
    pub board_id: String,
    pub topic: String,
    pub phase: String,
    pub deadline: Option<Timestamp>,
    pub you: Option<Agent>,
    pub agents: Vec<Agent>,
    pub has_posted: Option<Vec<String>>,
    #[serde(default)]
    pub seats: Vec<Seat>,
    pub posts: Vec<Post>,
    pub posts_total: usize,
    pub ready_to_advance: Option<bool>,
    pub why_not: Vec<String>,
    pub allowed: Vec<String>,
    pub next: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    pub agent_name: String,
    pub role: String,
    pub domain: Option<String>,
}

/// A model or a stored agent that takes part by itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    pub agent_name: String,
    pub model: String,
    pub agent: Option<String>,
    pub status: Option<String>,
    pub failure: Option<Failure>,
    #[serde(default)]
    pub left_out: Vec<String>,
}

#[derive(Deserialize)]
pub struct Failure {
    pub message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Post {
    pub post_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub body: Option<String>,
    pub target_file: Option<String>,
    pub target_location: Option<String>,
    pub severity: Option<String>,
    pub standing: String,
    pub tally: Tally,
    pub annotations: Vec<Annotation>,
    pub votes: Vec<Vote>,
    #[serde(default)]
    pub partly_hidden: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
pub struct Tally {
    pub accept: usize,
    pub reject: usize,
    pub defer: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotation {
    pub annotation_id: String,
    pub by: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub result: Option<String>,
    pub challenge_id: Option<String>,
    pub body: Option<String>,
    pub open: Option<bool>,
}

#[derive(Deserialize)]
pub struct Vote {
    pub by: String,
    pub vote: String,
    pub reason: Option<String>,
}

/// An answer to opening and registering.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    pub board_id: String,
    pub agent_name: String,
    pub role: String,
    pub phase: String,
    pub agent_token: String,
    pub invitation: Option<String>,
    pub next: Vec<String>,
}

/// An answer to a post, an annotation or a vote.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    pub annotation_id: Option<String>,
    pub post: Post,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub board_id: String,
    pub topic: String,
    pub phase: String,
    pub agents: usize,
    pub posts: usize,
    pub annotations: usize,
    pub votes: usize,
    pub lines: Vec<Line>,
    pub unresolved_challenges: Vec<Challenge>,
    pub unvalidated_posts: Vec<String>,
    pub outcome: Outcome,
    pub why_not: Vec<String>,
    pub next: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub post_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub standing: String,
    pub tally: Tally,
    pub confirmed: usize,
    pub refuted: usize,
    pub inconclusive: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    pub post_id: String,
    pub annotation_id: String,
    pub by: String,
}

#[derive(Deserialize)]
pub struct Outcome {
    pub decision: String,
    pub posts: Vec<String>,
}

#[derive(Deserialize)]
pub struct Archived {
    pub record: String,
}

#[derive(Deserialize)]
pub struct Conflict {
    pub kind: String,
    pub posts: [String; 2],
    pub over: String,
}
