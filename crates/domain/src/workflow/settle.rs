//! What comes of calls, and what people decide.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::begin::later;
use super::calls::What;
use super::definition::{self, AtDeadline, Kind, OnFailure, Step};
use super::event::{Decision, Doing, Event, Place, Seat};
use super::expression;
use super::gives::Ended;
use super::kinds::Act;
use super::signal::{Signal, is_among, resumes};
use super::size::too_large;
use super::{Attempt, Decided, Running, State, Status};
use crate::call::{Failure, FailureKind, Outcome};
use crate::ids::CallId;
use crate::ledger::Usage;
use crate::limits;
use crate::names;
use crate::reject::{Reject, Wrong, settled};

impl State {
    pub(super) fn settled(
        &self,
        call: &CallId,
        outcome: Outcome,
        at: Timestamp,
    ) -> Result<Vec<Event>, Reject> {
        let Some(wanted) = self.calls().into_iter().find(|wanted| wanted.call.id == *call) else {
            if self.cut.contains_key(call) {
                let (_, usage) = outcome.handed_back();
                return Ok(vec![Event::CutOff { call: call.clone(), usage }]);
            }
            return Err(Reject::Stale);
        };
        match wanted.what {
            What::Ask(place) => self.answered(place, outcome, at),
            What::Look(place) => self.brought(place, outcome, at, |place, value| {
                let seat: Seat =
                    serde_json::from_value(value).map_err(|error| error.to_string())?;
                Ok(vec![Event::SeatFound { place, seat, at }])
            }),
            What::Do(place) => {
                let is_awaited = self.act(&place).is_some_and(|(act, _)| act.is_awaited());
                self.brought(place, outcome, at, |place, output| {
                    if !is_awaited {
                        return Ok(vec![Event::StepDone { place, output, at }]);
                    }
                    let session = output.get("id").and_then(Value::as_str);
                    let session = session.ok_or("a session was opened that has no id")?.to_owned();
                    Ok(vec![Event::SessionOpened { place, session, at }])
                })
            }
            What::Watch(place) => {
                let session = match self.attempt(&place) {
                    Some(Attempt::Watching { session }) => session.clone(),
                    Some(_) | None => return Err(Reject::Stale),
                };
                self.brought(place, outcome, at, |place, value| {
                    let Ended { took, given, .. } = Ended::read(value)?;
                    let spent = took.map(|took| Event::SessionSpent { session, took });
                    let ended = match given {
                        Ok(output) => Event::StepDone { place, output, at },
                        Err(why) => self.attempt_failed(place, failed(why), at),
                    };
                    Ok(spent.into_iter().chain([ended]).collect())
                })
            }
            What::Await(place) => self.came(place, outcome, at),
            What::Stop(session) => match outcome {
                // Whether it could be ended or not, it was tried.
                Outcome::Brought(value) => {
                    let took = Ended::read(value).ok().and_then(|ended| ended.took);
                    // What others spend in a room that stays open is their own matter; a
                    // session that a step waits for is the run's, also where the step was
                    // given up before it knew that it had opened one. One that has failed
                    // by itself has told it already.
                    let is_known =
                        self.opened.contains(&session) || self.counted.contains(&session);
                    let took = took.filter(|_| !is_known);
                    let session_spent =
                        took.map(|took| Event::SessionSpent { session: session.clone(), took });
                    let ended = Event::SessionEnded { session, at };
                    Ok(session_spent.into_iter().chain([ended]).collect())
                }
                Outcome::Failed { .. } => Ok(vec![Event::SessionEnded { session, at }]),
                Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Elapsed => {
                    Err(Reject::Stale)
                }
            },
            What::CalledOff(place) => match outcome {
                Outcome::Brought(value) => {
                    let session = value.get("id").and_then(Value::as_str).map(str::to_owned);
                    Ok(vec![match session {
                        Some(session) => Event::SessionOpened { place, session, at },
                        None => Event::NotOpened { place, at },
                    }])
                }
                Outcome::Failed { .. } => Ok(vec![Event::NotOpened { place, at }]),
                Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Elapsed => {
                    Err(Reject::Stale)
                }
            },
            What::Wake(place) => {
                elapsed(&outcome)?;
                let until = self.steps.get(&place).and_then(|step| match step.doing.as_deref() {
                    Some(Doing::Sleep { until }) => Some(until.to_string()),
                    Some(_) | None => None,
                });
                Ok(vec![Event::StepDone { place, output: json!({ "until": until }), at }])
            }
            What::Again(place) => {
                elapsed(&outcome)?;
                Ok(vec![Event::AttemptBegan { place, at }])
            }
            What::TimeOver(place) => {
                elapsed(&outcome)?;
                Ok(self.time_over(place, at))
            }
            What::AttemptLate(place) => {
                elapsed(&outcome)?;
                Ok(vec![self.attempt_failed(place, late("The attempt took too long."), at)])
            }
            What::StepLate(place) => {
                elapsed(&outcome)?;
                let mut events = self.broken_off(&format!("{place}/"), "its time ran out", at);
                let (why, failure) =
                    ("its deadline has passed".into(), Some(late("The deadline has passed.")));
                events.push(Event::StepFailed { place, why, output: Value::Null, failure, at });
                Ok(events)
            }
            What::FinallyLate => {
                elapsed(&outcome)?;
                let mut events = self.broken_off("", "the time for `finally` ran out", at);
                if let super::Stage::Finally { ending, .. } = &self.stage {
                    events.push(Event::Ended { ending: self.after_finally(ending), at });
                }
                Ok(events)
            }
        }
    }

    /// What an errand brought, or how it failed.
    fn brought(
        &self,
        place: Place,
        outcome: Outcome,
        at: Timestamp,
        take: impl FnOnce(Place, Value) -> Result<Vec<Event>, String>,
    ) -> Result<Vec<Event>, Reject> {
        match outcome {
            Outcome::Brought(value) => {
                if let Some(why) = too_large(&value) {
                    return Ok(vec![Event::StepFailed {
                        place,
                        why,
                        output: Value::Null,
                        failure: None,
                        at,
                    }]);
                }
                let taken = take(place.clone(), value);
                Ok(taken.unwrap_or_else(|message| {
                    let kind = FailureKind::Internal;
                    let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
                    vec![self.attempt_failed(place, failure, at)]
                }))
            }
            Outcome::Failed { failure, .. } => Ok(vec![self.attempt_failed(place, failure, at)]),
            Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Elapsed => Err(Reject::Stale),
        }
    }

    fn answered(
        &self,
        place: Place,
        outcome: Outcome,
        at: Timestamp,
    ) -> Result<Vec<Event>, Reject> {
        let ended = outcome.as_prose().ended()?;
        let Some(act) = self.act(&place).map(|(act, _)| act) else { return Err(Reject::Stale) };
        let read = ended.and_then(|answer| answer.worded()).and_then(|answer| {
            let output = self.read_answer(&place, &answer).map_err(|message| {
                crate::call::Failed::of(answer.clone(), FailureKind::Malformed, message)
            })?;
            Ok((answer, output))
        });
        Ok(match read {
            Ok((answer, output)) => {
                let said = Event::Answered { place: place.clone(), answer, at };
                match act == Act::Ask {
                    true => match too_large(&output) {
                        Some(why) => {
                            vec![
                                said,
                                Event::StepFailed {
                                    place,
                                    why,
                                    output: Value::Null,
                                    failure: None,
                                    at,
                                },
                            ]
                        }
                        None => vec![said, Event::StepDone { place, output, at }],
                    },
                    false => vec![said],
                }
            }
            Err(failed) => {
                // An attempt that was made has something to tell, whatever a provider says.
                let attempts = failed.failure.attempts.max(1);
                vec![self.attempt_failed(place, Failure { attempts, ..failed.failure }, at)]
            }
        })
    }

    /// Another attempt, where that can help and there is one left.
    pub(super) fn attempt_failed(&self, place: Place, failure: Failure, at: Timestamp) -> Event {
        let step = self.definition.step(place.id());
        let tries = match self.status_of(&place) {
            Some(Status::Running(Running::Act(acting))) => acting.tries,
            Some(_) | None => u32::MAX,
        };
        match step
            .and_then(|step| step.retry)
            .filter(|retry| tries <= retry.times && can_help(failure.kind))
        {
            Some(retry) => {
                let again_at = later(at, retry.wait_ms);
                Event::AttemptFailed { place, failure, again_at, at }
            }
            None => {
                let why = failure.message.clone();
                Event::StepFailed { place, why, output: Value::Null, failure: Some(failure), at }
            }
        }
    }

    /// What a wait was waiting for has come. Whoever brings it has looked; it is looked at
    /// once more, since a wait that resumes wrongly cannot be taken back.
    fn came(&self, place: Place, outcome: Outcome, at: Timestamp) -> Result<Vec<Event>, Reject> {
        let Some(Doing::Wait { all, signals, .. }) =
            self.steps.get(&place).and_then(|step| step.doing.as_deref())
        else {
            return Err(Reject::Stale);
        };
        match outcome {
            Outcome::Brought(value) => {
                let came = value.as_array().into_iter().flatten().filter_map(Value::as_object);
                let taken = self.taken(&place);
                let came: Vec<Signal> =
                    came.filter(|signal| !is_among(&taken, signal)).cloned().collect();
                let found = resumes(*all, signals, &came).ok_or(Reject::Stale)?;
                let output = json!({ "outcome": "came", "signals": found });
                Ok(vec![match too_large(&output) {
                    Some(why) => {
                        Event::StepFailed { place, why, output: Value::Null, failure: None, at }
                    }
                    None => Event::StepDone { place, output, at },
                }])
            }
            Outcome::Failed { failure, .. } => Ok(vec![self.attempt_failed(place, failure, at)]),
            Outcome::Answered(_) | Outcome::Stopped { .. } | Outcome::Elapsed => Err(Reject::Stale),
        }
    }

    /// That the time is over is an outcome of a wait, and an answer to an approval.
    fn time_over(&self, place: Place, at: Timestamp) -> Vec<Event> {
        match self.steps.get(&place).and_then(|step| step.doing.as_deref()) {
            Some(Doing::Approve { at_deadline, .. }) => {
                let (decision, reason) = match at_deadline {
                    AtDeadline::Reject => (Decision::Rejected, "Nobody decided in time."),
                    AtDeadline::Approve => (Decision::Approved, "Nobody objected in time."),
                };
                let (by, reason, fields) = (CLOCK.to_owned(), reason.to_owned(), Map::new());
                self.decided(&place, Decided { by, decision, reason, fields, at }, true)
            }
            Some(
                Doing::Wait { .. }
                | Doing::Act { .. }
                | Doing::Sleep { .. }
                | Doing::Foreach { .. }
                | Doing::Repeat {},
            )
            | None => {
                let output = json!({ "outcome": "timed_out", "signals": [] });
                vec![Event::StepDone { place, output, at }]
            }
        }
    }

    // -----------------------------------------------------------------------
    // People

    /// A person decides.
    pub(super) fn hear(&self, place: &Place, mut decided: Decided) -> Result<Vec<Event>, Reject> {
        let step = self.definition.step(place.id());
        let (
            Some(Status::Running(Running::Approve { decided: earlier })),
            Some(Kind::Approve(approve)),
        ) = (self.status_of(place), step.map(|step| &step.kind))
        else {
            return Err(match self.steps.contains_key(place) {
                true => self.not_now(&format!("`{place}` is not waiting for anyone.")),
                false => Reject::Unknown(format!(
                    "There is no step `{place}` that is waiting for someone."
                )),
            });
        };
        let who = match self.steps.get(place).and_then(|step| step.doing.as_deref()) {
            Some(Doing::Approve { who, .. }) => who.as_slice(),
            Some(_) | None => &[],
        };
        let is = |name: &str| names::are_same(name, &decided.by);
        if !who.iter().any(|name| is(name)) {
            return Err(Reject::Forbidden(match approve.not_starter && is(&self.starter) {
                true => "You cannot approve the steps of a run you started.".into(),
                false => format!("Only {} can decide this.", who.join(", ")),
            }));
        }
        if earlier.iter().any(|one| is(&one.by)) {
            return Err(self.not_now("You have already decided."));
        }
        let mut wrong = vec![];
        match decided.decision {
            Decision::Rejected | Decision::Changes => {
                decided.fields = Map::new();
                crate::reject::text(&mut wrong, "reason", &decided.reason, limits::REPLY_BYTES);
            }
            Decision::Approved => {
                crate::reject::size(&mut wrong, "reason", &decided.reason, limits::REPLY_BYTES);
                let known = |name: &String| approve.fields.iter().any(|field| field.name == *name);
                for name in decided.fields.keys().filter(|name| !known(name)) {
                    wrong.push(Wrong::new(format!("fields.{name}"), "is not asked for"));
                }
                decided.fields =
                    definition::fill(&approve.fields, &decided.fields, "fields", &mut wrong);
                let fields = Value::Object(decided.fields.clone());
                wrong.extend(too_large(&fields).map(|why| Wrong::new("fields", why)));
            }
        }
        settled(wrong)?;
        Ok(self.decided(place, decided, false))
    }

    /// `ends` whatever the others say.
    fn decided(&self, place: &Place, one: Decided, ends: bool) -> Vec<Event> {
        let (need, earlier) =
            match self.steps.get(place).map(|step| (step.doing.as_deref(), &step.status)) {
                Some((
                    Some(Doing::Approve { need, .. }),
                    Status::Running(Running::Approve { decided }),
                )) => (*need, decided.as_slice()),
                Some(_) | None => (1, &[][..]),
            };
        let Decided { by, decision, reason, fields, at } = one.clone();
        let place = place.clone();
        let mut events =
            vec![Event::Decided { place: place.clone(), by, decision, reason, fields, at }];
        let approvals = earlier.len() as u32 + 1;
        let by: Vec<&str> = earlier.iter().chain([&one]).map(|one| one.by.as_str()).collect();
        let output = json!({
            "decision": decision.name(), "by": by, "reason": one.reason, "fields": one.fields,
            "at": at.to_string(),
        });
        match decision {
            Decision::Approved if approvals < need && !ends => {}
            Decision::Approved => events.push(Event::StepDone { place, output, at }),
            Decision::Changes if self.is_led_back(&place) => {
                events.push(Event::StepDone { place, output, at });
            }
            Decision::Changes | Decision::Rejected => {
                let why = match decision {
                    Decision::Changes => format!("{} asked for changes: {}", one.by, one.reason),
                    Decision::Rejected | Decision::Approved => {
                        format!("{} rejected it: {}", one.by, one.reason)
                    }
                };
                events.push(Event::StepFailed { place, why, output, failure: None, at });
            }
        }
        events
    }

    /// Whether the step stands in a `repeat` that asks what was decided.
    fn is_led_back(&self, place: &Place) -> bool {
        let around = place.around().and_then(|(outer, _)| self.definition.step(outer.id()));
        match around.map(|step: &Step| &step.kind) {
            Some(Kind::Repeat(repeat)) => {
                let named = expression::look(&repeat.until).unwrap_or_default();
                let own = format!("round.{}", place.id());
                named.paths.iter().any(|path| *path == own || path.starts_with(&format!("{own}.")))
            }
            Some(_) | None => false,
        }
    }
}

impl State {
    /// What each answer to an approval leads to, by the graph: for who has to decide.
    pub fn leads_to(&self, place: &Place) -> Vec<(Decision, String)> {
        let around = place.around().and_then(|(outer, _)| self.definition.step(outer.id()));
        let is_loop = around.is_some_and(|step| matches!(step.kind, Kind::Repeat(_)));
        let block = around.map_or(self.definition.steps.as_slice(), Step::inner);
        let Some(step) = block.iter().find(|step| step.id == place.id()) else { return vec![] };
        let needs = |any: bool| {
            let follows = |other: &&Step| {
                let handles = step.on_failure == OnFailure::Step(other.id.clone());
                let need = other.needs.iter().find(|need| need.step == step.id);
                need.is_some_and(|need| !handles && (need.any || !any))
            };
            let ids = block.iter().filter(follows).map(|step| format!("`{}`", step.id));
            ids.collect::<Vec<_>>().join(", ")
        };
        let then = |ids: String, end: &str| match ids.as_str() {
            "" => end.to_owned(),
            ids => format!("{ids} can start"),
        };
        let end = if around.is_some() {
            if is_loop { "this round is done" } else { "this item is done" }
        } else {
            "no other step depends on it"
        };
        let rejected = match &step.on_failure {
            OnFailure::Stop if is_loop => "this round fails".to_owned(),
            OnFailure::Stop if around.is_some() => "this item fails".to_owned(),
            OnFailure::Stop => "the run fails".to_owned(),
            OnFailure::Continue => then(needs(true), "the run continues without it"),
            OnFailure::Step(handler) => format!("`{handler}` runs"),
        };
        let changes = match self.is_led_back(place) {
            true => "another round follows".to_owned(),
            false => rejected.clone(),
        };
        let approved = then(needs(false), end);
        vec![
            (Decision::Approved, approved),
            (Decision::Rejected, rejected),
            (Decision::Changes, changes),
        ]
    }
}

/// Who decides at a deadline.
pub(crate) const CLOCK: &str = "the clock";

/// A session that came to nothing. Another one may come to something.
fn failed(message: String) -> Failure {
    let kind = FailureKind::ProviderError;
    Failure { kind, message, attempts: 1, usage: Usage::default() }
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

/// A failure of the clock's, before which nothing of the call itself was heard.
fn late(message: &str) -> Failure {
    let (kind, message) = (FailureKind::TimedOut, message.to_owned());
    Failure { kind, message, attempts: 0, usage: Usage::default() }
}

/// Whether the same may go better another time.
fn can_help(kind: FailureKind) -> bool {
    match kind {
        FailureKind::TimedOut
        | FailureKind::Idle
        | FailureKind::RateLimited
        | FailureKind::Empty
        | FailureKind::Unreachable
        | FailureKind::ProviderError
        | FailureKind::Malformed
        | FailureKind::Internal => true,
        FailureKind::Refused
        | FailureKind::OutOfCredit
        | FailureKind::OutOfBudget
        | FailureKind::PromptTooLong
        | FailureKind::TooLong
        | FailureKind::Misconfigured => false,
    }
}

impl State {
    /// The people who have not decided on a step yet.
    pub(super) fn asked(&self, place: &Place) -> Vec<String> {
        let Some(step) = self.steps.get(place) else { return vec![] };
        match (&step.status, step.doing.as_deref()) {
            (Status::Running(Running::Approve { decided }), Some(Doing::Approve { who, .. })) => {
                let open =
                    |name: &&String| !decided.iter().any(|one| names::are_same(&one.by, name));
                who.iter().filter(open).cloned().collect()
            }
            (_, _) => vec![],
        }
    }

    /// How far an act is, for views.
    pub fn attempt_of(&self, place: &Place) -> Option<&Attempt> {
        self.attempt(place)
    }
}
