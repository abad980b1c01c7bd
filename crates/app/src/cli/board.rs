//! A board as the terminal shows it: the server's view of it, kept current by
//! token deltas.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use super::ballot::Votes;
use super::budget::Budget;

use crate::rounded::{self, duration};
use crate::terminal::clean;

/// Stands under an answer that reached a limit on its length.
pub const CUT: &str = "[cut off at the length limit]";

/// Stands in place of what others say while one's own answer is awaited.
const HIDDEN: &str = "[hidden until you answer]";

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    pub id: String,
    pub prompt: String,
    pub title: String,
    pub status: String,
    pub failure: Option<String>,
    pub allowed: Vec<String>,
    #[serde(default)]
    pub imported_at: Option<String>,
    pub advisors: Vec<Advisor>,
    /// The questions, `prompt` first.
    #[serde(default)]
    pub rounds: Vec<Round>,
    pub syntheses: Vec<Synthesis>,
    pub usage: Usage,
    pub cost: Option<f64>,
    pub currency: Option<String>,
    pub budget: Option<Budget>,
    #[serde(default)]
    pub quorum: Option<Quorum>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Quorum {
    /// Until when the others have time, once enough have answered.
    pub until: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Round {
    pub number: u32,
    pub prompt: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Advisor {
    pub id: u8,
    pub role: String,
    pub name: String,
    pub model: Option<String>,
    pub person: Option<String>,
    #[serde(default)]
    pub round: u32,
    /// Which answer to the last question this is.
    #[serde(default)]
    pub r#try: u32,
    /// The one that was picked of them.
    #[serde(default)]
    pub picked: Option<u32>,
    #[serde(default)]
    pub earlier: Vec<Contribution>,
    #[serde(flatten)]
    pub said: Said,
}

/// What an advisor said when it was asked before.
#[derive(Clone, Debug, Deserialize)]
pub struct Contribution {
    pub round: u32,
    pub r#try: u32,
    pub model: Option<String>,
    pub person: Option<String>,
    #[serde(flatten)]
    pub said: Said,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Synthesis {
    pub number: u32,
    pub model: String,
    pub instruction: Option<String>,
    pub degraded: Option<String>,
    pub failed_before: Vec<FailedTry>,
    pub headings: Option<String>,
    #[serde(flatten)]
    pub votes: Votes,
    #[serde(flatten)]
    pub said: Said,
}

#[derive(Clone, Debug, Deserialize)]
pub struct FailedTry {
    pub model: String,
    pub error: Failure,
    #[serde(flatten)]
    pub spent: Spent,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    pub call_id: String,
    pub status: String,
    pub text: String,
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub cut: bool,
    pub latency_ms: Option<u64>,
    pub error: Option<Failure>,
    #[serde(flatten)]
    pub spent: Spent,
    /// Since when this program has seen it running.
    #[serde(skip)]
    pub since: Option<Instant>,
    /// What holds it up: a request that is made again, or a busy model.
    #[serde(skip)]
    pub held_up: Option<String>,
    #[serde(skip)]
    pub thinking: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Failure {
    pub kind: String,
    pub message: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub input_tokens: Option<u64>,
    pub cached_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
    pub reasoning_tokens: Option<u64>,
}

/// What a call took and cost, as far as that is known.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Spent {
    #[serde(default)]
    pub usage: Usage,
    pub cost: Option<f64>,
}

impl Spent {
    /// `2,270 tokens in (1,816 cached), 340 out · 0.0012 USD`.
    pub fn in_words(&self, currency: Option<&str>) -> Option<String> {
        let cost = self.cost.map(|cost| rounded::money(cost, currency));
        let parts: Vec<String> = [self.usage.in_words(), cost].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(" · "))
    }

    /// The same as a further part of a head.
    pub fn after(&self, head: &str, currency: Option<&str>) -> String {
        let parts = [Some(head.to_owned()), self.in_words(currency)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

impl Usage {
    /// `2,270 tokens in (1,816 cached), 340 out`.
    pub fn in_words(&self) -> Option<String> {
        let tokens = plenary_domain::Usage {
            input_tokens: self.input_tokens,
            cached_tokens: self.cached_tokens,
            output_tokens: self.output_tokens,
            reasoning_tokens: self.reasoning_tokens,
            cost_nano_usd: None,
        };
        tokens.in_words()
    }
}

/// The status of a session in the words that the page has.
pub fn status_word(kind: &str, status: &str) -> String {
    match (kind, status) {
        ("boardroom", "synthesizing") => "writing the verdict".to_owned(),
        ("boardroom", "balloting") => "voting".to_owned(),
        ("boardroom", "closed") => "done".to_owned(),
        (_, other) => clean(other),
    }
}

impl Board {
    /// Takes over a newer view, and keeps what only this program knows.
    pub fn update(&mut self, mut newer: Board) {
        let now = Instant::now();
        for said in newer.saids_mut() {
            let older = self.saids().into_iter().find(|older| older.call_id == said.call_id);
            if said.status == "answering" {
                said.since = older.and_then(|older| older.since).or(Some(now));
                said.held_up = older.and_then(|older| older.held_up.clone());
                said.thinking = older.is_some_and(|older| older.thinking);
            }
        }
        *self = newer;
    }

    /// A `delta`, `reasoning`, `waiting` or `retrying` frame.
    pub fn frame(&mut self, name: &str, data: &Value) {
        let call = data["callId"].as_str().unwrap_or_default();
        let Some(said) = self.saids_mut().into_iter().find(|said| said.call_id == call) else {
            return;
        };
        let text = data["text"].as_str().unwrap_or_default();
        match name {
            "delta" => {
                let offset = data["offset"].as_u64().unwrap_or(0) as usize;
                // The view may be ahead of the frames; both say the same.
                if offset <= said.text.len() && said.text.is_char_boundary(offset) {
                    said.text.truncate(offset);
                    said.text.push_str(text);
                }
                (said.held_up, said.thinking) = (None, false);
            }
            "reasoning" => said.thinking = said.text.is_empty(),
            "waiting" => {
                let place = data["place"].as_u64().unwrap_or(0);
                said.held_up = Some(format!("The model is busy: number {place} in line."));
            }
            "retrying" => {
                let message = clean(data["message"].as_str().unwrap_or_default());
                let wait = duration(data["waitMs"].as_u64().unwrap_or(0));
                said.held_up = Some(format!("{message} Retrying in {wait}."));
            }
            _ => {}
        }
    }

    /// Its status in the words that the page has.
    pub fn status_word(&self) -> String {
        status_word("boardroom", &self.status)
    }

    pub fn is_over(&self) -> bool {
        matches!(self.status.as_str(), "closed" | "stopped" | "failed")
    }

    /// Seats whose reply is awaited, when nothing else is. Where enough have answered, the
    /// board goes on by itself.
    pub fn waits_for_persons_only(&self) -> bool {
        let any = |status: &str| self.advisors.iter().any(|a| a.said.status == status);
        let goes_on = self.quorum.as_ref().is_some_and(|quorum| quorum.until.is_some());
        self.status == "answering" && any("waiting") && !any("answering") && !goes_on
    }

    /// Seats of persons whose votes are awaited, when nobody else's are.
    pub fn waits_for_votes_of(&self) -> Vec<u8> {
        let waiting = self.syntheses.last().map(|last| last.votes.waiting()).unwrap_or_default();
        let is_person = |seat: &u8| {
            self.advisors.iter().any(|advisor| advisor.id == *seat && advisor.person.is_some())
        };
        let all_persons = self.status == "balloting" && waiting.iter().all(is_person);
        if all_persons { waiting } else { vec![] }
    }

    pub fn waiting(&self) -> Option<&Advisor> {
        self.advisors.iter().find(|advisor| advisor.said.status == "waiting")
    }

    /// Names of what will not change any more: answers, syntheses and ballots.
    pub fn settled(&self) -> impl Iterator<Item = String> {
        let saids = self.saids().into_iter().filter(|said| said.is_settled());
        let saids = saids.map(|said| said.call_id.clone());
        let ballots = self.syntheses.iter().filter_map(|one| one.votes.settled(one.number));
        saids.chain(ballots)
    }

    fn saids(&self) -> Vec<&Said> {
        let advisors = self
            .advisors
            .iter()
            .flat_map(|advisor| advisor.earlier.iter().map(|one| &one.said).chain([&advisor.said]));
        advisors.chain(self.syntheses.iter().map(|synthesis| &synthesis.said)).collect()
    }

    fn saids_mut(&mut self) -> Vec<&mut Said> {
        let advisors = self.advisors.iter_mut().flat_map(|advisor| {
            advisor.earlier.iter_mut().map(|one| &mut one.said).chain([&mut advisor.said])
        });
        advisors.chain(self.syntheses.iter_mut().map(|synthesis| &mut synthesis.said)).collect()
    }
}

impl Advisor {
    pub fn who(&self) -> String {
        clean(self.model.as_deref().or(self.person.as_deref()).unwrap_or_default())
    }
}

impl Contribution {
    pub fn who(&self) -> String {
        clean(self.model.as_deref().or(self.person.as_deref()).unwrap_or_default())
    }
}

impl Said {
    pub fn is_settled(&self) -> bool {
        matches!(self.status.as_str(), "done" | "failed" | "stopped")
    }

    /// How it stands, in a few words.
    pub fn state(&self) -> String {
        match self.status.as_str() {
            "answering" => {
                let elapsed = self.since.map_or(0, |since| since.elapsed().as_millis() as u64);
                let doing = match (&self.held_up, self.thinking, self.text.is_empty()) {
                    (Some(_), _, _) => "on hold",
                    (None, true, _) => "thinking",
                    (None, false, true) => "asked",
                    (None, false, false) => "writing",
                };
                format!("{doing} {}", duration(elapsed))
            }
            "waiting" => "your turn".to_owned(),
            "done" => self.latency_ms.map_or_else(|| "done".to_owned(), duration),
            "failed" => "failed".to_owned(),
            other => other.to_owned(),
        }
    }

    /// The text to show, with what went wrong.
    pub fn shown(&self) -> String {
        let text = clean(self.text.trim_end());
        let note = match (&self.error, &self.held_up) {
            (Some(error), _) => format!("[failed: {}]", clean(&error.message)),
            (None, Some(why)) => format!("[{why}]"),
            (None, None) if self.hidden && self.status != "waiting" => HIDDEN.to_owned(),
            (None, None) if self.status == "stopped" => "[stopped]".to_owned(),
            (None, None) if self.cut => CUT.to_owned(),
            (None, None) => String::new(),
        };
        match (text.is_empty(), note.is_empty()) {
            (_, true) => text,
            (true, false) => note,
            (false, false) => format!("{text}\n\n{note}"),
        }
    }
}
