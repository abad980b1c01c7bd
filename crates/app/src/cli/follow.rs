//! Follows a board to its end, on a terminal, in a pipe or silently.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};

use super::board::Board;
use super::panes::{Intent, Panes};
use super::render::{self, Paper};
use crate::api::ApiError;
use crate::signals::Interrupt;
use crate::terminal::{self, Ink};
use crate::way::Way;

/// How a board is shown while it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Live panes, then the whole as rendered Markdown.
    Panes,
    /// Each answer as plain text when it is there.
    Plain,
    Nothing,
}

/// How the following ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Over,
    /// The person stopped it.
    Interrupted,
    /// Only persons are awaited, and nobody can be asked here.
    Awaiting,
}

pub struct Followed {
    pub board: Board,
    pub ending: Ending,
}

/// Redraws at most this often.
const FRAME_MS: u64 = 50;
/// How often and how long a lost server is looked for.
const RETRY: Duration = Duration::from_millis(500);
const RECONNECTS: u32 = 60;

/// Follows a board. What is `known` is not printed again.
pub async fn follow(
    way: &mut Way<'_>,
    interrupt: Interrupt,
    board: Board,
    known: BTreeSet<String>,
    show: Show,
) -> Result<Followed, ApiError> {
    let mut following = Following {
        way,
        interrupt,
        path: format!("/api/boardrooms/{}", board.id),
        seat: match show {
            Show::Panes => board.waiting().map(|advisor| advisor.id),
            Show::Plain | Show::Nothing => None,
        },
        version: 0,
        printed: known,
        stopping: false,
        board,
        show,
    };
    let first = following.board.clone();
    following.board.update(first);
    let mut panes = match show {
        Show::Panes => Some(Panes::open().map_err(|error| {
            ApiError::new("terminal", format!("the terminal cannot be drawn on: {error}"))
        })?),
        Show::Plain | Show::Nothing => None,
    };
    let result = following.run(&mut panes).await;
    drop(panes);
    let ending = result?;
    if show == Show::Panes {
        let paper = Paper::of(&std::io::stdout());
        terminal::say_styled(&render::whole(&following.board, paper));
    }
    Ok(Followed { board: following.board, ending })
}

struct Following<'a, 'c> {
    way: &'a mut Way<'c>,
    /// One for the whole time: a Ctrl-C that comes while a request is under way
    /// must not be lost.
    interrupt: Interrupt,
    path: String,
    /// Whose answer is typed here: until then, what the others say is not shown.
    seat: Option<u8>,
    board: Board,
    version: u64,
    show: Show,
    printed: BTreeSet<String>,
    stopping: bool,
}

impl Following<'_, '_> {
    /// Reads along; a connection that is lost is taken up where it was.
    async fn run(&mut self, panes: &mut Option<Panes>) -> Result<Ending, ApiError> {
        let mut lost = 0;
        loop {
            match self.read_along(panes, &mut lost).await {
                Err(error) if self.way.may_come_back(&error) && lost < RECONNECTS => lost += 1,
                other => return other,
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => self.way.find_again().await?,
                () = self.given_up(panes) => {
                    let id = &self.board.id;
                    return Err(ApiError {
                        hint: Some(format!("Follow it again: plenary sessions resume {id}")),
                        ..ApiError::new("unreachable", "the connection to the server was lost")
                    });
                }
            }
        }
    }

    /// Resolves when the person does not want to wait for the server.
    async fn given_up(&mut self, panes: &mut Option<Panes>) {
        loop {
            tokio::select! {
                () = self.interrupt.recv() => return,
                intent = next_intent(panes) => {
                    let intent = panes.as_mut().and_then(|panes| panes.intend(intent, &self.board));
                    if let Some(Intent::Stop) = intent {
                        return;
                    }
                }
            }
        }
    }

    async fn read_along(
        &mut self,
        panes: &mut Option<Panes>,
        lost: &mut u32,
    ) -> Result<Ending, ApiError> {
        let path = self.seen(&format!("{}/events", self.path));
        let mut events = self.way.api().events(&path, self.version).await?;
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        self.refresh().await?;
        *lost = 0;
        loop {
            if let Some(ending) = self.ending() {
                return Ok(ending);
            }
            tokio::select! {
                event = events.next() => {
                    let broken = || ApiError::new("unreachable", "the connection to the server was lost");
                    let event = event.ok_or_else(broken)??;
                    let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
                    match event.id {
                        Some(version) => {
                            self.version = version;
                            self.refresh().await?;
                        }
                        None => self.board.frame(&event.name, &data),
                    }
                }
                _ = frames.tick(), if panes.is_some() => {
                    if let Some(panes) = panes {
                        panes.draw(&self.board);
                    }
                }
                intent = next_intent(panes) => {
                    if let Some(panes) = panes.as_mut()
                        && let Some(intent) = panes.intend(intent, &self.board)
                    {
                        self.carry_out(intent, panes).await?;
                    }
                }
                () = self.interrupt.recv() => self.stop().await?,
            }
        }
    }

    fn ending(&self) -> Option<Ending> {
        if self.board.is_over() {
            return Some(if self.stopping { Ending::Interrupted } else { Ending::Over });
        }
        // On panes the person can answer; elsewhere nobody would.
        let nobody = self.show != Show::Panes && self.board.waits_for_persons_only();
        // Votes are given by a command of their own, whatever is shown.
        let nobody = nobody || !self.board.waits_for_votes_of().is_empty();
        nobody.then_some(Ending::Awaiting)
    }

    /// The address of what is seen from the seat that answers here.
    fn seen(&self, path: &str) -> String {
        match self.seat {
            Some(seat) => format!("{path}?seat={seat}"),
            None => path.to_owned(),
        }
    }

    async fn refresh(&mut self) -> Result<(), ApiError> {
        let newer: Board = self.way.api().get(&self.seen(&self.path)).await?;
        self.board.update(newer);
        if self.show == Show::Plain {
            self.print_settled();
        }
        Ok(())
    }

    /// Prints each answer once, when it will not change any more.
    fn print_settled(&mut self) {
        let paper = Paper { ink: Ink::none(), wraps: std::io::stdout().is_terminal() };
        for advisor in &self.board.advisors {
            for one in &advisor.earlier {
                if one.said.is_settled() && self.printed.insert(one.said.call_id.clone()) {
                    terminal::say(&render::contribution(&self.board, advisor, one, paper));
                }
            }
            let said = &advisor.said;
            if said.is_settled() && self.printed.insert(said.call_id.clone()) {
                terminal::say(&render::advisor(&self.board, advisor, paper));
            }
        }
        for synthesis in &self.board.syntheses {
            let said = &synthesis.said;
            if said.is_settled() && self.printed.insert(said.call_id.clone()) {
                terminal::say(&render::synthesis(&self.board, synthesis, paper));
            }
            let settled = synthesis.votes.settled(synthesis.number);
            if let Some(settled) = settled
                && self.printed.insert(settled)
                && let Some(ballot) = render::ballot(&self.board, synthesis, paper)
            {
                terminal::say(&ballot);
            }
        }
    }

    async fn carry_out(&mut self, intent: Intent, panes: &mut Panes) -> Result<(), ApiError> {
        let done = match intent {
            Intent::Stop => return self.stop().await,
            Intent::Synthesize => {
                self.way.post::<Value>(&format!("{}/synthesize", self.path), &json!({})).await
            }
            Intent::Reply { advisor, text } => {
                let body = json!({ "advisor": advisor, "text": text });
                self.way.post(&format!("{}/reply", self.path), &body).await
            }
        };
        if let Err(error) = done {
            panes.say(&error.message);
        }
        Ok(())
    }

    async fn stop(&mut self) -> Result<(), ApiError> {
        self.stopping = true;
        match self.way.post::<Value>(&format!("{}/stop", self.path), &json!({})).await {
            // It ended in the same moment.
            Err(error) if error.code == "not-now" => {}
            other => drop(other?),
        }
        self.refresh().await
    }
}

async fn next_intent(panes: &mut Option<Panes>) -> ratatui::crossterm::event::Event {
    match panes {
        Some(panes) => panes.next_event().await,
        None => std::future::pending().await,
    }
}
