//! Clients: what they ask of nodes and read there, and what they are told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures::StreamExt;
use plenary_domain::boardroom::{self, SeatId};
use plenary_domain::room::{self, Command};
use plenary_domain::workflow::{self, Begin, Decision, Running, Status};
use plenary_domain::{CallId, Nonce, Noted, Room, SessionId, council, discussion, limits, signals};
use plenary_engine::ports::{Append, Idempotency, NewEvent};
use plenary_engine::{By, EngineError, Frame, Snapshot};
use serde_json::{Map, json};

use super::outside::short;
use super::record::Asked;
use super::run::{Run, Theme};
use super::world::{self, Inner, World};
use super::{rooms, workflows};

/// A command that was given, with its key.
#[derive(Clone)]
pub struct Given {
    id: SessionId,
    actor: String,
    key: String,
    command: Command,
}

/// Somebody who follows a session, and comes back to another node when one dies.
pub struct Reader {
    pub session: SessionId,
    pub node: u64,
    pub seen: Arc<Mutex<Vec<u64>>>,
}

#[derive(Default)]
pub struct Accounts {
    /// What callers were told: up to which version their own events reach.
    pub acknowledged: Vec<(SessionId, u64)>,
    pub waiting: BTreeMap<u64, (u64, String)>,
    /// Up to which version what was given under a key reaches.
    by_key: BTreeMap<String, u64>,
    /// Callers who were told different things of what they gave under one key.
    pub differ: Vec<String>,
    /// Sessions that somebody wanted removed.
    pub removed: BTreeSet<SessionId>,
    /// Sessions that clients have given commands to.
    meddled: BTreeSet<SessionId>,
}

impl Accounts {
    pub fn is_meddled(&self, id: SessionId) -> bool {
        self.removed.contains(&id) || self.meddled.contains(&id)
    }

    /// What was given under one key happened once, and everybody is told the same.
    fn told(&mut self, key: Option<&str>, written: u64) {
        let Some(key) = key else { return };
        let first = *self.by_key.entry(key.to_owned()).or_insert(written);
        if first != written {
            self.differ.push(format!("{key} was told to end at {first} and at {written}"));
        }
    }
}

/// One who asks, and hears what comes of it.
struct Client {
    world: World,
    accounts: Arc<Mutex<Accounts>>,
    asked: Asked,
}

impl Client {
    /// What somebody is told has to be so, at some moment while they waited for it.
    fn hear(&self, command: Option<&Command>, answer: &Result<Snapshot, EngineError>) {
        let accounts = self.accounts.lock().unwrap();
        let mut inner = self.world.lock();
        let Inner { record, violations, now_ms, .. } = &mut *inner;
        let Asked { session: id, version: since, .. } = self.asked;
        if accounts.removed.contains(&id) {
            return;
        }
        let is_refused = |command| record.refuses(&self.asked, command, world::wall(*now_ms));
        let problem = match answer {
            Ok(snapshot) => {
                let did_nothing = command.filter(|_| snapshot.written.is_none());
                let nothing = did_nothing.filter(|command| since > 0 && !is_refused(command));
                let wrong = record.shows(snapshot, since);
                wrong.or(nothing.map(|command| format!("{id}: nothing was done of {command:?}")))
            }
            Err(EngineError::Rejected(reject)) => command
                .filter(|command| since > 0 && !is_refused(command))
                .map(|command| format!("{id} refused {command:?}: {reject:?}")),
            Err(EngineError::NotFound(_)) if since > 0 => Some(format!("{id} was not found")),
            Err(_) => None,
        };
        violations.extend(problem);
    }
}

fn lasting(actor: &str, key: &str) -> By {
    let (principal, key, request_hash) = (actor.to_owned(), key.to_owned(), key.to_owned());
    let idempotency = Some(Idempotency { principal, key, request_hash, lasting: true });
    By { idempotency, ..By::actor(actor) }
}

impl Run {
    fn client(&self, session: SessionId, actor: &str) -> Client {
        let (version, at) = {
            let inner = self.world.lock();
            (inner.record.known(session, self.is_shared()), world::wall(inner.now_ms))
        };
        let asked = Asked { session, actor: actor.to_owned(), version, at };
        Client { world: self.world.clone(), accounts: self.accounts.clone(), asked }
    }

    /// A node that takes commands.
    fn somewhere(&self) -> usize {
        let staying = |place: &usize| !self.nodes[*place].is_leaving;
        let places: Vec<usize> = (0..self.nodes.len()).filter(staying).collect();
        places[self.chance(places.len())]
    }

    fn spawn(&self, place: usize, task: impl Future<Output = ()> + Send + 'static) {
        self.world.lock().stir(self.nodes[place].number);
        self.nodes[place].runtime.spawn(task);
    }

    fn sessions(&self) -> Vec<SessionId> {
        let inner = self.world.lock();
        let sessions = inner.memory.rows().filter(|row| room::is_session(&row.kind));
        sessions.map(|row| row.id).collect()
    }

    pub fn command(&mut self) {
        let place = self.somewhere();
        let sessions = self.sessions();
        let number = self.asked;
        self.asked += 1;
        let most = if self.theme == Theme::Runs { 3 } else { 4 };
        if sessions.is_empty() || sessions.len() < most && self.chance(3) == 0 {
            return self.open(place, number);
        }
        if self.theme == Theme::Runs && self.chance(6) == 0 {
            return self.signal(place, number);
        }
        let id = sessions[self.chance(sessions.len())];
        if self.chance(60) == 0 {
            return self.remove(place, id);
        }
        let (actor, command) = self.any_command(id);
        // Some are given again, perhaps elsewhere and while the first is under way.
        if self.chance(3) > 0 || self.given.is_empty() {
            let (actor, key) = (actor.to_owned(), format!("c{number}"));
            self.given.push(Given { id, actor, key, command });
        }
        let again = self.given.len() - 1 - self.chance(self.given.len().min(2));
        let given = self.given[again].clone();
        self.submit(place, number, given);
    }

    fn submit(&mut self, place: usize, number: u64, given: Given) {
        let Given { id, actor, key, command } = given;
        let (node, engine) = (self.nodes[place].number, self.nodes[place].engine.clone());
        self.world.note(format!("n{node} {} {key} #{number} {command:?}", short(id)));
        {
            let mut accounts = self.accounts.lock().unwrap();
            accounts.waiting.insert(number, (node, format!("{command:?}")));
            accounts.meddled.insert(id);
        }
        let client = self.client(id, &actor);
        self.spawn(place, async move {
            let answer = engine.submit(id, lasting(&actor, &key), command.clone()).await;
            client.world.note(format!("n{node} #{number} -> {}", shown(&answer)));
            client.hear(Some(&command), &answer);
            {
                let mut accounts = client.accounts.lock().unwrap();
                accounts.waiting.remove(&number);
                if let Ok(Snapshot { written: Some(written), .. }) = answer {
                    accounts.acknowledged.push((id, written));
                    accounts.told(Some(&key), written);
                }
            }
            // Whoever does not know what came of it looks.
            if answer.is_err() {
                client.hear(None, &engine.get(id).await);
            }
        });
    }

    /// Its id is known before, so that somebody may wait for it already.
    fn open(&mut self, place: usize, number: u64) {
        let id = SessionId(uuid::Uuid::from_u128(u128::from(self.world.lock().chance.next())));
        let (node, engine) = (self.nodes[place].number, self.nodes[place].engine.clone());
        let command = match self.theme {
            Theme::Runs if self.chance(8) > 0 => {
                let source = workflows::ALL[self.chance(workflows::ALL.len())].to_owned();
                let (inputs, starter, parent, fork) = (Map::new(), None, None, None);
                let begin = Begin {
                    run: id,
                    source,
                    inputs,
                    starter,
                    parent,
                    fork,
                    most: Default::default(),
                };
                Command::Workflow(workflow::Command::Begin(Box::new(begin)))
            }
            _ if self.is_flooded => rooms::council(&format!("c{number}"), None),
            _ => rooms::opening(&self.world, number),
        };
        self.world.note(format!("n{node} {} #{number} opens", short(id)));
        self.accounts.lock().unwrap().waiting.insert(number, (node, "open".into()));
        if self.readers.len() < 4 && self.chance(2) == 0 {
            self.readers.push(Reader { session: id, node: u64::MAX, seen: Arc::default() });
            self.follow_at(self.readers.len() - 1, place);
        }
        let client = self.client(id, "client");
        self.spawn(place, async move {
            let answer = engine.open_as(id, By::actor("client"), command.clone()).await;
            client.world.note(format!("n{node} #{number} -> {}", shown(&answer)));
            client.hear(Some(&command), &answer);
            let mut accounts = client.accounts.lock().unwrap();
            accounts.waiting.remove(&number);
            if let Ok(Snapshot { written: Some(written), .. }) = answer {
                accounts.acknowledged.push((id, written));
            }
        });
    }

    fn remove(&mut self, place: usize, id: SessionId) {
        let engine = self.nodes[place].engine.clone();
        self.world.note(format!("n{} removes {}", self.nodes[place].number, short(id)));
        self.accounts.lock().unwrap().removed.insert(id);
        self.spawn(place, async move { drop(engine.remove(id).await) });
    }

    fn signal(&mut self, place: usize, number: u64) {
        let (engine, world) = (self.nodes[place].engine.clone(), self.world.clone());
        let which = self.chance(2);
        self.world.note(format!("n{} #{number} signals {which}", self.nodes[place].number));
        self.spawn(place, async move {
            for _ in 0..limits::DECISIONS {
                let fields = json!({ "which": which, "of": number }).as_object().cloned().unwrap();
                let command = signals::Command::Send { name: "go".into(), fields };
                let command = Command::Signals(command);
                let by = lasting("client", &format!("s{number}"));
                let sent = match engine.named(signals::KIND, "go").await {
                    Ok(id) => engine.submit(id, by, command).await,
                    Err(EngineError::Unnamed { .. }) => engine.open(by, command).await,
                    Err(_) => continue,
                };
                world.note(format!("#{number} -> {}", shown(&sent)));
                if sent.is_ok() {
                    return;
                }
            }
        });
    }

    /// Something that a session of this kind takes, or perhaps not.
    fn any_command(&self, id: SessionId) -> (&'static str, Command) {
        let room = self.world.lock().record.now(id).cloned();
        match room.as_deref() {
            Some(Room::Workflow(run)) => {
                let waits =
                    |status: &Status| matches!(status, Status::Running(Running::Approve { .. }));
                let waiting = run.steps.iter().find(|(_, step)| waits(&step.status));
                let decision = match self.chance(3) {
                    0 => Decision::Changes,
                    _ => Decision::Approved,
                };
                match (waiting, self.chance(8)) {
                    (_, 0) => ("client", Command::Stop),
                    (Some((place, _)), _) => {
                        let (reason, fields) = ("So it is.".to_owned(), Map::new());
                        let place = place.clone();
                        let decide = workflow::Command::Decide { place, decision, reason, fields };
                        ("eve", Command::Workflow(decide))
                    }
                    (None, 1) => {
                        let cancel = workflow::Command::Cancel { reason: "Enough.".into() };
                        ("client", Command::Workflow(cancel))
                    }
                    (None, _) => ("client", self.room_command()),
                }
            }
            // Runs are to be heard of more than of what they have opened.
            Some(_) if self.theme == Theme::Runs && self.chance(3) > 0 => {
                ("client", Command::Council(council::Command::RenewToken { sender: "x".into() }))
            }
            _ => ("client", self.room_command()),
        }
    }

    fn room_command(&self) -> Command {
        let seat = SeatId(1 + self.chance(2) as u8);
        let (model, instruction, prices) = (None, None, Noted::default());
        let of_board = match self.chance(18) {
            0..=2 => return Command::Stop,
            3..=4 => boardroom::Command::Resume,
            5 => boardroom::Command::StopAdvisor { seat },
            6 => boardroom::Command::Retry { seat, model, prices },
            7 => boardroom::Command::Synthesize { model, instruction, prices },
            9..=10 => {
                let (sender, body) = ("client".to_owned(), "@ann @bob Which?".to_owned());
                let (proved, reply_to) = (true, None);
                return Command::Council(council::Command::Post { sender, proved, body, reply_to });
            }
            11 => return Command::Discussion(discussion::Command::Resume),
            12 => return Command::Discussion(discussion::Command::Conclude),
            13 => return Command::Discussion(discussion::Command::Pause),
            14 => boardroom::Command::OpenBallot,
            15..=16 => {
                let (prompt, seats) = ("And then?".to_owned(), vec![]);
                boardroom::Command::FollowUp { prompt, seats, brief: Default::default() }
            }
            17 => boardroom::Command::Resynthesize { model, instruction, prices },
            _ => boardroom::Command::Reply { seat, text: "A person's word.".into() },
        };
        Command::Boardroom(of_board)
    }

    /// Somebody only looks.
    pub fn look(&mut self) {
        let (place, sessions) = (self.somewhere(), self.sessions());
        if sessions.is_empty() {
            return;
        }
        let id = sessions[self.chance(sessions.len())];
        let (engine, client) = (self.nodes[place].engine.clone(), self.client(id, "client"));
        self.spawn(place, async move { client.hear(None, &engine.get(id).await) });
    }

    pub fn follow(&mut self) {
        let sessions = self.sessions();
        if sessions.is_empty() || self.readers.len() > 5 {
            return;
        }
        let session = sessions[self.chance(sessions.len())];
        self.readers.push(Reader { session, node: u64::MAX, seen: Arc::default() });
    }

    /// Readers whose node has died go to another one.
    pub fn follow_on(&mut self) {
        for reader in 0..self.readers.len() {
            let at = self.readers[reader].node;
            if !self.nodes.iter().any(|node| node.number == at) {
                let place = self.chance(self.nodes.len());
                self.follow_at(reader, place);
            }
        }
    }

    fn follow_at(&mut self, reader: usize, place: usize) {
        let (engine, number) = (self.nodes[place].engine.clone(), self.nodes[place].number);
        let is_shared = self.is_shared();
        let reader = &mut self.readers[reader];
        reader.node = number;
        let (id, seen) = (reader.session, reader.seen.clone());
        let (world, accounts) = (self.world.clone(), self.accounts.clone());
        self.spawn(place, async move {
            let is_removed = || accounts.lock().unwrap().removed.contains(&id);
            let mut changes = engine.changes(id);
            loop {
                let after = seen.lock().unwrap().last().copied().unwrap_or(0);
                let since = world.lock().record.known(id, is_shared);
                let frames = match engine.watch(id, after).await {
                    Ok(frames) => frames,
                    Err(EngineError::NotFound(_)) if is_removed() => return,
                    // It is waited for.
                    Err(EngineError::NotFound(_)) if since == 0 => {
                        changes.next().await;
                        continue;
                    }
                    Err(EngineError::NotFound(_)) => {
                        return world.lock().violate(format!("a reader does not find {id}"));
                    }
                    Err(_) => continue,
                };
                let mut frames = std::pin::pin!(frames);
                let mut heard: BTreeMap<(CallId, u32, bool), usize> = BTreeMap::new();
                while let Some(frame) = frames.next().await {
                    match frame {
                        // Wherever it is said, and whoever says it next.
                        Frame::Delta(delta) => {
                            let text = (delta.call.clone(), delta.attempt, delta.reasoning);
                            let heard = heard.entry(text).or_default();
                            if delta.offset > *heard {
                                let call = &delta.call;
                                world.lock().violate(format!("a reader misses words of {call}"));
                            }
                            *heard = (*heard).max(delta.offset + delta.text.len());
                        }
                        Frame::Event(event) => seen.lock().unwrap().push(event.version),
                        Frame::Removed if since > 0 && !is_removed() => {
                            world.lock().violate(format!("a reader is told that {id} is gone"));
                        }
                        _ => {}
                    }
                }
            }
        });
    }

    /// Another process writes more to a council than is read at once.
    pub fn flood(&mut self) {
        let now_ms = self.now_ms();
        let mut inner = self.world.lock();
        let record = &inner.record;
        let councils = inner.memory.rows().filter(|row| row.kind == "council" && row.version < 400);
        let quiet = |id: &SessionId| record.now(*id).is_some_and(|room| room.due().is_empty());
        let Some(id) = councils.map(|row| row.id).find(quiet) else { return };
        let (mut room, expected, at) =
            (record.now(id).map(|room| (**room).clone()), record.version(id), world::wall(now_ms));
        let mut events = vec![];
        for _ in 0..limits::EVENTS_PAGE + 8 {
            let (sender, body) = ("crowd".to_owned(), "Tea.".to_owned());
            let post = council::Command::Post { sender, proved: true, body, reply_to: None };
            let (nonce, command) = (Nonce("c0de".into()), Command::Council(post));
            let input = room::Input { at, nonce, actor: "crowd".into(), command };
            let Ok(posted) = room::decide(room.as_ref(), input) else { return };
            for event in posted {
                room::apply(&mut room, &event, at);
                let (name, payload) = (event.name(), event.encode().unwrap());
                events.push(NewEvent { name, payload, search: String::new(), listed: true });
            }
        }
        let summary = room.unwrap().summary();
        let append = Append {
            session: id,
            expected,
            epoch: None,
            kind: summary.kind,
            name: summary.name,
            project: None,
            imported: false,
            title: summary.title,
            status: summary.status,
            active: summary.active,
            waits_for: vec![],
            actor: "crowd".into(),
            at,
            events,
            attempts: vec![],
            idempotency: None,
            driver: None,
            wake_at: None,
        };
        inner.memory.append(&append);
        let Inner { record, memory, .. } = &mut *inner;
        record.add(&append, memory);
        inner.tell(id);
        drop(inner);
        self.is_flooded = false;
        self.world.note(format!("a crowd writes to {}", short(id)));
    }
}

fn shown(answer: &Result<Snapshot, EngineError>) -> String {
    match answer {
        Ok(snapshot) => {
            format!("{} v{} {:?}", short(snapshot.id), snapshot.version, snapshot.written)
        }
        Err(error) => error.to_string(),
    }
}
