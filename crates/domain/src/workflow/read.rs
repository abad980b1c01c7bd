//! A file becomes a definition. Reading goes on after whatever is wrong, so that all
//! problems are told at once.

mod cases;
mod steps;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::cron::{self, Cron};
use super::definition::{Budget, Definition, Input, Missed, Output, Overlap, Trigger, Type};
use super::expression::{self, Named, is_template};
use super::problem::{At, Problems};
use super::rehearsal::case::Case;
use super::time;
use super::yaml::{Data, Key, Node};
use crate::limits;
use crate::names::check_room_name;

const TOP: [&str; 11] = [
    "name",
    "description",
    "title",
    "inputs",
    "steps",
    "finally",
    "outputs",
    "on",
    "one_per",
    "budget",
    "cases",
];

/// A definition that was read, with what the check needs beside it.
pub(crate) struct Draft {
    pub definition: Definition,
    pub cases: Vec<Case>,
    pub uses: Vec<Use>,
    /// Where each step's id stands; ids that are there twice are left out.
    pub places: BTreeMap<String, At>,
}

/// A template somewhere in the file.
pub(crate) struct Use {
    pub at: At,
    pub path: String,
    pub text: String,
    pub named: Named,
    pub scope: Scope,
}

/// What a template may name, by where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Scope {
    pub part: Part,
    /// The step that it belongs to.
    pub step: Option<String>,
    /// The steps around that one, the outermost first.
    pub around: Vec<String>,
    /// Names that those give.
    pub locals: Vec<String>,
    pub secrets: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Before anything has run: `title`, `one_per`.
    Before,
    Steps,
    Finally,
    Outputs,
}

impl Scope {
    pub fn of(part: Part) -> Self {
        Scope { part, step: None, around: vec![], locals: vec![], secrets: false }
    }

    fn step(&self, id: &str) -> Scope {
        Scope { step: Some(id.to_owned()), ..self.clone() }
    }

    fn inside<const N: usize>(&self, id: &str, locals: [&str; N]) -> Scope {
        let mut scope = Scope { step: None, ..self.clone() };
        scope.around.push(id.to_owned());
        scope.locals.extend(locals.map(str::to_owned));
        scope
    }
}

pub(crate) fn draft(root: &Node, problems: &mut Problems) -> Draft {
    let mut reader =
        Reader { problems, uses: vec![], places: BTreeMap::new(), lines: BTreeMap::new() };
    let definition = reader.definition(root);
    let cases = reader.cases(root, &definition);
    let Reader { uses, places, .. } = reader;
    Draft { definition, cases, uses, places }
}

struct Reader<'a> {
    problems: &'a mut Problems,
    uses: Vec<Use>,
    places: BTreeMap<String, At>,
    /// Of the step that is being read.
    lines: BTreeMap<String, u32>,
}

/// The entries of a map whose keys are known.
struct Entries<'a> {
    at: At,
    path: String,
    entries: &'a [(Key, Node)],
}

impl<'a> Entries<'a> {
    fn get(&self, name: &str) -> Option<(&'a Node, String)> {
        let found = self.entries.iter().find(|(key, _)| key.name == name);
        found.map(|(_, node)| (node, join(&self.path, name)))
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Ids of steps and names of inputs: what an expression can name without quotes.
fn is_id(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

impl Reader<'_> {
    fn wrong(&mut self, node: &Node, path: &str, expected: &str) {
        let message = format!("this must be {expected}, not {}", node.kind());
        self.problems.error(node.at, path, message);
    }

    fn entries<'n>(&mut self, node: &'n Node, path: &str, what: &str) -> Option<Entries<'n>> {
        let Data::Map(entries) = &node.data else {
            self.wrong(node, path, what);
            return None;
        };
        Some(Entries { at: node.at, path: path.to_owned(), entries })
    }

    /// The entries of a map in which only these keys mean something.
    fn known<'n>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> Option<Entries<'n>> {
        let entries = self.entries(node, path, "a map")?;
        for (key, _) in
            entries.entries.iter().filter(|(key, _)| !known.contains(&key.name.as_str()))
        {
            let name = &key.name;
            let message = match path {
                "" => format!("a workflow has no `{name}`"),
                path => format!("`{path}` has no `{name}`"),
            };
            let path = join(path, name);
            self.problems.unknown(key.at, &path, message, name, known.iter().copied());
        }
        Some(entries)
    }

    fn definition(&mut self, root: &Node) -> Definition {
        let mut definition = Definition {
            name: String::new(),
            description: String::new(),
            title: None,
            inputs: vec![],
            steps: vec![],
            finally: vec![],
            outputs: vec![],
            on: vec![],
            one_per: None,
            budget: None,
        };
        let Some(top) = self.known(root, "", &TOP) else { return definition };
        match top.get("name") {
            Some((node, path)) => definition.name = self.name(node, &path),
            None => self.problems.error(top.at, "name", "a workflow needs a `name`"),
        }
        if let Some((node, path)) = top.get("description") {
            definition.description = self.plain(node, &path).unwrap_or_default();
        }
        let before = Scope::of(Part::Before);
        let template = |reader: &mut Self, name: &str| {
            top.get(name).and_then(|(node, path)| reader.template_text(node, &path, &before))
        };
        definition.title = template(self, "title");
        definition.one_per = template(self, "one_per");
        if let Some((node, path)) = top.get("inputs") {
            definition.inputs = self.inputs(node, &path);
        }
        match top.get("steps") {
            Some((node, path)) => {
                definition.steps = self.steps(node, &path, &Scope::of(Part::Steps));
            }
            None => self.problems.error(top.at, "steps", "a workflow needs `steps`"),
        }
        if let Some((node, path)) = top.get("finally") {
            definition.finally = self.steps(node, &path, &Scope::of(Part::Finally));
        }
        if let Some((node, path)) = top.get("outputs") {
            definition.outputs = self.outputs(node, &path);
        }
        if let Some((node, path)) = top.get("on") {
            definition.on = self.triggers(node, &path);
            self.given_nothing(node, &definition);
        }
        if let Some((node, path)) = top.get("budget") {
            definition.budget = self.budget(node, &path, &["tokens", "usd", "time"]);
        }
        definition
    }

    fn name(&mut self, node: &Node, path: &str) -> String {
        let name = self.plain(node, path).unwrap_or_default();
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        let fits = (1..=limits::ROOM_NAME_BYTES).contains(&name.len());
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if !(fits && begins && name.chars().all(is_name)) && node.text().is_some() {
            let message = "a workflow's name can have lowercase letters, digits, `.`, `_` and `-`, \
                           at most 80";
            self.problems.error(node.at, path, message);
        }
        name
    }

    /// A text that is no template.
    fn plain(&mut self, node: &Node, path: &str) -> Option<String> {
        match &node.data {
            Data::Text(text) if is_template(text) => {
                self.problems.error(node.at, path, "an expression is not allowed here");
                None
            }
            Data::Text(text) => Some(text.clone()),
            Data::Number(number) => Some(number.to_string()),
            Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "a string");
                None
            }
        }
    }

    fn flag(&mut self, node: &Node, path: &str) -> Option<bool> {
        match node.data {
            Data::Bool(is) => Some(is),
            Data::Null | Data::Number(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "true or false");
                None
            }
        }
    }

    fn number(&mut self, node: &Node, path: &str, least: u32, most: u32) -> Option<u32> {
        let number = match &node.data {
            Data::Number(number) => number.as_u64(),
            Data::Null | Data::Bool(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => None,
        };
        let found =
            number.and_then(|n| u32::try_from(n).ok()).filter(|n| (least..=most).contains(n));
        if found.is_none() {
            let message = format!("this must be a whole number from {least} to {most}");
            self.problems.error(node.at, path, message);
        }
        found
    }

    fn time(&mut self, node: &Node, path: &str) -> Option<u64> {
        let text = match &node.data {
            Data::Text(text) => text.clone(),
            Data::Number(number) => number.to_string(),
            Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "a time such as `90s`");
                return None;
            }
        };
        time::duration(&text).map_err(|message| self.problems.error(node.at, path, message)).ok()
    }

    fn one_of<'k>(&mut self, node: &Node, path: &str, known: &[&'k str]) -> Option<&'k str> {
        let Some(text) = node.text() else {
            self.wrong(node, path, &format!("one of {}", known.join(", ")));
            return None;
        };
        let found = known.iter().find(|name| **name == text).copied();
        if found.is_none() {
            let message = format!("{text:?} is not one of {}", known.join(", "));
            self.problems.unknown(node.at, path, message, text, known.iter().copied());
        }
        found
    }

    // -----------------------------------------------------------------------
    // Templates

    /// A value in which any text may be a template.
    fn value(&mut self, node: &Node, path: &str, scope: &Scope) -> Value {
        match &node.data {
            Data::Text(text) => self.template(text, node.at, path, scope),
            Data::List(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.value(item, &format!("{path}[{place}]"), scope);
                }
            }
            Data::Map(entries) => {
                for (key, value) in entries {
                    self.value(value, &join(path, &key.name), scope);
                }
            }
            Data::Null | Data::Bool(_) | Data::Number(_) => {}
        }
        node.json()
    }

    fn template(&mut self, text: &str, at: At, path: &str, scope: &Scope) {
        if !is_template(text) {
            return;
        }
        self.lines.insert(path.to_owned(), at.line);
        match expression::look(text) {
            Ok(named) => {
                let (path, text) = (path.to_owned(), text.to_owned());
                self.uses.push(Use { at, path, text, named, scope: scope.clone() });
            }
            Err(wrong) => {
                wrong.into_iter().for_each(|message| self.problems.error(at, path, message));
            }
        }
    }

    fn template_text(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<String> {
        match &node.data {
            Data::Text(text) => {
                self.template(text, node.at, path, scope);
                Some(text.clone())
            }
            Data::Number(_) | Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "a string");
                None
            }
        }
    }

    /// An expression that decides something, and therefore is a whole one.
    fn condition(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<String> {
        let text = match &node.data {
            Data::Text(text) => text.trim(),
            Data::Bool(true) => "{{ true }}",
            Data::Bool(false) => "{{ false }}",
            Data::Null | Data::Number(_) | Data::List(_) | Data::Map(_) => {
                self.wrong(node, path, "an expression such as \"{{ inputs.wanted }}\"");
                return None;
            }
        };
        if !(text.starts_with("{{") && text.ends_with("}}")) {
            let message = "this must be one expression, \"{{ … }}\", that is true or false";
            self.problems.error(node.at, path, message);
            return None;
        }
        self.template(text, node.at, path, scope);
        Some(text.to_owned())
    }

    // -----------------------------------------------------------------------
    // Parts of a workflow

    fn inputs(&mut self, node: &Node, path: &str) -> Vec<Input> {
        let Some(entries) = self.entries(node, path, "a map of inputs") else { return vec![] };
        let mut inputs = vec![];
        for (key, node) in entries.entries {
            let path = join(path, &key.name);
            self.id(key, &path, "an input");
            inputs.extend(self.input(key, node, &path));
        }
        inputs
    }

    fn input(&mut self, key: &Key, node: &Node, path: &str) -> Option<Input> {
        let name = key.name.clone();
        let takes = |reader: &mut Self, node: &Node, path: &str| {
            reader.one_of(node, path, &Type::NAMES).and_then(Type::called).unwrap_or(Type::Any)
        };
        let description = String::new();
        if node.text().is_some() {
            let takes = takes(self, node, path);
            return Some(Input { name, takes, description, default: None, required: true });
        }
        let known = ["type", "description", "default", "required"];
        let entries = self.known(node, path, &known)?;
        let mut input =
            Input { name, takes: Type::Any, description, default: None, required: true };
        match entries.get("type") {
            Some((node, path)) => input.takes = takes(self, node, &path),
            None => self.problems.error(key.at, path, "an input needs a `type`"),
        }
        if let Some((node, path)) = entries.get("description") {
            input.description = self.plain(node, &path).unwrap_or_default();
        }
        if let Some((node, path)) = entries.get("default") {
            let value = node.json();
            if !input.takes.takes(&value) {
                let takes = input.takes.name();
                self.problems.error(node.at, &path, format!("the default is not of type {takes}"));
            }
            (input.default, input.required) = (Some(value), false);
        }
        if let Some((node, path)) = entries.get("required") {
            input.required = self.flag(node, &path).unwrap_or(true);
            if input.required && input.default.is_some() {
                let message = "an input with a `default` cannot be `required`";
                self.problems.error(node.at, &path, message);
            }
        }
        Some(input)
    }

    fn id(&mut self, key: &Key, path: &str, what: &str) {
        if !is_id(&key.name) || key.name.len() > limits::ROOM_NAME_BYTES {
            let name = &key.name;
            let message = format!(
                "`{name}` cannot name {what}: use lowercase letters, digits and `_`, starting with \
                 a letter"
            );
            self.problems.error(key.at, path, message);
        }
    }

    fn outputs(&mut self, node: &Node, path: &str) -> Vec<Output> {
        let Some(entries) = self.entries(node, path, "a map of outputs") else { return vec![] };
        let mut outputs = vec![];
        for (key, node) in entries.entries {
            let path = join(path, &key.name);
            self.id(key, &path, "an output");
            let value = self.value(node, &path, &Scope::of(Part::Outputs));
            outputs.push(Output { name: key.name.clone(), value, line: node.at.line });
        }
        outputs
    }

    fn budget(&mut self, node: &Node, path: &str, known: &[&str]) -> Option<Budget> {
        let entries = self.known(node, path, known)?;
        let mut budget = Budget::default();
        if let Some((node, path)) = entries.get("tokens") {
            budget.tokens = self.number(node, &path, 1, u32::MAX).map(u64::from);
        }
        if let Some((node, path)) = entries.get("usd") {
            budget.usd = node.json().as_f64().filter(|usd| *usd > 0.0);
            if budget.usd.is_none() {
                self.problems.error(node.at, &path, "this must be an amount above 0");
            }
        }
        if let Some((node, path)) = entries.get("time") {
            budget.time_ms = self.time(node, &path);
        }
        Some(budget)
    }

    fn triggers(&mut self, node: &Node, path: &str) -> Vec<Trigger> {
        let Some(entries) = self.known(node, path, &["cron", "webhook", "signal"]) else {
            return vec![];
        };
        let cron = entries.get("cron").and_then(|(node, path)| self.cron(node, &path));
        let webhook = entries.get("webhook").and_then(|(node, path)| {
            let entries = self.known(node, &path, &["secret"])?;
            let Some((node, path)) = entries.get("secret") else {
                let message =
                    "a webhook needs a `secret`: the name of the secret that signs deliveries";
                self.problems.error(node.at, &path, message);
                return None;
            };
            self.plain(node, &path).map(|secret| Trigger::Webhook { secret })
        });
        let signal = entries.get("signal").and_then(|(node, path)| {
            let matching = self.signal(node, &path, &Scope::of(Part::Before))?;
            self.room_signal(node, &path, &matching);
            Some(Trigger::Signal { matching })
        });
        cron.into_iter().chain(webhook).chain(signal).collect()
    }

    /// A run that the clock starts is given nothing.
    fn given_nothing(&mut self, node: &Node, definition: &Definition) {
        let is_cron = |trigger: &Trigger| matches!(trigger, Trigger::Cron { .. });
        let required = definition.inputs.iter().find(|input| input.required);
        if let Some(input) = required.filter(|_| definition.on.iter().any(is_cron)) {
            let name = &input.name;
            let message = format!("this cannot start a run: the input `{name}` has no `default`");
            self.problems.warning(node.at, "on.cron", message);
        }
    }

    fn cron(&mut self, node: &Node, path: &str) -> Option<Trigger> {
        let known = ["at", "zone", "overlap", "missed"];
        let entries = self.known(node, path, &known)?;
        let (at, comes) = match entries.get("at") {
            Some((node, path)) => {
                let at = self.plain(node, &path)?;
                let cron = Cron::read(&at);
                let comes = cron.map_err(|wrong| self.problems.error(node.at, &path, wrong));
                (at, comes.is_ok())
            }
            None => {
                self.problems.error(
                    node.at,
                    path,
                    "a cron trigger needs `at`, such as `0 9 * * 1`",
                );
                return None;
            }
        };
        let zone = entries.get("zone").and_then(|(node, path)| self.zone(node, &path));
        let overlap = match entries.get("overlap") {
            Some((node, path)) => match self.one_of(node, &path, &["skip", "queue", "replace"]) {
                Some("queue") => Overlap::Queue,
                Some("replace") => Overlap::Replace,
                Some(_) | None => Overlap::Skip,
            },
            None => Overlap::Skip,
        };
        let missed = match entries.get("missed") {
            Some((node, path)) => match self.one_of(node, &path, &["skip", "latest"]) {
                Some("latest") => Missed::Latest,
                Some(_) | None => Missed::Skip,
            },
            None => Missed::Skip,
        };
        let zone = zone.unwrap_or_else(|| "UTC".into());
        comes.then_some(Trigger::Cron { at, zone, overlap, missed })
    }

    fn zone(&mut self, node: &Node, path: &str) -> Option<String> {
        let name = self.plain(node, path)?;
        if cron::zone(&name).is_none() {
            let (message, all) = (format!("there is no time zone `{name}`"), cron::zones());
            self.problems.unknown(node.at, path, message, &name, all.iter().map(String::as_str));
        }
        Some(name)
    }

    /// A `signal` with what has to be equal.
    fn signal(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<Map<String, Value>> {
        let entries = self.entries(node, path, "a map with a `signal`")?;
        let name = if scope.part == Part::Before { "name" } else { "signal" };
        if !entries.has(name) {
            self.problems.error(node.at, path, format!("which signal? Give its `{name}`"));
        }
        let mut matching = Map::new();
        for (key, node) in entries.entries {
            let path = join(path, &key.name);
            if name == "name" && key.name == "signal" {
                self.problems.error(key.at, &path, "no signal has a field `signal`");
            }
            match node.data {
                // A trigger waits before there are any inputs.
                Data::Text(_)
                    if scope.part == Part::Before && self.plain(node, &path).is_none() => {}
                Data::Text(_) | Data::Number(_) | Data::Bool(_) => {
                    let value = self.value(node, &path, scope);
                    let key = if key.name == name { "signal" } else { key.name.as_str() };
                    if let Some(written) = node.text().filter(|_| key == "signal") {
                        self.signal_name(node.at, &path, written);
                    }
                    matching.insert(key.to_owned(), value);
                }
                Data::Null | Data::List(_) | Data::Map(_) => {
                    self.wrong(node, &path, "a string or a number");
                }
            }
        }
        Some(matching)
    }

    /// What nobody could ever send is not waited for.
    fn signal_name(&mut self, at: At, path: &str, name: &str) {
        let wrong = check_room_name(name).err().filter(|_| !is_template(name));
        if let Some(problem) = wrong {
            self.problems.error(at, path, format!("the name of a signal {problem}"));
        }
    }
}
