//! Whom an answer means. Whoever is named but may not speak is never taken for
//! somebody whose name is alike: that would put words into the wrong mouth.

use super::{Choices, folded, shown};
use crate::written::Value;

/// Words that may stand beside a name without being a part of it.
const BESIDE: [&str; 33] = [
    "a",
    "agent",
    "as",
    "ask",
    "asks",
    "be",
    "call",
    "choose",
    "chosen",
    "expert",
    "from",
    "hear",
    "i",
    "id",
    "is",
    "it",
    "let",
    "name",
    "next",
    "now",
    "on",
    "participant",
    "person",
    "pick",
    "should",
    "speak",
    "speaker",
    "speaks",
    "the",
    "then",
    "to",
    "turn",
    "with",
];

/// Words before a place in the list.
const PLACES: [&str; 6] = ["participant", "speaker", "number", "no", "agent", "teilnehmer"];

/// Bytes of what may name somebody.
const NAME_BYTES: usize = 400;

/// The id of the speaker that is meant, and what had to be taken for it.
pub(super) fn find(said: &str, choices: &Choices) -> Result<(String, Option<String>), String> {
    let room = Room { choices };
    if let Some((id, _)) = choices.speakers.iter().find(|(id, _)| *id == said) {
        return Ok(((*id).to_owned(), None));
    }
    if said.len() > NAME_BYTES {
        return Err(format!("It names {}, which is too long for a name.", shown(said)));
    }
    let bare = said.trim_matches(|c: char| !c.is_alphanumeric());
    // Each way of naming is looser than the one before it: the first that means
    // anybody is the one that counts.
    let ways: [Vec<usize>; 5] = [
        room.all(|id, name| id == bare || name == bare),
        room.all(|id, name| folded(id) == folded(bare) || folded(name) == folded(bare)),
        room.place(bare),
        room.all(|id, name| begins(id, bare) || begins(name, bare)),
        room.all(|id, name| holds(said, id) || holds(said, name)),
    ];
    let meant = ways.into_iter().find(|meant| !meant.is_empty()).unwrap_or_default();
    match meant.as_slice() {
        [] => Err(format!("It names {}, who is not one of those who may speak.", shown(said))),
        [one] => {
            let (id, name) = room.at(*one);
            match choices.speakers.get(*one) {
                Some(_) => Ok((id.to_owned(), Some(format!("took {} for {id}", shown(said))))),
                None => Err(format!("It names {}, who does not speak here.", shown(name))),
            }
        }
        [one, two, ..] => Err(format!(
            "It names {}, which could be {} or {}.",
            shown(said),
            shown(room.at(*one).1),
            shown(room.at(*two).1)
        )),
    }
}

/// What a value says about who is next: one text, and whether it is whole.
pub(super) fn named(value: &Value) -> Result<Option<(String, bool)>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Text { .. } => Ok(value.words()),
        Value::List(items) => match items.as_slice() {
            [] => Ok(None),
            [one] => named(one),
            many => Err(format!("It names {} speakers where one was asked for.", many.len())),
        },
        Value::Object(entries) => {
            let key = |wanted: &str| entries.iter().find(|(key, _)| folded(key) == wanted);
            let found =
                ["id", "participantid", "agentid", "speakerid", "name"].into_iter().find_map(key);
            found.map_or(Ok(None), |(_, value)| Ok(value.words()))
        }
    }
}

/// Speakers first, then the others.
struct Room<'a> {
    choices: &'a Choices<'a>,
}

impl<'a> Room<'a> {
    fn all(&self, means: impl Fn(&str, &str) -> bool) -> Vec<usize> {
        let people = self.choices.speakers.iter().chain(self.choices.others).enumerate();
        people.filter(|(_, (id, name))| means(id, name)).map(|(place, _)| place).collect()
    }

    /// Only called with places that `all` gave.
    fn at(&self, place: usize) -> (&'a str, &'a str) {
        let people = self.choices.speakers.iter().chain(self.choices.others);
        people.copied().nth(place).unwrap_or_default()
    }

    /// Counted from 1, as people count, among those who may speak.
    fn place(&self, said: &str) -> Vec<usize> {
        let words: Vec<String> = words(said).map(folded).collect();
        let number = match words.as_slice() {
            [number] => number,
            [word, number] if PLACES.contains(&word.as_str()) => number,
            _ => return vec![],
        };
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        place.filter(|place| *place < self.choices.speakers.len()).into_iter().collect()
    }
}

/// Whether whole words at the beginning of a name are what was said.
fn begins(name: &str, said: &str) -> bool {
    let parts = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric())
            .filter(|part| !part.is_empty())
            .map(folded)
            .collect()
    };
    let (name, said) = (parts(name), parts(said));
    !said.is_empty() && name.starts_with(&said)
}

/// Whether the name stands in what was said, and no other name is a part of it:
/// "Ann Lee" and "Ann-Marie" are not Ann, "Ann (the engineer)" is.
fn holds(said: &str, name: &str) -> bool {
    let wanted: Vec<String> = words(name).map(folded).collect();
    let pieces = said.split(|c: char| !(c.is_alphanumeric() || " -_.'’".contains(c)));
    !wanted.is_empty()
        && pieces.flat_map(|piece| piece.split(" - ")).any(|piece| {
            let words: Vec<String> = words(piece).map(folded).collect();
            words.windows(wanted.len()).enumerate().any(|(place, window)| {
                let before = place.checked_sub(1).and_then(|place| words.get(place));
                let after = words.get(place + wanted.len());
                let is_apart =
                    |word: Option<&String>| word.is_none_or(|word| BESIDE.contains(&word.as_str()));
                window == wanted && is_apart(before) && is_apart(after)
            })
        })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || "-_.'’".contains(c)))
        .filter(|word| word.contains(char::is_alphanumeric))
}
