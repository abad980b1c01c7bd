//! Who sees what, and when. A text that may be hidden carries a mark of its own,
//! so that it can be told from all others wherever it shows up.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::form::story::apply;
use crate::whiteboard::tests::{
    Command, Own, agent, annotate, at, board as opened, challenges, content, decide, moves,
    note_id, post, post_id, posts, reached, register, told, votes,
};
use crate::whiteboard::{
    Admission, Choice, Finding, Open, PostId, PostKind, Role, Shown, madr, summarize,
};

/// Who reads along: the four who joined, one who did not, and a stranger.
const VIEWERS: [&str; 6] = ["fay", "olga", "ada", "ben", "zoe", ""];

fn viewer(name: &str) -> Viewer {
    if name.is_empty() { Viewer::Outsider } else { Viewer::Agent(agent(name)) }
}

fn quick(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

// ---------------------------------------------------------------------------
// A session as its readers live through it

/// A board with everything that leaves it, gathered from its first event on.
struct Session {
    state: State,
    log: Vec<whiteboard::Event>,
    lenses: Vec<Lens<usize>>,
    /// Per viewer: the number given, and the place in the log.
    told: Vec<Vec<(u64, usize)>>,
    /// The places in the log of what everybody may know of, and what a search finds.
    listed: Vec<usize>,
    found: String,
}

impl Session {
    fn new(open: Open) -> Self {
        let log = decide(None, Command::Own(Own::Open(open)), at(0)).unwrap();
        let state = log.iter().fold(None, apply::<State>).unwrap();
        let mut session = Session {
            state,
            log: vec![],
            lenses: VIEWERS.map(|name| Lens::new(viewer(name))).into(),
            told: vec![vec![]; VIEWERS.len()],
            listed: vec![],
            found: String::new(),
        };
        log.into_iter().for_each(|event| session.take(event));
        session
    }

    /// Refused commands change nothing.
    fn give(&mut self, command: Command, n: i64) {
        for event in decide(Some(&self.state), command, at(n)).unwrap_or_default() {
            self.state = apply(Some(self.state.clone()), &event).unwrap();
            self.take(event);
        }
    }

    fn take(&mut self, event: whiteboard::Event) {
        let place = self.log.len();
        self.log.push(event.clone());
        let event = Event::Whiteboard(event);
        for (lens, told) in self.lenses.iter_mut().zip(&mut self.told) {
            told.extend(lens.pass(event.clone(), place));
        }
        let room = crate::Room::Whiteboard(self.state.clone());
        self.listed.extend(room.is_listed(&event).then_some(place));
        let words = room.searchable(&event);
        self.found.extend((!words.is_empty()).then(|| words + "\n"));
    }

    /// All that this viewer can learn.
    fn known_to(&self, name: &str) -> Vec<String> {
        let viewer = viewer(name);
        let board = board(&self.state, &viewer);
        let place = VIEWERS.iter().position(|known| *known == name).unwrap();
        let room = crate::Room::Whiteboard(self.state.clone());
        let once = [
            page(&board),
            format!("{:?}", summarize(&board)),
            madr(&board),
            format!("{:?}", board_conflicts(&self.state)),
            self.found.clone(),
            format!("{:?} {:?} {:?}", room.summary(), room.due(), room.happened()),
        ];
        let told = self.told[place].iter().map(|(n, place)| format!("{n} {:?}", self.log[*place]));
        let listed = self.listed.iter().map(|place| format!("{:?}", self.log[*place]));
        let answers =
            probes(name).map(|probe| format!("{:?}", decide(Some(&self.state), probe, at(9_999))));
        let all = once.into_iter().chain(told).chain(listed).chain(answers);
        all.map(|text| format!("{name}: {text}")).collect()
    }
}

/// The first thing that tells one session from the other.
fn check_same(one: &[String], other: &[String]) -> Result<(), TestCaseError> {
    for (one, other) in one.iter().zip(other) {
        prop_assert_eq!(one, other);
    }
    prop_assert_eq!(one.len(), other.len());
    Ok(())
}

/// Whatever somebody might try in order to find out what others do.
fn probes(name: &str) -> impl Iterator<Item = Command> {
    let name = if name.is_empty() { "stranger" } else { name };
    let targets = ["ada/1", "ben/1", "ben/2", "cyd/1", "fay/1", "zoe/1"];
    let acts = targets.into_iter().flat_map(move |target| {
        [
            votes(name, target, Choice::Accept),
            annotate(name, target, Note::Validation { result: Finding::Refuted }),
            annotate(name, target, Note::Withdrawal { challenge: Some(note_id("ben/a1")) }),
            annotate(name, target, Note::Rebuttal { challenge: Some(note_id("ben/a1")) }),
            annotate(name, target, Note::Resolution { challenge: note_id("ben/a1") }),
            annotate(name, target, Note::Resolution { challenge: note_id("ben/a2") }),
        ]
    });
    let others = [
        register(name, Role::Specialist),
        post(name, PostKind::Claim, "Probe"),
        post(name, PostKind::Informational, "Probe"),
        moves(name, Phase::Debate),
        moves(name, Phase::Archived),
    ];
    acts.chain(others)
}

/// Every public field of a board.
fn page(board: &Board<'_>) -> String {
    let Board {
        name,
        topic,
        project,
        phase,
        since,
        deadline,
        opened_by,
        opened_at,
        admission,
        debate,
        steps,
        viewer,
        members,
        has_posted,
        posts,
        known_posts,
        readiness,
        allowed,
        next,
        seats,
        accounts,
        told,
        known_from,
    } = board;
    let member = |member: &Member| {
        format!("{:?}", (&member.name, member.role, &member.domain, member.since))
    };
    let (viewer, members) =
        (viewer.map(member), members.iter().map(|m| member(m)).collect::<Vec<_>>());
    let seen = |seen: &Seen<'_>| {
        let Seen { post, annotations, votes, whole } = seen;
        let post = (&post.id, &post.author, &post.content, post.at, post.withdrawn);
        format!("{:?}", (post, annotations, votes, whole))
    };
    let posts: Vec<String> = posts.iter().map(seen).collect();
    let head = (name, topic, project, phase, since, deadline, opened_by, opened_at, debate, steps);
    let body = (admission, viewer, members, has_posted, posts, known_posts, readiness);
    let seats: Vec<_> = seats.iter().map(|seat| (seat.sitter, &seat.standing)).collect();
    let rest = (allowed, next, told, known_from, seats, accounts);
    format!("{head:?}\n{body:?}\n{rest:?}")
}

// ---------------------------------------------------------------------------
// Nothing of the blind phase gets out

/// What ben does in the blind phase, or somebody in his place.
#[derive(Clone, Debug)]
enum Deed {
    Post(PostKind, u8),
    BlankPost,
    Vote,
    Challenge,
    Move,
    CydPosts(u8),
}

fn deeds() -> impl Strategy<Value = Deed> {
    let kinds = prop_oneof![Just(PostKind::Proposal), Just(PostKind::Informational)];
    prop_oneof![
        6 => (kinds, any::<u8>()).prop_map(|(kind, mark)| Deed::Post(kind, mark)),
        1 => Just(Deed::BlankPost),
        1 => Just(Deed::Vote),
        1 => Just(Deed::Challenge),
        1 => Just(Deed::Move),
        2 => any::<u8>().prop_map(Deed::CydPosts),
    ]
}

fn deed(deed: &Deed) -> Vec<Command> {
    let marked = |kind, mark: u8| {
        let mut content = content(kind, &format!("Mark {mark}"));
        content.target_file = Some("src/a.rs".into());
        content.target_location = Some("12-40".into());
        content.cascade_targets = vec![format!("src/{mark}.rs")];
        content
    };
    match deed {
        Deed::Post(kind, mark) => vec![posts("ben", marked(*kind, *mark))],
        Deed::BlankPost => vec![post("ben", PostKind::Claim, " ")],
        Deed::Vote => vec![votes("ben", "ada/1", Choice::Reject)],
        Deed::Challenge => vec![challenges("ben", "ada/1")],
        Deed::Move => vec![moves("ben", Phase::Read)],
        Deed::CydPosts(mark) => {
            vec![register("cyd", Role::Specialist), posts("cyd", marked(PostKind::Claim, *mark))]
        }
    }
}

/// What the others do meanwhile, whatever ben does.
fn meanwhile() -> Vec<Command> {
    vec![
        post("ada", PostKind::Proposal, "Ada one"),
        votes("ada", "ben/1", Choice::Accept),
        post("ada", PostKind::Informational, "Ada two"),
        post("fay", PostKind::Concern, "Fay one"),
        moves("fay", Phase::Debate),
        register("ada", Role::Operator),
    ]
}

/// The blind phase with these deeds of ben between what the others do; what each
/// of the viewers knows after each of those.
fn blind(joins: bool, deeds: &[Vec<Deed>], viewers: &[&str]) -> Vec<String> {
    let mut session = Session::new(opened());
    let join = [register("olga", Role::Operator), register("ada", Role::Specialist)];
    let ben = joins.then(|| register("ben", Role::Specialist));
    for (n, command) in (1..).zip(join.into_iter().chain(ben)) {
        session.give(command, n);
    }
    let mut known = vec![];
    for (slot, command) in meanwhile().into_iter().enumerate() {
        let time = 100 * (slot as i64 + 1);
        let commands = deeds.get(slot).into_iter().flatten().flat_map(deed);
        for (n, command) in (1..).zip(commands) {
            session.give(command, time + n);
        }
        session.give(command, time + 99);
        known.extend(viewers.iter().flat_map(|name| session.known_to(name)));
    }
    known
}

proptest! {
    #![proptest_config(quick(96))]

    /// To those who do not lead nothing tells whether anybody else is there.
    #[test]
    fn in_the_blind_phase_a_specialist_and_a_stranger_learn_nothing_of_others(
        (joins, one) in (any::<bool>(), vec(vec(deeds(), 0..3), 0..6)),
        (also, other) in (any::<bool>(), vec(vec(deeds(), 0..3), 0..6)),
    ) {
        let viewers = ["ada", "zoe", ""];
        check_same(&blind(joins, &one, &viewers), &blind(also, &other, &viewers))?;
    }

    /// Those who lead learn who has posted, and neither what nor how often.
    #[test]
    fn in_the_blind_phase_those_who_lead_learn_who_has_posted_and_no_more(
        one in vec(vec(deeds(), 0..3), 0..6),
        other in vec(vec(deeds(), 0..3), 0..6),
    ) {
        let begun = |mut deeds: Vec<Vec<Deed>>| {
            deeds.iter_mut().for_each(|slot| slot.retain(|d| !matches!(d, Deed::CydPosts(_))));
            deeds.insert(0, vec![Deed::Post(PostKind::Proposal, deeds.len() as u8)]);
            deeds
        };
        let viewers = ["fay", "olga"];
        let (one, other) = (begun(one), begun(other));
        check_same(&blind(true, &one, &viewers), &blind(true, &other, &viewers))?;
    }
}

#[test]
fn those_who_lead_see_who_has_posted_and_who_has_not() {
    let before = reached(Phase::Blind).into_iter().take(4).collect();
    let (state, _) = told(opened(), before, vec![]);
    for leader in ["fay", "olga"] {
        let board = board(&state, &viewer(leader));
        assert_eq!(board.has_posted, Some(vec![&agent("ada")]));
        let why_not = vec!["ben has not posted yet".to_owned()];
        assert_eq!(board.readiness, Some(Readiness { ready: false, why_not }));
        let names: Vec<&str> = board.members.iter().map(|m| m.name.0.as_str()).collect();
        assert_eq!((names, board.posts.len()), (vec!["fay", "ada", "ben", "olga"], 0));
        assert_eq!(summarize(&board).posts, 1);
    }
    for (name, known, own) in [("ada", vec!["fay", "ada"], 1), ("ben", vec!["fay", "ben"], 0)] {
        let board = board(&state, &viewer(name));
        assert_eq!((&board.has_posted, &board.readiness), (&None, &None));
        let names: Vec<&str> = board.members.iter().map(|m| m.name.0.as_str()).collect();
        assert_eq!((names, board.posts.len()), (known, own));
        assert_eq!(summarize(&board).posts, own);
    }
    let (state, _) = told(opened(), reached(Phase::Read), vec![]);
    assert_eq!(board(&state, &viewer("fay")).has_posted, None);
}

// ---------------------------------------------------------------------------
// Nothing unrelated gets out of a debate that hides it

fn hiding() -> Open {
    Open { debate: Visibility::OwnAndRelated, ..opened() }
}

/// A debate in which fay, who leads, and olga act on ben's post, and ada does not.
fn debate(deeds: &[(usize, usize)]) -> Vec<String> {
    let mut session = Session::new(hiding());
    for (n, command) in (1..).zip(reached(Phase::Debate)) {
        session.give(command, n);
    }
    for (n, (who, what)) in (100..).zip(deeds) {
        let who = ["fay", "olga", "ben"][who % 3];
        let challenge = note_id("fay/a1");
        session.give(
            match what % 6 {
                0 => challenges(who, "ben/1"),
                1 => annotate(who, "ben/1", Note::Corroboration),
                2 => annotate(who, "ben/1", Note::Rebuttal { challenge: Some(challenge) }),
                3 => annotate(who, "ben/1", Note::Withdrawal { challenge: Some(challenge) }),
                4 => annotate(who, "ben/1", Note::Resolution { challenge }),
                _ => votes(who, "ben/1", [Choice::Accept, Choice::Reject][n as usize % 2]),
            },
            n,
        );
    }
    session.give(votes("olga", "ada/1", Choice::Accept), 900);
    ["ada", "zoe", ""].into_iter().flat_map(|name| session.known_to(name)).collect()
}

proptest! {
    #![proptest_config(quick(128))]

    #[test]
    fn a_debate_of_own_and_related_tells_nothing_of_other_posts(
        one in vec((0..3_usize, 0..6_usize), 0..12),
        other in vec((0..3_usize, 0..6_usize), 0..12),
    ) {
        check_same(&debate(&one), &debate(&other))?;
    }
}

/// What ada is told, step by step, in a debate that hides what is not hers.
#[test]
fn a_hidden_annotation_arrives_when_its_post_becomes_related_or_at_resolve() {
    let corroborates = |who, target| annotate(who, target, Note::Corroboration);
    let resolution = Note::Resolution { challenge: note_id("fay/a2") };
    let story = [
        (challenges("fay", "ada/1"), "13 fay/a1"),
        (challenges("fay", "ben/1"), ""),
        (votes("olga", "ben/1", Choice::Accept), ""),
        (votes("olga", "ben/1", Choice::Defer), ""),
        (
            votes("ada", "ben/1", Choice::Reject),
            "14 ada Reject, 15 fay/a2, 16 olga Accept, 17 olga Defer",
        ),
        (annotate("olga", "ben/1", resolution), "18 olga/a2"),
        (post("ben", PostKind::Informational, "More"), "19 ben/2"),
        (corroborates("fay", "ben/2"), ""),
        (votes("olga", "ben/2", Choice::Accept), ""),
        (annotate("ben", "ben/2", Note::Withdrawal { challenge: None }), "20 ben/a1"),
        (moves("fay", Phase::Resolve), "21 resolve, 22 fay/a3, 23 olga Accept"),
        (moves("fay", Phase::Archived), "24 archived"),
    ];
    let mut before = reached(Phase::Read);
    before.extend([moves("fay", Phase::Validate)]);
    before.extend(["ada", "olga"].map(|who| {
        let target = if who == "ada" { "fay/1" } else { "ben/1" };
        annotate(who, target, Note::Validation { result: Finding::Confirmed })
    }));
    before.insert(5, post("fay", PostKind::Claim, "Fay"));
    before.push(moves("fay", Phase::Debate));
    let mut session = Session::new(hiding());
    for (n, command) in (1..).zip(before) {
        session.give(command, n);
    }
    let ada = VIEWERS.iter().position(|name| *name == "ada").unwrap();
    assert_eq!(session.told[ada].len(), session.log.len());
    let mut expected = vec![];
    let mut heard = vec![];
    for (n, (command, told)) in (100..).zip(story) {
        let before = session.told[ada].len();
        session.give(command, n);
        let gist = |(number, place): &(u64, usize)| {
            use whiteboard::Event;
            let what = match &session.log[*place] {
                Event::Posted { id, .. } => id.0.clone(),
                Event::Annotated { id, .. } => id.0.clone(),
                Event::Voted { by, choice, .. } => format!("{by} {choice:?}"),
                Event::Transitioned { to, .. } => to.name().to_owned(),
                other => format!("{other:?}"),
            };
            format!("{number} {what}")
        };
        let new: Vec<String> = session.told[ada][before..].iter().map(gist).collect();
        heard.push(new.join(", "));
        expected.push(told);
    }
    assert_eq!(heard, expected);
}

/// Advice on a debate names challenges and votes: not for those who don't see them.
#[test]
fn advice_is_for_those_who_see_what_it_is_made_from() {
    let story = || vec![challenges("fay", "ben/1")];
    for (open, who, given) in [
        (opened(), "ada", true),
        (opened(), "", true),
        (hiding(), "ada", false),
        (hiding(), "", false),
        (hiding(), "fay", true),
        (hiding(), "olga", true),
    ] {
        let (state, _) = told(open, reached(Phase::Debate), story());
        let why_not = [
            "challenge fay/a1 to ben/1 is not settled",
            "no one has voted on ada/1",
            "no one has voted on ben/1",
        ];
        let advice = Readiness { ready: false, why_not: why_not.map(Into::into).into() };
        assert_eq!(board(&state, &viewer(who)).readiness, given.then_some(advice), "{who}");
    }
}

// ---------------------------------------------------------------------------
// All of it arrives, once

fn sessions() -> impl Strategy<Value = (Open, Vec<(usize, usize, usize)>)> {
    let debates = prop_oneof![Just(Visibility::Full), Just(Visibility::OwnAndRelated)];
    let admissions = prop_oneof![Just(Admission::Open), Just(Admission::Invited)];
    let opens = (debates, admissions).prop_map(|(debate, admission)| Open {
        debate,
        admission,
        ..opened()
    });
    (opens, vec((0..6_usize, 0..32_usize, 0..64_usize), 0..60))
}

/// A random command with texts of its own; the last ones move the board on.
fn command(state: &State, (who, what, pick): (usize, usize, usize), n: i64) -> Command {
    let who = ["fay", "olga", "ada", "ben", "ada", "ben"][who];
    let target = state.posts.get(pick % state.posts.len().max(1));
    let target = target.map_or(post_id("ada/1"), |post| post.id.clone());
    let of = || state.posts.iter().find(|post| post.id == target);
    let challenge = || {
        let open = of().and_then(|post| post.open_challenges().next());
        open.map_or(note_id("ada/a1"), |challenge| challenge.id.clone())
    };
    let kinds = [PostKind::Proposal, PostKind::Informational];
    let choices = [Choice::Accept, Choice::Reject, Choice::Defer];
    let noted = |note| {
        Command::Own(Own::Annotate { agent: agent(who), post: target.clone(), note, body: mark(n) })
    };
    match what {
        0..=1 => {
            let role = if pick.is_multiple_of(2) { Role::Specialist } else { Role::Operator };
            let domain = Some(mark(n));
            let shown = [Shown::Nothing, Shown::Invitation(0), Shown::Personal][pick % 3];
            let name = if pick % 5 < 3 { format!("late-{n}") } else { "zoe".to_owned() };
            Command::Own(Own::Register { agent: agent(&name), role, domain, shown })
        }
        2 => Command::Own(Own::RenewToken { agent: agent(who) }),
        3 => {
            let role = if pick.is_multiple_of(2) { Role::Specialist } else { Role::Operator };
            let newcomer = (!pick.is_multiple_of(3)).then(|| (agent("zoe"), role));
            Command::Own(Own::Invite { agent: agent(who), newcomer })
        }
        4..=7 => {
            let content = content(kinds[pick % 2], &mark(n));
            Command::Own(Own::Post {
                agent: agent(who),
                content: Content { body: "So.".into(), ..content },
            })
        }
        8..=10 => noted(Note::Validation { result: Finding::Confirmed }),
        11..=14 => noted(Note::Challenge),
        15..=16 => noted(Note::Corroboration),
        17 => noted(Note::Rebuttal { challenge: None }),
        18 => noted(Note::Withdrawal { challenge: None }),
        19 => noted(Note::Withdrawal { challenge: Some(challenge()) }),
        20..=21 => noted(Note::Resolution { challenge: challenge() }),
        22..=28 => Command::Own(Own::Vote {
            agent: agent(who),
            post: target.clone(),
            choice: choices[pick % 3],
            reason: Some(mark(n)),
        }),
        _ => {
            let ways = state.phase.next();
            let to = ways.get(pick % ways.len().max(1)).copied().unwrap_or(Phase::Archived);
            Command::Own(Own::Transition { agent: agent("fay"), to, note: Some(mark(n)) })
        }
    }
}

fn mark(n: i64) -> String {
    format!("<mark-{n}>")
}

/// What a viewer has the right to, read from the log alone.
fn due_to(name: &str, log: &[whiteboard::Event], hiding: bool) -> BTreeSet<usize> {
    use whiteboard::Event;
    let mut moves = log.iter().filter_map(|event| match event {
        Event::Transitioned { to, .. } => Some(to.name()),
        _ => None,
    });
    let phase = moves.next_back().unwrap_or("blind");
    let leads = log.iter().any(|event| match event {
        Event::Opened { by, .. } => by.0 == name,
        Event::Registered { agent, role, .. } => agent.0 == name && *role != Role::Specialist,
        _ => false,
    });
    let related: BTreeSet<&PostId> = log
        .iter()
        .filter_map(|event| match event {
            Event::Posted { id, author, .. } => Some((id, author)),
            Event::Annotated { post, by, .. } | Event::Voted { post, by, .. } => Some((post, by)),
            _ => None,
        })
        .filter(|(_, by)| by.0 == name)
        .map(|(post, _)| post)
        .collect();
    let sees = |event: &Event| match (phase, event) {
        (_, Event::Opened { .. } | Event::Transitioned { .. }) => true,
        (
            "blind",
            Event::Registered { agent, .. }
            | Event::Invited { agent, .. }
            | Event::TokenRenewed { agent, .. },
        ) => leads || agent.0 == name || agent.0 == "fay",
        ("blind", Event::Posted { author, .. }) => author.0 == name,
        ("debate", Event::Annotated { post, note, .. }) if hiding => {
            let open =
                matches!(note, Note::Validation { .. } | Note::Withdrawal { challenge: None });
            open || leads || related.contains(post)
        }
        ("debate", Event::Voted { post, .. }) if hiding => leads || related.contains(post),
        _ => true,
    };
    log.iter().enumerate().filter(|(_, event)| sees(event)).map(|(place, _)| place).collect()
}

/// The marks that are in a text, each as often as it is there.
fn marks(text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for part in text.split("<mark-").skip(1) {
        let number = part.split('>').next().unwrap().parse().unwrap();
        *found.entry(mark(number)).or_default() += 1;
    }
    found
}

proptest! {
    #![proptest_config(quick(192))]

    #[test]
    fn everybody_is_told_all_that_is_theirs_at_once_and_once(
        (open, steps) in sessions(),
        ways in vec(0..2_usize, 5),
    ) {
        let debate = open.debate;
        let mut session = Session::new(open);
        for (n, command) in (1..).zip(reached(Phase::Blind)) {
            session.give(command, n);
        }
        let on = ways.into_iter().map(|way| (0, 31, way));
        let mut earlier: Vec<Vec<(u64, BTreeMap<PostId, String>)>> = vec![vec![]; VIEWERS.len()];
        for (n, step) in (100..).zip(steps.into_iter().chain(on)) {
            let before = session.log.len();
            let command = command(&session.state, step, n);
            session.give(command, n);
            let log = &session.log;
            for ((name, told), earlier) in VIEWERS.iter().zip(&session.told).zip(&mut earlier) {
                let numbers: Vec<u64> = told.iter().map(|(number, _)| *number).collect();
                prop_assert_eq!(numbers, (1..=told.len() as u64).collect::<Vec<_>>());
                let places: BTreeSet<usize> = told.iter().map(|(_, place)| *place).collect();
                prop_assert_eq!(places.len(), told.len(), "{} was told something twice", name);
                let expected = due_to(name, log, debate == Visibility::OwnAndRelated);
                prop_assert_eq!(&places, &expected, "{} in {:?}", name, session.state.phase);
                let board = board(&session.state, &viewer(name));
                prop_assert_eq!(shown(&board), heard(log, &places));
                prop_assert_eq!(board.told, told.len() as u64, "{} in {:?}", name, board.phase);
                let now = drawn(&board);
                for (since, before) in earlier.iter().rev().take(8) {
                    let Some(changed) = board.changed_since(*since) else { continue };
                    let changed: BTreeSet<&PostId> = changed.iter().map(|s| &s.post.id).collect();
                    let differ = now.iter().filter(|(id, post)| before.get(*id) != Some(*post));
                    let differ: BTreeSet<&PostId> = differ.map(|(id, _)| id).collect();
                    prop_assert!(differ.is_subset(&changed), "{} since {}", name, since);
                    prop_assert!(changed.is_empty() || *since < board.told);
                }
                earlier.push((board.told, now));
            }
            let outsider = due_to("", log, debate == Visibility::OwnAndRelated);
            if log.len() > before {
                let listed = session.listed.last() == Some(&before);
                prop_assert_eq!(listed, outsider.contains(&before));
            }
            let known: Vec<_> = outsider.into_iter().map(|place| &log[place]).collect();
            let findable = marks(&serde_json::to_string(&known).unwrap());
            let replaced = replaced(log);
            let mut found = marks(&session.found);
            if debate == Visibility::OwnAndRelated {
                found.extend(findable.clone().into_iter().filter(|(m, _)| replaced.contains(m)));
            }
            prop_assert_eq!(found, findable);
        }
        prop_assert_eq!(session.state.phase, Phase::Archived);
        for (name, told) in VIEWERS.iter().zip(&session.told) {
            prop_assert_eq!(told.len(), session.log.len(), "{} is not told all", name);
            let mut late = Lens::new(viewer(name));
            let events = session.log.iter().cloned().map(Event::Whiteboard);
            let again: Vec<_> =
                events.enumerate().flat_map(|(place, event)| late.pass(event, place)).collect();
            prop_assert_eq!(&again, told);
        }
    }
}

/// Each post as it would be drawn.
fn drawn(board: &Board<'_>) -> BTreeMap<PostId, String> {
    let post = |seen: &Seen<'_>| {
        let words = format!("{:?} {:?} {:?}", seen.annotations, seen.votes, seen.post.withdrawn);
        (seen.post.id.clone(), words)
    };
    board.posts.iter().map(post).collect()
}

/// Where nothing is hidden one is told what has changed since the board moved on, and nothing is
/// said of the time before, or while something is hidden from anybody.
#[test]
fn changes_are_told_by_the_viewers_own_numbers() {
    for (open, who, phase, knows) in [
        (opened(), "", Phase::Debate, true),
        (opened(), "ada", Phase::Debate, true),
        (hiding(), "fay", Phase::Debate, false),
        (hiding(), "ada", Phase::Debate, false),
        (hiding(), "", Phase::Debate, false),
        (opened(), "ada", Phase::Blind, false),
        (opened(), "fay", Phase::Blind, false),
    ] {
        let (before, _) = told(open.clone(), reached(phase), vec![]);
        let since = board(&before, &viewer(who)).told;
        let story = match phase {
            Phase::Debate => vec![challenges("fay", "ben/1")],
            _ => vec![post("ada", PostKind::Claim, "More")],
        };
        let (after, _) = told(open, reached(phase), story);
        let board = board(&after, &viewer(who));
        let ids = |posts: Vec<&Seen<'_>>| posts.iter().map(|s| s.post.id.0.clone()).collect();
        let changed: Option<Vec<String>> = board.changed_since(since).map(ids);
        assert_eq!(changed, knows.then(|| vec!["ben/1".to_owned()]), "{who} in {phase:?}");
        assert!(board.changed_since(since - 1).is_none(), "{who}: before it moved on");
        assert!(board.changed_since(board.told + 1).is_none(), "{who}: not yet told");
    }
}

/// Posts, annotations and votes that a board shows.
fn shown(board: &Board<'_>) -> BTreeSet<String> {
    let posts = board.posts.iter().flat_map(|seen| {
        let id = &seen.post.id;
        let notes = seen.annotations.iter().map(move |a| format!("{id} {} {}", a.id, a.body));
        let votes = seen.votes.iter().map(move |v| format!("{id} {} {:?}", v.by, v.choice));
        [format!("{id} {}", seen.post.content.title)].into_iter().chain(notes).chain(votes)
    });
    let members = board.members.iter().map(|member| format!("member {}", member.name));
    posts.chain(members).collect()
}

/// The same, as somebody puts it together who was told these events.
fn heard(log: &[whiteboard::Event], places: &BTreeSet<usize>) -> BTreeSet<String> {
    use whiteboard::Event;
    let mut votes = BTreeMap::new();
    let mut heard = BTreeSet::new();
    for place in places {
        match &log[*place] {
            Event::Opened { by, .. } => heard.insert(format!("member {by}")),
            Event::Registered { agent, .. } | Event::Seated { agent, .. } => {
                heard.insert(format!("member {agent}"))
            }
            Event::InvitationRenewed { .. }
            | Event::Invited { .. }
            | Event::TokenRenewed { .. } => false,
            Event::Posted { id, content, .. } => heard.insert(format!("{id} {}", content.title)),
            Event::Annotated { id, post, body, .. } => heard.insert(format!("{post} {id} {body}")),
            Event::Voted { post, by, choice, .. } => votes.insert((post, by), choice).is_some(),
            Event::Priced(_)
            | Event::Budgeted(_)
            | Event::TimeOver { .. }
            | Event::Answered { .. }
            | Event::AnswerFailed { .. }
            | Event::AnswerStopped { .. }
            | Event::Stopped { .. } => false,
            Event::Transitioned { .. } => false,
        };
    }
    heard.extend(votes.into_iter().map(|((post, by), choice)| format!("{post} {by} {choice:?}")));
    heard
}

/// The reasons of votes that a later one took the place of. A search finds the
/// votes that count when a hidden debate ends.
fn replaced(log: &[whiteboard::Event]) -> BTreeSet<String> {
    let mut last = BTreeMap::new();
    let mut replaced = BTreeSet::new();
    for event in log {
        if let whiteboard::Event::Voted { post, by, reason, .. } = event {
            replaced.extend(last.insert((post, by), reason.clone()).flatten());
        }
    }
    replaced
}

// ---------------------------------------------------------------------------
// Everything else

#[test]
fn other_forms_pass_a_lens_as_they_are() {
    let stopped = || Event::Boardroom(crate::boardroom::Event::Stopped);
    let mut lens = Lens::new(Viewer::Outsider);
    assert_eq!(lens.pass(stopped(), 'a'), [(1, 'a')]);
    assert_eq!(lens.pass(stopped(), 'b'), [(2, 'b')]);
}

#[test]
fn conflicts_are_refused_in_the_blind_phase_to_all_alike() {
    let (state, _) = told(opened(), reached(Phase::Blind), vec![]);
    let message = "The board is in its blind phase; `conflicts` is for the phases read, validate, \
                   debate, resolve and archived. A facilitator or an operator, such as fay, can \
                   move it on to read.";
    let reject =
        Reject::NotNow { state: "blind", message: message.into(), allowed: vec!["register"] };
    assert_eq!(board_conflicts(&state), Err(reject));
}

/// The sentences for somebody who has forgotten where a board stands.
#[test]
fn everybody_is_told_what_can_be_done_next() {
    let lines: Vec<String> = Phase::ALL
        .into_iter()
        .flat_map(|phase| {
            let (state, _) = told(opened(), reached(phase), vec![]);
            ["fay", "ada", ""].map(|name| {
                let next = board(&state, &viewer(name)).next.join("\n    ");
                format!("{} {name}\n    {next}", phase.name())
            })
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
