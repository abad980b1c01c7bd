//! What a session and a seat may spend, as it is asked for.

use plenary_domain::budget::{Allowance, Budget, WhenSpent};
use plenary_domain::{Reject, Room, Wrong, room};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::identity::Caller;
use crate::{Clerk, ClerkError, Result, mirror, whiteboards};

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

/// What a seat may spend.
#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAllowance {
    /// Read and written.
    #[schema(minimum = 1000, maximum = 1_000_000_000_000_u64)]
    pub tokens: Option<u64>,
    #[schema(exclusive_minimum = 0)]
    pub cost: Option<f64>,
    /// Of `cost`; only that of the prices here is taken.
    pub currency: Option<String>,
    /// For all its answers together.
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub seconds: Option<u64>,
}

/// The budget that is asked for, if it says anything. `here` is the currency of prices.
pub(crate) fn budget(here: &str, wrong: &mut Vec<Wrong>, new: Option<NewBudget>) -> Option<Budget> {
    let NewBudget { tokens, cost, currency, seconds, when_spent } = new?;
    let most = NewAllowance { tokens, cost, currency, seconds };
    let most = allowance(here, wrong, "budget", Some(most))?;
    Some(Budget { most, when_spent: when_spent.map(WhenSpent::from).unwrap_or_default() })
}

/// The same of a seat, under the field that says it.
pub(crate) fn allowance(
    here: &str,
    wrong: &mut Vec<Wrong>,
    field: &str,
    new: Option<NewAllowance>,
) -> Option<Allowance> {
    let NewAllowance { tokens, cost, currency, seconds } = new?;
    if let Some(other) = currency.filter(|other| !other.eq_ignore_ascii_case(here)) {
        let problem = format!("prices here are in {here}, not in {other}");
        wrong.push(Wrong::new(format!("{field}.currency"), problem));
    }
    let time_ms = seconds.map(|seconds| seconds.saturating_mul(1000));
    let allowance = Allowance { tokens, cost, time_ms };
    if allowance.is_none() {
        wrong.push(Wrong::new(field, "say how many tokens, how much money or how many seconds"));
    }
    Some(allowance)
}

/// Sets what a session may spend from now on.
pub async fn allow(clerk: &Clerk, caller: Caller, new: NewBudget) -> Result {
    let (id, mut wrong) = (caller.session, vec![]);
    let snapshot = clerk.engine.get(id).await?;
    match &*snapshot.room {
        Room::Whiteboard(_) => whiteboards::leads(&caller, &snapshot)?,
        Room::Boardroom(_)
        | Room::Council(_)
        | Room::Discussion(_)
        | Room::Workflow(_)
        | Room::Library(_)
        | Room::Signals(_)
        | Room::Shelf(_)
        | Room::Boards(_) => caller.owns(&snapshot, "change what it may spend of")?,
    }
    let room = &snapshot.room;
    let here = room.ledger().map_or(clerk.prices.now().currency.clone(), |led| clerk.currency(led));
    let budget = budget(&here, &mut wrong, Some(new)).unwrap_or_default();
    if !wrong.is_empty() {
        return Err(ClerkError::Refused(Reject::Invalid(wrong)));
    }
    let prices = clerk.noted(&room.seated());
    Ok(clerk.engine.submit(id, caller.by, room::Command::Allow { budget, prices }).await?)
}
