//! `plenary workflow test`: tries a workflow out by the cases in its file.

use std::path::Path;

use plenary_domain::workflow::{self, Fault, Rehearsed};
use serde_json::json;

use super::{count, many, marked, read, tell};
use crate::api::ApiError;
use crate::cli::{exit, print_json, usage};
use crate::rounded;
use crate::terminal::{self, Ink, clean};

pub fn test(file: &Path, json: bool) -> Result<u8, ApiError> {
    let text = read(file)?;
    let name = file.display().to_string();
    let rehearsed = workflow::rehearse(&text);
    if rehearsed.as_ref().is_ok_and(Vec::is_empty) {
        return Err(usage(format!("{name} has no `cases` to test")));
    }
    let holds = rehearsed.as_ref().is_ok_and(|cases| cases.iter().all(Rehearsed::holds));
    match rehearsed {
        Ok(cases) if json => {
            print_json(&json!({ "file": name, "holds": holds, "cases": cases, "problems": [] }));
        }
        Err(problems) if json => {
            print_json(&json!({ "file": name, "holds": false, "cases": [], "problems": problems }));
        }
        Ok(cases) => show(&name, &text, &cases),
        Err(problems) => {
            tell(&name, &text, &problems);
            terminal::note(&count(&problems));
        }
    }
    Ok(if holds { exit::DONE } else { exit::FAILED })
}

fn show(file: &str, text: &str, cases: &[Rehearsed]) {
    let ink = Ink::of(&std::io::stdout());
    for case in cases {
        let word = if case.holds() { ink.green("ok   ") } else { ink.red("fails") };
        terminal::say_styled(&format!("{word} {}{}", clean(&case.name), clock(case)));
        for fault in &case.faults {
            differs(file, text, fault);
        }
    }
    let all = many(cases.len(), "case");
    match cases.iter().filter(|case| !case.holds()).count() {
        0 => terminal::note(&format!("{all}, none failed")),
        failed => terminal::note(&format!("{all}, {failed} failed")),
    }
}

fn differs(file: &str, text: &str, fault: &Fault) {
    let Fault { line, column, path, message, add } = fault;
    terminal::say(&format!("  {file}:{line}:{column}: {path}: {message}"));
    if add.is_empty() {
        return terminal::say(&marked(text, *line, *column));
    }
    terminal::say("    Add to the case:");
    add.iter().for_each(|line| terminal::say(&format!("      {line}")));
}

/// How far the clock was moved, where it was.
fn clock(case: &Rehearsed) -> String {
    match case.clock_ms {
        0 => String::new(),
        ms => format!(" (clock: {})", rounded::duration(ms)),
    }
}
