//! A workflow as it runs: what is left of a file once it has been read and checked.
//!
//! It is copied into the run's first event, so what stands here is as lasting as events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::expression;
use super::kinds::{Act, Asks, Does, Spec};
use super::size::too_large;
use crate::budget::Allowance;
use crate::limits;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// A template for the title of each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// In the order of the file.
    pub steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finally: Vec<Step>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Output>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<Trigger>,
    /// A template: of those runs for which it comes to the same, one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_per: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// A value that a run is given, or that a person fills in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    pub name: String,
    #[serde(rename = "type")]
    pub takes: Type,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    pub required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Type {
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
    Any,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub id: String,
    /// Where it stands in the file.
    pub line: u32,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub kind: Kind,
    /// In the same block. Those that an expression names are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// For each attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// For all of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// What its seat, or the session that it opens, may spend. Its time is the deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    #[serde(default, skip_serializing_if = "OnFailure::is_usual")]
    pub on_failure: OnFailure,
    /// The lines of its templates, by their path within the step.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<String, u32>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Kind {
    Act { act: Act, with: Map<String, Value> },
    Set { value: Value },
    Sleep { time: Value },
    Wait(Wait),
    Approve(Box<Approve>),
    Foreach(Foreach),
    Repeat(Repeat),
}

impl Kind {
    /// Whether it has a seat that answers, or opens a session with such seats.
    pub(super) fn asks_models(&self) -> bool {
        match self {
            Kind::Act { act, with } => {
                let Spec { asks, does, .. } = act.spec();
                match asks {
                    Asks::Model => true,
                    Asks::Seat(_) => with.contains_key("ask"),
                    // What is opened to be written to by hand asks nobody.
                    Asks::Nobody => match does {
                        Does::Awaits => *act != Act::Workflow,
                        Does::Opens { .. } => *act == Act::CouncilOpen,
                        Does::Nothing | Does::Tells | Does::Requests | Does::Writes => false,
                    },
                }
            }
            Kind::Set { .. }
            | Kind::Sleep { .. }
            | Kind::Wait(_)
            | Kind::Approve(_)
            | Kind::Foreach(_)
            | Kind::Repeat(_) => false,
        }
    }
}

impl Budget {
    /// The same as forms know it.
    pub(super) fn allowance(self) -> Allowance {
        Allowance { tokens: self.tokens, cost: self.usd, time_ms: self.time_ms }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// All of them have to come, or one is enough.
    pub all: bool,
    /// Each has a `signal`, and what else has to be equal.
    pub signals: Vec<Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approve {
    /// People, or a template that comes to a list of them.
    pub who: Value,
    pub need: u32,
    /// Who started the run does not decide.
    pub not_starter: bool,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub show: Value,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub evidence: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Input>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// What nobody's answer means at the deadline.
    pub at_deadline: AtDeadline,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AtDeadline {
    #[default]
    Reject,
    Approve,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Foreach {
    /// A list, or a template that comes to one.
    pub items: Value,
    /// What an item is called in the steps.
    #[serde(rename = "as")]
    pub name: String,
    pub parallel: u32,
    /// Whether further items begin when one has failed.
    pub go_on: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Repeat {
    pub until: String,
    pub max: u32,
    /// Whether it is done, not failed, when the last round has not come to it.
    pub go_on: bool,
    pub steps: Vec<Step>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Need {
    pub step: String,
    /// However it ends.
    #[serde(default, skip_serializing_if = "is_not")]
    pub any: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retry {
    /// Further attempts.
    pub times: u32,
    pub wait_ms: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OnFailure {
    /// Nothing more begins.
    #[default]
    Stop,
    Continue,
    /// This step runs, and it is its matter then.
    Step(String),
}

impl OnFailure {
    fn is_usual(&self) -> bool {
        *self == OnFailure::Stop
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    pub name: String,
    pub value: Value,
    pub line: u32,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Trigger {
    Cron {
        at: String,
        zone: String,
        overlap: Overlap,
        missed: Missed,
    },
    /// The secret by which deliveries are signed.
    Webhook {
        secret: String,
    },
    Signal {
        matching: Map<String, Value>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Overlap {
    #[default]
    Skip,
    Queue,
    Replace,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Missed {
    #[default]
    Skip,
    Latest,
}

/// What a run may take, with everything that it opened.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

fn is_not(is: &bool) -> bool {
    !is
}

impl Type {
    pub(crate) const NAMES: [&'static str; 7] =
        ["string", "number", "integer", "boolean", "array", "object", "any"];

    pub(crate) fn called(name: &str) -> Option<Type> {
        serde_json::from_value(Value::String(name.to_owned())).ok()
    }

    pub fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number => "number",
            Type::Integer => "integer",
            Type::Boolean => "boolean",
            Type::Array => "array",
            Type::Object => "object",
            Type::Any => "any",
        }
    }

    pub(crate) fn takes(self, value: &Value) -> bool {
        match self {
            Type::String => value.is_string(),
            Type::Number => value.is_number(),
            Type::Integer => value.is_i64() || value.is_u64(),
            Type::Boolean => value.is_boolean(),
            Type::Array => value.is_array(),
            Type::Object => value.is_object(),
            Type::Any => true,
        }
    }
}

impl Step {
    /// The file that it writes. Where the path is worked out later, any file stands for it:
    /// that nothing can be written at all is known before.
    pub fn written(&self) -> Option<String> {
        let Kind::Act { act: Act::Write, with } = &self.kind else { return None };
        let path = with.get("path")?.as_str()?;
        let is_known = !path.contains("{{") && !path.contains("{%");
        Some(if is_known { path.to_owned() } else { "a file".to_owned() })
    }

    /// The steps inside of a `foreach` or a `repeat`.
    pub fn inner(&self) -> &[Step] {
        match &self.kind {
            Kind::Foreach(foreach) => &foreach.steps,
            Kind::Repeat(repeat) => &repeat.steps,
            Kind::Act { .. }
            | Kind::Set { .. }
            | Kind::Sleep { .. }
            | Kind::Wait(_)
            | Kind::Approve(_) => &[],
        }
    }

    /// The word by which the file says what it does.
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Act { act, .. } => act.name(),
            Kind::Set { .. } => "set",
            Kind::Sleep { .. } => "sleep",
            Kind::Wait(_) => "wait",
            Kind::Approve(_) => "approve",
            Kind::Foreach(_) => "foreach",
            Kind::Repeat(_) => "repeat",
        }
    }

    /// Itself and all steps inside.
    pub(crate) fn all<'a>(&'a self, found: &mut Vec<&'a Step>) {
        found.push(self);
        self.inner().iter().for_each(|step| step.all(found));
    }
}

impl Definition {
    /// Of two limits the narrower holds.
    pub(super) fn spend_at_most(&mut self, most: Allowance) {
        if most.is_none() {
            return;
        }
        let own = self.budget.unwrap_or_default();
        let tokens = own.tokens.into_iter().chain(most.tokens).min();
        let usd = own.usd.into_iter().chain(most.cost).reduce(f64::min);
        self.budget = Some(Budget { tokens, usd, ..own });
    }

    /// Every step, those inside of others and those of `finally` included.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut found = vec![];
        self.steps.iter().chain(&self.finally).for_each(|step| step.all(&mut found));
        found
    }

    pub fn step(&self, id: &str) -> Option<&Step> {
        self.all_steps().into_iter().find(|step| step.id == id)
    }

    /// The inputs that a run begins with, or what is wrong with those that were given.
    pub fn fill(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<crate::Wrong>> {
        let mut wrong = vec![];
        let known = |name: &String| self.inputs.iter().any(|input| input.name == *name);
        for name in given.keys().filter(|name| !known(name)) {
            let near = super::problem::near(name, self.inputs.iter().map(|i| i.name.as_str()));
            let near =
                near.first().map_or(String::new(), |near| format!("; did you mean {near:?}?"));
            wrong.push(crate::Wrong::new(
                format!("inputs.{name}"),
                format!("is not an input of this workflow{near}"),
            ));
        }
        let filled = fill(&self.inputs, given, "inputs", &mut wrong);
        let filled_in = Value::Object(filled.clone());
        wrong.extend(too_large(&filled_in).map(|why| crate::Wrong::new("inputs", why)));
        if wrong.is_empty() { Ok(filled) } else { Err(wrong) }
    }

    /// What `one_per` comes to with these inputs: of the runs for which that is the same,
    /// one at a time. `None` where any number may run.
    pub fn key(&self, inputs: &Map<String, Value>) -> Result<Option<String>, String> {
        let Some(template) = &self.one_per else { return Ok(None) };
        let value = expression::render(template, &json!({ "inputs": inputs }))?;
        let key = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (size, most) = (key.len(), limits::ONE_PER_BYTES);
        match size > most {
            true => Err(format!("this makes {size} bytes; at most {most} are allowed")),
            false => Ok(Some(key)),
        }
    }
}

/// Values for all of these, with what is usual where nothing was given.
pub(crate) fn fill(
    inputs: &[Input],
    given: &Map<String, Value>,
    field: &str,
    wrong: &mut Vec<crate::Wrong>,
) -> Map<String, Value> {
    let mut filled = Map::new();
    for input in inputs {
        let name = &input.name;
        let value = match (given.get(name), &input.default) {
            (Some(value), _) if !input.takes.takes(value) => {
                let takes = input.takes.name();
                wrong.push(crate::Wrong::new(
                    format!("{field}.{name}"),
                    format!("must be of type {takes}"),
                ));
                continue;
            }
            (Some(value), _) => value.clone(),
            (None, Some(usual)) => usual.clone(),
            (None, None) if input.required => {
                wrong.push(crate::Wrong::new(format!("{field}.{name}"), "is required"));
                continue;
            }
            (None, None) => Value::Null,
        };
        filled.insert(name.clone(), value);
    }
    filled
}
