//! What was said about each of the four things that were asked for, and the conclusion
//! that some bring too, under whichever key and in whichever wrapping.

use super::{folded, shown, speaker};
use crate::written::{self, Value};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Key {
    Decision,
    Next,
    Question,
    Reasoning,
    Synthesis,
}

/// The key as asked for, and then others, the surer ones first. They are compared
/// without case and punctuation.
const KEYS: [(Key, &str, &[&str]); 5] = [
    (
        Key::Decision,
        "decision",
        &[
            "action",
            "nextaction",
            "verdict",
            "entscheidung",
            "décision",
            "decisión",
            "decisão",
            "决定",
            "決定",
        ],
    ),
    (
        Key::Next,
        "nextParticipantId",
        &[
            "nextparticipant",
            "nextspeakerid",
            "nextspeaker",
            "nextagentid",
            "nextagent",
            "nextid",
            "participantid",
            "speakerid",
            "next",
            "nextturn",
            "speaker",
            "participant",
            "nächste",
            "suivant",
            "siguiente",
            "próximo",
            "下一位",
            "次",
        ],
    ),
    (
        Key::Question,
        "question",
        &[
            "nextquestion",
            "openingquestion",
            "questiontoask",
            "prompt",
            "frage",
            "pregunta",
            "pergunta",
            "问题",
            "質問",
        ],
    ),
    (
        Key::Reasoning,
        "reasoning",
        &[
            "rationale",
            "reason",
            "reasons",
            "why",
            "explanation",
            "justification",
            "begründung",
            "raison",
            "理由",
        ],
    ),
    // Other words for it occur in reasons as well.
    (Key::Synthesis, "synthesis", &[]),
];

/// Keys under which models put the whole answer.
const WRAPPERS: [&str; 20] = [
    "decision",
    "response",
    "answer",
    "result",
    "output",
    "finalanswer",
    "final",
    "arguments",
    "args",
    "parameters",
    "input",
    "function",
    "functioncall",
    "toolcall",
    "toolcalls",
    "tooluse",
    "data",
    "json",
    "content",
    "properties",
];

/// Texts inside texts in which JSON is looked for.
const TEXTS: usize = 3;

impl Key {
    pub fn asked_for(self) -> &'static str {
        match self {
            Key::Decision => KEYS[0].1,
            Key::Next => KEYS[1].1,
            Key::Question => KEYS[2].1,
            Key::Reasoning => KEYS[3].1,
            Key::Synthesis => KEYS[4].1,
        }
    }

    /// Whether a key may have been meant that was cut off.
    pub fn is_begun(word: &str) -> bool {
        KEYS.iter().any(|(_, asked, _)| asked.starts_with(word))
    }

    /// Which one a key means, and how sure that is: 0 is the key that was asked for.
    pub fn of(word: &str) -> Option<(Key, usize)> {
        let word = folded(word);
        KEYS.iter().find_map(|(key, asked, also)| {
            let place = match folded(asked) == word {
                true => Some(0),
                false => also.iter().position(|other| *other == word).map(|place| place + 1),
            };
            Some((*key, place?))
        })
    }
}

#[derive(Default, Debug)]
pub(super) struct Fields {
    /// Surety, the key as it was written, and the value.
    entries: Vec<(Key, usize, String, Value)>,
    pub mended: Vec<String>,
}

/// What was said under one key.
pub(super) struct Said<'a> {
    pub key: &'a str,
    pub value: &'a Value,
}

impl Fields {
    /// The fields of a value, or none if it says neither who is next nor what is
    /// decided: any object may stand in prose.
    pub fn of(value: &Value) -> Result<Option<Fields>, String> {
        Fields::inside(value, TEXTS)
    }

    fn inside(value: &Value, texts: usize) -> Result<Option<Fields>, String> {
        match value {
            Value::Null | Value::Text { .. } => Ok(None),
            Value::List(items) => Fields::of_list(items, texts),
            Value::Object(entries) => Fields::of_object(entries, texts),
        }
    }

    /// Of a key that is given twice the last counts, as in every reader of JSON.
    pub fn add(&mut self, key: &str, value: &Value) {
        let Some((found, place)) = Key::of(key) else { return };
        let entry = (found, place, key.to_owned(), value.clone());
        match self.entries.iter_mut().find(|entry| (entry.0, entry.1) == (found, place)) {
            Some(earlier) => {
                *earlier = entry;
                let told = format!("took the last {}", shown(key));
                if !self.mended.contains(&told) {
                    self.mended.push(told);
                }
            }
            None => self.entries.push(entry),
        }
    }

    /// The surest key wins.
    pub fn get(&self, key: Key) -> Option<Said<'_>> {
        let all = self.entries.iter().filter(|entry| entry.0 == key);
        let (_, _, key, value) = all.min_by_key(|entry| entry.1)?;
        Some(Said { key, value })
    }

    pub fn is_decision(&self) -> bool {
        let decides =
            self.get(Key::Decision).is_some_and(|said| !matches!(said.value, Value::Object(_)));
        let names = |said: Said<'_>| !matches!(speaker::named(said.value), Ok(None));
        decides || self.get(Key::Next).is_some_and(names)
    }

    fn of_list(items: &[Value], texts: usize) -> Result<Option<Fields>, String> {
        let mut all = vec![];
        for item in items {
            all.extend(Fields::inside(item, texts)?);
        }
        match all.len() {
            0 | 1 => Ok(all.pop().map(|fields| fields.told("took it out of a list"))),
            many => Err(format!("It gives a list of {many} decisions where one was asked for.")),
        }
    }

    fn of_object(entries: &[(String, Value)], texts: usize) -> Result<Option<Fields>, String> {
        let mut fields = Fields::default();
        for (key, value) in entries {
            fields.add(key, value);
        }
        if fields.is_decision() {
            return Ok(Some(fields));
        }
        for (key, value) in entries.iter().filter(|(key, _)| WRAPPERS.contains(&&*folded(key))) {
            let inner = match value {
                Value::Text { text, .. } => Fields::of_text(text, texts)?,
                other => Fields::inside(other, texts)?,
            };
            if let Some(inner) = inner {
                return Ok(Some(inner.within(fields, key)));
            }
        }
        Ok(None)
    }

    /// Arguments of a call often come as JSON in a string.
    fn of_text(text: &str, texts: usize) -> Result<Option<Fields>, String> {
        let (Some(start), Some(texts)) = (text.find('{'), texts.checked_sub(1)) else {
            return Ok(None);
        };
        let Ok(found) = written::read(text, start, Key::is_begun) else { return Ok(None) };
        let fields = Fields::inside(&found.value, texts)?;
        Ok(fields.map(|mut fields| {
            fields.mended.extend(found.mended.into_iter().map(str::to_owned));
            fields.told("read it out of a string")
        }))
    }

    /// What stands beside the wrapped answer counts where the answer says nothing.
    fn within(mut self, outer: Fields, wrapper: &str) -> Fields {
        let beside = outer.entries.into_iter().filter(|entry| !matches!(entry.3, Value::Object(_)));
        for entry in beside {
            if self.get(entry.0).is_none() {
                self.entries.push(entry);
            }
        }
        self.told(&format!("took it out of {}", shown(wrapper)))
    }

    fn told(mut self, what: &str) -> Fields {
        self.mended.insert(0, what.to_owned());
        self
    }
}
