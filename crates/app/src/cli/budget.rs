//! `--budget`: money, tokens or time, as people write them.

use clap::Args;
use plenary_domain::ledger;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{time, usage};
use crate::api::ApiError;
use crate::rounded::{self, count};

/// What a session and its seats may spend.
#[derive(Args)]
pub struct Limit {
    /// Budget in money, tokens or time, such as 0.50usd, 20ktok, 90s; SEAT=AMOUNT for one seat
    /// (repeatable)
    #[arg(long = "budget", value_name = "[SEAT=]AMOUNT")]
    budget: Vec<String>,
    /// Stop when the budget runs out, instead of concluding from what there is
    #[arg(long, requires = "budget")]
    stop_when_spent: bool,
}

impl Limit {
    pub fn names_seats(&self) -> bool {
        self.budget.iter().any(|one| one.contains('='))
    }

    /// The session's own.
    pub fn body(&self) -> Result<Option<Value>, ApiError> {
        let own = self.budget.iter().filter(|one| !one.contains('='));
        read(&own.cloned().collect::<Vec<_>>(), self.stop_when_spent)
    }

    /// Gives each seat its own whom a name on the command line means.
    pub fn sit<'a>(
        &self,
        seats: impl IntoIterator<Item = &'a mut Value>,
        is_meant: impl Fn(&Value, &str) -> bool,
    ) -> Result<(), ApiError> {
        let named = self.budget.iter().filter_map(|one| one.split_once('='));
        let mut named: Vec<(&str, &str, bool)> =
            named.map(|(seat, amount)| (seat.trim(), amount, false)).collect();
        for seat in seats {
            let meant = named.iter_mut().filter(|(name, ..)| is_meant(seat, name));
            let mut amounts = vec![];
            for (_, amount, is_found) in meant {
                *is_found = true;
                amounts.push((*amount).to_owned());
            }
            if let Some(budget) = read(&amounts, false)? {
                seat["budget"] = budget;
            }
        }
        match named.iter().find(|(.., is_found)| !is_found) {
            Some((name, ..)) => Err(usage(format!("--budget {name}=…: there is no seat {name}"))),
            None => Ok(()),
        }
    }
}

/// A budget as it stands.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    tokens: Option<u64>,
    cost: Option<f64>,
    seconds: Option<f64>,
    spent_tokens: u64,
    spent_cost: Option<f64>,
    currency: Option<String>,
}

impl Budget {
    /// `12,300 of 20,000 tokens, 0.12 of 0.50 USD, at most 1 min 30 s`.
    pub fn in_words(&self) -> String {
        let tokens = self
            .tokens
            .map(|most| format!("{} of {} tokens", count(self.spent_tokens), count(most)));
        let cost = self.cost.map(|most| {
            let spent = self.spent_cost.and_then(ledger::money).unwrap_or_else(|| "0".to_owned());
            format!("{spent} of {}", rounded::money(most, self.currency.as_deref()))
        });
        let time =
            |seconds: f64| format!("at most {}", rounded::duration((seconds * 1000.0) as u64));
        let parts = [tokens, cost, self.seconds.map(time)].into_iter().flatten();
        format!("budget: {}", parts.collect::<Vec<_>>().join(", "))
    }
}

/// `0.50usd`, `20ktok`, `90s`, several of them apart or with commas between them.
pub fn read(written: &[String], stop: bool) -> Result<Option<Value>, ApiError> {
    let mut budget = Map::new();
    let parts = written.iter().flat_map(|one| one.split(',')).map(str::trim);
    for part in parts {
        let fields = part_of(part).ok_or_else(|| {
            usage(format!(
                "--budget {part}: write money, tokens or a time, such as 0.50usd, 20ktok, 90s"
            ))
        })?;
        for (field, value) in fields {
            if budget.insert(field.to_owned(), value).is_some() {
                return Err(usage(format!("--budget {part}: given twice")));
            }
        }
    }
    if stop {
        budget.insert("whenSpent".into(), json!("stop"));
    }
    Ok((!budget.is_empty()).then_some(Value::Object(budget)))
}

fn part_of(part: &str) -> Option<Vec<(&'static str, Value)>> {
    let end = part.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_'))?;
    let (number, unit) = part.split_at(end);
    let number: f64 = number.replace('_', "").parse().ok()?;
    let unit = unit.trim().to_ascii_lowercase();
    let tokens = |thousands: f64| {
        let tokens = number * thousands;
        (1.0..1e15).contains(&tokens).then(|| vec![("tokens", json!(tokens.round() as u64))])
    };
    match unit.as_str() {
        "tok" | "token" | "tokens" => tokens(1.0),
        "ktok" | "k" => tokens(1e3),
        "mtok" => tokens(1e6),
        "s" | "m" | "min" | "h" | "d" => {
            let seconds = time::whole_seconds(&format!("{number}{}", &unit[..1])).ok()?;
            Some(vec![("seconds", json!(seconds))])
        }
        currency if currency.len() == 3 && currency.chars().all(|c| c.is_ascii_alphabetic()) => {
            Some(vec![("cost", json!(number)), ("currency", json!(currency.to_ascii_uppercase()))])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_people_write_them() {
        let of = |written: &str| read(&[written.to_owned()], false).ok().flatten();
        for (written, expected) in [
            ("0.50usd", Some(json!({ "cost": 0.5, "currency": "USD" }))),
            ("2 EUR", Some(json!({ "cost": 2.0, "currency": "EUR" }))),
            ("20ktok", Some(json!({ "tokens": 20_000 }))),
            ("1.5mtok", Some(json!({ "tokens": 1_500_000 }))),
            ("20_000 tokens", Some(json!({ "tokens": 20_000 }))),
            ("90s", Some(json!({ "seconds": 90 }))),
            ("2min", Some(json!({ "seconds": 120 }))),
            ("20ktok,90s", Some(json!({ "tokens": 20_000, "seconds": 90 }))),
            ("", None),
            ("20", None),
            ("usd", None),
            ("20 bananas", None),
            ("20ktok,3tok", None),
        ] {
            assert_eq!(of(written), expected, "{written}");
        }
        let stopping = read(&["90s".to_owned()], true).ok().flatten();
        assert_eq!(stopping, Some(json!({ "seconds": 90, "whenSpent": "stop" })));
    }

    #[test]
    fn a_seat_is_given_its_own() {
        let limit = |written: &[&str]| Limit {
            budget: written.iter().map(|one| (*one).to_owned()).collect(),
            stop_when_spent: false,
        };
        let sit = |limit: &Limit| {
            let mut seats = [json!({ "name": "ann" }), json!({ "name": "bob" })];
            let sat = limit.sit(&mut seats, |seat, name| seat["name"] == name);
            sat.map(|()| seats).map_err(|error| error.message)
        };
        let both = limit(&["20ktok", "ann=5ktok,60s", "ann=0.10usd"]);
        assert_eq!(both.body().ok().flatten(), Some(json!({ "tokens": 20_000 })));
        let own = json!({ "tokens": 5_000, "seconds": 60, "cost": 0.1, "currency": "USD" });
        assert_eq!(
            sit(&both),
            Ok([json!({ "name": "ann", "budget": own }), json!({ "name": "bob" })])
        );
        let unknown = "--budget cy=…: there is no seat cy";
        assert_eq!(sit(&limit(&["cy=5ktok"])), Err(unknown.to_owned()));
    }
}
