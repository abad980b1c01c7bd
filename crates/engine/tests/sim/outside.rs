//! The store and the models as one node reaches them.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream, StreamExt};
use plenary_domain::{Ask, CallId, FailureKind, ModelName, SessionId, Timestamp, Usage, limits};
use plenary_engine::ports::*;
use plenary_engine::testkit::Memory;

use super::world::{Fate, Inner, Stream, World};

pub struct SimStore {
    pub world: World,
    pub node: u64,
    pub is_shared: bool,
}

/// Enough of an id to tell it from the few others of a run.
pub fn short(id: SessionId) -> String {
    let id = id.to_string();
    format!("{}{}", &id[19..23], &id[34..])
}

fn lost() -> StoreError {
    StoreError::Failed("on purpose".into())
}

impl SimStore {
    /// Waits, does it, and waits again: an answer may be lost after the deed.
    async fn through<T>(
        &self,
        about: Option<SessionId>,
        act: impl FnOnce(&mut Inner) -> T,
    ) -> Result<T, StoreError> {
        if self.world.park_at_store(self.node, about).await == Fate::Fails {
            return Err(StoreError::NotWritten("on purpose".into()));
        }
        let done = act(&mut self.world.lock());
        match self.world.park_at_store(self.node, about).await {
            Fate::Goes => Ok(done),
            Fate::Fails => Err(lost()),
        }
    }

    /// What only the driver may do; `None`: it is not the driver any more, and is told so.
    async fn driven<T>(
        &self,
        id: SessionId,
        epoch: u64,
        act: impl FnOnce(&mut Inner) -> Option<T>,
    ) -> Result<T, StoreError> {
        let done = self.through(Some(id), act).await?;
        if done.is_none() {
            self.world.lock().conduct.fenced(self.node, id, epoch);
        }
        done.ok_or(StoreError::Fenced)
    }

    async fn read<T>(
        &self,
        about: Option<SessionId>,
        read: impl FnOnce(&Memory) -> T,
    ) -> Result<T, StoreError> {
        match self.world.park_at_store(self.node, about).await {
            Fate::Goes => Ok(read(&self.world.lock().memory)),
            Fate::Fails => Err(lost()),
        }
    }

    /// What a node is told of an append it knows from then on.
    fn note_answer(&self, append: (SessionId, Option<u64>), answer: &Appended) {
        let (session, epoch) = append;
        let conduct = &mut self.world.lock().conduct;
        match answer {
            Appended::Written { version, .. } => conduct.learned(self.node, session, *version),
            Appended::Fenced => conduct.fenced(self.node, session, epoch.unwrap_or(0)),
            Appended::Conflict { .. }
            | Appended::Repeated(_)
            | Appended::Gone
            | Appended::Taken => {}
        }
    }

    fn note_append(&self, append: &Append) {
        let names: Vec<&str> = append.events.iter().map(|event| event.name).collect();
        let (node, session) = (self.node, short(append.session));
        let Append { expected, epoch, driver, .. } = append;
        let drives = driver.is_some();
        self.world
            .note(format!("n{node} {session} append {names:?} on {expected} {epoch:?} {drives}"));
    }

    /// Accounts are made of what happened, whether the node learns of it or not.
    fn append_one(&self, inner: &mut Inner, append: &Append) -> Appended {
        let attempts = inner.memory.attempts(append.session);
        let answer = inner.memory.append(append);
        if !matches!(answer, Appended::Written { .. }) {
            return answer;
        }
        inner.tell(append.session);
        inner.record.add(append, &inner.memory);
        if append.actor == "engine" && append.epoch.is_none() {
            let problem = format!("node {} writes an outcome without an epoch", self.node);
            inner.violations.push(problem);
        }
        let begun = |end: &&AttemptEnd| {
            let row =
                attempts.iter().find(|row| (&row.call, row.number) == (&end.call, end.number));
            row.is_some_and(|row| row.state == AttemptState::Begun)
        };
        for end in append.attempts.iter().filter(begun) {
            let count = inner.ended.entry((append.session, end.call.clone())).or_default();
            *count += 1;
            if *count > 1 {
                let problem = format!("{} of {} has two outcomes", end.call, append.session);
                inner.violations.push(problem);
            }
        }
        answer
    }
}

#[async_trait]
impl Store for SimStore {
    async fn append(&self, append: Append) -> Result<Appended, StoreError> {
        self.note_append(&append);
        let about = append.session;
        let mut version = 0;
        let write = |inner: &mut Inner| {
            let appended = self.append_one(inner, &append);
            version = inner.record.version(about);
            appended
        };
        let appended = self.through(Some(about), write).await;
        self.world.lock().record.answered(about, version);
        let appended = appended?;
        self.note_answer((about, append.epoch), &appended);
        Ok(appended)
    }

    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError> {
        appends.iter().for_each(|append| self.note_append(append));
        let about = appends.first().map(|append| append.session);
        let whose: Vec<_> = appends.iter().map(|append| (append.session, append.epoch)).collect();
        let mut version = 0;
        let answers = self.through(about, |inner| {
            let mut answers = vec![];
            for append in &appends {
                answers.push(self.append_one(inner, append));
                if !matches!(answers.last(), Some(Appended::Written { .. })) {
                    break;
                }
            }
            version = about.map_or(0, |id| inner.record.version(id));
            answers
        });
        let answers = answers.await;
        about.inspect(|id| self.world.lock().record.answered(*id, version));
        let answers = answers?;
        whose.into_iter().zip(&answers).for_each(|(of, answer)| self.note_answer(of, answer));
        Ok(answers)
    }

    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError> {
        self.read(None, |memory| memory.named(kind, name)).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.read(Some(id), |memory| memory.row(id).cloned()).await
    }

    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let take = |memory: &Memory| -> Vec<StoredEvent> {
            let later = memory.events(id).iter().filter(|event| event.version > after);
            later.take(limit as usize).cloned().collect()
        };
        let page = self.read(Some(id), take).await?;
        if let Some(last) = page.last() {
            self.world.lock().conduct.learned(self.node, id, last.version);
        }
        Ok(page)
    }

    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let take = |memory: &Memory| {
            let all = memory.events_of_all().into_iter();
            all.filter(|event| event.position > Some(after)).take(limit as usize).collect()
        };
        self.read(None, take).await
    }

    async fn position(&self) -> Result<u64, StoreError> {
        self.read(None, |memory| {
            memory.events_of_all().last().and_then(|e| e.position).unwrap_or(0)
        })
        .await
    }

    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError> {
        self.read(None, |memory| memory.list(&query)).await
    }

    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError> {
        self.through(Some(id), |inner| inner.memory.label(id, label.clone())).await
    }

    async fn remove(&self, id: SessionId) -> Result<bool, StoreError> {
        self.through(Some(id), |inner| inner.memory.remove(id)).await
    }

    fn is_shared(&self) -> bool {
        self.is_shared
    }

    fn changes(&self) -> BoxStream<'static, SessionId> {
        self.world.listen(self.node)
    }

    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let version = |memory: &Memory, id: &SessionId| Some((*id, memory.row(*id)?.version));
        self.read(None, |memory| ids.iter().filter_map(|id| version(memory, id)).collect()).await
    }

    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError> {
        // Its own clock counts from before it asks.
        let until_ms =
            self.world.lock().ticks(self.node) + limits::LEASE_MS - limits::LEASE_MARGIN_MS;
        self.through(None, |inner| inner.memory.renew(node, address, lease)).await?;
        self.world.lock().conduct.renewed(self.node, until_ms);
        Ok(())
    }

    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError> {
        self.read(None, |memory| memory.driver(id)).await
    }

    async fn drain(&self, node: &str) -> Result<(), StoreError> {
        self.through(None, |inner| inner.memory.drain(node)).await
    }

    async fn retire(&self, node: &str) -> Result<(), StoreError> {
        self.through(None, |inner| inner.memory.retire(node)).await
    }

    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError> {
        self.read(None, Memory::nodes).await
    }

    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError> {
        assert!(!self.world.is_unlucky(20), "planned");
        self.read(None, |memory| memory.waiting(node, now, after, limit)).await
    }

    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError> {
        self.world.note(format!("n{} {} is let go of", self.node, short(id)));
        self.through(Some(id), |inner| inner.memory.release(id, epoch)).await
    }

    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError> {
        let ids_short: Vec<String> = ids.iter().map(|id| short(*id)).collect();
        self.world.note(format!("n{} claims {ids_short:?}", self.node));
        let about = ids.first().copied();
        {
            let mut inner = self.world.lock();
            let problem = inner.conduct.claims(self.node);
            inner.violations.extend(problem);
        }
        self.through(about, |inner| inner.memory.claim(node, ids)).await
    }

    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError> {
        // What it knows now, not when the store comes to it. Whoever holds the session may
        // know more, and wait for the store before it is reconciled.
        let known = {
            let inner = &mut *self.world.lock();
            let is_held = inner.asks_about(self.node, id);
            if is_held { 0 } else { inner.conduct.known(self.node, id) }
        };
        self.driven(id, epoch, |inner| {
            let number = inner.memory.begin_attempt(id, epoch, call, ended.as_ref())?;
            inner.conduct.began((id, call.clone(), number), epoch, known);
            Some(number)
        })
        .await
    }

    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError> {
        self.read(Some(id), |memory| memory.attempts(id)).await
    }

    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError> {
        self.world.note(format!("n{} {} draft of {call}", self.node, short(id)));
        self.driven(id, epoch, |inner| inner.memory.save_draft(id, epoch, call, text)).await
    }

    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError> {
        self.world.note(format!("n{} {} ends {}", self.node, short(id), end.call));
        self.driven(id, epoch, |inner| inner.memory.end_attempt(id, epoch, &end)).await
    }

    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError> {
        self.read(Some(id), |memory| memory.drafts(id)).await
    }

    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError> {
        self.read(None, |memory| memory.idempotent(principal, key)).await
    }

    async fn secret(&self) -> Result<[u8; 32], StoreError> {
        Ok([7; 32])
    }

    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

pub struct SimModels {
    pub world: World,
    pub node: u64,
}

/// An open request, which somebody pays for.
struct Open {
    world: World,
    number: u64,
    node: u64,
    pieces: usize,
    /// What the model says that it took, from nothing.
    used: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.world.lock().streams.remove(&self.number);
    }
}

impl Models for SimModels {
    fn ask(&self, _ask: Ask, request_id: String) -> BoxStream<'static, Result<Piece, ModelError>> {
        let mut parts = request_id.splitn(2, '/');
        let session: SessionId = parts.next().unwrap().parse().unwrap();
        let (call, attempt) = parts.next().unwrap().rsplit_once('/').unwrap();
        let call = CallId(call.to_owned());
        self.world.note(format!("n{} {} asks {call}", self.node, short(session)));
        let mut inner = self.world.lock();
        let number = inner.next_stream;
        inner.next_stream += 1;
        let pieces = 1 + inner.chance.below(4);
        let (since_ms, since_ticks) = (inner.now_ms, inner.ticks(self.node));
        let begun = (session, call.clone(), attempt.parse().unwrap());
        let Inner { conduct, record, violations, .. } = &mut *inner;
        let (epoch, problem) = conduct.asks(self.node, &begun, record);
        violations.extend(problem);
        let node = self.node;
        let stream = Stream { node, session, call, epoch, since_ms, since_ticks };
        inner.streams.insert(number, stream);
        drop(inner);
        let open = Open { world: self.world.clone(), number, node: self.node, pieces, used: 0 };
        stream::unfold(Some(open), |open| async move {
            let mut open = open?;
            open.world.park(open.node).await;
            let mut inner = open.world.lock();
            let (faults, odds) = (inner.faults, inner.chance.below(60));
            drop(inner);
            match odds {
                0 if faults => panic!("planned"),
                1 | 2 => {
                    let (kind, message) = (FailureKind::Unreachable, "on purpose".to_owned());
                    Some((Err(ModelError::Retry { kind, message, after: None }), None))
                }
                3 => {
                    let (kind, message) = (FailureKind::Refused, "on purpose".to_owned());
                    Some((Err(ModelError::Final { kind, message }), None))
                }
                4..=20 => {
                    open.used += 1 + odds as u64;
                    let usage = Usage {
                        input_tokens: Some(100),
                        cached_tokens: odds.is_multiple_of(2).then_some(7),
                        output_tokens: Some(open.used),
                        reasoning_tokens: odds.is_multiple_of(3).then_some(3),
                        cost_nano_usd: odds.is_multiple_of(5).then_some(open.used * 11),
                    };
                    Some((Ok(Piece::Usage(usage)), Some(open)))
                }
                _ if open.pieces == 0 => Some((Ok(Piece::End(Ending::Whole)), None)),
                _ => {
                    open.pieces -= 1;
                    Some((Ok(Piece::Text("word ".into())), Some(open)))
                }
            }
        })
        .boxed()
    }

    fn providers(&self) -> Vec<String> {
        vec!["sim".into()]
    }

    fn window_tokens(&self, _model: &ModelName) -> u32 {
        8_192
    }

    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>> {
        Box::pin(async { vec![] })
    }
}

/// The way to other nodes, which ends with them.
pub struct SimPeers {
    pub world: World,
}

impl Peers for SimPeers {
    fn words(&self, address: &str, id: SessionId) -> BoxStream<'static, Said> {
        let there = self.world.lock().engines.get(address).and_then(std::sync::Weak::upgrade);
        let Some(there) = there else { return stream::empty().boxed() };
        let (world, address) = (self.world.clone(), address.to_owned());
        let words = async move { there.words(id).await.ok().map(StreamExt::boxed) };
        stream::once(words)
            .filter_map(std::future::ready)
            .flatten()
            .take_while(move |_| {
                let mut inner = world.lock();
                inner.heard += 1;
                // Some ways are cut while both live.
                let is_cut = inner.faults && inner.chance.one_in(20);
                std::future::ready(!is_cut && inner.engines.contains_key(&address))
            })
            .boxed()
    }
}
