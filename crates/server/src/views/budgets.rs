//! What a session may spend, and what counts against it.

use plenary_clerk::budgets::WhenSpentName;
use plenary_domain::Ledger;
use plenary_domain::budget::{Allowance, Amount};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetView {
    #[serde(flatten)]
    most: AllowanceView,
    when_spent: WhenSpentName,
    /// Tokens that count against it. Where a provider did not say what a call took, that is
    /// guessed by length.
    spent_tokens: u64,
    /// The same in money; given where the budget is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    spent_cost: Option<f64>,
    /// The most that calls under way may still take. Only boards tell it, and only where
    /// there is something.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reserved_tokens: Option<u64>,
    /// The same in money; given where the budget is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reserved_cost: Option<f64>,
    /// Of `cost` and the others in money.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    /// The time is over. Absent where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    time_over: bool,
}

/// What a seat may spend.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllowanceView {
    /// Tokens, read and written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// A seat's are for all its answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    seconds: Option<f64>,
}

impl BudgetView {
    pub fn of(ledger: &Ledger) -> Option<BudgetView> {
        let budget = ledger.budget()?;
        let spent = ledger.counted();
        let cost = budget.most.cost.map(|_| spent.cost);
        Some(BudgetView {
            most: budget.most.into(),
            when_spent: budget.when_spent.into(),
            spent_tokens: spent.tokens,
            spent_cost: cost,
            reserved_tokens: None,
            reserved_cost: None,
            currency: cost.map(|_| ledger.prices().currency.clone()),
            time_over: ledger.is_time_over(),
        })
    }

    /// With what is kept for calls under way.
    pub fn keeping(self, reserved: Amount) -> BudgetView {
        BudgetView {
            reserved_tokens: Some(reserved.tokens).filter(|tokens| *tokens > 0),
            reserved_cost: self.spent_cost.map(|_| reserved.cost).filter(|cost| *cost > 0.0),
            ..self
        }
    }
}

impl AllowanceView {
    pub fn of(allowance: Allowance) -> Option<AllowanceView> {
        (!allowance.is_none()).then(|| allowance.into())
    }
}

impl From<Allowance> for AllowanceView {
    fn from(Allowance { tokens, cost, time_ms }: Allowance) -> Self {
        AllowanceView { tokens, cost, seconds: time_ms.map(|ms| ms as f64 / 1000.0) }
    }
}
