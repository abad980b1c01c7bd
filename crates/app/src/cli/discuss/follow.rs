//! Follows a discussion until it rests: as a timeline whose last block is live on a
//! terminal, as plain text in a pipe, or silently.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use futures::StreamExt;
use plenary_domain::limits;
use serde_json::{Value, json};

use super::person::{Heard, Input, Prompt};
use super::table::{self, Discussion, Entry, EntryKind, Status, StepKind};
use super::timeline;
use crate::api::ApiError;
use crate::cli::render::{self, Paper};
use crate::rounded::duration;
use crate::signals::Interrupt;
use crate::sse::ServerEvent;
use crate::terminal::{self, LiveBlock, clean};
use crate::way::Way;

/// The block is drawn anew at most this often.
const FRAME_MS: u64 = 100;
/// How often and how long a lost server is looked for.
const RETRY: Duration = Duration::from_millis(500);
const RECONNECTS: u32 = 60;
/// Rows of the terminal that the live block leaves free.
const ROWS_LEFT: u16 = 3;
/// Turns that a recap shows.
const RECAP: usize = 2;

/// How a discussion is shown while it runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Text streams in on a terminal.
    Live,
    /// Each piece when it is there.
    Plain,
    Nothing,
}

/// From where it is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// It has just begun.
    Start,
    /// It was begun earlier: what was said last is told again.
    Recap,
    /// Only what comes after this piece of the transcript.
    After(u32),
}

pub struct Followed {
    pub discussion: Discussion,
    /// Every model that was asked to speak could not be reached.
    pub unreachable: bool,
}

pub async fn follow(
    way: &mut Way<'_>,
    interrupt: Interrupt,
    discussion: Discussion,
    show: Show,
    from: From,
) -> Result<Followed, ApiError> {
    let paper = match show {
        Show::Live => Paper::of(&std::io::stderr()),
        Show::Plain | Show::Nothing => Paper::plain(),
    };
    // Nobody else reads what is typed, and a job in the background must not.
    let seats = discussion.participants.iter().chain([&discussion.moderator]);
    let people = seats.into_iter().any(|seat| seat.person);
    let mut following = Following {
        way,
        interrupt,
        path: format!("/api/discussions/{}", discussion.id),
        discussion,
        version: 0,
        printed: 0,
        show,
        paper,
        block: LiveBlock::default(),
        under_way: UnderWay::default(),
        pausing: false,
        input: Input::of_terminal(people && show == Show::Live),
        prompt: None,
        failures: Failures::default(),
    };
    following.begin(from).await?;
    following.run().await?;
    let unreachable = following.failures.unreachable();
    Ok(Followed { discussion: following.discussion, unreachable })
}

struct Following<'a, 'c> {
    way: &'a mut Way<'c>,
    /// One for the whole time: a Ctrl-C that comes while a request is under way
    /// must not be lost.
    interrupt: Interrupt,
    path: String,
    discussion: Discussion,
    version: u64,
    /// The last piece of the transcript that was shown.
    printed: u32,
    show: Show,
    paper: Paper,
    block: LiveBlock,
    under_way: UnderWay,
    /// A Ctrl-C was heard; the next one stops.
    pausing: bool,
    input: Input,
    /// What the person is asked, and for which step.
    prompt: Option<(String, Prompt)>,
    failures: Failures,
}

/// What only a live reader knows of the step that is under way.
#[derive(Default)]
struct UnderWay {
    call: String,
    text: String,
    since: Option<Instant>,
    thinking: bool,
    /// What holds it up: a request that is made again, or a busy model.
    held_up: Option<String>,
}

#[derive(Default)]
struct Failures {
    unreachable: usize,
    others: usize,
}

impl Failures {
    fn count(&mut self, entry: &Entry) {
        match &entry.error {
            Some(error) if error.kind == "unreachable" => self.unreachable += 1,
            Some(_) => self.others += 1,
            None => self.others += usize::from(entry.kind == EntryKind::Turn),
        }
    }

    fn unreachable(&self) -> bool {
        self.unreachable > 0 && self.others == 0
    }
}

impl Following<'_, '_> {
    async fn begin(&mut self, from: From) -> Result<(), ApiError> {
        match from {
            From::Start => self.introduce(),
            From::Recap => self.recap().await?,
            From::After(number) => self.printed = number,
        }
        Ok(())
    }

    fn introduce(&mut self) {
        if let Some(estimate) = &self.discussion.estimate {
            let estimate = self.paper.estimate(estimate);
            self.say(&format!("{estimate}\n"));
        }
        let header = self.paper.header(&self.discussion);
        self.say(&header);
    }

    async fn recap(&mut self) -> Result<(), ApiError> {
        let earlier = table::entries(self.way.api(), &self.path, 0).await?;
        let header = self.paper.header(&self.discussion);
        self.say(&header);
        let is_turn = |entry: &&Entry| entry.kind == EntryKind::Turn;
        let turns: Vec<&Entry> = earlier.iter().filter(is_turn).collect();
        let hidden = turns.len().saturating_sub(RECAP);
        let first = turns.get(hidden).map_or(0, |entry| entry.number);
        if hidden > 0 {
            let turns = if hidden == 1 { "1 turn".into() } else { format!("{hidden} turns") };
            self.say(&self.paper.ink.dim(&format!("… {turns} earlier\n")));
        }
        for entry in earlier.iter().filter(|entry| entry.number >= first) {
            let shown = self.paper.entry(&self.discussion, entry);
            self.say(&shown);
        }
        earlier.iter().for_each(|entry| self.failures.count(entry));
        self.printed = earlier.last().map_or(0, |entry| entry.number);
        if !self.discussion.status.rests() && self.discussion.awaited().is_none() {
            let due = self.paper.ink.dim(&format!("Now: {}\n", timeline::due(&self.discussion)));
            self.say(&due);
        }
        Ok(())
    }

    /// Reads along; a connection that is lost is taken up where it was.
    async fn run(&mut self) -> Result<(), ApiError> {
        let mut lost = 0;
        loop {
            let ended = self.read_along(&mut lost).await;
            self.block.clear();
            match ended {
                Err(error) if self.way.may_come_back(&error) && lost < RECONNECTS => lost += 1,
                other => return other,
            }
            tokio::select! {
                () = tokio::time::sleep(RETRY) => self.way.find_again().await?,
                () = self.interrupt.recv() => {
                    let id = &self.discussion.id;
                    return Err(ApiError {
                        hint: Some(format!("Follow it again: plenary sessions resume {id}")),
                        ..ApiError::new("unreachable", "the connection to the server was lost")
                    });
                }
            }
        }
    }

    async fn read_along(&mut self, lost: &mut u32) -> Result<(), ApiError> {
        let mut events =
            self.way.api().events(&format!("{}/events", self.path), self.version).await?;
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        self.refresh().await?;
        *lost = 0;
        while !self.discussion.status.rests() {
            tokio::select! {
                event = events.next() => {
                    let gone = || ApiError::new("unreachable", "the connection to the server was lost");
                    self.take_in(event.ok_or_else(gone)??).await?;
                }
                _ = frames.tick(), if self.show == Show::Live => self.draw(),
                heard = self.input.next() => self.hear(heard).await?,
                () = self.interrupt.recv() => self.break_off().await?,
            }
        }
        Ok(())
    }

    async fn take_in(&mut self, event: ServerEvent) -> Result<(), ApiError> {
        if event.name == "removed" {
            return Err(ApiError::new("removed", "the discussion was removed"));
        }
        if let Some(version) = event.id {
            self.version = version;
            return self.refresh().await;
        }
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        if data["callId"].as_str() != Some(&self.under_way.call) {
            return Ok(());
        }
        if let Some(held_up) = self.under_way.frame(&event.name, &data)
            && self.show == Show::Plain
        {
            let name = self.discussion.step.as_ref().map(|step| clean(&step.name));
            self.say(&format!("({}: {held_up})\n", name.unwrap_or_default()));
        }
        Ok(())
    }

    /// Takes over how things stand, and shows what is new.
    async fn refresh(&mut self) -> Result<(), ApiError> {
        self.discussion = self.way.api().get(&self.path).await?;
        if self.discussion.entries > self.printed {
            for entry in table::entries(self.way.api(), &self.path, self.printed).await? {
                let shown = self.paper.entry(&self.discussion, &entry);
                self.say(&shown);
                self.failures.count(&entry);
                self.printed = entry.number;
            }
        }
        if let Some(step) = &self.discussion.step
            && step.call_id != self.under_way.call
        {
            let (call, text) = (step.call_id.clone(), step.text.clone());
            let since = Some(Instant::now());
            self.under_way = UnderWay { call, text, since, ..UnderWay::default() };
        }
        self.ask_person();
        Ok(())
    }

    /// Says something for good, above the live block.
    fn say(&mut self, text: &str) {
        if self.show != Show::Nothing {
            self.block.clear();
            terminal::note_styled(text);
        }
    }

    fn draw(&mut self) {
        if self.discussion.awaited().is_some() || self.discussion.status.rests() {
            self.block.clear();
            return;
        }
        let now = &self.under_way;
        let elapsed = now.since.map_or(0, |since| since.elapsed().as_millis() as u64);
        let doing = timeline::doing(&self.discussion);
        let kind = self.discussion.step.as_ref().map(|step| step.kind);
        let mut head = format!("● {doing}");
        if kind == Some(StepKind::Turn) {
            let (round, most) = (self.discussion.round, self.discussion.max_rounds);
            head.push_str(&format!(" · round {round} of {most}"));
        }
        head.push_str(&format!(" · {}", duration(elapsed)));
        if now.thinking {
            head.push_str(" · thinking");
        }
        if self.discussion.status == Status::Pausing {
            head.push_str(" · pausing after this turn");
        }
        let ink = self.paper.ink;
        let width = terminal::width();
        let mut lines: Vec<String> =
            render::wrapped(&head, width).iter().map(|line| ink.cyan(line)).collect();
        if let Some(held_up) = &now.held_up {
            lines.extend(render::wrapped(held_up, width).iter().map(|line| ink.yellow(line)));
        }
        if matches!(kind, Some(StepKind::Turn | StepKind::Synthesis)) && !now.text.is_empty() {
            let text = terminal::tail(&now.text, limits::LIVE_BYTES);
            let text = render::wrapped(clean(text).trim(), width);
            let room = usize::from(terminal::height().saturating_sub(ROWS_LEFT));
            let room = room.saturating_sub(lines.len() + 1);
            // The end is what is new.
            lines.push(String::new());
            lines.extend(text.into_iter().rev().take(room).rev());
        }
        self.block.draw(&lines);
    }

    /// The first Ctrl-C lets the step under way end, the second one does not.
    async fn break_off(&mut self) -> Result<(), ApiError> {
        let command = if self.pausing { "stop" } else { "pause" };
        self.pausing = true;
        let done = self.way.post::<Value>(&format!("{}/{command}", self.path), &json!({})).await;
        match done {
            // It came to rest in the same moment, or others paused it.
            Err(error) if error.code == "not-now" => {}
            other => drop(other?),
        }
        self.refresh().await?;
        if command == "pause" && self.discussion.status == Status::Pausing {
            self.block.clear();
            terminal::note("Pausing after this turn; press Ctrl-C again to stop now.\n");
        }
        Ok(())
    }

    /// When a person is awaited, asks here, or says how they can reply.
    fn ask_person(&mut self) {
        let Some(step) = self.discussion.awaited() else {
            self.prompt = None;
            return;
        };
        let call = step.call_id.clone();
        if self.prompt.as_ref().is_some_and(|(asked, _)| *asked == call) {
            return;
        }
        let prompt = Prompt::of(step.kind);
        let here = self.input.is_there();
        let words = prompt.words(&self.discussion, step, here);
        self.prompt = Some((call, prompt));
        self.block.clear();
        terminal::note(&words);
        if here {
            self.input.forget();
            terminal::prompt("> ");
        }
    }

    async fn hear(&mut self, heard: Heard) -> Result<(), ApiError> {
        let line = match heard {
            Heard::Line(line) => line,
            Heard::End => {
                // Others may still reply for the person.
                self.prompt = None;
                self.ask_person();
                return Ok(());
            }
        };
        let Some((call, prompt)) = self.prompt.take() else { return Ok(()) };
        let (next, command) = prompt.take_in(line, &self.discussion);
        self.prompt = Some((call, next));
        if let Some((route, body)) = command {
            match self.way.post::<Value>(&format!("{}/{route}", self.path), &body).await {
                Ok(_) => return self.refresh().await,
                Err(error) if error.code == "unreachable" => return Err(error),
                Err(error) => terminal::note(&clean(&error.message)),
            }
        }
        terminal::prompt("> ");
        Ok(())
    }
}

impl UnderWay {
    /// A `delta`, `reasoning`, `waiting` or `retrying` frame; gives what holds the
    /// step up, when that is news.
    fn frame(&mut self, name: &str, data: &Value) -> Option<String> {
        match name {
            "delta" => {
                let offset = data["offset"].as_u64().unwrap_or(0) as usize;
                // The view may be ahead of the frames; both say the same.
                if offset <= self.text.len() && self.text.is_char_boundary(offset) {
                    self.text.truncate(offset);
                    self.text.push_str(data["text"].as_str().unwrap_or_default());
                }
                (self.held_up, self.thinking) = (None, false);
            }
            "reasoning" => self.thinking = self.text.is_empty(),
            "waiting" => {
                let place = data["place"].as_u64().unwrap_or(0);
                self.held_up = Some(format!("The model is busy: number {place} in line."));
            }
            "retrying" => {
                let message = clean(data["message"].as_str().unwrap_or_default());
                let wait = duration(data["waitMs"].as_u64().unwrap_or(0));
                self.held_up = Some(format!("{message} Retrying in {wait}."));
                return self.held_up.clone();
            }
            _ => {}
        }
        None
    }
}

impl Show {
    /// `quiet`: standard output is for JSON or Markdown alone.
    pub fn of(quiet: bool) -> Show {
        let (out, err) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        match (quiet, err) {
            // Where the document goes elsewhere, the terminal is free for the timeline.
            (true, true) if out => Show::Nothing,
            (true, false) => Show::Nothing,
            (_, true) if terminal::redraws(&std::io::stderr()) => Show::Live,
            (_, true) | (false, false) => Show::Plain,
        }
    }
}
