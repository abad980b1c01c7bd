//! What a run may take, before it begins: how often models are asked, rooms opened,
//! requests sent, files written, people asked. Typical: conditions hold that cannot be
//! known, nothing fails, one round is enough. Most: every round, every item, every attempt.
//!
//! What models cost is for whoever knows them; here is who is meant, and about how many
//! tokens each call has.

mod asks;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::definition::{Definition, Kind, OnFailure, Step};
use super::expression::{self, is_template};
use super::kinds::{Act, Does};
use crate::boardroom::estimate as board;
use crate::discussion::estimate as talk;
use crate::limits;

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Foreseen {
    pub total: Counts,
    /// In the order of the file, those inside of others included.
    pub steps: Vec<ForeseenStep>,
    /// What the numbers do not say.
    pub notes: Vec<String>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForeseenStep {
    pub id: String,
    pub line: u32,
    /// The word by which the file says what it does.
    pub kind: &'static str,
    /// How often it runs.
    pub times: Span,
    pub counts: Counts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Asks>,
}

/// Counts of what happens outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Questions to models, those inside of boards and discussions included.
    pub calls: Span,
    /// Sessions that are opened.
    pub rooms: Span,
    /// Requests to hosts.
    pub requests: Span,
    pub files: Span,
    /// Decisions that people are asked for.
    pub people: Span,
    /// Sleeps, and waits for signals.
    pub waits: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Span {
    pub typical: u64,
    pub most: u64,
}

/// Calls of one kind: all of them are made to the same, and are about as long.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Asks {
    /// `None`: whoever is usual there, or nobody can tell before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whom: Option<Whom>,
    pub calls: Span,
    /// Of each call.
    pub input_tokens: Span,
    pub output_tokens: Span,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Whom {
    Model(String),
    Tier(String),
    Agent(String),
}

/// Items of a list that nobody can know before.
const ITEMS: Span = Span { typical: 4, most: limits::ITEMS as u64 };
/// Tokens of an item.
const LOCAL_TOKENS: Span = span(20, 400);
/// Tokens of the longest text that comes of a template.
const TEXT_TOKENS: u64 = limits::OUTPUT_BYTES as u64 / talk::TOKEN_BYTES;

const ONCE: Span = span(1, 1);
const NEVER: Span = span(0, 0);

const fn span(typical: u64, most: u64) -> Span {
    Span { typical, most }
}

const fn few_many((few, many): (u64, u64)) -> Span {
    span(few, many)
}

impl Span {
    fn plus(self, other: Span) -> Span {
        let typical = self.typical.saturating_add(other.typical);
        span(typical, self.most.saturating_add(other.most))
    }

    fn within(self, most: u64) -> Span {
        span(self.typical.min(most), self.most.min(most))
    }

    fn times(self, other: Span) -> Span {
        let typical = self.typical.saturating_mul(other.typical);
        span(typical, self.most.saturating_mul(other.most))
    }
}

impl Counts {
    fn plus(self, other: Counts) -> Counts {
        Counts {
            calls: self.calls.plus(other.calls),
            rooms: self.rooms.plus(other.rooms),
            requests: self.requests.plus(other.requests),
            files: self.files.plus(other.files),
            people: self.people.plus(other.people),
            waits: self.waits.plus(other.waits),
        }
    }
}

/// What a run with these inputs may take. They are those that `Definition::fill` gives.
pub fn foresee(definition: &Definition, inputs: &Map<String, Value>) -> Foreseen {
    let mut foresight = Foresight { definition, inputs, foreseen: Foreseen::default() };
    foresight.block(&definition.steps, ONCE);
    foresight.block(&definition.finally, ONCE);
    let mut foreseen = foresight.foreseen;
    foreseen.total =
        foreseen.steps.iter().fold(Counts::default(), |sum, step| sum.plus(step.counts));
    let steps: u64 = foreseen.steps.iter().map(|step| step.times.most).sum();
    if steps > limits::EXPANDED_STEPS as u64 {
        let most = limits::EXPANDED_STEPS;
        foreseen.notes.push(format!(
            "A run can have at most {most} steps; the maximum counted here is {steps}."
        ));
    }
    foreseen
}

struct Foresight<'a> {
    definition: &'a Definition,
    inputs: &'a Map<String, Value>,
    foreseen: Foreseen,
}

impl<'a> Foresight<'a> {
    fn note(&mut self, note: String) {
        if !self.foreseen.notes.contains(&note) {
            self.foreseen.notes.push(note);
        }
    }

    fn block(&mut self, steps: &'a [Step], around: Span) {
        let handlers: BTreeSet<&str> = steps
            .iter()
            .filter_map(|step| match &step.on_failure {
                OnFailure::Step(handler) => Some(handler.as_str()),
                OnFailure::Stop | OnFailure::Continue => None,
            })
            .collect();
        for step in steps {
            let times = match step.when.as_deref().map(|when| self.known(&when.into())) {
                Some(Some(Value::Bool(false))) => NEVER,
                Some(_) | None if handlers.contains(step.id.as_str()) => span(0, around.most),
                Some(_) | None => around,
            };
            self.step(step, times);
        }
    }

    fn step(&mut self, step: &'a Step, times: Span) {
        let place = self.foreseen.steps.len();
        let (id, line, kind) = (step.id.clone(), step.line, step.kind_name());
        let (counts, asks) = (Counts::default(), vec![]);
        self.foreseen.steps.push(ForeseenStep { id, line, kind, times, counts, asks });
        let mut counts = Counts::default();
        let mut asks = vec![];
        match &step.kind {
            Kind::Set { .. } => {}
            Kind::Sleep { .. } | Kind::Wait(_) => counts.waits = times,
            Kind::Approve(approve) => {
                let who = match self.known(&approve.who).as_ref().and_then(Value::as_array) {
                    Some(people) => people.len() as u64,
                    None => {
                        self.note(format!("Who decides on `{}` is not known in advance.", step.id));
                        limits::APPROVERS as u64
                    }
                };
                let need = u64::from(approve.need);
                counts.people = times.times(span(need, who.max(need)));
            }
            Kind::Foreach(foreach) => {
                let items = self.items(step, &foreach.items);
                self.block(&foreach.steps, times.times(items));
            }
            Kind::Repeat(repeat) => {
                self.block(&repeat.steps, times.times(span(1, u64::from(repeat.max))));
            }
            Kind::Act { act, with } => {
                let attempts = span(1, 1 + step.retry.map_or(0, |retry| u64::from(retry.times)));
                asks = self.asks(*act, with, step);
                for one in &mut asks {
                    one.calls = one.calls.times(times).times(attempts);
                }
                counts = outside(*act, times, times.times(attempts));
            }
        }
        counts.calls = asks.iter().fold(NEVER, |sum, one| sum.plus(one.calls));
        if let Some(found) = self.foreseen.steps.get_mut(place) {
            (found.counts, found.asks) = (counts, asks);
        }
    }

    fn items(&mut self, step: &Step, items: &Value) -> Span {
        match self.known(items) {
            Some(Value::Array(items)) => {
                let count = items.len() as u64;
                span(count, count)
            }
            Some(_) | None => {
                self.note(format!(
                    "The number of items in `{}` is not known in advance: {} are assumed as \
                     typical, {} at most.",
                    step.id, ITEMS.typical, ITEMS.most
                ));
                ITEMS
            }
        }
    }

    // -----------------------------------------------------------------------
    // What can be known

    /// A value that depends on nothing but the inputs.
    fn known(&self, value: &Value) -> Option<Value> {
        let Value::String(text) = value else { return Some(value.clone()) };
        if !is_template(text) {
            return Some(value.clone());
        }
        let named = expression::look(text).ok()?;
        let is_input = |path: &String| path == "inputs" || path.starts_with("inputs.");
        match named.paths.iter().all(is_input) {
            true => expression::render(text, &json!({ "inputs": self.inputs })).ok(),
            false => None,
        }
    }

    fn text(&self, with: &Map<String, Value>, name: &str) -> Option<String> {
        match self.known(with.get(name)?)? {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn count(&self, with: &Map<String, Value>, name: &str) -> Option<u64> {
        self.known(with.get(name)?)?.as_array().map(|items| items.len() as u64)
    }

    /// About how many tokens a text has once it is worked out.
    fn tokens(&self, with: &Map<String, Value>, name: &str) -> Span {
        let text = match with.get(name) {
            Some(Value::String(text)) => text.as_str(),
            Some(other) => return same(other.to_string().len() as u64 / talk::TOKEN_BYTES),
            None => return NEVER,
        };
        if let Some(Value::String(known)) = self.known(&text.into()) {
            return same(known.len() as u64 / talk::TOKEN_BYTES);
        }
        let named = expression::look(text).unwrap_or_default();
        let parts = named.paths.iter().map(|path| self.part(path));
        parts.fold(same(text.len() as u64 / talk::TOKEN_BYTES), Span::plus).within(TEXT_TOKENS)
    }

    /// About how many tokens what is named brings in.
    fn part(&self, path: &str) -> Span {
        let mut names = path.split('.');
        match (names.next(), names.next()) {
            (Some("inputs"), Some(name)) => {
                let value = self.inputs.get(name);
                let bytes = value.map_or(0, |value| match value {
                    Value::String(text) => text.len(),
                    other => other.to_string().len(),
                });
                same(bytes as u64 / talk::TOKEN_BYTES)
            }
            (Some("steps"), Some(id)) => self.definition.step(id).map_or(NEVER, |s| self.says(s)),
            (Some("run"), _) => same(5),
            (_, _) => LOCAL_TOKENS,
        }
    }

    /// About how many tokens the output of a step has.
    fn says(&self, step: &Step) -> Span {
        let inner = || step.inner().iter().fold(NEVER, |sum, step| sum.plus(self.says(step)));
        match &step.kind {
            Kind::Foreach(foreach) => {
                let known = self.known(&foreach.items);
                let count = known.as_ref().and_then(Value::as_array).map(|items| items.len());
                inner().times(count.map_or(ITEMS, |count| same(count as u64)))
            }
            Kind::Repeat(repeat) => inner().times(span(1, u64::from(repeat.max))),
            Kind::Set { .. } | Kind::Approve(_) => span(50, 800),
            Kind::Sleep { .. } | Kind::Wait(_) => span(20, 200),
            Kind::Act { act, .. } => match act {
                Act::Ask => few_many(board::ANSWER_TOKENS),
                Act::Boardroom | Act::Discussion => few_many(board::SYNTHESIS_TOKENS),
                Act::WhiteboardSummarize
                | Act::WhiteboardArchive
                | Act::WhiteboardConflicts
                | Act::CouncilRead
                | Act::Workflow
                | Act::Http => span(300, 4_000),
                Act::WhiteboardPost | Act::WhiteboardAnnotate | Act::WhiteboardVote => {
                    few_many(board::ANSWER_TOKENS)
                }
                Act::WhiteboardOpen
                | Act::WhiteboardRegister
                | Act::WhiteboardTransition
                | Act::CouncilOpen
                | Act::CouncilPost
                | Act::CouncilClose
                | Act::Write => span(10, 50),
            },
        }
    }
}

const fn same(count: u64) -> Span {
    span(count, count)
}

/// What a step does outside besides asking models. What has a key is done once, however
/// often it is tried; a session that failed is opened anew.
fn outside(act: Act, times: Span, tried: Span) -> Counts {
    let nothing = Counts::default();
    match act.spec().does {
        Does::Awaits => Counts { rooms: tried, ..nothing },
        Does::Opens { .. } => Counts { rooms: times, ..nothing },
        Does::Requests => Counts { requests: tried, ..nothing },
        Does::Writes => Counts { files: times, ..nothing },
        Does::Tells | Does::Nothing => nothing,
    }
}
