//! What sessions may spend that a run opens: shares of its own budget, which are kept for
//! them until they have ended.

use jiff::Timestamp;
use serde_json::Value;

use super::calls::ask_call;
use super::event::{Event, Place};
use super::{Attempt, Running, State, Status};
use crate::budget::{Allowance, Amount, Claim, Need};
use crate::call::{Failure, FailureKind};
use crate::ledger::{Usage, count};
use crate::limits;

impl State {
    /// Sessions that are to be opened get their shares of what is free, those of one moment
    /// the same. One for which nothing is left waits as long as something may come back.
    pub(super) fn grants(&self, at: Timestamp) -> Vec<Event> {
        let wanting: Vec<&Place> = self.steps.keys().filter(|place| self.wants(place)).collect();
        let Some(free) = self.ledger.free(self.asking()).filter(|_| !wanting.is_empty()) else {
            return vec![];
        };
        // Whoever is about to be asked has the same right to what is left.
        let looking =
            self.steps.keys().filter(|place| matches!(self.attempt(place), Some(Attempt::Looking)));
        let all = (wanting.len() + looking.count()) as u64;
        let able = match (free.tokens, free.cost) {
            (_, Some(cost)) if cost <= 0.0 => 0,
            (Some(tokens), _) => all.min(tokens / limits::BUDGET_TOKENS_LEAST),
            (None, _) => all,
        };
        if able == 0 {
            let is_last = !self.may_come_back();
            let short = |place: &Place| self.attempt_failed(place.clone(), self.short(free), at);
            return wanting.into_iter().filter(|_| is_last).map(short).collect();
        }
        let granted = wanting.into_iter().take(able as usize).map(|place| {
            // A council lives on beside what follows, so half of its share is left for that.
            let parts = if self.is_awaited(place) { able } else { able * 2 };
            let least = limits::BUDGET_TOKENS_LEAST;
            let tokens = free.tokens.map(|tokens| (tokens / parts).max(least));
            let cost = free.cost.map(|cost| cost / parts as f64);
            let most = Allowance { tokens, cost, time_ms: None }.at_most(self.own_budget(place));
            Event::Granted { place: place.clone(), most: most.spendable(), at }
        });
        granted.collect()
    }

    /// Whether a step is about to open a session that spends, and has no share yet.
    pub(super) fn wants(&self, place: &Place) -> bool {
        let is_new = |session: String| !self.granted.contains_key(&session);
        matches!(self.attempt(place), Some(Attempt::Doing { .. }))
            && self.spends(place)
            && self.to_open(place).is_some_and(|session| is_new(session.to_string()))
    }

    /// Whether what a step opens asks models, so that a limit of the run is its limit too.
    pub(super) fn spends(&self, place: &Place) -> bool {
        let is_bounded = self.ledger.budget().is_some_and(|budget| !budget.most.is_none());
        let Some((act, with)) = self.act(place) else { return false };
        let has_members = || {
            let members = with.get("members").and_then(Value::as_array);
            members.is_some_and(|members| !members.is_empty())
        };
        is_bounded && (act.is_awaited() || act.opens() && has_members())
    }

    /// What a step itself says that its session may spend.
    pub(super) fn own_budget(&self, place: &Place) -> Allowance {
        let opens = self.act(place).is_some_and(|(act, _)| act.opens());
        let step = self.definition.step(place.id()).filter(|_| opens);
        step.and_then(|step| step.budget).unwrap_or_default().allowance()
    }

    /// Whether a step waits until others leave something of the budget.
    pub(super) fn waits_for_room(&self, place: &Place) -> bool {
        self.wants(place) && self.may_come_back()
    }

    fn may_come_back(&self) -> bool {
        let is_asking = |place: &Place| {
            matches!(self.attempt(place), Some(Attempt::Looking | Attempt::Asking { .. }))
        };
        self.ledger.promised() != Amount::default() || self.steps.keys().any(is_asking)
    }

    fn is_awaited(&self, place: &Place) -> bool {
        self.act(place).is_some_and(|(act, _)| act.is_awaited())
    }

    /// What questions under way may take at most.
    fn asking(&self) -> Amount {
        let claim = Claim::default();
        let asks = self.steps.iter().filter_map(|(place, step)| match &step.status {
            Status::Running(Running::Act(acting))
                if matches!(acting.attempt, Attempt::Asking { .. }) =>
            {
                let mut ask = self.question(&ask_call(place, step))?;
                self.ledger.fit(&mut ask, &claim);
                Some(self.ledger.reservation(&Need::of(&ask, &claim)))
            }
            Status::Running(_)
            | Status::Done(_)
            | Status::Skipped { .. }
            | Status::Failed { .. }
            | Status::Cancelled { .. } => None,
        });
        asks.fold(Amount::default(), Amount::plus)
    }

    fn short(&self, free: Allowance) -> Failure {
        let left = free.tokens.map_or_else(
            || "no money is left".to_owned(),
            |tokens| format!("{} tokens are left", count(tokens)),
        );
        let least = count(limits::BUDGET_TOKENS_LEAST);
        let message = format!(
            "The budget does not cover another session: {left}, and it needs {least} or more."
        );
        let kind = FailureKind::OutOfBudget;
        Failure { kind, message, attempts: 1, usage: Usage::default() }
    }
}
