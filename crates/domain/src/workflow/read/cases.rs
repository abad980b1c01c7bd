//! The cases of a file: what the world does in a rehearsal, and what should come of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Entries, Reader, join};
use crate::call::FailureKind;
use crate::limits;
use crate::workflow::definition::{Definition, Input, Kind, Step};
use crate::workflow::event::Decision;
use crate::workflow::kinds::{Act, Gives};
use crate::workflow::problem::At;
use crate::workflow::rehearsal::case::{
    Approval, Cancelling, Case, Coming, DECISIONS, Expect, ExpectStep, FAILURES, OUTCOMES,
    RUN_STATUSES, Replies, Reply, STEP_STATUSES,
};
use crate::workflow::signal::Signal;
use crate::workflow::yaml::{Data, Key, Node};

const CASE: [&str; 8] =
    ["name", "inputs", "starter", "answers", "signals", "approvals", "cancel", "expect"];
const STARTER: &str = "starter";

/// What a case is about.
type Of<'d> = &'d Definition;

impl Reader<'_> {
    pub(super) fn cases(&mut self, root: &Node, of: Of<'_>) -> Vec<Case> {
        let Data::Map(top) = &root.data else { return vec![] };
        let Some((_, node)) = top.iter().find(|(key, _)| key.name == "cases") else {
            return vec![];
        };
        let items = self.items(node, "cases", "a list of cases");
        if items.len() > limits::CASES {
            let message = format!("there are more than {} cases", limits::CASES);
            self.problems.error(node.at, "cases", message);
        }
        let mut names = BTreeSet::new();
        let mut cases = vec![];
        for (number, node) in items.iter().take(limits::CASES).enumerate() {
            let Some(case) = self.case(node, &format!("cases[{number}]"), of) else { continue };
            if !case.name.is_empty() && !names.insert(case.name.clone()) {
                let message = format!("there is another case {:?}", case.name);
                self.problems.error(node.at, &format!("cases[{number}].name"), message);
            }
            cases.push(case);
        }
        cases
    }

    fn items<'n>(&mut self, node: &'n Node, path: &str, what: &str) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Map(_) => {
                self.wrong(node, path, what);
                &[]
            }
        }
    }

    fn case(&mut self, node: &Node, path: &str, of: Of<'_>) -> Option<Case> {
        let top = self.known(node, path, &CASE)?;
        let name = match top.get("name") {
            Some((node, path)) => self.words(node, &path).unwrap_or_default(),
            None => {
                self.problems.error(node.at, path, "a case needs a `name`");
                String::new()
            }
        };
        let inputs = self.case_inputs(&top, of);
        let answers_at = top.get("answers").map_or(node.at, |(node, _)| node.at);
        let expect = match top.get("expect") {
            Some((node, path)) => self.expect(node, &path, of),
            None => {
                let message =
                    "a case without `expect` tests nothing; write `expect: { status: done }`";
                self.problems.error(node.at, path, message);
                Expect::default()
            }
        };
        Some(Case {
            name,
            at: node.at,
            answers_at,
            starter: self.field_words(&top, "starter").unwrap_or_else(|| STARTER.to_owned()),
            inputs,
            answers: top.get("answers").map(|(n, p)| self.answers(n, &p, of)).unwrap_or_default(),
            signals: top.get("signals").map(|(n, p)| self.signals(n, &p, of)).unwrap_or_default(),
            approvals: top
                .get("approvals")
                .map(|(n, p)| self.approvals(n, &p, of))
                .unwrap_or_default(),
            cancel: top.get("cancel").and_then(|(n, p)| self.cancelling(n, &p, of)),
            expect,
        })
    }

    /// A text, or a number as it is written. Nothing in a case is an expression.
    fn words(&mut self, node: &Node, path: &str) -> Option<String> {
        match &node.data {
            Data::Text(text) => Some(text.clone()),
            Data::Number(number) => Some(number.to_string()),
            Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "a string");
                None
            }
        }
    }

    fn field_words(&mut self, entries: &Entries<'_>, name: &str) -> Option<String> {
        entries.get(name).and_then(|(node, path)| self.words(node, &path))
    }

    fn case_inputs(&mut self, top: &Entries<'_>, of: Of<'_>) -> Map<String, Value> {
        let given = top.get("inputs");
        let entries =
            given.as_ref().and_then(|(node, path)| self.entries(node, path, "a map of inputs"));
        let entries = entries.map_or(&[][..], |entries| entries.entries);
        let inputs: Map<String, Value> =
            entries.iter().map(|(key, node)| (key.name.clone(), node.json())).collect();
        for wrong in of.fill(&inputs).err().into_iter().flatten() {
            let found =
                entries.iter().find(|(key, _)| wrong.field == format!("inputs.{}", key.name));
            let at = found.map(|(key, _)| key.at);
            let at = at.or(given.as_ref().map(|(node, _)| node.at)).unwrap_or(top.at);
            let message = format!("`{}` {}", wrong.field, wrong.problem);
            self.problems.error(at, &join(&top.path, &wrong.field), message);
        }
        inputs
    }

    /// The step that is meant by an id, or by a place such as `propose/2/post`. `None`: it
    /// is not there, and that is told unless the step itself is wrong.
    fn meant<'d>(&mut self, name: &str, at: At, path: &str, of: Of<'d>) -> Option<&'d Step> {
        let parts: Vec<&str> = name.split('/').collect();
        let id = parts.last().copied().unwrap_or_default();
        let Some(step) = of.step(id) else {
            if !self.places.contains_key(id) {
                let known: Vec<&str> = self.places.keys().map(String::as_str).collect();
                self.problems.unknown(at, path, format!("there is no step `{name}`"), id, known);
            }
            return None;
        };
        if parts.len() > 1 && !stands_at(&of.steps, &parts) && !stands_at(&of.finally, &parts) {
            let message = format!(
                "`{id}` is not at `{name}`; write a place such as `outer/2/{id}`, with the number \
                 of the item or round"
            );
            self.problems.error(at, path, message);
            return None;
        }
        Some(step)
    }

    // -----------------------------------------------------------------------
    // What the world does

    fn answers(&mut self, node: &Node, path: &str, of: Of<'_>) -> BTreeMap<String, Replies> {
        let what = "a map of answers, by step";
        let Some(entries) = self.entries(node, path, what) else { return BTreeMap::new() };
        let mut answers = BTreeMap::new();
        for (key, node) in entries.entries {
            let path = join(path, &key.name);
            let Some(step) = self.meant(&key.name, key.at, &path, of) else { continue };
            let Some((act, with)) = self.outside(step, key, &path) else { continue };
            let replies = match &node.data {
                Data::List(items) => {
                    let most = limits::CASE_REPLIES;
                    if items.len() > most {
                        let message = format!("there are more than {most} answers");
                        self.problems.error(node.at, &path, message);
                    }
                    let reply = |(number, node): (usize, &Node)| {
                        self.reply(act, with, node, &format!("{path}[{number}]"))
                    };
                    Replies::InTurn(items.iter().take(most).enumerate().map(reply).collect())
                }
                Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::Map(_) => {
                    Replies::Always(self.reply(act, with, node, &path))
                }
            };
            answers.insert(key.name.clone(), replies);
        }
        answers
    }

    /// What a step does outside, where it does anything.
    fn outside<'d>(
        &mut self,
        step: &'d Step,
        key: &Key,
        path: &str,
    ) -> Option<(Act, &'d Map<String, Value>)> {
        let id = &step.id;
        let message = match &step.kind {
            Kind::Act { act, with } => return Some((*act, with)),
            Kind::Set { .. } => format!("`{id}` sets a value and asks no one"),
            Kind::Sleep { .. } => format!("`{id}` sleeps; the clock moves on by itself"),
            Kind::Wait(_) => format!("`{id}` waits for signals; put them under `signals`"),
            Kind::Approve(_) => format!("`{id}` is decided by people; use `approvals`"),
            Kind::Foreach(_) | Kind::Repeat(_) => {
                format!("`{id}` asks no one itself; name a step inside it")
            }
        };
        self.problems.error(key.at, path, message);
        None
    }

    fn reply(&mut self, act: Act, with: &Map<String, Value>, node: &Node, path: &str) -> Reply {
        let has = |name: &str| match &node.data {
            Data::Map(entries) => entries.iter().any(|(key, _)| key.name == name),
            Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) | Data::List(_) => false,
        };
        if has("fails") {
            return self.failing(node, path).unwrap_or(Reply::Hangs);
        }
        if has("hangs") {
            if let Some(entries) = self.known(node, path, &["hangs"])
                && let Some((node, path)) = entries.get("hangs")
                && self.flag(node, &path) == Some(false)
            {
                self.problems.error(node.at, &path, "write `hangs: true`, or leave it out");
            }
            return Reply::Hangs;
        }
        if !act.is_asked(with) {
            self.giving(act, node, path);
        }
        Reply::Gives(node.json())
    }

    fn failing(&mut self, node: &Node, path: &str) -> Option<Reply> {
        let entries = self.known(node, path, &["fails", "kind"])?;
        let message = self.field_words(&entries, "fails")?;
        let names = FAILURES.map(|(name, _)| name);
        let kind = match entries.get("kind") {
            Some((node, path)) => {
                let name = self.one_of(node, &path, &names)?;
                FAILURES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
            }
            None => None,
        };
        Some(Reply::Fails { message, kind: kind.unwrap_or(FailureKind::ProviderError) })
    }

    /// Whether such a step could give this.
    fn giving(&mut self, act: Act, node: &Node, path: &str) {
        let fields = match act.spec().gives {
            Gives::Fields(fields) => fields,
            Gives::Anything => return,
        };
        let Some(entries) = self.entries(node, path, "a map of what the step gives") else {
            return;
        };
        let name = act.name();
        for (key, _) in entries.entries.iter().filter(|(key, _)| !fields.contains(&&*key.name)) {
            let message = format!("`{name}` gives no `{}`", key.name);
            let path = join(path, &key.name);
            self.problems.unknown(key.at, &path, message, &key.name, fields.iter().copied());
        }
        for field in act.spec().open.iter().filter(|field| !entries.has(field)) {
            let message = format!("`{name}` gives `{field}`; the case must say what it is");
            self.problems.error(node.at, path, message);
        }
        if let Some((node, path)) = entries.get("outcome") {
            self.one_of(node, &path, &OUTCOMES);
        }
    }

    /// When it happens; both may be given.
    fn coming<T>(&mut self, entries: &Entries<'_>, of: Of<'_>, what: T) -> Coming<T> {
        let at = entries.get("at").and_then(|(node, path)| self.time(node, &path));
        let after = entries.get("after").and_then(|(node, path)| {
            let step = self.words(node, &path)?;
            self.meant(&step, node.at, &path, of).map(|_| step)
        });
        Coming { place: entries.at, at_ms: at.unwrap_or(0), after, what }
    }

    fn signals(&mut self, node: &Node, path: &str, of: Of<'_>) -> Vec<Coming<Signal>> {
        let mut signals = vec![];
        for (number, node) in self.items(node, path, "a list of signals").iter().enumerate() {
            let path = format!("{path}[{number}]");
            let Some(entries) = self.entries(node, &path, "a map with a `signal`") else {
                continue;
            };
            if !entries.has("signal") {
                self.problems.error(node.at, &path, "which signal? Give its `signal`");
            }
            let mut signal = Signal::new();
            for (key, node) in entries.entries {
                if ["at", "after"].contains(&key.name.as_str()) {
                    continue;
                }
                match node.data {
                    Data::Text(_) | Data::Number(_) | Data::Bool(_) => {
                        signal.insert(key.name.clone(), node.json());
                    }
                    Data::Null | Data::List(_) | Data::Map(_) => {
                        self.wrong(node, &join(&path, &key.name), "a string or a number");
                    }
                }
            }
            signals.push(self.coming(&entries, of, signal));
        }
        signals
    }

    fn approvals(&mut self, node: &Node, path: &str, of: Of<'_>) -> Vec<Coming<Approval>> {
        let items = self.items(node, path, "a list of decisions");
        let mut approvals = vec![];
        for (number, node) in items.iter().enumerate() {
            approvals.extend(self.approval(node, &format!("{path}[{number}]"), of));
        }
        approvals
    }

    fn approval(&mut self, node: &Node, path: &str, of: Of<'_>) -> Option<Coming<Approval>> {
        let known = ["step", "by", "decision", "reason", "fields", "at", "after"];
        let entries = self.known(node, path, &known)?;
        for name in ["step", "by", "decision"].iter().filter(|name| !entries.has(name)) {
            self.problems.error(node.at, path, format!("a decision needs `{name}`"));
        }
        let step = self.field_words(&entries, "step");
        let by = self.field_words(&entries, "by");
        let reason = self.field_words(&entries, "reason").unwrap_or_default();
        let decision = entries.get("decision").and_then(|(node, path)| {
            Some(match self.one_of(node, &path, &DECISIONS)? {
                "approved" => Decision::Approved,
                "rejected" => Decision::Rejected,
                _ => Decision::Changes,
            })
        });
        let is_no = matches!(decision, Some(Decision::Rejected | Decision::Changes));
        if is_no && reason.trim().is_empty() {
            self.problems.error(node.at, path, "this decision needs a `reason`");
        }
        let mut asked: Option<&[Input]> = None;
        if let (Some(step), Some((node, path))) = (&step, entries.get("step"))
            && let Some(found) = self.meant(step, node.at, &path, of)
        {
            match &found.kind {
                Kind::Approve(approve) => asked = Some(&approve.fields),
                Kind::Act { .. }
                | Kind::Set { .. }
                | Kind::Sleep { .. }
                | Kind::Wait(_)
                | Kind::Foreach(_)
                | Kind::Repeat(_) => {
                    let message = format!("`{step}` is not an `approve` step");
                    self.problems.error(node.at, &path, message);
                }
            }
        }
        let fields = self.decision_fields(&entries, asked);
        let what = Approval { step: step?, by: by?, decision: decision?, reason, fields };
        Some(self.coming(&entries, of, what))
    }

    fn decision_fields(
        &mut self,
        entries: &Entries<'_>,
        asked: Option<&[Input]>,
    ) -> Map<String, Value> {
        let Some((node, path)) = entries.get("fields") else { return Map::new() };
        let Some(given) = self.entries(node, &path, "a map of fields") else { return Map::new() };
        for (key, _) in given.entries {
            let Some(asked) = asked else { continue };
            let names = asked.iter().map(|field| field.name.as_str());
            if !names.clone().any(|name| name == key.name) {
                let message = format!("`{}` is not asked for", key.name);
                self.problems.unknown(key.at, &join(&path, &key.name), message, &key.name, names);
            }
        }
        given.entries.iter().map(|(key, node)| (key.name.clone(), node.json())).collect()
    }

    fn cancelling(&mut self, node: &Node, path: &str, of: Of<'_>) -> Option<Coming<Cancelling>> {
        let entries = self.known(node, path, &["at", "after", "by", "reason"])?;
        if !entries.has("at") && !entries.has("after") {
            self.problems.error(node.at, path, "say when: `at` a time, or `after` a step");
        }
        let by = self.field_words(&entries, "by");
        let reason = self.field_words(&entries, "reason").unwrap_or_default();
        Some(self.coming(&entries, of, Cancelling { by, reason }))
    }

    // -----------------------------------------------------------------------
    // What should come of it

    fn expect(&mut self, node: &Node, path: &str, of: Of<'_>) -> Expect {
        let known = ["status", "reason", "steps", "outputs"];
        let Some(entries) = self.known(node, path, &known) else { return Expect::default() };
        if entries.entries.is_empty() {
            self.problems.error(node.at, path, "nothing is expected here");
        }
        let status = entries.get("status").map(|(node, path)| {
            self.one_of(node, &path, &RUN_STATUSES);
            node.clone()
        });
        let reason = entries.get("reason").map(|(node, _)| node.clone());
        let mut outputs = vec![];
        if let Some((node, path)) = entries.get("outputs")
            && let Some(entries) = self.entries(node, &path, "a map of outputs")
        {
            for (key, node) in entries.entries {
                let names = of.outputs.iter().map(|output| output.name.as_str());
                if !names.clone().any(|name| name == key.name) {
                    let message = format!("the workflow has no output `{}`", key.name);
                    let path = join(&path, &key.name);
                    self.problems.unknown(key.at, &path, message, &key.name, names);
                }
                outputs.push((key.name.clone(), node.clone()));
            }
        }
        let mut steps = vec![];
        if let Some((node, path)) = entries.get("steps")
            && let Some(entries) = self.entries(node, &path, "a map of statuses, by step")
        {
            for (key, node) in entries.entries {
                let path = join(&path, &key.name);
                let found = self.meant(&key.name, key.at, &path, of);
                if let Some(step) = self.expect_step(node, &path).filter(|_| found.is_some()) {
                    steps.push((key.name.clone(), step));
                }
            }
        }
        Expect { status, reason, steps, outputs }
    }

    /// A status, or a map with more.
    fn expect_step(&mut self, node: &Node, path: &str) -> Option<ExpectStep> {
        if node.text().is_some() {
            self.one_of(node, path, &STEP_STATUSES)?;
            let status = Some(node.clone());
            return Some(ExpectStep { status, reason: None, input: vec![], output: None });
        }
        let entries = self.known(node, path, &["status", "reason", "input", "output"])?;
        if let Some((node, path)) = entries.get("status") {
            self.one_of(node, &path, &STEP_STATUSES);
        }
        let mut input = vec![];
        if let Some((node, path)) = entries.get("input")
            && let Some(entries) = self.entries(node, &path, "a map of fields")
        {
            let fields = entries.entries.iter();
            input.extend(fields.map(|(key, node)| (key.name.clone(), node.clone())));
        }
        let node = |name: &str| entries.get(name).map(|(node, _)| node.clone());
        let (status, reason, output) = (node("status"), node("reason"), node("output"));
        Some(ExpectStep { status, reason, input, output })
    }
}

/// Whether these steps have such a place: ids, with a number after each that has steps of
/// its own.
fn stands_at(steps: &[Step], parts: &[&str]) -> bool {
    match parts {
        [id] => steps.iter().any(|step| step.id == *id),
        [outer, number, rest @ ..] => {
            let is_number = number.parse::<u32>().is_ok_and(|number| number > 0);
            let outer = steps.iter().find(|step| step.id == *outer);
            is_number && outer.is_some_and(|outer| stands_at(outer.inner(), rest))
        }
        [] => false,
    }
}
