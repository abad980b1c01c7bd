//! How calls go: when, at which price, and what is under way.

use plenary_clerk::Clerk;
use plenary_domain::boardroom::Verdict;
use plenary_domain::{Amount, CallId, Ledger, ModelName, Usage};
use plenary_engine::{Retrying, Underway};
use serde::Serialize;
use utoipa::ToSchema;

/// Gives what a call that is under way has brought so far.
pub type Running<'a> = &'a dyn Fn(&CallId) -> Option<Underway>;

/// What is known of a board beside its state.
pub struct Beside<'a> {
    pub running: Running<'a>,
    pub clerk: &'a Clerk,
    pub ledger: &'a Ledger,
    /// What is kept of its budget for calls under way.
    pub reserved: Amount,
}

impl Beside<'_> {
    /// What a call of the board cost, as far as that is known.
    pub fn cost(&self, model: &ModelName, used: Usage) -> Option<f64> {
        self.clerk.cost(self.ledger, model, used)
    }
}

/// A request that failed in a way that may pass; it is made again after a pause.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryingView {
    /// The request that failed, from 1.
    attempt: u32,
    /// The pause, from when it failed.
    wait_ms: u64,
    message: String,
}

impl From<&Retrying> for RetryingView {
    fn from(retrying: &Retrying) -> Self {
        let Retrying { attempt, wait_ms, message, .. } = retrying;
        RetryingView { attempt: *attempt, wait_ms: *wait_ms, message: message.clone() }
    }
}

/// What stands under the four headings, as Markdown.
#[derive(Serialize, ToSchema)]
pub struct SectionsView {
    consensus: String,
    agreement: String,
    divergence: String,
    recommendation: String,
}

impl SectionsView {
    pub fn of(verdict: &Verdict) -> Option<Self> {
        let [consensus, agreement, divergence, recommendation] = verdict.sections()?;
        Some(SectionsView { consensus, agreement, divergence, recommendation })
    }
}
