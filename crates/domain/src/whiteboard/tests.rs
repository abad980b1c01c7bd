//! The rules by example: commands in; events and phase out, or a refusal.
//!
//! Every board of these stories is opened by fay and joined by ada and ben
//! (specialists) and olga (an operator); ada and ben have made one proposal each.
//! Command number `n` of a story, from 1, is given at `at(n)`. What brought the
//! board to the phase that the story begins in happened before, from `at(-99)` on.

mod admission;
mod conflicts;
mod golden;
mod properties;
mod records;
mod seats;
mod summaries;

pub(crate) use super::Command as Own;
use super::*;
use crate::form::story::{self, Told, apply, due};
use crate::view::{self, Viewer};

/// Gives the commands of a story one by one. All of them must be accepted.
#[track_caller]
fn check(from: Phase, story: Vec<Command>, events: Vec<Event>, then: Phase) {
    let (state, log) = told(board(), reached(from), story);
    assert_eq!((log, state.phase), (events, then));
}

/// The same, and then one command more, which must be refused.
#[track_caller]
fn check_refused(from: Phase, story: Vec<Command>, command: Command, reject: Reject) {
    let n = story.len() as i64 + 1;
    let (state, _) = told(board(), reached(from), story);
    assert_eq!(decide(Some(&state), command, at(n)), Err(reject));
}

/// The state at the end, and what the story added to the log.
#[track_caller]
pub(crate) fn told(open: Open, before: Vec<Command>, story: Vec<Command>) -> (State, Vec<Event>) {
    let (mut state, mut log) = (None, vec![]);
    let before = [Command::Own(Own::Open(open))].into_iter().chain(before).zip(-99..);
    for (command, n) in before.chain(story.into_iter().zip(1..)) {
        let told = format!("command {n}: {command:?}");
        let events = decide(state.as_ref(), command, at(n));
        let events = events.unwrap_or_else(|reject| panic!("{told} was refused: {reject:?}"));
        state = events.iter().fold(state, apply);
        log.extend(events.into_iter().filter(|_| n > 0));
    }
    (state.expect("a story begins with a board"), log)
}

pub(crate) type Command = Told<Own>;

pub(crate) fn decide(
    state: Option<&State>,
    command: Command,
    at: Timestamp,
) -> Result<Vec<Event>, Reject> {
    story::decide(
        state,
        command,
        &Moment { at, nonce: crate::Nonce(String::new()), actor: "operator".into() },
    )
}

pub(crate) fn at(n: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + n).unwrap()
}

// ---------------------------------------------------------------------------
// Boards

pub(crate) fn board() -> Open {
    Open {
        name: "adr-1".into(),
        topic: "Which tool builds the docs?".into(),
        project: None,
        by: agent("fay"),
        principal: None,
        admission: Admission::Open,
        debate: Visibility::Full,
        deadlines: vec![],
        seats: vec![],
        prices: Noted::default(),
        budget: None,
    }
}

fn with_deadlines(deadlines: &[(Phase, u64)]) -> Open {
    let deadlines =
        deadlines.iter().map(|(phase, after_ms)| Deadline { phase: *phase, after_ms: *after_ms });
    Open { deadlines: deadlines.collect(), ..board() }
}

/// What happened before a story that begins in this phase.
pub(crate) fn reached(phase: Phase) -> Vec<Command> {
    let way = Phase::ALL.into_iter().skip(1).take_while(|to| *to <= phase);
    let blind = vec![
        register("ada", Role::Specialist),
        register("ben", Role::Specialist),
        register("olga", Role::Operator),
        post("ada", PostKind::Proposal, "Adopt mkdocs"),
        post("ben", PostKind::Proposal, "Adopt mdbook"),
    ];
    blind.into_iter().chain(way.map(|to| moves("fay", to))).collect()
}

// ---------------------------------------------------------------------------
// Commands

pub(crate) fn agent(name: &str) -> AgentName {
    AgentName(name.into())
}

pub(crate) fn post_id(id: &str) -> PostId {
    PostId(id.into())
}

pub(crate) fn note_id(id: &str) -> AnnotationId {
    AnnotationId(id.into())
}

pub(crate) fn register(name: &str, role: Role) -> Command {
    Command::Own(Own::Register { agent: agent(name), role, domain: None, shown: Shown::Nothing })
}

fn register_for(name: &str, domain: &str) -> Command {
    let domain = Some(domain.into());
    let (role, shown) = (Role::Specialist, Shown::Nothing);
    Command::Own(Own::Register { agent: agent(name), role, domain, shown })
}

pub(crate) fn content(kind: PostKind, title: &str) -> Content {
    Content {
        kind,
        title: title.into(),
        body: format!("{title}: why."),
        target_file: None,
        target_location: None,
        severity: None,
        finding_refs: vec![],
        cascade_targets: vec![],
    }
}

pub(crate) fn post(name: &str, kind: PostKind, title: &str) -> Command {
    posts(name, content(kind, title))
}

pub(crate) fn posts(name: &str, content: Content) -> Command {
    Command::Own(Own::Post { agent: agent(name), content })
}

pub(crate) fn annotate(name: &str, post: &str, note: Note) -> Command {
    let body = format!("{name} on {post}.");
    Command::Own(Own::Annotate { agent: agent(name), post: post_id(post), note, body })
}

fn validates(name: &str, post: &str, result: Finding) -> Command {
    annotate(name, post, Note::Validation { result })
}

pub(crate) fn challenges(name: &str, post: &str) -> Command {
    annotate(name, post, Note::Challenge)
}

fn withdraws(name: &str, post: &str, challenge: Option<&str>) -> Command {
    annotate(name, post, Note::Withdrawal { challenge: challenge.map(note_id) })
}

fn rebuts(name: &str, post: &str, challenge: Option<&str>) -> Command {
    annotate(name, post, Note::Rebuttal { challenge: challenge.map(note_id) })
}

fn resolves(name: &str, post: &str, challenge: &str) -> Command {
    annotate(name, post, Note::Resolution { challenge: note_id(challenge) })
}

pub(crate) fn votes(name: &str, post: &str, choice: Choice) -> Command {
    Command::Own(Own::Vote { agent: agent(name), post: post_id(post), choice, reason: None })
}

pub(crate) fn moves(name: &str, to: Phase) -> Command {
    Command::Own(Own::Transition { agent: agent(name), to, note: None })
}

fn elapses(phase: &str) -> Command {
    settles(&format!("deadline/{phase}"), call::Outcome::Elapsed)
}

fn settles(call: &str, outcome: call::Outcome) -> Command {
    Command::Settle { call: CallId(call.into()), outcome }
}

// ---------------------------------------------------------------------------
// Events

fn registered(n: i64, name: &str, role: Role, domain: Option<&str>) -> Event {
    Event::Registered { agent: agent(name), role, domain: domain.map(Into::into), at: at(n) }
}

fn posted(n: i64, id: &str, content: Content) -> Event {
    let author = id.split('/').next().unwrap();
    Event::Posted { id: post_id(id), author: agent(author), content, at: at(n) }
}

fn annotated(n: i64, id: &str, post: &str, note: Note) -> Event {
    let by = id.split('/').next().unwrap();
    let body = format!("{by} on {post}.");
    Event::Annotated { id: note_id(id), post: post_id(post), by: agent(by), note, body, at: at(n) }
}

fn voted(n: i64, by: &str, post: &str, choice: Choice) -> Event {
    Event::Voted { post: post_id(post), by: agent(by), choice, reason: None, at: at(n) }
}

fn moved(n: i64, by: Option<&str>, to: Phase) -> Event {
    Event::Transitioned { to, by: by.map(agent), note: None, at: at(n) }
}

// ---------------------------------------------------------------------------
// Refusals

fn not_now(phase: Phase, message: &str, allowed: &[&'static str]) -> Reject {
    Reject::NotNow { state: phase.name(), message: message.into(), allowed: allowed.to_vec() }
}

fn forbidden(message: &str) -> Reject {
    Reject::Forbidden(message.into())
}

fn unknown(message: &str) -> Reject {
    Reject::Unknown(message.into())
}

fn invalid(wrong: &[(&str, &str)]) -> Reject {
    Reject::Invalid(wrong.iter().map(|(field, problem)| Wrong::new(*field, *problem)).collect())
}

const DEBATE: [&str; 8] = [
    "post informational",
    "annotate challenge",
    "annotate corroboration",
    "annotate rebuttal",
    "annotate withdrawal",
    "annotate resolution",
    "vote",
    "conflicts",
];

/// What a specialist is told may be done in each phase.
fn allowed(phase: Phase) -> Vec<&'static str> {
    match phase {
        Phase::Blind => vec!["post", "post informational"],
        Phase::Read | Phase::Archived => vec!["conflicts"],
        Phase::Validate => vec!["annotate validation", "conflicts"],
        Phase::Debate => DEBATE.to_vec(),
        Phase::Resolve => vec!["annotate resolution", "conflicts"],
    }
}

/// Who can change what is allowed.
fn who(phase: Phase) -> &'static str {
    match phase {
        Phase::Blind => "A facilitator or an operator, such as fay, can move it on to read.",
        Phase::Read => {
            "A facilitator or an operator, such as fay, can move it on to validate or debate."
        }
        Phase::Validate => {
            "A facilitator or an operator, such as fay, can move it on to debate or resolve."
        }
        Phase::Debate => "A facilitator or an operator, such as fay, can move it on to resolve.",
        Phase::Resolve => "A facilitator or an operator, such as fay, can move it on to archived.",
        Phase::Archived => "An archived board is read-only.",
    }
}

// ---------------------------------------------------------------------------
// Opening

#[test]
fn a_board_opens_blind_with_its_opener_as_facilitator() {
    let open = Open {
        topic: " Which tool? \n".into(),
        project: Some(" docs ".into()),
        debate: Visibility::OwnAndRelated,
        ..with_deadlines(&[(Phase::Blind, 60_000)])
    };
    let log = decide(None, Command::Own(Own::Open(open.clone())), at(1));
    let opened = Event::Opened {
        name: "adr-1".into(),
        topic: "Which tool?".into(),
        project: Some("docs".into()),
        by: agent("fay"),
        principal: None,
        admission: Admission::Open,
        debate: Visibility::OwnAndRelated,
        deadlines: open.deadlines.clone(),
        at: at(1),
    };
    assert_eq!(log, Ok(vec![opened.clone()]));
    let state = apply(None, &opened);
    let fay = Member {
        name: agent("fay"),
        role: Role::Facilitator,
        domain: None,
        since: at(1),
        renewals: 0,
        posts: 0,
        annotations: 0,
    };
    assert_eq!(
        state,
        Some(State {
            name: "adr-1".into(),
            topic: "Which tool?".into(),
            project: Some("docs".into()),
            opened_by: agent("fay"),
            principal: None,
            opened_at: at(1),
            admission: Admission::Open,
            invitation: 0,
            invited: vec![],
            debate: Visibility::OwnAndRelated,
            deadlines: open.deadlines,
            phase: Phase::Blind,
            since: at(1),
            members: vec![fay],
            posts: vec![],
            steps: vec![],
            sitters: vec![],
            turns: vec![],
            ledger: Ledger::default(),
            code: None,
            halted: false,
            accounts: 0,
            accounts_before: 0,
            events: 1,
            moved: 1,
        })
    );
}

#[test]
fn a_board_that_cannot_be_is_refused_with_every_wrong_field() {
    let open = Open {
        name: "ADR 1".into(),
        topic: " ".into(),
        project: Some("p".repeat(201)),
        by: agent("@fay"),
        principal: None,
        admission: Admission::Open,
        debate: Visibility::Full,
        deadlines: with_deadlines(&[
            (Phase::Archived, 60_000),
            (Phase::Read, 999),
            (Phase::Debate, 60_000),
            (Phase::Debate, 70_000),
            (Phase::Resolve, limits::PHASE_MOST_MS + 1),
        ])
        .deadlines,
        ..board()
    };
    let reject = invalid(&[
        ("boardId", crate::names::ROOM_NAME),
        ("topic", "must not be empty"),
        ("openedBy", crate::names::AGENT_NAME),
        ("project", "is 201 bytes long; at most 200 are allowed"),
        ("deadlines.archivedSeconds", "an archived board has no deadline"),
        ("deadlines.readSeconds", "must be from 1 to 7776000"),
        ("deadlines.debateSeconds", "is given twice"),
        ("deadlines.resolveSeconds", "must be from 1 to 7776000"),
    ]);
    assert_eq!(decide(None, Command::Own(Own::Open(open)), at(1)), Err(reject));
    let long = Open { topic: "t".repeat(limits::TOPIC_BYTES + 1), ..board() };
    let reject = invalid(&[("topic", "is 4097 bytes long; at most 4096 are allowed")]);
    assert_eq!(decide(None, Command::Own(Own::Open(long)), at(1)), Err(reject));
}

#[test]
fn nothing_happens_on_a_board_that_is_not_open() {
    let commands = [
        register("ada", Role::Specialist),
        post("ada", PostKind::Claim, "So"),
        challenges("ada", "ben/1"),
        votes("ada", "ben/1", Choice::Accept),
        moves("fay", Phase::Read),
    ];
    for command in commands {
        let reject = unknown("There is no such whiteboard.");
        assert_eq!(decide(None, command, at(1)), Err(reject));
    }
    assert_eq!(decide(None, elapses("blind"), at(1)), Err(Reject::Stale));
}

#[test]
fn a_board_is_opened_once_also_after_archiving() {
    for phase in Phase::ALL {
        let reject = not_now(phase, "This whiteboard has already been opened.", &[]);
        check_refused(phase, vec![], Command::Own(Own::Open(board())), reject);
    }
}

// ---------------------------------------------------------------------------
// Registering

#[test]
fn agents_register_until_the_board_resolves() {
    for phase in [Phase::Blind, Phase::Read, Phase::Validate, Phase::Debate] {
        let events = vec![registered(1, "cyd", Role::Specialist, Some("docs"))];
        check(phase, vec![register_for("cyd", " docs ")], events, phase);
    }
    for phase in [Phase::Resolve, Phase::Archived] {
        let message = format!(
            "The board is in its {} phase; `register` is for the phases blind, read, validate and \
             debate. {}",
            phase.name(),
            who(phase)
        );
        let reject = not_now(phase, &message, &["conflicts"]);
        check_refused(phase, vec![], register("cyd", Role::Specialist), reject);
    }
}

#[test]
fn names_are_unique_whatever_their_case() {
    let problem = "differs from ada only in case; use that, or another name";
    let reject = Reject::Invalid(vec![Wrong::new("agentName", problem)]);
    check_refused(Phase::Blind, vec![], register("Ada", Role::Specialist), reject);

    // A board of an old log may have both, and they stay who they are.
    let (state, _) = told(board(), reached(Phase::Blind), vec![]);
    let old = registered(1, "Ada", Role::Specialist, None);
    let state = apply(Some(state), &old).expect("a board");
    for name in ["ada", "Ada"] {
        assert_eq!(state.member(&agent(name)).map(|member| member.name.0.as_str()), Some(name));
    }
}

#[test]
fn registering_again_changes_nothing() {
    let twice = || vec![register_for("cyd", "docs"), register_for("cyd", "docs ")];
    let events = vec![registered(1, "cyd", Role::Specialist, Some("docs"))];
    check(Phase::Blind, twice(), events, Phase::Blind);
    let fay = vec![register("fay", Role::Facilitator)];
    check(Phase::Blind, fay, vec![], Phase::Blind);
    let blank = vec![register_for("ada", " ")];
    check(Phase::Blind, blank, vec![], Phase::Blind);
}

#[test]
fn a_role_and_a_domain_are_kept() {
    let reject = forbidden(
        "cyd has already joined as specialist for \"docs\". Roles cannot be changed: keep it, or join under another name.",
    );
    for other in [
        register("cyd", Role::Specialist),
        register_for("cyd", "tools"),
        Command::Own(Own::Register {
            agent: agent("cyd"),
            role: Role::Operator,
            domain: Some("docs".into()),
            shown: Shown::Nothing,
        }),
    ] {
        check_refused(Phase::Blind, vec![register_for("cyd", "docs")], other, reject.clone());
    }
    let reject = forbidden(
        "fay has already joined as facilitator. Roles cannot be changed: keep it, or join under \
         another name.",
    );
    check_refused(Phase::Blind, vec![], register("fay", Role::Specialist), reject);
}

#[test]
fn an_agent_has_a_name_and_a_short_domain() {
    let command = register_for("no one", &"d".repeat(301));
    let reject = invalid(&[
        ("agentName", crate::names::AGENT_NAME),
        ("domain", "is 301 bytes long; at most 300 are allowed"),
    ]);
    check_refused(Phase::Blind, vec![], command, reject);
}

#[test]
fn a_board_has_room_for_so_many_agents() {
    let crowd = |most: usize| -> Vec<Command> {
        (4..most).map(|n| register(&format!("agent-{n}"), Role::Specialist)).collect()
    };
    let reject = forbidden("A board can have at most 256 agents.");
    check_refused(Phase::Blind, crowd(256), register("late", Role::Specialist), reject);
    let (state, _) = told(board(), reached(Phase::Blind), crowd(256));
    assert_eq!(state.members.len(), 256);
}

#[test]
fn who_is_not_registered_is_told_to_register_while_that_can_be_done() {
    let commands = || {
        [
            post("eve", PostKind::Claim, "So"),
            challenges("eve", "ada/1"),
            votes("eve", "ada/1", Choice::Accept),
            moves("eve", Phase::Read),
        ]
    };
    for phase in Phase::ALL {
        let reject = forbidden(match phase {
            Phase::Blind | Phase::Read | Phase::Validate | Phase::Debate => {
                "eve has not joined this board; join first."
            }
            Phase::Resolve => {
                "eve has not joined this board, and no one can join any more in its resolve phase."
            }
            Phase::Archived => {
                "eve has not joined this board, and no one can join any more in its archived phase."
            }
        });
        for command in commands() {
            check_refused(phase, vec![], command, reject.clone());
        }
    }
}

// ---------------------------------------------------------------------------
// The phases

#[test]
fn the_board_goes_only_forward_and_skips_only_read_to_debate_and_validate_to_resolve() {
    use Phase::*;
    let ways: [(Phase, &[Phase]); 5] = [
        (Blind, &[Read]),
        (Read, &[Validate, Debate]),
        (Validate, &[Debate, Resolve]),
        (Debate, &[Resolve]),
        (Resolve, &[Archived]),
    ];
    for (from, ways) in ways {
        let names = ways.iter().map(|to| to.name()).collect::<Vec<_>>().join(" or ");
        let mut may = allowed(from);
        let last = may.len() - usize::from(from != Blind);
        may.insert(last, "transition");
        if from != Resolve {
            may.insert(last, "seat");
        }
        for to in Phase::ALL {
            let message = if to == from {
                format!("The board is already in {}", from.name())
            } else {
                format!("A board cannot move from {} to {}", from.name(), to.name())
            };
            let message = format!("{message}; from here it moves to {names}. {}", who(from));
            for leader in ["fay", "olga"] {
                if ways.contains(&to) {
                    check(from, vec![moves(leader, to)], vec![moved(1, Some(leader), to)], to);
                } else {
                    let reject = not_now(from, &message, &may);
                    check_refused(from, vec![], moves(leader, to), reject);
                }
            }
        }
    }
}

#[test]
fn a_specialist_does_not_lead() {
    let reject = forbidden(
        "ada is a specialist; only a facilitator or an operator can move the board on. fay opened \
         this board and is one.",
    );
    for (from, to) in Phase::ALL.into_iter().zip(Phase::ALL.into_iter().skip(1)) {
        check_refused(from, vec![], moves("ada", to), reject.clone());
    }
}

#[test]
fn a_move_may_carry_a_note() {
    let noted = |note: &str| {
        Command::Own(Own::Transition {
            agent: agent("fay"),
            to: Phase::Read,
            note: Some(note.into()),
        })
    };
    let event = Event::Transitioned {
        to: Phase::Read,
        by: Some(agent("fay")),
        note: Some("All in.".into()),
        at: at(1),
    };
    check(Phase::Blind, vec![noted("All in.")], vec![event], Phase::Read);
    check(Phase::Blind, vec![noted(" ")], vec![moved(1, Some("fay"), Phase::Read)], Phase::Read);
    let reject = invalid(&[("note", "is 65537 bytes long; at most 65536 are allowed")]);
    check_refused(Phase::Blind, vec![], noted(&"n".repeat(65_537)), reject);
}

/// The table of the phases, typed in anew: what each action is for.
#[test]
fn out_of_its_phase_an_action_is_refused_with_what_may_be_done_and_who_can_change_it() {
    use Phase::*;
    let confirmed = || validates("ada", "ben/1", Finding::Confirmed);
    let corroborates = || annotate("ada", "ben/1", Note::Corroboration);
    let table: [(&str, Command, &[Phase], &str); 12] = [
        ("post", post("ada", PostKind::Proposal, "A"), &[Blind], "the blind phase"),
        ("post", post("ada", PostKind::Claim, "A"), &[Blind], "the blind phase"),
        ("post", post("ada", PostKind::Concern, "A"), &[Blind], "the blind phase"),
        (
            "post informational",
            post("ada", PostKind::Informational, "A"),
            &[Blind, Debate],
            "the phases blind and debate",
        ),
        ("annotate validation", confirmed(), &[Validate], "the validate phase"),
        ("annotate challenge", challenges("ada", "ben/1"), &[Debate], "the debate phase"),
        ("annotate corroboration", corroborates(), &[Debate], "the debate phase"),
        ("annotate rebuttal", rebuts("ada", "ada/1", None), &[Debate], "the debate phase"),
        ("annotate withdrawal", withdraws("ada", "ada/1", None), &[Debate], "the debate phase"),
        (
            "annotate resolution",
            resolves("ada", "ada/1", "ben/a1"),
            &[Debate, Resolve],
            "the phases debate and resolve",
        ),
        ("vote", votes("ada", "ben/1", Choice::Accept), &[Debate], "the debate phase"),
        (
            "transition",
            moves("fay", Archived),
            &[Blind, Read, Validate, Debate, Resolve],
            "the phases blind, read, validate, debate and resolve",
        ),
    ];
    for (name, command, phases, when) in table {
        for phase in Phase::ALL.into_iter().filter(|phase| !phases.contains(phase)) {
            let now = phase.name();
            let message =
                format!("The board is in its {now} phase; `{name}` is for {when}. {}", who(phase));
            check_refused(
                phase,
                vec![],
                command.clone(),
                not_now(phase, &message, &allowed(phase)),
            );
        }
    }
}

// ---------------------------------------------------------------------------
// Posts

#[test]
fn all_four_kinds_are_posted_blind_and_numbered_per_author() {
    use PostKind::*;
    let story = vec![
        post("ada", Claim, "A"),
        post("fay", Concern, "B"),
        post("ada", Informational, "C"),
        post("olga", Proposal, "D"),
    ];
    let events = vec![
        posted(1, "ada/2", content(Claim, "A")),
        posted(2, "fay/1", content(Concern, "B")),
        posted(3, "ada/3", content(Informational, "C")),
        posted(4, "olga/1", content(Proposal, "D")),
    ];
    check(Phase::Blind, story, events, Phase::Blind);
    let story = vec![post("ben", Informational, "E")];
    let events = vec![posted(1, "ben/2", content(Informational, "E"))];
    check(Phase::Debate, story, events, Phase::Debate);
}

#[test]
fn a_post_may_say_what_it_is_about() {
    let full = Content {
        target_file: Some(" src/a.rs ".into()),
        target_location: Some(" 12-40\n".into()),
        severity: Some(Severity::High),
        finding_refs: vec!["F-1".into()],
        cascade_targets: vec!["src/b.rs".into()],
        ..content(PostKind::Concern, "A")
    };
    let kept = Content {
        target_file: Some("src/a.rs".into()),
        target_location: Some("12-40".into()),
        ..full.clone()
    };
    check(Phase::Blind, vec![posts("ada", full)], vec![posted(1, "ada/2", kept)], Phase::Blind);
    let blank = Content {
        target_file: Some(" ".into()),
        target_location: Some(String::new()),
        ..content(PostKind::Concern, "A")
    };
    let kept = content(PostKind::Concern, "A");
    check(Phase::Blind, vec![posts("ada", blank)], vec![posted(1, "ada/2", kept)], Phase::Blind);
}

#[test]
fn a_post_that_cannot_be_is_refused_with_every_wrong_field() {
    let wrong = Content {
        title: " ".into(),
        body: "b".repeat(65_537),
        target_location: Some("l".repeat(501)),
        finding_refs: vec!["F-1".into(), " ".into()],
        cascade_targets: vec!["c".into(); 65],
        ..content(PostKind::Claim, "A")
    };
    let reject = invalid(&[
        ("title", "must not be empty"),
        ("body", "is 65537 bytes long; at most 65536 are allowed"),
        ("targetLocation", "is 501 bytes long; at most 500 are allowed"),
        ("targetLocation", "needs a `targetFile`"),
        ("findingRefs[1]", "must not be empty"),
        ("cascadeTargets", "can have at most 64 entries"),
    ]);
    check_refused(Phase::Blind, vec![], posts("ada", wrong), reject);
    let wrong = Content {
        title: "t".repeat(301),
        body: String::new(),
        target_file: Some("f".repeat(501)),
        ..content(PostKind::Claim, "A")
    };
    let reject = invalid(&[
        ("title", "is 301 bytes long; at most 300 are allowed"),
        ("body", "must not be empty"),
        ("targetFile", "is 501 bytes long; at most 500 are allowed"),
    ]);
    check_refused(Phase::Blind, vec![], posts("ada", wrong), reject);
}

#[test]
fn one_agent_posts_and_annotates_so_often() {
    let (mut state, _) = told(board(), reached(Phase::Blind), vec![]);
    state.members[1].posts = 1_999;
    let last = decide(Some(&state), post("ada", PostKind::Claim, "A"), at(1)).unwrap();
    assert_eq!(last, [posted(1, "ada/2000", content(PostKind::Claim, "A"))]);
    let state = last.iter().fold(Some(state), apply).unwrap();
    let reject = forbidden("An agent can post at most 2000 times on a board.");
    assert_eq!(decide(Some(&state), post("ada", PostKind::Claim, "A"), at(2)), Err(reject));

    let (mut state, _) = told(board(), reached(Phase::Debate), vec![]);
    state.members[1].annotations = 9_999;
    let last = decide(Some(&state), challenges("ada", "ben/1"), at(1)).unwrap();
    assert_eq!(last, [annotated(1, "ada/a10000", "ben/1", Note::Challenge)]);
    let state = last.iter().fold(Some(state), apply).unwrap();
    let reject = forbidden("An agent can annotate at most 10000 times on a board.");
    assert_eq!(decide(Some(&state), challenges("ada", "ben/1"), at(2)), Err(reject));
}

// ---------------------------------------------------------------------------
// Annotations

#[test]
fn posts_of_others_are_validated_with_a_result() {
    let results = [Finding::Confirmed, Finding::Refuted, Finding::Inconclusive];
    let story = results.map(|result| validates("ada", "ben/1", result)).to_vec();
    let events = (1..)
        .zip(results)
        .map(|(n, result)| annotated(n, &format!("ada/a{n}"), "ben/1", Note::Validation { result }))
        .collect();
    check(Phase::Validate, story, events, Phase::Validate);
    let reject = forbidden("ada wrote ada/1; someone else must validate it.");
    check_refused(Phase::Validate, vec![], validates("ada", "ada/1", Finding::Confirmed), reject);
}

#[test]
fn a_debate_challenges_corroborates_rebuts_and_withdraws() {
    let story = vec![
        challenges("ben", "ada/1"),
        annotate("olga", "ada/1", Note::Corroboration),
        rebuts("ada", "ada/1", Some("ben/a1")),
        rebuts("ada", "ada/1", None),
        withdraws("ben", "ada/1", Some("ben/a1")),
        withdraws("ada", "ada/1", None),
    ];
    let rebuttal = |challenge: Option<&str>| Note::Rebuttal { challenge: challenge.map(note_id) };
    let withdrawal =
        |challenge: Option<&str>| Note::Withdrawal { challenge: challenge.map(note_id) };
    let events = vec![
        annotated(1, "ben/a1", "ada/1", Note::Challenge),
        annotated(2, "olga/a1", "ada/1", Note::Corroboration),
        annotated(3, "ada/a1", "ada/1", rebuttal(Some("ben/a1"))),
        annotated(4, "ada/a2", "ada/1", rebuttal(None)),
        annotated(5, "ben/a2", "ada/1", withdrawal(Some("ben/a1"))),
        annotated(6, "ada/a3", "ada/1", withdrawal(None)),
    ];
    check(Phase::Debate, story, events, Phase::Debate);
}

#[test]
fn some_annotations_are_for_the_author_and_some_for_all_but_the_author() {
    let refused = |command, message: &str| {
        check_refused(Phase::Debate, vec![challenges("ben", "ada/1")], command, forbidden(message));
    };
    refused(
        annotate("ada", "ada/1", Note::Corroboration),
        "ada wrote ada/1; someone else must corroborate it.",
    );
    refused(
        rebuts("ben", "ada/1", None),
        "Only ada, who wrote ada/1, can rebut; you can challenge or corroborate it.",
    );
    refused(withdraws("ben", "ada/1", None), "Only ada, who wrote ada/1, can withdraw it.");
    refused(withdraws("fay", "ada/1", None), "Only ada, who wrote ada/1, can withdraw it.");
    refused(
        withdraws("ada", "ada/1", Some("ben/a1")),
        "Only ben, who made ben/a1, can withdraw it.",
    );
    let own = annotated(1, "ada/a1", "ada/1", Note::Challenge);
    check(Phase::Debate, vec![challenges("ada", "ada/1")], vec![own], Phase::Debate);
}

#[test]
fn a_resolution_settles_one_challenge_and_not_by_its_challenger() {
    let resolution = || Note::Resolution { challenge: note_id("ben/a1") };
    for by in ["ada", "fay", "olga"] {
        let story = vec![challenges("ben", "ada/1"), resolves(by, "ada/1", "ben/a1")];
        let events = vec![
            annotated(1, "ben/a1", "ada/1", Note::Challenge),
            annotated(2, &format!("{by}/a1"), "ada/1", resolution()),
        ];
        check(Phase::Debate, story, events, Phase::Debate);
    }
    let to_resolve = || vec![challenges("ben", "ada/1"), moves("fay", Phase::Resolve)];
    let story = then(to_resolve(), [resolves("ada", "ada/1", "ben/a1")]);
    let events = vec![
        annotated(1, "ben/a1", "ada/1", Note::Challenge),
        moved(2, Some("fay"), Phase::Resolve),
        annotated(3, "ada/a1", "ada/1", resolution()),
    ];
    check(Phase::Debate, story, events, Phase::Resolve);
    let own = forbidden("ben made ben/a1; someone else must settle it. You can withdraw it.");
    for before in [vec![challenges("ben", "ada/1")], to_resolve()] {
        check_refused(Phase::Debate, before, resolves("ben", "ada/1", "ben/a1"), own.clone());
    }
}

#[test]
fn a_challenge_ends_once() {
    let settled = || vec![challenges("ben", "ada/1"), resolves("ada", "ada/1", "ben/a1")];
    let reject = invalid(&[("challengeId", "was already settled by ada/a1")]);
    check_refused(Phase::Debate, settled(), resolves("fay", "ada/1", "ben/a1"), reject.clone());
    check_refused(Phase::Debate, settled(), withdraws("ben", "ada/1", Some("ben/a1")), reject);
    let withdrawn = || vec![challenges("ben", "ada/1"), withdraws("ben", "ada/1", Some("ben/a1"))];
    let reject = invalid(&[("challengeId", "was withdrawn")]);
    check_refused(Phase::Debate, withdrawn(), resolves("fay", "ada/1", "ben/a1"), reject.clone());
    check_refused(Phase::Debate, withdrawn(), withdraws("ben", "ada/1", Some("ben/a1")), reject);
}

#[test]
fn a_post_or_a_challenge_that_is_not_there_is_unknown() {
    let story = || vec![challenges("ben", "ada/1"), annotate("olga", "ada/1", Note::Corroboration)];
    let refused = |command, message: &str| {
        check_refused(Phase::Debate, story(), command, unknown(message));
    };
    refused(
        challenges("ben", "ada/2"),
        "There is no post ada/2 on this board; available: ada/1, ben/1.",
    );
    refused(
        votes("ben", "zoe/1", Choice::Defer),
        "There is no post zoe/1 on this board; available: ada/1, ben/1.",
    );
    refused(
        resolves("fay", "ada/1", "ben/a9"),
        "There is no challenge ben/a9 of ada/1; available: ben/a1.",
    );
    refused(
        resolves("fay", "ben/1", "ben/a1"),
        "There is no challenge ben/a1 of ben/1; none exist yet.",
    );
    refused(
        resolves("fay", "ada/1", "olga/a1"),
        "There is no challenge olga/a1 of ada/1; available: ben/a1.",
    );
    refused(
        rebuts("ada", "ada/1", Some("olga/a1")),
        "There is no challenge olga/a1 of ada/1; available: ben/a1.",
    );
    refused(
        withdraws("olga", "ada/1", Some("olga/a1")),
        "There is no challenge olga/a1 of ada/1; available: ben/a1.",
    );
}

#[test]
fn a_withdrawn_post_takes_resolutions_and_nothing_else() {
    let story = || vec![challenges("ben", "ada/1"), withdraws("ada", "ada/1", None)];
    let reject = |allowed: &[&'static str]| {
        not_now(Phase::Debate, "ada has withdrawn ada/1; nothing can be added to it.", allowed)
    };
    for command in [
        challenges("ben", "ada/1"),
        annotate("ben", "ada/1", Note::Corroboration),
        rebuts("ada", "ada/1", None),
        withdraws("ada", "ada/1", None),
        withdraws("ben", "ada/1", Some("ben/a1")),
        votes("ben", "ada/1", Choice::Accept),
    ] {
        check_refused(Phase::Debate, story(), command, reject(&DEBATE));
    }
    let mut leads = DEBATE.to_vec();
    leads.splice(7..7, ["seat", "transition"]);
    check_refused(Phase::Debate, story(), votes("fay", "ada/1", Choice::Accept), reject(&leads));

    let events = vec![
        annotated(1, "ben/a1", "ada/1", Note::Challenge),
        annotated(2, "ada/a1", "ada/1", Note::Withdrawal { challenge: None }),
        annotated(3, "ada/a2", "ada/1", Note::Resolution { challenge: note_id("ben/a1") }),
    ];
    let story = then(story(), [resolves("ada", "ada/1", "ben/a1")]);
    check(Phase::Debate, story, events, Phase::Debate);
}

#[test]
fn an_annotation_says_something_unless_it_withdraws() {
    let silent = |command| match command {
        Command::Own(Own::Annotate { agent, post, note, .. }) => {
            Command::Own(Own::Annotate { agent, post, note, body: " ".into() })
        }
        other => panic!("{other:?} is no annotation"),
    };
    let reject = || invalid(&[("body", "must not be empty")]);
    check_refused(Phase::Debate, vec![], silent(challenges("ben", "ada/1")), reject());
    let own = silent(validates("ben", "ada/1", Finding::Refuted));
    check_refused(Phase::Validate, vec![], own, reject());
    let event = match annotated(1, "ada/a1", "ada/1", Note::Withdrawal { challenge: None }) {
        Event::Annotated { id, post, by, note, at, .. } => {
            Event::Annotated { id, post, by, note, body: " ".into(), at }
        }
        other => panic!("{other:?} is no annotation"),
    };
    let story = vec![silent(withdraws("ada", "ada/1", None))];
    check(Phase::Debate, story, vec![event], Phase::Debate);
    let long = Command::Own(Own::Annotate {
        agent: agent("ben"),
        post: post_id("ada/1"),
        note: Note::Challenge,
        body: "b".repeat(65_537),
    });
    let reject = invalid(&[("body", "is 65537 bytes long; at most 65536 are allowed")]);
    check_refused(Phase::Debate, vec![], long, reject);
}

// ---------------------------------------------------------------------------
// Votes

#[test]
fn a_second_vote_replaces_the_first_and_the_log_keeps_both() {
    use Choice::*;
    let story = vec![
        votes("ben", "ada/1", Accept),
        votes("fay", "ada/1", Defer),
        votes("ben", "ada/1", Reject),
        votes("ben", "ada/1", Reject),
    ];
    let events = vec![
        voted(1, "ben", "ada/1", Accept),
        voted(2, "fay", "ada/1", Defer),
        voted(3, "ben", "ada/1", Reject),
    ];
    check(Phase::Debate, story.clone(), events, Phase::Debate);
    let (state, _) = told(board(), reached(Phase::Debate), story);
    let vote = |n, by, choice| Vote { by: agent(by), choice, reason: None, at: at(n) };
    assert_eq!(state.posts[0].votes, [vote(2, "fay", Defer), vote(3, "ben", Reject)]);
}

#[test]
fn a_vote_may_have_a_reason() {
    let because = |reason: &str| {
        Command::Own(Own::Vote {
            agent: agent("ben"),
            post: post_id("ada/1"),
            choice: Choice::Accept,
            reason: Some(reason.into()),
        })
    };
    let event = |n, reason: Option<&str>| Event::Voted {
        post: post_id("ada/1"),
        by: agent("ben"),
        choice: Choice::Accept,
        reason: reason.map(Into::into),
        at: at(n),
    };
    let story = vec![because(" "), because("It fits.")];
    check(Phase::Debate, story, vec![event(1, None), event(2, Some("It fits."))], Phase::Debate);
    let reject = invalid(&[("reason", "is 65537 bytes long; at most 65536 are allowed")]);
    check_refused(Phase::Debate, vec![], because(&"r".repeat(65_537)), reject);
}

#[test]
fn nobody_votes_on_their_own_post() {
    for choice in [Choice::Accept, Choice::Reject, Choice::Defer] {
        let reject = forbidden("ada wrote ada/1; no one can vote on their own post.");
        check_refused(Phase::Debate, vec![], votes("ada", "ada/1", choice), reject);
    }
}

// ---------------------------------------------------------------------------
// Deadlines

#[test]
fn at_a_deadline_the_clock_moves_the_board_on_in_the_ordinary_order() {
    let minute = 60_000;
    let open = || {
        with_deadlines(&[
            (Phase::Read, 1_000),
            (Phase::Blind, minute),
            (Phase::Validate, minute),
            (Phase::Resolve, minute),
        ])
    };
    let call = |phase: &str, until: i64| {
        let (id, until) = (CallId(format!("deadline/{phase}")), at(until));
        vec![Call { id, work: Work::Sleep { until } }]
    };
    let story = [
        elapses("blind"),
        elapses("read"),
        elapses("validate"),
        moves("olga", Phase::Resolve),
        elapses("resolve"),
    ];
    let dues = [
        call("blind", -99 + 60),
        call("read", 1 + 1),
        call("validate", 2 + 60),
        vec![],
        call("resolve", 4 + 60),
        vec![],
    ];
    for (given, expected) in dues.into_iter().enumerate() {
        let (state, _) = told(open(), reached(Phase::Blind), story[..given].to_vec());
        assert_eq!(due(&state), expected, "after {given} commands");
    }
    let (state, log) = told(open(), reached(Phase::Blind), story.to_vec());
    assert_eq!(
        log,
        [
            moved(1, None, Phase::Read),
            moved(2, None, Phase::Validate),
            moved(3, None, Phase::Debate),
            moved(4, Some("olga"), Phase::Resolve),
            moved(5, None, Phase::Archived),
        ]
    );
    let by = |step: &Step| step.by.clone();
    let steps: Vec<Option<AgentName>> = state.steps.iter().map(by).collect();
    assert_eq!(steps, [None, None, None, Some(agent("olga")), None]);
}

#[test]
fn a_deadline_that_is_not_due_is_stale() {
    let (state, _) = told(with_deadlines(&[(Phase::Read, 1_000)]), reached(Phase::Read), vec![]);
    let stopped = call::Outcome::Stopped { partial: String::new(), usage: crate::Usage::default() };
    for command in [
        elapses("blind"),
        elapses("validate"),
        settles("advisor/1#1", call::Outcome::Elapsed),
        settles("deadline/read", stopped),
    ] {
        assert_eq!(decide(Some(&state), command, at(1)), Err(Reject::Stale));
    }
    let events = vec![moved(1, None, Phase::Validate)];
    assert_eq!(decide(Some(&state), elapses("read"), at(1)), Ok(events));
}

#[test]
fn a_deadline_beyond_the_end_of_time_is_the_end_of_time() {
    let opened = decide(
        None,
        Command::Own(Own::Open(with_deadlines(&[(Phase::Blind, 1_000)]))),
        Timestamp::MAX,
    );
    let state = opened.unwrap().iter().fold(None, apply::<State>).unwrap();
    assert_eq!(state.deadline(), Some(Timestamp::MAX));
}

// ---------------------------------------------------------------------------
// The worked example of the reference

/// A record of which tool the documentation is built with: every step of it, and
/// what comes out.
pub(crate) fn worked_example() -> (Open, Vec<Command>) {
    let open = Open {
        name: "adr-2026-05-07".into(),
        topic: "Should we add mkdocs or mdbook for documentation?".into(),
        by: agent("facilitator-claude"),
        ..board()
    };
    let says = |name: &str, post: &str, note: Note, body: &str| {
        Command::Own(Own::Annotate {
            agent: agent(name),
            post: post_id(post),
            note,
            body: body.into(),
        })
    };
    let vote = |name: &str, post: &str, choice: Choice, reason: &str| {
        Command::Own(Own::Vote {
            agent: agent(name),
            post: post_id(post),
            choice,
            reason: Some(reason.into()),
        })
    };
    let proposal = |title: &str, body: &str| Content {
        body: body.into(),
        ..content(PostKind::Proposal, title)
    };
    let confirmed = || Note::Validation { result: Finding::Confirmed };
    let story = vec![
        register_for("pr-reviewer@v1.0.0", "documentation tooling"),
        register("mkdocs-advocate", Role::Specialist),
        register("mdbook-advocate", Role::Specialist),
        register("fact-checker", Role::Specialist),
        posts(
            "mkdocs-advocate",
            proposal(
                "Adopt mkdocs-material",
                "Search, navigation and a dark mode come with it.\n\n- all docs are Markdown\n- one \
                 file of settings",
            ),
        ),
        posts("mdbook-advocate", proposal("Adopt mdbook", "One binary, no Python.")),
        post("pr-reviewer@v1.0.0", PostKind::Concern, "Links must stay"),
        moves("facilitator-claude", Phase::Read),
        moves("facilitator-claude", Phase::Validate),
        says("fact-checker", "mkdocs-advocate/1", confirmed(), "It has all that is listed."),
        says(
            "fact-checker",
            "mdbook-advocate/1",
            Note::Validation { result: Finding::Inconclusive },
            "No Python, but plugins are other binaries.",
        ),
        says("mkdocs-advocate", "pr-reviewer@v1.0.0/1", confirmed(), "4,000 links point here."),
        moves("facilitator-claude", Phase::Debate),
        says(
            "mdbook-advocate",
            "mkdocs-advocate/1",
            Note::Challenge,
            "mdbook does all of that, and runs our examples.",
        ),
        says(
            "mkdocs-advocate",
            "mkdocs-advocate/1",
            Note::Rebuttal { challenge: Some(note_id("mdbook-advocate/a1")) },
            "We have no examples to run.",
        ),
        says("fact-checker", "mkdocs-advocate/1", Note::Corroboration, "Other teams use it."),
        vote("facilitator-claude", "mkdocs-advocate/1", Choice::Accept, "It fits our Markdown."),
        vote("fact-checker", "mkdocs-advocate/1", Choice::Accept, "Confirmed."),
        vote("mdbook-advocate", "mkdocs-advocate/1", Choice::Reject, "Python again."),
        vote("mkdocs-advocate", "mdbook-advocate/1", Choice::Reject, "No search worth the name."),
        vote("facilitator-claude", "mdbook-advocate/1", Choice::Defer, "Next year, perhaps."),
        moves("facilitator-claude", Phase::Resolve),
        says(
            "facilitator-claude",
            "mkdocs-advocate/1",
            Note::Resolution { challenge: note_id("mdbook-advocate/a1") },
            "There are no examples yet.",
        ),
        Command::Own(Own::Transition {
            agent: agent("facilitator-claude"),
            to: Phase::Archived,
            note: Some("We go with mkdocs-material.\nAsk again in a year.".into()),
        }),
    ];
    (open, story)
}

#[test]
fn the_worked_example_of_the_reference_ends_with_its_proposal_accepted() {
    let (open, story) = worked_example();
    let (state, log) = told(open, vec![], story);
    let names: Vec<&str> = log.iter().map(Event::name).collect();
    assert_eq!(
        names,
        [
            &["registered"; 4][..],
            &["posted"; 3],
            &["transitioned"; 2],
            &["annotated"; 3],
            &["transitioned"],
            &["annotated"; 3],
            &["voted"; 5],
            &["transitioned", "annotated", "transitioned"],
        ]
        .concat()
    );
    let summary = summarize(&view::board(&state, &Viewer::Outsider));
    let counts = (summary.agents, summary.posts, summary.annotations, summary.votes);
    assert_eq!(counts, (5, 3, 7, 5));
    assert_eq!(summary.outcome, Outcome::Accepted(post_id("mkdocs-advocate/1")));
    assert_eq!((summary.unresolved, summary.unvalidated), (vec![], vec![]));
    assert_eq!((state.phase, due(&state)), (Phase::Archived, vec![]));
}

/// The commands, and more after them.
pub(crate) fn then<T>(mut story: Vec<T>, more: impl IntoIterator<Item = T>) -> Vec<T> {
    story.extend(more);
    story
}

#[test]
fn its_statuses_are_its_phases() {
    assert_eq!(*State::STATUSES, Phase::ALL.map(Phase::name));
}
