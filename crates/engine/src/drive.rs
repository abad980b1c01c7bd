//! Keeps what is due under way: starts the calls that should run and do not,
//! cancels those that run and should not, and hands their text back in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures::{FutureExt, StreamExt, stream};
use plenary_domain::room::{Command, Room};
use plenary_domain::{
    Amount, Ask, Call, CallId, Failure, FailureKind, Ledger, Outcome, SessionId, Taken, Timestamp,
    Usage, Work, limits,
};
use tokio::task::JoinHandle;

use crate::attempt;
use crate::engine::{Engine, EngineError};
use crate::ports::{AttemptEnd, AttemptRow, AttemptState, ErrandError, StoreError};
use crate::session::{Held, Kind, Role, Seat, Session, Task};
use crate::submit::{self, By, Committed, ENGINE, Step, contained, through};

/// How long a store that fails is left alone before it is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Engine {
    /// Goes on with one session, if anything is due in it.
    pub async fn resume(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let engine = self.clone();
        through(async move {
            engine.ensure_lease().await?;
            engine.take_over(id).await
        })
        .await
    }

    /// Drops every call without a word and leaves all to others: what is due is due
    /// again elsewhere, or after a restart.
    pub async fn shut_down(self: &Arc<Self>) {
        self.node.end();
        // At once: a session whose lock is held must not keep the others running.
        self.node.end_term();
        let ids: Vec<SessionId> = self.sessions().keys().copied().collect();
        let given_back = self.unless_silent(async {
            for id in ids {
                self.hold(id).await.step_down();
            }
            self.store.retire(&self.node.name).await
        });
        if let Err(error) = given_back.await {
            tracing::warn!(%error, "what this node drove could not be given back");
        }
    }

    /// Becomes the driver unless another living node is, and does what is due.
    pub(crate) async fn take_over(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let mut held = self.hold(id).await;
        if self.node.is_over() {
            return Ok(());
        }
        // To claim it once more would fence off the calls that are under way.
        if held.work.role == Role::Following {
            let claimed = self.store.claim(&self.node.name, &[id]).await?;
            let Some((_, epoch)) = claimed.first() else { return Ok(()) };
            return held.take_up(*epoch).await;
        }
        held.work.unsettled = true;
        held.reconcile().await;
        Ok(())
    }

    /// The same for several, which are claimed together. What somebody is at or this node
    /// drives already is left alone.
    pub(crate) async fn take_over_some(
        self: &Arc<Self>,
        ids: &[SessionId],
    ) -> Result<(), EngineError> {
        let held = ids.iter().filter_map(|id| self.try_to_hold(*id));
        let held: Vec<Held> = held.filter(|held| held.work.role == Role::Following).collect();
        let ids: Vec<SessionId> = held.iter().map(Held::id).collect();
        if ids.is_empty() || self.node.is_over() {
            return Ok(());
        }
        let claimed: BTreeMap<_, _> =
            self.store.claim(&self.node.name, &ids).await?.into_iter().collect();
        let taken = held.into_iter().filter_map(|held| Some((*claimed.get(&held.id())?, held)));
        let taking_up =
            stream::iter(taken).for_each_concurrent(limits::TAKEN_UP, |(epoch, mut held)| {
                let id = held.id();
                self.unless_broken(id, async move { held.take_up(epoch).await })
            });
        taking_up.await;
        Ok(())
    }

    /// Not async, because a call's end may start the next call: the types of the
    /// two futures would contain each other.
    fn start(
        self: &Arc<Self>,
        held: &Held,
        epoch: u64,
        call: CallId,
        work: Doing,
    ) -> JoinHandle<()> {
        let (id, term) = (held.id(), self.node.term.load(Relaxed));
        let running = Running { id, epoch, call, term };
        let own = Own { session: held.session.clone(), _seat: Seat { engine: self.clone(), id } };
        tokio::spawn(self.clone().run(own, running, work))
    }

    /// One call from its start to its outcome.
    async fn run(self: Arc<Self>, own: Own, running: Running, work: Doing) {
        let session = &own.session;
        let mut over = std::pin::pin!(self.node.term_over.notified());
        over.as_mut().enable();
        if self.node.term.load(Relaxed) != running.term {
            return;
        }
        let working = async {
            let asked = match work {
                Doing::Asking(Words::Rendered(ask)) => Some(*ask),
                Doing::Asking(Words::Of(state)) => state.ask(&running.call),
                Doing::Errand(state) => return self.send_for(session, &running, &state).await,
            };
            let Some(ask) = asked else {
                return Some(broken(session, &running.call, "it has no words"));
            };
            self.ask(session, &running, ask).await
        };
        let ended = std::panic::AssertUnwindSafe(working).catch_unwind();
        let ended = tokio::select! {
            biased;
            // Whoever held the lease then steps down, and takes this call out.
            () = over => return,
            ended = ended => ended,
        };
        let outcome = match ended {
            Ok(outcome) => outcome,
            Err(panic) => Some(broken(session, &running.call, &submit::words(&*panic))),
        };
        match outcome {
            Some((outcome, attempt)) => self.hand_in(session, &running, outcome, attempt).await,
            None => {
                let mut held = self.hold(running.id).await;
                if held.work.role.epoch() == Some(running.epoch) {
                    held.step_down();
                }
            }
        }
    }

    /// A call cannot begin before it is recorded: a store that fails for a while
    /// is waited for. `None`: another node has the session.
    async fn ask(
        self: &Arc<Self>,
        session: &Arc<Session>,
        running: &Running,
        ask: Ask,
    ) -> Option<(Outcome, Option<AttemptEnd>)> {
        let Running { id, epoch, call, .. } = running;
        let mut pause = FIRST_PAUSE;
        let mut before = attempt::Before::default();
        loop {
            let is_secret = session.shown().is_some_and(|shown| shown.room.is_secret());
            let (id, epoch) = (*id, *epoch);
            let asking = attempt::Asking { engine: self, room: session, id, epoch, is_secret };
            match asking.run(call, ask.clone(), &mut before).await {
                Ok(outcome) => return Some(outcome),
                Err(StoreError::Fenced) => {
                    self.meter.fenced.fetch_add(1, Relaxed);
                    tracing::warn!(session = %id, %call, "another node has this call");
                    return None;
                }
                Err(error) => {
                    tracing::error!(session = %id, %call, %error, "a call cannot begin yet");
                }
            }
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// An errand may be run any number of times, so nothing of it is recorded before its
    /// end. What fails here and will pass is waited for.
    async fn send_for(
        &self,
        session: &Session,
        running: &Running,
        state: &Room,
    ) -> Option<(Outcome, Option<AttemptEnd>)> {
        let Running { id, call, .. } = running;
        let Some(errand) = state.errand(call) else {
            return Some(broken(session, call, "it has no errand"));
        };
        let Some(errands) = self.errands.get() else {
            let message = "Steps of workflows cannot be carried out here.".to_owned();
            return Some((failed_errand(FailureKind::Misconfigured, message), None));
        };
        let (mut pause, mut passing) = (FIRST_PAUSE, 0);
        loop {
            let problem = match errands.run(*id, errand.clone()).await {
                Ok(brought) => return Some((Outcome::Brought(brought), None)),
                Err(ErrandError::Passing(failure)) if passing < limits::ERRAND_AGAIN => {
                    if passing == 0 {
                        pause = FIRST_PAUSE;
                    }
                    passing += 1;
                    failure.message
                }
                Err(ErrandError::Failed(failure) | ErrandError::Passing(failure)) => {
                    return Some((Outcome::Failed { failure, partial: String::new() }, None));
                }
                Err(ErrandError::Later(problem)) => problem,
            };
            tracing::warn!(session = %id, %call, problem, "an errand cannot be done yet");
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// An outcome is worth money: a store that fails for a while is waited for.
    async fn hand_in(
        self: &Arc<Self>,
        session: &Session,
        running: &Running,
        mut outcome: Outcome,
        mut attempt: Option<AttemptEnd>,
    ) {
        let (mut pause, mut is_broken) = (FIRST_PAUSE, false);
        loop {
            let settled = self.settle(running, outcome.clone(), attempt.clone()).await;
            let Err(error) = settled else { return };
            let Running { id, call, .. } = running;
            tracing::error!(session = %id, %call, %error, "an outcome could not be kept yet");
            if let EngineError::Broken(words) = error {
                // The rules fail on this outcome, and would again; perhaps not on a failure.
                if std::mem::replace(&mut is_broken, true) {
                    return;
                }
                (outcome, attempt) = broken(session, call, &words);
                continue;
            }
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// A call that this node has begun.
pub(crate) struct Running {
    pub id: SessionId,
    pub epoch: u64,
    pub call: CallId,
    term: u64,
}

/// What a call that starts is to do.
enum Doing {
    Asking(Words),
    Errand(Arc<Room>),
}

/// What a call asks: rendered when it starts, unless that was needed to know what it may
/// spend.
enum Words {
    Of(Arc<Room>),
    Rendered(Box<Ask>),
}

/// Whether a call may start.
enum Admitted {
    Now(Doing, Amount),
    /// What others have reserved and will not need may leave room for it.
    Later,
    Never(Box<Step>),
}

/// The session of a call. Fields are dropped in this order, also when the call is
/// cancelled: the session before the seat, which then finds that nobody holds it.
struct Own {
    session: Arc<Session>,
    _seat: Seat,
}

/// What becomes of a call whose task panicked.
fn broken(session: &Session, call: &CallId, words: &str) -> (Outcome, Option<AttemptEnd>) {
    tracing::error!(%call, words, "a call panicked");
    let spent = session.live.spent(call);
    let (number, partial) = match session.live.end(call) {
        Some((number, partial, _)) => (number, partial),
        None => (0, String::new()),
    };
    let failure = Failure {
        kind: FailureKind::Internal,
        message: "Plenary hit an internal error; see its log.".into(),
        attempts: number.max(1),
        usage: spent.all(),
    };
    let end = ended(call, number, AttemptState::Failed, spent.attempt);
    (Outcome::Failed { failure, partial }, end)
}

fn failed_errand(kind: FailureKind, message: String) -> Outcome {
    let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
    Outcome::Failed { failure, partial: String::new() }
}

/// The end of an attempt, if there was one.
fn ended(call: &CallId, number: u32, state: AttemptState, usage: Usage) -> Option<AttemptEnd> {
    let call = call.clone();
    (number > 0).then_some(AttemptEnd { call, number, state, usage })
}

impl Held {
    /// Goes on with a session that was claimed. One that cannot be taken up whole is left
    /// to others, and to the next look.
    async fn take_up(&mut self, epoch: u64) -> Result<(), EngineError> {
        if self.engine().node.is_over() {
            return Ok(());
        }
        self.work.role = Role::Driving { epoch };
        self.engine().meter.takeovers.fetch_add(1, Relaxed);
        if let Err(error) = self.read_up().await {
            self.give_back().await;
            return Err(error);
        }
        self.work.unsettled = true;
        self.reconcile().await;
        Ok(())
    }

    async fn read_up(&mut self) -> Result<(), EngineError> {
        self.load().await?;
        self.hand_in_drafts().await
    }

    /// A crash may have come between a stop and the partial text that belongs to
    /// it; the draft of such a call is the text.
    async fn hand_in_drafts(&mut self) -> Result<(), EngineError> {
        let id = self.id();
        // Others may stop a call while those before are handed in, so it is looked again.
        for _ in 0..limits::DECISIONS {
            let left = Left::of(self.engine(), id).await?;
            let due = self.work.state.as_ref().map(|state| state.due()).unwrap_or_default();
            let mut steps = vec![];
            for (call, partial) in &left.drafts {
                if due.iter().any(|due| due.id == *call) {
                    self.work.cut_off.insert(call.clone());
                    continue;
                }
                let (partial, usage) = (partial.clone(), left.usage(call));
                let outcome = Outcome::Stopped { partial, usage };
                let command = Command::Settle { call: call.clone(), outcome };
                steps.push(Step { command, attempt: left.end(call) });
            }
            if steps.is_empty() {
                return Ok(());
            }
            match self.commit(&By::actor(ENGINE), steps.clone()).await {
                Ok(Committed::Written(_)) => {}
                Ok(_) | Err(EngineError::Rejected(_)) => self.let_end(&steps).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Contended)
    }

    /// Nobody waits for these outcomes any more; their attempts have ended all the same.
    pub async fn let_end(&self, steps: &[Step]) -> Result<(), StoreError> {
        let Some(epoch) = self.work.role.epoch() else { return Ok(()) };
        for end in steps.iter().filter_map(|step| step.attempt.clone()) {
            self.engine().store.end_attempt(self.id(), epoch, end).await?;
        }
        Ok(())
    }

    /// Makes what is running equal to what is due, on the state as it is after the last
    /// event. Only a driver does.
    pub async fn reconcile(&mut self) {
        while std::mem::take(&mut self.work.unsettled) {
            if self.engine().node.is_over() {
                return;
            }
            let Some(state) = self.work.state.clone() else { return };
            let Ok(mut due) = contained(|| state.due()) else {
                let session = self.id();
                return tracing::error!(%session, "the rules failed: nothing of it can go on");
            };
            let Role::Driving { epoch } = self.work.role else { return self.sleep(&due) };
            let now = self.engine().clock.now();
            let mut steps = std::mem::take(&mut self.work.owed);
            match self.cancel(&due).await {
                Ok(cancelled) => steps.extend(cancelled),
                Err(error) => return self.owe(steps, &error),
            }
            steps.extend(due.iter().filter(|call| is_over(call, now)).map(elapsed));
            if !steps.is_empty() {
                let ended = match self.commit(&By::actor(ENGINE), steps.clone()).await {
                    Ok(Committed::Written(_)) => continue,
                    Ok(_) | Err(EngineError::Rejected(_)) => self.let_end(&steps).await,
                    // Trying again would not help these; the others go on without them.
                    Err(EngineError::Broken(words)) => {
                        let session = self.id();
                        tracing::error!(%session, words, "the rules failed on what has ended");
                        let is_named = |call: &Call| steps.iter().any(|step| step.is_of(&call.id));
                        due.retain(|call| !is_over(call, now) && !is_named(call));
                        self.let_end(&steps).await
                    }
                    Err(EngineError::Store(error)) => Err(error),
                    Err(error) => Err(StoreError::Failed(error.to_string())),
                };
                match ended {
                    // Others have written meanwhile, so what is due may be something else.
                    Ok(()) if self.work.unsettled => continue,
                    Ok(()) => {}
                    Err(StoreError::Fenced) => return self.step_down(),
                    Err(error) => return self.owe(steps, &error),
                }
            }
            self.engine().come_back(self.id(), first_wake(&due), true);
            for Call { id, work } in due {
                let kind = match work {
                    Work::Ask => Kind::Ask,
                    Work::Errand => Kind::Errand,
                    Work::Sleep { .. } => continue,
                };
                if let Some(task) = self.work.running.get_mut(&id) {
                    // One that began before there was a limit counts from now on.
                    if task.reserved == Amount::default() && state.is_bounded(&id) {
                        task.reserved = contained(|| state.reservation(&id)).unwrap_or_default();
                    }
                    continue;
                }
                let admitted = match kind {
                    Kind::Ask => self.admit(&state, &id).await,
                    Kind::Errand => {
                        Ok(Admitted::Now(Doing::Errand(state.clone()), Amount::default()))
                    }
                };
                let (work, reserved) = match admitted {
                    Ok(Admitted::Now(work, reserved)) => (work, reserved),
                    Ok(Admitted::Later) => continue,
                    Ok(Admitted::Never(step)) => {
                        self.work.owed.push(*step);
                        self.work.unsettled = true;
                        continue;
                    }
                    Err(error) => {
                        let owed = std::mem::take(&mut self.work.owed);
                        return self.owe(owed, &error);
                    }
                };
                self.work.cut_off.remove(&id);
                let handle = self.engine().start(self, epoch, id.clone(), work);
                self.work.running.insert(id, Task { handle, kind, reserved });
            }
            self.show_reserved();
        }
    }

    /// Reserves what a call may spend, on a session that has a budget.
    async fn admit(&mut self, state: &Arc<Room>, call: &CallId) -> Result<Admitted, StoreError> {
        if !state.is_bounded(call) {
            let words = Words::Of(state.clone());
            return Ok(Admitted::Now(Doing::Asking(words), Amount::default()));
        }
        // One that has no words, or whose rules fail, is settled by whoever runs it.
        let Ok(Some(ask)) = contained(|| state.ask(call)) else {
            let words = Words::Of(state.clone());
            return Ok(Admitted::Now(Doing::Asking(words), Amount::default()));
        };
        // One that a restart cut off has what there was before it.
        let left = match self.work.cut_off.contains(call) {
            true => Left::of(self.engine(), self.id()).await?,
            false => Left::default(),
        };
        let (partial, usage) = (left.text(call), left.usage(call));
        let requests = left.attempts(call).count() as u32;
        let taken = Taken { usage, requests, brought: partial.len(), ms: 0 };
        let message = match state.reserve(call, &ask, self.reserved_beside(call), taken) {
            Ok(reserved) => {
                let words = Words::Rendered(Box::new(ask));
                return Ok(Admitted::Now(Doing::Asking(words), reserved));
            }
            Err(_) if self.may_come_back(state) => return Ok(Admitted::Later),
            Err(shortage) => shortage.in_words(),
        };
        self.work.cut_off.remove(call);
        let failure = Failure { kind: FailureKind::OutOfBudget, message, attempts: 0, usage };
        let outcome = Outcome::Failed { failure, partial };
        let command = Command::Settle { call: call.clone(), outcome };
        Ok(Admitted::Never(Box::new(Step { command, attempt: left.end(call) })))
    }

    /// Whether others keep something of the budget that they may not need.
    fn may_come_back(&self, state: &Room) -> bool {
        let promised = state.ledger().map(Ledger::promised).unwrap_or_default();
        promised != Amount::default()
            || self.work.running.values().any(|task| task.kind == Kind::Ask)
    }

    /// Reserves another request of a call that has taken this much already.
    pub fn reserve_again(&mut self, call: &CallId, ask: &Ask, taken: Taken) -> bool {
        let Some(state) = self.work.state.clone() else { return false };
        if !state.is_bounded(call) {
            return true;
        }
        let beside = self.reserved_beside(call);
        let reserved = state.reserve(call, ask, beside, taken);
        match (reserved, self.work.running.get_mut(call)) {
            (Ok(reserved), Some(own)) => {
                own.reserved = reserved;
                self.show_reserved();
                true
            }
            (Err(_), _) | (_, None) => false,
        }
    }

    fn reserved_beside(&self, call: &CallId) -> Amount {
        let others = self.work.running.iter().filter(|(other, _)| *other != call);
        others.fold(Amount::default(), |sum, (_, other)| sum.plus(other.reserved))
    }

    fn show_reserved(&self) {
        let all = self.work.running.values().map(|task| task.reserved);
        self.session.live.reserve(all.fold(Amount::default(), Amount::plus));
    }

    /// Whoever looks round tries again.
    fn owe(&mut self, steps: Vec<Step>, error: &StoreError) {
        tracing::error!(session = %self.id(), %error, "partial text could not be kept yet");
        self.work.owed = steps;
        self.work.unsettled = true;
    }

    /// Nothing is done here; what is due at a time will be.
    fn sleep(&self, due: &[Call]) {
        self.show_reserved();
        self.engine().come_back(self.id(), first_wake(due), false);
    }

    /// Cancels what runs and is no longer due, and waits until it has ended. Dropping
    /// a task drops its request. That comes first: whatever the store takes to say what
    /// there was before, nobody is asked meanwhile.
    async fn cancel(&mut self, due: &[Call]) -> Result<Vec<Step>, StoreError> {
        let is_due = |call: &CallId| due.iter().any(|due| due.id == *call);
        let over = self.work.running.keys().filter(|call| !is_due(call));
        for call in over.cloned().collect::<Vec<_>>() {
            let Some(Task { handle, kind, .. }) = self.work.running.remove(&call) else { continue };
            handle.abort();
            // What it was about to write is written now or never.
            let _ = handle.await;
            if kind == Kind::Ask {
                self.work.cut_off.insert(call);
            }
        }
        let over = self.work.cut_off.iter().filter(|call| !is_due(call));
        let over: Vec<CallId> = over.cloned().collect();
        // One that has not begun has what there was before a restart.
        let has_not_begun = |call: &CallId| self.session.live.underway(call).is_none();
        let left = match over.iter().any(has_not_begun) {
            true => Left::of(self.engine(), self.id()).await?,
            false => Left::default(),
        };
        let mut steps = vec![];
        for call in over {
            self.work.cut_off.remove(&call);
            let spent = self.session.live.spent(&call);
            let (number, partial, usage) = match self.session.live.end(&call) {
                Some((number, partial, _)) => (number, partial, spent.all()),
                None => (0, left.text(&call), left.usage(&call)),
            };
            let attempt = ended(&call, number, AttemptState::Stopped, spent.attempt);
            let outcome = Outcome::Stopped { partial, usage };
            steps.push(Step { command: Command::Settle { call, outcome }, attempt });
        }
        Ok(steps)
    }
}

/// What earlier attempts at the calls of a session have left behind.
#[derive(Default)]
struct Left {
    drafts: Vec<(CallId, String)>,
    attempts: Vec<AttemptRow>,
}

impl Left {
    async fn of(engine: &Engine, id: SessionId) -> Result<Left, StoreError> {
        let drafts = engine.store.drafts(id).await?;
        if drafts.is_empty() {
            return Ok(Left::default());
        }
        Ok(Left { drafts, attempts: engine.store.attempts(id).await? })
    }

    fn text(&self, call: &CallId) -> String {
        let own = self.drafts.iter().find(|(other, _)| other == call);
        own.map(|(_, text)| text.clone()).unwrap_or_default()
    }

    fn attempts(&self, call: &CallId) -> impl Iterator<Item = &AttemptRow> {
        self.attempts.iter().filter(move |row| row.call == *call)
    }

    /// The end of the last attempt.
    fn end(&self, call: &CallId) -> Option<AttemptEnd> {
        let last = self.attempts(call).map(|row| row.number).max()?;
        ended(call, last, AttemptState::Stopped, Usage::default())
    }

    fn usage(&self, call: &CallId) -> Usage {
        self.attempts(call).fold(Usage::default(), |sum, row| sum.plus(row.usage))
    }
}

fn first_wake(due: &[Call]) -> Option<Timestamp> {
    let until = |call: &Call| match call.work {
        Work::Ask | Work::Errand => None,
        Work::Sleep { until } => Some(until),
    };
    due.iter().filter_map(until).min()
}

fn is_over(call: &Call, now: Timestamp) -> bool {
    matches!(call.work, Work::Sleep { until } if until <= now)
}

fn elapsed(call: &Call) -> Step {
    let command = Command::Settle { call: call.id.clone(), outcome: Outcome::Elapsed };
    Step { command, attempt: None }
}
