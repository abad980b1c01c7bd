//! Conflicts between posts on boards of growing size, beside a comparison of every
//! post with every other; and what one more post costs on such a board.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::Args;
use plenary_domain::room::{self, Input, Room};
use plenary_domain::whiteboard::conflict::conflicts;
use plenary_domain::whiteboard::{
    Command, Content, Event, Phase, Post, PostId, PostKind, Role, Severity, State,
};
use plenary_domain::{AgentName, Form, Nonce, Timestamp, Viewer, view};

use crate::Outcome;
use crate::figures::{Dice, Samples};

#[derive(Args)]
pub struct Conflicts {
    /// Times that everything is measured
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The same seed makes the same boards
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Beyond this all pairs take too long to wait for.
const PAIRS_MOST: usize = 10_000;
const AGENTS: usize = 64;
/// The board grows by more files with about as many posts each.
const POSTS_PER_FILE: usize = 5;
/// One more post is timed this often.
const POSTINGS: usize = 200;

impl Conflicts {
    pub fn run(self) -> Outcome<()> {
        println!("ms, median (p10 to p90) of {} rounds", self.rounds);
        let mut smallest = None;
        for size in SIZES {
            let blind = board(size, &mut Dice(self.seed))?;
            self.posting(&blind)?;
            let state = read(blind)?;
            let seen = view::board(&state, &Viewer::Outsider);
            let posts: Vec<&Post> = seen.posts.iter().map(|seen| seen.post).collect();
            let (found, times) = self.timed(|| find(&posts));
            let each = times.median() * 1e6 / (posts.len() + found) as f64;
            let first = *smallest.get_or_insert(each);
            println!(
                "  {size:>6} posts, {found} conflicts: {times}  {each:.0} ns per post and conflict (×{:.2})",
                each / first
            );
            if size <= PAIRS_MOST {
                let (paired, pairs) = self.timed(|| all_pairs(&posts));
                if paired != found {
                    return Err(format!("all pairs have {paired} conflicts, not {found}").into());
                }
                let times_as_long = pairs.median() / times.median();
                println!("    all pairs, as many found:  {pairs}  ×{times_as_long:.0}");
            }
        }
        Ok(())
    }

    fn timed(&self, work: impl Fn() -> usize) -> (usize, Samples) {
        let mut found = 0;
        let mut times = vec![];
        for _ in 0..self.rounds {
            let start = Instant::now();
            found = black_box(work());
            times.push(start.elapsed());
        }
        (found, Samples::of_millis(&times))
    }

    /// What the engine does for one more post: a copy of the state, a decision, its
    /// event applied. The old state goes when the new one takes its place.
    fn posting(&self, board: &State) -> Outcome<()> {
        let mut room = Room::Whiteboard(board.clone());
        let (mut whole, mut copying) = (vec![], vec![]);
        for nth in 0..POSTINGS {
            let command = room::Command::Whiteboard(Command::Post {
                agent: agent(nth % AGENTS),
                content: content(&mut Dice(nth as u64), 100),
            });
            let input = Input { at: AT, nonce: Nonce("0".into()), actor: String::new(), command };
            let start = Instant::now();
            let mut next = Some(room.clone());
            copying.push(start.elapsed());
            let events = room::decide(next.as_ref(), input).map_err(|no| format!("{no:?}"))?;
            events.iter().for_each(|event| room::apply(&mut next, event, AT));
            room = next.ok_or("the board is gone")?;
            whole.push(start.elapsed());
        }
        let micros = |times: &[Duration]| Samples::of_millis(times).median() * 1e3;
        println!(
            "  one more post on {} posts: {:.1} µs, of them {:.1} for the copy",
            view::board(&read(board.clone())?, &Viewer::Outsider).posts.len(),
            micros(&whole),
            micros(&copying)
        );
        Ok(())
    }
}

const AT: Timestamp = Timestamp::UNIX_EPOCH;

fn agent(nth: usize) -> AgentName {
    AgentName(format!("agent-{nth}"))
}

/// A blind board with so many posts.
fn board(posts: usize, dice: &mut Dice) -> Outcome<State> {
    let by = agent(0);
    let name = "bench".to_owned();
    let topic = "Which of these get in each other's way?".to_owned();
    let opened = Event::Opened {
        name,
        topic,
        project: None,
        by,
        principal: None,
        admission: Default::default(),
        debate: Default::default(),
        deadlines: vec![],
        at: AT,
    };
    let registered = (1..AGENTS).map(|nth| Event::Registered {
        agent: agent(nth),
        role: Role::Specialist,
        domain: None,
        at: AT,
    });
    let files = (posts / POSTS_PER_FILE).max(1) as u64;
    let posted = (0..posts).map(|nth| {
        let author = agent(nth % AGENTS);
        let id = PostId(format!("{author}/{}", nth / AGENTS + 1));
        Event::Posted { id, author, content: content(dice, files), at: AT }
    });
    let events: Vec<Event> = [opened].into_iter().chain(registered).chain(posted).collect();
    let board = events.iter().fold(None, |state, event| State::apply(state, event, AT));
    board.ok_or_else(|| "no board was opened".into())
}

fn read(mut state: State) -> Outcome<State> {
    let moved = Event::Transitioned { to: Phase::Read, by: None, note: None, at: AT };
    state.take(&moved, AT);
    Ok(state)
}

/// Most posts are about lines of a file, some about a symbol, some about neither;
/// some reach other files, some name a finding.
fn content(dice: &mut Dice, files: u64) -> Content {
    let severities = [Severity::Critical, Severity::High, Severity::Medium, Severity::Low];
    let mut path = || format!("src/module_{}/part.rs", dice.between(1, files));
    let (target, reached) = (path(), path());
    let place = match dice.between(1, 10) {
        1..=6 => {
            let from = dice.between(1, 2_000);
            Some(format!("{from}-{}", from + dice.between(0, 60)))
        }
        7..=8 => Some(format!("Type{}::method", dice.between(1, 6))),
        _ => None,
    };
    let findings = dice.between(1, 10) <= 3;
    let severity = severities[dice.between(0, 3) as usize];
    Content {
        kind: PostKind::Concern,
        title: "Retries are not bounded".into(),
        body: "The loop asks again as long as the answer is 429.".into(),
        target_file: Some(target),
        target_location: place,
        severity: Some(severity),
        finding_refs: Vec::from_iter(findings.then(|| format!("F-{}", dice.between(1, files * 2)))),
        cascade_targets: Vec::from_iter((dice.between(1, 10) == 1).then_some(reached)),
    }
}

fn find(posts: &[&Post]) -> usize {
    conflicts(posts.iter().copied(), usize::MAX).len()
}

/// A post as the comparison of all pairs looks at it, so that nothing is read twice.
struct Looked<'a> {
    file: Option<&'a str>,
    lines: Option<(u64, u64)>,
    symbol: Option<&'a str>,
    severity: Option<Severity>,
    findings: BTreeSet<&'a str>,
    reached: BTreeSet<&'a str>,
}

fn look(post: &Post) -> Looked<'_> {
    let content = &post.content;
    let place = content.target_location.as_deref();
    let lines = place
        .and_then(|place| place.split_once('-'))
        .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    Looked {
        file: content.target_file.as_deref(),
        lines,
        symbol: place.filter(|_| lines.is_none()),
        severity: content.severity,
        findings: content.finding_refs.iter().map(String::as_str).collect(),
        reached: content.cascade_targets.iter().map(String::as_str).collect(),
    }
}

fn all_pairs(posts: &[&Post]) -> usize {
    let looked: Vec<Looked<'_>> = posts.iter().map(|post| look(post)).collect();
    let pairs = looked
        .iter()
        .enumerate()
        .flat_map(|(place, one)| looked[place + 1..].iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| meets(one, other)).sum()
}

fn meets(one: &Looked<'_>, other: &Looked<'_>) -> usize {
    let mut count = 0;
    if one.file.is_some() && one.file == other.file {
        let lines = match (one.lines, other.lines) {
            (Some((from, to)), Some((start, end))) => from <= end && start <= to,
            (Some(_), None) | (None, Some(_)) | (None, None) => false,
        };
        count += usize::from(lines || (one.symbol.is_some() && one.symbol == other.symbol));
    }
    let reaches = |one: &Looked<'_>, other: &Looked<'_>| {
        other.file.is_some_and(|file| one.reached.contains(file))
    };
    count += usize::from(reaches(one, other)) + usize::from(reaches(other, one));
    if one.severity != other.severity {
        count += one.findings.intersection(&other.findings).count();
    }
    count
}
