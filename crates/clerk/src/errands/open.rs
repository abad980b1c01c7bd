//! Sessions that a step opens and then waits for.

use plenary_domain::{FailureKind, SessionId, Timestamp};
use plenary_engine::ports::ErrandError;
use serde_json::{Map, Value, json};

use super::{Run, failed, request, why};
use crate::{boardrooms, discussions, runs};

impl Run<'_> {
    pub(super) async fn open(
        &self,
        act: &str,
        with: Map<String, Value>,
        key: &str,
        at: Timestamp,
    ) -> Result<Value, ErrandError> {
        let (id, by) = (SessionId::derived(key, at), self.by(key));
        let opened = match act {
            "boardroom" => {
                boardrooms::convene(self.clerk, Some(id), by, request(board(with))?).await
            }
            "discussion" => {
                discussions::create(self.clerk, Some(id), by, request(discussion(with))?).await
            }
            "workflow" => runs::begin_child(self.clerk, &self.snapshot, id, by, with).await,
            other => {
                let problem = format!("Nothing is opened by {other:?}.");
                return Err(failed(FailureKind::Internal, problem));
            }
        };
        Ok(json!({ "id": opened.map_err(why)?.id.to_string() }))
    }
}

fn board(mut with: Map<String, Value>) -> Value {
    let grace_ms = with.remove("grace").and_then(|grace| grace.as_u64());
    let mut new = Map::new();
    for (field, value) in with {
        let value = match field.as_str() {
            "advisors" => listed(value, |written| match written.split_once('=') {
                Some((role, model)) => json!({ "role": role.trim(), "model": model.trim() }),
                None => json!({ "role": written.trim() }),
            }),
            "quorum" => {
                let grace = grace_ms.map(|ms| ms as f64 / 1000.0);
                json!({ "need": value, "graceSeconds": grace })
            }
            _ => value,
        };
        match field.as_str() {
            "model" => new.insert("models".into(), json!([value])),
            // The run's own matter.
            "keep" => None,
            _ => new.insert(field, value),
        };
    }
    Value::Object(new)
}

fn discussion(with: Map<String, Value>) -> Value {
    let mut new = Map::new();
    new.insert("start".into(), true.into());
    for (field, value) in with {
        match field.as_str() {
            "facilitator" if value.is_string() => new.insert("moderatorId".into(), value),
            "rounds" => new.insert("maxRounds".into(), value),
            "with" => {
                let seat = |written: &str| match written.rsplit_once(':') {
                    Some((agent, role)) => json!({ "agentId": agent.trim(), "role": role.trim() }),
                    None => json!({ "agentId": written.trim() }),
                };
                new.insert("participants".into(), listed(value, seat))
            }
            "keep" => None,
            _ => new.insert(field, value),
        };
    }
    Value::Object(new)
}

/// Seats as files write them: a word, or a map in the words of files.
pub(super) fn listed(value: Value, word: impl Fn(&str) -> Value) -> Value {
    let Value::Array(items) = value else { return value };
    let item = |item: Value| match item {
        Value::String(written) => word(&written),
        Value::Object(map) => {
            let camel = |(key, value): (String, Value)| (camel(&key), value);
            Value::Object(map.into_iter().map(camel).collect())
        }
        other => other,
    };
    Value::Array(items.into_iter().map(item).collect())
}

/// `reply_within_seconds` is `replyWithinSeconds` in requests.
pub(super) fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out
}

/// The fields of a step that a request takes, by their names there.
pub(super) fn taken(with: &Map<String, Value>, fields: &[(&str, &str)]) -> Value {
    let given = |(from, to): &(&str, &str)| Some(((*to).to_owned(), with.get(*from)?.clone()));
    Value::Object(fields.iter().filter_map(given).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_board_is_asked_for_as_people_ask_for_it() {
        let with = map(json!({
            "prompt": "Ship it?", "model": "lab/a", "quorum": 2, "grace": 1500, "keep": true,
            "advisors": ["critic", "expert=lab/b", { "role": "analyst", "system_prompt": "Count." }],
        }));
        assert_eq!(
            board(with),
            json!({
                "prompt": "Ship it?", "models": ["lab/a"],
                "quorum": { "need": 2, "graceSeconds": 1.5 },
                "advisors": [
                    { "role": "critic" },
                    { "role": "expert", "model": "lab/b" },
                    { "role": "analyst", "systemPrompt": "Count." },
                ],
            })
        );
    }

    #[test]
    fn a_discussion_is_asked_for_as_people_ask_for_it() {
        let with = map(json!({
            "topic": "Tea?", "facilitator": "the-closer", "rounds": 3,
            "with": ["optimist", "skeptic:observer", { "agent_id": "optimist" }],
        }));
        assert_eq!(
            discussion(with),
            json!({
                "start": true, "topic": "Tea?", "moderatorId": "the-closer", "maxRounds": 3,
                "participants": [
                    { "agentId": "optimist" },
                    { "agentId": "skeptic", "role": "observer" },
                    { "agentId": "optimist" },
                ],
            })
        );
    }
}
