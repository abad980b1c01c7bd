//! One run: nodes that come and go until no more goes wrong, and then come to rest.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use plenary_engine::Engine;
use tokio::runtime::Runtime;

use super::clients::{Accounts, Given, Reader};
use super::errands::SimErrands;
use super::outside::{SimModels, SimPeers, SimStore};
use super::world::{self, SimClock, World};
use super::{conduct, laws};

/// How long after the last fault everything must have come to rest.
const BOUND_MS: u64 = 15 * 60_000;
/// How much may go on meanwhile.
const MOVES: usize = 20_000;
/// How long two nodes may pay for the same call.
const TWICE_MS: u64 = 15_000;

pub struct Node {
    pub number: u64,
    /// Dropping it kills all that runs there.
    pub runtime: Runtime,
    pub engine: Arc<Engine>,
    paused_until_ms: u64,
    /// Since when, and for how long.
    suspended: Option<(u64, u64)>,
    /// It shuts down: nobody gives it commands any more.
    pub is_leaving: bool,
    /// It has shut down.
    is_over: Arc<AtomicBool>,
}

/// What clients open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Theme {
    Rooms,
    /// Runs of workflows, which open rooms themselves.
    Runs,
}

pub struct Run {
    pub world: World,
    pub theme: Theme,
    pub nodes: Vec<Node>,
    wanted: usize,
    /// Nodes are neither killed nor paused, nor lose their lease: that would heal much of
    /// what else goes wrong.
    is_calm: bool,
    /// Nodes reach each other. That takes time, so that some runs do without.
    is_near: bool,
    /// Somebody writes much at once.
    pub is_flooded: bool,
    born: u64,
    pub asked: u64,
    pub given: Vec<Given>,
    pub accounts: Arc<Mutex<Accounts>>,
    pub readers: Vec<Reader>,
}

impl Run {
    /// What was violated, with what happened before.
    /// Otherwise how often words went from one node to another.
    pub fn of(seed: u64, nodes: usize, theme: Theme) -> Result<usize, String> {
        let mut run = Run {
            world: world::new(seed),
            theme,
            nodes: vec![],
            wanted: nodes,
            is_calm: seed.is_multiple_of(3),
            is_near: seed % 4 == 1,
            is_flooded: nodes > 1 && theme == Theme::Rooms && seed % 8 == 5,
            born: 0,
            asked: 0,
            given: vec![],
            accounts: Arc::default(),
            readers: vec![],
        };
        for _ in 0..nodes {
            run.start();
        }
        for _ in 0..400 {
            run.step();
        }
        run.come_to_rest();
        let violations = laws::violations(&run);
        if violations.is_empty() {
            return Ok(run.world.lock().heard);
        }
        let trace = run.world.lock().trace.join("\n");
        Err(format!("seed {seed}, {nodes} nodes, {theme:?}:\n{}\n\n{trace}", violations.join("\n")))
    }

    pub fn chance(&self, most: usize) -> usize {
        self.world.lock().chance.below(most)
    }

    pub fn now_ms(&self) -> u64 {
        self.world.lock().now_ms
    }

    /// One process alone has the log to itself, as on SQLite.
    pub fn is_shared(&self) -> bool {
        self.wanted > 1
    }

    fn start(&mut self) {
        let number = self.born;
        self.born += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (world, node, is_shared) = (self.world.clone(), number, self.is_shared());
        let store = Arc::new(SimStore { world: world.clone(), node, is_shared });
        let models = Arc::new(SimModels { world: world.clone(), node });
        let engine = Engine::new(store, models, Arc::new(SimClock { world: world.clone(), node }));
        engine.send(Arc::new(SimErrands { world, node, engine: Arc::downgrade(&engine) }));
        let address = number.to_string();
        self.world.lock().engines.insert(address.clone(), Arc::downgrade(&engine));
        if self.is_near {
            engine.join(Arc::new(SimPeers { world: self.world.clone() }), Some(address));
        }
        self.world.note(format!("n{number} starts"));
        self.world.lock().stir(number);
        let resuming = engine.clone();
        runtime.spawn(async move {
            let _ = resuming.resume_all().await;
        });
        let (is_leaving, is_over) = (false, Arc::default());
        let (paused_until_ms, suspended) = (0, None);
        self.nodes.push(Node {
            number,
            runtime,
            engine,
            paused_until_ms,
            suspended,
            is_leaving,
            is_over,
        });
    }

    fn step(&mut self) {
        match self.chance(100) {
            0 if !self.is_calm => self.kill(),
            1 if !self.is_calm => self.pause(),
            2 if self.chance(3) == 0 => self.leave(),
            2..=13 => self.command(),
            14..=15 => self.follow(),
            16..=17 => self.look(),
            18 if self.is_flooded => self.flood(),
            18..=29 => self.pass_time(),
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
        self.wake();
        let now = self.now_ms();
        for node in self.nodes.iter().filter(|node| node.paused_until_ms <= now) {
            if !self.world.lock().is_stirred(node.number) {
                continue;
            }
            node.runtime.block_on(async {
                for _ in 0..24 {
                    tokio::task::yield_now().await;
                }
            });
        }
        self.follow_on();
        self.look_for_double_payment(now);
        self.look_for_late_calls();
        let awake = self.awake();
        conduct::look(&mut self.world.lock(), &awake, self.is_shared());
    }

    /// Whoever has shut down asks nobody any more.
    fn look_for_late_calls(&mut self) {
        let mut inner = self.world.lock();
        let over = |number: u64| {
            self.nodes.iter().any(|node| node.number == number && node.is_over.load(Relaxed))
        };
        let late = inner.streams.values().find(|stream| over(stream.node));
        let problem = late.map(|late| format!("{} runs after a shut-down", late.call));
        inner.violations.extend(problem);
    }

    fn look_for_double_payment(&mut self, now: u64) {
        let awake = self.awake();
        let mut inner = self.world.lock();
        let mut by_call: BTreeMap<_, Vec<u64>> = BTreeMap::new();
        // A machine that was suspended learns of it with what it writes next.
        let knows = |node: &u64| awake.contains(node) && !inner.suspended_ms.contains_key(node);
        for stream in inner.streams.values().filter(|stream| knows(&stream.node)) {
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
        self.world.lock().engines.remove(&number.to_string());
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
        if !self.is_shared() {
            return;
        }
        let place = self.chance(self.nodes.len());
        let node = &mut self.nodes[place];
        if std::mem::replace(&mut node.is_leaving, true) {
            return;
        }
        self.world.note(format!("n{} shuts down", node.number));
        let (engine, is_over, number) = (node.engine.clone(), node.is_over.clone(), node.number);
        let world = self.world.clone();
        world.lock().stir(number);
        node.runtime.spawn(async move {
            world.lock().conduct.leaves(number);
            engine.shut_down().await;
            is_over.store(true, Relaxed);
        });
        self.fill();
    }

    /// A process stands still, or its whole machine does, with the clock by which it knows
    /// that its lease is over.
    fn pause(&mut self) {
        let place = self.chance(self.nodes.len());
        let (now, time) = (self.now_ms(), self.chance(40_000) as u64);
        let is_suspended = self.is_shared() && self.chance(2) == 0;
        let Node { number, paused_until_ms, .. } = &mut self.nodes[place];
        if *paused_until_ms > now {
            return;
        }
        *paused_until_ms = now + time;
        self.world.note(format!("n{number} is paused for {time}, suspended {is_suspended}"));
        if is_suspended {
            self.nodes[place].suspended = Some((now, time));
        }
    }

    /// Clocks of machines go on that are not suspended any more.
    fn wake(&mut self) {
        let now = self.now_ms();
        for node in &mut self.nodes {
            if let Some((since, _)) = node.suspended.take_if(|(since, time)| *since + *time <= now)
            {
                let mut inner = self.world.lock();
                *inner.suspended_ms.entry(node.number).or_default() += now - since;
            }
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
            node.suspended = node.suspended.map(|(since, _)| (since, 0));
            self.world.lock().stir(node.number);
        }
        let mut quiet = 0;
        for _ in 0..MOVES {
            let awake = self.awake();
            if self.world.let_go(&awake, 0) {
                quiet = 0;
                self.turn();
                continue;
            }
            self.turn();
            quiet += 1;
            if quiet < 4 {
                continue;
            }
            let now = self.now_ms();
            let enough = now > from + 60_000 && laws::is_at_rest(&self.world.lock());
            match self.world.next_ms() {
                Some(next) if !enough && next < from + BOUND_MS => {
                    self.world.advance(next);
                    quiet = 0;
                }
                _ => return,
            }
        }
        self.world.lock().violate("nodes go on and on, and come to nothing".into());
    }
}
