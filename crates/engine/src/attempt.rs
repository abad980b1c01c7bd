//! Asking a model: each request is recorded before it is sent, its pieces go to
//! live readers, and it ends in an answer or a typed failure, always bounded.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use plenary_domain::{
    Answer, Ask, CallId, Failed, Failure, FailureKind, Outcome, Patience, SessionId, Taken, Timing,
    Usage, limits, thinking,
};

use crate::engine::Engine;
use crate::gather::Gathered;
use crate::live::{Retrying, Spent, Waiting};
use crate::meter::{Counted, Meter};
use crate::ports::{AttemptEnd, AttemptState, Ending, ModelError, Piece, StoreError};
use crate::session::Session as Room;
use crate::trace::Traced;

pub(crate) struct Asking<'a> {
    pub engine: &'a Arc<Engine>,
    pub room: &'a Arc<Room>,
    pub id: SessionId,
    pub epoch: u64,
    /// Nobody may know that it is asked: it is neither traced nor counted.
    pub is_secret: bool,
}

impl Asking<'_> {
    /// The same as `requests`, and a span of the session's trace.
    pub async fn run(
        &self,
        call: &CallId,
        ask: Ask,
        before: &mut Before,
    ) -> Result<(Outcome, Option<AttemptEnd>), StoreError> {
        let traced = match self.is_secret {
            true => None,
            false => Traced::begin(self.engine, self.id, call, &ask.model),
        };
        let ended = self.requests(call, ask, before).await;
        if let (Some(traced), Ok((outcome, _))) = (traced, &ended) {
            traced.end(outcome);
        }
        ended
    }

    /// Asks until there is an answer, a failure that will not pass, or no more
    /// attempts. `before` is what is known of the attempts so far; it is kept where the
    /// store fails, and this is called again.
    async fn requests(
        &self,
        call: &CallId,
        ask: Ask,
        before: &mut Before,
    ) -> Result<(Outcome, Option<AttemptEnd>), StoreError> {
        let uncounted = Meter::default();
        let meter = if self.is_secret { &uncounted } else { &self.engine.meter };
        let _running = Counted::new(&meter.calls_running);
        let started = self.engine.clock.ticks();
        for tried in 1.. {
            let (number, earlier) = self.begin(call, before).await?;
            meter.attempts.fetch_add(1, Relaxed);
            self.room.live.begin(call, number, self.is_secret);
            let spent = Spent { earlier, ..Spent::default() };
            self.room.live.spend(call, spent);
            let mut heard = Heard { spent, ..Heard::default() };
            let result = self.listen(call, number, &ask, started, &mut heard).await;
            let used = heard.spent.attempt;
            let end = |state| AttemptEnd { call: call.clone(), number, state, usage: used };
            let error = match result {
                Ok(ending) => {
                    let answer = self.answer(call, tried, started, &heard, ending);
                    let (outcome, state) = match answer.worded() {
                        Ok(answer) => (Outcome::Answered(answer), AttemptState::Done),
                        Err(Failed { failure, partial }) => {
                            meter.failed(failure.kind);
                            (Outcome::Failed { failure, partial }, AttemptState::Failed)
                        }
                    };
                    return Ok((outcome, Some(end(state))));
                }
                Err(Broken::Fenced) => return Err(StoreError::Fenced),
                Err(Broken::Model(error)) => error,
            };
            let (kind, message, wait) = match error {
                ModelError::Final { kind, message } => (kind, message, None),
                ModelError::Retry { kind, message, after } => {
                    (kind, message, pause(tried, after, self.engine.clock.chance()))
                }
            };
            let brought = self.room.live.text(call).len();
            let pause_ms = wait.map_or(0, |wait| wait.as_millis() as u64);
            let ms = self.engine.clock.ticks() - started + pause_ms;
            let taken = Taken { usage: heard.spent.all(), requests: number, brought, ms };
            let (wait, message) = match wait.filter(|_| tried < ask.patience.attempts) {
                Some(wait) if self.again(call, &ask, taken).await => (Some(wait), message),
                Some(_) => (None, format!("{message} The budget does not cover another attempt.")),
                None => (None, message),
            };
            match wait {
                Some(wait) => {
                    self.room.live.retrying(Retrying {
                        call: call.clone(),
                        attempt: number,
                        wait_ms: wait.as_millis() as u64,
                        message,
                    });
                    before.ended = Some(end(AttemptState::Failed));
                    before.spent = Some(heard.spent.all());
                    self.engine.clock.sleep(wait).await;
                }
                None => {
                    meter.failed(kind);
                    let partial = self.room.live.text(call);
                    let usage = heard.spent.all();
                    let failure = Failure { kind, message, attempts: tried, usage };
                    let outcome = Outcome::Failed { failure, partial };
                    return Ok((outcome, Some(end(AttemptState::Failed))));
                }
            }
        }
        Err(StoreError::Failed("a call ran out of attempts without an outcome".into()))
    }

    /// Whether the session's budget, if it has one, has room for another request.
    async fn again(&self, call: &CallId, ask: &Ask, taken: Taken) -> bool {
        let mut held = self.engine.hold(self.id).await;
        held.reserve_again(call, ask, taken)
    }

    /// Records an attempt; its number, and what those before it took. A process that
    /// has ended may have made some.
    async fn begin(&self, call: &CallId, before: &mut Before) -> Result<(u32, Usage), StoreError> {
        let store = &self.engine.store;
        let ended = before.ended.clone();
        let number = store.begin_attempt(self.id, self.epoch, call, ended).await?;
        let spent = match before.spent {
            Some(spent) => spent,
            None if number == 1 => Usage::default(),
            None => {
                let rows = store.attempts(self.id).await?;
                let earlier = rows.iter().filter(|row| row.call == *call && row.number < number);
                earlier.fold(Usage::default(), |sum, row| sum.plus(row.usage))
            }
        };
        *before = Before { ended: None, spent: Some(spent) };
        Ok((number, spent))
    }

    fn answer(
        &self,
        call: &CallId,
        tried: u32,
        started: u64,
        heard: &Heard,
        ending: Ending,
    ) -> Answer {
        Answer {
            text: self.room.live.text(call),
            reasoning: self.room.live.reasoning(call),
            cut: ending == Ending::Cut,
            usage: heard.spent.all(),
            timing: Timing {
                first_text_ms: heard.first_text_ms,
                latency_ms: self.engine.clock.ticks() - started,
            },
            attempts: tried,
        }
    }

    /// One request. Its text is laid down where live readers take it.
    async fn listen(
        &self,
        call: &CallId,
        number: u32,
        ask: &Ask,
        started: u64,
        heard: &mut Heard,
    ) -> Result<Ending, Broken> {
        let clock = &self.engine.clock;
        let request_id = format!("{}/{call}/{number}", self.id);
        let pieces = self.engine.models.ask(ask.clone(), request_id);
        let mut pieces = Gathered::new(self.engine, self.id, pieces);
        let mut watchdog = Watchdog::new(self.engine, ask.patience, started);
        let mut draft: Option<BoxFuture<'static, Result<(), StoreError>>> = None;
        loop {
            let piece = tokio::select! {
                biased;
                piece = pieces.next() => piece,
                saved = when(&mut draft) => match saved {
                    // Nobody pays for an answer that cannot be kept.
                    Err(StoreError::Fenced) => return Err(Broken::Fenced),
                    Ok(()) | Err(_) => {
                        draft = None;
                        continue;
                    }
                },
                error = watchdog.barks() => return Err(error.into()),
            };
            let (text, reasoning) = match piece {
                Some(Ok(Piece::Text(text))) => (text, false),
                Some(Ok(Piece::Reasoning(text))) => (text, true),
                Some(Ok(Piece::Usage(usage))) => {
                    heard.spent.attempt = heard.spent.attempt.then(usage);
                    self.room.live.spend(call, heard.spent);
                    continue;
                }
                Some(Ok(Piece::Waiting { place })) => {
                    // Standing in line is no silence of the model's.
                    watchdog = Watchdog::new(self.engine, ask.patience, started);
                    let (call, attempt) = (call.clone(), number);
                    self.room.live.waiting(Waiting { call, attempt, place });
                    continue;
                }
                Some(Ok(Piece::Retrying { reason, wait })) => {
                    watchdog.patient(wait);
                    self.room.live.retrying(Retrying {
                        call: call.clone(),
                        attempt: number,
                        wait_ms: wait.as_millis() as u64,
                        message: reason,
                    });
                    continue;
                }
                Some(Ok(Piece::Busy)) => {
                    watchdog.patient(Duration::ZERO);
                    continue;
                }
                Some(Ok(Piece::End(ending))) => return Ok(ending),
                Some(Err(error)) => return Err(error.into()),
                None => return Err(cut().into()),
            };
            let now = clock.ticks();
            watchdog.heard(now);
            let live = &self.room.live;
            if reasoning {
                live.push(call, heard.think(&text), true);
                continue;
            }
            heard.first_text_ms.get_or_insert(now - started);
            let kept = heard.say(&text, ask.patience, || live.text(call));
            live.push(call, kept, false);
            if kept.len() < text.len() {
                return Ok(Ending::Cut);
            }
            draft.get_or_insert_with(|| self.save_draft(call));
        }
    }

    /// Saves the partial text in a while, beside the stream: a slow disk must not hold
    /// up tokens. It is no task of its own, so that it ends with its call: a save that
    /// came after the outcome would stay for ever.
    fn save_draft(&self, call: &CallId) -> BoxFuture<'static, Result<(), StoreError>> {
        let wait = self.engine.clock.sleep(Duration::from_millis(limits::DRAFT_MS));
        let (store, room) = (self.engine.store.clone(), self.room.clone());
        let (id, epoch, call) = (self.id, self.epoch, call.clone());
        Box::pin(async move {
            wait.await;
            let text = room.live.text(&call);
            let saved = store.save_draft(id, epoch, &call, &text).await;
            if let Err(error) = &saved {
                tracing::warn!(session = %id, %call, %error, "a draft could not be saved");
            }
            saved
        })
    }
}

/// What is known of a call's earlier attempts.
#[derive(Default)]
pub(crate) struct Before {
    /// How the last one ended, until that is recorded with the next.
    ended: Option<AttemptEnd>,
    /// What all of them took; `None` until the first one of this process.
    spent: Option<Usage>,
}

/// Why a request ended without an answer.
enum Broken {
    Model(ModelError),
    /// Another node has the session.
    Fenced,
}

impl From<ModelError> for Broken {
    fn from(error: ModelError) -> Self {
        Broken::Model(error)
    }
}

/// Waits for what is under way, if anything is, else for ever.
async fn when<T>(under_way: &mut Option<BoxFuture<'static, T>>) -> T {
    match under_way {
        Some(under_way) => under_way.await,
        None => std::future::pending().await,
    }
}

/// What one request has brought so far.
#[derive(Default)]
struct Heard {
    bytes: usize,
    /// Bytes of the text that are known to be thinking aloud, and no answer.
    thought_aloud: usize,
    /// Bytes of thinking that came apart from the text.
    thought: usize,
    first_text_ms: Option<u64>,
    spent: Spent,
}

impl Heard {
    /// What is kept of a piece of thinking. What is beyond the limit is left out, and
    /// the model goes on: an answer may still come.
    fn think<'a>(&mut self, text: &'a str) -> &'a str {
        let kept = up_to(text, limits::THINKING_BYTES - self.thought);
        self.thought += kept.len();
        kept
    }

    /// What is kept of a piece of the answer: all of it, unless the answer reaches its
    /// limit there. `before` is the text so far, which is looked at only where thinking
    /// aloud may stand in it: once for each time that an answer's limit is filled.
    fn say<'a>(
        &mut self,
        text: &'a str,
        patience: Patience,
        before: impl FnOnce() -> String,
    ) -> &'a str {
        let most = |thought_aloud: usize| {
            patience.answer_bytes.saturating_add(thought_aloud.min(limits::THINKING_BYTES))
        };
        self.bytes += text.len();
        if self.bytes > most(self.thought_aloud) {
            let all = before() + text;
            let said = thinking::before_prose(&all).1.len();
            self.thought_aloud = all.len() - said;
        }
        up_to(
            text,
            text.len() - self.bytes.saturating_sub(most(self.thought_aloud)).min(text.len()),
        )
    }
}

fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn cut() -> ModelError {
    ModelError::Retry {
        kind: FailureKind::Unreachable,
        message: "The answer broke off in the middle.".into(),
        after: None,
    }
}

/// The provider's own wish, or a pause that doubles, with jitter so that many
/// calls do not come back in the same moment. `None`: it wishes for too much.
fn pause(tried: u32, asked_for: Option<Duration>, chance: u128) -> Option<Duration> {
    let base = limits::RETRY_PAUSE_MS << (tried - 1).min(6);
    let jitter = Duration::from_millis((chance >> 64) as u64 % (base / 2 + 1));
    let wait = asked_for.unwrap_or(Duration::from_millis(base));
    (wait <= Duration::from_millis(limits::RETRY_AFTER_MS)).then_some(wait + jitter)
}

/// Watches the limits on time: to the first piece, between pieces, of the whole answer,
/// and of what is left to the seat, for all requests of the call. One sleep at a time; only the first piece moves it, because
/// the time to the next one is shorter.
struct Watchdog<'a> {
    engine: &'a Arc<Engine>,
    patience: Patience,
    began: u64,
    /// When the seat has no more time.
    seat_ends: Option<u64>,
    /// Since when the first piece is waited for.
    waits_from: u64,
    last: Option<u64>,
    /// The sleep that is under way, and when it ends.
    sleep: Option<(u64, BoxFuture<'static, ()>)>,
}

impl<'a> Watchdog<'a> {
    fn new(engine: &'a Arc<Engine>, patience: Patience, started: u64) -> Self {
        let began = engine.clock.ticks();
        let seat_ends = patience.seat_ms.map(|ms| started.saturating_add(ms));
        let (waits_from, last, sleep) = (began, None, None);
        Watchdog { engine, patience, began, seat_ends, waits_from, last, sleep }
    }

    fn heard(&mut self, now: u64) {
        self.last = Some(now);
    }

    /// A sign of life, or the news that there will be none for a while. The time of
    /// the whole answer goes on.
    fn patient(&mut self, wait: Duration) {
        let wait = wait.min(Duration::from_millis(limits::RETRY_AFTER_MS));
        let from = self.engine.clock.ticks() + wait.as_millis() as u64;
        match &mut self.last {
            Some(last) => *last = from,
            None => self.waits_from = from,
        }
    }

    async fn barks(&mut self) -> ModelError {
        loop {
            let now = self.engine.clock.ticks();
            let whole = self.began + self.patience.answer_ms;
            let silence = match self.last {
                None => self.waits_from + self.patience.first_piece_ms,
                Some(last) => last + self.patience.idle_ms,
            };
            let seat_ends = self.seat_ends.unwrap_or(u64::MAX);
            if now >= seat_ends {
                return self.out_of_time();
            }
            if now >= whole {
                return self.timed_out();
            }
            if now >= silence {
                return self.silent();
            }
            let until = whole.min(silence).min(seat_ends);
            let sleep = match &mut self.sleep {
                Some((ends, sleep)) if *ends <= until => sleep,
                _ => {
                    let wait = Duration::from_millis(until - now);
                    &mut self.sleep.insert((until, self.engine.clock.sleep(wait))).1
                }
            };
            sleep.await;
            self.sleep = None;
        }
    }

    fn out_of_time(&self) -> ModelError {
        let message = "This seat's time budget ran out before its answer.";
        ModelError::Final { kind: FailureKind::TimedOut, message: message.to_owned() }
    }

    fn timed_out(&self) -> ModelError {
        let seconds = self.patience.answer_ms / 1000;
        let message = format!("The answer was not finished after {seconds} s.");
        ModelError::Final { kind: FailureKind::TimedOut, message }
    }

    fn silent(&self) -> ModelError {
        let message = match self.last {
            None => {
                let seconds = self.patience.first_piece_ms / 1000;
                format!("There was no response for {seconds} s.")
            }
            Some(_) => {
                let seconds = self.patience.idle_ms / 1000;
                format!("The answer stopped, and nothing more arrived for {seconds} s.")
            }
        };
        ModelError::Final { kind: FailureKind::Idle, message }
    }
}
