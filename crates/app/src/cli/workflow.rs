//! `plenary workflow`
//!
//! What a file means can be told without a store, a server or a model.

mod dry;
mod inputs;
mod new;
mod runs;
mod shelf;
mod shown;
mod test;
mod which;

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plenary_domain::limits;
use plenary_domain::workflow::{self, Checked, Definition, Problem, Severity};
use serde_json::json;

use super::list::Listing;
use super::{exit, print_json, usage};
use crate::api::{Api, ApiError};
use crate::config::Config;
use crate::signals::Interrupt;
use crate::terminal::{self, Ink, clean};
use crate::way::Way;

/// Characters of a source line that are shown with a problem.
const SHOWN: usize = 120;

#[derive(Args)]
pub struct Workflow {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a starter workflow, and its schema for editors
    New(new::New),
    /// Report all problems in a workflow, with line and column
    ///
    /// The exit code is 1 if there are any. Warnings do not count.
    Check {
        /// YAML or JSON; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Test a workflow with the cases in its file: no models, no network, a simulated clock
    ///
    /// The exit code is 1 if a case fails or the file has problems.
    Test {
        /// YAML or JSON, with `cases`; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Draw a workflow as a Mermaid graph
    Graph {
        /// YAML or JSON; `-` reads standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print the JSON schema of workflows, for editors
    Schema,
    /// Run a workflow, and follow it until it ends
    ///
    /// The exit code is 0 if it is done, 1 if it failed or was cancelled. Ctrl-C stops following;
    /// the run is kept. Outputs go to standard output, progress to
    /// standard error.
    Run(runs::Run),
    /// Show a run: its steps and their results
    Status(runs::Status),
    /// List runs, newest first
    Runs(Listing),
    /// Decide on a step that is waiting for people
    Approve(runs::Approve),
    /// Send a signal to the runs that wait for it
    Signal(runs::Signal),
    /// Cancel a run and the sessions it opened
    Cancel(runs::Cancel),
    /// Start a new run from a step of another, reusing the earlier steps
    Fork(runs::Fork),
    /// Show the tokens of the people asked to decide (for the operator of the server)
    Seats(runs::Seats),
    /// Save a workflow under its name, as its next version
    ///
    /// A saved workflow can be run by name, by other workflows, and by the triggers under its `on`:
    /// a schedule, a signal or a webhook.
    Store(shelf::Store),
    /// List saved workflows: their versions, last runs and next runs
    List(shelf::List),
    /// Show a saved workflow: its inputs, runs and versions
    Show(shelf::Show),
    /// Remove a saved workflow; nothing starts it any more
    Remove(shelf::Remove),
}

/// Shows a run that was found among all sessions.
pub async fn show_run(api: &Api, id: &str) -> Result<u8, ApiError> {
    shown::show(api, id, false).await
}

/// Follows a run that was found among all sessions.
pub async fn follow_run(way: &mut Way<'_>, id: &str, is_told: bool) -> Result<u8, ApiError> {
    let telling = if is_told { shown::Telling::Words } else { shown::Telling::Nothing };
    shown::follow(way, Interrupt::listen()?, id, telling).await
}

impl Workflow {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        match self.command {
            Command::Run(run) => run.run(config).await,
            Command::Status(status) => status.run(config).await,
            Command::Runs(listing) => runs::list(config, listing).await,
            Command::Approve(approve) => approve.run(config).await,
            Command::Signal(signal) => signal.run(config).await,
            Command::Cancel(cancel) => cancel.run(config).await,
            Command::Fork(fork) => fork.run(config).await,
            Command::Seats(seats) => seats.run(config).await,
            Command::Store(store) => store.run(config).await,
            Command::List(list) => list.run(config).await,
            Command::Show(show) => show.run(config).await,
            Command::Remove(remove) => remove.run(config).await,
            Command::New(new) => new.run(),
            Command::Check { file, json } => check(&file, json),
            Command::Test { file, json } => test::test(&file, json),
            Command::Graph { file } => graph(&file),
            Command::Schema => {
                print_json(&workflow::schema());
                Ok(exit::DONE)
            }
        }
    }
}

fn check(file: &Path, json: bool) -> Result<u8, ApiError> {
    let text = read(file)?;
    let Checked { definition, problems } = workflow::check(&text);
    let name = file.display().to_string();
    if json {
        print_json(&json!({ "file": name, "sound": definition.is_some(), "problems": problems }));
    } else {
        tell(&name, &text, &problems);
        match &definition {
            Some(definition) => terminal::say(&format!("ok    {}", summary(&name, definition))),
            None => terminal::note(&count(&problems)),
        }
    }
    Ok(if definition.is_some() { exit::DONE } else { exit::FAILED })
}

fn graph(file: &Path) -> Result<u8, ApiError> {
    let text = read(file)?;
    let Checked { definition, problems } = workflow::check(&text);
    match definition {
        Some(definition) => {
            terminal::say_document(workflow::mermaid(&definition).trim_end());
            Ok(exit::DONE)
        }
        None => {
            tell(&file.display().to_string(), &text, &problems);
            terminal::note(&count(&problems));
            Ok(exit::FAILED)
        }
    }
}

/// A file that is longer than any workflow may be is read no further than to see that.
fn read(file: &Path) -> Result<String, ApiError> {
    let most = limits::WORKFLOW_BYTES as u64 + 1;
    let mut bytes = vec![];
    let read = match file == Path::new("-") {
        true => std::io::stdin().take(most).read_to_end(&mut bytes),
        false => std::fs::File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes)),
    };
    let shown = file.display();
    read.map_err(|error| usage(format!("cannot read {shown}: {error}")))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        // Where it was cut may be in the middle of a character.
        Err(error) if error.as_bytes().len() > limits::WORKFLOW_BYTES => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => Err(usage(format!("{shown} is not UTF-8 text"))),
    }
}

/// Each problem with the line that it is in, and a mark where it begins.
fn tell(file: &str, text: &str, problems: &[Problem]) {
    let ink = Ink::of(&std::io::stderr());
    for Problem { severity, line, column, message, .. } in problems {
        let word = match severity {
            Severity::Error => ink.red("error"),
            Severity::Warning => ink.yellow("warning"),
        };
        let (file, message) = (clean(file), clean(message));
        terminal::note_styled(&format!("{file}:{line}:{column}: {word}: {message}"));
        terminal::note(&marked(text, *line, *column));
    }
}

/// A line of the file, and a mark under it.
fn marked(text: &str, line: u32, column: u32) -> String {
    let source = text.lines().nth(line as usize - 1).unwrap_or_default();
    let (shown, at) = window(source, column as usize - 1);
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    format!("  {number} | {shown}\n  {margin} | {}^", " ".repeat(at))
}

/// The part of a line that is shown, and where the mark stands in it. Each character
/// takes one place, so that the mark stands under what it means.
fn window(source: &str, column: usize) -> (String, usize) {
    let start = column.saturating_sub(SHOWN - 20);
    let visible = |c: char| if c.is_control() { ' ' } else { c };
    let shown: String = source.chars().skip(start).take(SHOWN).map(visible).collect();
    (shown.trim_end().to_owned(), column - start)
}

fn count(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let warnings = problems.len() - errors;
    match warnings {
        0 => many(errors, "error"),
        warnings => format!("{}, {}", many(errors, "error"), many(warnings, "warning")),
    }
}

fn many(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    }
}

fn summary(file: &str, definition: &Definition) -> String {
    let steps = definition.all_steps().len();
    let inputs: Vec<&str> = definition.inputs.iter().map(|input| input.name.as_str()).collect();
    let inputs = if inputs.is_empty() { "none".to_owned() } else { inputs.join(", ") };
    format!("{file}: {}, steps: {steps}, inputs: {inputs}", definition.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_what_it_means() {
        assert_eq!(window("  a: b", 5), ("  a: b".to_owned(), 5));
        let long = "x".repeat(500) + "!";
        let (shown, at) = window(&long, 500);
        assert_eq!(shown.chars().nth(at), Some('!'));
        assert_eq!(window("\ta\u{1b}[31m", 1), (" a [31m".to_owned(), 1));
    }
}
