//! A run under test, told what a room would tell it. After each command the log is read
//! again from its beginning, as after a restart, and has to come to the same.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::budget::Allowance;
use crate::call::{Answer, Ask, Failure, FailureKind, Outcome, Timing, Usage, Work};
use crate::errand::Errand;
use crate::form::{Form, Moment, Report};
use crate::ids::{CallId, Nonce, SessionId};
use crate::reject::Reject;
use crate::workflow::gives::Ended;
use crate::workflow::{Begin, Command, Decision, Event, Place, Stage, State, Status};

pub struct Run {
    pub state: State,
    pub log: Vec<Event>,
    pub at: Timestamp,
}

const USED: Usage = Usage {
    input_tokens: Some(100),
    cached_tokens: None,
    output_tokens: Some(10),
    reasoning_tokens: None,
    cost_nano_usd: None,
};

pub fn answer(text: &str) -> Outcome {
    Outcome::Answered(Answer {
        text: text.to_owned(),
        reasoning: String::new(),
        cut: false,
        usage: USED,
        timing: Timing::default(),
        attempts: 1,
    })
}

pub fn failed(kind: FailureKind) -> Outcome {
    let message = "It went wrong.".to_owned();
    let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
    Outcome::Failed { failure, partial: String::new() }
}

pub fn stopped() -> Outcome {
    Outcome::Stopped { partial: "half".into(), usage: USED }
}

/// What a session gives is told with what it took.
fn ended(call: &str, value: Value) -> Value {
    match call.starts_with("watch/") {
        true => Ended { status: "done".into(), took: None, given: Ok(value) }.told(),
        false => value,
    }
}

fn moment(at: Timestamp, actor: &str) -> Moment {
    Moment { at, nonce: Nonce("c0de".into()), actor: actor.to_owned() }
}

impl Run {
    pub fn beginning(source: &str) -> Begin {
        let run = SessionId(Uuid::nil());
        Begin {
            run,
            source: source.to_owned(),
            inputs: Map::new(),
            starter: None,
            parent: None,
            fork: None,
            most: Allowance::default(),
        }
    }

    #[track_caller]
    pub fn begin(source: &str) -> Run {
        Run::of(Command::Begin(Box::new(Run::beginning(source))))
    }

    #[track_caller]
    pub fn of(command: Command) -> Run {
        Run::try_of(command).unwrap_or_else(|reject| panic!("{reject:#?}"))
    }

    pub fn try_of(command: Command) -> Result<Run, Reject> {
        let at = Timestamp::UNIX_EPOCH;
        let log = State::decide(None, command, &moment(at, "the starter"))?;
        let state = fold(&log).expect("the first event opens it");
        Ok(Run { state, log, at })
    }

    pub fn take(&mut self, events: Vec<Event>) {
        for event in &events {
            self.state.take(event, self.at);
            let kept = serde_json::to_string(event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&kept).as_ref().ok(), Some(event), "{kept}");
        }
        self.log.extend(events);
        assert_eq!(fold(&self.log).as_ref(), Some(&self.state), "a restart comes to the same");
    }

    pub fn try_settle(&mut self, call: &str, outcome: Outcome) -> Result<(), Reject> {
        let call = CallId(call.to_owned());
        let events = self.state.settle(&call, outcome, &moment(self.at, "engine"))?;
        self.take(events);
        Ok(())
    }

    #[track_caller]
    pub fn settle(&mut self, call: &str, outcome: Outcome) {
        let due = self.due();
        self.try_settle(call, outcome)
            .unwrap_or_else(|reject| panic!("{call}: {reject:?}; due: {due:?}"));
    }

    pub fn try_bring(&mut self, call: &str, value: Value) -> Result<(), Reject> {
        self.try_settle(call, Outcome::Brought(ended(call, value)))
    }

    #[track_caller]
    pub fn bring(&mut self, call: &str, value: Value) {
        self.settle(call, Outcome::Brought(ended(call, value)));
    }

    #[track_caller]
    pub fn look(&mut self, place: &str) {
        self.look_again(place, 1);
    }

    #[track_caller]
    pub fn look_again(&mut self, place: &str, tries: u32) {
        self.bring(&format!("look/{place}#{tries}"), serde_json::json!({ "model": "m/x" }));
    }

    /// The clock comes to where this call wants to be told.
    #[track_caller]
    pub fn elapse(&mut self, call: &str) {
        let due = self.state.due();
        let until = due.iter().find(|due| due.id.0 == call).map(|due| due.work.clone());
        match until {
            Some(Work::Sleep { until }) => self.at = self.at.max(until),
            other => panic!("{call} is {other:?}; due: {due:?}"),
        }
        self.settle(call, Outcome::Elapsed);
    }

    pub fn decide(
        &mut self,
        place: &str,
        who: &str,
        decision: Decision,
        reason: &str,
        fields: Value,
    ) -> Result<(), Reject> {
        let (place, reason) = (Place(place.into()), reason.to_owned());
        let fields = fields.as_object().cloned().unwrap_or_default();
        let command = Command::Decide { place, decision, reason, fields };
        let events = State::decide(Some(&self.state), command, &moment(self.at, who))?;
        self.take(events);
        Ok(())
    }

    pub fn try_cancel(&mut self) -> Result<(), Reject> {
        let events = self.state.stop(&moment(self.at, "ann"))?;
        self.take(events);
        Ok(())
    }

    pub fn cancel(&mut self) {
        self.try_cancel().unwrap();
    }

    pub fn due(&self) -> Vec<String> {
        self.state.due().into_iter().map(|call| call.id.0).collect()
    }

    pub fn errand(&self, call: &str) -> Option<Errand> {
        self.state.errand(&CallId(call.to_owned()))
    }

    pub fn ask(&self, call: &str) -> Option<Ask> {
        self.state.ask(&CallId(call.to_owned()))
    }

    pub fn waits_for(&self) -> Vec<String> {
        self.state.waits_for()
    }

    pub fn status(&self, place: &str) -> &'static str {
        self.state.status_of(&Place(place.into())).map_or("waiting", |status| status.words().0)
    }

    pub fn why(&self, place: &str) -> String {
        let status = self.state.status_of(&Place(place.into()));
        status.and_then(|status| status.words().1).unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub fn output(&self, place: &str) -> Value {
        match self.state.status_of(&Place(place.into())) {
            Some(Status::Done(output)) => (**output).clone(),
            other => panic!("{place} is {other:?}"),
        }
    }

    #[track_caller]
    pub fn ended(&self) -> &'static str {
        match &self.state.stage {
            Stage::Ended { ending, .. } => ending.status.name(),
            other => panic!("{other:?}; due: {:?}", self.due()),
        }
    }

    #[track_caller]
    pub fn outputs(&self) -> Value {
        match &self.state.stage {
            Stage::Ended { ending, .. } => Value::Object(ending.outputs.clone()),
            other => panic!("{other:?}"),
        }
    }

    pub fn tick(&mut self) {
        self.at += SignedDuration::from_secs(1);
    }
}

pub fn fold(log: &[Event]) -> Option<State> {
    log.iter().fold(None, |state, event| State::apply(state, event, Timestamp::UNIX_EPOCH))
}
