//! Where in an answer the decision stands: after the thinking, inside a fence,
//! among prose, in JSON, in lines or in tags.

use super::fields::{Fields, Key};
use super::lines;
use crate::written::{self, Found, Thinking, Value, around, unescaped};

pub(super) fn fields(text: &str) -> Result<Fields, String> {
    // Inside a string the marks are escaped, so that it must be opened before
    // anything is looked for.
    match serde_json::from_str::<String>(text.trim()) {
        Ok(inner) => Ok(told(bare(&inner)?, "read it out of a string")),
        Err(_) => bare(text),
    }
}

fn bare(text: &str) -> Result<Fields, String> {
    let (answer, thinking) = written::after_thinking(text, is_decision, Key::is_begun);
    if answer.trim().is_empty() {
        let why =
            if text.trim().is_empty() { "It is empty." } else { "It holds nothing but thinking." };
        return Err(why.into());
    }
    let fields = match (thinking, objects(answer, thinking)?) {
        (_, Some(fields)) => Some(fields),
        (Thinking::LeftOpen, None) => return Err("It broke off while thinking.".into()),
        (Thinking::None | Thinking::Closed, None) => match unescaped(answer) {
            Some(inner) => {
                objects(&inner, thinking)?.map(|fields| told(fields, "read it out of a string"))
            }
            None => lines::tags(answer).or_else(|| lines::lines(answer)),
        },
    };
    let fields = fields.ok_or("The reply contained no decision.")?;
    Ok(match thinking {
        Thinking::None => fields,
        Thinking::Closed | Thinking::LeftOpen => told(fields, "left out the thinking before it"),
    })
}

fn told(mut fields: Fields, what: &str) -> Fields {
    fields.mended.insert(0, what.to_owned());
    fields
}

/// What only a decision, or something that was meant for one, holds.
fn is_decision(value: &Value) -> bool {
    !matches!(Fields::of(value), Ok(None))
}

/// The fields of the last object that decides or names a speaker: what comes
/// before it is an example, a draft or what was thought better of. It is the last
/// also when it was cut off, and then cannot be read: to go back to an earlier one
/// would be to follow what may have been an example. Only an answer that repeats
/// itself until it is cut off is taken at its last whole word.
fn objects(text: &str, thinking: Thinking) -> Result<Option<Fields>, String> {
    let mut last: Option<(usize, Found, Result<Fields, String>)> = None;
    let mut count = 0;
    written::each(text, Key::is_begun, |start, found| {
        let fields = match Fields::of(&found.value) {
            Ok(None) => return,
            Ok(Some(fields)) => Ok(fields),
            Err(why) => Err(why),
        };
        if let Some((whole, earlier, _)) = &last {
            let cut = text[start..].trim_end();
            if found.cut && text[*whole..earlier.end].starts_with(cut) {
                return;
            }
        }
        count += 1;
        last = Some((start, found, fields));
    });
    let Some((start, found, fields)) = last else { return Ok(None) };
    let (fence, around) = around(&text[..start], &text[found.end..]);
    if thinking == Thinking::LeftOpen && (found.cut || !around.1.is_empty()) {
        return Ok(None);
    }
    let mut fields = fields?;
    let mut mended = vec![];
    if fence {
        mended.push("removed a code fence".to_owned());
    }
    if thinking != Thinking::LeftOpen && around != ("", "") {
        mended.push("removed the text around it".to_owned());
    }
    if count > 1 {
        mended.push(format!("took the last of {count} decisions"));
    }
    mended.extend(found.mended.into_iter().map(str::to_owned));
    mended.append(&mut fields.mended);
    fields.mended = mended;
    Ok(Some(fields))
}

/// A text that was not read from JSON and so cannot be cut off visibly.
pub(super) fn text(words: &str) -> Value {
    Value::Text { text: words.to_owned(), whole: true }
}
