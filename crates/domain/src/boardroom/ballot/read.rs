//! Votes, read from whatever a model wrote. Only what it says for sure is a vote: a
//! point that it does not name, or names with another word, stays without one.

use super::{Choice, Point, Vote};
use crate::limits;
use crate::written::{self, Thinking, Value, folded, unescaped};

/// Other words for the three choices, compared without case and punctuation.
const WORDS: [(Choice, &[&str]); 3] = [
    (
        Choice::Accept,
        &["accept", "accepted", "accepts", "agree", "agreed", "approve", "approved", "yes", "for"],
    ),
    (
        Choice::Reject,
        &["reject", "rejected", "rejects", "disagree", "oppose", "opposed", "no", "against"],
    ),
    (
        Choice::Defer,
        &["defer", "deferred", "defers", "postpone", "abstain", "undecided", "unsure", "uncertain"],
    ),
];
const POINT: [&str; 5] = ["point", "number", "pointnumber", "pointid", "id"];
const VOTE: [&str; 5] = ["vote", "choice", "decision", "verdict", "position"];
const REASON: [&str; 7] =
    ["reason", "reasoning", "why", "rationale", "explanation", "justification", "comment"];

/// A vote as it was written, on a point that may not be there.
struct Marked {
    point: u32,
    choice: Choice,
    reason: String,
}

/// The votes in the order of the points, at most one on each, or in a sentence why
/// there are none.
pub fn read(text: &str, points: &[Point]) -> Result<Vec<Vote>, String> {
    let inside = serde_json::from_str::<String>(text.trim());
    let marked = marked(inside.as_deref().unwrap_or(text))?;
    let vote = |point: &Point| {
        // Of a point that is voted on twice the last counts, as in every reader of JSON.
        let last = marked.iter().rev().find(|marked| marked.point == point.number)?;
        let reason = last.reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = within(reason, limits::VOTE_REASON_BYTES);
        Some(Vote { point: point.number, vote: last.choice, reason })
    };
    let votes: Vec<Vote> = points.iter().filter_map(vote).collect();
    if votes.is_empty() {
        return Err(format!("It votes on none of the points 1 to {}.", points.len()));
    }
    Ok(votes)
}

/// Cut to so many bytes, and then it shows.
pub fn within(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - '…'.len_utf8()));
        text.push('…');
    }
    text
}

fn marked(text: &str) -> Result<Vec<Marked>, String> {
    let (answer, thinking) = written::after_thinking(text, is_ballot, is_begun);
    if answer.trim().is_empty() {
        return Err("It holds nothing but thinking.".into());
    }
    let found = objects(answer, thinking);
    let found = match thinking {
        Thinking::LeftOpen if found.is_empty() => return Err("It broke off while thinking.".into()),
        Thinking::LeftOpen => found,
        Thinking::None | Thinking::Closed if found.is_empty() => match unescaped(answer) {
            Some(inner) => objects(&inner, thinking),
            None => answer.lines().filter_map(line).collect(),
        },
        Thinking::None | Thinking::Closed => found,
    };
    if found.is_empty() {
        return Err("It holds no votes.".into());
    }
    Ok(found)
}

/// The votes of the last object or list that holds several: what comes before it is an
/// example or a draft. Where each vote is an object of its own, all of them.
fn objects(text: &str, thinking: Thinking) -> Vec<Marked> {
    let mut all: Vec<Vec<Marked>> = vec![];
    let mut whole_to_the_end = true;
    written::each(text, is_begun, |_, found| {
        let votes = votes(&found.value);
        if !votes.is_empty() {
            let after = text[found.end..].trim_matches(|c: char| c.is_whitespace() || c == '`');
            whole_to_the_end = !found.cut && after.is_empty();
            all.push(votes);
        }
    });
    // What stands in thinking that never ends may be a draft, unless it ends the answer.
    if thinking == Thinking::LeftOpen && !whole_to_the_end {
        return vec![];
    }
    match all.iter().rposition(|votes| votes.len() > 1) {
        Some(last) => all.swap_remove(last),
        None => all.into_iter().flatten().collect(),
    }
}

fn is_ballot(value: &Value) -> bool {
    !votes(value).is_empty()
}

fn votes(value: &Value) -> Vec<Marked> {
    match value {
        Value::Null | Value::Text { .. } => vec![],
        Value::List(items) => items.iter().flat_map(votes).collect(),
        Value::Object(entries) => {
            if let Some(point) = get(entries, &POINT).and_then(number) {
                return vote(point, value).into_iter().collect();
            }
            let each = |(key, value): &(String, Value)| match number_in(key) {
                Some(point) => vote(point, value).into_iter().collect(),
                None => votes(value),
            };
            entries.iter().flat_map(each).collect()
        }
    }
}

/// `{"vote": "accept", "reason": "…"}`, or the bare word.
fn vote(point: u32, value: &Value) -> Option<Marked> {
    let (word, reason) = match value {
        Value::Object(entries) => (get(entries, &VOTE)?, get(entries, &REASON)),
        Value::Null | Value::Text { .. } | Value::List(_) => (value, None),
    };
    let (word, true) = word.words()? else { return None };
    let reason = match reason.and_then(Value::words) {
        Some((reason, true)) => reason,
        Some((reason, false)) => format!("{reason}…"),
        None => String::new(),
    };
    Some(Marked { point, choice: choice(&word)?, reason })
}

fn get<'a>(entries: &'a [(String, Value)], keys: &[&str]) -> Option<&'a Value> {
    let named = |key: &&str| entries.iter().rev().find(|(name, _)| folded(name) == **key);
    keys.iter().find_map(named).map(|(_, value)| value)
}

fn choice(word: &str) -> Option<Choice> {
    let word = folded(word);
    WORDS.iter().find(|(_, words)| words.contains(&&*word)).map(|(choice, _)| *choice)
}

fn number(value: &Value) -> Option<u32> {
    match value.words()? {
        (text, true) => number_in(&text),
        (_, false) => None,
    }
}

/// `3`, `#3`, `point3` and `Point 3` are 3; a word with another meaning is none.
fn number_in(text: &str) -> Option<u32> {
    let word = folded(text);
    word.strip_prefix("point").unwrap_or(&word).parse().ok()
}

fn is_begun(key: &str) -> bool {
    let asked = ["point", "vote", "votes", "reason"];
    let is_field = |rest: &str| rest.chars().all(|c| c.is_ascii_digit());
    asked.iter().any(|asked| asked.starts_with(key))
        || key.strip_prefix("point").is_some_and(is_field)
}

/// `2: reject, because …`, also as a list's item or a table's row. A word that goes on
/// as a sentence is the point itself, said again.
fn line(line: &str) -> Option<Marked> {
    let apart = |c: char| !c.is_alphanumeric();
    let words = line.trim_start_matches(apart);
    let (first, rest) = words.split_once(apart)?;
    let (number, rest) = match first.eq_ignore_ascii_case("point") {
        true => rest.trim_start_matches(apart).split_once(apart)?,
        false => (first, rest),
    };
    let point = number_in(number)?;
    let rest = rest.trim_start_matches(apart);
    let (word, reason) = rest.split_at(rest.find(apart).unwrap_or(rest.len()));
    let is_apart = reason.trim_start().chars().next().is_none_or(apart);
    let reason = reason.trim_matches(|c: char| c.is_whitespace() || "*_|:;,-–—`".contains(c));
    is_apart.then_some(Marked { point, choice: choice(word)?, reason: reason.to_owned() })
}
