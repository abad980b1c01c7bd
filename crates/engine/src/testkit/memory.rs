//! A store that is as simple as can be: maps in memory, one thing at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use plenary_domain::{CallId, SessionId, Timestamp, limits};

use crate::ports::{
    Append, Appended, AttemptEnd, AttemptRow, AttemptState, Driver, IdempotentAnswer, Label,
    ListPage, ListQuery, NodeRow, SessionRow, Store, StoreError, StoredEvent, Waiting,
};

#[derive(Default)]
pub struct Memory {
    sessions: BTreeMap<SessionId, Session>,
    removed: BTreeSet<SessionId>,
    /// By kind and name, also those of removed sessions.
    names: BTreeMap<(String, String), SessionId>,
    answers: BTreeMap<(String, String), IdempotentAnswer>,
    last_position: u64,
    /// The store's own time, in milliseconds.
    pub now_ms: u64,
    nodes: BTreeMap<String, Node>,
}

struct Node {
    since_ms: u64,
    /// When its lease ends.
    until_ms: u64,
    draining: bool,
    address: Option<String>,
}

struct Session {
    row: SessionRow,
    /// In place of the row's own.
    title: Option<String>,
    driver: Option<String>,
    wake_at: Option<Timestamp>,
    events: Vec<StoredEvent>,
    words: BTreeSet<String>,
    attempts: BTreeMap<(CallId, u32), AttemptRow>,
    drafts: BTreeMap<CallId, String>,
}

impl Memory {
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
        let others = self.others(append.driver.as_deref().unwrap_or_default());
        let session = self.sessions.entry(append.session).or_insert_with(|| Session::new(append));
        let positions = session.add(append, &mut self.last_position);
        let epoch = session.drive(append, &others);
        let version = session.row.version;
        if let Some(asked) = &append.idempotency {
            let answer = IdempotentAnswer {
                request_hash: asked.request_hash.clone(),
                session: append.session,
                first: append.expected + 1,
                version,
            };
            let key = (asked.principal.clone(), asked.key.clone());
            self.answers.insert(key, answer);
        }
        Appended::Written { version, positions, epoch }
    }

    /// The nodes that live, but for this one.
    fn others(&self, node: &str) -> BTreeSet<String> {
        let living = self.nodes.iter().filter(|(_, node)| node.until_ms > self.now_ms);
        living.map(|(other, _)| other.clone()).filter(|other| other != node).collect()
    }

    pub fn renew(&mut self, node: &str, address: Option<&str>, lease: Duration) {
        let (since_ms, until_ms) = (self.now_ms, self.now_ms + lease.as_millis() as u64);
        let fresh = || Node { since_ms, until_ms, draining: false, address: None };
        let node = self.nodes.entry(node.to_owned()).or_insert_with(fresh);
        (node.until_ms, node.address) = (until_ms, address.map(str::to_owned));
    }

    pub fn drain(&mut self, node: &str) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.draining = true;
        }
    }

    pub fn nodes(&self) -> Vec<NodeRow> {
        let mut rows: Vec<NodeRow> =
            self.nodes.iter().map(|(name, node)| self.node(name, node)).collect();
        rows.sort_by(|one, other| (one.since, &one.name).cmp(&(other.since, &other.name)));
        rows
    }

    fn node(&self, name: &str, node: &Node) -> NodeRow {
        let drives = |session: &&Session| {
            session.driver.as_deref() == Some(name) && !session.row.is_secret()
        };
        NodeRow {
            name: name.to_owned(),
            since: Timestamp::from_millisecond(node.since_ms as i64).unwrap_or_default(),
            lease_left_ms: node.until_ms.saturating_sub(self.now_ms),
            driving: self.sessions.values().filter(drives).count() as u64,
            draining: node.draining,
            schema: 0,
            program: None,
            address: node.address.clone(),
        }
    }

    pub fn driver(&self, id: SessionId) -> Option<Driver> {
        let node = self.sessions.get(&id)?.driver.clone()?;
        let living = self.nodes.get(&node).filter(|one| one.until_ms > self.now_ms)?;
        Some(Driver { node, address: living.address.clone() })
    }

    pub fn retire(&mut self, node: &str) {
        self.nodes.remove(node);
        for session in self.sessions.values_mut() {
            session.driver.take_if(|driver| driver == node);
        }
    }

    pub fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Waiting {
        let others = self.others(node);
        let free = self.sessions.values().filter(|session| session.is_free(&others));
        let (due, later): (Vec<_>, Vec<_>) = free.partition(|session| session.is_due(now));
        let due = due.into_iter().map(|session| session.row.id).filter(|id| after < Some(*id));
        let later = later.into_iter().filter(|session| session.row.active);
        let later = later.filter_map(|session| session.wake_at);
        Waiting {
            sessions: due.take(limit as usize).collect(),
            wake_at: later.chain(self.next_to_go(node, now)).min(),
        }
    }

    /// When the first lease ends of those others that are late with it and drive something.
    fn next_to_go(&self, node: &str, now: Timestamp) -> Option<Timestamp> {
        let nodes = self.nodes.iter().filter(|(name, _)| *name != node);
        let left = nodes.filter_map(|(name, node)| {
            let left_ms = node.until_ms.checked_sub(self.now_ms).filter(|left| *left > 0)?;
            let is_late = left_ms < limits::LEASE_DOUBTED_MS;
            (is_late && self.node(name, node).driving > 0).then_some(left_ms)
        });
        let until_ms = now.as_millisecond() + i64::try_from(left.min()?).ok()?;
        Timestamp::from_millisecond(until_ms).ok()
    }

    /// One after the other, up to the first that is not written.
    pub fn append_all(&mut self, appends: &[Append]) -> Vec<Appended> {
        let mut answers = vec![];
        for append in appends {
            let answer = self.append(append);
            let written = matches!(answer, Appended::Written { .. });
            answers.push(answer);
            if !written {
                break;
            }
        }
        answers
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

    pub fn claim(&mut self, node: &str, ids: &[SessionId]) -> Vec<(SessionId, u64)> {
        let others = self.others(node);
        let mut claimed = Vec::new();
        for session in self.sessions.values_mut() {
            if ids.contains(&session.row.id) && session.is_free(&others) {
                session.driver = Some(node.to_owned());
                session.row.epoch += 1;
                claimed.push((session.row.id, session.row.epoch));
            }
        }
        claimed
    }

    pub fn release(&mut self, id: SessionId, epoch: u64) {
        if let Some(session) = self.held(id, epoch) {
            session.driver = None;
        }
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
        let is_owed =
            |end: &AttemptEnd| !end.usage.is_unknown() && (&end.call, end.number) != (call, number);
        if ended.is_some_and(is_owed) {
            session.drafts.entry(call.clone()).or_default();
        }
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

    /// `None`: fenced.
    pub fn end_attempt(&mut self, id: SessionId, epoch: u64, end: &AttemptEnd) -> Option<()> {
        let session = self.held(id, epoch)?;
        session.end_attempt(end);
        session.drafts.remove(&end.call);
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
        let matching: Vec<SessionRow> = self
            .sessions
            .values()
            .rev()
            .filter(|session| session.matches(query))
            .map(Session::shown)
            .collect();
        let mut rest =
            matching.iter().filter(|row| query.before.is_none_or(|before| row.id < before));
        let rows: Vec<SessionRow> = rest.by_ref().take(query.limit as usize).cloned().collect();
        let more = rest.next().is_some();
        ListPage {
            total: matching.len() as u64,
            next: rows.last().filter(|_| more).map(|row| row.id),
            rows,
        }
    }

    pub fn row(&self, id: SessionId) -> Option<&SessionRow> {
        self.sessions.get(&id).map(|session| &session.row)
    }

    pub fn rows(&self) -> impl Iterator<Item = &SessionRow> {
        self.sessions.values().map(|session| &session.row)
    }

    pub fn label(&mut self, id: SessionId, label: Label) -> bool {
        let Some(session) = self.sessions.get_mut(&id) else { return false };
        if let Some(title) = label.title {
            session.title = title;
        }
        session.row.pinned = label.pinned.unwrap_or(session.row.pinned);
        true
    }

    pub fn events(&self, id: SessionId) -> &[StoredEvent] {
        self.sessions.get(&id).map_or(&[], |session| &session.events)
    }

    pub fn events_of_all(&self) -> Vec<StoredEvent> {
        let all = self.sessions.values().flat_map(|session| &session.events);
        let mut events: Vec<StoredEvent> =
            all.filter(|event| event.position.is_some()).cloned().collect();
        events.sort_by_key(|event| event.position);
        events
    }

    pub fn attempts(&self, id: SessionId) -> Vec<AttemptRow> {
        self.sessions.get(&id).map_or(vec![], |s| s.attempts.values().cloned().collect())
    }

    pub fn drafts(&self, id: SessionId) -> Vec<(CallId, String)> {
        self.sessions.get(&id).map_or(vec![], |s| s.drafts.clone().into_iter().collect())
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
                renamed: false,
                status: String::new(),
                active: false,
                waits_for: vec![],
                imported: append.imported,
                pinned: false,
                version: 0,
                epoch: 0,
                created_at: append.at,
                updated_at: append.at,
            },
            title: None,
            driver: None,
            wake_at: None,
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

    /// Who drives it after this append, and the epoch if that is who asked for it.
    fn drive(&mut self, append: &Append, others: &BTreeSet<String>) -> Option<u64> {
        self.wake_at = append.wake_at;
        if append.epoch.is_some() && append.expected > 0 {
            self.driver = append.driver.clone();
            return append.driver.is_some().then_some(self.row.epoch);
        }
        if append.driver.is_none() || !self.is_free(others) {
            return None;
        }
        self.driver = append.driver.clone();
        self.row.epoch += 1;
        Some(self.row.epoch)
    }

    fn is_free(&self, others: &BTreeSet<String>) -> bool {
        self.driver.as_ref().is_none_or(|driver| !others.contains(driver))
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let by_now = self.wake_at.is_none_or(|at| at <= now);
        self.row.active && by_now || !self.drafts.is_empty()
    }

    fn end_attempt(&mut self, end: &AttemptEnd) {
        let row = self.attempts.get_mut(&(end.call.clone(), end.number));
        // What has ended stays as it ended.
        if let Some(row) = row.filter(|row| row.state == AttemptState::Begun) {
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
            && query.active.is_none_or(|active| active == row.is_seen_active())
            && query.waiting.is_none_or(|waiting| waiting != row.waits_for.is_empty())
            && query.pinned.is_none_or(|pinned| pinned == row.pinned)
            && self.has_words(query.words.as_deref().unwrap_or_default())
    }

    fn shown(&self) -> SessionRow {
        let title = self.title.clone().unwrap_or_else(|| self.row.title.clone());
        SessionRow { title, renamed: self.title.is_some(), ..self.row.clone() }
    }

    fn has_words(&self, asked: &str) -> bool {
        let titles = [self.row.title.as_str(), self.title.as_deref().unwrap_or_default()];
        let titles = titles.into_iter().flat_map(str::split_whitespace);
        let words: Vec<&str> = titles.chain(self.words.iter().map(String::as_str)).collect();
        let mut asked: Vec<&str> = asked.split_whitespace().collect();
        let Some(prefix) = asked.pop() else {
            return true;
        };
        asked.iter().all(|word| words.contains(word))
            && words.iter().any(|word| word.starts_with(prefix))
    }
}

/// The same behind the port.
#[derive(Default)]
pub struct MemoryStore {
    memory: Mutex<Memory>,
    fails_at: AtomicUsize,
}

impl MemoryStore {
    pub fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One question about a session fails, counted from 1; 0 is none.
    pub fn fail_at(&self, question: usize) {
        self.fails_at.store(question, SeqCst);
    }

    /// It has not failed yet.
    pub fn will_fail(&self) -> bool {
        self.fails_at.load(SeqCst) > 0
    }

    fn asked(&self) -> Result<MutexGuard<'_, Memory>, StoreError> {
        match self.fails_at.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
            Ok(1) => Err(StoreError::Failed("on purpose".into())),
            _ => Ok(self.lock()),
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        if append.events.is_empty() {
            return Err(StoreError::NotWritten("an append needs an event".into()));
        }
        Ok(self.lock().append(&append))
    }

    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError> {
        Ok(self.lock().append_all(&appends))
    }

    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError> {
        Ok(self.asked()?.named(kind, name))
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(self.asked()?.sessions.get(&id).map(Session::shown))
    }

    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let memory = self.asked()?;
        let later = memory.events(id).iter().filter(|event| event.version > after);
        Ok(later.take(limit as usize).cloned().collect())
    }

    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let all = self.lock().events_of_all().into_iter();
        Ok(all.filter(|event| event.position > Some(after)).take(limit as usize).collect())
    }

    async fn position(&self) -> Result<u64, StoreError> {
        Ok(self.lock().events_of_all().last().and_then(|event| event.position).unwrap_or(0))
    }

    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        Ok(self.lock().list(&query))
    }

    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError> {
        Ok(self.lock().label(id, label))
    }

    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        Ok(self.lock().remove(id))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn changes(&self) -> BoxStream<'static, SessionId> {
        Box::pin(futures::stream::pending())
    }

    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let memory = self.asked()?;
        Ok(ids.iter().filter_map(|id| Some((*id, memory.row(*id)?.version))).collect())
    }

    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError> {
        self.lock().renew(node, address, lease);
        Ok(())
    }

    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError> {
        Ok(self.lock().driver(id))
    }

    async fn drain(&self, node: &str) -> Result<(), StoreError> {
        self.lock().drain(node);
        Ok(())
    }

    async fn retire(&self, node: &str) -> Result<(), StoreError> {
        self.lock().retire(node);
        Ok(())
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        Ok(self.lock().nodes())
    }

    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError> {
        Ok(self.lock().waiting(node, now, after, limit))
    }

    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError> {
        self.lock().release(id, epoch);
        Ok(())
    }

    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        Ok(self.lock().claim(node, ids))
    }

    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError> {
        self.lock().begin_attempt(id, epoch, call, ended.as_ref()).ok_or(StoreError::Fenced)
    }

    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
        Ok(self.lock().attempts(id))
    }

    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError> {
        self.lock().save_draft(id, epoch, call, text).ok_or(StoreError::Fenced)
    }

    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError> {
        self.lock().end_attempt(id, epoch, &end).ok_or(StoreError::Fenced)
    }

    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError> {
        Ok(self.lock().drafts(id))
    }

    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError> {
        Ok(self.asked()?.idempotent(principal, key))
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        Ok([7; 32])
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
