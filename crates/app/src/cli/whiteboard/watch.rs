//! `plenary whiteboard watch`: a board as it happens, one line per event.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::time::Duration;

use futures::StreamExt;
use serde_json::Value;

use super::view::{Tally, Whiteboard};
use super::{KIND, show};
use crate::api::{Api, ApiError, encode};
use crate::cli::me::Me;
use crate::cli::{exit, time};
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::sse::ServerEvent;
use crate::terminal::{self, Ink, clean, line};
use crate::tokens::{Kept, Place};

/// How often who leads looks who has posted: what is posted blindly sends no event.
const LOOK: Duration = Duration::from_secs(2);
/// How often and how long a lost server is looked for.
const RETRY: Duration = Duration::from_millis(500);
const RETRIES: u32 = 240;
/// Characters of a text in a line.
const SHORT: usize = 100;

/// Follows a board to its end. Where nobody serves the data folder this process
/// does, so that others can go on with the board while it is watched.
pub async fn run(config: &Config, board: &str, me: &Me, json: bool) -> Result<u8, ApiError> {
    let mut interrupt = Interrupt::listen()?;
    let token = me.looking(&Kept::new(config), Place { kind: KIND, room: board })?;
    let mut watch = Watch {
        path: format!("/api/whiteboards/{}", encode(board)),
        seen: 0,
        posted: BTreeSet::new(),
        votes: BTreeMap::new(),
        began: false,
        json,
        live: std::io::stdout().is_terminal() && !json,
        ink: Ink::of(&std::io::stdout()),
    };
    let mut lost = 0;
    loop {
        let reach = tokio::select! {
            reach = Reach::stay(config, "plenary whiteboard watch") => reach,
            () = interrupt.recv() => return Ok(exit::INTERRUPTED),
        };
        let ended = match reach {
            Err(error) => Err(error),
            Ok(reach) => {
                let api = reach.api.with_agent(token.clone());
                let ended = tokio::select! {
                    ended = watch.read_along(&api, &mut lost) => ended,
                    () = interrupt.recv() => Ok(exit::INTERRUPTED),
                };
                reach.close().await;
                ended
            }
        };
        match ended {
            Err(error) if watch.passes(&error) && lost < RETRIES => {
                if lost == 0 {
                    terminal::note("(connection lost; reconnecting)");
                }
                lost += 1;
            }
            other => return other,
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = interrupt.recv() => return Ok(exit::INTERRUPTED),
        }
    }
}

struct Watch {
    path: String,
    /// The last event that was shown.
    seen: u64,
    /// Who was said to have posted in the blind phase.
    posted: BTreeSet<String>,
    /// By post and voter.
    votes: BTreeMap<String, BTreeMap<String, String>>,
    began: bool,
    json: bool,
    /// On a terminal there is more than the events.
    live: bool,
    ink: Ink,
}

impl Watch {
    /// A server that was there may come back; one that never was is a mistake.
    fn passes(&self, error: &ApiError) -> bool {
        let may_pass = matches!(
            error.code.as_str(),
            "unreachable" | "unauthorized" | "in-use" | "store-failed"
        );
        may_pass && (self.began || error.code == "in-use")
    }

    async fn read_along(&mut self, api: &Api, lost: &mut u32) -> Result<u8, ApiError> {
        let mut events = api.events(&format!("{}/events", self.path), self.seen).await?;
        let mut board = self.look(api).await?;
        if std::mem::replace(lost, 0) > 0 {
            terminal::note("(reconnected)");
        }
        if !std::mem::replace(&mut self.began, true) && self.live {
            terminal::say_styled(&show::head(&board, time::now(), self.ink));
            terminal::say_styled(
                &self.ink.dim("Times are UTC. Ctrl-C stops watching; the board continues.\n"),
            );
        }
        let mut looks = tokio::time::interval(LOOK);
        loop {
            // Only who leads a blind board sees who has posted.
            let leads = board.has_posted.is_some();
            tokio::select! {
                biased;
                event = events.next() => {
                    let gone = || ApiError::new("unreachable", "the connection to the server was lost");
                    let event = event.ok_or_else(gone)??;
                    if event.name == "removed" {
                        return Err(ApiError::new("removed", "the board was removed"));
                    }
                    let Some(number) = event.id.filter(|number| *number > self.seen) else {
                        continue;
                    };
                    self.seen = number;
                    let moved = self.show(number, &event);
                    if moved.as_deref() == Some("archived") {
                        return self.end(api).await;
                    }
                    if moved.is_some() {
                        board = self.look(api).await?;
                        self.announce(&board, moved.as_deref());
                    }
                }
                _ = looks.tick(), if leads => {
                    board = self.look(api).await?;
                    self.tell_who_has_posted(&board);
                }
            }
        }
    }

    async fn look(&self, api: &Api) -> Result<Whiteboard, ApiError> {
        api.get(&format!("{}?limit=1", self.path)).await
    }

    /// Prints an event; the phase, when the board has moved.
    fn show(&mut self, number: u64, event: &ServerEvent) -> Option<String> {
        let mut data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let moved = match event.name.as_str() {
            "transitioned" => data["event"]["to"].as_str().map(str::to_owned),
            _ => None,
        };
        if self.json {
            data["id"] = number.into();
            terminal::say_document(&data.to_string());
            return moved;
        }
        let at = data["at"].as_str().and_then(|at| at.get(11..19)).unwrap_or_default();
        let told = self.told(&event.name, &data["event"]);
        terminal::say_styled(&format!("{}  {told}", self.ink.dim(&clean(at))));
        moved
    }

    /// An event in a line. Everything that agents wrote is cleaned.
    fn told(&mut self, name: &str, event: &Value) -> String {
        let ink = self.ink;
        let text = |key: &str| line(event[key].as_str().unwrap_or_default(), SHORT);
        let after = |key: &str| match text(key) {
            said if said.is_empty() => said,
            said => format!(": {said}"),
        };
        match name {
            "opened" => format!("{} opened the board: {}", ink.bold(&text("by")), text("topic")),
            "registered" => {
                let domain = match text("domain") {
                    domain if domain.is_empty() => domain,
                    domain => format!(" ({domain})"),
                };
                format!("{} joined as {}{domain}", ink.bold(&text("agent")), text("role"))
            }
            "invitationRenewed" => {
                format!("{} renewed the board's invitation", ink.bold(&text("by")))
            }
            "invited" => {
                let (by, agent) = (ink.bold(&text("by")), ink.bold(&text("agent")));
                format!("{by} invited {agent} as {}", text("role"))
            }
            "tokenRenewed" => {
                let agent = ink.bold(&text("agent"));
                format!("the operator of the server replaced the token of {agent}")
            }
            "posted" => posted(event, ink),
            "annotated" => {
                let note = &event["note"];
                let part = |key: &str| line(note[key].as_str().unwrap_or_default(), SHORT);
                let (kind, result) = (part("kind"), part("result"));
                let kind = if kind == "challenge" { ink.yellow(&kind) } else { kind };
                let result = match result.is_empty() {
                    true => String::new(),
                    false => format!(" {}", show::finding(&result, ink)),
                };
                let of = match part("challenge") {
                    challenge if challenge.is_empty() => challenge,
                    challenge => format!(" of {challenge}"),
                };
                let (id, post) = (ink.bold(&text("id")), ink.bold(&text("post")));
                format!("{id} {kind}{result}{of} on {post}{}", after("body"))
            }
            "voted" => {
                let (post, by, choice) = (text("post"), text("by"), text("choice"));
                let votes = self.votes.entry(post.clone()).or_default();
                votes.insert(by.clone(), choice.clone());
                let tally = show::tally(tally(votes)).unwrap_or_default();
                let (by, choice) = (ink.bold(&by), show::choice(&choice, ink));
                format!("{by} votes {choice} on {} [{tally}]{}", ink.bold(&post), after("reason"))
            }
            "transitioned" => {
                let by = match text("by") {
                    by if by.is_empty() => "the deadline".to_owned(),
                    by => ink.bold(&by),
                };
                let to = show::phase(&text("to"), ink);
                format!("{by} moved the board on to {to}{}", after("note"))
            }
            "seated" => {
                let (by, agent) = (ink.bold(&text("by")), ink.bold(&text("agent")));
                let model = event["seat"]["model"].as_str().unwrap_or_default();
                format!("{by} seated {agent} ({})", line(model, SHORT))
            }
            "answered" => {
                let refused = event["leftOut"].as_array().map_or(0, Vec::len);
                let refused = match refused {
                    0 => String::new(),
                    some => format!("; {some} not accepted"),
                };
                let task = line(event["task"]["kind"].as_str().unwrap_or_default(), SHORT);
                format!("{} answered ({task}){refused}", ink.bold(&text("agent")))
            }
            "answerFailed" => {
                let why = line(event["failure"]["message"].as_str().unwrap_or_default(), SHORT);
                format!("{} {}: {why}", ink.bold(&text("agent")), ink.red("failed"))
            }
            "answerStopped" => format!("{} was stopped", ink.bold(&text("agent"))),
            "stopped" => "the models were stopped".to_owned(),
            "timeOver" => "the models' time is up".to_owned(),
            "budgeted" => "the budget was set".to_owned(),
            "priced" => "prices were noted".to_owned(),
            // A later version may tell more.
            other => clean(other),
        }
    }

    /// What comes next, when a phase has begun; what is older is not news.
    fn announce(&self, board: &Whiteboard, phase: Option<&str>) {
        if !self.live || phase != Some(board.phase.as_str()) {
            return;
        }
        for step in &board.next {
            terminal::say_styled(&self.ink.dim(&format!("          → {}", clean(step))));
        }
    }

    fn tell_who_has_posted(&mut self, board: &Whiteboard) {
        for name in board.has_posted.iter().flatten() {
            // One's own post is seen as such.
            let own = board.you.as_ref().is_some_and(|you| you.agent_name == *name);
            if !own && self.posted.insert(name.clone()) {
                self.note_posted(name);
            }
        }
    }

    fn note_posted(&self, name: &str) {
        if self.json {
            return;
        }
        let at = time::now().to_string();
        let at = self.ink.dim(at.get(11..19).unwrap_or_default());
        terminal::say_styled(&format!("{at}  {} has posted (hidden)", self.ink.bold(&clean(name))));
    }

    async fn end(&self, api: &Api) -> Result<u8, ApiError> {
        if self.live {
            let summary: super::Summary = api.get(&format!("{}/summary", self.path)).await?;
            terminal::say_styled(&format!("\n{}", show::outcome(&summary.outcome, self.ink)));
        }
        Ok(exit::DONE)
    }
}

fn posted(event: &Value, ink: Ink) -> String {
    let content = &event["content"];
    let text = |value: &Value| line(value.as_str().unwrap_or_default(), SHORT);
    let (kind, title) = (text(&content["kind"]), text(&content["title"]));
    let mut out = format!("{} {kind}: {title}", ink.bold(&text(&event["id"])));
    let (file, place) = (text(&content["targetFile"]), text(&content["targetLocation"]));
    if !file.is_empty() {
        let place = if place.is_empty() { place } else { format!(":{place}") };
        out.push_str(&format!("  {}", ink.dim(&format!("{file}{place}"))));
    }
    if let Some(severity) = content["severity"].as_str() {
        out.push_str(&format!("  {}", ink.yellow(&clean(severity))));
    }
    out
}

fn tally(votes: &BTreeMap<String, String>) -> Tally {
    let count = |choice: &str| votes.values().filter(|vote| *vote == choice).count();
    Tally { accept: count("accept"), reject: count("reject"), defer: count("defer") }
}
