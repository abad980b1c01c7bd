//! One run: nodes that come and go, clients and readers, and what must hold at its end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use plenary_domain::boardroom::{self, Convene, Quorum, Role, Seat, SeatId, Sitter};
use plenary_domain::council::{self, Member, Open};
use plenary_domain::discussion::{self, Create};
use plenary_domain::room::Command;
use plenary_domain::{Event, ModelName, Room, SessionId, Usage};
use plenary_engine::ports::StoredEvent;
use plenary_engine::{By, Engine, EngineError, Frame, Snapshot};
use tokio::runtime::Runtime;

use super::outside::{SimModels, SimStore, short};
use super::world::{self, SimClock, World};

/// How long after the last fault everything must have come to rest.
const BOUND_MS: u64 = 15 * 60_000;
/// How long two nodes may pay for the same call.
const TWICE_MS: u64 = 15_000;

struct Node {
    number: u64,
    /// Dropping it kills all that runs there.
    runtime: Runtime,
    engine: Arc<Engine>,
    paused_until_ms: u64,
}

/// Somebody who follows a session, and comes back to another node when one dies.
struct Reader {
    session: SessionId,
    node: u64,
    seen: Arc<Mutex<Vec<u64>>>,
}

#[derive(Default)]
struct Accounts {
    /// What callers were told: up to which version their own events reach.
    acknowledged: Vec<(SessionId, u64)>,
    waiting: BTreeMap<u64, (u64, String)>,
    sessions: Vec<SessionId>,
}

pub struct Run {
    world: World,
    nodes: Vec<Node>,
    wanted: usize,
    /// Nodes are neither killed nor paused, nor lose their lease: that would heal much of
    /// what else goes wrong.
    is_calm: bool,
    born: u64,
    asked: u64,
    accounts: Arc<Mutex<Accounts>>,
    readers: Vec<Reader>,
}

impl Run {
    /// What was violated, with what happened before.
    pub fn of(seed: u64, nodes: usize, steps: usize) -> Result<(), String> {
        let mut run = Run {
            world: world::new(seed),
            nodes: vec![],
            wanted: nodes,
            is_calm: seed.is_multiple_of(3),
            born: 0,
            asked: 0,
            accounts: Arc::default(),
            readers: vec![],
        };
        for _ in 0..nodes {
            run.start();
        }
        for _ in 0..steps {
            run.step();
        }
        run.come_to_rest();
        let violations = run.violations();
        if violations.is_empty() {
            return Ok(());
        }
        let trace = run.world.lock().trace.join("\n");
        Err(format!("seed {seed}, {nodes} nodes:\n{}\n\n{trace}", violations.join("\n")))
    }

    fn chance(&self, most: usize) -> usize {
        self.world.lock().chance.below(most)
    }

    fn now_ms(&self) -> u64 {
        self.world.lock().now_ms
    }

    fn start(&mut self) {
        let number = self.born;
        self.born += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let store = Arc::new(SimStore { world: self.world.clone(), node: number });
        let models = Arc::new(SimModels { world: self.world.clone(), node: number });
        let engine = Engine::new(store, models, Arc::new(SimClock(self.world.clone())));
        self.world.note(format!("n{number} starts"));
        let resuming = engine.clone();
        runtime.spawn(async move {
            let _ = resuming.resume_all().await;
        });
        self.nodes.push(Node { number, runtime, engine, paused_until_ms: 0 });
    }

    fn step(&mut self) {
        match self.chance(100) {
            0 if !self.is_calm => self.kill(),
            1 if !self.is_calm => self.pause(),
            2..=13 => self.command(),
            14..=16 => self.follow(),
            17..=29 => self.pass_time(),
            _ => {
                let awake = self.awake();
                self.world.let_go(&awake, 40);
            }
        }
        self.turn();
    }

    fn awake(&self) -> Vec<u64> {
        let now = self.now_ms();
        let awake = self.nodes.iter().filter(|node| node.paused_until_ms <= now);
        awake.map(|node| node.number).collect()
    }

    /// Every node that is awake does what it can without the outside.
    fn turn(&mut self) {
        let now = self.now_ms();
        for node in self.nodes.iter().filter(|node| node.paused_until_ms <= now) {
            node.runtime.block_on(async {
                for _ in 0..24 {
                    tokio::task::yield_now().await;
                }
            });
        }
        self.follow_on();
        self.look_for_double_payment(now);
    }

    fn look_for_double_payment(&mut self, now: u64) {
        let awake = self.awake();
        let mut inner = self.world.lock();
        let mut by_call: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        for stream in inner.streams.values().filter(|stream| awake.contains(&stream.node)) {
            let call = (stream.session, stream.call.clone());
            by_call.entry(call).or_default().push(stream.since_ms);
        }
        let twice = by_call.into_iter().find(|(_, since)| {
            since.len() > 1 && since.iter().max().is_some_and(|last| last + TWICE_MS < now)
        });
        if let Some(((session, call), _)) = twice {
            inner.violations.push(format!("{call} of {session} is paid for twice"));
        }
    }

    fn pass_time(&mut self) {
        let by = match self.chance(12) {
            _ if self.is_calm => 100,
            0 => 8_000,
            1..=3 => 1_000,
            _ => 100,
        };
        let by = 1 + self.chance(by) as u64;
        self.world.advance(self.now_ms() + by);
    }

    fn kill(&mut self) {
        let place = self.chance(self.nodes.len());
        let node = self.nodes.remove(place);
        self.world.note(format!("n{} is killed", node.number));
        let number = node.number;
        drop(node);
        self.accounts.lock().unwrap().waiting.retain(|_, (at, _)| *at != number);
        if self.nodes.len() < self.wanted {
            self.start();
        }
    }

    fn pause(&mut self) {
        let place = self.chance(self.nodes.len());
        let until = self.now_ms() + self.chance(40_000) as u64;
        self.world.note(format!("n{} is paused until {until}", self.nodes[place].number));
        self.nodes[place].paused_until_ms = until;
    }

    fn command(&mut self) {
        let place = self.chance(self.nodes.len());
        let sessions = self.accounts.lock().unwrap().sessions.clone();
        let (node, engine) = (self.nodes[place].number, self.nodes[place].engine.clone());
        let opens = sessions.len() < 4 && self.chance(3) == 0 || sessions.is_empty();
        let number = self.asked;
        self.asked += 1;
        let (id, command) = match opens {
            true => (None, self.opening(number)),
            false => {
                let id = sessions[self.chance(sessions.len())];
                let seat = SeatId(1 + self.chance(2) as u8);
                let command = match self.chance(13) {
                    9..=10 => {
                        let (sender, body) = ("client".to_owned(), "@ann @bob Which?".to_owned());
                        let post =
                            council::Command::Post { sender, proved: true, body, reply_to: None };
                        Command::Council(post)
                    }
                    11 => Command::Discussion(discussion::Command::Resume),
                    12 => Command::Discussion(discussion::Command::Conclude),
                    0..=2 => Command::Stop,
                    3..=4 => Command::Boardroom(boardroom::Command::Resume),
                    5 => Command::Boardroom(boardroom::Command::StopAdvisor { seat }),
                    6 => Command::Boardroom(boardroom::Command::Retry { seat, model: None }),
                    7 => {
                        let (model, instruction) = (None, None);
                        let command = boardroom::Command::Synthesize { model, instruction };
                        Command::Boardroom(command)
                    }
                    _ => {
                        let text = "A person's word.".to_owned();
                        Command::Boardroom(boardroom::Command::Reply { seat, text })
                    }
                };
                (Some(id), command)
            }
        };
        let what = match &command {
            Command::Boardroom(boardroom::Command::Convene(_)) => "convene".to_owned(),
            Command::Discussion(discussion::Command::Create(_)) => "create".to_owned(),
            other => format!("{other:?}"),
        };
        let to = id.map(short).unwrap_or_default();
        self.world.note(format!("n{node} {to} #{number} {what}"));
        self.accounts.lock().unwrap().waiting.insert(number, (node, what));
        let (accounts, world) = (self.accounts.clone(), self.world.clone());
        self.nodes[place].runtime.spawn(async move {
            let by = By::actor("client");
            let answer = match id {
                None => engine.open(by, command).await,
                Some(id) => engine.submit(id, by, command).await,
            };
            world.note(format!("n{node} #{number} -> {}", shown(&answer)));
            let mut accounts = accounts.lock().unwrap();
            accounts.waiting.remove(&number);
            if let Ok(snapshot) = answer {
                if id.is_none() {
                    accounts.sessions.push(snapshot.id);
                }
                if let Some(written) = snapshot.written {
                    accounts.acknowledged.push((snapshot.id, written));
                }
            }
        });
    }

    /// A session of any form in which models are asked.
    fn opening(&mut self, number: u64) -> Command {
        match self.chance(5) {
            0 => self.council(number),
            1 => self.discussion(),
            _ => self.board(),
        }
    }

    fn council(&mut self, number: u64) -> Command {
        let member = |name: &str| Member {
            name: name.into(),
            model: Some(ModelName::new("sim", "m")),
            persona: None,
        };
        Command::Council(council::Command::Open(Open {
            name: format!("c{number}"),
            charter: "Tea or coffee?".into(),
            members: vec![member("ann"), member("bob")],
            project: None,
            by: None,
        }))
    }

    fn discussion(&mut self) -> Command {
        let seat = |name: &str| discussion::Seat {
            id: discussion::SeatId(name.into()),
            agent: None,
            name: name.into(),
            description: String::new(),
            persona: "".into(),
            sitter: discussion::Sitter::Model {
                model: ModelName::new("sim", name),
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
            max_rounds: 2,
            budget_tokens: None,
            project: None,
            start: Some(None),
        })))
    }

    fn board(&mut self) -> Command {
        let seats = 1 + self.chance(3) as u8;
        let reply_by = world::wall(self.now_ms() + 20_000);
        let seat = |id: u8, person: bool| Seat {
            id: SeatId(id),
            role: Role::Critic,
            sitter: match person {
                true => Sitter::Person { name: "Ada".into(), reply_by: Some(reply_by) },
                false => Sitter::Model(ModelName::new("sim", "m")),
            },
            system_prompt: None,
        };
        let person = self.chance(4) == 0;
        let quorum = (self.chance(3) == 0).then_some(Quorum { need: 1, grace_ms: 3_000 });
        Command::Boardroom(boardroom::Command::Convene(Convene {
            prompt: "Which one?".into(),
            context: vec![],
            seats: (1..=seats).map(|id| seat(id, person && id == 1)).collect(),
            synthesizers: vec![ModelName::new("sim", "m")],
            quorum,
            ballot: self.chance(4) == 0,
        }))
    }

    fn follow(&mut self) {
        let sessions = self.accounts.lock().unwrap().sessions.clone();
        if sessions.is_empty() || self.readers.len() > 5 {
            return;
        }
        let session = sessions[self.chance(sessions.len())];
        self.readers.push(Reader { session, node: u64::MAX, seen: Arc::default() });
    }

    /// Readers whose node has died go to another one.
    fn follow_on(&mut self) {
        for place in 0..self.readers.len() {
            let at = self.readers[place].node;
            if self.nodes.iter().any(|node| node.number == at) {
                continue;
            }
            let node = self.chance(self.nodes.len());
            let node = &self.nodes[node];
            let reader = &mut self.readers[place];
            reader.node = node.number;
            let (engine, id, seen) = (node.engine.clone(), reader.session, reader.seen.clone());
            node.runtime.spawn(async move {
                loop {
                    let after = seen.lock().unwrap().last().copied().unwrap_or(0);
                    let Ok(frames) = engine.watch(id, after).await else { continue };
                    let mut frames = std::pin::pin!(frames);
                    while let Some(frame) = frames.next().await {
                        if let Frame::Event(event) = frame {
                            seen.lock().unwrap().push(event.version);
                        }
                    }
                }
            });
        }
    }

    /// No more faults: whatever is left must be done within the bound.
    fn come_to_rest(&mut self) {
        self.world.note("no more faults".into());
        let from = {
            let mut inner = self.world.lock();
            inner.faults = false;
            inner.now_ms
        };
        for node in &mut self.nodes {
            node.paused_until_ms = 0;
        }
        let mut quiet = 0;
        loop {
            let awake = self.awake();
            if self.world.let_go(&awake, 0) {
                quiet = 0;
                self.turn();
                continue;
            }
            self.turn();
            quiet += 1;
            if quiet < 3 {
                continue;
            }
            let now = self.now_ms();
            let enough = now > from + 60_000 && self.is_at_rest();
            match self.world.next_ms() {
                Some(next) if !enough && next < from + BOUND_MS => {
                    self.world.advance(next);
                    quiet = 0;
                }
                _ => return,
            }
        }
    }

    fn is_at_rest(&self) -> bool {
        let inner = self.world.lock();
        inner.memory.rows().all(|row| !row.active) && inner.streams.is_empty()
    }

    fn violations(&self) -> Vec<String> {
        let inner = self.world.lock();
        let accounts = self.accounts.lock().unwrap();
        let mut all = inner.violations.clone();
        for (session, version) in &accounts.acknowledged {
            if inner.memory.row(*session).is_none_or(|row| row.version < *version) {
                all.push(format!("version {version} of {session} was acknowledged and is lost"));
            }
        }
        for (number, (node, what)) in &accounts.waiting {
            all.push(format!("#{number} ({what}) at n{node} was never answered"));
        }
        for row in inner.memory.rows() {
            if row.active {
                all.push(format!("{} is {} and nobody goes on with it", row.id, row.status));
            }
            for (call, text) in inner.memory.drafts(row.id) {
                all.push(format!("{call} of {}: {text:?} was never handed in", row.id));
            }
            let attempts = inner.memory.attempts(row.id);
            let spent = attempts.iter().fold(Usage::default(), |sum, row| sum.plus(row.usage));
            let told = said_to_be_spent(inner.memory.events(row.id));
            if told != spent {
                all.push(format!("{} spent {spent:?} and says {told:?}", row.id));
            }
        }
        for stream in inner.streams.values() {
            all.push(format!("n{} still pays for {}", stream.node, stream.call));
        }
        for reader in &self.readers {
            let seen = reader.seen.lock().unwrap();
            let last = inner.memory.row(reader.session).map_or(0, |row| row.version);
            if *seen != (1..=last).collect::<Vec<u64>>() {
                let (at, of) = (reader.node, short(reader.session));
                all.push(format!("a reader at n{at} saw {seen:?} of {last} of {of}"));
            }
        }
        all
    }
}

/// What a session says that all its calls took.
fn said_to_be_spent(log: &[StoredEvent]) -> Usage {
    let mut room = None;
    for stored in log {
        let event = Event::decode(&stored.kind, &stored.payload).unwrap();
        Room::apply(&mut room, &event, stored.at);
    }
    let room = room.unwrap();
    room.ledger().map(|ledger| ledger.total()).unwrap_or_default()
}

fn shown(answer: &Result<Snapshot, EngineError>) -> String {
    match answer {
        Ok(snapshot) => {
            format!("{} v{} {:?}", short(snapshot.id), snapshot.version, snapshot.written)
        }
        Err(error) => error.to_string(),
    }
}
