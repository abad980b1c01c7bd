//! A run as it is shown, and followed to its end.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::which::{address, short};
use crate::api::{Api, ApiError, encode};
use crate::cli::{exit, print_json};
use crate::rounded::duration;
use crate::signals::Interrupt;
use crate::terminal::{self, Ink, LiveBlock, clean, line};
use crate::way::Way;

/// How long one look waits for something to happen.
const LOOK_SECONDS: u32 = 30;
/// Characters of a reason, and of what a person is asked about.
const REASON: usize = 300;
const ASKED: usize = 2_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    id: String,
    title: String,
    status: String,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    outputs: Map<String, Value>,
    began_at: plenary_domain::Timestamp,
    #[serde(default)]
    ended_at: Option<plenary_domain::Timestamp>,
    #[serde(default)]
    forked_from: Option<ForkedFrom>,
    #[serde(default)]
    newer_version: Option<u32>,
    workflow: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct ForkedFrom {
    run: String,
    step: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    place: String,
    kind: String,
    status: String,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    ended_at: Option<plenary_domain::Timestamp>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    items: Option<Items>,
    #[serde(default)]
    round: Option<u32>,
    #[serde(default)]
    approval: Option<Approval>,
}

#[derive(Deserialize)]
struct Items {
    ended: u32,
    total: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Approval {
    who: Vec<String>,
    need: u32,
    #[serde(default)]
    show: Value,
    #[serde(default)]
    deadline: Option<plenary_domain::Timestamp>,
    decided: Vec<Decided>,
    #[serde(default)]
    fields: Vec<Field>,
}

#[derive(Deserialize)]
struct Decided {
    by: String,
}

#[derive(Deserialize)]
struct Field {
    name: String,
    required: bool,
}

#[derive(Deserialize)]
struct Seen {
    seen: String,
}

/// What is told of a run that is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    /// Each step when it has ended, and what came of the run.
    Words,
    /// The run when it has ended, and nothing else.
    Json,
    Nothing,
}

impl Telling {
    pub fn of(json: bool) -> Telling {
        if json { Telling::Json } else { Telling::Words }
    }
}

/// Follows a run to its end. Ctrl-C ends the following, not the run.
pub async fn follow(
    way: &mut Way<'_>,
    mut interrupt: Interrupt,
    id: &str,
    telling: Telling,
) -> Result<u8, ApiError> {
    let path = address(id);
    let mut told = Told { said: vec![] };
    let mut live = LiveBlock::default();
    let is_drawn = telling == Telling::Words && terminal::redraws(&std::io::stderr());
    let mut seen = String::new();
    loop {
        let whole: Value = way.carry_out(async |api| api.get(&path).await).await?;
        let run = parsed(whole.clone())?;
        live.clear();
        if telling == Telling::Words {
            told.tell(&run);
        }
        if let Some(line) = run.under_way().filter(|_| is_drawn) {
            live.draw(&[Ink::of(&std::io::stderr()).dim(&line)]);
        }
        if run.status != "running" {
            match telling {
                Telling::Words => ended(&run),
                Telling::Json => print_json(&whole),
                Telling::Nothing => {}
            }
            return Ok(if run.status == "done" { exit::DONE } else { exit::FAILED });
        }
        let look = format!(
            "/api/sessions/{}/wait?seconds={LOOK_SECONDS}&seen={}",
            encode(id),
            encode(&seen)
        );
        tokio::select! {
            looked = way.carry_out(async |api| api.get::<Seen>(&look).await) => {
                seen = looked?.seen;
            }
            () = interrupt.recv() => {
                live.clear();
                let id = short(id);
                terminal::note(&format!(
                    "The run is kept. Follow it:  plenary workflow status {id} --follow\nCancel \
                     it:                  plenary workflow cancel {id}"
                ));
                return Ok(exit::INTERRUPTED);
            }
        }
    }
}

/// Shows a run as it stands.
pub async fn show(api: &Api, id: &str, json: bool) -> Result<u8, ApiError> {
    let whole: Value = api.get(&address(id)).await?;
    stands(whole, json)?;
    Ok(exit::DONE)
}

/// The same of one that was got already.
pub fn stands(whole: Value, json: bool) -> Result<(), ApiError> {
    if json {
        print_json(&whole);
        return Ok(());
    }
    let run = parsed(whole)?;
    let ink = Ink::of(&std::io::stdout());
    terminal::say_styled(&run.headline(ink));
    if let Some(version) = run.newer_version {
        let name = clean(&run.workflow);
        terminal::say(&format!(
            "  There is a newer version of {name}: {version}. This run keeps its own."
        ));
    }
    terminal::say(&format!("{}{}{}", run.status, run.took(), run.why()));
    for step in &run.steps {
        terminal::say_styled(&step.line(ink, run.status != "running"));
        if let Some(asked) = step.asked(&run.id) {
            terminal::say(&asked);
        }
    }
    for (name, value) in &run.outputs {
        terminal::say(&output(name, value));
    }
    Ok(())
}

fn parsed(run: Value) -> Result<Run, ApiError> {
    serde_json::from_value(run).map_err(|error| {
        ApiError::new("unexpected", format!("cannot read the server's response: {error}"))
    })
}

/// What was told of a run so far: each step once as it is.
struct Told {
    said: Vec<String>,
}

impl Told {
    fn tell(&mut self, run: &Run) {
        let ink = Ink::of(&std::io::stderr());
        if self.said.is_empty() {
            terminal::note_styled(&run.headline(ink));
            self.said.push(String::new());
            match run.steps.iter().filter(|step| run.has_copied(step)).count() {
                0 => {}
                1 => terminal::note("  1 step reused"),
                many => terminal::note(&format!("  {many} steps reused")),
            }
        }
        let is_told = |step: &&Step| step.is_told() && !run.has_copied(step);
        let mut steps: Vec<&Step> = run.steps.iter().filter(is_told).collect();
        // What ended first is told first, and what is inside of another step before that.
        steps.sort_by_key(|step| {
            let depth = step.place.split('/').count();
            (step.ended_at.is_none(), step.ended_at, std::cmp::Reverse(depth))
        });
        for step in steps {
            let key = format!("{} {}", step.place, step.status);
            if self.said.contains(&key) {
                continue;
            }
            self.said.push(key);
            terminal::note_styled(&step.line(ink, false));
            if let Some(asked) = step.asked(&run.id) {
                terminal::note(&asked);
            }
        }
    }
}

impl Run {
    fn headline(&self, ink: Ink) -> String {
        let forked = self.forked_from.as_ref().map(|from| {
            format!(" (forked from {} of {})", clean(&from.step), short(&clean(&from.run)))
        });
        let (title, id) = (ink.bold(&clean(&self.title)), ink.dim(&clean(&self.id)));
        format!("{title}  {id}{}", forked.unwrap_or_default())
    }

    /// What a fork takes over had ended when it began, and needs nothing of what is its own.
    fn has_copied(&self, step: &Step) -> bool {
        let Some(from) = self.forked_from.as_ref() else { return false };
        let mut own = vec![from.step.as_str()];
        let mut next = 0;
        while let Some(id) = own.get(next).copied() {
            next += 1;
            for later in self.steps.iter().filter(|one| one.needs.iter().any(|need| need == id)) {
                if !own.contains(&later.top()) {
                    own.push(later.top());
                }
            }
        }
        step.ended_at == Some(self.began_at) && !own.contains(&step.top())
    }

    /// What is asked or done just now, in a line of the terminal.
    fn under_way(&self) -> Option<String> {
        let is_under_way = |step: &&Step| {
            let is_told = matches!(step.kind.as_str(), "foreach" | "repeat") || step.is_told();
            step.status == "running" && !is_told
        };
        let places: Vec<&str> =
            self.steps.iter().filter(is_under_way).map(|step| step.place.as_str()).collect();
        let room = usize::from(terminal::width()).saturating_sub(2);
        let said = format!("  running   {}", places.join(", "));
        (!places.is_empty() && self.status == "running").then(|| cut(&said, room))
    }

    fn took(&self) -> String {
        let took = self.ended_at.map(|ended| ended.duration_since(self.began_at).as_millis());
        let took = took.and_then(|ms| u64::try_from(ms).ok()).map(duration);
        took.map(|took| format!(" in {took}")).unwrap_or_default()
    }

    fn why(&self) -> String {
        let reason = self.reason.as_deref().map(clean).filter(|reason| !reason.is_empty());
        reason.map(|reason| format!(": {reason}")).unwrap_or_default()
    }
}

impl Step {
    /// The id of the outermost step around it.
    fn top(&self) -> &str {
        self.place.split('/').next().unwrap_or_default()
    }

    /// It has ended, or somebody else than a model is waited for.
    fn is_told(&self) -> bool {
        match self.status.as_str() {
            "waiting" => false,
            "running" => matches!(self.kind.as_str(), "approve" | "wait" | "sleep"),
            _ => true,
        }
    }

    fn line(&self, ink: Ink, is_over: bool) -> String {
        let name = match &self.label {
            Some(label) => format!("{} ({})", clean(&self.place), clean(label)),
            None => clean(&self.place),
        };
        let reason = self.reason.as_deref().map(|reason| line(reason, REASON));
        let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
        let word = |word: &str| format!("{word:<9}");
        match self.status.as_str() {
            "done" => format!("  {} {name}", ink.green(&word("done"))),
            "skipped" => format!("  {} {name}{reason}", ink.dim(&word("skipped"))),
            "failed" => format!("  {} {name}{reason}", ink.red(&word("failed"))),
            "cancelled" => format!("  {} {name}{reason}", ink.yellow(&word("cancelled"))),
            "running" => format!("  {} {name}{}", ink.cyan(&word("running")), self.under_way()),
            "waiting" if is_over => format!("  {} {name}", ink.dim(&word("not run"))),
            other => format!("  {} {name}", ink.dim(&word(&clean(other)))),
        }
    }

    /// How far a running step is, or what it waits for.
    fn under_way(&self) -> String {
        if let Some(Items { ended, total }) = &self.items {
            return format!(": {ended} of {total}");
        }
        if let Some(round) = self.round {
            return format!(": round {round}");
        }
        if let Some(Approval { who, need, deadline, decided, .. }) = &self.approval {
            let need = if *need > 1 { format!("{need} of ") } else { String::new() };
            let until = deadline.map(|time| format!(", until {}", minute(&time.to_string())));
            let decided: Vec<&str> = decided.iter().map(|one| one.by.as_str()).collect();
            let decided = match decided.is_empty() {
                true => String::new(),
                false => format!("; decided so far: {}", decided.join(", ")),
            };
            let who = who.join(", ");
            return clean(&format!(
                ": waiting for {need}{who}{}{decided}",
                until.unwrap_or_default()
            ));
        }
        let until = self.input["until"].as_str().map(|until| format!(" until {}", minute(until)));
        let until = until.unwrap_or_default();
        match self.kind.as_str() {
            "wait" => clean(&format!(": waiting for {}{until}", self.signals())),
            "sleep" => format!(": sleeps{until}"),
            _ => String::new(),
        }
    }

    /// `build {"branch":"main"}` or the like.
    fn signals(&self) -> String {
        let one = |signal: &Value| {
            let mut fields = signal.as_object().cloned().unwrap_or_default();
            let name = fields.remove("signal");
            let name = name.as_ref().and_then(Value::as_str).unwrap_or("a signal").to_owned();
            fields.iter().fold(name, |name, (key, value)| match value {
                Value::String(text) => format!("{name} {key}={text}"),
                other => format!("{name} {key}={other}"),
            })
        };
        let listed = |key: &str| {
            let signals = self.input[key].as_array()?;
            Some(signals.iter().map(one).collect::<Vec<_>>())
        };
        match (listed("all"), listed("any")) {
            (Some(all), _) => all.join(" and "),
            (None, any) => any.unwrap_or_default().join(" or "),
        }
    }

    /// What a person is shown, and the command that decides.
    fn asked(&self, run: &str) -> Option<String> {
        let approval = self.approval.as_ref().filter(|_| self.status == "running")?;
        let shown = match &approval.show {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => serde_json::to_string_pretty(other).unwrap_or_default(),
        };
        let mut lines: Vec<String> = vec![];
        if !shown.trim().is_empty() {
            let cut: String = shown.trim().chars().take(ASKED).collect();
            let more = if cut.len() < shown.trim().len() { " …" } else { "" };
            lines
                .extend(clean(&format!("{cut}{more}")).lines().map(|line| format!("    | {line}")));
        }
        let decided = |name: &&String| approval.decided.iter().any(|one| one.by == **name);
        let who = approval.who.iter().find(|name| !decided(name));
        let who = who.map_or("NAME".to_owned(), |name| quoted(name));
        let fields: String = approval
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| format!(" --field {}=…", clean(&field.name)))
            .collect();
        let (run, step) = (short(run), clean(&self.place));
        lines.push(format!("    → plenary workflow approve {run} {step} --as {who}{fields}"));
        Some(lines.join("\n"))
    }
}

/// As much of a line as there is room for.
fn cut(text: &str, most: usize) -> String {
    let text = clean(text);
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        false => text,
    }
}

/// A word as it is typed.
fn quoted(word: &str) -> String {
    let word = clean(word);
    if word.contains(char::is_whitespace) { format!("{word:?}") } else { word }
}

/// A time without its seconds.
pub fn minute(time: &str) -> String {
    clean(time).get(..16).unwrap_or(time).replace('T', " ")
}

/// The outcome.
fn ended(run: &Run) {
    let ink = Ink::of(&std::io::stderr());
    let word = match run.status.as_str() {
        "done" => ink.green("Done"),
        "cancelled" => ink.yellow("Cancelled"),
        _ => ink.red("Failed"),
    };
    terminal::note_styled(&format!("{word}{}{}", run.took(), run.why()));
    for (name, value) in &run.outputs {
        terminal::say(&output(name, value));
    }
    let failed = run.steps.iter().find(|step| step.status == "failed");
    if let Some(failed) = failed.filter(|_| run.status == "failed") {
        let (id, top) = (short(&run.id), clean(failed.top()));
        terminal::note(&format!("  → plenary workflow fork {id} --from {top}"));
    }
}

fn output(name: &str, value: &Value) -> String {
    let text = said(value);
    let is_list = value.as_array().is_some_and(|entries| !entries.is_empty());
    match is_list || text.contains('\n') {
        true => format!("{}:\n{}", clean(name), clean(&text)),
        false => format!("{}: {}", clean(name), clean(&text)),
    }
}

/// A list has a line for each entry where that can be read; all else that is no text is
/// JSON.
fn said(value: &Value) -> String {
    let in_line = |value: &Value| match value {
        Value::String(text) if text.contains('\n') => None,
        Value::String(text) => Some(text.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let entry = |value: &Value| match value {
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                in_line(value).map(|value| format!("{name}: {value}"))
            };
            let fields: Option<Vec<String>> = fields.iter().map(field).collect();
            fields.map(|fields| format!("- {}", fields.join(", ")))
        }
        other => in_line(other).map(|text| format!("- {text}")),
    };
    let json = || serde_json::to_string_pretty(value).unwrap_or_default();
    match value {
        Value::String(text) => text.trim_end().to_owned(),
        Value::Array(entries) if entries.is_empty() => "none".to_owned(),
        Value::Array(entries) => {
            let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
            entries.map_or_else(json, |entries| entries.join("\n"))
        }
        Value::Null => "none".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => json(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn outputs_are_said_as_they_can_be_read() {
        for (value, expected) in [
            (json!("one"), "x: one"),
            (json!("one\ntwo\n"), "x:\none\ntwo"),
            (json!(3), "x: 3"),
            (json!(null), "x: none"),
            (json!([]), "x: none"),
            (json!(["a", "b"]), "x:\n- a\n- b"),
            (json!([{ "by": "ann", "n": 2 }]), "x:\n- by: ann, n: 2"),
            (json!([["a"]]), "x:\n[\n  [\n    \"a\"\n  ]\n]"),
        ] {
            assert_eq!(output("x", &value), expected, "{value}");
        }
    }
}
