//! What models cost, as far as somebody has said. There is no table of vendors' prices
//! in this program: they change, and a wrong one is worse than none.

use std::collections::BTreeMap;

use plenary_domain::prices::DOLLARS;
use plenary_domain::{Ledger, ModelName, Noted, Price, Quote, Source, Usage};

use crate::Clerk;

/// What the operator has set.
#[derive(Clone, PartialEq, Debug)]
pub struct Prices {
    /// Of all prices here: `USD`.
    pub currency: String,
    pub models: BTreeMap<ModelName, Price>,
    /// Providers whose models run inside this process and cost nothing.
    pub free: Vec<String>,
}

impl Default for Prices {
    fn default() -> Self {
        Prices { currency: DOLLARS.into(), models: BTreeMap::new(), free: vec![] }
    }
}

impl Prices {
    fn quote(&self, model: &ModelName) -> Option<Quote> {
        let of = |price, source| Quote { price, source, said_at: None };
        let set = self.models.get(model).map(|price| of(*price, Source::Settings));
        let free = self.free.iter().any(|provider| provider == model.parts().0);
        set.or(free.then_some(of(Price::NOTHING, Source::Embedded)))
    }
}

impl Clerk {
    /// What a model costs now, by the operator, or by who else has said it in the same
    /// currency. `None` means that nobody has.
    pub fn quote(&self, model: &ModelName) -> Option<Quote> {
        let said = || self.engine.models().known(model).price;
        let prices = self.prices.now();
        prices.quote(model).or_else(|| said().filter(|_| prices.currency == DOLLARS))
    }

    /// The price of a model now.
    pub(crate) fn price(&self, model: &ModelName) -> Option<Price> {
        self.quote(model).map(|quote| quote.price)
    }

    /// What these models cost now, for a session to note.
    pub(crate) fn noted<'a>(&self, models: impl IntoIterator<Item = &'a ModelName>) -> Noted {
        let quoted = |model: &ModelName| Some((model.clone(), self.quote(model)?));
        let models = models.into_iter().filter_map(quoted).collect();
        Noted { currency: self.prices.now().currency.clone(), models }
    }

    /// The currency of what a session costs: that of the prices which it has noted.
    pub fn currency(&self, ledger: &Ledger) -> String {
        let noted = ledger.prices();
        match noted.models.is_empty() {
            true => self.prices.now().currency.clone(),
            false => noted.currency.clone(),
        }
    }

    /// What a call of a session cost, as far as that is known.
    pub fn cost(&self, ledger: &Ledger, model: &ModelName, used: Usage) -> Option<f64> {
        let quote = ledger.quote(model).copied().or_else(|| self.unnoted(ledger, model));
        Quote::cost(quote.as_ref(), used, self.currency(ledger) == DOLLARS)
    }

    /// What a session cost, as far as that is known.
    pub fn sum(&self, ledger: &Ledger) -> Option<f64> {
        ledger.cost(|model| self.unnoted(ledger, model), self.currency(ledger) == DOLLARS)
    }

    /// Where a session has noted nothing, it costs what it would cost now.
    fn unnoted(&self, ledger: &Ledger, model: &ModelName) -> Option<Quote> {
        self.quote(model).filter(|_| self.currency(ledger) == self.prices.now().currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_what_was_set_and_nothing_for_what_runs_here() {
        let set = Price { input: 0.15, output: 0.6, cached: None };
        let prices = Prices {
            currency: "USD".into(),
            models: [(ModelName::new("openai", "m1"), set)].into(),
            free: vec!["local".into()],
        };
        for (provider, model, expected) in [
            ("openai", "m1", Some((set, Source::Settings))),
            ("openai", "m2", None),
            ("local", "m1", Some((Price::NOTHING, Source::Embedded))),
        ] {
            let quote = prices.quote(&ModelName::new(provider, model));
            let told = quote.map(|quote| (quote.price, quote.source));
            assert_eq!(told, expected, "{provider}/{model}");
        }
    }
}
