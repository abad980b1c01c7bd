//! What comes of calls.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::calls::What;
use super::event::{Event, How};
use super::{Listening, State};
use crate::call::Outcome;
use crate::form::{Form, Ruling};
use crate::ids::{CallId, SessionId};
use crate::limits;
use crate::reject::Reject;
use crate::workflow::cron::{self, Cron};
use crate::workflow::gives::Ended;
use crate::workflow::{self, CLOCK, End, Missed, Overlap, Signal, matches};

impl State {
    pub(super) fn settled(&self, call: &CallId, outcome: Outcome, at: Timestamp) -> Ruling<Event> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call);
        match wanted.ok_or(Reject::Stale)?.what {
            What::Tick(due_at) => {
                elapsed(&outcome)?;
                Ok(self.ticks(due_at, at))
            }
            What::Listen => {
                elapsed(&outcome)?;
                Ok(vec![Event::ListenAgain { at }])
            }
            What::Await(since) => Ok(match ended(outcome)? {
                Ok(value) => self.came(&value, since, at),
                Err(why) => vec![self.deaf(why, at)],
            }),
            What::Open(number) => {
                let opened = ended(outcome)?.and_then(|value| session(&value));
                Ok(vec![match opened {
                    Ok(run) => Event::Opened { number, run, at },
                    Err(why) => Event::StartFailed { number, why, at },
                }])
            }
            What::Watch(number, run) => {
                let watched = ended(outcome)?.and_then(status);
                let (status, reason) = watched.unwrap_or_else(|reason| (End::Failed, reason));
                Ok(vec![Event::RunEnded { number, run, status, reason, at }])
            }
            // Whether it could be ended or not, it was tried.
            What::Stop(number, _) => {
                let _brought = ended(outcome)?;
                Ok(vec![Event::StopTried { number, at }])
            }
        }
    }

    /// A time has come, perhaps long ago, and perhaps others after it.
    fn ticks(&self, due_at: Timestamp, now: Timestamp) -> Vec<Event> {
        let ticking = self.triggers().and_then(|triggers| triggers.cron.as_ref());
        let Some(ticking) = ticking else { return vec![] };
        let last = match (Cron::read(&ticking.cron), cron::zone(&ticking.zone)) {
            (Ok(cron), Some(zone)) if now > due_at => cron.latest(&zone, due_at, now),
            (Ok(_) | Err(_), Some(_) | None) => due_at,
        };
        let grace = SignedDuration::from_millis(limits::CRON_GRACE_MS as i64);
        let is_kept = now.duration_since(last) <= grace;
        let (begins, until) = match (is_kept, ticking.missed) {
            (true, Missed::Skip | Missed::Latest) | (false, Missed::Latest) => (true, last),
            (false, Missed::Skip) => (false, now),
        };
        let mut events = vec![];
        if due_at < until {
            events.push(Event::Missed { from: due_at, until, at: now });
        }
        if begins {
            let how = How::Cron { due_at: last };
            events.extend(self.trigger(how, CLOCK, &Map::new(), ticking.overlap, now));
        }
        events
    }

    /// Signals have come. Each is taken in its turn, on what those before it have done.
    fn came(&self, value: &Value, since: Timestamp, at: Timestamp) -> Vec<Event> {
        let Some(Listening { matching, .. }) =
            self.triggers().and_then(|triggers| triggers.signal.as_ref())
        else {
            return vec![];
        };
        let came = value.as_array().into_iter().flatten().filter_map(Value::as_object);
        let came = came.filter(|signal| matches(matching, signal)).map(|signal| {
            let number = signal.get(workflow::NUMBER).and_then(Value::as_u64);
            (sent_at(signal), number, signal)
        });
        let is_new = |sent_at: Option<Timestamp>| sent_at.is_none_or(|sent_at| sent_at >= since);
        let mut came: Vec<_> = came.filter(|(sent_at, _, _)| is_new(*sent_at)).collect();
        came.sort_by_key(|(sent_at, number, _)| (*sent_at, *number));
        let (mut after, mut events) = (self.clone(), vec![]);
        for (sent_at, number, signal) in came {
            // What is so from then on starts one run; what does not fit comes again.
            if after.is_full() || after.is_deaf() {
                break;
            }
            let sender = signal.get(workflow::BY).and_then(Value::as_str).unwrap_or("a signal");
            let how = How::Signal { number, sent_at };
            let taken = after.trigger(how, sender, signal, Overlap::Skip, at);
            taken.iter().for_each(|event| after.take(event, at));
            events.extend(taken);
        }
        match events.is_empty() {
            true => vec![self.deaf("nothing came that is new".into(), at)],
            false => events,
        }
    }

    fn is_deaf(&self) -> bool {
        let listening = self.triggers().and_then(|triggers| triggers.signal.as_ref());
        listening.is_none_or(|listening| listening.since.is_none())
    }

    /// Whoever listens in vain must not do so all the time.
    fn deaf(&self, why: String, at: Timestamp) -> Event {
        let listening = self.triggers().and_then(|triggers| triggers.signal.as_ref());
        let failed = listening.map_or(0, |listening| listening.failed);
        let longer = 1_u64.checked_shl(failed).unwrap_or(u64::MAX);
        let ms = limits::LISTEN_PAUSE_MS.saturating_mul(longer).min(limits::LISTEN_PAUSE_MOST_MS);
        let again_at = at.checked_add(SignedDuration::from_millis(ms as i64)).unwrap_or(at);
        Event::ListenFailed { why, again_at, at }
    }
}

fn sent_at(signal: &Signal) -> Option<Timestamp> {
    signal.get(workflow::AT)?.as_str()?.parse().ok()
}

fn elapsed(outcome: &Outcome) -> Result<(), Reject> {
    match outcome {
        Outcome::Elapsed => Ok(()),
        Outcome::Answered(_)
        | Outcome::Failed { .. }
        | Outcome::Stopped { .. }
        | Outcome::Brought(_) => Err(Reject::Stale),
    }
}

/// What an errand brought, or why it failed.
fn ended(outcome: Outcome) -> Result<Result<Value, String>, Reject> {
    match outcome {
        Outcome::Brought(value) => Ok(Ok(value)),
        Outcome::Failed { failure, .. } => Ok(Err(failure.message)),
        Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Elapsed => Err(Reject::Stale),
    }
}

fn session(value: &Value) -> Result<SessionId, String> {
    let id = value.get("id").and_then(Value::as_str);
    id.and_then(|id| id.parse().ok()).ok_or_else(|| "a run was opened that has no id".into())
}

/// How a run ended, and why it was not done.
fn status(value: Value) -> Result<(End, String), String> {
    let Ended { status, given, .. } = Ended::read(value)?;
    let status = serde_json::from_value(Value::String(status));
    let status = status.map_err(|_| "how it ended is not known".to_owned())?;
    Ok((status, given.err().unwrap_or_default()))
}
