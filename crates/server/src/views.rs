//! Wire types: what goes out, in camelCase, and how a state becomes it.

pub mod agents;
pub mod ballots;
pub mod boardrooms;
pub mod boards;
pub mod budgets;
pub mod conversations;
mod course;
pub mod discussions;
pub mod facts;
pub mod runs;
pub mod whiteboards;

use std::hash::{Hash, Hasher};

use axum::Json;
use plenary_clerk::{Clerk, mirror};
use plenary_domain::{Failure, FailureKind, Ledger, Timestamp, Usage};
use plenary_engine::Snapshot;
use plenary_engine::ports::SessionRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use budgets::BudgetView;
pub use course::{Beside, RetryingView, Running};

/// Every good answer.
#[derive(Serialize, ToSchema)]
pub struct Reply<T> {
    /// Always true.
    success: bool,
    data: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    meta: Option<Meta>,
}

#[derive(Serialize, ToSchema)]
pub struct Meta {
    /// All that match, whatever the page.
    total: u64,
    limit: u32,
    /// Give it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<String>,
}

pub fn reply<T>(data: T) -> Json<Reply<T>> {
    Json(Reply { success: true, data, meta: None })
}

pub fn page<T>(data: T, total: u64, limit: u32, next: Option<String>) -> Json<Reply<T>> {
    Json(Reply { success: true, data, meta: Some(Meta { total, limit, next }) })
}

/// Nothing to say but that it is done.
#[derive(Serialize, ToSchema)]
pub struct Nothing {}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    id: Uuid,
    /// The form: `boardroom`.
    kind: String,
    /// Means this session among those of its kind; absent where a kind has no names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<String>,
    /// What it is about, or what somebody has called it.
    title: String,
    /// Somebody has called it so. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    renamed: bool,
    status: String,
    /// Something runs, or goes on by itself after a restart.
    active: bool,
    /// The people whose reply is awaited.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    waits_for: Vec<String>,
    /// Held elsewhere and taken over from a record, which whoever wrote it answers for.
    /// Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    imported: bool,
    /// Somebody wants it on top of lists. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pinned: bool,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How far it is and what came of it, where `facts` were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub facts: Option<facts::FactsView>,
}

impl From<SessionRow> for SessionView {
    fn from(row: SessionRow) -> Self {
        let active = row.is_seen_active();
        SessionView {
            id: row.id.0,
            kind: row.kind,
            name: row.name,
            project: row.project,
            title: row.title,
            renamed: row.renamed,
            status: row.status,
            active,
            waits_for: row.waits_for,
            imported: row.imported,
            pinned: row.pinned,
            created_at: row.created_at,
            updated_at: row.updated_at,
            facts: None,
        }
    }
}

/// A session of any form: how far it is, what came of it, what can be done now.
#[derive(Serialize, ToSchema)]
pub struct SessionReport {
    #[serde(flatten)]
    session: SessionView,
    /// Nothing more will happen unless somebody asks for it.
    over: bool,
    progress: ProgressView,
    /// Give it to `wait` to be answered when something has happened since.
    seen: String,
    /// What all its calls took, where models are asked at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
    /// Of the same, by the prices that the session has noted, or as the providers say.
    /// Absent unless all of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// Of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<BudgetView>,
    /// What came of it so far, as Markdown.
    result: String,
    /// What can be done now, in sentences.
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
pub struct ProgressView {
    /// Steps that are behind it.
    done: u32,
    /// Steps in all, as far as known.
    total: u32,
    /// The same in a sentence.
    message: String,
}

impl SessionReport {
    pub fn new(clerk: &Clerk, row: SessionRow, snapshot: &Snapshot, full: bool) -> Self {
        let (room, summary) = (&snapshot.room, snapshot.room.summary());
        let (cost, currency) =
            room.accounts().map(|ledger| spent(clerk, ledger)).unwrap_or_default();
        let progress = room.progress();
        let step = digest(&(summary.status, room.is_over(), &progress));
        let happened = digest(&room.happened());
        // The row may be a moment older or newer than the state.
        let (status, active) = (summary.status.to_owned(), summary.active);
        let waits_for = summary.waits_for;
        SessionReport {
            session: SessionView::from(SessionRow { status, active, waits_for, ..row }),
            over: room.is_over(),
            seen: format!("{step:016x}.{happened:016x}"),
            usage: room.accounts().map(|ledger| usage(ledger.total())),
            cost,
            currency,
            budget: room.accounts().and_then(BudgetView::of),
            result: room.report(full),
            next: room.next(),
            progress: ProgressView {
                done: progress.done,
                total: progress.total,
                message: progress.message,
            },
        }
    }

    /// Whether there is something new for one who has seen this, be it but a step of its
    /// progress.
    pub fn is_news_to(&self, seen: Option<&str>) -> bool {
        self.over || seen.is_some_and(|seen| seen != self.seen)
    }
}

fn digest(of: &impl Hash) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Whether something that one waits for has happened between two `seen` of a session.
/// A step of its progress alone is not that.
pub fn has_happened(before: &str, now: &str) -> bool {
    let happened = |seen: &str| seen.split_once('.').map(|(_, happened)| happened.to_owned());
    happened(before) != happened(now)
}

#[derive(Serialize, ToSchema)]
pub struct FailureView {
    kind: FailureName,
    message: String,
}

mirror! {
    #[serde(rename_all = "camelCase")]
    FailureName = FailureKind {
        TimedOut, Idle, Refused, RateLimited, OutOfCredit, OutOfBudget, PromptTooLong, TooLong, Empty,
        Misconfigured, Unreachable, ProviderError, Malformed, Internal,
    }
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    /// Those from the provider's cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    input_tokens: Option<u64>,
    /// Of those, the ones that the provider had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cached_tokens: Option<u64>,
    /// Thinking included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u64>,
    /// Of those, the ones of thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reasoning_tokens: Option<u64>,
    /// What the provider itself says that it costs, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost_usd: Option<f64>,
}

/// What a session cost, where all of it is known, and the currency of that and of what is
/// known of single calls.
pub fn spent(clerk: &Clerk, ledger: &Ledger) -> (Option<f64>, Option<String>) {
    let cost = clerk.sum(ledger);
    let is_known = cost.is_some() || !ledger.prices().models.is_empty();
    (cost, is_known.then(|| clerk.currency(ledger)))
}

pub fn usage(usage: Usage) -> UsageView {
    UsageView {
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: usage.cost_usd(),
    }
}

pub(super) fn failure_view(failure: &Failure) -> FailureView {
    let kind = failure.kind.into();
    FailureView { kind, message: failure.message.clone() }
}
