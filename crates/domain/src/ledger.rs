//! What a session has spent: every attempt that was settled, whatever became of it.
//!
//! Each form adds to its ledger in `take`, from the event that settles a call. So nothing
//! leaves the total when an answer is replaced, thrown away or could not be used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::budget::Purse;
use crate::call::FailureKind;
use crate::discussion::estimate::TOKEN_BYTES;
use crate::ids::ModelName;
use crate::prices::{DOLLARS, Noted, Quote};

/// What a provider says that a call took. What it does not say is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Those from the provider's cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of those, the ones that the provider had in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Thinking included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Of those, the ones of thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// What the provider itself says that it costs, in billionths of a US dollar: small
    /// calls cost less than a millionth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_nano_usd: Option<u64>,
}

impl Usage {
    pub fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }

    /// What is unknown on both sides stays unknown.
    pub fn plus(self, other: Usage) -> Usage {
        self.with(other, |one, another| match (one, another) {
            (None, None) => None,
            (one, another) => Some(one.unwrap_or(0).saturating_add(another.unwrap_or(0))),
        })
    }

    /// Later numbers of the same call replace earlier ones.
    pub fn then(self, later: Usage) -> Usage {
        self.with(later, |earlier, later| later.or(earlier))
    }

    fn with(self, other: Usage, one: impl Fn(Option<u64>, Option<u64>) -> Option<u64>) -> Usage {
        Usage {
            input_tokens: one(self.input_tokens, other.input_tokens),
            cached_tokens: one(self.cached_tokens, other.cached_tokens),
            output_tokens: one(self.output_tokens, other.output_tokens),
            reasoning_tokens: one(self.reasoning_tokens, other.reasoning_tokens),
            cost_nano_usd: one(self.cost_nano_usd, other.cost_nano_usd),
        }
    }

    /// `2,270 tokens in (1,816 cached), 340 out (120 reasoning), $0.012`; `None` where
    /// nothing is known.
    pub fn in_words(&self) -> Option<String> {
        let of = |part: Option<u64>, what: &str| match part {
            Some(part @ 1..) => format!(" ({} {what})", count(part)),
            Some(0) | None => String::new(),
        };
        let input = self.input_tokens.map(|tokens| {
            format!("{} tokens in{}", count(tokens), of(self.cached_tokens, "cached"))
        });
        let output = self.output_tokens.map(|tokens| {
            let unit = if input.is_some() { "" } else { " tokens" };
            format!("{}{unit} out{}", count(tokens), of(self.reasoning_tokens, "reasoning"))
        });
        let cost = self.cost_nano_usd.map(|nanos| dollars(nanos as f64 / NANO));
        let parts: Vec<String> = [input, output, cost].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// What the provider says that it costs, in US dollars.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost_nano_usd.map(|nanos| nanos as f64 / NANO)
    }
}

fn in_words(used: Usage, cost: Option<String>) -> Option<String> {
    let tokens = Usage { cost_nano_usd: None, ..used }.in_words();
    let parts: Vec<String> = [tokens, cost].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A count, exactly: `12,345`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

const NANO: f64 = 1e9;

/// US dollars as a number of nano-dollars; `None` for what is no amount of money.
pub fn nano_usd(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * NANO).round() as u64)
}

/// Nobody asks for less money.
pub const LEAST_MONEY: f64 = 0.0001;
const MOST_DECIMALS: usize = 4;

/// An amount of money as a person would say it, `0.0012`, `0.35`, `12.40`; `None` where it
/// is less than anybody asks for.
pub fn money(amount: f64) -> Option<String> {
    match amount {
        nothing if nothing <= 0.0 => Some("0".to_owned()),
        little if little < LEAST_MONEY => None,
        some => {
            let said = format!("{some:.*}", decimals(some));
            let cents = said.find('.').map_or(said.len(), |point| point + 3);
            let end = said.trim_end_matches('0').len().max(cents);
            Some(said[..end].to_owned())
        }
    }
}

/// Cents, and of less than one the first two digits that say something.
pub fn decimals(amount: f64) -> usize {
    let first = (-amount.log10().floor()).max(0.0) as usize;
    (first + 1).clamp(2, MOST_DECIMALS)
}

fn in_currency(amount: f64, currency: &str) -> String {
    match currency {
        DOLLARS => dollars(amount),
        other => {
            let said = money(amount).unwrap_or_else(|| format!("less than {LEAST_MONEY}"));
            format!("{said} {other}")
        }
    }
}

fn dollars(amount: f64) -> String {
    money(amount).map_or_else(|| format!("less than ${LEAST_MONEY}"), |said| format!("${said}"))
}

/// By model, with the prices that the session has noted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ledger {
    spent: BTreeMap<ModelName, Spent>,
    prices: Noted,
    pub(crate) purse: Purse,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    pub usage: Usage,
    /// Some answer came without its tokens, so that they are more than is known.
    pub untold: bool,
    /// Something was used of which the provider did not say what it costs.
    pub unpriced: bool,
}

impl Spent {
    fn cost(&self, quote: Option<&Quote>, in_dollars: bool) -> Option<f64> {
        let said = self.usage.cost_usd().filter(|_| in_dollars && !self.unpriced);
        let by_price = quote.and_then(|quote| quote.price.cost(self.usage));
        Quote::truest(quote, said, by_price.filter(|_| !self.untold))
    }
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    Answered,
    Failed(FailureKind),
    Stopped,
}

/// A call that has ended.
pub struct Settled<'a> {
    pub model: &'a ModelName,
    pub seat: Option<&'a str>,
    pub usage: Usage,
    pub ended: Ended,
    /// Requests that were made for it.
    pub requests: u32,
    /// Tokens that each read, about, and bytes that it wrote: they stand in for what the
    /// provider does not say.
    pub read: u64,
    pub written_bytes: usize,
}

impl Ledger {
    /// Notes what a call took, whatever became of it.
    pub fn settle(&mut self, settled: Settled) {
        let Settled { model, seat, usage, ended, requests, read, written_bytes } = settled;
        let answers = ended == Ended::Answered;
        let spent = self.spent.entry(model.clone()).or_default();
        spent.usage = spent.usage.plus(usage);
        spent.untold |= answers && (usage.input_tokens.is_none() || usage.output_tokens.is_none());
        spent.unpriced |= (answers || !usage.is_unknown()) && usage.cost_nano_usd.is_none();
        let has_read = match ended {
            Ended::Failed(kind) => written_bytes > 0 || kind.may_have_read(),
            Ended::Answered | Ended::Stopped => true,
        };
        let written = written_bytes as u64 / TOKEN_BYTES;
        let read = read.saturating_mul(requests.max(1).into());
        let about = Usage {
            input_tokens: usage.input_tokens.or(has_read.then_some(read)),
            output_tokens: usage.output_tokens.or(Some(written)),
            ..usage
        };
        let amount = self.amount(model, about);
        self.count(seat, amount);
    }

    pub fn models(&self) -> impl Iterator<Item = (&ModelName, &Spent)> {
        self.spent.iter()
    }

    /// What all of it costs. `None` of nothing, and of anything that is not known; a call
    /// that brought no answer and of which nothing is known counts as nothing.
    ///
    /// By what the session has noted; of a model of which it has noted nothing, by what
    /// `otherwise` says, in the same currency.
    pub fn cost(
        &self,
        otherwise: impl Fn(&ModelName) -> Option<Quote>,
        in_dollars: bool,
    ) -> Option<f64> {
        let known = |spent: &Spent| spent.untold || !spent.usage.is_unknown();
        let spent = self.spent.iter().filter(|(_, spent)| known(spent));
        let costs = spent.map(|(model, spent)| {
            let quote = self.quote(model).copied().or_else(|| otherwise(model));
            spent.cost(quote.as_ref(), in_dollars)
        });
        let costs: Vec<f64> = costs.collect::<Option<_>>()?;
        (!costs.is_empty()).then(|| costs.iter().sum())
    }

    /// The prices that the session has noted.
    pub fn prices(&self) -> &Noted {
        &self.prices
    }

    /// The price that the session has noted for this model.
    pub fn quote(&self, model: &ModelName) -> Option<&Quote> {
        self.prices.models.get(model)
    }

    /// The session keeps to these prices from now on.
    pub fn note(&mut self, prices: &Noted) {
        self.prices.currency.clone_from(&prices.currency);
        self.prices
            .models
            .extend(prices.models.iter().map(|(model, quote)| (model.clone(), *quote)));
        // What was spent before costs what is known now.
        let spent = self.spent.iter().map(|(model, spent)| self.amount(model, spent.usage).cost);
        self.purse.recount(spent.sum());
    }

    /// Of these prices, those that are yet to be noted. What has been noted stays, and
    /// nothing in another currency comes beside it.
    pub(crate) fn unnoted(&self, prices: Noted) -> Option<Noted> {
        let Noted { currency, mut models } = prices;
        models.retain(|model, _| self.quote(model).is_none());
        let is_other = !self.prices.models.is_empty() && self.prices.currency != currency;
        (!models.is_empty() && !is_other).then_some(Noted { currency, models })
    }

    /// What a call of this model took, and what that cost by the price that the session has
    /// noted, or as the provider says; `None` where nothing is known.
    pub fn call_in_words(&self, model: &ModelName, used: Usage) -> Option<String> {
        let cost = Quote::cost(self.quote(model), used, self.prices.is_in_dollars());
        in_words(used, cost.map(|cost| in_currency(cost, &self.prices.currency)))
    }

    /// The same of the whole session. Where not all of its cost is known, providers may
    /// have said some of it.
    pub fn total_in_words(&self) -> Option<String> {
        let total = self.total();
        let whole = self.cost(|_| None, self.prices.is_in_dollars());
        let whole = whole.map(|cost| in_currency(cost, &self.prices.currency));
        let some = || total.cost_usd().map(|cost| format!("at least {}", dollars(cost)));
        in_words(total, whole.or_else(some))
    }

    pub fn total(&self) -> Usage {
        self.spent.values().fold(Usage::default(), |sum, spent| sum.plus(spent.usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prices::{Price, Source};

    #[test]
    fn usage_is_told_as_a_person_would() {
        let known =
            Usage { input_tokens: Some(2270), output_tokens: Some(340), ..Usage::default() };
        let detailed = Usage { cached_tokens: Some(1816), reasoning_tokens: Some(120), ..known };
        let output = Usage { input_tokens: None, ..known };
        for (usage, words) in [
            (Usage::default(), None),
            (known, Some("2,270 tokens in, 340 out")),
            (detailed, Some("2,270 tokens in (1,816 cached), 340 out (120 reasoning)")),
            (Usage { cached_tokens: Some(0), ..known }, Some("2,270 tokens in, 340 out")),
            (output, Some("340 tokens out")),
            (
                Usage { cost_nano_usd: Some(12_345_678), ..known },
                Some("2,270 tokens in, 340 out, $0.012"),
            ),
        ] {
            assert_eq!(usage.in_words().as_deref(), words);
        }
        for (amount, words) in [
            (0.0, "$0"),
            (0.000_001, "less than $0.0001"),
            (0.001_234, "$0.0012"),
            (0.012_34, "$0.012"),
            (0.099_96, "$0.10"),
            (3.0, "$3.00"),
            (0.008, "$0.008"),
            (0.5, "$0.50"),
            (0.456_7, "$0.46"),
            (12.345_6, "$12.35"),
        ] {
            assert_eq!(dollars(amount), words);
        }
    }

    #[test]
    fn a_call_and_a_session_are_told_with_what_they_cost() {
        let (model, other) = (ModelName::new("m", "1"), ModelName::new("m", "2"));
        let price = Price { input: 1_000.0, output: 2_000.0, cached: None };
        let quote = Quote { price, source: Source::Settings, said_at: None };
        let used = Usage { input_tokens: Some(10), output_tokens: Some(1), ..Usage::default() };
        let said = Usage { cost_nano_usd: Some(5_000_000), ..used };
        let settled = |model, usage| Settled {
            model,
            seat: None,
            usage,
            ended: Ended::Answered,
            requests: 1,
            read: 0,
            written_bytes: 0,
        };
        for (currency, call, whole, some) in [
            ("USD", "$0.012", "$0.012", "at least $0.005"),
            ("EUR", "0.012 EUR", "0.012 EUR", "at least $0.005"),
        ] {
            let models = [(model.clone(), quote)].into();
            let mut ledger = Ledger::default();
            ledger.note(&Noted { currency: currency.into(), models });
            assert_eq!(ledger.total_in_words(), None);
            ledger.settle(settled(&model, used));
            let told = |cost: &str| Some(format!("10 tokens in, 1 out, {cost}"));
            assert_eq!(ledger.call_in_words(&model, used), told(call));
            assert_eq!(ledger.total_in_words(), told(whole));
            // Of another model nobody knows the price, and of one call its provider does.
            assert_eq!(ledger.call_in_words(&other, used), Some("10 tokens in, 1 out".into()));
            ledger.settle(settled(&other, said));
            ledger.settle(settled(&other, used));
            let all = format!("30 tokens in, 3 out, {some}");
            assert_eq!(ledger.total_in_words(), Some(all));
        }
        assert_eq!(Ledger::default().call_in_words(&model, Usage::default()), None);
    }

    #[test]
    fn money_is_counted_to_the_billionth() {
        assert_eq!(nano_usd(0.000_001_42), Some(1_420));
        assert_eq!([f64::NAN, -1.0, f64::INFINITY].map(nano_usd), [None; 3]);
    }
}
