//! Boards that keep to what they may spend, driven as an engine drives them.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::boardroom::{self, Convene, Role, Seat, SeatId, Sitter};
use crate::call::{Answer, Failure, FailureKind, Outcome};
use crate::ids::Nonce;
use crate::prices::{Noted, Quote, Source};
use crate::room::{self, Command, Event, Input, Room};

fn board(advisors: u8, budget: Budget) -> Convene {
    let seat = |id: u8| Seat {
        id: SeatId(id),
        role: Role::Critic,
        sitter: Sitter::Model(model(&format!("m/{id}"))),
        system_prompt: Some("Be brief.".into()),
        own: None,
        tries: 1,
        seated: Default::default(),
        budget: Allowance::default(),
    };
    Convene {
        prompt: "Should we?".into(),
        context: vec![],
        seats: (1..=advisors).map(seat).collect(),
        synthesizers: vec![model("m/s")],
        quorum: None,
        ballot: false,
        open_answers: false,
        terms: Default::default(),
        brief: Default::default(),
        prices: Noted::default(),
        budget: Some(budget),
    }
}

fn model(name: &str) -> ModelName {
    ModelName(name.into())
}

fn tokens(tokens: u64) -> Budget {
    Budget { most: Allowance { tokens: Some(tokens), ..Allowance::default() }, ..Budget::default() }
}

fn time(ms: u64) -> Allowance {
    Allowance { time_ms: Some(ms), ..Allowance::default() }
}

fn priced(convene: Convene, input: f64, output: f64) -> Convene {
    let price = Price { input, output, cached: None };
    let quote = Quote { price, source: Source::Settings, said_at: None };
    let names = convene.seats.iter().map(|seat| format!("m/{}", seat.id.0));
    let names = names.chain(["m/s".to_owned()]);
    let models = names.map(|name| (model(&name), quote)).collect();
    Convene { prices: Noted { models, ..Noted::default() }, ..convene }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// An engine with nothing around it: what is due and has room runs until it is settled.
struct Drive {
    room: Room,
    running: BTreeMap<CallId, (Ask, Amount)>,
    log: Vec<Event>,
    /// The most that ran at once.
    widest: usize,
}

impl Drive {
    fn open(convene: Convene) -> Result<Drive, Reject> {
        let events = decide(None, Command::Boardroom(boardroom::Command::Convene(convene)))?;
        let mut room = None;
        events.iter().for_each(|event| room::apply(&mut room, event, at(0)));
        let room = room.expect("a board");
        let mut drive = Drive { room, running: BTreeMap::new(), log: events, widest: 0 };
        drive.reconcile();
        Ok(drive)
    }

    fn told(&mut self, command: Command) {
        self.told_at(0, command);
    }

    fn told_at(&mut self, second: i64, command: Command) {
        let events = decide(Some(&self.room), command).expect("events");
        let mut room = Some(self.room.clone());
        events.iter().for_each(|event| room::apply(&mut room, event, at(second)));
        self.room = room.expect("a board");
        self.log.extend(events);
    }

    fn reconcile(&mut self) {
        loop {
            let due: Vec<CallId> =
                self.room.due().into_iter().filter(|c| c.work == Work::Ask).map(|c| c.id).collect();
            let over: Vec<CallId> =
                self.running.keys().filter(|call| !due.contains(call)).cloned().collect();
            for call in over {
                self.running.remove(&call);
                let outcome = Outcome::Stopped { partial: String::new(), usage: used(0, 0) };
                self.told(Command::Settle { call, outcome });
            }
            let mut refused = None;
            for call in
                due.iter().filter(|call| !self.running.contains_key(call)).collect::<Vec<_>>()
            {
                let ask = self.room.ask(call).expect("words");
                let held =
                    self.running.values().fold(Amount::default(), |sum, (_, a)| sum.plus(*a));
                match self.room.reserve(call, &ask, held, Taken::default()) {
                    Ok(reserved) => {
                        self.running.insert(call.clone(), (ask, reserved));
                    }
                    Err(shortage) if self.running.is_empty() => {
                        refused = Some((call.clone(), shortage.in_words()));
                        break;
                    }
                    Err(_) => {}
                }
            }
            self.widest = self.widest.max(self.running.len());
            let Some((call, message)) = refused else { return };
            let kind = FailureKind::OutOfBudget;
            let failure = Failure { kind, message, attempts: 0, usage: Usage::default() };
            self.told(Command::Settle {
                call,
                outcome: Outcome::Failed { failure, partial: String::new() },
            });
        }
    }

    /// The call that comes at this place ends, having written this part of what it may.
    fn settle(&mut self, place: usize, part: f64) {
        let call = self.running.keys().nth(place % self.running.len()).expect("a call").clone();
        let (ask, reserved) = self.running.remove(&call).expect("a call");
        let most = ask.patience.answer_tokens;
        let written = (f64::from(most) * part) as u64;
        let read = reserved.tokens - u64::from(most);
        let text = match call.0.starts_with("synthesis") {
            true => {
                "## Consensus\nYes.\n## Points of Agreement\nNone.\n## Points of Divergence\nNo.\n\
                     ## Recommendation\nGo.\n"
                    .to_owned()
            }
            false => "x".repeat(written as usize * 3),
        };
        let answer = Answer { usage: used(read, written), ..Answer::by_person(text + ".") };
        self.told(Command::Settle { call, outcome: Outcome::Answered(answer) });
        self.reconcile();
    }

    fn run_out(&mut self, mut moves: impl Iterator<Item = (usize, f64)>) {
        while !self.running.is_empty() {
            let (place, part) = moves.next().expect("a move");
            self.settle(place, part);
        }
    }

    fn spent(&self) -> Amount {
        self.room.ledger().expect("a ledger").counted()
    }

    fn asked(&self) -> usize {
        let answered = |event: &&Event| {
            matches!(event, Event::Boardroom(boardroom::Event::AdvisorAnswered { .. }))
        };
        self.log.iter().filter(answered).count()
    }
}

fn decide(room: Option<&Room>, command: Command) -> Result<Vec<Event>, Reject> {
    let input = Input { at: at(0), nonce: Nonce("n".into()), actor: "me".into(), command };
    room::decide(room, input)
}

fn used(read: u64, written: u64) -> Usage {
    Usage { input_tokens: Some(read), output_tokens: Some(written), ..Usage::default() }
}

fn whole() -> impl Iterator<Item = (usize, f64)> {
    std::iter::repeat((0, 1.0))
}

#[test]
fn sixteen_on_a_budget_for_five() {
    // Each reads a few tokens and writes at least 256; five of them and a synthesis fit.
    let mut drive = Drive::open(board(16, tokens(6_000))).unwrap();
    assert!(drive.widest < 16, "{}", drive.widest);
    drive.run_out(whole());
    assert_eq!(drive.room.status(), "closed", "{}", drive.room.report(true));
    assert!(drive.asked() < 16 && drive.spent().tokens <= 6_000, "{:?}", drive.spent());
    let report = drive.room.report(true);
    assert!(report.contains("out of budget"), "{report}");
}

#[test]
fn what_is_not_used_is_there_for_others() {
    let mut drive = Drive::open(board(16, tokens(9_000))).unwrap();
    let at_once = drive.running.len();
    drive.run_out(std::iter::repeat((0, 0.02)));
    assert_eq!((drive.asked(), drive.room.status()), (16, "closed"));
    assert!(at_once < 16);
}

#[test]
fn a_budget_with_room_for_all_changes_nothing_but_how_long_they_may_be() {
    let drive = Drive::open(board(3, tokens(20_000))).unwrap();
    assert_eq!(drive.running.len(), 3);
    // 20,000 in 8.5 parts: three answers, which are read again, and what is made of them.
    let shares: Vec<u32> =
        drive.running.values().map(|(ask, _)| ask.patience.answer_tokens).collect();
    assert!(shares.iter().all(|share| (2_000..2_353).contains(share)), "{shares:?}");
}

#[test]
fn a_budget_that_cannot_be_kept_to_is_refused() {
    let refused = |convene| match Drive::open(convene) {
        Err(Reject::Invalid(wrong)) => format!("{}: {}", wrong[0].field, wrong[0].problem),
        Err(reject) => panic!("{reject:?}"),
        Ok(_) => "taken".to_owned(),
    };
    let money = |cost| Budget {
        most: Allowance { cost: Some(cost), ..Allowance::default() },
        ..Budget::default()
    };
    assert_eq!(
        refused(board(3, money(0.5))),
        "budget.cost: The price of m/1 is unknown, and the budget is in money. Give it in tokens."
    );
    assert_eq!(refused(priced(board(3, money(0.5)), 1.0, 5.0)), "taken");
    let little = refused(priced(board(3, money(0.000_1)), 1.0, 5.0));
    assert!(little.starts_with("budget: The budget of"), "{little}");
    let long = Convene { prompt: "Why? ".repeat(2_000), ..board(3, tokens(1_000)) };
    assert!(refused(long).contains("1,000 tokens does not cover"));
    assert!(refused(board(3, tokens(5))).starts_with("budget.tokens: must be 1,000 to"));
}

#[test]
fn where_it_should_stop_it_stops() {
    let budget = Budget { when_spent: WhenSpent::Stop, ..tokens(6_000) };
    let mut drive = Drive::open(board(16, budget)).unwrap();
    drive.run_out(whole());
    assert_eq!(drive.room.status(), "stopped");
    assert!(drive.spent().tokens <= 6_000);
    // With more of it, it goes on.
    let (budget, prices) = (tokens(1_000_000), Noted::default());
    drive.told(Command::Allow { budget, prices });
    drive.told(Command::Boardroom(boardroom::Command::Resume));
    drive.reconcile();
    drive.run_out(whole());
    assert_eq!((drive.asked(), drive.room.status()), (16, "closed"));
}

#[test]
fn a_seat_keeps_to_its_own() {
    let mut convene = board(2, Budget::default());
    convene.budget = None;
    convene.seats[0].budget = Allowance { tokens: Some(1_000), ..Allowance::default() };
    let drive = Drive::open(convene).unwrap();
    let shares: Vec<u32> =
        drive.running.values().map(|(ask, _)| ask.patience.answer_tokens).collect();
    assert!(shares[0] < 1_000 && shares[1] == limits::ANSWER_TOKENS, "{shares:?}");
}

/// Its calls are given what is left, one after the other, and then none.
#[test]
fn a_seat_keeps_to_its_own_time() {
    let mut convene = Convene { budget: None, ..board(2, Budget::default()) };
    convene.seats[0].budget = time(60_000);
    let mut drive = Drive::open(convene).unwrap();
    let left = |drive: &Drive| {
        let call = CallId::new("advisor").of(1);
        let of = |(id, (ask, _)): (&CallId, &(Ask, Amount))| {
            id.0.starts_with(&call.0).then_some(ask.patience.seat_ms)
        };
        drive.running.iter().find_map(of)
    };
    assert_eq!(left(&drive), Some(Some(60_000)));
    let others: Vec<_> = drive.running.values().map(|(ask, _)| ask.patience.seat_ms).collect();
    assert!(others.contains(&None), "{others:?}");
    let fails = |drive: &mut Drive, second: i64| {
        let call = drive.running.keys().next().expect("a call").clone();
        drive.running.remove(&call);
        let (kind, message) = (FailureKind::TimedOut, String::new());
        let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
        let outcome = Outcome::Failed { failure, partial: String::new() };
        drive.told_at(second, Command::Settle { call, outcome });
    };
    let again = |drive: &mut Drive, second: i64| {
        let (seat, model, prices) = (SeatId(1), None, Noted::default());
        let command = boardroom::Command::Retry { seat, model, prices };
        drive.told_at(second, Command::Boardroom(command));
        drive.reconcile();
    };
    fails(&mut drive, 20);
    // Nobody waits for it meanwhile.
    again(&mut drive, 90);
    assert_eq!(left(&drive), Some(Some(40_000)));
    // A request of it took what there was, and another is not made.
    let call = drive.running.keys().next().expect("a call").clone();
    let ask = drive.running[&call].0.clone();
    let reserve = |ms| {
        let taken = Taken { usage: Usage::default(), requests: 1, brought: 0, ms };
        drive.room.reserve(&call, &ask, Amount::default(), taken).map_err(|why| why.in_words())
    };
    assert!(reserve(39_999).is_ok());
    assert_eq!(reserve(40_000), Err("This seat's budget of 60 s is spent.".to_owned()));
    fails(&mut drive, 130);
    again(&mut drive, 140);
    assert_eq!(left(&drive), None);
    drive.run_out(whole());
    assert_eq!(drive.room.status(), "closed");
    let report = drive.room.report(true);
    assert!(report.contains("out of budget"), "{report}");
}

#[test]
fn at_the_end_of_its_time_it_goes_on_with_what_is_there() {
    let timed = |when_spent| Budget { most: time(90_000), when_spent };
    let over = || Command::Settle { call: time_call(), outcome: Outcome::Elapsed };
    let ends = |when_spent, answered: usize| {
        let mut drive = Drive::open(board(3, timed(when_spent))).unwrap();
        let until = drive.room.due().into_iter().find(|call| call.id == time_call());
        assert_eq!(until.map(|call| call.work), Some(Work::Sleep { until: at(90) }));
        (0..answered).for_each(|_| drive.settle(0, 0.1));
        drive.told(over());
        assert!(drive.room.due().iter().all(|call| call.id != time_call()));
        drive.reconcile();
        drive.run_out(whole());
        drive.room.status()
    };
    assert_eq!(ends(WhenSpent::Conclude, 2), "closed");
    assert_eq!(ends(WhenSpent::Conclude, 0), "stopped");
    assert_eq!(ends(WhenSpent::Stop, 2), "stopped");
}

#[test]
fn one_seat_without_room_stops_nobody_else() {
    let budget = Budget { when_spent: WhenSpent::Stop, ..tokens(1_000_000) };
    let mut convene = Convene { prompt: "Why? ".repeat(1_000), ..board(3, budget) };
    convene.seats[2].budget = Allowance { tokens: Some(1_000), ..Allowance::default() };
    let mut drive = Drive::open(convene).unwrap();
    drive.run_out(std::iter::repeat((0, 0.1)));
    assert_eq!((drive.asked(), drive.room.status()), (2, "closed"));
}

#[test]
fn requests_that_were_made_before_count_for_the_seat_too() {
    let mut convene = board(2, tokens(100_000));
    convene.seats[0].budget = Allowance { tokens: Some(2_000), ..Allowance::default() };
    let drive = Drive::open(convene).unwrap();
    let (call, (ask, _)) = drive.running.iter().next().expect("a call");
    let again = |usage, brought| {
        let taken = Taken { usage, requests: 1, brought, ms: 0 };
        drive.room.reserve(call, ask, Amount::default(), taken).is_ok()
    };
    assert!(again(used(1, 0), 0), "{}", ask.patience.answer_tokens);
    assert!(!again(used(20, 1_900), 0));
    // What nobody says is guessed.
    assert!(!again(Usage::default(), 4 * 1_900));
}

#[test]
fn time_runs_anew_when_it_is_set_in_motion_again() {
    let timed = |ms| Budget { most: time(ms), ..Budget::default() };
    let over = || Command::Settle { call: time_call(), outcome: Outcome::Elapsed };
    let mut drive = Drive::open(board(2, timed(90_000))).unwrap();
    drive.told(over());
    drive.reconcile();
    assert_eq!(drive.room.status(), "stopped");
    drive.told(Command::Boardroom(boardroom::Command::Resume));
    assert!(drive.room.due().iter().any(|call| call.id == time_call()), "it has time again");
    drive.reconcile();
    drive.told(over());
    drive.told(Command::Allow { budget: timed(900_000), prices: Noted::default() });
    drive.reconcile();
    assert!(!drive.room.ledger().unwrap().is_time_over());
}

#[test]
fn who_has_not_voted_at_the_end_of_the_time_is_passed_over() {
    let budget = Budget { most: time(90_000), ..Budget::default() };
    let mut convene = Convene { ballot: true, ..board(2, budget) };
    convene.seats[1].sitter = Sitter::Person { name: "Ada".into(), reply_by: None };
    let mut drive = Drive::open(convene).unwrap();
    drive.settle(0, 0.1);
    let (seat, text) = (SeatId(2), "No.".to_owned());
    drive.told(Command::Boardroom(boardroom::Command::Reply { seat, text }));
    drive.reconcile();
    drive.settle(0, 0.1);
    assert_eq!(drive.room.status(), "balloting");
    drive.told(Command::Settle { call: time_call(), outcome: Outcome::Elapsed });
    drive.reconcile();
    assert_eq!(drive.room.status(), "closed");
}

#[test]
fn a_budget_in_money_may_come_later_and_counts_what_was_spent() {
    let convene = Convene { budget: None, ..board(1, Budget::default()) };
    let prices = priced(convene.clone(), 1_000.0, 1_000.0).prices;
    let mut drive = Drive::open(convene).unwrap();
    drive.run_out(std::iter::repeat((0, 0.01)));
    assert_eq!(drive.spent().cost, 0.0);
    let most = Allowance { cost: Some(100.0), ..Allowance::default() };
    drive.told(Command::Allow { budget: Budget { most, ..Budget::default() }, prices });
    let tokens = drive.spent().tokens as f64;
    assert!((drive.spent().cost - tokens / 1_000.0).abs() < 1e-9, "{:?}", drive.spent());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    /// Whatever the order in which answers come, and however long they are.
    #[test]
    fn a_budget_is_never_passed(
        advisors in 1..=16_u8,
        budget in 4_000..60_000_u64,
        in_money in any::<bool>(),
        price in (0.1..20.0_f64, 0.1..80.0_f64),
        moves in proptest::collection::vec((0..16_usize, 0.0..=1.0_f64), 40),
    ) {
        let most = match in_money {
            false => Allowance { tokens: Some(budget), ..Allowance::default() },
            true => Allowance { cost: Some(budget as f64 * price.1 / 1e6), ..Allowance::default() },
        };
        let convene = board(advisors, Budget { most, ..Budget::default() });
        let Ok(mut drive) = Drive::open(priced(convene, price.0, price.1)) else { return Ok(()) };
        drive.run_out(moves.into_iter());
        let spent = drive.spent();
        prop_assert!(most.tokens.is_none_or(|most| spent.tokens <= most), "{spent:?}");
        prop_assert!(most.cost.is_none_or(|most| spent.cost <= most + 1e-9), "{spent:?} {most:?}");
        // Something was kept for the synthesis.
        prop_assert_eq!(drive.room.status(), "closed");
    }
}
