//! What can be known of a workflow before it runs, beyond what each line says by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::definition::{Definition, Kind, Need, OnFailure, Step};
use super::expression;
use super::kinds::{APPROVED, Act, Gives, SLEPT, WAITED};
use super::problem::{At, Problem, Problems};
use super::read::{self, Draft, Part, Use};
use super::rehearsal::case::Case;
use super::yaml;
use crate::limits;

/// A file that was looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Checked {
    /// There if nothing is wrong; warnings do not count.
    pub definition: Option<Definition>,
    pub problems: Vec<Problem>,
}

const RUN: [&str; 5] = ["id", "short", "name", "starter", "began_at"];
const RUN_AT_THE_END: [&str; 7] =
    ["id", "short", "name", "starter", "began_at", "status", "reason"];

/// Reads a workflow out of YAML or JSON and names everything that is wrong with it.
pub fn check(text: &str) -> Checked {
    look(text).0
}

/// The same, with the cases by which the file can be tried out.
pub(super) fn look(text: &str) -> (Checked, Vec<Case>) {
    let mut problems = Problems::default();
    let Some(root) = yaml::read(text, &mut problems) else {
        return (Checked { definition: None, problems: problems.told() }, vec![]);
    };
    let Draft { mut definition, cases, uses, places } = read::draft(&root, &mut problems);
    let found = Found::of(&definition, &places);
    let mut implied = vec![];
    for used in &uses {
        for path in &used.named.paths {
            found.name(used, path, &mut problems, &mut implied);
        }
    }
    found.needs(&mut problems, &mut implied);
    found.expanded(&mut problems);
    add_needs(&mut definition.steps, &implied);
    add_needs(&mut definition.finally, &implied);
    let found = Found::of(&definition, &places);
    if found.no_cycles(&mut problems) {
        found.races(&mut problems);
    }
    found.outcomes(&uses, &mut problems);
    let definition = (!problems.has_errors()).then_some(definition);
    (Checked { definition, problems: problems.told() }, cases)
}

/// What is found under an id.
#[derive(Clone, Copy)]
struct Known<'a> {
    step: &'a Step,
    at: At,
    part: Part,
    /// It runs only when another has failed.
    handles: bool,
}

struct Found<'a> {
    definition: &'a Definition,
    places: &'a BTreeMap<String, At>,
    steps: BTreeMap<&'a str, Known<'a>>,
    /// The steps around each, the outermost first.
    around: BTreeMap<&'a str, Vec<&'a str>>,
}

/// This step needs that one, because an expression names it or it handles its failure.
struct Implied {
    step: String,
    need: Need,
}

fn add_needs(steps: &mut [Step], implied: &[Implied]) {
    for step in steps {
        for Implied { need, .. } in implied.iter().filter(|implied| implied.step == step.id) {
            match step.needs.iter_mut().find(|own| own.step == need.step) {
                Some(own) => own.any |= need.any,
                None => step.needs.push(need.clone()),
            }
        }
        match &mut step.kind {
            Kind::Foreach(foreach) => add_needs(&mut foreach.steps, implied),
            Kind::Repeat(repeat) => add_needs(&mut repeat.steps, implied),
            Kind::Act { .. }
            | Kind::Set { .. }
            | Kind::Sleep { .. }
            | Kind::Wait(_)
            | Kind::Approve(_) => {}
        }
    }
}

impl<'a> Found<'a> {
    fn of(definition: &'a Definition, places: &'a BTreeMap<String, At>) -> Self {
        let mut found =
            Found { definition, places, steps: BTreeMap::new(), around: BTreeMap::new() };
        found.index(&definition.steps, Part::Steps, &[]);
        found.index(&definition.finally, Part::Finally, &[]);
        let handlers =
            definition.all_steps().into_iter().filter_map(|step| match &step.on_failure {
                OnFailure::Step(handler) => Some(handler.as_str()),
                OnFailure::Stop | OnFailure::Continue => None,
            });
        for handler in handlers {
            if let Some(known) = found.steps.get_mut(handler) {
                known.handles = true;
            }
        }
        found
    }

    fn index(&mut self, steps: &'a [Step], part: Part, around: &[&'a str]) {
        for step in steps {
            let at = self.places.get(&step.id).copied().unwrap_or(At::START);
            self.steps.insert(&step.id, Known { step, at, part, handles: false });
            self.around.insert(&step.id, around.to_vec());
            let inside: Vec<&str> = around.iter().copied().chain([step.id.as_str()]).collect();
            self.index(step.inner(), part, &inside);
        }
    }

    fn around(&self, id: &str) -> &[&'a str] {
        self.around.get(id).map_or(&[], Vec::as_slice)
    }

    // -----------------------------------------------------------------------
    // Names in expressions

    fn name(&self, used: &Use, path: &str, problems: &mut Problems, implied: &mut Vec<Implied>) {
        let parts: Vec<&str> = path.split('.').collect();
        let Use { at, path: place, scope, .. } = used;
        let (at, place) = (*at, place.as_str());
        let [root, rest @ ..] = parts.as_slice() else { return };
        match *root {
            "inputs" => {
                let Some(name) = rest.first() else { return };
                let all = self.definition.inputs.iter().map(|input| input.name.as_str());
                if !all.clone().any(|input| input == *name) {
                    problems.unknown(at, place, format!("there is no input `{name}`"), name, all);
                }
            }
            "run" if place == "one_per" => {
                let message = "this is evaluated before the run starts; it can only use `inputs`";
                problems.error(at, place, message);
            }
            "run" => {
                let known: &[&str] = match scope.part {
                    Part::Finally => &RUN_AT_THE_END,
                    Part::Before | Part::Steps | Part::Outputs => &RUN,
                };
                match rest.first() {
                    Some(name) if !known.contains(name) => {
                        let message = format!("a run has no `{name}`");
                        problems.unknown(at, place, message, name, known.iter().copied());
                    }
                    Some(_) | None => {}
                }
            }
            "steps" => self.step_name(used, rest, problems, implied),
            "secrets" if !scope.secrets => {
                let message = "secrets can only be used in the headers of `http` and as `token`";
                problems.error(at, place, message);
            }
            "secrets" => {
                if expression::secret(&used.text).is_none() {
                    let message = "a secret can only be combined with plain words, such as \
                                   \"Bearer {{ secrets.NAME }}\"";
                    problems.error(at, place, message);
                }
            }
            "round" if scope.locals.iter().any(|local| local == "round") => {
                self.round_name(used, rest, problems);
            }
            root if scope.locals.iter().any(|local| local == root) => {}
            root => {
                let usual = ["inputs", "steps", "run"];
                let known = usual.into_iter().chain(scope.locals.iter().map(String::as_str));
                let message = match ["round", "rounds", "index", "item"].contains(&root) {
                    true => format!("`{root}` exists only inside a `repeat` or `foreach`"),
                    false => format!("`{root}` is not available here"),
                };
                problems.unknown(at, place, message, root, known);
            }
        }
    }

    fn step_name(
        &self,
        used: &Use,
        rest: &[&str],
        problems: &mut Problems,
        implied: &mut Vec<Implied>,
    ) {
        let Use { at, path, scope, .. } = used;
        let (at, path) = (*at, path.as_str());
        let Some(id) = rest.first() else {
            problems.error(at, path, "say which step: `steps.x`");
            return;
        };
        if scope.part == Part::Before {
            problems.error(at, path, "no step has run yet when this is evaluated");
            return;
        }
        let Some(known) = self.steps.get(id) else {
            let all = self.steps.keys().copied();
            problems.unknown(at, path, format!("there is no step `{id}`"), id, all);
            return;
        };
        let chain: Vec<&str> =
            scope.around.iter().map(String::as_str).chain(scope.step.as_deref()).collect();
        let around = self.around(id);
        if chain.contains(id) {
            problems.error(at, path, format!("`{id}` has no output yet when this is evaluated"));
            return;
        }
        let sees = match scope.part {
            Part::Finally => true,
            Part::Before | Part::Steps | Part::Outputs => known.part == Part::Steps,
        };
        let is_inside =
            !scope.around.iter().map(String::as_str).take(around.len()).eq(around.iter().copied());
        if is_inside {
            let outer = around.first().copied().unwrap_or_default();
            let message = format!("`{id}` is inside `{outer}`; use `steps.{outer}` here");
            problems.error(at, path, message);
            return;
        }
        if !sees {
            problems.error(at, path, format!("`{id}` is in `finally`, which runs after this"));
            return;
        }
        if known.part == scope.part {
            implied.extend(chain.get(around.len()).map(|step| Implied {
                step: (*step).to_owned(),
                need: Need { step: (*id).to_owned(), any: false },
            }));
        }
        self.field_name(used, known, &rest[1..], problems);
    }

    /// Whether the output of the step has what is named of it.
    fn field_name(&self, used: &Use, known: &Known<'_>, rest: &[&str], problems: &mut Problems) {
        let Use { at, path, scope, .. } = used;
        let (at, path, id) = (*at, path.as_str(), known.step.id.as_str());
        let Some(field) = rest.first() else { return };
        let gives: &[&str] = match &known.step.kind {
            Kind::Act { act, with } => match act.spec().gives {
                Gives::Fields(fields) => {
                    if *act == Act::Ask && *field == "json" && !with.contains_key("schema") {
                        let message = format!("`{id}` returns JSON only if it has a `schema`");
                        problems.error(at, path, message);
                    }
                    fields
                }
                Gives::Anything => return,
            },
            Kind::Set { value: Value::Object(map) } => {
                if !map.contains_key(*field) {
                    let message = format!("`{id}` sets no `{field}`");
                    problems.unknown(at, path, message, field, map.keys().map(String::as_str));
                }
                return;
            }
            Kind::Set { .. } => return,
            Kind::Sleep { .. } => SLEPT,
            Kind::Wait(_) => WAITED,
            Kind::Approve(_) => APPROVED,
            Kind::Foreach(_) => {
                if field.parse::<u32>().is_err() {
                    let message = format!("`steps.{id}` is a list, with one entry for each item");
                    problems.error(at, path, message);
                }
                return;
            }
            Kind::Repeat(_) => &["round", "rounds"],
        };
        if !gives.contains(field) {
            let message = format!("`{}` gives no `{field}`", known.step.kind_name());
            problems.unknown(at, path, message, field, gives.iter().copied());
        }
        if used.named.guarded {
            return;
        }
        let own = scope.step.as_deref().and_then(|id| self.steps.get(id)).map(|own| own.step);
        let goes_on = |own: &Step| {
            let any = own.needs.iter().any(|need| need.any && need.step == id);
            any || known.step.on_failure == OnFailure::Step(own.id.clone())
        };
        let may_be_skipped = known.step.when.is_some() || known.handles;
        let why = if own.is_some_and(goes_on) {
            "may have failed"
        } else if may_be_skipped && own.is_none_or(|own| own.when.is_none()) {
            "may be skipped"
        } else {
            return;
        };
        let message = format!(
            "`{id}` {why}, and then has no `{field}`; add `| default(…)`, or check it in an `if`"
        );
        problems.warning(at, path, message);
    }

    fn round_name(&self, used: &Use, rest: &[&str], problems: &mut Problems) {
        let Use { at, path, scope, .. } = used;
        let Some(name) = rest.first() else { return };
        // In `until` the scope's step is the `repeat` itself; inside, its rounds are not
        // over yet.
        let asked = scope.step.as_deref().and_then(|id| self.steps.get(id));
        let inner = asked.filter(|known| matches!(known.step.kind, Kind::Repeat(_)));
        let is_until = inner.is_some() && path.ends_with(".until");
        let mut names: Vec<&str> = vec!["number"];
        if let Some(known) = inner.filter(|_| is_until) {
            names.extend(known.step.inner().iter().map(|step| step.id.as_str()));
        }
        if !names.contains(name) {
            let message = match is_until {
                true => format!("a round has no `{name}`"),
                false => {
                    format!(
                        "`round.{name}` is available only in `until`; earlier rounds are in \
                             `rounds`"
                    )
                }
            };
            problems.unknown(*at, path, message, name, names);
        }
    }

    // -----------------------------------------------------------------------
    // Order

    fn needs(&self, problems: &mut Problems, implied: &mut Vec<Implied>) {
        for known in self.steps.values() {
            let step = known.step;
            let siblings = || {
                let here = |other: &&Known<'_>| {
                    other.part == known.part && self.around(&other.step.id) == self.around(&step.id)
                };
                self.steps.values().filter(here).map(|other| other.step.id.as_str())
            };
            let others = || siblings().filter(|id| *id != step.id);
            let path = |field: &str| format!("{}.{field}", self.path(&step.id));
            for need in &step.needs {
                self.sibling(known.at, &path("needs"), &need.step, others(), problems);
            }
            if let OnFailure::Step(handler) = &step.on_failure {
                let words = ["stop", "continue"];
                let all = others().chain(words);
                if self.sibling(known.at, &path("on_failure"), handler, all, problems) {
                    let need = Need { step: step.id.clone(), any: true };
                    implied.push(Implied { step: handler.clone(), need });
                }
            }
        }
    }

    fn path(&self, id: &str) -> String {
        let part = match self.steps.get(id).map(|known| known.part) {
            Some(Part::Finally) => "finally",
            Some(Part::Before | Part::Steps | Part::Outputs) | None => "steps",
        };
        let around: String =
            self.around(id).iter().map(|outer| format!("{outer}.steps.")).collect();
        format!("{part}.{around}{id}")
    }

    fn sibling<'n>(
        &self,
        at: At,
        path: &str,
        id: &str,
        siblings: impl Iterator<Item = &'n str> + Clone,
        problems: &mut Problems,
    ) -> bool {
        if siblings.clone().any(|sibling| sibling == id) {
            return true;
        }
        let message = match self.steps.contains_key(id) {
            true if path.ends_with(&format!("{id}.needs")) => format!("`{id}` cannot need itself"),
            true => format!("`{id}` is not at the same level as this step"),
            false => format!("there is no step `{id}`"),
        };
        problems.unknown(at, path, message, id, siblings);
        false
    }

    /// The blocks of steps that stand beside one another.
    fn blocks(&self) -> Vec<&'a [Step]> {
        let inner = self.definition.all_steps().into_iter().map(Step::inner);
        [&self.definition.steps[..], &self.definition.finally[..]]
            .into_iter()
            .chain(inner)
            .filter(|block| !block.is_empty())
            .collect()
    }

    fn no_cycles(&self, problems: &mut Problems) -> bool {
        let mut fine = true;
        for block in self.blocks() {
            let mut left: Vec<&Step> = block.iter().collect();
            loop {
                let ids: BTreeSet<&str> = left.iter().map(|step| step.id.as_str()).collect();
                let waits =
                    |step: &&Step| step.needs.iter().any(|need| ids.contains(need.step.as_str()));
                let before = left.len();
                left.retain(waits);
                if left.len() == before {
                    break;
                }
            }
            if let Some(cycle) = cycle(&left) {
                let first = cycle.first().copied().unwrap_or_default();
                let at = self.steps.get(first).map_or(At::START, |known| known.at);
                let message = match cycle.as_slice() {
                    [one] => format!("`{one}` waits for itself"),
                    many => format!("these wait for each other: {}", many.join(" → ")),
                };
                problems.error(at, &self.path(first), message);
                fine = false;
            }
        }
        fine
    }

    /// Two steps that write to one room, with no order between them.
    fn races(&self, problems: &mut Problems) {
        for block in self.blocks() {
            let before = all_before(block);
            for (place, one) in block.iter().enumerate() {
                for other in &block[place + 1..] {
                    let follows = |a: &Step, b: &Step| {
                        before.get(a.id.as_str()).is_some_and(|set| set.contains(b.id.as_str()))
                    };
                    if follows(one, other) || follows(other, one) {
                        continue;
                    }
                    let shared = rooms(one).into_iter().find(|room| rooms(other).contains(room));
                    if let Some(room) = shared {
                        let at =
                            self.steps.get(other.id.as_str()).map_or(At::START, |known| known.at);
                        let message = format!(
                            "`{}` and `{}` both write to {room}, in no fixed order; set it with \
                             `needs`",
                            one.id, other.id
                        );
                        problems.warning(at, &self.path(&other.id), message);
                    }
                }
            }
        }
    }

    /// A vote can end tied, and then something should follow.
    fn outcomes(&self, uses: &[Use], problems: &mut Problems) {
        for known in self.steps.values() {
            let Kind::Act { act: Act::WhiteboardArchive, .. } = known.step.kind else { continue };
            let id = &known.step.id;
            let path = format!("steps.{id}.outcome");
            let covers = |used: &&Use| {
                let looks = used.named.paths.contains(&path);
                looks && ["tied", "!=", "else", " not "].iter().any(|word| used.text.contains(word))
            };
            if !uses.iter().any(|used| covers(&used)) {
                let message =
                    format!("a tied vote is not handled; check for `{path} == 'tied'` somewhere");
                problems.warning(known.at, &self.path(id), message);
            }
        }
    }

    /// How many steps there are at least when all rounds and known items are counted.
    fn expanded(&self, problems: &mut Problems) {
        for step in self.definition.steps.iter().chain(&self.definition.finally) {
            let count = expanded(step);
            if count > limits::EXPANDED_STEPS {
                let at = self.steps.get(step.id.as_str()).map_or(At::START, |known| known.at);
                let most = limits::EXPANDED_STEPS;
                let message = format!("this makes {count} steps; a run can have at most {most}");
                problems.error(at, &self.path(&step.id), message);
            }
        }
    }
}

fn expanded(step: &Step) -> usize {
    let inner: usize = step.inner().iter().map(expanded).fold(0, usize::saturating_add);
    let times = match &step.kind {
        Kind::Foreach(foreach) => foreach.items.as_array().map_or(1, Vec::len),
        Kind::Repeat(repeat) => repeat.max as usize,
        Kind::Act { .. }
        | Kind::Set { .. }
        | Kind::Sleep { .. }
        | Kind::Wait(_)
        | Kind::Approve(_) => 0,
    };
    inner.saturating_mul(times).saturating_add(1)
}

/// The rooms that a step writes to, as they are written in the file.
fn rooms(step: &Step) -> Vec<String> {
    let mut all = vec![];
    step.all(&mut all);
    let room = |step: &&Step| match &step.kind {
        Kind::Act { act, with } => {
            let field = act.spec().writes?;
            let room = with.get(field)?;
            Some(format!("the same {field} ({})", room.as_str()?))
        }
        Kind::Set { .. }
        | Kind::Sleep { .. }
        | Kind::Wait(_)
        | Kind::Approve(_)
        | Kind::Foreach(_)
        | Kind::Repeat(_) => None,
    };
    all.iter().filter_map(room).collect()
}

/// All that comes before each step of a block. The block has no cycles.
pub(crate) fn all_before(block: &[Step]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut before: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    // Each round settles at least one more step.
    for _ in block {
        for step in block {
            let mut own: BTreeSet<&str> = BTreeSet::new();
            for need in &step.needs {
                own.insert(&need.step);
                own.extend(before.get(need.step.as_str()).into_iter().flatten());
            }
            before.insert(&step.id, own);
        }
    }
    before
}

/// One cycle among steps each of which needs another of them.
fn cycle<'a>(steps: &[&'a Step]) -> Option<Vec<&'a str>> {
    let mut path: Vec<&Step> = vec![steps.first()?];
    loop {
        let last = path.last()?;
        let next = steps.iter().find(|step| last.needs.iter().any(|need| need.step == step.id))?;
        if let Some(start) = path.iter().position(|step| step.id == next.id) {
            let mut ids: Vec<&str> = path[start..].iter().map(|step| step.id.as_str()).collect();
            if ids.len() > 1 {
                ids.push(&next.id);
            }
            return Some(ids);
        }
        path.push(next);
    }
}

/// Workflows that run one another in a circle, or too deep. `find` knows the others.
pub fn nesting<'a>(
    definition: &'a Definition,
    find: &dyn Fn(&str) -> Option<&'a Definition>,
) -> Vec<Problem> {
    let mut problems = Problems::default();
    for step in definition.all_steps() {
        let Some(name) = calls(step) else { continue };
        let at = At { line: step.line, column: 1 };
        let path = format!("steps.{}", step.id);
        let mut chain = vec![definition.name.as_str()];
        if let Err(message) = descend(name, find, &mut chain) {
            problems.error(at, &path, message);
        }
    }
    problems.told()
}

fn calls(step: &Step) -> Option<&str> {
    match &step.kind {
        Kind::Act { act: Act::Workflow, with } => {
            with.get("name").and_then(Value::as_str).filter(|name| !expression::is_template(name))
        }
        Kind::Act { .. }
        | Kind::Set { .. }
        | Kind::Sleep { .. }
        | Kind::Wait(_)
        | Kind::Approve(_)
        | Kind::Foreach(_)
        | Kind::Repeat(_) => None,
    }
}

fn descend<'a>(
    name: &'a str,
    find: &dyn Fn(&str) -> Option<&'a Definition>,
    chain: &mut Vec<&'a str>,
) -> Result<(), String> {
    if chain.contains(&name) {
        return Err(format!("these run each other: {} → {name}", chain.join(" → ")));
    }
    if chain.len() > limits::WORKFLOW_NESTING {
        let most = limits::WORKFLOW_NESTING;
        return Err(format!("workflows run each other more than {most} levels deep"));
    }
    let Some(definition) = find(name) else { return Ok(()) };
    chain.push(name);
    let steps = definition.all_steps();
    let names: BTreeSet<&str> = steps.into_iter().filter_map(calls).collect();
    for name in names {
        descend(name, find, chain)?;
    }
    chain.pop();
    Ok(())
}
