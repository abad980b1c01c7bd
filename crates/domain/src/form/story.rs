//! What a form under test is told, as a room would tell it.

use jiff::Timestamp;

use super::{Form, Moment};
use crate::call::{Ask, Call, Outcome};
use crate::ids::CallId;
use crate::reject::Reject;
use crate::room::no_session;

#[derive(Clone, PartialEq, Debug)]
pub enum Told<Command> {
    Settle { call: CallId, outcome: Outcome },
    Stop,
    Own(Command),
}

pub fn decide<F: Form>(
    state: Option<&F>,
    told: Told<F::Command>,
    moment: &Moment,
) -> Result<Vec<F::Event>, Reject> {
    match (state, told) {
        (state, Told::Own(command)) => F::decide(state, command, moment),
        (Some(state), Told::Settle { call, outcome }) => state.settle(&call, outcome, moment),
        (Some(state), Told::Stop) => state.stop(moment),
        (None, Told::Settle { .. }) => Err(Reject::Stale),
        (None, Told::Stop) => Err(no_session()),
    }
}

/// Where it does not matter when the event was written.
pub fn apply<F: Form>(state: Option<F>, event: &F::Event) -> Option<F> {
    F::apply(state, event, Timestamp::UNIX_EPOCH)
}

pub fn due<F: Form>(state: &F) -> Vec<Call> {
    state.due()
}

pub fn ask<F: Form>(state: &F, call: &CallId) -> Option<Ask> {
    state.ask(call)
}
