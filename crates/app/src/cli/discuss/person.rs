//! A person's part, typed on the terminal.

use std::io::IsTerminal;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::table::{Discussion, Seat, Step, StepKind};
use crate::terminal::{self, clean};

/// Lines that a person types. Reading them blocks, so it has a thread of its own.
pub struct Input {
    lines: Option<mpsc::Receiver<String>>,
}

pub enum Heard {
    Line(String),
    /// No more will come.
    End,
}

impl Input {
    /// There is none where nobody sits before the terminal.
    pub fn of_terminal(live: bool) -> Input {
        if !live || !std::io::stdin().is_terminal() {
            return Input { lines: None };
        }
        let (send, lines) = mpsc::channel(64);
        std::thread::spawn(move || {
            for line in std::io::stdin().lines().map_while(Result::ok) {
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Input { lines: Some(lines) }
    }

    pub fn is_there(&self) -> bool {
        self.lines.is_some()
    }

    pub async fn next(&mut self) -> Heard {
        let Some(lines) = &mut self.lines else { return std::future::pending().await };
        match lines.recv().await {
            Some(line) => Heard::Line(line),
            None => {
                self.lines = None;
                Heard::End
            }
        }
    }

    /// What was typed before anybody asked is no answer.
    pub fn forget(&mut self) {
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
        }
    }
}

/// What the person is asked for, and what they have typed of it.
pub enum Prompt {
    Words {
        typed: Vec<String>,
    },
    /// Who leads chooses who speaks next.
    Next,
    Question {
        next: String,
        name: String,
    },
}

/// A route of the discussion, and the body for it.
pub type Command = (&'static str, Value);

impl Prompt {
    pub fn of(kind: StepKind) -> Prompt {
        match kind {
            StepKind::Turn | StepKind::Synthesis => Prompt::Words { typed: vec![] },
            StepKind::Opening | StepKind::Evaluation => Prompt::Next,
        }
    }

    /// What the person reads: the question, and how to answer it here or elsewhere.
    pub fn words(&self, discussion: &Discussion, step: &Step, here: bool) -> String {
        let (id, name) = (&discussion.id, clean(&step.name));
        let until = step.reply_by.as_deref().map(|by| format!(" until {}", clean(by)));
        let until = until.unwrap_or_default();
        let asked = match step.kind {
            StepKind::Turn => {
                let question = step.question.as_deref().unwrap_or_default();
                format!("{name} is asked{until}: {}", clean(question).trim())
            }
            StepKind::Synthesis => format!("{name} writes the conclusion{until}."),
            StepKind::Opening => {
                format!("{name} opens{until}: who speaks first, and what do you ask them?")
            }
            StepKind::Evaluation => {
                format!("{name} decides{until}: who speaks next, and what do you ask them?")
            }
        };
        let how = match (step.kind, here) {
            (StepKind::Turn | StepKind::Synthesis, true) => {
                "Type the answer; a blank line or a single dot sends it.".to_owned()
            }
            (StepKind::Turn | StepKind::Synthesis, false) => {
                format!("  → plenary sessions reply {id} \"…\"")
            }
            (StepKind::Opening, true) => format!("{}Type a number or a name.", list(discussion)),
            (StepKind::Evaluation, true) => {
                format!("{}Type a number or a name, or `end` to conclude.", list(discussion))
            }
            (StepKind::Opening, false) => {
                format!(
                    "{}  → plenary sessions decide {id} --next ID --question \"…\"",
                    list(discussion)
                )
            }
            (StepKind::Evaluation, false) => format!(
                "{0}  → plenary sessions decide {id} --next ID --question \"…\"\n  → plenary \
                 sessions decide {id} --end",
                list(discussion)
            ),
        };
        let after = if here { "" } else { "\n" };
        format!("{asked}\n{how}{after}")
    }

    /// One more line: what is asked next, and the command when it is whole.
    pub fn take_in(self, line: String, discussion: &Discussion) -> (Prompt, Option<Command>) {
        let word = line.trim();
        match self {
            Prompt::Words { mut typed } => {
                if !word.is_empty() && word != "." {
                    typed.push(line);
                    return (Prompt::Words { typed }, None);
                }
                let text = typed.join("\n");
                if text.trim().is_empty() {
                    terminal::note("Type something first. Ctrl-C pauses the discussion.");
                    return (Prompt::Words { typed: vec![] }, None);
                }
                (Prompt::Words { typed: vec![] }, Some(("reply", json!({ "text": text }))))
            }
            Prompt::Next if word.eq_ignore_ascii_case("end") => {
                (Prompt::Next, Some(("decide", json!({ "decision": "synthesize" }))))
            }
            Prompt::Next => match chosen(discussion, word) {
                Some(Seat { id, name, .. }) => {
                    terminal::note(&format!("What do you ask {}?", clean(name)));
                    (Prompt::Question { next: id.clone(), name: name.clone() }, None)
                }
                None => {
                    if !word.is_empty() {
                        terminal::note(&format!("No one here is called {:?}.", clean(word)));
                    }
                    terminal::note(list(discussion).trim_end());
                    (Prompt::Next, None)
                }
            },
            Prompt::Question { next, name } if word.is_empty() => {
                terminal::note(&format!("Enter a question. What do you ask {}?", clean(&name)));
                (Prompt::Question { next, name }, None)
            }
            Prompt::Question { next, .. } => {
                let body = json!({
                    "decision": "continue", "nextParticipantId": next, "question": word,
                });
                (Prompt::Next, Some(("decide", body)))
            }
        }
    }
}

fn list(discussion: &Discussion) -> String {
    let line = |(place, seat): (usize, &Seat)| {
        format!("  {}  {} · id {}\n", place + 1, seat.called(), clean(&seat.id))
    };
    discussion.speakers().enumerate().map(line).collect()
}

/// By number, id or name.
pub fn chosen<'a>(discussion: &'a Discussion, word: &str) -> Option<&'a Seat> {
    let place = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let is = |seat: &&Seat| seat.id == word || seat.name.eq_ignore_ascii_case(word);
    let named = discussion.speakers().find(is);
    named.or_else(|| discussion.speakers().nth(place?))
}
