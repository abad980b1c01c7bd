//! What the server was last told to say, and how often it has said it.

use std::collections::{BTreeMap, HashMap};

use crate::rules::Rules;
use crate::script::{Gate, Reply, Script, When};

pub(crate) struct Told {
    rules: Vec<(When, Reply)>,
    otherwise: Reply,
    /// Requests so far, by model.
    models: HashMap<String, u64>,
    /// Requests so far, by rule; the last one is the reply for all others.
    asked: HashMap<usize, u64>,
    gates: BTreeMap<String, Gate>,
}

impl Told {
    pub(crate) fn new(script: &Script) -> Told {
        let mut gates = BTreeMap::new();
        let mut rules = script.rules.clone();
        rules.extend(script.written.play(&mut gates, &script.otherwise));
        let otherwise = script.otherwise.clone();
        Told { rules, otherwise, models: HashMap::new(), asked: HashMap::new(), gates }
    }

    /// These rules are for the requests that come from now on, and all counts begin
    /// again. Answers under way go on as they began.
    pub(crate) fn replace(&mut self, rules: &Rules) {
        self.rules = rules.play(&mut self.gates, &self.otherwise);
        self.models.clear();
        self.asked.clear();
    }

    /// The gate of this name, or the names that there are.
    pub(crate) fn gate(&self, name: &str) -> Result<Gate, String> {
        self.gates.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.gates.keys().map(String::as_str).collect();
            match names.is_empty() {
                true => format!("no rule holds {name:?}: none holds anything"),
                false => format!("no rule holds {name:?}; there is {}", names.join(", ")),
            }
        })
    }

    /// Rules with steps are for requests that offer tools: beside its work a program asks
    /// for a title, or what to do next, and offers none then.
    pub(crate) fn choose(&mut self, model: &str, prompt: &str, tools: bool) -> Reply {
        let nth = self.models.entry(model.to_owned()).or_default();
        *nth += 1;
        let nth = *nth;
        let mut rules = self.rules.iter();
        let index = rules.position(|(when, reply)| {
            when.fits(model, nth, prompt) && (tools || reply.steps.is_empty())
        });
        let index = index.unwrap_or(self.rules.len());
        let reply = self.rules.get(index).map_or(&self.otherwise, |(_, reply)| reply);
        let asked = self.asked.entry(index).or_default();
        *asked += 1;
        let mut reply = reply.clone();
        if reply.faults.is_some_and(|first| *asked > first) {
            reply.fault = None;
        }
        let turn = usize::try_from(*asked - 1).unwrap_or(usize::MAX);
        if let Some(text) = reply.texts.get(turn).or(reply.texts.last()) {
            reply.text = Some(text.clone());
        }
        reply
    }
}
