//! A store that is as simple as can be: maps in memory, one thing at a time.

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::{CallId, SessionId};
use plenary_engine::ports::{
    Append, Appended, AttemptEnd, AttemptRow, AttemptState, IdempotentAnswer, ListPage, ListQuery,
    SessionRow, StoredEvent,
};

use crate::samples::{Told, ToldOfOne, everything};

#[derive(Default)]
pub struct Model {
    sessions: BTreeMap<SessionId, Session>,
    removed: BTreeSet<SessionId>,
    /// By kind and name, also those of removed sessions.
    names: BTreeMap<(String, String), SessionId>,
    answers: BTreeMap<(String, String), IdempotentAnswer>,
    last_position: u64,
}

struct Session {
    row: SessionRow,
    events: Vec<StoredEvent>,
    words: BTreeSet<String>,
    attempts: BTreeMap<(CallId, u32), AttemptRow>,
    drafts: BTreeMap<CallId, String>,
}

impl Model {
    pub fn append(&mut self, append: &Append) -> Appended {
        if let Some(asked) = &append.idempotency {
            let key = (asked.principal.clone(), asked.key.clone());
            if let Some(answer) = self.answers.get(&key) {
                return Appended::Repeated(answer.clone());
            }
        }
        if let Some(refusal) = self.refusal(append) {
            return refusal;
        }
        if let Some(name) = append.name.clone().filter(|_| append.expected == 0) {
            self.names.insert((append.kind.into(), name), append.session);
        }
        let session = self.sessions.entry(append.session).or_insert_with(|| Session::new(append));
        let positions = session.add(append, &mut self.last_position);
        let version = session.row.version;
        if let Some(asked) = &append.idempotency {
            let answer = IdempotentAnswer {
                request_hash: asked.request_hash.clone(),
                session: append.session,
                version,
            };
            let key = (asked.principal.clone(), asked.key.clone());
            self.answers.insert(key, answer);
        }
        Appended::Written { version, positions }
    }

    fn refusal(&self, append: &Append) -> Option<Appended> {
        let Some(session) = self.sessions.get(&append.session) else {
            let gone = append.expected > 0 || self.removed.contains(&append.session);
            let name = append.name.as_ref().map(|name| (append.kind.into(), name.clone()));
            let taken = name.is_some_and(|name| self.names.contains_key(&name));
            return match (gone, taken) {
                (true, _) => Some(Appended::Gone),
                (false, true) => Some(Appended::Taken),
                (false, false) => None,
            };
        };
        let SessionRow { epoch, version, .. } = session.row;
        if append.epoch.is_some_and(|held| held != epoch) {
            return Some(Appended::Fenced);
        }
        (append.expected != version).then_some(Appended::Conflict { version })
    }

    pub fn remove(&mut self, id: SessionId) -> bool {
        if self.sessions.remove(&id).is_none() {
            return false;
        }
        self.removed.insert(id);
        self.answers.retain(|_, answer| answer.session != id);
        true
    }

    pub fn claim(&mut self, id: Option<SessionId>) -> Vec<(SessionId, u64)> {
        let mut claimed = Vec::new();
        for session in self.sessions.values_mut() {
            if id.map_or(session.row.active, |id| id == session.row.id) {
                session.row.epoch += 1;
                claimed.push((session.row.id, session.row.epoch));
            }
        }
        claimed
    }

    /// `None`: fenced.
    pub fn begin_attempt(
        &mut self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<&AttemptEnd>,
    ) -> Option<u32> {
        let session = self.held(id, epoch)?;
        if let Some(end) = ended {
            session.end_attempt(end);
        }
        let earlier = session.attempts.keys().filter(|(of, _)| of == call);
        let number = earlier.map(|(_, number)| *number).max().unwrap_or(0) + 1;
        let row = AttemptRow {
            call: call.clone(),
            number,
            epoch,
            state: AttemptState::Begun,
            usage: Default::default(),
        };
        session.attempts.insert((call.clone(), number), row);
        Some(number)
    }

    /// `None`: fenced.
    pub fn save_draft(
        &mut self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Option<()> {
        let session = self.held(id, epoch)?;
        session.drafts.insert(call.clone(), text.into());
        Some(())
    }

    fn held(&mut self, id: SessionId, epoch: u64) -> Option<&mut Session> {
        let session = self.sessions.get_mut(&id)?;
        (session.row.epoch == epoch).then_some(session)
    }

    /// Version and epoch, zero for one that is not there.
    pub fn standing(&self, id: SessionId) -> (u64, u64) {
        let row = self.sessions.get(&id).map(|session| &session.row);
        row.map_or((0, 0), |row| (row.version, row.epoch))
    }

    pub fn named(&self, kind: &str, name: &str) -> Option<SessionId> {
        let id = self.names.get(&(kind.to_owned(), name.to_owned()))?;
        self.sessions.contains_key(id).then_some(*id)
    }

    pub fn idempotent(&self, principal: &str, key: &str) -> Option<IdempotentAnswer> {
        let key = (principal.to_owned(), key.to_owned());
        self.answers.get(&key).cloned()
    }

    pub fn list(&self, query: &ListQuery) -> ListPage {
        let matching: Vec<&SessionRow> = self
            .sessions
            .values()
            .rev()
            .filter(|session| session.matches(query))
            .map(|session| &session.row)
            .collect();
        let mut rest =
            matching.iter().filter(|row| query.before.is_none_or(|before| row.id < before));
        let rows: Vec<SessionRow> =
            rest.by_ref().take(query.limit as usize).map(|row| (*row).clone()).collect();
        let more = rest.next().is_some();
        ListPage {
            total: matching.len() as u64,
            next: rows.last().filter(|_| more).map(|row| row.id),
            rows,
        }
    }

    pub fn told(&self, ids: &[SessionId]) -> Told {
        let all = self.sessions.values().flat_map(|session| &session.events);
        let mut events: Vec<StoredEvent> =
            all.filter(|event| event.position.is_some()).cloned().collect();
        events.sort_by_key(|event| event.position);
        Told {
            list: self.list(&everything()),
            position: events.last().and_then(|event| event.position).unwrap_or(0),
            events,
            sessions: ids.iter().map(|id| self.told_of_one(*id)).collect(),
        }
    }

    fn told_of_one(&self, id: SessionId) -> ToldOfOne {
        let session = self.sessions.get(&id);
        ToldOfOne {
            row: session.map(|session| session.row.clone()),
            events: session.map_or(vec![], |session| session.events.clone()),
            attempts: session.map_or(vec![], |s| s.attempts.values().cloned().collect()),
            drafts: session.map_or(vec![], |s| s.drafts.clone().into_iter().collect()),
        }
    }
}

impl Session {
    fn new(append: &Append) -> Session {
        Session {
            row: SessionRow {
                id: append.session,
                kind: append.kind.into(),
                name: append.name.clone(),
                project: append.project.clone(),
                title: String::new(),
                status: String::new(),
                active: false,
                waits_for: vec![],
                imported: append.imported,
                version: 0,
                epoch: u64::from(append.owner.is_some()),
                created_at: append.at,
                updated_at: append.at,
            },
            events: vec![],
            words: BTreeSet::new(),
            attempts: BTreeMap::new(),
            drafts: BTreeMap::new(),
        }
    }

    fn add(&mut self, append: &Append, last_position: &mut u64) -> Vec<Option<u64>> {
        let mut positions = vec![];
        for event in &append.events {
            *last_position += u64::from(event.listed);
            let position = event.listed.then_some(*last_position);
            positions.push(position);
            self.row.version += 1;
            self.events.push(StoredEvent {
                session: append.session,
                kind: append.kind.into(),
                version: self.row.version,
                position,
                name: event.name.into(),
                actor: append.actor.clone(),
                payload: event.payload.clone(),
                at: append.at,
            });
            let words = event.search.split_whitespace().map(str::to_owned);
            self.words.extend(words);
        }
        self.row.title = append.title.clone();
        self.row.status = append.status.into();
        self.row.active = append.active;
        self.row.waits_for = append.waits_for.clone();
        if append.events.iter().any(|event| event.listed) {
            self.row.updated_at = append.at;
        }
        for end in &append.attempts {
            self.end_attempt(end);
            self.drafts.remove(&end.call);
        }
        positions
    }

    fn end_attempt(&mut self, end: &AttemptEnd) {
        if let Some(row) = self.attempts.get_mut(&(end.call.clone(), end.number)) {
            row.state = end.state;
            row.usage = end.usage;
        }
    }

    fn matches(&self, query: &ListQuery) -> bool {
        let row = &self.row;
        query.kind.as_ref().is_none_or(|kind| *kind == row.kind)
            && !query.without.contains(&row.kind)
            && (query.project.is_none() || query.project == row.project)
            && query.status.as_ref().is_none_or(|is| *is == row.status)
            && query.active.is_none_or(|active| active == row.active)
            && query.waiting.is_none_or(|waiting| waiting != row.waits_for.is_empty())
            && self.has_words(query.words.as_deref().unwrap_or_default())
    }

    fn has_words(&self, asked: &str) -> bool {
        let title = self.row.title.split_whitespace();
        let words: Vec<&str> = title.chain(self.words.iter().map(String::as_str)).collect();
        let mut asked: Vec<&str> = asked.split_whitespace().collect();
        let Some(prefix) = asked.pop() else {
            return true;
        };
        asked.iter().all(|word| words.contains(word))
            && words.iter().any(|word| word.starts_with(prefix))
    }
}
