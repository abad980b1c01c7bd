//! Turns led by a facilitator who picks the next speaker and concludes.
//!
//! opening → turn → evaluation → turn → … → synthesis → concluded. One step is due
//! at a time. `began` in the log says which: whoever restarts, resumes or reads
//! along knows exactly whose turn it is and what was asked.

mod apply;
mod check;
mod condense;
pub mod decision;
mod edit;
pub(crate) mod estimate;
mod event;
mod format;
mod markdown;
mod plan;
mod prompt;
mod report;
mod settle;
mod steer;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use edit::{Edit, Wanted};
pub use estimate::{Actual, Estimate, Measure, Range, foresee};
pub use event::Event;
pub use format::{Format, Role};
pub use markdown::markdown;

use crate::agent::{AgentId, Bounds};
use crate::budget::{Allowance, Budget, Claim};
use crate::call::{Answer, Ask, Call, Failure, Outcome, Timing, Usage, Work, Workspace};
use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{CallId, ModelName, Nonce};
use crate::ledger::Ledger;
use crate::prices::Noted;
use crate::quote::ContextFile;
use crate::reject::Reject;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub name: String,
    pub topic: Arc<str>,
    pub format: Format,
    pub context: Arc<[ContextFile]>,
    pub facilitator: Arc<Seat>,
    pub participants: Arc<[Participant]>,
    pub max_rounds: u32,
    pub project: Option<String>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    /// When the last thing happened.
    pub changed_at: Timestamp,
    /// What it was thought to take, when it started.
    pub estimate: Option<Estimate>,
    pub corrected: Corrected,
    /// Numbered from 1 without a gap.
    pub transcript: Vec<Arc<Entry>>,
    /// Said while a step was under way. It comes into the transcript when the step
    /// has ended, because the step did not hear it.
    pub aside: Vec<Arc<Entry>>,
    pub used: BTreeMap<SeatId, Used>,
    pub ledger: Ledger,
    /// How often each step has begun, by its name: no call is made twice by one id.
    begun: BTreeMap<CallId, u32>,
    /// Entries that the transcript had when the discussion was last resumed: what failed
    /// before that may have been mended.
    resumed_at: usize,
    /// The code around quotations: the nonce of the first step.
    code: Option<Nonce>,
    pub stage: Stage,
}

/// Topic and format as they were put right after the start. Prompts keep to what the
/// discussion began with.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Corrected {
    topic: Option<Arc<str>>,
    format: Option<Format>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Stage {
    Draft,
    Active(Step),
    /// The step under way is the last one for now.
    Pausing(Step),
    Paused(Step),
    Stopped(Step),
    /// It can go on with the step when what was wrong is mended.
    Failed {
        why: String,
        next: Step,
    },
    Concluded(Arc<Conclusion>),
}

/// What is under way, or will be when the discussion goes on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub what: What,
    /// Which try this is, from 1: a step that was stopped is begun again.
    pub tries: u32,
    /// When a person must have replied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_by: Option<Timestamp>,
    nonce: Nonce,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum What {
    /// The facilitator chooses who speaks first.
    Opening,
    Turn {
        /// From 1.
        turn: u32,
        speaker: SeatId,
        question: String,
    },
    /// The facilitator decides how to go on after this turn.
    Evaluation { turn: u32 },
    Synthesis {
        /// Whose model writes; it is the facilitator's unless that failed.
        by: SeatId,
        why: Why,
    },
}

/// Why a discussion comes to its synthesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// The facilitator found that enough was said.
    Decided,
    /// No round remains.
    Rounds,
    /// Nobody has tokens left.
    Budget,
    /// Somebody asked for it.
    Asked,
}

/// A name within one discussion: an agent's id, or made from the seat's name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SeatId(pub String);

impl fmt::Display for SeatId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A copy of who sits there, so that later edits of an agent change nothing here.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    pub id: SeatId,
    /// The stored agent that this is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default)]
    pub persona: Arc<str>,
    pub sitter: Sitter,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Sitter {
    Model {
        model: ModelName,
        /// What the model takes, prompt and answer together.
        window_tokens: u32,
        #[serde(default)]
        bounds: Bounds,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workspace: Option<Workspace>,
    },
    Person {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_within_ms: Option<u64>,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Participant {
    #[serde(flatten)]
    pub seat: Arc<Seat>,
    pub role: Role,
}

/// One piece of the transcript.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub number: u32,
    pub at: Timestamp,
    pub said: Said,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    Decision(Decided),
    Turn {
        turn: u32,
        speaker: SeatId,
        question: String,
        spoken: Spoken,
        /// Earlier pieces that the speaker was shown in short.
        condensed: u32,
    },
    Interjection {
        by: String,
        text: String,
    },
    /// A step that a stop or a conclusion broke off.
    Cut {
        what: What,
        call: CallId,
        /// `None` until the cancelled call has handed its text back.
        partial: Option<String>,
        usage: Usage,
    },
    /// A model that should have written the synthesis and could not.
    SynthesisFailed {
        by: SeatId,
        failure: Failure,
        partial: String,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub enum Spoken {
    Words(Answer),
    Failed { failure: Failure, partial: String },
}

/// How the facilitator chose to go on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The turn that it follows; 0 for the opening.
    pub turn: u32,
    pub decision: Choice,
    /// Set when the discussion goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SeatId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    #[serde(default)]
    pub reasoning: String,
    pub how: How,
    /// What was mended, or why the choice fell to the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The answer as it came, unless it was as asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub timing: Timing,
    #[serde(default)]
    pub condensed: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Continue,
    Synthesize,
}

impl Choice {
    pub fn name(self) -> &'static str {
        match self {
            Choice::Continue => "continue",
            Choice::Synthesize => "synthesize",
        }
    }
}

/// Where a decision comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum How {
    /// The model's answer was as asked for.
    Parsed,
    /// It could be read after mending.
    Repaired,
    /// It could not be read, or there was none: the next in turn speaks.
    Fallback,
    /// A person decided.
    Person,
    /// Nothing was left to decide: no round, or no budget.
    Rule,
}

impl Decided {
    /// The round that it belongs to, from 1: the opening is part of the first.
    pub fn round(&self) -> u32 {
        self.turn.max(1)
    }
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Parsed => "parsed",
            How::Repaired => "repaired",
            How::Fallback => "fallback",
            How::Person => "person",
            How::Rule => "rule",
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Conclusion {
    pub by: SeatId,
    pub why: Why,
    pub answer: Answer,
    pub condensed: u32,
    pub at: Timestamp,
    /// What somebody has put in place of the answer, the last of several.
    pub revision: Option<Revision>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Revision {
    pub by: String,
    pub text: String,
    pub at: Timestamp,
}

impl Conclusion {
    /// As it stands now.
    pub fn text(&self) -> &str {
        self.revision.as_ref().map_or(&self.answer.text, |revision| &revision.text)
    }
}

/// What one seat has taken so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Used {
    pub calls: u32,
    pub usage: Usage,
    pub latency_ms: u64,
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Create(Box<Create>),
    Edit(Edit),
    ChangeFacilitator(Box<Seat>),
    AddParticipant(Box<Participant>),
    RemoveParticipant(SeatId),
    Start(Start),
    /// Rests after the step that is under way.
    Pause,
    /// Continues with exactly the step that was due.
    Resume,
    /// Goes to the synthesis at once, with what has been said.
    Conclude,
    Interject {
        by: String,
        text: String,
    },
    /// A person's turn, or a person's conclusion.
    Reply {
        seat: Option<SeatId>,
        text: String,
    },
    /// The decision of a person who leads.
    Decide {
        decision: Choice,
        next: Option<SeatId>,
        question: Option<String>,
        reasoning: Option<String>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Create {
    /// Made from the topic when it is blank.
    pub name: String,
    pub topic: String,
    pub format: Format,
    pub context: Vec<ContextFile>,
    pub facilitator: Seat,
    pub participants: Vec<Participant>,
    pub max_rounds: u32,
    pub budget: Option<Budget>,
    pub project: Option<String>,
    /// Starts at once.
    pub start: Option<Start>,
}

/// What is known when a discussion starts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Start {
    pub estimate: Option<Estimate>,
    /// Of the models of its seats, as far as they are known.
    pub prices: Noted,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "discussion";
    const STATUSES: &'static [&'static str] =
        &["draft", "active", "pausing", "paused", "stopped", "failed", "concluded"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        let Some(state) = state else {
            return match command {
                Command::Create(create) => check::create(*create, moment),
                Command::Edit(_)
                | Command::ChangeFacilitator(_)
                | Command::AddParticipant(_)
                | Command::RemoveParticipant(_)
                | Command::Start(_)
                | Command::Pause
                | Command::Resume
                | Command::Conclude
                | Command::Interject { .. }
                | Command::Reply { .. }
                | Command::Decide { .. } => {
                    Err(Reject::Unknown("There is no such discussion.".into()))
                }
            };
        };
        match command {
            Command::Create(_) => Err(state.not_now("This discussion has already been created.")),
            Command::Edit(edit) => state.edit(edit, moment),
            Command::ChangeFacilitator(seat) => state.change_facilitator(*seat, moment.at),
            Command::AddParticipant(participant) => state.add_participant(*participant, moment.at),
            Command::RemoveParticipant(seat) => state.remove_participant(seat, moment.at),
            Command::Start(start) => state.start(start, moment),
            Command::Pause => state.pause(moment.at),
            Command::Resume => state.resume(moment),
            Command::Conclude => state.conclude(moment),
            Command::Interject { by, text } => state.interject(by, text, moment.at),
            Command::Reply { seat, text } => state.reply(seat, text, moment),
            Command::Decide { decision, next, question, reasoning } => {
                let chosen = settle::Chosen { decision, next, question, reasoning };
                state.decide_by_hand(chosen, moment)
            }
        }
    }

    fn settle(&self, call: &CallId, outcome: Outcome, moment: &Moment) -> Ruling<Event> {
        self.ended(call, outcome, moment)
    }

    fn stop(&self, moment: &Moment) -> Ruling<Event> {
        self.break_off(moment.at)
    }

    fn open(event: &Event, _: Timestamp) -> Option<State> {
        State::created(event)
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        self.follow(event);
        let step = self.under_way().filter(|step| !step.what.is_synthesis());
        let seat =
            step.and_then(|step| self.seat_of(step)).filter(|seat| seat.budget().time_ms.is_some());
        let busy: Vec<String> = seat.map(|seat| seat.id.0.clone()).into_iter().collect();
        self.ledger.at_work(&busy, at);
    }

    /// At most one call: the step's, or the time that a person has for it.
    fn due(&self) -> Vec<Call> {
        let Some(step) = self.under_way() else { return vec![] };
        let work = match (self.awaited(), step.reply_by) {
            (None, _) => Work::Ask,
            (Some(_), Some(until)) => Work::Sleep { until },
            (Some(_), None) => return vec![],
        };
        vec![Call { id: step.call_id(), work }]
    }

    fn ask(&self, call: &CallId) -> Option<Ask> {
        let step = self.under_way().filter(|step| step.call_id() == *call)?;
        let asked = prompt::ask(self, step)?.ask;
        Some(match step.what {
            What::Turn { .. } => asked,
            // Whoever leads decides by what was said, and touches nothing meanwhile.
            What::Opening | What::Evaluation { .. } | What::Synthesis { .. } => {
                Ask { workspace: None, ..asked }
            }
        })
    }

    fn claim(&self, call: &CallId) -> Claim {
        let step = self.under_way().filter(|step| step.call_id() == *call);
        match step.map(|step| (&step.what, self.seat_of(step))) {
            Some((What::Opening | What::Evaluation { .. } | What::Turn { .. }, Some(seat))) => {
                self.claim_of(seat)
            }
            Some((What::Synthesis { .. }, _) | (_, None)) | None => Claim::default(),
        }
    }

    fn allow(&self, budget: Budget, prices: Noted) -> Ruling<Event> {
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        Ok(noted.into_iter().chain([Event::Budgeted(budget.checked()?)]).collect())
    }

    fn out_of_time(&self, moment: &Moment) -> Ruling<Event> {
        self.conclude_in_time(moment)
    }

    fn searchable(&self, event: &Event) -> String {
        event.searchable()
    }
}

impl Step {
    /// The call that brings the outcome of this step.
    pub fn call_id(&self) -> CallId {
        self.what.call().nth(self.tries)
    }
}

impl What {
    /// The same for all tries.
    fn call(&self) -> CallId {
        match self {
            What::Opening => CallId::new("opening"),
            What::Turn { turn, .. } => CallId::new("turn").of(turn),
            What::Evaluation { turn } => CallId::new("evaluation").of(turn),
            What::Synthesis { .. } => CallId::new("synthesis"),
        }
    }

    fn is_synthesis(&self) -> bool {
        match self {
            What::Synthesis { .. } => true,
            What::Opening | What::Turn { .. } | What::Evaluation { .. } => false,
        }
    }
}

impl Seat {
    pub fn is_person(&self) -> bool {
        match self.sitter {
            Sitter::Person { .. } => true,
            Sitter::Model { .. } => false,
        }
    }

    pub fn model(&self) -> Option<&ModelName> {
        match &self.sitter {
            Sitter::Model { model, .. } => Some(model),
            Sitter::Person { .. } => None,
        }
    }

    /// What it may spend. A person spends nothing.
    pub fn budget(&self) -> Allowance {
        match &self.sitter {
            Sitter::Model { bounds, .. } => bounds.budget(),
            Sitter::Person { .. } => Allowance::default(),
        }
    }
}

impl State {
    /// What can be done with the discussion now, by the names of the interface.
    pub fn allowed(&self) -> Vec<&'static str> {
        let mut allowed = match &self.stage {
            Stage::Draft => vec!["start", "edit"],
            Stage::Active(_) => vec!["pause", "stop"],
            Stage::Pausing(_) | Stage::Paused(_) => vec!["resume", "stop"],
            Stage::Stopped(_) | Stage::Failed { .. } => vec!["resume"],
            Stage::Concluded(_) => vec![],
        };
        allowed.extend(self.no_conclusion().is_none().then_some("conclude"));
        allowed.extend(self.no_interjection().is_none().then_some("interject"));
        if let Some(step) = self.awaited() {
            allowed.push(match step.what {
                What::Turn { .. } | What::Synthesis { .. } => "reply",
                What::Opening | What::Evaluation { .. } => "decide",
            });
        }
        allowed.push("export");
        allowed
    }

    /// Turns that have ended, whether the speaker answered or not.
    pub fn turns(&self) -> u32 {
        let is_turn = |entry: &&Arc<Entry>| matches!(entry.said, Said::Turn { .. });
        self.transcript.iter().filter(is_turn).count() as u32
    }

    /// The round that is under way, from 1; after the last turn it stays there.
    pub fn round(&self) -> u32 {
        self.step().map_or_else(|| self.turns(), |step| self.round_of(&step.what))
    }

    /// The round that a step belongs to.
    pub fn round_of(&self, what: &What) -> u32 {
        match what {
            What::Opening => 1,
            What::Turn { turn, .. } | What::Evaluation { turn } => *turn,
            What::Synthesis { .. } => self.turns(),
        }
    }

    /// The topic as people read it.
    pub fn topic_told(&self) -> &str {
        self.corrected.topic.as_ref().unwrap_or(&self.topic)
    }

    /// The format as people read it.
    pub fn format_told(&self) -> Format {
        self.corrected.format.unwrap_or(self.format)
    }

    pub fn conclusion(&self) -> Option<&Conclusion> {
        match &self.stage {
            Stage::Concluded(conclusion) => Some(conclusion),
            Stage::Draft
            | Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. } => None,
        }
    }

    /// The seat with this id, the facilitator's included.
    pub fn seat(&self, id: &SeatId) -> Option<&Arc<Seat>> {
        let seats = self.participants.iter().map(|participant| &participant.seat);
        seats.chain([&self.facilitator]).find(|seat| seat.id == *id)
    }

    pub fn role(&self, id: &SeatId) -> Option<Role> {
        self.participants.iter().find(|p| p.seat.id == *id).map(|p| p.role)
    }

    /// The step that is under way, or that will be next.
    pub fn step(&self) -> Option<&Step> {
        match &self.stage {
            Stage::Active(step)
            | Stage::Pausing(step)
            | Stage::Paused(step)
            | Stage::Stopped(step)
            | Stage::Failed { next: step, .. } => Some(step),
            Stage::Draft | Stage::Concluded(_) => None,
        }
    }

    /// Whose step it is.
    pub fn seat_of(&self, step: &Step) -> Option<&Arc<Seat>> {
        match &step.what {
            What::Opening | What::Evaluation { .. } => Some(&self.facilitator),
            What::Turn { speaker, .. } => self.seat(speaker),
            What::Synthesis { by, .. } => self.seat(by),
        }
    }

    /// The step that waits for a person.
    pub fn awaited(&self) -> Option<&Step> {
        let step = self.under_way()?;
        self.seat_of(step).filter(|seat| seat.is_person()).map(|_| step)
    }

    fn under_way(&self) -> Option<&Step> {
        match &self.stage {
            Stage::Active(step) | Stage::Pausing(step) => Some(step),
            Stage::Draft
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. }
            | Stage::Concluded(_) => None,
        }
    }

    fn not_now(&self, message: &str) -> Reject {
        Reject::NotNow {
            state: self.status(),
            message: message.to_owned(),
            allowed: self.allowed(),
        }
    }
}
