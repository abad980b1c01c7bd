//! A discussion as the server shows it, in what the terminal needs of it.

use serde::Deserialize;
use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::cli::board::{Spent, Usage};
use crate::cli::budget::Budget;
use crate::cli::estimate::Estimate;
use crate::terminal::clean;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discussion {
    pub id: String,
    pub topic: String,
    pub format: String,
    pub status: Status,
    pub moderator: Seat,
    pub participants: Vec<Seat>,
    /// The one under way, from 1.
    pub round: u32,
    pub max_rounds: u32,
    pub step: Option<Step>,
    pub problem: Option<String>,
    pub conclusion: Option<String>,
    #[serde(default)]
    conclusion_usage: Usage,
    conclusion_cost: Option<f64>,
    pub degraded: Option<String>,
    pub entries: u32,
    pub estimate: Option<Estimate>,
    pub actual: Actual,
    pub budget: Option<Budget>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    Draft,
    Active,
    Pausing,
    Paused,
    Stopped,
    Failed,
    Concluded,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Seat {
    pub id: String,
    pub name: String,
    pub role: Option<String>,
    pub person: bool,
    pub model: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub kind: StepKind,
    pub call_id: String,
    pub name: String,
    pub question: Option<String>,
    pub waits_for_person: bool,
    pub reply_by: Option<String>,
    #[serde(default)]
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepKind {
    Opening,
    Turn,
    Evaluation,
    Synthesis,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actual {
    pub calls: u32,
    #[serde(flatten)]
    pub tokens: Usage,
    pub model_seconds: f64,
    pub cost: Option<f64>,
    pub currency: Option<String>,
}

/// One piece of the transcript.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub number: u32,
    pub kind: EntryKind,
    pub status: EntryStatus,
    pub participant_id: Option<String>,
    pub agent_name: String,
    pub round: Option<u32>,
    pub question: Option<String>,
    pub content: Option<String>,
    #[serde(default)]
    pub cut: bool,
    pub error: Option<Failure>,
    pub decision: Option<Decision>,
    pub condensed: Option<u32>,
    pub model: Option<String>,
    pub latency_ms: Option<u64>,
    #[serde(flatten)]
    pub spent: Spent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryKind {
    Decision,
    Turn,
    Interjection,
    Synthesis,
    Opening,
    Evaluation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EntryStatus {
    Done,
    Failed,
    Stopped,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    pub kind: String,
    pub message: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    pub next_participant_id: Option<String>,
    pub reasoning: String,
    pub how: How,
    pub note: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum How {
    Parsed,
    Repaired,
    Fallback,
    Person,
    Rule,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Draft => "draft",
            Status::Active => "active",
            Status::Pausing => "pausing",
            Status::Paused => "paused",
            Status::Stopped => "stopped",
            Status::Failed => "failed",
            Status::Concluded => "concluded",
        }
    }

    /// Nothing more happens unless somebody asks for it.
    pub fn rests(self) -> bool {
        match self {
            Status::Active | Status::Pausing => false,
            Status::Draft
            | Status::Paused
            | Status::Stopped
            | Status::Failed
            | Status::Concluded => true,
        }
    }
}

impl Discussion {
    /// What writing the conclusion took.
    pub fn concluding(&self) -> Spent {
        Spent { usage: self.conclusion_usage.clone(), cost: self.conclusion_cost }
    }

    pub fn seat(&self, id: &str) -> Option<&Seat> {
        self.participants.iter().chain([&self.moderator]).find(|seat| seat.id == id)
    }

    /// Those who may be asked to speak.
    pub fn speakers(&self) -> impl Iterator<Item = &Seat> {
        self.participants.iter().filter(|seat| seat.role.as_deref() != Some("observer"))
    }

    /// The step that waits for a person.
    pub fn awaited(&self) -> Option<&Step> {
        self.step.as_ref().filter(|step| step.waits_for_person)
    }
}

impl Seat {
    /// Who speaks there: a model, or a person.
    pub fn who(&self) -> String {
        self.model.as_deref().map_or_else(|| "a person".to_owned(), clean)
    }

    pub fn called(&self) -> String {
        let role = match self.role.as_deref() {
            Some("devil_advocate") => " (devil's advocate)",
            Some("observer") => " (observer)",
            _ => "",
        };
        format!("{}{role}", clean(&self.name))
    }
}

/// What has been said after the `since`th piece, all pages of it, as it came.
pub async fn transcript(api: &Api, path: &str, since: u32) -> Result<Vec<Value>, ApiError> {
    let mut entries = vec![];
    let mut since = u64::from(since);
    loop {
        let mut page: Value = api.get(&format!("{path}/transcript?since={since}")).await?;
        entries.extend(page["entries"].as_array_mut().map(std::mem::take).unwrap_or_default());
        since = page["since"].as_u64().unwrap_or_default();
        if page["more"] != true {
            return Ok(entries);
        }
    }
}

pub async fn entries(api: &Api, path: &str, since: u32) -> Result<Vec<Entry>, ApiError> {
    let unread = |_| ApiError::new("unreachable", "cannot read the transcript");
    let values = transcript(api, path, since).await?.into_iter();
    values.map(|value| serde_json::from_value(value).map_err(unread)).collect()
}
