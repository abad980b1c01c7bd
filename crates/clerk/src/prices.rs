//! What models cost, as far as the operator has said. There is no table of vendors'
//! prices: they change, and a wrong one is worse than none.

use std::collections::BTreeMap;

use plenary_domain::{Ledger, ModelName, Usage};

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
        Prices { currency: "USD".into(), models: BTreeMap::new(), free: vec![] }
    }
}

/// Money for a million tokens.
pub use plenary_domain::discussion::Money as Price;

impl Prices {
    /// A model's price. `None` means that nobody has said.
    pub fn of(&self, model: &ModelName) -> Option<Price> {
        let free = self.free.iter().any(|provider| provider == model.parts().0);
        let nothing = free.then_some(Price { input: 0.0, output: 0.0 });
        self.models.get(model).copied().or(nothing)
    }

    /// What a call cost, in this currency, as far as that is known.
    pub fn cost(&self, model: &ModelName, used: Usage) -> Option<f64> {
        used.cost(self.of(model), self.is_in_dollars())
    }

    /// What a session cost, in this currency, as far as that is known.
    pub fn sum(&self, ledger: &Ledger) -> Option<f64> {
        ledger.cost(|model| self.of(model), self.is_in_dollars())
    }

    /// Providers that say what a call costs say it in US dollars.
    fn is_in_dollars(&self) -> bool {
        self.currency == "USD"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_what_was_set_and_nothing_for_what_runs_here() {
        let set = Price { input: 0.15, output: 0.6 };
        let prices = Prices {
            currency: "USD".into(),
            models: [(ModelName::new("openai", "m1"), set)].into(),
            free: vec!["local".into()],
        };
        for (provider, model, expected) in [
            ("openai", "m1", Some(set)),
            ("openai", "m2", None),
            ("local", "m1", Some(Price { input: 0.0, output: 0.0 })),
        ] {
            assert_eq!(prices.of(&ModelName::new(provider, model)), expected, "{provider}/{model}");
        }
    }
}
