//! What a session may spend, and whether a call has room in it.
//!
//! A call is reserved before it is made: what it reads, and the most that it may write.
//! When it has ended, what it took counts in its place. So calls that run at once never
//! spend together what only some of them may.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::call::{Ask, Call, Shape, Work};
use crate::discussion::estimate::{DENSE_TOKEN_BYTES, TOKEN_BYTES};
use crate::ids::{CallId, ModelName};
use crate::ledger::{LEAST_MONEY, Ledger, Usage, count, money};
use crate::limits;
use crate::prices::Price;
use crate::reject::{Reject, Wrong, settled};

/// What a session may spend in all.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Its time runs from when it was last set in motion, whoever is waited for.
    #[serde(flatten)]
    pub most: Allowance,
    #[serde(default)]
    pub when_spent: WhenSpent,
}

/// What a session or a seat may spend: tokens, read and written, money, in the currency of
/// the session's prices, and time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// A seat's is the time for which it has been waited for, all calls together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhenSpent {
    /// Comes to its end with what is there, for which something is kept back.
    #[default]
    Conclude,
    /// Stops at once.
    Stop,
}

/// What was spent or is reserved. What a call may write is counted apart too, because
/// whoever comes after it reads that.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Amount {
    pub tokens: u64,
    pub written: u64,
    pub cost: f64,
    /// A seat's time. Those of a session run beside each other, so that their sum is none.
    pub ms: u64,
}

impl Amount {
    pub fn plus(self, other: Amount) -> Amount {
        Amount {
            tokens: self.tokens.saturating_add(other.tokens),
            written: self.written.saturating_add(other.written),
            cost: self.cost + other.cost,
            ms: self.ms.saturating_add(other.ms),
        }
    }
}

/// What a session has of a budget, and what counts against it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Purse {
    budget: Option<Budget>,
    began: Option<Timestamp>,
    is_time_over: bool,
    counted: Amount,
    /// Kept for sessions that this one has opened.
    promised: Amount,
    by_seat: BTreeMap<String, Amount>,
    /// Seats whose time is limited and runs, and since when.
    at_work: BTreeMap<String, Timestamp>,
}

impl Purse {
    pub(crate) fn recount(&mut self, cost: f64) {
        self.counted.cost = self.counted.cost.max(cost);
    }
}

/// What a call stands for, when it asks for room.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// Whose call it is, and what that seat may spend in the session.
    pub seat: Option<(String, Allowance)>,
    /// Calls that have the same right to what is left, this one included.
    pub calls: u64,
    /// What has to follow, and reads what these calls write.
    pub follows: Option<Follows>,
}

impl Default for Claim {
    fn default() -> Self {
        Claim { seat: None, calls: 1, follows: None }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct Follows {
    pub model: ModelName,
    /// Tokens that it reads as things stand.
    pub reads: u64,
}

/// A call as the budget sees it.
pub struct Need<'a> {
    pub model: &'a ModelName,
    pub reads: u64,
    pub writes: u64,
    /// What its earlier requests took.
    pub taken: Amount,
    pub claim: &'a Claim,
}

/// What the earlier requests of a call took, as far as that is known.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Taken {
    pub usage: Usage,
    pub requests: u32,
    /// Bytes that the last one brought.
    pub brought: usize,
    /// Time since the first one.
    pub ms: u64,
}

impl<'a> Need<'a> {
    pub fn of(ask: &'a Ask, claim: &'a Claim) -> Self {
        let writes = u64::from(ask.patience.answer_tokens);
        let taken = Amount::default();
        Need { model: &ask.model, reads: prompt_tokens(ask), writes, taken, claim }
    }

    /// What a provider did not say of earlier requests is guessed by length.
    pub fn after(self, ledger: &Ledger, taken: Taken) -> Self {
        let Taken { usage, requests, brought, ms } = taken;
        let read = self.reads.saturating_mul(requests.into());
        let written = brought as u64 / TOKEN_BYTES;
        let about = Usage {
            input_tokens: usage.input_tokens.or(Some(read)),
            output_tokens: usage.output_tokens.or(Some(written)),
            ..usage
        };
        Need { taken: Amount { ms, ..ledger.amount(self.model, about) }, ..self }
    }
}

/// Why a budget has no room for a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shortage {
    /// The session's own.
    Room(String),
    /// That of the seat alone.
    Seat(String),
    /// A limit in money cannot be kept to without it.
    Price(ModelName),
}

impl Shortage {
    pub fn in_words(&self) -> String {
        match self {
            Shortage::Room(words) | Shortage::Seat(words) => words.clone(),
            Shortage::Price(model) => {
                format!("The price of {model} is unknown, and the budget is in money.")
            }
        }
    }
}

/// At most about so many: text that is denser than this is rare.
pub(crate) fn prompt_tokens(ask: &Ask) -> u64 {
    let said: usize = ask.messages.iter().map(|message| message.text.len()).sum();
    tokens_of(ask.system.len() + said)
}

/// Tokens that a written one counts as when it is read: prompts are guessed by their
/// bytes, of which most tokens have more than [`DENSE_TOKEN_BYTES`].
const READ_AGAIN: f64 = 1.5;

/// Tokens of the sentence that says how long an answer may be, at most.
const HINT_TOKENS: u64 = 24;

fn read_again(written: u64) -> u64 {
    (written as f64 * READ_AGAIN).ceil() as u64
}

pub(crate) fn tokens_of(bytes: usize) -> u64 {
    bytes as u64 / DENSE_TOKEN_BYTES + 1
}

/// The call that waits for the end of a session's time.
pub fn time_call() -> CallId {
    CallId::new("budget")
}

impl Budget {
    pub fn is_empty(&self) -> bool {
        self.most.is_none()
    }

    /// With every wrong field named.
    pub(crate) fn checked(self) -> Result<Budget, Reject> {
        let mut wrong = vec![];
        self.check(&mut wrong);
        settled(wrong).map(|()| self)
    }

    pub(crate) fn check(&self, wrong: &mut Vec<Wrong>) {
        self.most.check(wrong, "budget");
    }
}

impl Allowance {
    pub(crate) fn amount(self) -> Amount {
        let (tokens, cost) = (self.tokens.unwrap_or(0), self.cost.unwrap_or(0.0));
        Amount { tokens, cost, ..Amount::default() }
    }

    /// Of each limit the lower one.
    pub(crate) fn at_most(self, other: Allowance) -> Allowance {
        Allowance {
            tokens: self.tokens.into_iter().chain(other.tokens).min(),
            cost: self.cost.into_iter().chain(other.cost).reduce(f64::min),
            time_ms: self.time_ms.into_iter().chain(other.time_ms).min(),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Allowance::default()
    }

    /// Whether each limit lies within its own.
    pub fn check(&self, wrong: &mut Vec<Wrong>, field: &str) {
        let (least, most) = (limits::BUDGET_TOKENS_LEAST, limits::BUDGET_TOKENS_MOST);
        if self.tokens.is_some_and(|tokens| !(least..=most).contains(&tokens)) {
            let problem = format!("must be {} to {} tokens", count(least), count(most));
            wrong.push(Wrong::new(format!("{field}.tokens"), problem));
        }
        let most = limits::BUDGET_COST_MOST;
        if self.cost.is_some_and(|cost| !(cost > 0.0 && cost <= most)) {
            let problem = format!("must be more than 0 and at most {most}");
            wrong.push(Wrong::new(format!("{field}.cost"), problem));
        }
        let (least, most) = (limits::BUDGET_TIME_LEAST_MS, limits::BUDGET_TIME_MOST_MS);
        if self.time_ms.is_some_and(|ms| !(least..=most).contains(&ms)) {
            let problem = format!("must be {} to {} seconds", least / 1000, count(most / 1000));
            wrong.push(Wrong::new(format!("{field}.seconds"), problem));
        }
    }

    /// The same for the seat of somebody who may be a person.
    pub(crate) fn check_seat(&self, wrong: &mut Vec<Wrong>, field: &str, is_person: bool) {
        match is_person && !self.is_none() {
            true => wrong.push(Wrong::new(field, "a person has no budget; leave it out")),
            false => self.check(wrong, field),
        }
    }

    /// Without what only a clock can say.
    pub(crate) fn spendable(self) -> Allowance {
        Allowance { time_ms: None, ..self }
    }
}

/// What a token costs in the measure of a limit: itself, or money.
#[derive(Clone, Copy)]
struct Rate {
    input: f64,
    output: f64,
}

impl Rate {
    const TOKENS: Rate = Rate { input: 1.0, output: 1.0 };

    /// What is unknown has no room in any limit.
    fn of(price: Option<Price>) -> Rate {
        let of_one = |million: f64| million / 1e6;
        price.map_or(Rate { input: f64::INFINITY, output: f64::INFINITY }, |price| Rate {
            input: of_one(price.input),
            output: of_one(price.output),
        })
    }

    fn of_call(self, reads: u64, writes: u64) -> f64 {
        // Nothing of what has no price costs nothing.
        let times = |rate: f64, tokens: u64| if tokens == 0 { 0.0 } else { rate * tokens as f64 };
        times(self.input, reads) + times(self.output, writes)
    }
}

/// A time as a budget gives it: `90 s`, `1.5 s`.
fn in_time(ms: u64) -> String {
    format!("{} s", ms as f64 / 1000.0)
}

fn said(amount: f64) -> String {
    money(amount).unwrap_or_else(|| format!("less than {LEAST_MONEY}"))
}

/// One limit that a call has to keep to.
struct Limit {
    most: f64,
    /// Spent and reserved.
    taken: f64,
    call: Rate,
    follows: Option<Rate>,
    /// It is the session's, not a seat's.
    is_whole: bool,
    /// How the limit is told, and how amounts of it are.
    name: String,
    words: fn(f64) -> String,
}

impl Limit {
    fn needs(&self, need: &Need, held: Amount) -> f64 {
        let after = match (&need.claim.follows, self.follows) {
            (Some(follows), Some(rate)) => {
                let written = held.written.saturating_add(need.writes);
                let reads = follows.reads.saturating_add(read_again(written));
                rate.of_call(reads, limits::BUDGET_ANSWER_TOKENS)
            }
            (Some(_), None) | (None, _) => 0.0,
        };
        self.call.of_call(need.reads, need.writes) + after
    }

    /// Tokens that each of the calls may write, so that all of them and what has to
    /// follow have room.
    fn share(&self, need: &Need) -> f64 {
        let calls = need.claim.calls.max(1) as f64;
        let left = self.most - self.taken - calls * self.call.of_call(need.reads, 0);
        match (&need.claim.follows, self.follows) {
            (Some(follows), Some(rate)) => {
                let left = left - rate.of_call(follows.reads, 0);
                let again = rate.input * READ_AGAIN;
                left / (calls * (self.call.output + again) + rate.output)
            }
            (Some(_), None) | (None, _) => left / (calls * self.call.output),
        }
    }
}

impl Ledger {
    pub fn budget(&self) -> Option<&Budget> {
        self.purse.budget.as_ref()
    }

    pub(crate) fn stops_when_spent(&self) -> bool {
        self.budget().is_some_and(|budget| budget.when_spent == WhenSpent::Stop)
    }

    pub(crate) fn allow(&mut self, budget: Budget) {
        self.purse.budget = Some(budget);
        self.purse.is_time_over = false;
    }

    /// The session's time runs from now on: it was set in motion, perhaps once more.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.purse.began = Some(at);
        self.purse.is_time_over = false;
    }

    pub(crate) fn time_is_over(&mut self) {
        self.purse.is_time_over = true;
    }

    pub fn is_time_over(&self) -> bool {
        self.purse.is_time_over
    }

    /// What counts against the budget. Where a provider did not say what a call took,
    /// that is guessed by length.
    pub fn counted(&self) -> Amount {
        self.purse.counted
    }

    /// What is kept for sessions that this one has opened, and comes back as far as they
    /// leave it.
    pub fn promised(&self) -> Amount {
        self.purse.promised
    }

    pub(crate) fn promise(&mut self, amount: Amount) {
        self.purse.promised = amount;
    }

    /// What of the budget nobody has spent or keeps.
    pub(crate) fn free(&self, held: Amount) -> Option<Allowance> {
        let most = self.budget()?.most;
        let taken = self.counted().plus(self.promised()).plus(held);
        Some(Allowance {
            tokens: most.tokens.map(|tokens| tokens.saturating_sub(taken.tokens)),
            cost: most.cost.map(|cost| (cost - taken.cost).max(0.0)),
            time_ms: None,
        })
    }

    pub fn counted_of(&self, seat: &str) -> Amount {
        self.purse.by_seat.get(seat).copied().unwrap_or_default()
    }

    pub(crate) fn count(&mut self, seat: Option<&str>, amount: Amount) {
        self.purse.counted = self.purse.counted.plus(amount);
        if let Some(seat) = seat {
            let own = self.purse.by_seat.entry(seat.to_owned()).or_default();
            *own = own.plus(amount);
        }
    }

    /// What this usage is, as a budget counts it.
    pub fn amount(&self, model: &ModelName, used: Usage) -> Amount {
        let (read, written) = (used.input_tokens.unwrap_or(0), used.output_tokens.unwrap_or(0));
        let known = Usage { input_tokens: Some(read), output_tokens: Some(written), ..used };
        let cost =
            crate::prices::Quote::cost(self.quote(model), known, self.prices().is_in_dollars());
        Amount { tokens: read.saturating_add(written), written, cost: cost.unwrap_or(0.0), ms: 0 }
    }

    /// What a call would take at most, earlier requests included.
    pub fn reservation(&self, need: &Need) -> Amount {
        let next = Amount {
            tokens: need.reads.saturating_add(need.writes),
            written: need.writes,
            cost: self.rate(need.model).of_call(need.reads, need.writes),
            ms: 0,
        };
        next.plus(need.taken)
    }

    /// What has to be kept for a call, or why there is no room for it. `held` is what is
    /// kept for others.
    pub fn admit(&self, need: &Need, held: Amount) -> Result<Amount, Shortage> {
        if let Some((most, 0)) = self.seat_time(need.claim, need.taken.ms) {
            let words = format!("This seat's budget of {} is spent.", in_time(most));
            return Err(Shortage::Seat(words));
        }
        for limit in self.limits(need, held) {
            let needed = limit.needs(need, held);
            if needed.is_infinite() {
                return Err(Shortage::Price(self.unpriced(need).clone()));
            }
            if limit.taken + needed > limit.most {
                let (taken, needed) = ((limit.words)(limit.taken), (limit.words)(needed));
                let name = limit.name;
                let words = format!(
                    "{name} does not cover this call: {taken} spent or reserved, {needed} needed."
                );
                return Err(if limit.is_whole {
                    Shortage::Room(words)
                } else {
                    Shortage::Seat(words)
                });
            }
        }
        Ok(self.reservation(need))
    }

    /// Holds an answer to its share of what is left, and says so to whoever writes it.
    pub fn fit(&self, ask: &mut Ask, claim: &Claim) {
        ask.patience.seat_ms = self.seat_time(claim, 0).map(|(_, left)| left);
        let shares: Vec<f64> = {
            let need = Need::of(ask, claim);
            let need = Need { reads: need.reads + HINT_TOKENS, ..need };
            self.limits(&need, Amount::default()).iter().map(|limit| limit.share(&need)).collect()
        };
        let Some(share) = shares.into_iter().reduce(f64::min) else { return };
        let usual = ask.patience.answer_tokens;
        let least = u32::try_from(limits::BUDGET_ANSWER_TOKENS).unwrap_or(usual).min(usual);
        // A share that is no number, or less than nothing, is the least.
        let share =
            if share > f64::from(least) { share.min(f64::from(usual)) as u32 } else { least };
        ask.patience.answer_tokens = share;
        let last = ask.messages.last_mut();
        if let (Shape::Free | Shape::Headings(_), Some(last)) = (&ask.shape, last)
            && share < limits::BUDGET_ROOMY_TOKENS
        {
            // Told before, a model comes to its end; a limit alone cuts it off.
            let words = (share / 2 / 10 * 10).max(10);
            last.text.push_str(&format!("\nKeep your whole answer under {words} words.\n"));
        }
    }

    /// The end of the session's time, until it has come.
    pub fn time(&self) -> Option<Call> {
        let ms = self.budget()?.most.time_ms?;
        let from = self.purse.began.filter(|_| !self.is_time_over())?;
        let until = from.checked_add(SignedDuration::from_millis(i64::try_from(ms).ok()?));
        let until = until.unwrap_or(Timestamp::MAX);
        Some(Call { id: time_call(), work: Work::Sleep { until } })
    }

    /// These seats are waited for from now on, and nobody else; of those whose time is
    /// not limited nothing need be said.
    pub(crate) fn at_work(&mut self, seats: &[String], at: Timestamp) {
        let ended = self.purse.at_work.extract_if(.., |seat, _| !seats.contains(seat));
        for (seat, from) in ended.collect::<Vec<_>>() {
            let ms = u64::try_from(at.duration_since(from).as_millis()).unwrap_or(0);
            let own = self.purse.by_seat.entry(seat).or_default();
            *own = own.plus(Amount { ms, ..Amount::default() });
        }
        for seat in seats {
            self.purse.at_work.entry(seat.clone()).or_insert(at);
        }
    }

    /// The time that a seat may take, where that is limited, and what is left of it for a
    /// call that has taken so much.
    fn seat_time(&self, claim: &Claim, taken_ms: u64) -> Option<(u64, u64)> {
        let (seat, allowance) = claim.seat.as_ref()?;
        let most = allowance.time_ms?;
        let taken = self.counted_of(seat).ms.saturating_add(taken_ms);
        Some((most, most.saturating_sub(taken)))
    }

    fn limits(&self, need: &Need, held: Amount) -> Vec<Limit> {
        let mut limits = vec![];
        let follows = need.claim.follows.as_ref().map(|follows| self.rate(&follows.model));
        let follows_tokens = need.claim.follows.as_ref().map(|_| Rate::TOKENS);
        let call = self.rate(need.model);
        let mut add = |most: Allowance, taken: Amount, whose: &str, is_whole: bool| {
            limits.extend(most.tokens.map(|tokens| Limit {
                most: tokens as f64,
                taken: taken.tokens as f64,
                call: Rate::TOKENS,
                follows: follows_tokens.filter(|_| is_whole),
                is_whole,
                name: format!("{whose} of {} tokens", count(tokens)),
                words: |tokens| count(tokens.ceil() as u64),
            }));
            limits.extend(most.cost.map(|cost| Limit {
                most: cost,
                taken: taken.cost,
                call,
                follows: follows.filter(|_| is_whole),
                is_whole,
                name: format!("{whose} of {} {}", said(cost), self.prices().currency),
                words: said,
            }));
        };
        if let Some(budget) = self.budget() {
            let taken = self.counted().plus(self.promised()).plus(held).plus(need.taken);
            add(budget.most, taken, "The budget", true);
        }
        if let Some((seat, allowance)) = &need.claim.seat {
            let taken = self.counted_of(seat).plus(need.taken);
            add(*allowance, taken, "This seat's budget", false);
        }
        limits
    }

    /// Whose price is not known, of a call that has to keep to money.
    fn unpriced<'a>(&self, need: &'a Need) -> &'a ModelName {
        let follows = need.claim.follows.as_ref().map(|follows| &follows.model);
        follows.filter(|_| self.quote(need.model).is_some()).unwrap_or(need.model)
    }

    fn rate(&self, model: &ModelName) -> Rate {
        Rate::of(self.quote(model).map(|quote| quote.price))
    }
}
