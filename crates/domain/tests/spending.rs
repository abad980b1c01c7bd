//! Whatever happens to a session of any form that asks models: what its calls took is what
//! it says, in all and call by call, and its log says the same to the next process.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use plenary_domain::boardroom::{self, Convene, Quorum, Role, Seat, SeatId, Sitter};
use plenary_domain::call::Life;
use plenary_domain::council::{self, Member, Open};
use plenary_domain::discussion::{self, Create, Said, Spoken};
use plenary_domain::whiteboard;
use plenary_domain::{
    AgentName, Allowance, Answer, Budget, CallId, Command, Event, Failure, FailureKind, Input,
    ModelName, Nonce, Noted, Outcome, Room, Timestamp, Timing, Usage, WhenSpent, Work, room,
};
use proptest::prelude::*;
use serde_json::json;

const FOUR: &str = "## Consensus\nYes.\n\n## Points of Agreement\n- Cheap.\n\n\
                    ## Points of Divergence\n- None.\n\n## Recommendation\n- Go.\n";

fn model(name: &str) -> ModelName {
    ModelName::new("m", name)
}

fn at(second: usize) -> Timestamp {
    Timestamp::from_second(second as i64).unwrap()
}

// ---------------------------------------------------------------------------
// What may happen

#[derive(Clone, Copy, Debug)]
enum Form {
    Boardroom { advisors: u8, ballot: bool, quorum: bool },
    Discussion { rounds: u32 },
    Council,
    Whiteboard,
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Answered,
    /// In no form that was asked for.
    Malformed,
    Empty,
    Failed,
    /// As an answer that a budget has no room for.
    OutOfBudget,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// One of the calls that run ends by itself.
    Ends {
        pick: usize,
        ending: Ending,
        usage: Usage,
    },
    /// One that was cancelled hands back what it had, later than it was cancelled.
    HandsBack {
        pick: usize,
        usage: Usage,
    },
    Somebody {
        wants: usize,
        seat: u8,
    },
    /// The process is killed, and the next one knows nothing but the log.
    Crash,
}

fn usages() -> impl Strategy<Value = Usage> {
    let number = || proptest::option::weighted(0.8, 0..1_000_u64);
    (number(), number(), number(), number(), number()).prop_map(
        |(input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost_nano_usd)| Usage {
            input_tokens,
            cached_tokens,
            output_tokens,
            reasoning_tokens,
            cost_nano_usd,
        },
    )
}

fn forms() -> impl Strategy<Value = Form> {
    prop_oneof![
        2 => (1..=4_u8, any::<bool>(), any::<bool>())
            .prop_map(|(advisors, ballot, quorum)| Form::Boardroom { advisors, ballot, quorum }),
        1 => (1..=4_u32).prop_map(|rounds| Form::Discussion { rounds }),
        1 => Just(Form::Council),
        1 => Just(Form::Whiteboard),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let endings = prop_oneof![
        6 => Just(Ending::Answered),
        2 => Just(Ending::Malformed),
        1 => Just(Ending::Empty),
        2 => Just(Ending::Failed),
        1 => Just(Ending::OutOfBudget),
    ];
    prop_oneof![
        8 => (0..16_usize, endings, usages())
            .prop_map(|(pick, ending, usage)| Step::Ends { pick, ending, usage }),
        3 => (0..16_usize, usages()).prop_map(|(pick, usage)| Step::HandsBack { pick, usage }),
        5 => (0..16_usize, 1..=4_u8).prop_map(|(wants, seat)| Step::Somebody { wants, seat }),
        1 => Just(Step::Crash),
    ]
}

fn budgets() -> impl Strategy<Value = Option<Budget>> {
    let when_spent = prop_oneof![Just(WhenSpent::Conclude), Just(WhenSpent::Stop)];
    let budget = (20_000..200_000_u64, when_spent).prop_map(|(tokens, when_spent)| {
        let most = Allowance { tokens: Some(tokens), ..Allowance::default() };
        Budget { most, when_spent }
    });
    proptest::option::of(budget)
}

fn opening(form: Form, budget: Option<Budget>) -> Command {
    match form {
        Form::Boardroom { advisors, ballot, quorum } => {
            let seat = |id: u8| Seat {
                id: SeatId(id),
                role: Role::Critic,
                sitter: Sitter::Model(model(&id.to_string())),
                system_prompt: None,
                own: None,
                tries: 1,
                seated: Default::default(),
                budget: Allowance::default(),
            };
            Command::Boardroom(boardroom::Command::Convene(Convene {
                prompt: "Shall we?".into(),
                context: vec![],
                seats: (1..=advisors).map(seat).collect(),
                synthesizers: vec![model("s"), model("t")],
                quorum: quorum.then_some(Quorum { need: 1, grace_ms: 1_000 }),
                ballot,
                prices: Noted::default(),
                budget,
                open_answers: false,
                terms: Default::default(),
                brief: Default::default(),
            }))
        }
        Form::Discussion { rounds } => {
            let seat = |name: &str| discussion::Seat {
                id: discussion::SeatId(name.into()),
                agent: None,
                name: name.into(),
                description: String::new(),
                persona: "".into(),
                sitter: discussion::Sitter::Model {
                    model: model(name),
                    window_tokens: 8_192,
                    bounds: Default::default(),
                    workspace: None,
                },
            };
            let role = discussion::Role::Participant;
            let participant = |name| discussion::Participant { seat: Arc::new(seat(name)), role };
            Command::Discussion(discussion::Command::Create(Box::new(Create {
                name: "Tea".into(),
                topic: "Tea or coffee?".into(),
                format: discussion::Format::Deliberation,
                context: vec![],
                facilitator: seat("lead"),
                participants: vec![participant("ann"), participant("bob")],
                max_rounds: rounds,
                budget,
                project: None,
                start: Some(Default::default()),
            })))
        }
        Form::Council => {
            let member = |name: &str| Member {
                name: name.into(),
                model: Some(model(name)),
                persona: None,
                seated: Default::default(),
                budget: Allowance::default(),
            };
            Command::Council(council::Command::Open(Open {
                name: "tea".into(),
                charter: "Tea or coffee?".into(),
                members: vec![member("ann"), member("bob")],
                project: None,
                by: None,
                prices: Noted::default(),
                budget,
            }))
        }
        Form::Whiteboard => {
            let seat = |name: &str| whiteboard::NewSeat {
                name: AgentName(name.into()),
                domain: None,
                seat: whiteboard::Seat {
                    model: model(name),
                    seated: Default::default(),
                    budget: Allowance::default(),
                },
            };
            Command::Whiteboard(whiteboard::Command::Open(whiteboard::Open {
                name: "tea".into(),
                topic: "Tea or coffee?".into(),
                project: None,
                by: AgentName("fay".into()),
                principal: None,
                admission: Default::default(),
                debate: Default::default(),
                deadlines: vec![],
                seats: vec![seat("ann"), seat("bob")],
                prices: Noted::default(),
                budget,
            }))
        }
    }
}

/// What somebody may want of a session of this form; a retry may bring another model.
fn wanted(form: Form, wants: usize, seat: u8) -> Command {
    use boardroom::Command as Board;
    use discussion::Command as Talk;
    let (seat, prices, instruction) = (SeatId(seat), Noted::default(), None);
    let all = match form {
        Form::Boardroom { .. } => vec![
            Command::Stop,
            Command::Boardroom(Board::Resume),
            Command::Boardroom(Board::StopAdvisor { seat }),
            Command::Boardroom(Board::Retry { seat, model: None, prices: prices.clone() }),
            Command::Boardroom(Board::Retry {
                seat,
                model: Some(model("other")),
                prices: prices.clone(),
            }),
            Command::Boardroom(Board::Synthesize {
                model: None,
                instruction: None,
                prices: prices.clone(),
            }),
            Command::Boardroom(Board::Resynthesize {
                model: Some(model("u")),
                instruction,
                prices,
            }),
            Command::Boardroom(Board::OpenBallot),
            Command::Boardroom(Board::FollowUp {
                prompt: "And then?".into(),
                seats: vec![],
                brief: Default::default(),
            }),
        ],
        Form::Discussion { .. } => vec![
            Command::Stop,
            Command::Discussion(Talk::Resume),
            Command::Discussion(Talk::Pause),
            Command::Discussion(Talk::Conclude),
            Command::Discussion(Talk::Interject { by: "Eve".into(), text: "Milk?".into() }),
        ],
        Form::Whiteboard => return on_whiteboard(wants, seat),
        Form::Council => {
            let (sender, body) = ("eve".to_owned(), "@ann @bob Which?".to_owned());
            let post = council::Command::Post { sender, proved: true, body, reply_to: None };
            let close = council::Command::Close { summary: None, by: None };
            let name = if seat == SeatId(1) { "ann" } else { "bob" };
            let member = Member {
                name: name.into(),
                model: Some(model("other")),
                persona: None,
                seated: Default::default(),
                budget: Allowance::default(),
            };
            // Somebody leaves, and comes back by another model.
            let change = |add: Vec<Member>, remove: &[&str]| {
                let remove = remove.iter().map(|name| (*name).to_owned()).collect();
                let changing = council::Changing { charter: None, add, remove, prices };
                Command::Council(council::Command::Change(changing))
            };
            match wants % 12 {
                0 => vec![Command::Council(close)],
                1 | 2 => vec![change(vec![], &[name])],
                3 => vec![change(vec![member], &[])],
                4 => vec![change(vec![member], &[name])],
                _ => vec![Command::Council(post.clone()), Command::Stop, Command::Council(post)],
            }
        }
    };
    all[wants % all.len()].clone()
}

/// What somebody may want on a whiteboard. Most of it is refused in most phases.
fn on_whiteboard(wants: usize, seat: SeatId) -> Command {
    use whiteboard::{Command as Board, Note, Phase, PostId};
    let name = ["ann", "bob", "cyd", "dan"][usize::from(seat.0 % 4)];
    let (agent, post) = (AgentName("fay".into()), PostId(format!("{name}/1")));
    let moves = |to| Board::Transition { agent: agent.clone(), to, note: None };
    let seated = whiteboard::Seat {
        model: model(name),
        seated: Default::default(),
        budget: Allowance::default(),
    };
    let new = whiteboard::NewSeat { name: AgentName(name.into()), domain: None, seat: seated };
    let body = "No.".to_owned();
    Command::Whiteboard(match wants % 9 {
        0 => return Command::Stop,
        1 | 2 => Board::Seat { agent, new, prices: Noted::default() },
        3 => moves(Phase::Read),
        4 => moves(Phase::Validate),
        5 => moves(Phase::Debate),
        6 => moves(Phase::Resolve),
        7 => Board::Annotate { agent, post, note: Note::Challenge, body },
        _ => {
            let challenge = Some(whiteboard::AnnotationId("fay/a1".into()));
            Board::Annotate { agent, post, note: Note::Withdrawal { challenge }, body }
        }
    })
}

// ---------------------------------------------------------------------------
// What must hold

struct Drive {
    form: Form,
    room: Room,
    log: Vec<(Event, Timestamp)>,
    second: usize,
    /// Calls that were made and have not ended, and whether they are still wanted.
    running: BTreeMap<CallId, bool>,
    /// What all that have ended took.
    spent: Usage,
}

impl Drive {
    fn open(form: Form, budget: Option<Budget>) -> Drive {
        let events = decide(None, opening(form, budget), 0).expect("a session");
        let log: Vec<(Event, Timestamp)> = events.into_iter().map(|event| (event, at(0))).collect();
        let room = folded(&log);
        let (running, spent) = (BTreeMap::new(), Usage::default());
        let mut drive = Drive { form, room, log, second: 0, running, spent };
        drive.look();
        drive
    }

    fn step(&mut self, step: Step) {
        self.second += 1;
        match step {
            Step::Ends { pick, ending, usage } => {
                let wanted: Vec<CallId> = self
                    .running
                    .iter()
                    .filter(|(_, is)| **is)
                    .map(|(call, _)| call.clone())
                    .collect();
                let Some(call) = wanted.get(pick % wanted.len().max(1)).cloned() else { return };
                let outcome = outcome(&call, ending, usage);
                self.settle(call, outcome, usage);
            }
            Step::HandsBack { pick, usage } => self.hand_back(pick, usage),
            Step::Somebody { wants, seat } => {
                let command = wanted(self.form, wants, seat);
                if let Ok(events) = decide(Some(&self.room), command, self.second) {
                    self.take(events);
                }
            }
            Step::Crash => self.room = folded(&self.log),
        }
        self.look();
    }

    fn hand_back(&mut self, pick: usize, usage: Usage) {
        let over: Vec<CallId> =
            self.running.iter().filter(|(_, is)| !**is).map(|(call, _)| call.clone()).collect();
        let Some(call) = over.get(pick % over.len().max(1)).cloned() else { return };
        self.settle(call, Outcome::Stopped { partial: "I th".into(), usage }, usage);
    }

    /// Every call that was made is settled, once; else what it took would be lost.
    fn settle(&mut self, call: CallId, outcome: Outcome, usage: Usage) {
        self.running.remove(&call);
        let settle = Command::Settle { call: call.clone(), outcome };
        match decide(Some(&self.room), settle.clone(), self.second) {
            Ok(events) => self.take(events),
            Err(reject) => panic!("{call} took {usage:?}, which is lost: {reject:?}"),
        }
        self.spent = self.spent.plus(usage);
        let again = decide(Some(&self.room), settle, self.second);
        assert!(again.is_err(), "{call} is counted twice: {again:?}");
    }

    fn take(&mut self, events: Vec<Event>) {
        let mut room = Some(self.room.clone());
        for event in events {
            room::apply(&mut room, &event, at(self.second));
            self.log.push((event, at(self.second)));
        }
        self.room = room.expect("a session");
    }

    fn look(&mut self) {
        let due: Vec<CallId> =
            self.room.due().into_iter().filter(|c| c.work == Work::Ask).map(|c| c.id).collect();
        for (call, is_wanted) in &mut self.running {
            *is_wanted = due.contains(call);
        }
        self.running.extend(due.into_iter().map(|call| (call, true)));
        let total = self.room.ledger().expect("a ledger").total();
        assert_eq!(total, self.spent, "in all, of {:?}", self.form);
        assert_eq!(by_call(&self.room), self.spent, "call by call, of {:?}", self.form);
    }

    /// Somebody stops it, and what ran hands back what it had.
    fn end(mut self, usage: Usage) {
        self.step(Step::Somebody { wants: 0, seat: 1 });
        if let Ok(events) = decide(Some(&self.room), Command::Stop, self.second) {
            self.take(events);
            self.look();
        }
        while self.running.values().any(|is_wanted| !is_wanted) {
            self.step(Step::HandsBack { pick: 0, usage });
        }
        let read = |(event, at): &(Event, Timestamp)| {
            let payload = event.encode().expect("an event");
            (Event::decode(event.kind(), &payload).expect("the same event"), *at)
        };
        let log: Vec<(Event, Timestamp)> = self.log.iter().map(read).collect();
        assert_eq!(folded(&log).ledger().map(|ledger| ledger.total()), Some(self.spent));
    }
}

fn decide(
    room: Option<&Room>,
    command: Command,
    second: usize,
) -> Result<Vec<Event>, plenary_domain::Reject> {
    let nonce = Nonce(format!("n{second}"));
    room::decide(room, Input { at: at(second), nonce, actor: "me".into(), command })
}

fn folded(log: &[(Event, Timestamp)]) -> Room {
    let mut room = None;
    log.iter().for_each(|(event, at)| room::apply(&mut room, event, *at));
    room.expect("a session")
}

fn outcome(call: &CallId, ending: Ending, usage: Usage) -> Outcome {
    let kind = call.0.split(['/', '#']).next().unwrap_or_default();
    let text = match ending {
        Ending::Answered => match kind {
            "synthesis" => FOUR.to_owned(),
            "ballot" => json!({ "votes": [{ "point": 1, "vote": "accept", "reason": "So." }] }).to_string(),
            "opening" | "evaluation" => {
                json!({ "decision": "continue", "nextParticipantId": "ann", "question": "Well?", "reasoning": "So." })
                    .to_string()
            }
            "post" => {
                json!({ "posts": [{ "type": "proposal", "title": "Tea", "body": "So." }] }).to_string()
            }
            "validate" | "debate" => json!({ "annotations": [
                { "post": "ann/1", "type": "validation", "result": "refuted", "body": "No." },
                { "post": "ann/1", "type": "challenge", "body": "No." },
                { "post": "bob/1", "type": "challenge", "body": "No." },
            ] })
            .to_string(),
            "rebut" => json!({ "body": "Yes." }).to_string(),
            "vote" => json!({ "votes": [{ "post": "ann/1", "vote": "accept" }] }).to_string(),
            _ => "Tea, @bob.".to_owned(),
        },
        Ending::Malformed => "Prose.".to_owned(),
        Ending::Empty => "<think>Hm.</think>".to_owned(),
        Ending::Failed | Ending::OutOfBudget => {
            let kind = match ending {
                Ending::OutOfBudget => FailureKind::OutOfBudget,
                _ => FailureKind::Idle,
            };
            let failure = Failure { kind, message: "No.".into(), attempts: 2, usage };
            return Outcome::Failed { failure, partial: "I th".into() };
        }
    };
    let timing = Timing { first_text_ms: None, latency_ms: 5 };
    Outcome::Answered(Answer {
        text,
        reasoning: String::new(),
        cut: false,
        usage,
        timing,
        attempts: 1,
    })
}

fn of_life<T>(life: &Life<T>, done: impl Fn(&T) -> Usage) -> Usage {
    match life {
        Life::Asked => Usage::default(),
        Life::Done(it) => done(it),
        Life::Failed { failure, .. } => failure.usage,
        Life::Stopped { usage, .. } => *usage,
    }
}

/// What is shown of each call, added up.
fn by_call(room: &Room) -> Usage {
    let mut all = vec![];
    if let Some(board) = room.boardroom() {
        for advisor in &board.advisors {
            let earlier = advisor.earlier.iter().map(|one| &one.standing);
            let said = earlier.chain([&advisor.standing]);
            all.extend(said.map(|standing| of_life(standing, |answer| answer.usage)));
        }
        for synthesis in &board.syntheses {
            all.extend(synthesis.failed.iter().map(|failed| failed.failure.usage));
            all.push(of_life(&synthesis.standing, |written| written.answer.usage));
            let papers = synthesis.held().into_iter().flat_map(|held| &held.papers);
            all.extend(papers.map(|paper| paper.usage()));
        }
    }
    if let Some(talk) = room.discussion() {
        all.extend(talk.transcript.iter().map(|entry| match &entry.said {
            Said::Decision(decided) => decided.usage,
            Said::Turn { spoken: Spoken::Words(answer), .. } => answer.usage,
            Said::Turn { spoken: Spoken::Failed { failure, .. }, .. } => failure.usage,
            Said::SynthesisFailed { failure, .. } => failure.usage,
            Said::Cut { usage, .. } => *usage,
            Said::Interjection { .. } => Usage::default(),
        }));
        all.extend(talk.conclusion().map(|conclusion| conclusion.answer.usage));
    }
    if let Some(council) = room.council() {
        all.extend(council.posts.iter().map(|post| post.usage));
        all.extend(council.silences.iter().map(|silence| silence.usage));
    }
    if let Some(board) = room.whiteboard() {
        all.extend(board.turns().map(|turn| of_life(&turn.life, |done| done.usage)));
    }
    all.into_iter().fold(Usage::default(), Usage::plus)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn what_calls_took_is_what_the_session_says(
        form in forms(),
        budget in budgets(),
        steps in proptest::collection::vec(steps(), 0..40),
        last in usages(),
    ) {
        let mut drive = Drive::open(form, budget);
        if matches!(form, Form::Council) {
            drive.step(Step::Somebody { wants: 1, seat: 1 });
        }
        steps.into_iter().for_each(|step| drive.step(step));
        drive.end(last);
    }
}
