//! What a form under test is told, as a room would tell it.

use jiff::Timestamp;

use super::{Form, Moment};
use crate::call::{Ask, Call, Message, Outcome, Shape, Speaker};
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

/// Prompts as pages to read. A system prompt that comes again is not repeated.
pub fn pages(asks: &[(&str, Ask)]) -> String {
    let page = |(place, (title, ask)): (usize, &(&str, Ask))| {
        let shape = match &ask.shape {
            Shape::Free => "free".to_owned(),
            Shape::Json(schema) => schema.to_string(),
            Shape::Headings(headings) => headings.join(", "),
        };
        let before = asks[..place].iter().find(|(_, earlier)| earlier.system == ask.system);
        let system = match before {
            Some((title, _)) => format!("(as where {title})"),
            None => ask.system.clone(),
        };
        let messages = ask.messages.iter().map(|message| {
            let speaker = match message.speaker {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            };
            format!("--- {speaker}\n{}\n", message.text.trim_end())
        });
        let messages: String = messages.collect();
        let model = &ask.model;
        format!("=== {title}\nmodel: {model}\nshape: {shape}\n--- system\n{system}\n{messages}")
    };
    asks.iter().enumerate().map(page).collect::<Vec<_>>().join("\n")
}

/// Everything that a model reads, in order.
pub fn whole(ask: &Ask) -> String {
    let said = |message: &Message| format!("{:?}\n{}", message.speaker, message.text);
    let messages = ask.messages.iter().map(said);
    [ask.system.clone()].into_iter().chain(messages).collect::<Vec<_>>().join("\n\n")
}

/// A later prompt begins with everything that an earlier one marks as lasting, which are all
/// its quotations; with at least four fifths of one that marks nothing.
#[track_caller]
pub fn assert_begins_alike(earlier: &Ask, later: &Ask) {
    let (before, after) = (whole(earlier), whole(later));
    let same = before.bytes().zip(after.bytes()).take_while(|(left, right)| left == right).count();
    let request = earlier.messages.last().and_then(|last| last.text.get(*last.joints.last()?..));
    assert!(request.is_none_or(|request| !request.contains("<<<")), "{request:?}");
    let least = request.map_or(before.len() * 4 / 5, |request| before.len() - request.len());
    assert!(same >= least, "{same} of {}:\n{before}\n----\n{after}", before.len());
    for (earlier, later) in earlier.messages.iter().zip(&later.messages) {
        assert!(later.joints.starts_with(&earlier.joints), "{later:?}");
        let lasts = earlier.joints.last().copied().unwrap_or_default();
        assert_eq!(later.text.get(..lasts), earlier.text.get(..lasts));
    }
}
