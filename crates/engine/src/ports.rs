//! What the engine needs from outside: a log, models, whoever runs errands, a clock.

use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use plenary_domain::{
    Ask, CallId, Errand, Failure, FailureKind, ModelName, Quote, SessionId, Source, Timestamp,
    Usage, room,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::live::{Delta, Retrying};

// ---------------------------------------------------------------------------
// The log

/// The log of all sessions. Every method that writes returns after the write is
/// durable: a power cut right after it loses nothing.
#[async_trait]
pub trait Store: Send + Sync {
    /// Opens a session or adds to one, in one transaction: events, list columns,
    /// search text, the ends of attempts, and the idempotency record.
    async fn append(&self, append: Append) -> Result<Appended, StoreError>;

    /// Appends one after the other in one transaction, each as `append` would, up to
    /// the first that is not written; those after it are left out. Answers for all
    /// that were tried. After `NotWritten` none of them was carried out; after another
    /// error all of them may have been.
    async fn append_all(&self, appends: Vec<Append>) -> Result<Vec<Appended>, StoreError>;

    /// The session of this kind with this name, or `None`.
    async fn named(&self, kind: &str, name: &str) -> Result<Option<SessionId>, StoreError>;

    /// The session's row, or `None`.
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError>;

    /// Events after a version, in order, at most `limit`.
    async fn events(
        &self,
        id: SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError>;

    /// Listed events of all sessions after a position, in order, at most `limit`. Where
    /// others write too, only those before which none can come any more: whoever goes on
    /// after the last one misses nothing.
    async fn events_of_all(&self, after: u64, limit: u32) -> Result<Vec<StoredEvent>, StoreError>;

    /// The position of the newest listed event of all sessions that `events_of_all`
    /// would tell of; 0 when there is none.
    async fn position(&self) -> Result<u64, StoreError>;

    /// Sessions, newest first.
    async fn list(&self, query: ListQuery) -> Result<ListPage, StoreError>;

    /// Gives a session another title in lists, or its own again, and pins it or not. That
    /// is no part of what happened in it: nothing is added to the log, and its time of
    /// change stays. False: there was none.
    async fn label(&self, id: SessionId, label: Label) -> Result<bool, StoreError>;

    /// Removes a session and everything of it. False: there was none. The id and
    /// the name are never used again.
    async fn remove(&self, id: SessionId) -> Result<bool, StoreError>;

    /// Whether another process may write to the log while this one runs.
    fn is_shared(&self) -> bool;

    /// Sessions that other processes have written to. Some may be missed: `versions` is
    /// the truth.
    fn changes(&self) -> BoxStream<'static, SessionId>;

    /// The versions of those of these sessions that are there.
    async fn versions(&self, ids: &[SessionId]) -> Result<Vec<(SessionId, u64)>, StoreError>;

    /// This node lives, and drives what it drives, for so long from now on. Others may
    /// reach it at its address, if it has one.
    async fn renew(
        &self,
        node: &str,
        address: Option<&str>,
        lease: Duration,
    ) -> Result<(), StoreError>;

    /// The living node that drives a session, if one does.
    async fn driver(&self, id: SessionId) -> Result<Option<Driver>, StoreError>;

    /// This node will end soon, which whoever asks for `nodes` is told.
    async fn drain(&self, node: &str) -> Result<(), StoreError>;

    /// This node ends: whatever it drives is free at once.
    async fn retire(&self, node: &str) -> Result<(), StoreError>;

    /// The nodes that live, and those of the last hour that ended without a word, the
    /// oldest first.
    async fn nodes(&self) -> Result<Vec<NodeRow>, StoreError>;

    /// What this node could go on with: sessions in which something is due by now, or
    /// that have a draft, and that no other living node drives. In order after an id, at
    /// most `limit`.
    async fn waiting(
        &self,
        node: &str,
        now: Timestamp,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Waiting, StoreError>;

    /// Takes those of these sessions over that no other living node drives: raises each
    /// one's epoch, so that a former driver's late writes match no row.
    async fn claim(
        &self,
        node: &str,
        ids: &[SessionId],
    ) -> Result<Vec<(SessionId, u64)>, StoreError>;

    /// This driver cannot go on with a session, so that it is free at once. Nothing
    /// happens where the epoch is stale.
    async fn release(&self, id: SessionId, epoch: u64) -> Result<(), StoreError>;

    /// Records that a model is about to be asked, and returns the number of this
    /// attempt at this call, counted from 1 over all restarts. `ended` says how
    /// the attempt before it ended; where that took something the call has a draft from
    /// then on, so that what it took is handed in whatever happens. A stale epoch is
    /// refused.
    async fn begin_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        ended: Option<AttemptEnd>,
    ) -> Result<u32, StoreError>;

    /// All attempts of a session, by call and number.
    async fn attempts(&self, id: SessionId) -> Result<Vec<AttemptRow>, StoreError>;

    /// Keeps the partial text of a running call. It is removed when the call's
    /// attempt ends in an append.
    async fn save_draft(
        &self,
        id: SessionId,
        epoch: u64,
        call: &CallId,
        text: &str,
    ) -> Result<(), StoreError>;

    /// Says how the last attempt at a call ended whose outcome nobody waits for any more,
    /// and forgets its partial text.
    async fn end_attempt(
        &self,
        id: SessionId,
        epoch: u64,
        end: AttemptEnd,
    ) -> Result<(), StoreError>;

    async fn drafts(&self, id: SessionId) -> Result<Vec<(CallId, String)>, StoreError>;

    /// What an earlier request with this key was answered, if there was one.
    async fn idempotent(
        &self,
        principal: &str,
        key: &str,
    ) -> Result<Option<IdempotentAnswer>, StoreError>;

    /// Random bytes that were made with the log and never change. They are for
    /// deriving what nobody outside may work out, and are never shown.
    async fn secret(&self) -> Result<[u8; 32], StoreError>;

    /// What its connections are doing, where it has any.
    fn figures(&self) -> StoreFigures {
        StoreFigures::default()
    }

    /// Writes something that nobody reads and waits for the disk: whether the store can
    /// keep what it is given.
    async fn check(&self) -> Result<(), StoreError>;
}

#[derive(Clone, Debug)]
pub struct Append {
    pub session: SessionId,
    /// The version that the decision was made on; 0 opens the session.
    pub expected: u64,
    /// Set by a driver: the append is refused unless it still holds the session.
    pub epoch: Option<u64>,
    pub kind: &'static str,
    /// Unique within the kind, for ever. Only an append that opens sets the name
    /// and the project.
    pub name: Option<String>,
    pub project: Option<String>,
    /// Set by an append that opens, like the name.
    pub imported: bool,
    pub title: String,
    pub status: &'static str,
    pub active: bool,
    pub waits_for: Vec<String>,
    pub actor: String,
    /// The row's time of change too, unless no event of this append is listed.
    pub at: Timestamp,
    /// At least one.
    pub events: Vec<NewEvent>,
    pub attempts: Vec<AttemptEnd>,
    pub idempotency: Option<Idempotency>,
    /// The node that should drive the session from now on, because something is due in
    /// it. It gets it unless another living node has it. `None` from whoever drives it
    /// sets it free.
    pub driver: Option<String>,
    /// When something will be due, if nothing is before.
    pub wake_at: Option<Timestamp>,
}

/// What is to be changed of how lists show a session.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// `Some(None)`: its own title again.
    pub title: Option<Option<String>>,
    pub pinned: Option<bool>,
}

/// A node that drives a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driver {
    pub node: String,
    pub address: Option<String>,
}

/// A process that drives sessions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeRow {
    pub name: String,
    pub since: Timestamp,
    /// Zero: others take over what it drove.
    pub lease_left_ms: u64,
    /// Sessions that it drives.
    pub driving: u64,
    pub draining: bool,
    /// The newest change of the tables that its program knows.
    pub schema: u64,
    /// The version of its program.
    pub program: Option<String>,
    /// Where other nodes reach it.
    pub address: Option<String>,
}

/// The connections of a store that is elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreFigures {
    /// Connections that were made, and that could not be made.
    pub connects: u64,
    pub connect_failures: u64,
    /// Connections for questions that are in use, and that wait for one.
    pub busy: u64,
    pub idle: u64,
    /// Notices of what others write arrive.
    pub listening: bool,
}

/// What could be gone on with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waiting {
    pub sessions: Vec<SessionId>,
    /// When the next of those will be due in which nothing is yet, or free, because a node
    /// is late with its lease.
    pub wake_at: Option<Timestamp>,
}

#[derive(Clone, Debug)]
pub struct NewEvent {
    pub name: &'static str,
    /// JSON.
    pub payload: String,
    /// Words that full-text search should find.
    pub search: String,
    /// Readers of all sessions see it. One that is not listed leaves no trace for
    /// them: no position, no gap between those of others, no time of change.
    pub listed: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptEnd {
    pub call: CallId,
    pub number: u32,
    pub state: AttemptState,
    pub usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptState {
    /// Recorded, perhaps sent; nothing is known of its end. An attempt that a
    /// crash cut off stays in this state.
    Begun,
    Done,
    Failed,
    Stopped,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttemptRow {
    pub call: CallId,
    pub number: u32,
    pub epoch: u64,
    pub state: AttemptState,
    pub usage: Usage,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Idempotency {
    pub principal: String,
    pub key: String,
    /// Tells whether a second request with the key is the same request.
    pub request_hash: String,
    /// Remembered as long as the session is there, for whoever derives the key from what
    /// made the command due and may give it again at any time. Others are forgotten after
    /// some days.
    pub lasting: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotentAnswer {
    pub request_hash: String,
    /// The session that the first request opened or changed.
    pub session: SessionId,
    /// The versions of its first and its last event.
    pub first: u64,
    pub version: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Appended {
    /// With the position of each new event. Those of listed ones grow; between them others
    /// may stand that were written meanwhile, and no number is left out but by a
    /// transaction that failed. The epoch is there if the append's `driver` has the session
    /// now.
    Written { version: u64, positions: Vec<Option<u64>>, epoch: Option<u64> },
    /// Somebody else was first: the session stands at this version now.
    Conflict { version: u64 },
    /// This driver has lost the session to another one.
    Fenced,
    /// A request with this key has been carried out before; nothing was written.
    Repeated(IdempotentAnswer),
    /// An append with `expected > 0` for a session that is not there (removed).
    Gone,
    /// A session of this kind has the name of the one to be opened, or had it
    /// before it was removed.
    Taken,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionRow {
    pub id: SessionId,
    pub kind: String,
    pub name: Option<String>,
    pub project: Option<String>,
    /// The one that it was given, or its own.
    pub title: String,
    /// It was given one.
    pub renamed: bool,
    pub status: String,
    pub active: bool,
    /// People whose reply is awaited.
    pub waits_for: Vec<String>,
    /// Taken over from a record of elsewhere.
    pub imported: bool,
    pub pinned: bool,
    pub version: u64,
    pub epoch: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl SessionRow {
    /// Nobody may know whether something runs there.
    pub fn is_secret(&self) -> bool {
        (self.kind.as_str(), self.status.as_str()) == room::SECRET
    }

    /// Something is due, as far as anybody may know.
    pub fn is_seen_active(&self) -> bool {
        self.active && !self.is_secret()
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredEvent {
    pub session: SessionId,
    pub kind: String,
    pub version: u64,
    /// Commit order over all sessions. `None` for an event that is not listed.
    pub position: Option<u64>,
    pub name: String,
    pub actor: String,
    pub payload: String,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ListQuery {
    pub kind: Option<String>,
    /// Kinds that are left out, whatever else is asked for.
    pub without: Vec<String>,
    pub project: Option<String>,
    pub status: Option<String>,
    /// As far as anybody may know.
    pub active: Option<bool>,
    /// Those that wait for a person, or those that do not.
    pub waiting: Option<bool>,
    pub pinned: Option<bool>,
    /// Full-text: every word must occur, the last one as a prefix. Any text is
    /// lawful; punctuation and operators of the database mean nothing.
    pub words: Option<String>,
    pub limit: u32,
    /// From an earlier page's `next`.
    pub before: Option<SessionId>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListPage {
    pub rows: Vec<SessionRow>,
    /// All that match, whatever the page.
    pub total: u64,
    pub next: Option<SessionId>,
}

/// Named by what the caller can do next.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// Another process uses the data folder; the text names it.
    #[error("{0}")]
    InUse(String),
    /// The disk or the database failed; trying again later may help. What was to be
    /// written may be there all the same, now or after a restart.
    #[error("the store failed: {0}")]
    Failed(String),
    /// The same, and it is certain that nothing was written.
    #[error("the store failed: {0}")]
    NotWritten(String),
    /// There was a store, and it is damaged or missing; the text says what to do.
    #[error("{0}")]
    Damaged(String),
    /// What is stored cannot be read by this version of the program.
    #[error("the store contains something that this version cannot read: {0}")]
    Unreadable(String),
    /// The driver that asked has lost the session to another one.
    #[error("another driver has taken this session over")]
    Fenced,
}

// ---------------------------------------------------------------------------
// Models

/// All models that can be reached, behind one streaming method.
pub trait Models: Send + Sync {
    /// Asks a model. Dropping the stream drops the request at once. The stream
    /// ends after `Piece::End` or an error; one that ends without either was cut.
    /// `request_id` names the attempt, for the provider's own records.
    fn ask(&self, ask: Ask, request_id: String) -> BoxStream<'static, Result<Piece, ModelError>>;

    /// The names of the providers that are set up, whether they answer or not.
    fn providers(&self) -> Vec<String>;

    /// How many tokens a model takes, prompt and answer together, as far as that is
    /// known without asking it.
    fn window_tokens(&self, model: &ModelName) -> u32;

    /// Whether a model can be told how freely it chooses its words and how long its answer
    /// may be. A program that speaks by one has settings of its own.
    fn is_adjustable(&self, _: &ModelName) -> bool {
        true
    }

    /// What is known of a model without asking anybody. Prices are in US dollars.
    fn known(&self, _: &ModelName) -> Known {
        Known::default()
    }

    /// Counts what was learned of models: as long as it is the same, `known` says the same.
    fn learnings(&self) -> u64 {
        0
    }

    /// What is there now, by provider, and for what is not, why not.
    fn catalog(&self) -> BoxFuture<'_, Vec<ProviderReport>>;

    /// Until all is known that the last lists have led to: some servers say how much a
    /// model takes only when they are asked for that one.
    fn learned(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Until it is known what its provider says of a model beside its name, if that has
    /// never been asked for, and not for long.
    fn meet<'a>(&'a self, _: &'a ModelName) -> BoxFuture<'a, ()> {
        Box::pin(async {})
    }

    /// Whether a provider has listed all its models lately and has none of this name.
    /// What nobody has listed may be there.
    fn lacks<'a>(&'a self, _: &'a ModelName) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }
}

/// What is known of a model beside its name.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Known {
    pub window: Option<Window>,
    pub price: Option<Quote>,
}

/// Tokens that a model takes, prompt and answer together, and who says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub tokens: u32,
    pub source: Source,
    pub said_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Piece {
    Text(String),
    /// The model's thinking, where the wire has it apart from the answer.
    Reasoning(String),
    /// May come several times; later numbers replace earlier ones.
    Usage(Usage),
    /// The model is busy with others; this is the request's place in the line.
    Waiting {
        place: usize,
    },
    /// The model's own program could not reach it, and asks again by itself after
    /// this time. What has been said stays.
    Retrying {
        reason: String,
        wait: Duration,
    },
    /// The model works, without words.
    Busy,
    End(Ending),
}

/// Why an answer is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The model has finished by itself.
    Whole,
    /// It has reached a limit on its length.
    Cut,
}

/// Named by what the caller can do next. `message` is a sentence for a person;
/// it never holds a key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModelError {
    /// The same request may work later.
    #[error("{message}")]
    Retry { kind: FailureKind, message: String, after: Option<Duration> },
    /// The same request will fail again.
    #[error("{message}")]
    Final { kind: FailureKind, message: String },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderReport {
    pub name: String,
    /// `ollama`, `openai`, `anthropic`, `gemini`, `command`, `local`.
    pub kind: &'static str,
    /// Where it is looked for: a base URL or a program.
    pub place: String,
    pub state: ProviderState,
    /// What a person should know before relying on it.
    pub note: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProviderState {
    /// Names of its models, as that provider knows them, best first.
    Ready { models: Vec<String> },
    /// What is wrong, and what to do about it. What passes may be gone in a moment.
    Unusable { problem: String, hint: String, passes: bool },
}

// ---------------------------------------------------------------------------
// Errands

/// Whoever does for sessions what is neither a question to a model nor a wait for a time.
pub trait Errands: Send + Sync {
    /// Carries out an errand of this session, and says what it brought. Dropping the
    /// future ends it. It may be run again at any time, after a restart and by another
    /// node: what it does under its key it does once.
    fn run(
        &self,
        session: SessionId,
        errand: Errand,
    ) -> BoxFuture<'static, Result<serde_json::Value, ErrandError>>;
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ErrandError {
    /// Something failed here that will pass: it is run again.
    #[error("{0}")]
    Later(String),
    /// What it needs was not there, and may be in a moment: it is run again a few times.
    #[error("{}", .0.message)]
    Passing(Failure),
    #[error("{}", .0.message)]
    Failed(Failure),
}

/// What errands reach beyond the program: servers that the operator allows, and files in
/// folders that the operator allows.
pub trait Outside: Send + Sync {
    /// Sends a request, or writes a file; other errands are none of its own. Brings what
    /// the step gives.
    fn run(&self, errand: Errand) -> BoxFuture<'static, Result<serde_json::Value, Failure>>;

    /// Whether a file could be written there, as far as that can be told before.
    fn may_write(&self, path: &str) -> Result<(), Failure>;

    /// A secret that the operator has set for errands. It is never shown.
    fn secret(&self, name: &str) -> Option<String>;
}

// ---------------------------------------------------------------------------
// Other nodes

/// The way to other nodes of the same store, for what is live and stands in no log.
pub trait Peers: Send + Sync {
    /// What the calls of a session have said so far and say from now on, at the node with
    /// this address. It ends when that node does not drive the session any more, or when
    /// the connection does; dropping it ends the connection.
    fn words(&self, address: &str, id: SessionId) -> BoxStream<'static, Said>;
}

/// What a call says that runs at another node.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Said {
    Delta(Delta),
    Retrying(Retrying),
    Waiting(crate::live::Waiting),
}

// ---------------------------------------------------------------------------
// The clock

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
    /// Milliseconds on a clock that only goes forward.
    fn ticks(&self) -> u64;
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;
    /// Until `now` comes to this time, also when that clock is set meanwhile, or the
    /// machine is suspended.
    fn sleep_until(&self, until: Timestamp) -> BoxFuture<'static, ()>;
    /// Random bits.
    fn chance(&self) -> u128 {
        uuid::Uuid::new_v4().as_u128()
    }
    /// An id that sorts after those that were made before it.
    fn new_id(&self) -> SessionId {
        SessionId(uuid::Uuid::now_v7())
    }
}
