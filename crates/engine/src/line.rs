//! Commands that wait for one session. Whoever has its lock takes all of them:
//! they are decided one after the other, each on what those before it did, and
//! written in one transaction, so that they share one wait for the disk.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_domain::room::{self, Command};
use plenary_domain::{Reject, SessionId, limits};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::engine::{Engine, EngineError, Room, Snapshot, Workings};
use crate::ports::{Append, Appended, StoreError};
use crate::submit::{By, Committed, Given, Step, decide};

/// In the order in which they came.
#[derive(Default)]
pub(crate) struct Line(Mutex<VecDeque<Waiting>>);

struct Waiting {
    by: By,
    command: Command,
    reply: oneshot::Sender<Answer>,
}

pub(crate) type Answer = Result<Place, EngineError>;

/// Where the answer to a command is.
pub(crate) enum Place {
    Here(Snapshot),
    /// An earlier request with the same key went to this session. Its room is
    /// another one, which must not be waited for with this one locked.
    Elsewhere(SessionId),
}

impl Line {
    pub fn join(&self, by: By, command: Command) -> oneshot::Receiver<Answer> {
        let (reply, answer) = oneshot::channel();
        self.lock().push_back(Waiting { by, command, reply });
        answer
    }

    fn take(&self) -> Vec<Waiting> {
        let mut line = self.lock();
        let count = line.len().min(limits::COMMANDS_GATHERED);
        line.drain(..count).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of one command, before anybody is told.
type Outcome = Result<Committed, EngineError>;

impl Engine {
    /// Carries out what waits until this answer is there.
    pub(crate) async fn work_off(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        mut answer: oneshot::Receiver<Answer>,
    ) -> Answer {
        loop {
            match answer.try_recv() {
                Ok(answer) => return answer,
                Err(TryRecvError::Closed) => {
                    let problem = "whoever carried a command out did not come to its end";
                    return Err(StoreError::Failed(problem.into()).into());
                }
                Err(TryRecvError::Empty) => {}
            }
            let waiting = room.line.take();
            let outcomes = self.carry_out(id, room, work, &waiting).await;
            if outcomes.iter().any(Result::is_ok) {
                self.reconcile(id, room, work).await;
            }
            for (waiting, outcome) in waiting.into_iter().zip(outcomes) {
                // Nobody listens when the caller's task has ended.
                let _ = waiting.reply.send(self.answer(id, work, outcome));
            }
        }
    }

    fn answer(&self, id: SessionId, work: &Workings, outcome: Outcome) -> Answer {
        let written = match outcome? {
            Committed::Nothing => None,
            Committed::Written(version) => Some(version),
            Committed::Repeated(earlier) if earlier.session != id => {
                return Ok(Place::Elsewhere(earlier.session));
            }
            Committed::Repeated(earlier) => Some(earlier.version),
        };
        self.standing(id, work, written).map(Place::Here)
    }

    /// One outcome for each, in order.
    async fn carry_out(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        waiting: &[Waiting],
    ) -> Vec<Outcome> {
        if work.state.is_none()
            && let Err(error) = self.load(id, work).await
        {
            return waiting.iter().map(|_| Err(error.clone().into())).collect();
        }
        if work.state.is_none() {
            return waiting.iter().map(|_| Err(EngineError::NotFound(id))).collect();
        }
        let mut outcomes: Vec<Outcome> = vec![];
        while outcomes.len() < waiting.len() {
            let rest = &waiting[outcomes.len()..];
            let together = match rest {
                [] | [_] => vec![],
                several => self.together(id, room, work, several).await,
            };
            let ended_by = rest.get(together.len());
            for (one, (outcome, decided_on)) in rest.iter().zip(together) {
                outcomes.push(self.or_earlier(id, &one.by, outcome, decided_on).await);
            }
            // The one that ended it goes by itself.
            if let Some(one) = ended_by {
                let outcome = self.alone(id, room, work, one).await;
                outcomes.push(self.or_earlier(id, &one.by, outcome, work.version).await);
            }
        }
        outcomes
    }

    async fn alone(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        one: &Waiting,
    ) -> Outcome {
        let step = Step { command: one.command.clone(), attempt: None };
        self.commit(id, room, work, &one.by, vec![step]).await
    }

    /// A repeated request may be refused now, or find nothing left to do; its answer
    /// is the one to the first. The keys of what writes are compared by the store.
    async fn or_earlier(
        &self,
        id: SessionId,
        by: &By,
        outcome: Outcome,
        decided_on: u64,
    ) -> Outcome {
        match &outcome {
            Ok(Committed::Nothing) | Err(EngineError::Rejected(_)) => {}
            Ok(Committed::Written(_) | Committed::Repeated(_)) | Err(_) => return outcome,
        }
        let Some(wanted) = &by.idempotency else { return outcome };
        match self.store.idempotent(&wanted.principal, &wanted.key).await? {
            // One that came after it has used the key.
            Some(other) if other.session == id && other.version > decided_on => outcome,
            Some(earlier) => wanted.compare(earlier).map(Committed::Repeated),
            None => outcome,
        }
    }

    /// The outcomes of the first commands, as many as could be carried out together,
    /// with the version that each was decided on. Whatever is out of the ordinary
    /// ends it, and is left to `alone`.
    async fn together(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        waiting: &[Waiting],
    ) -> Vec<(Outcome, u64)> {
        let Gathered { state, decided, appends } = self.gather(id, work, waiting);
        let given: Vec<Given> = appends.iter().map(Given::of).collect();
        let failed = |error: StoreError| {
            decided.iter().map(|(_, on)| (Err(error.clone().into()), *on)).collect()
        };
        let appended = match appends.is_empty() {
            true => vec![],
            false => match self.store.append_all(appends).await {
                Ok(appended) => appended,
                // It may be on the disk all the same, so nothing is tried again.
                Err(error) => return failed(error),
            },
        };
        let count = given.len();
        let versions = self.publish_written(id, room, given, appended);
        match (versions.last(), state) {
            (None, _) => {}
            (Some(last), Some(state)) if versions.len() == count => {
                (work.version, work.state) = (*last, Some(Arc::new(state)));
            }
            (Some(_), _) => {
                if let Err(error) = self.load(id, work).await {
                    return failed(error);
                }
            }
        }
        outcomes(decided, versions)
    }

    /// Decides each command on what those before it would do.
    fn gather(&self, id: SessionId, work: &Workings, waiting: &[Waiting]) -> Gathered {
        let at = self.clock.now();
        let mut state = work.state.as_deref().cloned();
        let mut version = work.version;
        let (mut all, mut appends) = (vec![], vec![]);
        for Waiting { by, command, .. } in waiting {
            let steps = [Step { command: command.clone(), attempt: None }];
            let decided_on = version;
            match (decide(&mut state, by, &steps, at), &state) {
                (Ok(events), Some(state)) if !events.is_empty() => {
                    version += events.len() as u64;
                    let append = self.append_of(id, work, by, &steps, state, events, at);
                    appends.push(Append { expected: decided_on, ..append });
                    all.push((Decided::Events, decided_on));
                }
                (Ok(_), _) => all.push((Decided::Nothing, decided_on)),
                (Err(EngineError::Rejected(reject)), _) => {
                    all.push((Decided::Refused(reject), decided_on));
                }
                (Err(_), _) => {
                    // The state may hold a part of what this one does.
                    return Gathered { state: None, decided: all, appends };
                }
            }
        }
        Gathered { state, decided: all, appends }
    }

    /// The version after each append that was written.
    fn publish_written(
        &self,
        id: SessionId,
        room: &Room,
        given: Vec<Given>,
        appended: Vec<Appended>,
    ) -> Vec<u64> {
        let written = appended.into_iter().map_while(|appended| match appended {
            Appended::Written { version, positions } => Some((version, positions)),
            Appended::Conflict { .. }
            | Appended::Fenced
            | Appended::Repeated(_)
            | Appended::Gone
            | Appended::Taken => None,
        });
        let mut versions = vec![];
        for (given, (version, positions)) in given.into_iter().zip(written) {
            given.stored(id, version, positions).for_each(|event| self.publish(room, event));
            versions.push(version);
        }
        versions
    }
}

struct Gathered {
    /// After all of them; `None` when it has to be read from the log.
    state: Option<room::Room>,
    /// One for each of the first commands, with the version that it was decided on.
    decided: Vec<(Decided, u64)>,
    /// One for each that has events.
    appends: Vec<Append>,
}

enum Decided {
    Events,
    Nothing,
    Refused(Reject),
}

/// What was decided holds only if all before it was written.
fn outcomes(decided: Vec<(Decided, u64)>, versions: Vec<u64>) -> Vec<(Outcome, u64)> {
    let mut versions = versions.into_iter();
    let outcome = |(decided, on)| match decided {
        Decided::Nothing => Some((Ok(Committed::Nothing), on)),
        Decided::Refused(reject) => Some((Err(EngineError::Rejected(reject)), on)),
        Decided::Events => versions.next().map(|version| (Ok(Committed::Written(version)), on)),
    };
    decided.into_iter().map_while(outcome).collect()
}
