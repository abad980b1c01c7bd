//! Commands that wait for one session. Whoever has its lock takes all of them:
//! they are decided one after the other, each on what those before it did, and
//! written in one transaction, so that they share one wait for the disk.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use plenary_domain::room::{self, Command};
use plenary_domain::{Reject, limits};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

use crate::engine::{EngineError, Snapshot};
use crate::ports::{Append, Appended, IdempotentAnswer, StoreError};
use crate::session::{Entry, Held, Recorded};
use crate::submit::{By, Committed, Given, Step, contained};

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
    /// An earlier request with the same key has it. Its session may be another one,
    /// which must not be waited for with this one locked.
    Elsewhere(IdempotentAnswer),
}

impl Line {
    pub fn join(&self, by: By, command: Command) -> Result<oneshot::Receiver<Answer>, EngineError> {
        let (reply, answer) = oneshot::channel();
        let mut line = self.lock();
        if line.len() >= limits::COMMANDS_WAITING {
            return Err(EngineError::Contended);
        }
        line.push_back(Waiting { by, command, reply });
        Ok(answer)
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

impl Held {
    /// Carries out what waits until this answer is there.
    pub async fn work_off(&mut self, mut answer: oneshot::Receiver<Answer>) -> Answer {
        loop {
            match answer.try_recv() {
                Ok(answer) => return answer,
                Err(TryRecvError::Closed) => {
                    let problem = "whoever carried a command out did not come to its end";
                    return Err(StoreError::Failed(problem.into()).into());
                }
                Err(TryRecvError::Empty) => {}
            }
            let waiting = self.session.line.take();
            let outcomes = self.carry_out(&waiting).await;
            self.reconcile().await;
            for (waiting, outcome) in waiting.into_iter().zip(outcomes) {
                // Nobody listens when the caller's task has ended.
                let _ = waiting.reply.send(self.answer(outcome));
            }
        }
    }

    fn answer(&self, outcome: Outcome) -> Answer {
        let snapshot = self.snapshot();
        match outcome? {
            Committed::Nothing => snapshot.map(Place::Here),
            Committed::Written(recorded) => snapshot.map(|now| Place::Here(now.with(recorded))),
            Committed::Repeated(earlier) => Ok(Place::Elsewhere(earlier)),
        }
    }

    /// One outcome for each, in order.
    async fn carry_out(&mut self, waiting: &[Waiting]) -> Vec<Outcome> {
        if self.session.shown().is_none()
            && let Err(error) = self.load().await
        {
            return waiting.iter().map(|_| Err(error.clone().into())).collect();
        }
        let mut outcomes: Vec<Outcome> = vec![];
        while outcomes.len() < waiting.len() {
            // It never was there, or was removed while those before were carried out.
            if self.work.state.is_none() {
                outcomes.push(Err(EngineError::NotFound(self.id())));
                continue;
            }
            let rest = &waiting[outcomes.len()..];
            let together = match rest {
                [] | [_] => vec![],
                several => self.together(several).await,
            };
            let ended_by = rest.get(together.len());
            for (one, (outcome, decided_on)) in rest.iter().zip(together) {
                outcomes.push(self.or_earlier(&one.by, outcome, decided_on).await);
            }
            // The one that ended it goes by itself.
            if let Some(Waiting { by, command, .. }) = ended_by {
                let step = Step { command: command.clone(), attempt: None };
                let outcome = self.commit(by, vec![step]).await;
                outcomes.push(self.or_earlier(by, outcome, self.work.version).await);
            }
        }
        outcomes
    }

    /// A repeated request may be refused now, or find nothing left to do; its answer
    /// is the one to the first. The keys of what writes are compared by the store.
    async fn or_earlier(&self, by: &By, outcome: Outcome, decided_on: u64) -> Outcome {
        match &outcome {
            Ok(Committed::Nothing) | Err(EngineError::Rejected(_)) => {}
            Ok(Committed::Written(_) | Committed::Repeated(_)) | Err(_) => return outcome,
        }
        let Some(wanted) = &by.idempotency else { return outcome };
        let store = &self.engine().store;
        match store.idempotent(&wanted.principal, &wanted.key).await? {
            // One that came after it has used the key.
            Some(other) if other.session == self.id() && other.version > decided_on => outcome,
            Some(earlier) => wanted.compare(earlier).map(Committed::Repeated),
            None => outcome,
        }
    }

    /// The outcomes of the first commands, as many as could be carried out together,
    /// with the version that each was decided on. Whatever is out of the ordinary
    /// ends it, and is left to be carried out alone.
    async fn together(&mut self, waiting: &[Waiting]) -> Vec<(Outcome, u64)> {
        let Gathered { state, verdicts, appends, given } = self.gather(waiting);
        let (count, mut written) = (given.len(), vec![]);
        if count > 0 {
            match self.engine().store.append_all(appends).await {
                Ok(appended) => written = self.take_in(state, given, appended),
                // It may be on the disk all the same, so nothing is tried again.
                Err(error) => {
                    self.doubt(&error);
                    let failed = |(_, on): &(Verdict, u64)| (Err(error.clone().into()), *on);
                    return verdicts.iter().map(failed).collect();
                }
            }
        }
        outcomes(verdicts, written)
    }

    /// Decides each command on what those before it would do.
    fn gather(&self, waiting: &[Waiting]) -> Gathered {
        let mut all =
            Gathered { state: self.work.state.as_deref().cloned(), ..Gathered::default() };
        let (mut version, at) = (self.work.version, self.engine().clock.now());
        let is_shared = self.engine().store.is_shared();
        for Waiting { by, command, .. } in waiting {
            let steps = [Step { command: command.clone(), attempt: None }];
            let decided_on = version;
            match (self.decide(&mut all.state, by, &steps, at), &all.state) {
                (Ok(events), Some(state)) if !events.is_empty() => {
                    version += events.len() as u64;
                    let new = events.iter().map(|(new, _)| new);
                    let append = contained(|| self.append_of(by, &steps, state, new, at));
                    let Ok(append) = append else { return Gathered { state: None, ..all } };
                    let append = Append { expected: decided_on, ..append };
                    let events = events.into_iter().map(|(_, event)| event).collect();
                    all.given.push(Given::of(&append, events));
                    all.appends.push(append);
                    all.verdicts.push((Verdict::Events, decided_on));
                }
                // Others may have written what it should have been decided on.
                (Ok(_) | Err(EngineError::Rejected(_)), _) if is_shared => return all,
                (Ok(_), _) => all.verdicts.push((Verdict::Nothing, decided_on)),
                (Err(EngineError::Rejected(reject)), _) => {
                    all.verdicts.push((Verdict::Refused(reject), decided_on));
                }
                // The state may hold a part of what this one does.
                (Err(_), _) => return Gathered { state: None, ..all },
            }
        }
        all
    }

    /// Moves on by what was written, up to the first that was not.
    fn take_in(
        &mut self,
        state: Option<room::Room>,
        given: Vec<Given>,
        appended: Vec<Appended>,
    ) -> Vec<Vec<Recorded>> {
        let count = given.len();
        let (mut entries, mut recorded): (Vec<Entry>, Vec<Vec<Recorded>>) = Default::default();
        for (given, appended) in given.into_iter().zip(appended) {
            let Appended::Written { version, positions, epoch } = appended else { break };
            let own = given.entries(self.id(), version, positions);
            recorded.push(own.iter().map(Entry::recorded).collect());
            self.engine().count(&own);
            entries.extend(own);
            self.take_role(epoch);
        }
        let all = recorded.len() == count;
        self.advance(&entries, state.filter(|_| all));
        recorded
    }
}

#[derive(Default)]
struct Gathered {
    /// After all of them, if it is known.
    state: Option<room::Room>,
    /// One for each of the first commands, with the version that it was decided on.
    verdicts: Vec<(Verdict, u64)>,
    /// One for each that has events.
    appends: Vec<Append>,
    given: Vec<Given>,
}

enum Verdict {
    Events,
    Nothing,
    Refused(Reject),
}

/// What was decided holds only if all before it was written.
fn outcomes(verdicts: Vec<(Verdict, u64)>, written: Vec<Vec<Recorded>>) -> Vec<(Outcome, u64)> {
    let mut written = written.into_iter();
    let outcome = |(verdict, on)| match verdict {
        Verdict::Nothing => Some((Ok(Committed::Nothing), on)),
        Verdict::Refused(reject) => Some((Err(EngineError::Rejected(reject)), on)),
        Verdict::Events => written.next().map(|own| (Ok(Committed::Written(own)), on)),
    };
    verdicts.into_iter().map_while(outcome).collect()
}
