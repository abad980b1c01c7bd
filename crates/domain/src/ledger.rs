//! What a session has spent: every attempt that was settled, whatever became of it.
//!
//! Each form adds to its ledger in `take`, from the event that settles a call. So nothing
//! leaves the total when an answer is replaced, thrown away or could not be used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::discussion::Money;
use crate::ids::ModelName;

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

    /// By the operator's price, or where there is none as the provider says, which says
    /// it in US dollars.
    pub fn cost(&self, price: Option<Money>, in_dollars: bool) -> Option<f64> {
        let Some(price) = price else { return self.cost_usd().filter(|_| in_dollars) };
        let (input, output) = (self.input_tokens?, self.output_tokens?);
        Some((input as f64 * price.input + output as f64 * price.output) / MILLION)
    }

    /// What the provider says that it costs, in US dollars.
    pub fn cost_usd(&self) -> Option<f64> {
        self.cost_nano_usd.map(|nanos| nanos as f64 / NANO)
    }
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
const MILLION: f64 = 1e6;

/// US dollars as a number of nano-dollars; `None` for what is no amount of money.
pub fn nano_usd(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| (dollars * NANO).round() as u64)
}

/// An amount as a person would say it: cents from a dollar on, else two digits that count.
pub fn rounded(amount: f64) -> String {
    let short = |text: String| text.trim_end_matches('0').to_owned();
    match amount {
        0.0 => "0".to_owned(),
        some if some >= 0.1 => format!("{some:.2}"),
        some if some >= 0.01 => short(format!("{some:.3}")),
        some if some >= 0.001 => short(format!("{some:.4}")),
        _ => "less than 0.001".to_owned(),
    }
}

fn dollars(amount: f64) -> String {
    match rounded(amount).strip_prefix("less than ") {
        Some(most) => format!("less than ${most}"),
        None => format!("${}", rounded(amount)),
    }
}

/// By model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ledger(BTreeMap<ModelName, Spent>);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    pub usage: Usage,
    /// Some answer came without its tokens, so that they are more than is known.
    pub untold: bool,
    /// Something was used of which the provider did not say what it costs.
    pub unpriced: bool,
}

impl Spent {
    fn cost(&self, price: Option<Money>, in_dollars: bool) -> Option<f64> {
        let untold = if price.is_some() { self.untold } else { self.unpriced };
        self.usage.cost(price, in_dollars).filter(|_| !untold)
    }
}

impl Ledger {
    /// What a call took that brought no answer.
    pub fn spent(&mut self, model: &ModelName, usage: Usage) {
        let spent = self.0.entry(model.clone()).or_default();
        spent.usage = spent.usage.plus(usage);
        spent.unpriced |= !usage.is_unknown() && usage.cost_nano_usd.is_none();
    }

    /// What a call took that brought an answer.
    pub fn told(&mut self, model: &ModelName, usage: Usage) {
        self.spent(model, usage);
        let spent = self.0.entry(model.clone()).or_default();
        spent.untold |= usage.input_tokens.is_none() || usage.output_tokens.is_none();
        spent.unpriced |= usage.cost_nano_usd.is_none();
    }

    pub fn models(&self) -> impl Iterator<Item = (&ModelName, &Spent)> {
        self.0.iter()
    }

    /// What all of it costs. `None` of nothing, and of anything that is not known; a call
    /// that brought no answer and of which nothing is known counts as nothing.
    pub fn cost(
        &self,
        price: impl Fn(&ModelName) -> Option<Money>,
        in_dollars: bool,
    ) -> Option<f64> {
        let known = |spent: &Spent| spent.untold || !spent.usage.is_unknown();
        let spent = self.0.iter().filter(|(_, spent)| known(spent));
        let costs = spent.map(|(model, spent)| spent.cost(price(model), in_dollars));
        let costs: Vec<f64> = costs.collect::<Option<_>>()?;
        (!costs.is_empty()).then(|| costs.iter().sum())
    }

    pub fn total(&self) -> Usage {
        self.0.values().fold(Usage::default(), |sum, spent| sum.plus(spent.usage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (0.000_001, "less than $0.001"),
            (0.001_234, "$0.0012"),
            (0.012_34, "$0.012"),
            (0.008, "$0.008"),
            (0.5, "$0.50"),
            (0.456_7, "$0.46"),
            (12.345_6, "$12.35"),
        ] {
            assert_eq!(dollars(amount), words);
        }
    }

    #[test]
    fn money_is_counted_to_the_billionth() {
        assert_eq!(nano_usd(0.000_001_42), Some(1_420));
        assert_eq!([f64::NAN, -1.0, f64::INFINITY].map(nano_usd), [None; 3]);
    }
}
