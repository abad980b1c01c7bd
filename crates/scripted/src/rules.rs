//! Rules that come as JSON, from a file or from a test in another process.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::script::{Fault, Gate, Reply, When};
use crate::steps::Step;

/// Tokens that go out before an answer is held, unless its rule says otherwise.
const HOLD_AFTER_TOKENS: usize = 8;

/// Rules as they were written down.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Reads a list of rules, or says which of them is wrong and why.
    pub fn read(json: &[u8]) -> Result<Rules, String> {
        let items: Vec<serde_json::Value> = serde_json::from_slice(json)
            .map_err(|error| format!("a script is a JSON list of rules: {error}"))?;
        let mut rules = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let rule = serde_json::from_value::<Rule>(item).map_err(|error| error.to_string());
            let rule = rule.and_then(Rule::checked);
            rules.push(rule.map_err(|wrong| format!("rule {}: {wrong}", index + 1))?);
        }
        Ok(Rules(rules))
    }

    /// The rules as the server uses them, at its own pace where they name none. A name
    /// that holds has one gate for all its rules; one that is still shut is kept, so
    /// that what waits there can be let go.
    pub(crate) fn play(
        &self,
        gates: &mut BTreeMap<String, Gate>,
        otherwise: &Reply,
    ) -> Vec<(When, Reply)> {
        for name in self.0.iter().flat_map(Rule::holds) {
            let gate = gates.entry(name.clone()).or_default();
            if gate.is_open() {
                *gate = Gate::new();
            }
        }
        let reply = |rule: &Rule| rule.reply(gates, otherwise);
        self.0.iter().map(|rule| (rule.when.clone().into(), reply(rule))).collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    #[serde(default)]
    when: Wanted,
    text: Option<String>,
    texts: Option<Vec<String>>,
    #[serde(default)]
    steps: Vec<Step>,
    reasoning: Option<String>,
    tokens: Option<usize>,
    tps: Option<u32>,
    first_ms: Option<u64>,
    usage: Option<(u64, u64)>,
    fault: Option<Fault>,
    faults: Option<u64>,
    hold: Option<String>,
    hold_after: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wanted {
    model: Option<String>,
    #[serde(default)]
    contains: Vec<String>,
    nth: Option<u64>,
}

impl From<Wanted> for When {
    fn from(wanted: Wanted) -> When {
        When { model: wanted.model, nth: wanted.nth, says: wanted.contains }
    }
}

impl Rule {
    /// Refuses what can be read and yet means nothing.
    fn checked(self) -> Result<Rule, String> {
        let said = [self.text.is_some(), self.texts.is_some(), self.tokens.is_some()];
        if said.into_iter().filter(|given| *given).count() > 1 {
            return Err("give one of `text`, `texts` and `tokens`, not several".to_owned());
        }
        if self.texts.as_ref().is_some_and(Vec::is_empty) {
            return Err("`texts` is empty: give at least one text".to_owned());
        }
        if self.faults.is_some() && self.fault.is_none() {
            return Err("`faults` counts the requests that meet `fault`, which is missing".into());
        }
        if self.hold_after.is_some() && self.hold.is_none() {
            return Err("`holdAfter` needs `hold`, the name to release it by".to_owned());
        }
        if self.holds().any(String::is_empty) {
            return Err("`hold` is empty: give it a name to release it by".to_owned());
        }
        Ok(self)
    }

    fn holds(&self) -> impl Iterator<Item = &String> {
        self.hold.iter().chain(self.steps.iter().filter_map(|step| step.hold.as_ref()))
    }

    fn reply(&self, gates: &BTreeMap<String, Gate>, otherwise: &Reply) -> Reply {
        let gate = self.hold.as_ref().and_then(|name| gates.get(name)).cloned();
        Reply {
            text: self.text.clone(),
            texts: self.texts.clone().unwrap_or_default(),
            steps: self.steps.iter().map(|step| step.with_gate(gates)).collect(),
            reasoning: self.reasoning.clone(),
            tokens: self.tokens,
            pace: self.tps.or(otherwise.pace),
            first_token: self.first_ms.map(Duration::from_millis).or(otherwise.first_token),
            usage: self.usage,
            gate: gate.map(|gate| (self.hold_after.unwrap_or(HOLD_AFTER_TOKENS), gate)),
            fault: self.fault.clone(),
            faults: self.faults,
            ..Reply::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(json: &str) -> String {
        match Rules::read(json.as_bytes()) {
            Ok(rules) => panic!("was taken: {rules:?}"),
            Err(wrong) => wrong,
        }
    }

    #[test]
    fn a_bad_script_is_refused_with_its_place_and_reason() {
        let one = "give one of `text`, `texts` and `tokens`, not several";
        assert_eq!(wrong(r#"[{}, {"text": "a", "tokens": 3}]"#), format!("rule 2: {one}"));
        let empty = "rule 1: `texts` is empty: give at least one text";
        assert_eq!(wrong(r#"[{"texts": []}]"#), empty);
        let missing = "rule 1: `holdAfter` needs `hold`, the name to release it by";
        assert_eq!(wrong(r#"[{"holdAfter": 3}]"#), missing);
        let faults = "rule 1: `faults` counts the requests that meet `fault`, which is missing";
        assert_eq!(wrong(r#"[{"faults": 3}]"#), faults);
        let unknown = wrong(r#"[{"speed": 3}]"#);
        assert!(unknown.starts_with("rule 1: unknown field `speed`, expected"), "{unknown}");
        let fault = wrong(r#"[{"fault": "tired"}]"#);
        assert!(fault.starts_with("rule 1: unknown variant `tired`, expected"), "{fault}");
        let object = wrong("{}");
        assert!(object.starts_with("a script is a JSON list of rules: "), "{object}");
    }

    #[test]
    fn faults_are_named_as_the_library_names_them() -> Result<(), String> {
        let read = |json: &str| -> Result<Option<Fault>, String> {
            let rules = Rules::read(format!("[{{\"fault\": {json}}}]").as_bytes())?;
            Ok(rules.0[0].fault.clone())
        };
        assert_eq!(read(r#""serverError""#)?, Some(Fault::ServerError));
        let limited = Fault::RateLimited { retry_after: Some(7) };
        assert_eq!(read(r#"{"rateLimited": {"retryAfter": 7}}"#)?, Some(limited));
        assert_eq!(
            read(r#"{"stallAfter": {"tokens": 2}}"#)?,
            Some(Fault::StallAfter { tokens: 2 })
        );
        let status = Fault::Status { code: 418, body: String::new(), retry_after: None };
        assert_eq!(read(r#"{"status": {"code": 418}}"#)?, Some(status));
        Ok(())
    }
}
