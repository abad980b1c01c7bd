//! What a council and its members may spend, in time.

use super::*;
use crate::budget::{Budget, time_call};
use crate::room::{self, Command, Event as Any, Input, Room};

/// A council that is told what a room is told.
struct Held {
    room: Room,
    names: Vec<&'static str>,
}

impl Held {
    fn open(open: Open) -> Result<Held, Reject> {
        let events = decided(None, Command::Council(Own::Open(open)), 0)?;
        let mut room = None;
        events.iter().for_each(|event| room::apply(&mut room, event, at(0)));
        Ok(Held { room: room.expect("a council"), names: vec![] })
    }

    fn told(mut self, second: usize, command: Command) -> Held {
        let events = decided(Some(&self.room), command, second).expect("events");
        let mut room = Some(self.room);
        events.iter().for_each(|event| room::apply(&mut room, event, at(second)));
        self.names.extend(events.iter().map(Any::name));
        Held { room: room.expect("a council"), ..self }
    }

    fn posts(self, second: usize, body: &str) -> Held {
        let post =
            Own::Post { sender: "bo".into(), proved: true, body: body.into(), reply_to: None };
        self.told(second, Command::Council(post))
    }

    fn settles(self, second: usize, call: &str, outcome: Outcome) -> Held {
        self.told(second, Command::Settle { call: CallId(call.into()), outcome })
    }

    fn calls(&self) -> Vec<String> {
        self.room.due().into_iter().map(|call| call.id.0).collect()
    }

    fn seat_ms(&self, call: &str) -> Option<u64> {
        self.room.ask(&CallId(call.into())).expect("words").patience.seat_ms
    }
}

fn decided(room: Option<&Room>, command: Command, second: usize) -> Result<Vec<Any>, Reject> {
    let (at, nonce, actor) = (at(second), nonce(second), "operator".to_owned());
    room::decide(room, Input { at, nonce, actor, command })
}

fn says(text: &str) -> Outcome {
    Outcome::Answered(Answer::by_person(text.to_owned()))
}

fn time(seconds: u64) -> Allowance {
    Allowance { time_ms: Some(seconds * 1000), ..Allowance::default() }
}

/// From the post that sets answers in motion: whoever is at it is cut off, nobody else
/// begins, and the next post has the whole time again.
#[test]
fn at_the_end_of_its_time_nobody_answers_any_more() {
    let budget = Some(Budget { most: time(90), ..Budget::default() });
    let held = Held::open(Open { budget, ..four() }).unwrap();
    assert_eq!(held.calls(), [""; 0], "nobody waits for anything");
    let held = held.posts(10, "Which?").settles(20, "answer/ann/1", says("Green."));
    assert_eq!(held.calls(), ["answer/cy/2", "budget"]);
    let until = held.room.due().into_iter().find(|call| call.id == time_call());
    assert_eq!(until.map(|call| call.work), Some(Work::Sleep { until: at(100) }));
    let held = held.posts(30, "And when?").settles(100, "budget", Outcome::Elapsed);
    assert_eq!(held.names[held.names.len() - 2..], ["timeOver", "stopped"]);
    assert_eq!((held.calls().len(), held.room.status()), (0, "open"));
    let partial = Outcome::Stopped { partial: "Wh".into(), usage: Usage::default() };
    let held = held.settles(100, "answer/cy/2", partial).posts(200, "@cy Still there?");
    assert_eq!(held.calls(), ["answer/cy/4", "budget"]);
}

/// What somebody takes who answers is theirs alone, and nobody waits for them meanwhile.
#[test]
fn a_member_keeps_to_its_own_time() {
    let mut open = four();
    open.members[0].budget = time(60);
    let held = Held::open(open).unwrap().posts(10, "@ann Which?");
    assert_eq!(held.seat_ms("answer/ann/1"), Some(60_000));
    let held = held.settles(50, "answer/ann/1", says("Green.")).posts(500, "@ann @cy Why?");
    assert_eq!(held.seat_ms("answer/ann/3"), Some(20_000));
    let held = held.settles(530, "answer/ann/3", says("It is green."));
    assert_eq!((held.calls(), held.seat_ms("answer/cy/4")), (vec!["answer/cy/4".to_owned()], None));
    let held = held.settles(540, "answer/cy/4", says("It is.")).posts(600, "@ann Sure?");
    let call = CallId("answer/ann/6".into());
    let ask = held.room.ask(&call).expect("words");
    let reserved = held.room.reserve(&call, &ask, Default::default(), Default::default());
    let why = reserved.map_err(|why| why.in_words());
    assert_eq!(why, Err("This seat's budget of 60 s is spent.".to_owned()));
}

#[test]
fn every_wrong_limit_is_named() {
    let mut open = Open { budget: Some(Budget { most: time(0), ..Budget::default() }), ..four() };
    open.members[0].budget = Allowance { tokens: Some(3), ..Allowance::default() };
    open.members[2].budget = time(60);
    let wrong = match Held::open(open) {
        Err(Reject::Invalid(wrong)) => wrong,
        Err(reject) => panic!("{reject:?}"),
        Ok(_) => panic!("it was taken"),
    };
    let fields: Vec<&str> = wrong.iter().map(|wrong| wrong.field.as_str()).collect();
    assert_eq!(fields, ["members[0].budget.tokens", "members[2].budget", "budget.seconds"]);
}
