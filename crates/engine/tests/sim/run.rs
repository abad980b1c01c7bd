//! One run: nodes that come and go, clients and readers, and what must hold at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use plenary_domain::boardroom::{self, Convene, Quorum, Role, Seat, SeatId, Sitter};
use plenary_domain::council::{self, Member, Open};
use plenary_domain::discussion::{self, Create};
use plenary_domain::room::{self, Command};
use plenary_domain::{
    Allowance, Budget, Event, ModelName, Noted, Room, SessionId, Usage, WhenSpent,
};
use plenary_engine::ports::{Idempotency, StoredEvent};
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
    /// It shuts down: nobody gives it commands any more.
    is_leaving: bool,
    /// It has shut down.
    is_over: Arc<AtomicBool>,
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
    /// Up to which version what was given under a key reaches.
    by_key: BTreeMap<String, u64>,
    /// Callers who were told different things of what they gave under one key.
    differ: Vec<String>,
    /// Sessions that somebody wanted removed.
    removed: BTreeSet<SessionId>,
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
    /// Commands that were given, with their keys.
    given: Vec<(SessionId, String, Command)>,
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
            given: vec![],
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
        // One process alone has the log to itself, as on SQLite.
        let is_shared = self.wanted > 1;
        let store = Arc::new(SimStore { world: self.world.clone(), node: number, is_shared });
        let models = Arc::new(SimModels { world: self.world.clone(), node: number });
        let engine = Engine::new(store, models, Arc::new(SimClock(self.world.clone())));
        self.world.note(format!("n{number} starts"));
        let resuming = engine.clone();
        runtime.spawn(async move {
            let _ = resuming.resume_all().await;
        });
        let (is_leaving, is_over) = (false, Arc::default());
        self.nodes.push(Node { number, runtime, engine, paused_until_ms: 0, is_leaving, is_over });
    }

    fn step(&mut self) {
        match self.chance(100) {
            0 if !self.is_calm => self.kill(),
            1 if !self.is_calm => self.pause(),
            2 if self.chance(4) == 0 => self.leave(),
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
        self.look_for_late_calls();
    }

    /// Whoever has shut down asks nobody any more.
    fn look_for_late_calls(&mut self) {
        let mut inner = self.world.lock();
        let over = |number: u64| {
            self.nodes.iter().any(|node| node.number == number && node.is_over.load(Relaxed))
        };
        let late = inner.streams.values().find(|stream| over(stream.node));
        if let Some(problem) = late.map(|late| format!("{} runs after a shut-down", late.call)) {
            inner.violations.push(problem);
        }
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
        self.end(node);
        self.fill();
    }

    fn end(&mut self, node: Node) {
        let number = node.number;
        drop(node);
        self.accounts.lock().unwrap().waiting.retain(|_, (at, _)| *at != number);
    }

    fn fill(&mut self) {
        if self.nodes.iter().filter(|node| !node.is_leaving).count() < self.wanted {
            self.start();
        }
    }

    /// One goes in good order. On a log of its own nobody comes before it has gone.
    fn leave(&mut self) {
        if self.wanted == 1 {
            return;
        }
        let place = self.chance(self.nodes.len());
        let node = &mut self.nodes[place];
        if std::mem::replace(&mut node.is_leaving, true) {
            return;
        }
        self.world.note(format!("n{} shuts down", node.number));
        let (engine, is_over) = (node.engine.clone(), node.is_over.clone());
        node.runtime.spawn(async move {
            engine.shut_down().await;
            is_over.store(true, Relaxed);
        });
        self.fill();
    }

    fn pause(&mut self) {
        let place = self.chance(self.nodes.len());
        let until = self.now_ms() + self.chance(40_000) as u64;
        self.world.note(format!("n{} is paused until {until}", self.nodes[place].number));
        self.nodes[place].paused_until_ms = until;
    }

    fn command(&mut self) {
        let staying = |place: &usize| !self.nodes[*place].is_leaving;
        let places: Vec<usize> = (0..self.nodes.len()).filter(staying).collect();
        let place = places[self.chance(places.len())];
        let sessions = self.accounts.lock().unwrap().sessions.clone();
        let (node, engine) = (self.nodes[place].number, self.nodes[place].engine.clone());
        let opens = sessions.len() < 4 && self.chance(3) == 0 || sessions.is_empty();
        let number = self.asked;
        self.asked += 1;
        if !opens && self.chance(60) == 0 {
            return self.remove(place, sessions[self.chance(sessions.len())]);
        }
        let (id, command) = match opens {
            true => (None, self.opening(number)),
            false => {
                let id = sessions[self.chance(sessions.len())];
                let seat = SeatId(1 + self.chance(2) as u8);
                let command = match self.chance(18) {
                    9..=10 => {
                        let (sender, body) = ("client".to_owned(), "@ann @bob Which?".to_owned());
                        let post =
                            council::Command::Post { sender, proved: true, body, reply_to: None };
                        Command::Council(post)
                    }
                    11 => Command::Discussion(discussion::Command::Resume),
                    12 => Command::Discussion(discussion::Command::Conclude),
                    13 => Command::Discussion(discussion::Command::Pause),
                    14 => Command::Boardroom(boardroom::Command::OpenBallot),
                    15..=16 => {
                        let (prompt, seats) = ("And then?".to_owned(), vec![]);
                        Command::Boardroom(boardroom::Command::FollowUp { prompt, seats })
                    }
                    17 => Command::Boardroom(boardroom::Command::Resynthesize {
                        model: None,
                        instruction: None,
                        prices: Noted::default(),
                    }),
                    0..=2 => Command::Stop,
                    3..=4 => Command::Boardroom(boardroom::Command::Resume),
                    5 => Command::Boardroom(boardroom::Command::StopAdvisor { seat }),
                    6 => Command::Boardroom(boardroom::Command::Retry {
                        seat,
                        model: None,
                        prices: Noted::default(),
                    }),
                    7 => {
                        let (model, instruction) = (None, None);
                        let command = boardroom::Command::Synthesize {
                            model,
                            instruction,
                            prices: Noted::default(),
                        };
                        Command::Boardroom(command)
                    }
                    _ => {
                        let text = "A person's word.".to_owned();
                        Command::Boardroom(boardroom::Command::Reply { seat, text })
                    }
                };
                // Some are given again, perhaps elsewhere and while the first is under way.
                if self.chance(3) > 0 || self.given.is_empty() {
                    self.given.push((id, format!("c{number}"), command));
                }
                let again = self.given.len() - 1 - self.chance(self.given.len().min(2));
                let (id, key, command) = self.given[again].clone();
                (Some((id, key)), command)
            }
        };
        let what = match &command {
            Command::Boardroom(boardroom::Command::Convene(_)) => "convene".to_owned(),
            Command::Discussion(discussion::Command::Create(_)) => "create".to_owned(),
            other => format!("{other:?}"),
        };
        let to = id.as_ref().map(|(id, key)| format!("{} {key}", short(*id))).unwrap_or_default();
        self.world.note(format!("n{node} {to} #{number} {what}"));
        self.accounts.lock().unwrap().waiting.insert(number, (node, what));
        let (accounts, world) = (self.accounts.clone(), self.world.clone());
        self.nodes[place].runtime.spawn(async move {
            let by = By::actor("client");
            let key = id.as_ref().map(|(_, key)| key.clone());
            let answer = match id {
                None => engine.open(by, command).await,
                Some((id, key)) => engine.submit(id, lasting(by, key), command).await,
            };
            world.note(format!("n{node} #{number} -> {}", shown(&answer)));
            let mut accounts = accounts.lock().unwrap();
            accounts.waiting.remove(&number);
            if let Ok(snapshot) = answer {
                if key.is_none() {
                    accounts.sessions.push(snapshot.id);
                }
                if let Some(written) = snapshot.written {
                    accounts.acknowledged.push((snapshot.id, written));
                    accounts.told(key, written);
                }
            }
        });
    }

    fn remove(&mut self, place: usize, id: SessionId) {
        let node = &self.nodes[place];
        self.world.note(format!("n{} removes {}", node.number, short(id)));
        self.accounts.lock().unwrap().removed.insert(id);
        let engine = node.engine.clone();
        node.runtime.spawn(async move { engine.remove(id).await });
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
            budget: Default::default(),
        };
        Command::Council(council::Command::Open(Open {
            name: format!("c{number}"),
            charter: "Tea or coffee?".into(),
            members: vec![member("ann"), member("bob")],
            project: None,
            by: None,
            prices: Noted::default(),
            budget: self.budget(),
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
            budget: self.budget(),
            project: None,
            start: Some(Default::default()),
        })))
    }

    /// Now and then one that is too small for all, or of little time.
    fn budget(&mut self) -> Option<Budget> {
        let tokens = 2_000 + self.chance(2_000) as u64;
        let (tokens, time_ms) = match self.chance(6) {
            0 => (Some(tokens), None),
            1 => (None, Some(5_000)),
            _ => return None,
        };
        let when_spent = match self.chance(2) {
            0 => WhenSpent::Conclude,
            _ => WhenSpent::Stop,
        };
        Some(Budget { most: Allowance { tokens, cost: None, time_ms }, when_spent })
    }

    fn board(&mut self) -> Command {
        let seats = 1 + self.chance(4) as u8;
        let reply_by = world::wall(self.now_ms() + 20_000);
        let seat = |id: u8, person: bool| Seat {
            id: SeatId(id),
            role: Role::Critic,
            sitter: match person {
                true => Sitter::Person { name: "Ada".into(), reply_by: Some(reply_by) },
                false => Sitter::Model(ModelName::new("sim", "m")),
            },
            system_prompt: None,
            budget: Default::default(),
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
            prices: Noted::default(),
            budget: self.budget(),
            open_answers: false,
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
                    let frames = match engine.watch(id, after).await {
                        Ok(frames) => frames,
                        Err(EngineError::NotFound(_)) => return,
                        Err(_) => continue,
                    };
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
        let (gone, staying) =
            std::mem::take(&mut self.nodes).into_iter().partition(|node| node.is_leaving);
        self.nodes = staying;
        Vec::into_iter(gone).for_each(|node| self.end(node));
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
        all.extend(accounts.differ.clone());
        let is_left = |session: &SessionId| !accounts.removed.contains(session);
        for (session, version) in accounts.acknowledged.iter().filter(|(id, _)| is_left(id)) {
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
            let room = as_the_log_has_it(inner.memory.events(row.id));
            let ledger = room.ledger();
            let told = ledger.map(|ledger| ledger.total()).unwrap_or_default();
            if told != spent {
                all.push(format!("{} spent {spent:?} and says {told:?}", row.id));
            }
            let tokens = spent.input_tokens.unwrap_or(0) + spent.output_tokens.unwrap_or(0);
            let most = ledger.and_then(|ledger| ledger.budget()?.most.tokens);
            if most.is_some_and(|most| tokens > most) {
                all.push(format!("{} spent {tokens} of {most:?} tokens", row.id));
            }
        }
        for stream in inner.streams.values() {
            all.push(format!("n{} still pays for {}", stream.node, stream.call));
        }
        for reader in self.readers.iter().filter(|reader| is_left(&reader.session)) {
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

impl Accounts {
    /// What was given under one key happened once, and everybody is told the same.
    fn told(&mut self, key: Option<String>, written: u64) {
        let Some(key) = key else { return };
        let first = *self.by_key.entry(key.clone()).or_insert(written);
        if first != written {
            self.differ.push(format!("{key} was told to end at {first} and at {written}"));
        }
    }
}

fn lasting(by: By, key: String) -> By {
    let (principal, request_hash) = (by.actor.clone(), key.clone());
    By { idempotency: Some(Idempotency { principal, key, request_hash, lasting: true }), ..by }
}

fn as_the_log_has_it(log: &[StoredEvent]) -> Room {
    let mut room = None;
    for stored in log {
        let event = Event::decode(&stored.kind, &stored.payload).unwrap();
        room::apply(&mut room, &event, stored.at);
    }
    room.unwrap()
}

fn shown(answer: &Result<Snapshot, EngineError>) -> String {
    match answer {
        Ok(snapshot) => {
            format!("{} v{} {:?}", short(snapshot.id), snapshot.version, snapshot.written)
        }
        Err(error) => error.to_string(),
    }
}
