//! A round of a board, told as a model's answer: what the advisors say is its thinking,
//! one of them after the other, and the verdict is its content.

use std::collections::VecDeque;
use std::pin::Pin;

use futures::{Stream, StreamExt};
use plenary_clerk::conversations::{self, Taken, Words};
use plenary_domain::boardroom::{
    Advisor, SeatId, Sitter, Stage, Standing, State, Synthesis, SynthesisStanding,
};
use plenary_domain::{CallId, Failure, FailureKind, SessionId, Speaker, Usage};
use plenary_engine::{Delta, Frame, Snapshot};

use super::problem::Fault;
use crate::App;
use crate::error::Problem;

/// What stands between words that could not be taken back and those that count.
const ANEW: &str = "\n\n---\n\n";

#[derive(Debug)]
pub enum Piece {
    /// What one of them says, in this part of the thinking.
    Thought {
        part: usize,
        text: String,
    },
    Content(String),
    End(Result<Ended, Fault>),
}

/// A round that has come to its verdict.
#[derive(Clone, Debug)]
pub struct Ended {
    /// All that was told as thinking, by its parts, and all that was told as content.
    pub thoughts: Vec<String>,
    pub content: String,
    /// The verdict reached a limit on its length.
    pub cut: bool,
    /// Of all calls of the round.
    pub usage: Usage,
}

pub struct Relay {
    pub id: SessionId,
    pub round: u32,
    app: App,
    frames: Pin<Box<dyn Stream<Item = Frame> + Send>>,
    snapshot: Snapshot,
    before: Usage,
    /// The model and the words that it was asked with.
    asked: (String, Vec<Words>),
    voices: Vec<Voice>,
    /// Whose words are being told.
    floor: Option<usize>,
    verdict: Draft,
    thoughts: Vec<String>,
    ready: VecDeque<Piece>,
    is_over: bool,
    guard: Guard,
}

/// An advisor in this round.
struct Voice {
    seat: SeatId,
    name: String,
    call: CallId,
    text: String,
    /// Bytes of it that have been told.
    told: usize,
    is_done: bool,
    /// All of it has been told.
    is_through: bool,
}

/// What is being written as the verdict.
#[derive(Default)]
struct Draft {
    call: Option<CallId>,
    text: String,
    sent: String,
}

/// Stops the round when whoever asked goes away before it has ended.
struct Guard {
    app: App,
    id: SessionId,
    round: u32,
    actor: String,
    is_armed: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        let (app, actor) = (self.app.clone(), std::mem::take(&mut self.actor));
        let (id, round) = (self.id, self.round);
        tokio::spawn(async move {
            if let Err(error) = conversations::stop(&app.clerk, id, round, &actor).await {
                tracing::debug!(session = %id, ?error, "nothing was left to stop");
            }
        });
    }
}

impl Relay {
    pub async fn follow(
        app: App,
        actor: String,
        taken: Taken,
        asked: (String, Vec<Words>),
    ) -> Result<Relay, Problem> {
        let Taken { snapshot, round, began, before } = taken;
        let id = snapshot.id;
        // From here on it is stopped if its caller has gone.
        let guard = Guard { app: app.clone(), id, round, actor, is_armed: began };
        let frames = Box::pin(app.engine.watch(id, snapshot.version).await?);
        let mut relay = Relay {
            id,
            round,
            app,
            frames,
            snapshot,
            before,
            asked,
            voices: vec![],
            floor: None,
            verdict: Draft::default(),
            thoughts: vec![],
            ready: VecDeque::new(),
            is_over: false,
            guard,
        };
        relay.convened();
        relay.look().await;
        Ok(relay)
    }

    /// The next piece; `None` after the end.
    pub async fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Some(piece);
            }
            if self.is_over {
                return None;
            }
            match self.frames.next().await {
                Some(Frame::Event(_)) => {
                    match self.app.engine.get(self.id).await {
                        Ok(snapshot) => self.snapshot = snapshot,
                        Err(_) => self.end(Err(Fault::lost())),
                    }
                    self.look().await;
                }
                Some(Frame::Delta(delta)) => self.hear(&delta),
                Some(Frame::Retrying(_) | Frame::Waiting(_)) => {}
                Some(Frame::Removed) | None => self.end(Err(Fault::lost())),
            }
        }
    }

    /// All of it, by whoever does not want to read along.
    pub async fn ended(mut self) -> Result<Ended, Fault> {
        while let Some(piece) = self.next().await {
            if let Piece::End(ended) = piece {
                return ended;
            }
        }
        Err(Fault::lost())
    }

    fn state(&self) -> Option<&State> {
        self.snapshot.room.boardroom()
    }

    fn is_sole(&self) -> bool {
        self.state().is_some_and(|state| state.brief(self.round).sole)
    }

    /// The first piece: who has been asked.
    fn convened(&mut self) {
        let Some(state) = self.snapshot.room.boardroom() else { return };
        let voice = |advisor: &Advisor| Voice {
            seat: advisor.seat.id,
            name: match &advisor.seat.sitter {
                Sitter::Model(model) => format!("{} ({})", state.label(advisor.seat.id), model.0),
                Sitter::Person { name, .. } => format!("{name} ({})", state.label(advisor.seat.id)),
            },
            call: advisor.call_id(),
            text: String::new(),
            told: 0,
            is_done: false,
            is_through: false,
        };
        self.voices = state.asked_now().map(voice).collect();
        if !self.is_sole() {
            let names: Vec<&str> = self.voices.iter().map(|voice| voice.name.as_str()).collect();
            let text = format!("Asking the board: {}.", names.join(", "));
            self.begin_thought(text);
        }
    }

    fn begin_thought(&mut self, text: String) {
        self.thoughts.push(String::new());
        self.think(text);
    }

    fn think(&mut self, text: String) {
        let Some(last) = self.thoughts.last_mut().filter(|_| !text.is_empty()) else { return };
        last.push_str(&text);
        self.ready.push_back(Piece::Thought { part: self.thoughts.len() - 1, text });
    }

    /// A piece of somebody's words.
    fn hear(&mut self, delta: &Delta) {
        let is_sole = self.is_sole();
        let speaks = self.voices.iter().position(|voice| voice.call == delta.call);
        match speaks {
            Some(_) if is_sole && delta.reasoning => {
                if self.thoughts.is_empty() {
                    self.thoughts.push(String::new());
                }
                self.think(delta.text.clone());
            }
            Some(place) if !is_sole && !delta.reasoning => {
                self.voices[place].hear(delta);
                self.tell();
            }
            Some(_) if is_sole => self.write(delta),
            None if !delta.reasoning && self.is_verdict(&delta.call) => self.write(delta),
            Some(_) | None => {}
        }
    }

    fn is_verdict(&self, call: &CallId) -> bool {
        let last = self.state().and_then(|state| state.syntheses.last());
        last.is_some_and(|last| last.round == self.round && last.call_id() == *call)
    }

    /// Words of the verdict. What follows a schema is told when it has been checked.
    fn write(&mut self, delta: &Delta) {
        let (is_sole, round) = (self.is_sole(), self.round);
        self.verdict.hear(delta);
        if self.state().is_none_or(|state| state.brief(round).schema.is_some()) {
            return;
        }
        let more = self.verdict.more(is_sole);
        self.say(more);
    }

    fn say(&mut self, text: String) {
        if !text.is_empty() {
            self.verdict.sent.push_str(&text);
            self.ready.push_back(Piece::Content(text));
        }
    }

    /// Tells what has been said, by one after the other: who has begun comes to an end
    /// first, then whoever has ended meanwhile, then whoever has begun.
    fn tell(&mut self) {
        loop {
            let next = || {
                let waits = |done: bool| {
                    self.voices.iter().position(|voice| {
                        !voice.is_through && voice.is_done >= done && !voice.text.is_empty()
                    })
                };
                waits(true).or_else(|| waits(false))
            };
            let Some(place) = self.floor.or_else(next) else { return };
            if self.floor.is_none() {
                self.floor = Some(place);
                let name = self.voices[place].name.clone();
                self.begin_thought(format!("**{name}**\n\n"));
            }
            let voice = &mut self.voices[place];
            let text = voice.text.get(voice.told..).unwrap_or_default().to_owned();
            voice.told = voice.text.len();
            let is_done = voice.is_done;
            voice.is_through = is_done;
            self.think(text);
            if !is_done {
                return;
            }
            self.floor = None;
        }
    }

    /// How the board stands after an event.
    async fn look(&mut self) {
        let snapshot = self.snapshot.clone();
        let Some(state) = snapshot.room.boardroom().filter(|_| !self.is_over) else { return };
        if !self.is_sole() && state.round() == self.round {
            for advisor in state.asked_now() {
                if let Some(voice) = self.voices.iter_mut().find(|one| one.seat == advisor.seat.id)
                {
                    voice.stand(advisor);
                }
            }
            self.tell();
        }
        let of_round = |one: &&Synthesis| one.round == self.round;
        let written =
            state.syntheses.iter().rev().filter(of_round).find_map(|one| one.standing.done());
        match (&state.stage, written) {
            (Stage::Answering(_) | Stage::Synthesizing, _) if state.round() == self.round => {}
            // It is counted with the votes on it.
            (Stage::Balloting, _) => {}
            (_, Some(written)) => {
                let rest = self.verdict.rest(&written.verdict.text);
                self.say(rest);
                let ended = Ended {
                    thoughts: self.thoughts.clone(),
                    content: self.verdict.sent.clone(),
                    cut: written.answer.cut,
                    usage: less(state.ledger.total(), self.before),
                };
                self.note(&ended.content).await;
                self.end(Ok(ended));
            }
            (Stage::Failed(reason), None) => {
                let (kind, why) = failure(state);
                let message = why.map_or_else(|| reason.clone(), |why| format!("{reason} {why}"));
                self.end(Err(Fault::failed(kind, message)));
            }
            (_, None) => {
                let is_spent = state.ledger.is_time_over()
                    || failures(state).any(|failure| failure.kind == FailureKind::OutOfBudget);
                self.end(Err(match is_spent {
                    true => {
                        let message = "The board's budget ran out before it reached a verdict.";
                        Fault::failed(Some(FailureKind::OutOfBudget), message.to_owned())
                    }
                    false => Fault::stopped(),
                }));
            }
        }
    }

    /// Keeps what the conversation is known by from now on.
    async fn note(&mut self, content: &str) {
        let mut words = self.asked.1.clone();
        words.push((Speaker::Assistant, content.to_owned()));
        let (clerk, actor) = (self.app.clerk.clone(), self.guard.actor.clone());
        let (model, id) = (self.asked.0.clone(), self.id);
        let noted = conversations::answered(&clerk, &actor, (&model, &words), id).await;
        if let Err(error) = noted {
            tracing::warn!(session = %id, ?error, "the conversation will not be known again");
        }
    }

    fn end(&mut self, ended: Result<Ended, Fault>) {
        if !self.is_over {
            self.is_over = true;
            self.guard.is_armed = false;
            self.ready.push_back(Piece::End(ended));
        }
    }
}

impl Voice {
    fn hear(&mut self, delta: &Delta) {
        if self.is_done {
            return;
        }
        if delta.offset == 0 && !self.text.is_empty() {
            // What has been told cannot be taken back.
            self.text.truncate(self.told);
            if self.told > 0 {
                self.text.push_str("\n\n(Asked again.)\n\n");
            }
        }
        self.text.push_str(&delta.text);
    }

    /// How the advisor stands by the log.
    fn stand(&mut self, advisor: &Advisor) {
        if self.call != advisor.call_id() {
            // Somebody has had it asked again.
            self.call = advisor.call_id();
            (self.is_done, self.is_through) = (false, false);
            self.text.truncate(self.told);
        }
        if self.is_done {
            return;
        }
        let end = match &advisor.standing {
            Standing::Asked => return,
            Standing::Done(answer) => match answer.text.strip_prefix(&self.text) {
                Some(rest) => rest.to_owned(),
                // It was put in order, or told in another try; nothing of it has been told.
                None if self.told == 0 => {
                    self.text.clear();
                    answer.text.clone()
                }
                None => String::new(),
            },
            Standing::Failed { failure, .. } => format!("\n\n(No answer: {})", failure.message),
            Standing::Stopped { .. } => "\n\n(Stopped.)".to_owned(),
        };
        self.text.push_str(&end);
        self.is_done = true;
    }
}

impl Draft {
    fn hear(&mut self, delta: &Delta) {
        if delta.offset == 0 || self.call.as_ref() != Some(&delta.call) {
            self.call = Some(delta.call.clone());
            self.text.clear();
        }
        self.text.push_str(&delta.text);
    }

    /// What can be told beyond what was sent. Before the first heading a model thinks
    /// aloud, and at the end may be space that does not stay.
    fn more(&self, is_free: bool) -> String {
        let begin = match is_free {
            true if self.text.trim_start().starts_with('<') => None,
            true => Some(self.text.len() - self.text.trim_start().len()),
            false if self.text.starts_with("## ") => Some(0),
            false => self.text.find("\n## ").map(|at| at + 1),
        };
        let said = begin.map_or("", |begin| self.text[begin..].trim_end());
        said.strip_prefix(&self.sent).unwrap_or_default().to_owned()
    }

    /// What is left of the verdict as it stands in the log.
    fn rest(&self, verdict: &str) -> String {
        match verdict.strip_prefix(&self.sent) {
            Some(rest) => rest.to_owned(),
            None => format!("{ANEW}{verdict}"),
        }
    }
}

/// Why nobody answered, or nobody wrote the verdict.
fn failure(state: &State) -> (Option<FailureKind>, Option<String>) {
    let synthesis = state.syntheses.last().filter(|one| one.round == state.round());
    let of_synthesis = synthesis.and_then(|one| match &one.standing {
        SynthesisStanding::Failed { failure, .. } => Some(failure),
        SynthesisStanding::Asked
        | SynthesisStanding::Done(_)
        | SynthesisStanding::Stopped { .. } => None,
    });
    if let Some(failure) = of_synthesis {
        return (Some(failure.kind), None);
    }
    let mut failures = failures(state);
    let Some(first) = failures.next() else { return (None, None) };
    let is_same = failures.all(|other| other.kind == first.kind);
    (is_same.then_some(first.kind), Some(first.message.clone()))
}

fn failures(state: &State) -> impl Iterator<Item = &Failure> {
    state.asked_now().filter_map(|advisor| match &advisor.standing {
        Standing::Failed { failure, .. } => Some(failure),
        Standing::Asked | Standing::Done(_) | Standing::Stopped { .. } => None,
    })
}

/// What was spent since.
fn less(total: Usage, before: Usage) -> Usage {
    let less = |total: Option<u64>, before: Option<u64>| {
        total.map(|total| total.saturating_sub(before.unwrap_or(0)))
    };
    Usage {
        input_tokens: less(total.input_tokens, before.input_tokens),
        cached_tokens: less(total.cached_tokens, before.cached_tokens),
        output_tokens: less(total.output_tokens, before.output_tokens),
        reasoning_tokens: less(total.reasoning_tokens, before.reasoning_tokens),
        cost_nano_usd: less(total.cost_nano_usd, before.cost_nano_usd),
    }
}
