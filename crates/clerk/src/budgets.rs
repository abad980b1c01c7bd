//! What a session and a seat may spend, as it is asked for.

use plenary_domain::budget::{Allowance, Budget, WhenSpent};
use plenary_domain::{Reject, Wrong, room};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::identity::Caller;
use crate::{Clerk, ClerkError, Result, mirror};

mirror! {
    #[serde(rename_all = "camelCase")]
    #[schema(as = WhenSpent)]
    WhenSpentName = WhenSpent { Conclude, Stop }
}

/// What it may spend. Each call is reserved before it is made.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBudget {
    /// Read and written.
    #[schema(minimum = 1000, maximum = 1_000_000_000_000_u64)]
    pub tokens: Option<u64>,
    /// Prices of all its models must be known.
    #[schema(exclusive_minimum = 0)]
    pub cost: Option<f64>,
    /// Of `cost`; only that of the prices here is taken.
    pub currency: Option<String>,
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub seconds: Option<u64>,
    /// `conclude` when absent: it ends with what is there.
    pub when_spent: Option<WhenSpentName>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAllowance {
    #[schema(minimum = 1000, maximum = 1_000_000_000_000_u64)]
    pub tokens: Option<u64>,
    #[schema(exclusive_minimum = 0)]
    pub cost: Option<f64>,
}

impl From<NewAllowance> for Allowance {
    fn from(new: NewAllowance) -> Self {
        Allowance { tokens: new.tokens, cost: new.cost }
    }
}

/// The budget that is asked for, if it says anything. `here` is the currency of prices.
pub(crate) fn budget(here: &str, wrong: &mut Vec<Wrong>, new: Option<NewBudget>) -> Option<Budget> {
    let new = new?;
    if let Some(other) = new.currency.filter(|other| !other.eq_ignore_ascii_case(here)) {
        let problem = format!("prices here are in {here}, not in {other}");
        wrong.push(Wrong::new("budget.currency", problem));
    }
    let budget = Budget {
        most: Allowance { tokens: new.tokens, cost: new.cost },
        time_ms: new.seconds.map(|seconds| seconds.saturating_mul(1000)),
        when_spent: new.when_spent.map(WhenSpent::from).unwrap_or_default(),
    };
    if budget.is_empty() {
        wrong.push(Wrong::new("budget", "say how many tokens, how much money or how many seconds"));
    }
    Some(budget)
}

/// Sets what a session may spend from now on.
pub async fn allow(clerk: &Clerk, caller: Caller, new: NewBudget) -> Result {
    let (id, mut wrong) = (caller.session, vec![]);
    let snapshot = clerk.engine.get(id).await?;
    caller.owns(&snapshot, "change what it may spend of")?;
    let room = &snapshot.room;
    let here = room.ledger().map_or(clerk.prices.currency.clone(), |led| clerk.currency(led));
    let budget = budget(&here, &mut wrong, Some(new)).unwrap_or_default();
    if !wrong.is_empty() {
        return Err(ClerkError::Refused(Reject::Invalid(wrong)));
    }
    let prices = clerk.noted(&room.seated());
    Ok(clerk.engine.submit(id, caller.by, room::Command::Allow { budget, prices }).await?)
}
