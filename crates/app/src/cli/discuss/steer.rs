//! `plenary sessions …` of a discussion that exists.

use serde_json::{Value, json};

use super::follow::From;
use super::table::{Discussion, Status};
use super::{person, timeline, to_the_end};
use crate::api::ApiError;
use crate::cli::ask::Output;
use crate::cli::{exit, given};
use crate::signals::Interrupt;
use crate::terminal;
use crate::way::Way;

/// One that exists, by its id.
pub struct Steer<'a, 'c> {
    pub way: &'a mut Way<'c>,
    pub id: &'a str,
    /// It was under way when this command began. Whoever holds the folder goes on
    /// with it, and it may be over before it is asked for.
    pub was_active: bool,
}

/// What the one who leads has chosen.
pub enum Choice {
    End,
    Next { next: String, question: String },
}

impl Steer<'_, '_> {
    pub async fn start(&mut self, output: &Output) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let discussion = self.post("start", &json!({})).await?;
        to_the_end(self.way, interrupt, discussion, From::Start, output).await
    }

    /// One that was cut off by a crash, or that others look after, is followed.
    pub async fn resume(&mut self, output: &Output) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let mut discussion = self.get().await?;
        if discussion.status != Status::Active {
            discussion = match self.post("resume", &json!({})).await {
                Err(error) if error.code == "not-now" && self.was_active => self.get().await?,
                other => other?,
            };
        }
        to_the_end(self.way, interrupt, discussion, From::Recap, output).await
    }

    pub async fn conclude(&mut self, output: &Output) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let discussion = self.post("conclude", &json!({})).await?;
        to_the_end(self.way, interrupt, discussion, From::Recap, output).await
    }

    pub async fn pause(&mut self) -> Result<u8, ApiError> {
        let discussion = self.post("pause", &json!({})).await?;
        terminal::say(match discussion.status {
            Status::Pausing => "Pausing after the current step.",
            Status::Draft
            | Status::Active
            | Status::Paused
            | Status::Stopped
            | Status::Failed
            | Status::Concluded => "Paused.",
        });
        terminal::note(&format!("  → plenary sessions resume {}", self.id));
        Ok(exit::DONE)
    }

    pub async fn stop(&mut self) -> Result<u8, ApiError> {
        self.post("stop", &json!({})).await?;
        terminal::say("Stopped; what has arrived is kept.");
        terminal::note(&format!("  → plenary sessions resume {}", self.id));
        Ok(exit::DONE)
    }

    pub async fn interject(&mut self, text: &str, by: Option<&str>) -> Result<u8, ApiError> {
        let body = given([("text", json!(text)), ("by", json!(by))]);
        let discussion = self.post("interject", &body).await?;
        terminal::say(match discussion.status.rests() {
            true => "Sent. Everyone sees it when the discussion resumes.",
            false => "Sent. Everyone sees it after the current step.",
        });
        Ok(exit::DONE)
    }

    /// The words of a person who is awaited.
    pub async fn reply(&mut self, text: &str, output: &Output) -> Result<u8, ApiError> {
        self.go_on("reply", &json!({ "text": text }), output).await
    }

    pub async fn decide(
        &mut self,
        choice: Choice,
        reasoning: Option<&str>,
        output: &Output,
    ) -> Result<u8, ApiError> {
        let body = match choice {
            Choice::End => {
                given([("decision", json!("synthesize")), ("reasoning", json!(reasoning))])
            }
            Choice::Next { next, question } => {
                let discussion = self.get().await?;
                let next = person::chosen(&discussion, &next).map_or(next, |seat| seat.id.clone());
                given([
                    ("decision", json!("continue")),
                    ("nextParticipantId", json!(next)),
                    ("question", json!(question)),
                    ("reasoning", json!(reasoning)),
                ])
            }
        };
        self.go_on("decide", &body, output).await
    }

    /// A person's part. Whoever runs the discussion follows it from there; where
    /// another process runs it, it is shown there.
    async fn go_on(&mut self, route: &str, body: &Value, output: &Output) -> Result<u8, ApiError> {
        let interrupt = Interrupt::listen()?;
        let before = self.get().await?;
        let discussion = self.post(route, body).await?;
        // When a process leaves that runs it itself, nobody goes on.
        if self.way.is_here() || !output.is_plain() {
            let from = From::After(before.entries);
            return to_the_end(self.way, interrupt, discussion, from, output).await;
        }
        terminal::say("Sent.");
        if discussion.status == Status::Concluded {
            terminal::note(&format!("  → plenary sessions show {}", self.id));
        } else {
            terminal::note(&format!("Now: {}", timeline::due(&discussion)));
            terminal::note(&format!("  → to follow it: plenary sessions resume {}", self.id));
        }
        Ok(exit::DONE)
    }

    async fn get(&self) -> Result<Discussion, ApiError> {
        self.way.api().get(&format!("/api/discussions/{}", self.id)).await
    }

    async fn post(&mut self, route: &str, body: &Value) -> Result<Discussion, ApiError> {
        let path = format!("/api/discussions/{}/{route}", self.id);
        self.way.post(&path, body).await
    }
}
