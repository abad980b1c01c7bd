//! What models cost, who says so, and when they said it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::ids::ModelName;
use crate::ledger::Usage;
use crate::limits;
use crate::names::check_model_name;

/// The currency in which providers, and lists of prices, say what something costs.
pub const DOLLARS: &str = "USD";

const MILLION: f64 = 1e6;

/// Money for a million tokens.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Of tokens that the provider had in its cache; they cost like others where nobody
    /// says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

impl Price {
    pub const NOTHING: Price = Price { input: 0.0, output: 0.0, cached: None };

    /// What this usage costs; `None` unless its tokens are known.
    pub fn cost(&self, used: Usage) -> Option<f64> {
        let (input, output) = (used.input_tokens?, used.output_tokens?);
        let cached = used.cached_tokens.unwrap_or(0).min(input);
        let read = (input - cached) as f64 * self.input
            + cached as f64 * self.cached.unwrap_or(self.input);
        Some((read + output as f64 * self.output) / MILLION)
    }

    /// Whether all of it are amounts of money.
    pub fn is_money(&self) -> bool {
        let is_money = |amount: f64| amount.is_finite() && amount >= 0.0;
        [self.input, self.output, self.cached.unwrap_or(0.0)].into_iter().all(is_money)
    }
}

/// Who says what a model costs, in the order in which they are believed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The operator.
    Settings,
    /// It runs inside this process.
    Embedded,
    /// The provider, in its list of models.
    Provider,
    /// A list of prices that the operator has imported.
    Import,
}

/// A price, and where it comes from.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    #[serde(flatten)]
    pub price: Price,
    pub source: Source,
    /// When it was said, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
}

impl Quote {
    /// What this usage costs, in the currency of the price, which is US dollars or not.
    pub fn cost(quote: Option<&Quote>, used: Usage, in_dollars: bool) -> Option<f64> {
        let said = used.cost_usd().filter(|_| in_dollars);
        let by_price = quote.and_then(|quote| quote.price.cost(used));
        Quote::truest(quote, said, by_price)
    }

    /// What the provider says of a call is truer than a list of prices; the operator's own
    /// word goes before both.
    pub(crate) fn truest(
        quote: Option<&Quote>,
        said: Option<f64>,
        by_price: Option<f64>,
    ) -> Option<f64> {
        match quote.map(|quote| quote.source) {
            Some(Source::Settings) => by_price,
            Some(Source::Embedded | Source::Provider | Source::Import) | None => said.or(by_price),
        }
    }
}

/// `17 Nov 2026`.
pub fn day(date: Date) -> String {
    date.strftime("%-d %b %Y").to_string()
}

/// Prices as a session notes them when a model comes to it. It keeps to them, whatever
/// becomes of them elsewhere.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Noted {
    /// Of all prices here.
    pub currency: String,
    pub models: BTreeMap<ModelName, Quote>,
}

impl Default for Noted {
    fn default() -> Self {
        Noted { currency: DOLLARS.to_owned(), models: BTreeMap::new() }
    }
}

impl Noted {
    pub fn is_in_dollars(&self) -> bool {
        self.currency == DOLLARS
    }

    /// Who has said them, as a sentence, but for the operator, who knows that:
    /// `Prices: openrouter, 17 Nov 2026; an imported list, 3 Nov 2026.`
    pub fn sources(&self) -> Option<String> {
        let said = |(model, quote): (&ModelName, &Quote)| {
            let who = match quote.source {
                Source::Settings | Source::Embedded => return None,
                Source::Provider => model.parts().0,
                Source::Import => "an imported list",
            };
            Some(quote.said_at.map_or_else(
                || who.to_owned(),
                |at| format!("{who}, {}", day(at.to_zoned(TimeZone::UTC).date())),
            ))
        };
        let all: BTreeSet<String> = self.models.iter().filter_map(said).collect();
        let all: Vec<String> = all.into_iter().collect();
        (!all.is_empty()).then(|| format!("Prices: {}.", all.join("; ")))
    }

    /// Whether a record from elsewhere may say this.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let is_short = self.currency.len() <= limits::CURRENCY_BYTES;
        if !is_short || !self.currency.chars().all(char::is_alphabetic) {
            return Err("a currency is a word like USD");
        }
        if self.models.len() > limits::NOTED_PRICES {
            return Err("these are more prices than a board has models");
        }
        if !self.models.keys().all(|model| check_model_name(model).is_ok()) {
            return Err("a model is named provider/model");
        }
        match self.models.values().all(|quote| quote.price.is_money()) {
            true => Ok(()),
            false => Err("a price is no amount of money"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USED: Usage = Usage {
        input_tokens: Some(1_000_000),
        cached_tokens: Some(400_000),
        output_tokens: Some(100_000),
        reasoning_tokens: None,
        cost_nano_usd: None,
    };

    #[test]
    fn cached_tokens_have_their_own_price_or_none() {
        let price = Price { input: 2.0, output: 10.0, cached: None };
        assert_eq!(price.cost(USED), Some(3.0));
        let cheaper = Price { cached: Some(0.5), ..price };
        // 600,000 at 2, 400,000 at 0.50, 100,000 at 10 for a million each.
        assert_eq!(cheaper.cost(USED), Some(1.2 + 0.2 + 1.0));
        // More than was read cannot have come from a cache.
        let all = Usage { cached_tokens: Some(9_000_000), ..USED };
        assert_eq!(cheaper.cost(all), Some(0.5 + 1.0));
        let untold = Usage { output_tokens: None, ..USED };
        assert_eq!(cheaper.cost(untold), None);
    }

    #[test]
    fn it_is_said_who_says_what_something_costs() {
        let said_at = Timestamp::from_second(1_794_900_000).ok();
        let quote = |source, said_at| Quote { price: Price::NOTHING, source, said_at };
        let noted = |all: &[(&str, Source, Option<Timestamp>)]| Noted {
            models: all
                .iter()
                .map(|(name, source, at)| (ModelName((*name).into()), quote(*source, *at)))
                .collect(),
            ..Noted::default()
        };
        let (own, listed) = (("a/1", Source::Settings, None), ("r/1", Source::Provider, said_at));
        let other = ("r/2", Source::Provider, said_at);
        assert_eq!(noted(&[own, ("l/1", Source::Embedded, None)]).sources(), None);
        let said = noted(&[own, listed, other, ("o/1", Source::Import, None)]).sources();
        assert_eq!(said.as_deref(), Some("Prices: an imported list; r, 17 Nov 2026."));
    }

    #[test]
    fn the_operator_is_believed_before_a_call_and_a_call_before_a_list() {
        let of = |source| {
            let price = Price { input: 1.0, output: 0.0, cached: None };
            Quote { price, source, said_at: None }
        };
        let said = Usage { cost_nano_usd: Some(250_000_000), ..USED };
        for (quote, used, in_dollars, expected) in [
            (Some(of(Source::Settings)), said, true, Some(1.0)),
            (Some(of(Source::Provider)), said, true, Some(0.25)),
            (Some(of(Source::Import)), said, true, Some(0.25)),
            (Some(of(Source::Import)), USED, true, Some(1.0)),
            (Some(of(Source::Embedded)), USED, true, Some(1.0)),
            (None, said, true, Some(0.25)),
            (None, said, false, None),
            (None, USED, true, None),
        ] {
            assert_eq!(Quote::cost(quote.as_ref(), used, in_dollars), expected, "{quote:?}");
        }
    }
}
