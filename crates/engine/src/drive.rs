//! Keeps what is due under way: starts the calls that should run and do not,
//! cancels those that run and should not, and hands their text back in.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::room::Command;
use plenary_domain::{Ask, Call, CallId, Outcome, SessionId, Usage, Work};

use tokio::task::JoinHandle;

use crate::attempt;
use crate::engine::{Engine, EngineError, Room, Workings};
use crate::ports::{AttemptEnd, AttemptState, StoreError};
use crate::submit::{By, Step, through};

/// How long a store that fails is left alone before it is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

impl Engine {
    /// Takes over every session in which something is due, and goes on with it.
    /// Returns how many there were.
    pub async fn resume_all(self: &Arc<Self>) -> Result<usize, EngineError> {
        let claimed = self.store.claim(&self.owner, None).await?;
        for (id, epoch) in &claimed {
            // One that cannot be read must not keep the others from going on.
            if let Err(error) = self.take_over(*id, Some(*epoch)).await {
                tracing::error!(session = %id, %error, "a session could not go on");
            }
        }
        Ok(claimed.len())
    }

    /// Goes on with one session, if anything is due in it.
    pub async fn resume(self: &Arc<Self>, id: SessionId) -> Result<(), EngineError> {
        let engine = self.clone();
        through(async move { engine.take_over(id, None).await }).await
    }

    /// Drops every call without a word: after a restart they are due again.
    pub async fn shut_down(&self) {
        let rooms: Vec<Arc<Room>> = self.rooms().values().cloned().collect();
        for room in rooms {
            let mut work = room.work.lock().await;
            work.running.drain().for_each(|(_, handle)| handle.abort());
            work.epoch = None;
        }
    }

    async fn take_over(
        self: &Arc<Self>,
        id: SessionId,
        claimed: Option<u64>,
    ) -> Result<(), EngineError> {
        let room = self.room(id);
        let mut work = room.work.lock().await;
        let result = self.go_on(id, &room, &mut work, claimed).await;
        drop(work);
        drop(room);
        self.forget_if_idle(id);
        result
    }

    async fn go_on(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
        claimed: Option<u64>,
    ) -> Result<(), EngineError> {
        work.epoch = match (claimed, work.epoch) {
            (Some(epoch), _) => Some(epoch),
            // To claim it once more would fence off the calls that are under way.
            (None, Some(_)) => {
                self.reconcile(id, room, work).await;
                return Ok(());
            }
            (None, None) => {
                let claimed = self.store.claim(&self.owner, Some(id)).await?;
                Some(claimed.first().ok_or(EngineError::NotFound(id))?.1)
            }
        };
        self.load(id, work).await?;
        self.hand_in_drafts(id, room, work).await?;
        self.reconcile(id, room, work).await;
        Ok(())
    }

    /// A crash may have come between a stop and the partial text that belongs to
    /// it; the draft of such a call is the text.
    async fn hand_in_drafts(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
    ) -> Result<(), EngineError> {
        let Some(state) = work.state.clone() else { return Ok(()) };
        let due: Vec<CallId> = state.due().into_iter().map(|call| call.id).collect();
        for (call, partial) in self.store.drafts(id).await? {
            if !due.contains(&call) {
                let command = Command::Settle { call, outcome: Outcome::Stopped { partial } };
                let step = Step { command, attempt: None };
                match self.commit(id, room, work, &By::actor("engine"), vec![step]).await {
                    Ok(_) | Err(EngineError::Rejected(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Makes what is running equal to what is due. Called after every change,
    /// with the room locked.
    pub(crate) async fn reconcile(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        work: &mut Workings,
    ) {
        let Some(state) = work.state.clone() else { return };
        let due = state.due();
        let cancelled = cancel(room, work, &due).await;
        if !cancelled.is_empty() {
            let by = By::actor("engine");
            if let Err(error) = self.commit(id, room, work, &by, cancelled).await
                && !matches!(error, EngineError::Rejected(_))
            {
                tracing::error!(session = %id, %error, "partial text could not be kept");
            }
        }
        let missing: Vec<Call> =
            due.into_iter().filter(|call| !work.running.contains_key(&call.id)).collect();
        if missing.is_empty() {
            return;
        }
        let Some(epoch) = self.epoch(id, work).await else { return };
        for call in missing {
            let name = call.id.clone();
            let handle = self.start(id, room.clone(), epoch, state.clone(), call);
            work.running.insert(name, handle);
        }
    }

    /// The epoch under which this process drives the session.
    async fn epoch(&self, id: SessionId, work: &mut Workings) -> Option<u64> {
        if work.epoch.is_none() {
            match self.store.claim(&self.owner, Some(id)).await {
                Ok(claimed) => work.epoch = claimed.first().map(|(_, epoch)| *epoch),
                Err(error) => {
                    tracing::error!(session = %id, %error, "the session could not be taken over");
                }
            }
        }
        work.epoch
    }

    /// Not async, because a call's end may start the next call: the types of the
    /// two futures would contain each other.
    fn start(
        self: &Arc<Self>,
        id: SessionId,
        room: Arc<Room>,
        epoch: u64,
        state: Arc<plenary_domain::Room>,
        call: Call,
    ) -> JoinHandle<()> {
        tokio::spawn(self.clone().run(id, room, epoch, state, call))
    }

    /// One call from its start to its outcome.
    async fn run(
        self: Arc<Self>,
        id: SessionId,
        room: Arc<Room>,
        epoch: u64,
        state: Arc<plenary_domain::Room>,
        call: Call,
    ) {
        let (outcome, attempt) = match call.work {
            Work::Sleep { until } => {
                self.clock.sleep_until(until).await;
                (Outcome::Elapsed, None)
            }
            Work::Ask => {
                let Some(ask) = state.ask(&call.id) else { return };
                drop(state);
                match self.ask(id, &room, epoch, &call.id, ask).await {
                    Some(outcome) => outcome,
                    None => {
                        room.work.lock().await.running.remove(&call.id);
                        drop(room);
                        return self.forget_if_idle(id);
                    }
                }
            }
        };
        self.hand_in(id, &room, call.id, outcome, attempt).await;
        drop(room);
        self.forget_if_idle(id);
    }

    /// A call cannot begin before it is recorded: a store that fails for a while
    /// is waited for. `None`: another driver has the session.
    async fn ask(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        epoch: u64,
        call: &CallId,
        ask: Ask,
    ) -> Option<(Outcome, Option<AttemptEnd>)> {
        let mut pause = FIRST_PAUSE;
        loop {
            let asking = attempt::Asking { engine: self, room, id, epoch };
            match asking.run(call, ask.clone()).await {
                Ok(outcome) => return Some(outcome),
                Err(StoreError::Fenced) => {
                    tracing::warn!(session = %id, %call, "another driver has this call");
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

    /// An outcome is worth money: a store that fails for a while is waited for.
    async fn hand_in(
        self: &Arc<Self>,
        id: SessionId,
        room: &Arc<Room>,
        call: CallId,
        outcome: Outcome,
        attempt: Option<AttemptEnd>,
    ) {
        let mut pause = FIRST_PAUSE;
        loop {
            let settled =
                self.settle(id, room, call.clone(), outcome.clone(), attempt.clone()).await;
            let Err(error) = settled else { return };
            tracing::error!(session = %id, %call, %error, "an outcome could not be kept yet");
            self.clock.sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Cancels what runs and is no longer due, and waits until it has ended. Dropping
/// a task drops its request.
async fn cancel(room: &Room, work: &mut Workings, due: &[Call]) -> Vec<Step> {
    let over: Vec<CallId> = work
        .running
        .keys()
        .filter(|running| !due.iter().any(|call| call.id == **running))
        .cloned()
        .collect();
    let mut steps = vec![];
    for call in over {
        if let Some(handle) = work.running.remove(&call) {
            handle.abort();
            // What it was about to write is written now or never.
            let _ = handle.await;
        }
        // A sleep has no text, and a call that never began has none yet.
        let (number, partial) = match room.live.end(&call) {
            Some((number, partial, _)) => (number, partial),
            None => (0, String::new()),
        };
        let attempt = (number > 0).then(|| AttemptEnd {
            call: call.clone(),
            number,
            state: AttemptState::Stopped,
            usage: Usage::default(),
        });
        let command = Command::Settle { call, outcome: Outcome::Stopped { partial } };
        steps.push(Step { command, attempt });
    }
    steps
}
