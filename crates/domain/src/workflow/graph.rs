//! A workflow as a picture, in the words of Mermaid.

use super::check::all_before;
use super::definition::{Definition, Kind, Need, OnFailure, Step};

/// A flow chart: an arrow from each step to what needs it.
pub fn mermaid(definition: &Definition) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    block(&definition.steps, 1, &mut lines);
    if !definition.finally.is_empty() {
        lines.push("  subgraph finally_ [finally]".into());
        block(&definition.finally, 2, &mut lines);
        lines.push("  end".into());
    }
    lines.join("\n") + "\n"
}

fn block(steps: &[Step], depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    for step in steps {
        let id = name(&step.id);
        let label = label(step);
        match &step.kind {
            Kind::Foreach(_) | Kind::Repeat(_) => {
                lines.push(format!("{indent}subgraph {id} [\"{label}\"]"));
                block(step.inner(), depth + 1, lines);
                lines.push(format!("{indent}end"));
            }
            // People and signals are waited for.
            Kind::Approve(_) | Kind::Wait(_) => lines.push(format!("{indent}{id}([\"{label}\"])")),
            Kind::Act { .. } | Kind::Set { .. } | Kind::Sleep { .. } => {
                lines.push(format!("{indent}{id}[\"{label}\"]"));
            }
        }
    }
    let before = all_before(steps);
    for step in steps {
        // Where there is a longer way, the short one tells nothing more.
        let is_told = |need: &&Need| {
            let others = step.needs.iter().filter(|other| other.step != need.step && !other.any);
            let mut others = others.filter_map(|other| before.get(other.step.as_str()));
            !others.any(|before| before.contains(need.step.as_str()))
        };
        let is_handler_of = |other: &str| {
            let other = steps.iter().find(|step| step.id == other);
            other.is_some_and(|other| other.on_failure == OnFailure::Step(step.id.clone()))
        };
        for need in step.needs.iter().filter(is_told) {
            let (from, to) = (name(&need.step), name(&step.id));
            lines.push(match (is_handler_of(&need.step), need.any) {
                (true, _) => format!("{indent}{from} -. failed .-> {to}"),
                (false, true) => format!("{indent}{from} -. any .-> {to}"),
                (false, false) => format!("{indent}{from} --> {to}"),
            });
        }
    }
}

/// `end` and some other words mean something to Mermaid.
fn name(id: &str) -> String {
    format!("{id}_")
}

fn label(step: &Step) -> String {
    let shown = step.label.as_deref().unwrap_or(&step.id);
    let what = match &step.kind {
        Kind::Foreach(foreach) => format!("for each {}", foreach.name),
        Kind::Repeat(repeat) => format!("repeat, {} times at most", repeat.max),
        Kind::Act { .. }
        | Kind::Set { .. }
        | Kind::Sleep { .. }
        | Kind::Wait(_)
        | Kind::Approve(_) => step.kind_name().to_owned(),
    };
    let when = if step.when.is_some() { " ?" } else { "" };
    format!("{}<br/>{}{when}", plain(shown), plain(&what))
}

/// What would end a label, or be HTML in it, is left out.
fn plain(text: &str) -> String {
    let shown = |c: &char| !"\"<>&#`[]{}|\\".contains(*c) && !c.is_control();
    text.chars().filter(shown).take(80).collect()
}
