//! What a step does, and what stands beside it.

use serde_json::{Map, Value};

use super::{Entries, Part, Reader, Scope, is_id, join};
use crate::limits;
use crate::workflow::definition::{
    Approve, AtDeadline, Foreach, Kind, Need, OnFailure, Repeat, Retry, Step, Wait,
};
use crate::workflow::expression::is_template;
use crate::workflow::kinds::{Field, OWN, PHASES, SPECS, Spec, Takes};
use crate::workflow::signal;
use crate::workflow::yaml::{Data, Key, Node};

/// What every step may have beside what it does.
const COMMON: [&str; 8] =
    ["label", "needs", "when", "retry", "timeout", "deadline", "budget", "on_failure"];

impl Reader<'_> {
    pub(super) fn steps(&mut self, node: &Node, path: &str, scope: &Scope) -> Vec<Step> {
        let Some(entries) = self.entries(node, path, "a map of steps") else { return vec![] };
        if entries.entries.is_empty() {
            self.problems.error(node.at, path, "there is no step here");
        }
        let mut steps = vec![];
        for (key, node) in entries.entries {
            let path = join(path, &key.name);
            self.id(key, &path, "a step");
            if self.places.contains_key(&key.name) {
                let message =
                    format!("there is another step `{}`; ids are unique in a file", key.name);
                self.problems.error(key.at, &path, message);
            }
            self.places.entry(key.name.clone()).or_insert(key.at);
            if self.places.len() > limits::WORKFLOW_STEPS {
                if self.places.len() == limits::WORKFLOW_STEPS + 1 {
                    let most = limits::WORKFLOW_STEPS;
                    let message = format!("there are more than {most} steps");
                    self.problems.error(key.at, &path, message);
                }
                continue;
            }
            steps.extend(self.step(key, node, &path, scope));
        }
        steps
    }

    fn step(&mut self, key: &Key, node: &Node, path: &str, scope: &Scope) -> Option<Step> {
        let entries = self.entries(node, path, "a map that says what the step does")?;
        let own = scope.step(&key.name);
        let before = std::mem::take(&mut self.lines);
        let kind = self.kind(key, &entries, &own);
        let read = |name: &str| entries.get(name);
        let label = read("label").and_then(|(node, path)| self.template_text(node, &path, &own));
        let when = read("when").and_then(|(node, path)| self.condition(node, &path, &own));
        let needs = read("needs").map(|(node, path)| self.needs(node, &path)).unwrap_or_default();
        let retry = read("retry").and_then(|(node, path)| self.retry(node, &path));
        let timeout_ms = read("timeout").and_then(|(node, path)| self.time(node, &path));
        let deadline_ms = read("deadline").and_then(|(node, path)| self.time(node, &path));
        let budget =
            read("budget").and_then(|(node, path)| self.budget(node, &path, &["tokens", "usd"]));
        let on_failure = match read("on_failure") {
            None => OnFailure::Stop,
            Some((node, path)) => match self.plain(node, &path)?.as_str() {
                "stop" => OnFailure::Stop,
                "continue" => OnFailure::Continue,
                step => OnFailure::Step(step.to_owned()),
            },
        };
        let mut lines = std::mem::replace(&mut self.lines, before);
        let prefix = format!("{path}.");
        lines = lines
            .into_iter()
            .filter_map(|(path, line)| Some((path.strip_prefix(&prefix)?.to_owned(), line)))
            .collect();
        let (id, line, kind) = (key.name.clone(), key.at.line, kind?);
        let is_act = matches!(kind, Kind::Act { .. });
        if let Some((node, path)) = read("retry").or_else(|| read("timeout")).filter(|_| !is_act) {
            let message = format!(
                "`{}` is for steps that act outside Plenary; use `deadline` here",
                path.rsplit('.').next().unwrap_or_default()
            );
            self.problems.error(node.at, &path, message);
        }
        if let Some((node, path)) = read("budget").filter(|_| !kind.asks_models()) {
            let message = "`budget` is for steps that ask models";
            self.problems.error(node.at, &path, message);
        }
        Some(Step {
            id,
            line,
            label,
            kind,
            needs,
            when,
            retry,
            timeout_ms,
            deadline_ms,
            budget,
            on_failure,
            lines,
        })
    }

    /// What the step does: the one key that is not common to all steps.
    fn kind(&mut self, key: &Key, entries: &Entries<'_>, scope: &Scope) -> Option<Kind> {
        let is_kind =
            |name: &str| OWN.contains(&name) || SPECS.iter().any(|spec| spec.name == name);
        let mut found: Vec<(&Key, &Node)> = vec![];
        for (name, node) in entries.entries {
            let block = name.name == "steps" && (entries.has("foreach") || entries.has("repeat"));
            if is_kind(&name.name) {
                found.push((name, node));
            } else if !block && !COMMON.contains(&name.name.as_str()) {
                let kinds = SPECS.iter().map(|spec| spec.name).chain(OWN).chain(COMMON);
                let message = format!("a step has no `{}`", name.name);
                let path = join(&entries.path, &name.name);
                self.problems.unknown(name.at, &path, message, &name.name, kinds);
            }
        }
        let (name, node) = match found.as_slice() {
            [one] => *one,
            [] => {
                let message = "this step does nothing; add an action such as `ask` or `boardroom`";
                self.problems.error(key.at, &entries.path, message);
                return None;
            }
            [_, second, ..] => {
                let names: Vec<&str> = found.iter().map(|(name, _)| name.name.as_str()).collect();
                let message = format!("a step can do one thing; this does {}", names.join(" and "));
                self.problems.error(second.0.at, &entries.path, message);
                return None;
            }
        };
        let path = join(&entries.path, &name.name);
        match name.name.as_str() {
            "set" => Some(Kind::Set { value: self.value(node, &path, scope) }),
            "sleep" => self.sleep(node, &path, scope),
            "wait" => self.wait(node, &path, scope),
            "approve" => self.approve(node, &path, scope),
            "foreach" => self.foreach(key, node, &path, entries, scope),
            "repeat" => self.repeat(key, node, &path, entries, scope),
            name => {
                let spec = SPECS.iter().find(|spec| spec.name == name)?;
                let with = self.act(spec, node, &path, scope)?;
                Some(Kind::Act { act: spec.act, with })
            }
        }
    }

    fn act(
        &mut self,
        spec: &Spec,
        node: &Node,
        path: &str,
        scope: &Scope,
    ) -> Option<Map<String, Value>> {
        let names: Vec<&str> = spec.fields.iter().map(|field| field.name).collect();
        let entries = self.known(node, path, &names)?;
        let mut with = Map::new();
        // What an unknown field says may be wrong too.
        for (key, node) in
            entries.entries.iter().filter(|(key, _)| !names.contains(&key.name.as_str()))
        {
            self.value(node, &join(path, &key.name), scope);
        }
        for field in spec.fields {
            match entries.get(field.name) {
                Some((node, path)) => {
                    let value = self.field(field, node, &path, scope);
                    with.insert(field.name.to_owned(), value);
                }
                None if field.required => {
                    let message = format!("`{}` needs `{}`", spec.name, field.name);
                    self.problems.error(entries.at, path, message);
                }
                None => {}
            }
        }
        let given = |group: &[&str]| group.iter().filter(|name| entries.has(name)).count();
        for group in spec.one_of {
            let names = group.join("`, `");
            let message = match given(group) {
                1 => continue,
                0 => format!("`{}` needs one of `{names}`", spec.name),
                _ => format!("`{}` takes one of `{names}`, not several", spec.name),
            };
            self.problems.error(entries.at, path, message);
        }
        for group in spec.at_most_one_of.iter().filter(|group| given(group) > 1) {
            let message =
                format!("`{}` takes one of `{}`, not several", spec.name, group.join("`, `"));
            self.problems.error(entries.at, path, message);
        }
        for (one, other) in
            spec.with.iter().filter(|(one, other)| entries.has(one) && !entries.has(other))
        {
            let message = format!("`{}` with `{one}` needs `{other}` too", spec.name);
            self.problems.error(entries.at, path, message);
        }
        Some(with)
    }

    fn field(&mut self, field: &Field, node: &Node, path: &str, scope: &Scope) -> Value {
        let scope = &match field.takes {
            Takes::Token | Takes::Headers => Scope { secrets: true, ..scope.clone() },
            Takes::Text
            | Takes::Number { .. }
            | Takes::Flag
            | Takes::OneOf(_)
            | Takes::List
            | Takes::Map
            | Takes::Anything
            | Takes::Time => scope.clone(),
        };
        let value = self.value(node, path, scope);
        if node.text().is_some_and(is_template) {
            return value;
        }
        match field.takes {
            Takes::Text | Takes::Token => match &node.data {
                Data::Text(text) if text.trim().is_empty() => {
                    self.problems.error(node.at, path, "this must not be empty");
                }
                Data::Text(_) | Data::Number(_) => {}
                Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                    self.wrong(node, path, "a string");
                }
            },
            Takes::Number { least, most } => {
                self.number(node, path, least, most);
            }
            Takes::Flag => {
                self.flag(node, path);
            }
            Takes::OneOf(known) => {
                self.one_of(node, path, known);
            }
            Takes::Time => {
                self.time(node, path);
            }
            Takes::List => {
                if !value.is_array() {
                    self.wrong(node, path, "a list");
                }
            }
            Takes::Map | Takes::Headers => {
                if !value.is_object() {
                    self.wrong(node, path, "a map");
                }
            }
            Takes::Anything => {}
        }
        value
    }

    fn sleep(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<Kind> {
        let is_open = node.text().is_some_and(is_template);
        if !is_open {
            self.time(node, path)?;
        }
        Some(Kind::Sleep { time: self.value(node, path, scope) })
    }

    fn wait(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<Kind> {
        if scope.part == Part::Finally {
            self.problems.error(node.at, path, "`finally` cannot wait for people or signals");
        }
        let entries = self.known(node, path, &["all", "any", "timeout"])?;
        let (all, (list, path)) = match (entries.get("all"), entries.get("any")) {
            (Some(list), None) => (true, list),
            (None, Some(list)) => (false, list),
            (Some(_), Some(_)) | (None, None) => {
                self.problems.error(
                    node.at,
                    path,
                    "`wait` takes either `all` or `any`: a list of signals",
                );
                return None;
            }
        };
        let timeout_ms = entries.get("timeout").and_then(|(node, path)| self.time(node, &path));
        let Data::List(items) = &list.data else {
            self.wrong(list, &path, "a list of signals");
            return None;
        };
        if items.is_empty() || items.len() > limits::WAIT_SIGNALS {
            let most = limits::WAIT_SIGNALS;
            self.problems.error(list.at, &path, format!("a wait has 1 to {most} signals"));
        }
        let mut signals = vec![];
        for (place, item) in items.iter().enumerate() {
            let path = format!("{path}[{place}]");
            let Some(signal) = self.signal(item, &path, scope) else { continue };
            self.room_signal(item, &path, &signal);
            signals.push(signal);
        }
        Some(Kind::Wait(Wait { all, signals, timeout_ms }))
    }

    /// What rooms tell by themselves has to be what they can tell.
    pub(super) fn room_signal(&mut self, node: &Node, path: &str, given: &Map<String, Value>) {
        let is_meant = |name: &str| given.get("signal").is_some_and(|signal| signal == name);
        let known = signal::ROOMS.into_iter().find(|(name, _)| is_meant(name));
        let Some((name, keys @ [room, ..])) = known else { return };
        if !given.contains_key(*room) {
            let message = format!("which one? `{name}` needs `{room}`");
            self.problems.error(node.at, path, message);
        }
        for key in given.keys().filter(|key| *key != "signal" && !keys.contains(&key.as_str())) {
            let message = format!("`{name}` has no `{key}`");
            self.problems.unknown(node.at, path, message, key, keys.iter().copied());
        }
        let phase = given.get("phase").and_then(Value::as_str).filter(|phase| !is_template(phase));
        if let Some(phase) = phase.filter(|phase| !PHASES.contains(phase)) {
            let message = format!("there is no phase `{phase}`");
            self.problems.unknown(node.at, path, message, phase, PHASES.iter().copied());
        }
    }

    fn approve(&mut self, node: &Node, path: &str, scope: &Scope) -> Option<Kind> {
        if scope.part == Part::Finally {
            self.problems.error(node.at, path, "`finally` cannot wait for people or signals");
        }
        let known =
            ["who", "need", "not_starter", "show", "evidence", "fields", "deadline", "at_deadline"];
        let entries = self.known(node, path, &known)?;
        let who = match entries.get("who") {
            Some((node, path)) => {
                let who = self.value(node, &path, scope);
                let is_open = node.text().is_some_and(is_template);
                let names = who.as_array().filter(|names| !names.is_empty());
                if !is_open && !names.is_some_and(|names| names.iter().all(Value::is_string)) {
                    self.problems.error(node.at, &path, "this must be a list of people");
                }
                who
            }
            None => {
                self.problems.error(node.at, path, "`approve` needs `who`: the people who decide");
                return None;
            }
        };
        let most = who.as_array().map_or(limits::APPROVERS, Vec::len).clamp(1, limits::APPROVERS);
        let need =
            entries.get("need").and_then(|(node, path)| self.number(node, &path, 1, most as u32));
        let starter = entries.get("not_starter").and_then(|(node, path)| self.flag(node, &path));
        let show = entries.get("show").map(|(node, path)| self.value(node, &path, scope));
        let evidence = entries.get("evidence").map(|(node, path)| self.value(node, &path, scope));
        let fields = entries.get("fields").map(|(node, path)| self.inputs(node, &path));
        let deadline_ms = entries.get("deadline").and_then(|(node, path)| self.time(node, &path));
        let at_deadline = match entries.get("at_deadline") {
            Some((node, path)) => {
                if deadline_ms.is_none() {
                    self.problems.error(node.at, &path, "`at_deadline` needs a `deadline`");
                }
                match self.one_of(node, &path, &["reject", "approve"]) {
                    Some("approve") => AtDeadline::Approve,
                    Some(_) | None => AtDeadline::Reject,
                }
            }
            None => AtDeadline::Reject,
        };
        Some(Kind::Approve(Box::new(Approve {
            who,
            need: need.unwrap_or(1),
            not_starter: starter.unwrap_or(true),
            show: show.unwrap_or_default(),
            evidence: evidence.unwrap_or_default(),
            fields: fields.unwrap_or_default(),
            deadline_ms,
            at_deadline,
        })))
    }

    fn inner(&mut self, key: &Key, entries: &Entries<'_>, scope: &Scope) -> Vec<Step> {
        if scope.around.len() > limits::WORKFLOW_BLOCKS {
            let most = limits::WORKFLOW_BLOCKS;
            let message = format!("`foreach` and `repeat` are nested deeper than {most} levels");
            self.problems.error(key.at, &entries.path, message);
            return vec![];
        }
        match entries.get("steps") {
            Some((node, path)) => {
                let lines = std::mem::take(&mut self.lines);
                let steps = self.steps(node, &path, scope);
                self.lines = lines;
                steps
            }
            None => {
                self.problems.error(key.at, &entries.path, "this needs `steps`");
                vec![]
            }
        }
    }

    fn foreach(
        &mut self,
        key: &Key,
        node: &Node,
        path: &str,
        entries: &Entries<'_>,
        scope: &Scope,
    ) -> Option<Kind> {
        let fields = self.known(node, path, &["in", "as", "parallel", "on_failure"])?;
        let items = match fields.get("in") {
            Some((node, path)) => {
                let items = self.value(node, &path, scope);
                let is_open = node.text().is_some_and(is_template);
                match &items {
                    Value::Array(list) if list.len() > limits::ITEMS => {
                        let (len, most) = (list.len(), limits::ITEMS);
                        let message = format!("there are {len} items; at most {most} are allowed");
                        self.problems.error(node.at, &path, message);
                    }
                    Value::Array(_) => {}
                    _ if is_open => {}
                    _ => self.wrong(node, &path, "a list, or an expression that evaluates to one"),
                }
                items
            }
            None => {
                self.problems.error(node.at, path, "`foreach` needs `in`: the list of items");
                Value::Null
            }
        };
        let name = match fields.get("as") {
            Some((node, path)) => {
                let name = self.plain(node, &path).unwrap_or_default();
                let taken =
                    ["inputs", "steps", "run", "secrets", "round", "rounds", "loop", "index"];
                if !is_id(&name) || taken.contains(&name.as_str()) || scope.locals.contains(&name) {
                    let message = format!("an item cannot be called `{name}`");
                    self.problems.error(node.at, &path, message);
                }
                name
            }
            None => "item".to_owned(),
        };
        let most = limits::PARALLEL_MOST;
        let parallel =
            fields.get("parallel").and_then(|(node, path)| self.number(node, &path, 1, most));
        let go_on = match fields.get("on_failure") {
            Some((node, path)) => {
                self.one_of(node, &path, &["stop", "continue"]) == Some("continue")
            }
            None => false,
        };
        let steps = self.inner(key, entries, &scope.inside(&key.name, [&name, "index"]));
        let parallel = parallel.unwrap_or(limits::PARALLEL);
        Some(Kind::Foreach(Foreach { items, name, parallel, go_on, steps }))
    }

    fn repeat(
        &mut self,
        key: &Key,
        node: &Node,
        path: &str,
        entries: &Entries<'_>,
        scope: &Scope,
    ) -> Option<Kind> {
        let fields = self.known(node, path, &["until", "max", "at_max"])?;
        let inside = scope.inside(&key.name, ["round", "rounds"]);
        let asked = Scope { around: scope.around.clone(), ..inside.clone() }.step(&key.name);
        let until = match fields.get("until") {
            Some((node, path)) => self.condition(node, &path, &asked),
            None => {
                self.problems.error(
                    node.at,
                    path,
                    "`repeat` needs `until`: the condition that ends it",
                );
                None
            }
        };
        let most = limits::REPEATS;
        let max = match fields.get("max") {
            Some((node, path)) => self.number(node, &path, 1, most),
            None => {
                self.problems.error(
                    node.at,
                    path,
                    "`repeat` needs `max`: the maximum number of rounds",
                );
                None
            }
        };
        let go_on = match fields.get("at_max") {
            Some((node, path)) => self.one_of(node, &path, &["go_on", "fail"]) == Some("go_on"),
            None => false,
        };
        let steps = self.inner(key, entries, &inside);
        let (until, max) = (until.unwrap_or_default(), max.unwrap_or(1));
        Some(Kind::Repeat(Repeat { until, max, go_on, steps }))
    }

    fn needs(&mut self, node: &Node, path: &str) -> Vec<Need> {
        match &node.data {
            Data::Text(step) => vec![Need { step: step.clone(), any: false }],
            Data::List(items) => {
                let mut needs = vec![];
                for (place, item) in items.iter().enumerate() {
                    match item.text() {
                        Some(step) => needs.push(Need { step: step.to_owned(), any: false }),
                        None => self.wrong(item, &format!("{path}[{place}]"), "a step's id"),
                    }
                }
                needs
            }
            Data::Map(entries) => {
                let mut needs = vec![];
                for (key, node) in entries {
                    let any = self.one_of(node, &join(path, &key.name), &["done", "any"]);
                    needs.push(Need { step: key.name.clone(), any: any == Some("any") });
                }
                needs
            }
            Data::Null | Data::Bool(_) | Data::Number(_) => {
                self.wrong(node, path, "a list of steps");
                vec![]
            }
        }
    }

    fn retry(&mut self, node: &Node, path: &str) -> Option<Retry> {
        let entries = self.known(node, path, &["times", "wait"])?;
        let times = match entries.get("times") {
            Some((node, path)) => self.number(node, &path, 1, limits::STEP_RETRIES)?,
            None => {
                self.problems.error(node.at, path, "`retry` needs `times`");
                return None;
            }
        };
        let wait_ms = entries.get("wait").and_then(|(node, path)| self.time(node, &path));
        Some(Retry { times, wait_ms: wait_ms.unwrap_or(limits::STEP_PAUSE_MS) })
    }
}
