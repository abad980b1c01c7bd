//! The rules under any interleaving: random commands of agents of every role, and
//! of none, are also given to a model of the rules that was written apart from
//! them. Both must agree on every single one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

fn quick(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(quick(256))]

    #[test]
    fn the_rules_and_the_model_agree_in_every_order(
        open in opens(),
        (joined, ways) in (0..=6_usize, vec(0..2_usize, 0..5)),
        steps in vec(steps(), 0..60),
    ) {
        let mut drive = Drive::new(open);
        let ways = ways.into_iter().map(|way| Step::Forward { way });
        for step in usual().into_iter().take(joined).chain(ways).chain(steps) {
            drive.step(step);
        }
        drive.end();
    }

    /// Most of what can be done is done in a debate, and a few steps would end it.
    #[test]
    fn the_rules_and_the_model_agree_in_a_long_debate(
        open in opens(),
        checked in vec(deeds(), 0..10),
        debated in vec(deeds(), 0..60),
        resolved in vec(deeds(), 0..10),
    ) {
        let mut drive = Drive::new(open);
        let forward = || [Step::Forward { way: 0 }];
        let start = usual().into_iter().chain(forward()).chain(forward());
        let debate = start.chain(checked).chain(forward()).chain(debated);
        for step in debate.chain(forward()).chain(resolved).chain(forward()) {
            drive.step(step);
        }
        drive.end();
    }
}

// ---------------------------------------------------------------------------
// What may happen

/// Fay opens the board; zoe never registers.
const NAMES: [&str; 6] = ["fay", "ada", "ben", "olga", "eve", "zoe"];

#[derive(Clone, Debug)]
enum Step {
    Register {
        who: usize,
        role: Role,
        domain: Option<&'static str>,
    },
    Post {
        who: usize,
        kind: PostKind,
        title: &'static str,
    },
    Annotate {
        who: usize,
        post: usize,
        kind: &'static str,
        challenge: usize,
        body: &'static str,
    },
    Vote {
        who: usize,
        post: usize,
        choice: Choice,
    },
    Move {
        who: usize,
        to: Phase,
    },
    /// The opener goes on by one of the ways.
    Forward {
        way: usize,
    },
    Clock {
        phase: Phase,
        elapsed: bool,
    },
    OpenAgain,
}

/// How most boards begin; without this few would have anything to debate.
fn usual() -> [Step; 6] {
    let register = |who, role| Step::Register { who, role, domain: None };
    let post = |who| Step::Post { who, kind: PostKind::Proposal, title: "Words." };
    [
        register(1, Role::Specialist),
        register(2, Role::Specialist),
        post(1),
        post(2),
        register(3, Role::Operator),
        post(0),
    ]
}

fn steps() -> impl Strategy<Value = Step> {
    let phases = || proptest::sample::select(Phase::ALL.to_vec());
    prop_oneof![
        30 => deeds(),
        2 => (agents(), phases()).prop_map(|(who, to)| Step::Move { who, to }),
        1 => (0..2_usize).prop_map(|way| Step::Forward { way }),
        2 => (phases(), prop::bool::weighted(0.8))
            .prop_map(|(phase, elapsed)| Step::Clock { phase, elapsed }),
        1 => Just(Step::OpenAgain),
    ]
}

/// Whatever leaves the phase as it is.
fn deeds() -> impl Strategy<Value = Step> {
    let pick = || 0..1_000_usize;
    let roles = prop_oneof![
        3 => Just(Role::Specialist),
        1 => Just(Role::Facilitator),
        1 => Just(Role::Operator),
    ];
    let kinds = prop_oneof![
        2 => Just(PostKind::Proposal),
        1 => Just(PostKind::Claim),
        1 => Just(PostKind::Concern),
        2 => Just(PostKind::Informational),
    ];
    let notes = prop_oneof![
        3 => Just("validation"),
        4 => Just("challenge"),
        2 => Just("corroboration"),
        3 => Just("rebuttal"),
        3 => Just("withdrawal"),
        4 => Just("resolution"),
    ];
    let choices = prop_oneof![Just(Choice::Accept), Just(Choice::Reject), Just(Choice::Defer)];
    let words = || prop_oneof![19 => Just("Words."), 1 => Just(" ")];
    let domains = prop_oneof![2 => Just(None), 1 => Just(Some("docs")), 1 => Just(Some(" "))];
    prop_oneof![
        // Zoe wants to post, annotate, vote and lead, but does not register.
        4 => (0..5_usize, roles, domains)
            .prop_map(|(who, role, domain)| Step::Register { who, role, domain }),
        6 => (agents(), kinds, words())
            .prop_map(|(who, kind, title)| Step::Post { who, kind, title }),
        18 => (agents(), pick(), notes, pick(), words()).prop_map(
            |(who, post, kind, challenge, body)| Step::Annotate { who, post, kind, challenge, body }
        ),
        6 => (agents(), pick(), choices)
            .prop_map(|(who, post, choice)| Step::Vote { who, post, choice }),
    ]
}

fn agents() -> impl Strategy<Value = usize> {
    prop_oneof![6 => 0..3_usize, 2 => 3..6_usize]
}

fn opens() -> impl Strategy<Value = Open> {
    let phases = proptest::sample::subsequence(Phase::ALL[..5].to_vec(), 0..=5);
    let debates = prop_oneof![Just(Visibility::Full), Just(Visibility::OwnAndRelated)];
    (phases, 1_000..100_000_u64, debates).prop_map(|(phases, after_ms, debate)| {
        let deadlines: Vec<(Phase, u64)> = phases.into_iter().map(|p| (p, after_ms)).collect();
        Open { debate, ..with_deadlines(&deadlines) }
    })
}

// ---------------------------------------------------------------------------
// The model: a table and sets of names

/// `-` nobody, `a` anyone, `m` members, `l` those who lead.
const TABLE: &str = "
    action        blind read validate debate resolve archived
    register      a     a    a        a      -       -
    proposal      m     -    -        -      -       -
    claim         m     -    -        -      -       -
    concern       m     -    -        -      -       -
    informational m     -    -        m      -       -
    validation    -     -    m        -      -       -
    challenge     -     -    -        m      -       -
    corroboration -     -    -        m      -       -
    rebuttal      -     -    -        m      -       -
    withdrawal    -     -    -        m      -       -
    resolution    -     -    -        m      m       -
    vote          -     -    -        m      -       -
    seat          l     l    l        l      -       -
    transition    l     l    l        l      l       -
    conflicts     -     a    a        a      a       a
";

/// From, to; where there are two, the clock takes the first.
const WAYS: [(&str, &str); 7] = [
    ("blind", "read"),
    ("read", "validate"),
    ("read", "debate"),
    ("validate", "debate"),
    ("validate", "resolve"),
    ("debate", "resolve"),
    ("resolve", "archived"),
];

fn ways(from: &str) -> Vec<&'static str> {
    WAYS.iter().filter(|(start, _)| *start == from).map(|(_, to)| *to).collect()
}

fn cell(action: &str, phase: &str) -> &'static str {
    static CELLS: LazyLock<BTreeMap<(&str, &str), &str>> = LazyLock::new(|| {
        let mut rows = TABLE.trim().lines().map(|line| line.split_whitespace());
        let phases: Vec<&str> = rows.next().expect("a head").skip(1).collect();
        let row = |mut row: std::str::SplitWhitespace<'static>| {
            let action = row.next().expect("an action");
            phases.iter().zip(row).map(move |(phase, who)| ((action, *phase), who)).collect()
        };
        rows.flat_map(|cells| -> Vec<_> { row(cells) }).collect()
    });
    CELLS[&(action, phase)]
}

#[derive(Default)]
struct Model {
    phase: String,
    own_and_related: bool,
    timed: BTreeSet<String>,
    roles: BTreeMap<String, (Role, String)>,
    /// Post and author, in order.
    posts: Vec<(String, String)>,
    withdrawn: BTreeSet<String>,
    /// Post, challenge, challenger.
    challenges: BTreeSet<(String, String, String)>,
    over: BTreeSet<String>,
    /// Who has annotated or voted on what.
    touched: BTreeSet<(String, String)>,
    votes: BTreeMap<(String, String), String>,
    annotations: BTreeMap<String, u32>,
}

impl Model {
    fn new(open: &Open) -> Self {
        let timed = open.deadlines.iter().map(|d| d.phase.name().to_owned());
        Model {
            phase: "blind".into(),
            own_and_related: open.debate == Visibility::OwnAndRelated,
            timed: timed.collect(),
            roles: [("fay".to_owned(), (Role::Facilitator, String::new()))].into(),
            ..Model::default()
        }
    }

    fn leads(&self, who: &str) -> bool {
        self.roles.get(who).is_some_and(|(role, _)| *role != Role::Specialist)
    }

    fn may(&self, who: &str, action: &str) -> Result<(), &'static str> {
        match cell(action, &self.phase) {
            _ if !self.roles.contains_key(who) => Err("forbidden"),
            "m" => Ok(()),
            "l" if self.leads(who) => Ok(()),
            "l" => Err("forbidden"),
            _ => Err("not now"),
        }
    }

    /// The names of all that `who` may do now, as interfaces call it.
    fn allowed(&self, who: &str) -> Vec<String> {
        let names = [
            ("register", "register"),
            ("proposal", "post"),
            ("informational", "post informational"),
            ("validation", "annotate validation"),
            ("challenge", "annotate challenge"),
            ("corroboration", "annotate corroboration"),
            ("rebuttal", "annotate rebuttal"),
            ("withdrawal", "annotate withdrawal"),
            ("resolution", "annotate resolution"),
            ("vote", "vote"),
            ("seat", "seat"),
            ("transition", "transition"),
            ("conflicts", "conflicts"),
        ];
        let member = self.roles.contains_key(who);
        let open = |action: &str| match cell(action, &self.phase) {
            "a" => action != "register" || !member,
            _ => self.may(who, action).is_ok(),
        };
        names.iter().filter(|(action, _)| open(action)).map(|(_, name)| (*name).into()).collect()
    }

    fn register(
        &mut self,
        who: &str,
        role: Role,
        domain: &str,
    ) -> Result<&'static str, &'static str> {
        let wanted = (role, domain.trim().to_owned());
        match self.roles.get(who) {
            Some(had) if *had == wanted => Ok("nothing"),
            Some(_) => Err("forbidden"),
            None if cell("register", &self.phase) == "-" => Err("not now"),
            None => {
                self.roles.insert(who.into(), wanted);
                Ok("registered")
            }
        }
    }

    fn post(&mut self, who: &str, kind: &str, title: &str) -> Result<String, &'static str> {
        self.may(who, kind)?;
        if title.trim().is_empty() {
            return Err("invalid");
        }
        let earlier = self.posts.iter().filter(|(_, author)| author == who).count();
        let id = format!("{who}/{}", earlier + 1);
        self.posts.push((id.clone(), who.into()));
        Ok(id)
    }

    fn author_of_standing(&self, post: &str, action: &str) -> Result<String, &'static str> {
        let author = self.posts.iter().find(|(id, _)| id == post).map(|(_, author)| author.clone());
        match author {
            None => Err("unknown"),
            Some(_) if self.withdrawn.contains(post) && action != "resolution" => Err("not now"),
            Some(author) => Ok(author),
        }
    }

    /// Who made the challenge, if `who` can know of it.
    fn challenger(&self, who: &str, post: &str, id: &str) -> Result<String, &'static str> {
        let own = self.posts.iter().any(|(known, author)| known == post && author == who);
        let related = own || self.touched.contains(&(who.into(), post.into())) || self.leads(who);
        let sees = related || !self.own_and_related || self.phase != "debate";
        let found = self.challenges.iter().find(|(on, name, _)| on == post && name == id);
        found.filter(|_| sees).map(|(_, _, by)| by.clone()).ok_or("unknown")
    }

    fn annotate(
        &mut self,
        who: &str,
        post: &str,
        kind: &str,
        challenge: Option<&str>,
        body: &str,
    ) -> Result<String, &'static str> {
        self.may(who, kind)?;
        if body.trim().is_empty() && kind != "withdrawal" {
            return Err("invalid");
        }
        let author = self.author_of_standing(post, kind)?;
        let challenger = challenge.map(|id| self.challenger(who, post, id)).transpose();
        let still_open = !challenge.is_some_and(|id| self.over.contains(id));
        let owner = match kind {
            "validation" | "corroboration" if author == who => return Err("forbidden"),
            "rebuttal" => Some(&author),
            "withdrawal" if challenge.is_none() => Some(&author),
            _ => None,
        };
        if owner.is_some_and(|owner| owner != who) {
            return Err("forbidden");
        }
        let challenger = challenger?;
        let ends = matches!(kind, "withdrawal" | "resolution");
        if ends && !still_open {
            return Err("invalid");
        }
        match (kind, challenger) {
            ("withdrawal", Some(by)) if by != who => return Err("forbidden"),
            ("resolution", Some(by)) if by == who => return Err("forbidden"),
            _ => {}
        }
        let count = self.annotations.entry(who.into()).or_default();
        *count += 1;
        let id = format!("{who}/a{count}");
        match (kind, challenge) {
            ("challenge", _) => {
                self.challenges.insert((post.into(), id.clone(), who.into()));
            }
            ("withdrawal", None) => {
                self.withdrawn.insert(post.into());
            }
            ("withdrawal" | "resolution", Some(challenge)) => {
                self.over.insert(challenge.into());
            }
            _ => {}
        }
        self.touched.insert((who.into(), post.into()));
        Ok(id)
    }

    fn vote(&mut self, who: &str, post: &str, choice: &str) -> Result<&'static str, &'static str> {
        self.may(who, "vote")?;
        if self.author_of_standing(post, "vote")? == who {
            return Err("forbidden");
        }
        self.touched.insert((who.into(), post.into()));
        let before = self.votes.insert((who.into(), post.into()), choice.into());
        Ok(if before.as_deref() == Some(choice) { "nothing" } else { "voted" })
    }

    fn move_on(&mut self, who: &str, to: &str) -> Result<(), &'static str> {
        self.may(who, "transition")?;
        if !WAYS.contains(&(self.phase.as_str(), to_static(to))) {
            return Err("not now");
        }
        self.phase = to.into();
        Ok(())
    }

    fn clock(&mut self, phase: &str, elapsed: bool) -> Result<&'static str, &'static str> {
        if phase != self.phase || !self.timed.contains(phase) || !elapsed {
            return Err("stale");
        }
        let to = ways(phase)[0];
        self.phase = to.into();
        Ok(to)
    }
}

fn to_static(phase: &str) -> &'static str {
    Phase::ALL.iter().map(|known| known.name()).find(|name| *name == phase).unwrap()
}

// ---------------------------------------------------------------------------
// The driver, and what must hold after each step

struct Drive {
    n: i64,
    state: State,
    log: Vec<Event>,
    model: Model,
}

impl Drive {
    fn new(open: Open) -> Self {
        let model = Model::new(&open);
        let log = decide(None, Command::Own(Own::Open(open)), at(0)).expect("a good board");
        let state = log.iter().fold(None, apply::<State>).expect("a board");
        Drive { n: 0, state, log, model }
    }

    fn step(&mut self, step: Step) {
        self.n += 1;
        let (command, expected) = self.expect(step);
        let decided = decide(Some(&self.state), command.clone(), at(self.n));
        if let Err(Reject::NotNow { state, .. }) = &decided {
            assert_eq!(*state, self.state.phase.name());
        }
        let told = decided.as_deref().map(|events| events.iter().map(gist).collect::<Vec<_>>());
        assert_eq!(told.map_err(kind_of), expected, "{command:?}");
        for event in decided.unwrap_or_default() {
            self.state = apply(Some(self.state.clone()), &event).expect("a board");
            self.log.push(event);
        }
        self.look();
    }

    /// The command, and the gist of what the model says of it.
    fn expect(&mut self, step: Step) -> (Command, Result<Vec<String>, &'static str>) {
        let model = &mut self.model;
        let picked = |model: &Model, post: usize| {
            let known = model.posts.get(post % model.posts.len().max(1));
            known
                .filter(|_| !post.is_multiple_of(11))
                .map_or("ada/99".to_owned(), |(id, _)| id.clone())
        };
        match step {
            Step::Register { who, role, domain } => {
                let who = NAMES[who];
                let told = model.register(who, role, domain.unwrap_or_default());
                let told = told.map(|done| gists(done, || format!("{who} registered")));
                let domain = domain.map(Into::into);
                let shown = Shown::Nothing;
                (Command::Own(Own::Register { agent: agent(who), role, domain, shown }), told)
            }
            Step::Post { who, kind, title } => {
                let who = NAMES[who];
                let told = model.post(who, post_kind(kind), title);
                (post(who, kind, title), told.map(|id| vec![format!("{who} posted {id}")]))
            }
            Step::Annotate { who, post, kind, challenge, body } => {
                let (who, post) = (NAMES[who], picked(model, post));
                let challenge = self.challenge(&post, kind, challenge);
                let note = note(kind, challenge.clone());
                let told = self.model.annotate(who, &post, kind, challenge.as_deref(), body);
                let told = told.map(|id| vec![format!("{who} annotated {post} with {id}")]);
                let (agent, post) = (agent(who), post_id(&post));
                (Command::Own(Own::Annotate { agent, post, note, body: body.into() }), told)
            }
            Step::Vote { who, post, choice } => {
                let (who, post) = (NAMES[who], picked(model, post));
                let told = model.vote(who, &post, &format!("{choice:?}"));
                let told =
                    told.map(|done| gists(done, || format!("{who} voted {choice:?} on {post}")));
                (votes(who, &post, choice), told)
            }
            Step::Move { who, to } => self.expect_move(NAMES[who], to),
            Step::Forward { way } => {
                let to = self.state.phase.next();
                let to = to.get(way % to.len().max(1)).copied().unwrap_or(Phase::Archived);
                self.expect_move("fay", to)
            }
            Step::Clock { phase, elapsed } => {
                let told = model.clock(phase.name(), elapsed);
                let outcome = match elapsed {
                    true => call::Outcome::Elapsed,
                    false => call::Outcome::Stopped {
                        partial: String::new(),
                        usage: crate::Usage::default(),
                    },
                };
                let command = settles(&format!("deadline/{}", phase.name()), outcome);
                (command, told.map(|to| vec![format!("the deadline moved to {to}")]))
            }
            Step::OpenAgain => (Command::Own(Own::Open(board())), Err("not now")),
        }
    }

    fn expect_move(
        &mut self,
        who: &str,
        to: Phase,
    ) -> (Command, Result<Vec<String>, &'static str>) {
        let told = self.model.move_on(who, to.name());
        (moves(who, to), told.map(|()| vec![format!("{who} moved to {}", to.name())]))
    }

    /// One of the annotations of this post, or of the board, or none at all.
    fn challenge(&self, post: &str, kind: &str, pick: usize) -> Option<String> {
        let optional = pick.is_multiple_of(3) && kind != "resolution";
        let takes_one = matches!(kind, "rebuttal" | "withdrawal" | "resolution");
        if optional || !takes_one {
            return None;
        }
        let (anywhere, anything) = (pick % 5 == 1, pick % 7 == 1);
        let here = self.state.posts.iter().filter(|p| anywhere || p.id.0 == post);
        let notes = here.flat_map(|post| &post.annotations);
        let ids: Vec<String> = notes
            .filter(|a| anything || a.note == Note::Challenge)
            .map(|a| a.id.0.clone())
            .collect();
        let known = ids.get(pick % ids.len().max(1)).filter(|_| !pick.is_multiple_of(11));
        Some(known.cloned().unwrap_or("ada/a99".into()))
    }

    fn look(&self) {
        let state = &self.state;
        assert_eq!(state.phase.name(), self.model.phase);
        let due: Vec<CallId> = due(state).into_iter().map(|call| call.id).collect();
        let timed = self.model.timed.contains(state.phase.name());
        let deadline = CallId(format!("deadline/{}", state.phase.name()));
        assert_eq!(due, Vec::from_iter(timed.then_some(deadline)));
        for who in NAMES {
            let shown = view::board(state, &Viewer::Agent(agent(who))).allowed;
            assert_eq!(shown, self.model.allowed(who), "{who} in {}", self.model.phase);
        }
        let shown = view::board(state, &Viewer::Outsider).allowed;
        assert_eq!(shown, self.model.allowed("an outsider"));
        let conflicts = view::board_conflicts(state).map(|_| ()).map_err(|r| kind_of(&r));
        let expected = if self.model.phase == "blind" { Err("not now") } else { Ok(()) };
        assert_eq!(conflicts, expected);
        for post in &state.posts {
            let voters: BTreeSet<&AgentName> = post.votes.iter().map(|vote| &vote.by).collect();
            assert_eq!(voters.len(), post.votes.len(), "{} has a vote twice", post.id);
            assert!(!voters.contains(&post.author), "{} voted on {}", post.author, post.id);
            let praise = |a: &Annotation| match a.note {
                Note::Validation { .. } | Note::Corroboration => true,
                Note::Challenge
                | Note::Rebuttal { .. }
                | Note::Withdrawal { .. }
                | Note::Resolution { .. } => false,
            };
            assert!(!post.annotations.iter().any(|a| a.by == post.author && praise(a)));
            let settled = |a: &Annotation| {
                let settler = a
                    .settled_by
                    .as_ref()
                    .and_then(|id| post.annotations.iter().find(|found| found.id == *id));
                assert_eq!(settler.is_some(), a.settled_by.is_some());
                settler.is_none_or(|settler| settler.by != a.by)
            };
            assert!(post.annotations.iter().all(settled), "somebody settled their own challenge");
        }
        let ids: BTreeSet<&PostId> = state.posts.iter().map(|post| &post.id).collect();
        assert_eq!(ids.len(), state.posts.len(), "a post's id is given twice");
        let all = || state.posts.iter().flat_map(|post| &post.annotations).map(|a| &a.id);
        assert_eq!(all().collect::<BTreeSet<_>>().len(), all().count());
    }

    /// The log, read anew from its JSON, is the board; and its phases went the
    /// allowed ways.
    fn end(self) {
        let mut again = None;
        let mut at = "blind";
        for event in self.log {
            if let Event::Transitioned { to, .. } = &event {
                assert!(WAYS.contains(&(at, to.name())), "it went from {at} to {to:?}");
                at = to.name();
            }
            let event = crate::Event::Whiteboard(event);
            let read = crate::Event::decode("whiteboard", &event.encode().unwrap());
            assert_eq!(read.as_ref(), Ok(&event));
            crate::room::apply(&mut again, &event, super::at(0));
        }
        let again = again.expect("a board");
        assert_eq!(again.due(), due(&self.state));
        assert_eq!(again.summary().active, !due(&self.state).is_empty());
        assert_eq!(again, crate::Room::Whiteboard(self.state));
    }
}

fn gists(done: &str, gist: impl Fn() -> String) -> Vec<String> {
    if done == "nothing" { vec![] } else { vec![gist()] }
}

fn gist(event: &Event) -> String {
    match event {
        Event::Opened { by, .. } => format!("{by} opened"),
        Event::Registered { agent, .. } => format!("{agent} registered"),
        Event::InvitationRenewed { .. }
        | Event::Invited { .. }
        | Event::TokenRenewed { .. }
        | Event::Seated { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Answered { .. }
        | Event::AnswerFailed { .. }
        | Event::AnswerStopped { .. }
        | Event::Stopped { .. } => {
            panic!("no step does that: {event:?}")
        }
        Event::Posted { id, author, .. } => format!("{author} posted {id}"),
        Event::Annotated { id, post, by, .. } => format!("{by} annotated {post} with {id}"),
        Event::Voted { post, by, choice, .. } => format!("{by} voted {choice:?} on {post}"),
        Event::Transitioned { to, by, .. } => {
            let by = by.as_ref().map_or("the deadline", |by| by.0.as_str());
            format!("{by} moved to {}", to.name())
        }
    }
}

fn kind_of(reject: &Reject) -> &'static str {
    match reject {
        Reject::Invalid(_) => "invalid",
        Reject::NotNow { .. } => "not now",
        Reject::Unknown(_) => "unknown",
        Reject::Forbidden(_) => "forbidden",
        Reject::NotInvited(_) => "not invited",
        Reject::Taken(_) => "taken",
        Reject::Stale => "stale",
    }
}

fn post_kind(kind: PostKind) -> &'static str {
    match kind {
        PostKind::Proposal => "proposal",
        PostKind::Claim => "claim",
        PostKind::Concern => "concern",
        PostKind::Informational => "informational",
    }
}

fn note(kind: &str, challenge: Option<String>) -> Note {
    let challenge = challenge.map(AnnotationId);
    match (kind, challenge) {
        ("validation", None) => Note::Validation { result: Finding::Confirmed },
        ("challenge", None) => Note::Challenge,
        ("corroboration", None) => Note::Corroboration,
        ("rebuttal", challenge) => Note::Rebuttal { challenge },
        ("withdrawal", challenge) => Note::Withdrawal { challenge },
        ("resolution", Some(challenge)) => Note::Resolution { challenge },
        (kind, challenge) => panic!("no {kind} is of {challenge:?}"),
    }
}
