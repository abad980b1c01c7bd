//! The log as everybody should see it: each session as it was at each version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plenary_domain::room::{self, Command, Input};
use plenary_domain::workflow::{Stage, State};
use plenary_domain::{CallId, Event, Nonce, Room, SessionId, Timestamp};
use plenary_engine::Snapshot;
use plenary_engine::ports::{Append, StoredEvent};
use plenary_engine::testkit::Memory;

#[derive(Default)]
pub struct Record {
    /// After each append.
    states: BTreeMap<SessionId, BTreeMap<u64, Arc<Room>>>,
    /// Sessions that a run opened: whose, under which key, and which.
    pub opened: Vec<(SessionId, String, SessionId)>,
    /// Sessions that a run has ended, so that nothing may come of them any more.
    over: BTreeSet<SessionId>,
    /// Sessions that go on, and the runs that have ended them.
    pub goes_on: Vec<(SessionId, SessionId)>,
    /// Up to which version the store has answered whoever wrote it, or failed to.
    answered: BTreeMap<SessionId, u64>,
}

impl Record {
    pub fn add(&mut self, append: &Append, memory: &Memory) {
        let id = append.session;
        let states = self.states.entry(id).or_default();
        let before = states.last_key_value().map(|(_, room)| (**room).clone());
        let after = append.events.iter().fold(before, |mut room, event| {
            let event = Event::decode(append.kind, &event.payload).unwrap();
            room::apply(&mut room, &event, append.at);
            room
        });
        let version = append.expected + append.events.len() as u64;
        states.insert(version, Arc::new(after.unwrap()));
        let run =
            append.idempotency.as_ref().and_then(|asked| asked.principal.strip_prefix("run "));
        if let (0, Some(run)) = (append.expected, run) {
            let key = append.idempotency.as_ref().map(|asked| asked.key.clone());
            self.opened.push((run.parse().unwrap(), key.unwrap_or_default(), id));
        }
        for event in append.events.iter().filter(|event| event.name == "sessionEnded") {
            let event: serde_json::Value = serde_json::from_str(&event.payload).unwrap();
            let ended: SessionId = event["session"].as_str().unwrap().parse().unwrap();
            let told = event["session"].as_str().map(str::to_owned);
            self.over.insert(ended);
            // A run that was told to end may still be ending what it has opened.
            let is_ending = match self.now(ended).map(|room| &**room) {
                Some(Room::Workflow(run)) if memory.row(ended).is_some() => {
                    run.stage != Stage::Running
                }
                Some(_) | None => memory.row(ended).is_none_or(|row| !row.active),
            };
            // One that was still on its way when its step was given up may come after whoever
            // ends it has looked, and goes on by itself.
            let knows = |run: &State| run.steps.values().any(|step| step.session == told);
            let is_known = self.now(id).and_then(|room| room.workflow()).is_some_and(knows);
            if is_known && !is_ending {
                self.goes_on.push((ended, id));
            }
        }
    }

    /// Whether a run has ended this session.
    pub fn is_over(&self, id: SessionId) -> bool {
        self.over.contains(&id)
    }

    /// The store has answered, or has failed to.
    pub fn answered(&mut self, id: SessionId, version: u64) {
        let answered = self.answered.entry(id).or_default();
        *answered = version.max(*answered);
    }

    /// What somebody who asks now may not be ignorant of. One process alone may not know
    /// yet what the store is about to answer.
    pub fn known(&self, id: SessionId, is_shared: bool) -> u64 {
        match is_shared {
            true => self.version(id),
            false => self.answered.get(&id).copied().unwrap_or(0),
        }
    }

    pub fn version(&self, id: SessionId) -> u64 {
        self.states.get(&id).and_then(|states| states.last_key_value()).map_or(0, |(last, _)| *last)
    }

    pub fn now(&self, id: SessionId) -> Option<&Arc<Room>> {
        Some(self.states.get(&id)?.last_key_value()?.1)
    }

    /// As it was at this version and at all later ones.
    fn since(&self, id: SessionId, version: u64) -> impl Iterator<Item = &Arc<Room>> {
        self.states
            .get(&id)
            .into_iter()
            .flat_map(move |states| states.range(version..))
            .map(|(_, room)| room)
    }

    /// Whether a call was due at this version or at a later one.
    pub fn is_due(&self, id: SessionId, call: &CallId, since: u64) -> bool {
        self.since(id, since).any(|room| room.due().iter().any(|due| due.id == *call))
    }

    /// What somebody is shown is what the log had while they asked, and nothing else.
    pub fn shows(&self, snapshot: &Snapshot, since: u64) -> Option<String> {
        let Snapshot { id, version, room, .. } = snapshot;
        if *version < since {
            return Some(format!("{id} was shown at {version} when it had come to {since}"));
        }
        match self.states.get(id).and_then(|states| states.get(version)) {
            Some(there) if there == room => None,
            Some(_) => Some(format!("{id} was shown at {version} as it never was")),
            None => Some(format!("{id} was shown at {version}, which it never had")),
        }
    }

    /// Whether the rules refuse a command, or find nothing to do, on the session as it was
    /// while somebody waited for the answer.
    pub fn refuses(&self, asked: &Asked, command: &Command, until: Timestamp) -> bool {
        let rules = |room: &Arc<Room>, at: Timestamp| {
            let (nonce, actor) = (Nonce("c0de".into()), asked.actor.clone());
            let input = Input { at, nonce, actor, command: command.clone() };
            !room::decide(Some(room), input).is_ok_and(|events| !events.is_empty())
        };
        let mut rooms = self.since(asked.session, asked.version);
        rooms.any(|room| rules(room, asked.at) || rules(room, until))
    }
}

/// A request, and what the log had when it was made.
pub struct Asked {
    pub session: SessionId,
    pub actor: String,
    pub version: u64,
    pub at: Timestamp,
}

pub fn as_the_log_has_it(log: &[StoredEvent]) -> Room {
    let mut room = None;
    for stored in log {
        let event = Event::decode(&stored.kind, &stored.payload).unwrap();
        room::apply(&mut room, &event, stored.at);
    }
    room.unwrap()
}
