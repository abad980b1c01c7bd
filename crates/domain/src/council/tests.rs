//! The rules by example: commands in; events, status and due calls out.
//!
//! Command number `n` of a story, from 1, is given at `at(n)` with the nonce
//! `nonce(n)`; the council was opened at `at(0)` with `nonce(0)`.

mod budgets;
mod changes;
mod golden;
mod mentions;
mod prompts;
mod properties;
mod records;

use super::Command as Own;
use super::*;
use crate::call::{Answer, FailureKind, Timing};
use crate::form::story::{self, Told, apply, ask, due};
use crate::names::{AGENT_NAME, ROOM_NAME};
use crate::reject::Wrong;

/// Gives the commands of a story one by one. All of them must be accepted.
#[track_caller]
fn check(council: Open, story: Vec<Command>, events: Vec<Event>, then: (&str, &[&str])) {
    let (state, log) = told(council, story);
    assert_eq!(log[1..], events);
    assert_eq!((state.status(), due_ids(&state)), (then.0, ids(then.1)));
}

/// The same, and then one command more, which must be refused.
#[track_caller]
fn check_refused(council: Open, story: Vec<Command>, command: Command, reject: Reject) {
    let n = story.len() + 1;
    let (state, _) = told(council, story);
    assert_eq!(decide(Some(&state), command, at(n), nonce(n)), Err(reject));
}

/// A council that may not be opened.
#[track_caller]
fn check_opening(council: Open, wrong: &[(&str, &str)]) {
    let refusal = decide(None, Command::Own(Own::Open(council)), at(0), nonce(0));
    assert_eq!(refusal, Err(invalid(wrong)));
}

/// Whom a text addresses, and whom it leaves out, when Bo posts it.
#[track_caller]
fn check_addressed(council: Open, text: &str, addressed: &[&str], left_out: &[&str]) {
    let (_, log) = told(council, vec![post("bo", text)]);
    let expected = posted(1, 1, "bo", text, addressed);
    assert_eq!(log[1], leaving_out(expected, left_out), "{text:?}");
}

#[track_caller]
fn told(council: Open, story: Vec<Command>) -> (State, Vec<Event>) {
    let (mut state, mut log) = (None, vec![]);
    for (n, command) in [Command::Own(Own::Open(council))].into_iter().chain(story).enumerate() {
        let told = format!("command {n}: {command:?}");
        let events = decide(state.as_ref(), command, at(n), nonce(n));
        let events = events.unwrap_or_else(|reject| panic!("{told} was refused: {reject:?}"));
        state = events.iter().fold(state, apply);
        log.extend(events);
    }
    (state.expect("a story begins with a council"), log)
}

fn due_ids(state: &State) -> Vec<CallId> {
    due(state).into_iter().map(|call| call.id).collect()
}

fn ids(ids: &[&str]) -> Vec<CallId> {
    ids.iter().map(|id| CallId((*id).to_owned())).collect()
}

type Command = Told<Own>;

fn decide(
    state: Option<&State>,
    command: Command,
    at: Timestamp,
    nonce: Nonce,
) -> Result<Vec<Event>, Reject> {
    story::decide(state, command, &Moment { at, nonce, actor: "operator".into() })
}

fn at(n: usize) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + n as i64).unwrap()
}

fn nonce(n: usize) -> Nonce {
    Nonce(format!("n{n}"))
}

// ---------------------------------------------------------------------------
// Councils

/// Who has a model is called by it: `ann` has `m/ann`.
fn council(models: &[&str], people: &[&str]) -> Open {
    let model = |name: &&str| Member {
        name: (*name).into(),
        model: Some(ModelName::new("m", name)),
        persona: None,
        seated: Default::default(),
        budget: Allowance::default(),
    };
    let person = |name: &&str| Member {
        name: (*name).into(),
        model: None,
        persona: None,
        seated: Default::default(),
        budget: Allowance::default(),
    };
    Open {
        name: "tea".into(),
        charter: "Choose the tea.".into(),
        members: models.iter().map(model).chain(people.iter().map(person)).collect(),
        project: None,
        by: None,
        prices: Noted::default(),
        budget: None,
    }
}

/// Ann and Cy have models, Bo and Di post by themselves.
fn four() -> Open {
    council(&["ann", "cy"], &["bo", "di"])
}

const SEVEN: [&str; 7] = ["a1", "a2", "a3", "a4", "a5", "a6", "a7"];

fn seven() -> Open {
    council(&SEVEN, &[])
}

// ---------------------------------------------------------------------------
// Commands

fn post(sender: &str, body: &str) -> Command {
    Command::Own(Own::Post {
        sender: sender.into(),
        proved: true,
        body: body.into(),
        reply_to: None,
    })
}

fn reply(sender: &str, body: &str, to: u64) -> Command {
    Command::Own(Own::Post {
        sender: sender.into(),
        proved: true,
        body: body.into(),
        reply_to: Some(to),
    })
}

fn settle(call: &str, outcome: Outcome) -> Command {
    Command::Settle { call: CallId(call.into()), outcome }
}

fn answers(call: &str, text: &str) -> Command {
    settle(call, Outcome::Answered(answer(text)))
}

fn fails(call: &str, kind: FailureKind) -> Command {
    settle(call, Outcome::Failed { failure: failure(kind), partial: "Half a".into() })
}

fn hands_back(call: &str, partial: &str) -> Command {
    settle(call, Outcome::Stopped { partial: partial.into(), usage: crate::Usage::default() })
}

fn token_renewed(n: usize, sender: &str, generation: u32) -> Event {
    Event::TokenRenewed { sender: sender.into(), generation, at: at(n) }
}

fn close() -> Command {
    Command::Own(Own::Close { summary: None, by: None })
}

fn changes(charter: Option<&str>, add: &[Member], remove: &[&str]) -> Command {
    Command::Own(Own::Change(Changing {
        charter: charter.map(str::to_owned),
        add: add.to_vec(),
        remove: names(remove),
        prices: Noted::default(),
    }))
}

fn answer(text: &str) -> Answer {
    Answer {
        text: text.into(),
        reasoning: String::new(),
        cut: false,
        usage: Usage::default(),
        timing: Timing::default(),
        attempts: 1,
    }
}

fn failure(kind: FailureKind) -> Failure {
    Failure { kind, message: "It broke.".into(), attempts: 1, usage: crate::Usage::default() }
}

// ---------------------------------------------------------------------------
// Events

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn posted(n: usize, sequence: u64, sender: &str, body: &str, addressed: &[&str]) -> Event {
    Event::Posted {
        sequence,
        sender: sender.into(),
        body: body.into(),
        reply_to: None,
        addressed: names(addressed),
        left_out: vec![],
        at: at(n),
    }
}

fn changed(n: usize, charter: Option<&str>, added: &[Member], removed: &[&str]) -> Event {
    let (charter, removed) = (charter.map(Arc::from), names(removed));
    Event::Changed { charter, added: added.into(), removed, at: at(n) }
}

fn began(n: usize, member: &str, upto: u64) -> Event {
    Event::TurnBegan { member: member.into(), upto, nonce: nonce(n) }
}

/// An answer to the post `upto` from outside.
fn answered(
    n: usize,
    sequence: u64,
    (member, upto): (&str, u64),
    text: &str,
    addressed: &[&str],
) -> Event {
    Event::Answered {
        member: member.into(),
        upto,
        sequence,
        answer: answer(text),
        reply_to: Some(upto),
        depth: 1,
        addressed: names(addressed),
        left_out: vec![],
        at: at(n),
    }
}

fn at_depth(event: Event, to: u64, deep: u8) -> Event {
    match event {
        Event::Answered { member, upto, sequence, answer, addressed, left_out, at, .. } => {
            let (reply_to, depth) = (Some(to), deep);
            Event::Answered {
                member,
                upto,
                sequence,
                answer,
                reply_to,
                depth,
                addressed,
                left_out,
                at,
            }
        }
        other => panic!("{other:?} has no depth"),
    }
}

fn leaving_out(mut event: Event, out: &[&str]) -> Event {
    match &mut event {
        Event::Posted { left_out, .. } | Event::Answered { left_out, .. } => *left_out = names(out),
        other => panic!("{other:?} leaves nobody out"),
    }
    event
}

fn passed(member: &str, upto: u64, text: &str) -> Event {
    Event::Passed { member: member.into(), upto, text: text.into(), usage: Usage::default() }
}

fn failed(member: &str, upto: u64, kind: FailureKind) -> Event {
    let (failure, partial) = (failure(kind), "Half a".into());
    Event::AnswerFailed { member: member.into(), upto, failure, partial }
}

fn stopped(member: &str, upto: u64, partial: &str) -> Event {
    Event::AnswerStopped {
        member: member.into(),
        upto,
        partial: partial.into(),
        usage: crate::Usage::default(),
    }
}

fn closed(n: usize) -> Event {
    Event::Closed { summary: None, by: None, at: at(n) }
}

/// The commands, and one more after them.
fn then<T>(mut story: Vec<T>, more: impl IntoIterator<Item = T>) -> Vec<T> {
    story.extend(more);
    story
}

fn not_now(state: &'static str, message: &str, allowed: &[&'static str]) -> Reject {
    Reject::NotNow { state, message: message.into(), allowed: allowed.to_vec() }
}

fn invalid(wrong: &[(&str, &str)]) -> Reject {
    Reject::Invalid(wrong.iter().map(|(field, problem)| Wrong::new(*field, *problem)).collect())
}

// ---------------------------------------------------------------------------
// Opening

#[test]
fn a_council_is_opened_as_asked_and_is_quiet() {
    let mut council = four();
    council.members[0].persona = Some("A botanist.".into());
    council.members[1].persona = Some(" ".into());
    council.project = Some("Kitchen / 2027".into());
    council.by = Some("Bo B.".into());
    let (state, log) = told(council.clone(), vec![]);
    council.members[1].persona = None;
    assert_eq!(
        log,
        [Event::Opened {
            name: "tea".into(),
            charter: "Choose the tea.".into(),
            members: council.members.into(),
            project: Some("Kitchen / 2027".into()),
            by: Some("Bo B.".into()),
            at: at(0),
        }]
    );
    assert_eq!((due(&state), state.status()), (vec![], "open"));
    assert_eq!(state.allowed(), ["post", "change", "close", "export"]);
}

#[test]
fn every_wrong_field_of_an_opening_is_named() {
    let mut council = council(&["ann", "Ann", "ann", "All", "x/y"], &["bo"]);
    council.name = "Tea".into();
    council.charter = " ".into();
    council.project = Some("a\nb".into());
    council.by = Some("b".repeat(201));
    council.members[0].model = Some(ModelName("m".into()));
    council.members[5].persona = Some("p".repeat(8193));
    check_opening(
        council,
        &[
            ("name", ROOM_NAME),
            ("charter", "must not be empty"),
            ("members[0].model", "a model is named provider/model"),
            ("members[1].name", "differs from the member \"ann\" only in case"),
            ("members[2].name", "is also the name of another member"),
            ("members[3].name", "`all` means everyone; choose another name"),
            ("members[4].name", AGENT_NAME),
            ("members[5].persona", "is 8193 bytes long; at most 8192 are allowed"),
            ("project", "must not contain U+000A, which ends a line; it is character 2"),
            ("by", "is 201 bytes long; at most 200 are allowed"),
        ],
    );
}

#[test]
fn a_council_has_so_many_members_and_such_a_charter() {
    let many = |most: usize| (0..most).map(|n| format!("a{n}")).collect::<Vec<_>>();
    let seated = |most: usize| {
        let names = many(most);
        council(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    };
    told(seated(16), vec![]);
    check_opening(seated(17), &[("members", "a council can have at most 16 members")]);
    let charter = |bytes: usize| Open { charter: "c".repeat(bytes), ..four() };
    told(charter(8192), vec![]);
    check_opening(charter(8193), &[("charter", "is 8193 bytes long; at most 8192 are allowed")]);
    told(council(&[], &[]), vec![post("bo", "Anybody?")]);
}

#[test]
fn a_council_is_opened_once_and_before_anything_else() {
    let refusal = not_now(
        "open",
        "This council has already been opened.",
        &["post", "change", "close", "export"],
    );
    check_refused(four(), vec![], Command::Own(Own::Open(four())), refusal);
    let unknown = Reject::Unknown("There is no such council.".into());
    for command in [post("bo", "Hi."), close()] {
        assert_eq!(decide(None, command, at(0), nonce(0)), Err(unknown.clone()));
    }
    let nothing = Reject::Unknown("There is no such session.".into());
    assert_eq!(decide(None, Command::Stop, at(0), nonce(0)), Err(nothing));
    let late = answers("answer/ann/1", "Yes.");
    assert_eq!(decide(None, late, at(0), nonce(0)), Err(Reject::Stale));
}

// ---------------------------------------------------------------------------
// Posts

#[test]
fn posts_are_a_gapless_sequence_and_may_reply_to_one_another() {
    let story = vec![post("bo", "@di Hi."), reply("eve", "@bo Hi.", 1), reply("di", "@bo Yes.", 2)];
    let to = |event: Event, to: u64| match event {
        Event::Posted { sequence, sender, body, addressed, left_out, at, .. } => {
            let reply_to = Some(to);
            Event::Posted { sequence, sender, body, reply_to, addressed, left_out, at }
        }
        other => panic!("{other:?} is no post"),
    };
    let events = vec![
        posted(1, 1, "bo", "@di Hi.", &[]),
        to(posted(2, 2, "eve", "@bo Hi.", &[]), 1),
        to(posted(3, 3, "di", "@bo Yes.", &[]), 2),
    ];
    check(four(), story.clone(), events, ("open", &[]));

    let (state, _) = told(four(), story);
    let page = |since, limit| -> Vec<u64> {
        state.posts_after(since, limit).iter().map(|post| post.sequence).collect()
    };
    assert_eq!(page(0, 100), [1, 2, 3]);
    assert_eq!(page(1, 1), [2]);
    assert_eq!((page(3, 100), page(0, 0), page(u64::MAX, usize::MAX)), (vec![], vec![], vec![]));
    let claimed = ["ann", "bo", "di", "eve", "Eve", "fay"].map(|name| state.is_claimed(name));
    assert_eq!(claimed, [false, true, true, true, false, false]);
}

#[test]
fn every_wrong_field_of_a_post_is_named() {
    let story = vec![post("eve", "@di Hi.")];
    let refused = |command, wrong: &[(&str, &str)]| {
        check_refused(four(), story.clone(), command, invalid(wrong));
    };
    refused(
        reply("x/y", "\n", 2),
        &[
            ("sender", AGENT_NAME),
            ("body", "must not be empty"),
            ("replyTo", "there is no post 2; posts are numbered 1 to 1"),
        ],
    );
    refused(reply("bo", "Hi.", 0), &[("replyTo", "there is no post 0; posts are numbered 1 to 1")]);
    let reserved = "`all` means everyone; choose another name";
    refused(post("ALL", "Hi."), &[("sender", reserved)]);
    let case = |name| format!("differs from {name:?} only in case; use that, or another name");
    refused(post("BO", "Hi."), &[("sender", &case("bo"))]);
    refused(post("Eve", "Hi."), &[("sender", &case("eve"))]);
    let long = "is 65537 bytes long; at most 65536 are allowed";
    refused(post("bo", &"x".repeat(65_537)), &[("body", long)]);
    told(four(), vec![post("bo", &"x".repeat(65_536))]);
    let first = "there is no post 1; this one is the first";
    check_refused(four(), vec![], reply("bo", "Hi.", 1), invalid(&[("replyTo", first)]));
}

#[test]
fn nobody_posts_for_a_member_with_a_model() {
    let why = "ann has a model and answers automatically; post under your own name.";
    for name in ["ann", "Ann"] {
        check_refused(four(), vec![], post(name, "Hi."), Reject::Forbidden(why.into()));
    }
}

#[test]
fn the_token_of_who_has_posted_is_made_anew_until_the_council_closes() {
    let renew = |sender: &str| Command::Own(Own::RenewToken { sender: sender.into() });
    let story = vec![post("bo", "@di Hi."), renew("bo"), renew("bo")];
    let (state, log) = told(four(), story);
    assert_eq!(log[2..], [token_renewed(2, "bo", 1), token_renewed(3, "bo", 2)]);
    assert_eq!((state.renewals("bo"), state.renewals("di")), (2, 0));
    let unknown = Reject::Unknown("No one has posted here as di.".into());
    check_refused(four(), vec![post("bo", "@di Hi.")], renew("di"), unknown);
    let many = [post("bo", "@di Hi.")].into_iter().chain((0..1000).map(|_| renew("bo")));
    let most = Reject::Forbidden("It has been renewed 1000 times, the maximum.".into());
    check_refused(four(), many.collect(), renew("bo"), most);
    let (state, _) = told(four(), vec![post("bo", "@di Hi."), close()]);
    let late = decide(Some(&state), renew("bo"), at(3), nonce(3));
    assert!(matches!(late, Err(Reject::NotNow { state: "closed", .. })), "{late:?}");
}

#[test]
fn so_many_may_post_without_being_members() {
    let strangers = (0..256).map(|n| post(&format!("s{n}"), "@bo Hi."));
    let story = then(vec![post("di", "@bo Hi.")], strangers);
    let refusal = not_now(
        "open",
        "This council has the maximum number of senders.",
        &["post", "change", "close", "export"],
    );
    check_refused(four(), story.clone(), post("s256", "@di Hi."), refusal);
    told(four(), then(story, [post("s0", "@di Hi."), post("bo", "@di Hi.")]));
}

#[test]
fn a_full_council_takes_no_post_but_the_answers_that_are_owed() {
    let (mut state, _) = told(four(), vec![post("bo", "@ann Hi.")]);
    let first = state.posts[0].clone();
    state.posts.resize(limits::COUNCIL_POSTS, first);
    let full = "This council has the maximum number of posts.";
    assert_eq!(
        decide(Some(&state), post("bo", "Hi."), at(2), nonce(2)),
        Err(not_now("open", full, &["stop", "change", "close", "export"]))
    );
    assert_eq!(
        decide(Some(&state), answers("answer/ann/1", "Yes."), at(2), nonce(2)),
        Ok(vec![answered(2, 100_001, ("ann", 1), "Yes.", &[])])
    );
}

// ---------------------------------------------------------------------------
// Who is addressed

#[test]
fn a_post_from_outside_addresses_whom_it_mentions_or_everybody() {
    check_addressed(four(), "Which tea?", &["ann", "cy"], &[]);
    check_addressed(four(), "@cy and @ann, which tea?", &["ann", "cy"], &[]);
    check_addressed(four(), "@cy, which tea?", &["cy"], &[]);
    check_addressed(four(), "@Cy: which tea?", &["cy"], &[]);
    check_addressed(four(), "@di Which tea?", &[], &[]);
    check_addressed(four(), "@di @cy Which tea?", &["cy"], &[]);
    check_addressed(four(), "@di @all Which tea?", &["ann", "cy"], &[]);
    check_addressed(four(), "@nobody `@cy` Which tea?", &["ann", "cy"], &[]);
    check_addressed(four(), "I, @bo, ask: which tea?", &["ann", "cy"], &[]);
    check_addressed(council(&[], &["bo", "di"]), "Which tea?", &[], &[]);
}

#[test]
fn who_has_posted_can_be_mentioned_too() {
    let story = vec![post("eve", "@di Hi."), post("bo", "@eve Hi.")];
    let events = vec![posted(1, 1, "eve", "@di Hi.", &[]), posted(2, 2, "bo", "@eve Hi.", &[])];
    check(four(), story, events, ("open", &[]));
}

#[test]
fn a_post_makes_five_members_answer_and_says_who_is_left_out() {
    check_addressed(seven(), "Which tea?", &SEVEN[..5], &SEVEN[5..]);
    check_addressed(seven(), "@a7 @a6 @a5 @a4 @a3 @a2", &SEVEN[1..6], &SEVEN[6..]);
    check_addressed(seven(), "@a7 @a6 @a5 @a4 @a3", &SEVEN[2..], &[]);
    let text = "Ask @a2 @a3 @a4 @a5 @a6 @a7.";
    let story = vec![post("bo", "@a1 Who?"), answers("answer/a1/1", text)];
    let answer = answered(2, 2, ("a1", 1), text, &SEVEN[1..6]);
    let events = vec![
        posted(1, 1, "bo", "@a1 Who?", &["a1"]),
        began(1, "a1", 1),
        leaving_out(answer, &["a7"]),
        began(2, "a2", 2),
    ];
    check(seven(), story, events, ("open", &["answer/a2/2"]));
}

#[test]
fn a_model_addresses_only_whom_it_names() {
    for text in ["Green.", "@all Green.", "@bo Green.", "@ann says green.", "`@cy` Green."] {
        let story = vec![post("bo", "@ann Which?"), answers("answer/ann/1", text)];
        let events = vec![
            posted(1, 1, "bo", "@ann Which?", &["ann"]),
            began(1, "ann", 1),
            answered(2, 2, ("ann", 1), text, &[]),
        ];
        check(four(), story, events, ("open", &[]));
    }
}

// ---------------------------------------------------------------------------
// Turns

#[test]
fn members_answer_in_turn_and_what_comes_meanwhile_is_caught_up_with() {
    let story = vec![
        post("bo", "Which tea?"),
        post("di", "Not black."),
        answers("answer/ann/1", "Green."),
        answers("answer/cy/3", "White."),
        answers("answer/ann/4", "Green is not black."),
    ];
    let events = vec![
        posted(1, 1, "bo", "Which tea?", &["ann", "cy"]),
        began(1, "ann", 1),
        posted(2, 2, "di", "Not black.", &["ann", "cy"]),
        answered(3, 3, ("ann", 1), "Green.", &[]),
        began(3, "cy", 3),
        // One answer to both posts.
        at_depth(answered(4, 4, ("cy", 3), "White.", &[]), 2, 1),
        began(4, "ann", 4),
        at_depth(answered(5, 5, ("ann", 4), "Green is not black.", &[]), 2, 1),
    ];
    check(four(), story.clone(), events, ("open", &[]));

    let (state, _) = told(four(), story.into_iter().take(2).collect());
    assert_eq!(state.answering(), Some("ann"));
    assert_eq!(state.owing(), [("ann", 1), ("cy", 1), ("ann", 2), ("cy", 2)]);
    assert_eq!(state.allowed(), ["post", "stop", "change", "close", "export"]);
}

#[test]
fn who_owes_for_the_oldest_post_is_next() {
    let story = vec![
        post("bo", "@ann One?"),
        post("bo", "@cy Two?"),
        post("bo", "@ann Three?"),
        answers("answer/ann/1", "Yes."),
    ];
    let events = vec![
        posted(1, 1, "bo", "@ann One?", &["ann"]),
        began(1, "ann", 1),
        posted(2, 2, "bo", "@cy Two?", &["cy"]),
        posted(3, 3, "bo", "@ann Three?", &["ann"]),
        answered(4, 4, ("ann", 1), "Yes.", &[]),
        began(4, "cy", 4),
    ];
    check(four(), story, events, ("open", &["answer/cy/4"]));
}

#[test]
fn a_relay_ends_at_depth_three() {
    let story = vec![
        post("bo", "@ann Which?"),
        answers("answer/ann/1", "@cy Green?"),
        answers("answer/cy/2", "@ann Or white?"),
        answers("answer/ann/3", "@cy White."),
    ];
    let last = at_depth(answered(4, 4, ("ann", 3), "@cy White.", &[]), 3, 3);
    let events = vec![
        posted(1, 1, "bo", "@ann Which?", &["ann"]),
        began(1, "ann", 1),
        answered(2, 2, ("ann", 1), "@cy Green?", &["cy"]),
        began(2, "cy", 2),
        at_depth(answered(3, 3, ("cy", 2), "@ann Or white?", &["ann"]), 2, 2),
        began(3, "ann", 3),
        leaving_out(last, &["cy"]),
    ];
    check(four(), story, events, ("open", &[]));
}

#[test]
fn a_catch_up_answer_is_as_deep_as_the_deepest_post_that_addressed_it() {
    let story = vec![
        post("bo", "@ann Which?"),
        post("bo", "@cy And you?"),
        answers("answer/ann/1", "@cy Green?"),
        post("di", "@ann Why?"),
        answers("answer/cy/3", "@ann White."),
        answers("answer/ann/5", "So be it."),
    ];
    let events = vec![
        posted(1, 1, "bo", "@ann Which?", &["ann"]),
        began(1, "ann", 1),
        posted(2, 2, "bo", "@cy And you?", &["cy"]),
        answered(3, 3, ("ann", 1), "@cy Green?", &["cy"]),
        began(3, "cy", 3),
        posted(4, 4, "di", "@ann Why?", &["ann"]),
        at_depth(answered(5, 5, ("cy", 3), "@ann White.", &["ann"]), 3, 2),
        began(5, "ann", 5),
        at_depth(answered(6, 6, ("ann", 5), "So be it.", &[]), 5, 3),
    ];
    check(four(), story, events, ("open", &[]));
}

#[test]
fn an_answer_that_says_nothing_is_a_pass_and_uses_no_sequence() {
    let nothing = "<think>What would I say?</think>\nAnn: **Agreed.**";
    let story = vec![
        post("bo", "Green?"),
        answers("answer/ann/1", nothing),
        answers("answer/cy/1", "No, white."),
    ];
    let events = vec![
        posted(1, 1, "bo", "Green?", &["ann", "cy"]),
        began(1, "ann", 1),
        passed("ann", 1, "**Agreed.**"),
        began(2, "cy", 1),
        answered(3, 2, ("cy", 1), "No, white.", &[]),
    ];
    check(four(), story, events, ("open", &[]));
}

#[test]
fn thinking_and_the_own_name_are_no_part_of_a_post() {
    let text = "<think>Green or white?</think>\n\nAnn: Green.";
    let (state, log) = told(four(), vec![post("bo", "@ann?"), answers("answer/ann/1", text)]);
    let said = Answer { reasoning: "Green or white?".into(), ..answer("Green.") };
    let event = match answered(2, 2, ("ann", 1), "", &[]) {
        Event::Answered {
            member,
            upto,
            sequence,
            reply_to,
            depth,
            addressed,
            left_out,
            at,
            ..
        } => {
            let answer = said;
            Event::Answered {
                member,
                upto,
                sequence,
                answer,
                reply_to,
                depth,
                addressed,
                left_out,
                at,
            }
        }
        other => other,
    };
    assert_eq!((log.last(), &*state.posts[1].body), (Some(&event), "Green."));
}

#[test]
fn a_failed_answer_is_recorded_and_the_turn_goes_on() {
    let story = vec![
        post("bo", "Which?"),
        fails("answer/ann/1", FailureKind::Idle),
        fails("answer/cy/1", FailureKind::Refused),
    ];
    let events = vec![
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        began(1, "ann", 1),
        failed("ann", 1, FailureKind::Idle),
        began(2, "cy", 1),
        failed("cy", 1, FailureKind::Refused),
    ];
    check(four(), story, events, ("open", &[]));
}

#[test]
fn an_answer_without_a_word_is_a_failure_and_one_with_too_many_is_cut() {
    let message = "The model returned an empty answer.".into();
    let empty = Event::AnswerFailed {
        member: "ann".into(),
        upto: 1,
        failure: Failure { message, ..failure(FailureKind::Empty) },
        partial: String::new(),
    };
    let most = "ä".repeat(32_768);
    let mut long = answered(2, 2, ("ann", 1), &most, &[]);
    if let Event::Answered { answer, .. } = &mut long {
        answer.cut = true;
    }
    let cases = [
        (" \n".to_owned(), empty.clone()),
        ("<think>Hm.</think>".to_owned(), empty),
        (most.clone(), answered(2, 2, ("ann", 1), &most, &[])),
        (format!("{most}ä"), long.clone()),
        (format!("{most}a"), long),
    ];
    for (text, event) in cases {
        let story = vec![post("bo", "@ann?"), answers("answer/ann/1", &text)];
        let events = vec![posted(1, 1, "bo", "@ann?", &["ann"]), began(1, "ann", 1), event];
        check(four(), story, events, ("open", &[]));
    }
}

#[test]
fn an_outcome_of_a_call_that_is_not_due_is_stale() {
    let story = vec![post("bo", "@ann Which?"), answers("answer/ann/1", "Green.")];
    let stale = |story: &[Command], command| {
        check_refused(four(), story.to_vec(), command, Reject::Stale);
    };
    stale(&story, answers("answer/ann/1", "White."));
    stale(&story, hands_back("answer/ann/1", "Gr"));
    stale(&story[..1], answers("answer/cy/1", "White."));
    stale(&story[..1], answers("answer/ann/2", "White."));
    stale(&story[..1], answers("answer", "White."));
    stale(&story[..1], hands_back("answer/ann/1", "Gr"));
    stale(&story[..1], settle("answer/ann/1", Outcome::Elapsed));
    stale(&story[..0], answers("answer/ann/0", "White."));
}

// ---------------------------------------------------------------------------
// Stop and close

#[test]
fn stop_drops_what_runs_and_what_is_owed_and_the_council_goes_on() {
    let story = vec![post("bo", "Which?"), Command::Stop, hands_back("answer/ann/1", "Gr")];
    let events = vec![
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        began(1, "ann", 1),
        Event::Stopped,
        stopped("ann", 1, "Gr"),
    ];
    check(four(), story.clone(), events.clone(), ("open", &[]));
    let refusal = not_now("open", "No one is answering.", &["post", "change", "close", "export"]);
    check_refused(four(), story.clone(), Command::Stop, refusal.clone());
    check_refused(four(), vec![], Command::Stop, refusal);
    check_refused(four(), story.clone(), hands_back("answer/ann/1", "Gr"), Reject::Stale);
    check_refused(four(), story.clone(), answers("answer/ann/1", "Green."), Reject::Stale);

    let more = [posted(4, 2, "bo", "@cy?", &["cy"]), began(4, "cy", 2)];
    let story = then(story, [post("bo", "@cy?")]);
    check(four(), story, then(events, more), ("open", &["answer/cy/2"]));
}

#[test]
fn what_is_handed_back_after_the_next_turn_began_is_kept_with_its_own() {
    let story = vec![
        post("bo", "@ann One?"),
        Command::Stop,
        post("bo", "@ann Two?"),
        answers("answer/ann/1", "Green."),
    ];
    let events = vec![
        posted(1, 1, "bo", "@ann One?", &["ann"]),
        began(1, "ann", 1),
        Event::Stopped,
        posted(3, 2, "bo", "@ann Two?", &["ann"]),
        began(3, "ann", 2),
        stopped("ann", 1, "Green."),
    ];
    check(four(), story.clone(), events, ("open", &["answer/ann/2"]));
    let (state, _) = told(four(), story);
    let why = Why::Stopped { partial: Some("Green.".into()) };
    assert_eq!(
        state.silences,
        [Arc::new(Silence {
            member: "ann".into(),
            upto: 1,
            model: Some(ModelName::new("m", "ann")),
            why,
            usage: Usage::default()
        })]
    );
}

#[test]
fn a_closed_council_wants_nothing_and_takes_nothing_but_what_was_cut_off() {
    let by_hand =
        Command::Own(Own::Close { summary: Some("Green.".into()), by: Some("Bo".into()) });
    let story = vec![post("bo", "Which?"), by_hand, hands_back("answer/ann/1", "")];
    let (summary, by) = (Some("Green.".into()), Some("Bo".into()));
    let events = vec![
        posted(1, 1, "bo", "Which?", &["ann", "cy"]),
        began(1, "ann", 1),
        Event::Closed { summary, by, at: at(2) },
        stopped("ann", 1, ""),
    ];
    check(four(), story.clone(), events, ("closed", &[]));
    let refusal = not_now("closed", "This council is closed.", &["export"]);
    for command in [post("bo", "Hi."), post("", ""), close(), Command::Stop] {
        check_refused(four(), story.clone(), command, refusal.clone());
    }
    check_refused(four(), story.clone(), answers("answer/ann/1", "Green."), Reject::Stale);
    let (state, _) = told(four(), story);
    assert_eq!((state.answering(), state.owing()), (None, vec![]));
}

#[test]
fn a_summary_is_bounded_and_of_blanks_it_is_none() {
    let close = |summary: &str, by: &str| {
        Command::Own(Own::Close { summary: Some(summary.into()), by: Some(by.into()) })
    };
    check(four(), vec![close(" \n", " ")], vec![closed(1)], ("closed", &[]));
    let wrong = [
        ("summary", "is 65537 bytes long; at most 65536 are allowed"),
        ("by", "must not contain U+000A, which ends a line; it is character 2"),
    ];
    check_refused(four(), vec![], close(&"s".repeat(65_537), "B\no"), invalid(&wrong));
}

// ---------------------------------------------------------------------------
// The record

#[test]
fn tokens_of_answers_and_passes_are_counted() {
    let used = |call: &str, text: &str, tokens| {
        let usage = Usage { input_tokens: Some(tokens), output_tokens: None, ..Usage::default() };
        settle(call, Outcome::Answered(Answer { usage, ..answer(text) }))
    };
    let story =
        vec![post("bo", "?"), used("answer/ann/1", "Green.", 3), used("answer/cy/2", "ok", 4)];
    let (state, _) = told(four(), story);
    assert_eq!(
        state.ledger.total(),
        Usage { input_tokens: Some(7), output_tokens: None, ..Usage::default() }
    );
}

#[test]
fn the_document_holds_the_thread_and_what_was_not_posted() {
    let mut council = seven();
    council.members[0].persona = Some("A botanist.\nBrief.".into());
    council.members[6].model = None;
    council.project = Some("Kitchen".into());
    council.by = Some("Bo".into());
    let story = vec![
        post("bo", "Which tea?"),
        answers("answer/a1/1", "Green."),
        answers("answer/a2/2", "I agree."),
        fails("answer/a3/2", FailureKind::Idle),
        reply("a7", "@a1 Why?", 2),
        answers("answer/a4/2", "White.\n\n- It is light."),
        Command::Stop,
        hands_back("answer/a5/4", "Well,\nI th"),
        post("bo", "@a2 And you?"),
    ];
    let (state, _) = told(council.clone(), story.clone());
    insta::assert_snapshot!(markdown(&state));
    let ended =
        Command::Own(Own::Close { summary: Some("Green.\n".into()), by: Some("Bo".into()) });
    let (state, _) = told(council, then(story, [ended]));
    let page = markdown(&state);
    let end = page.split("### 5.").nth(1).expect("the last post");
    insta::assert_snapshot!(end);
}

#[test]
fn a_name_that_has_posted_needs_proof() {
    let opened = Command::Own(Own::Open(Open {
        name: "guild".into(),
        charter: "Decide.".into(),
        members: vec![],
        project: None,
        by: None,
        prices: Noted::default(),
        budget: None,
    }));
    let at = Timestamp::UNIX_EPOCH;
    let nonce = || Nonce("n".into());
    let post = |proved| {
        Command::Own(Own::Post {
            sender: "ann".into(),
            proved,
            body: "Hello.".into(),
            reply_to: None,
        })
    };
    let mut state = None;
    for command in [opened, post(false), post(true)] {
        for event in decide(state.as_ref(), command, at, nonce()).unwrap() {
            state = apply(state, &event);
        }
    }
    let refused = decide(state.as_ref(), post(false), at, nonce());
    let message = "ann is someone else's name here.".to_owned();
    assert_eq!(refused, Err(Reject::Forbidden(message)));
}
