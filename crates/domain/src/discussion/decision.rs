//! What a facilitator decided, read from whatever a model wrote. An answer that
//! is not quite as asked for is put right, and says so; one that cannot be read
//! for sure is refused, since a wrong guess would look like the model's own word.

mod fields;
mod find;
mod lines;
mod speaker;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::limits;
use crate::written::folded;
use fields::{Fields, Key};

/// What the facilitator may choose from.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    /// Ids and names of those who may speak.
    pub speakers: &'a [(&'a str, &'a str)],
    /// Ids and names of those in the room who may not: observers, the facilitator.
    /// An answer that means one of them is told so.
    pub others: &'a [(&'a str, &'a str)],
    /// Not at the opening.
    pub may_synthesize: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Continue {
        /// The id of one of the speakers.
        next: String,
        question: Option<String>,
    },
    Synthesize {
        /// The conclusion itself, which may come with the decision.
        synthesis: Option<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum How {
    Parsed,
    Repaired,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    pub decision: Decision,
    pub reasoning: String,
    pub how: How,
    /// What was put right, in words for a person. Empty if and only if nothing was.
    pub mended: Vec<String>,
}

/// What stands for a speaker when none is chosen. An empty text would say it too,
/// but Gemini refuses a schema that has one among its choices.
const NOBODY: &str = "none";

/// Other words for the two decisions, compared without case and punctuation.
const CONTINUE: [&str; 27] = [
    "continue",
    "continued",
    "continues",
    "continuediscussion",
    "continuethediscussion",
    "goon",
    "keepgoing",
    "carryon",
    "proceed",
    "next",
    "nextspeaker",
    "nextparticipant",
    "ask",
    "askquestion",
    "weiter",
    "weitermachen",
    "fortfahren",
    "fortsetzen",
    "continuer",
    "poursuivre",
    "continuar",
    "seguir",
    "continua",
    "继续",
    "繼續",
    "続ける",
    "続行",
];
const SYNTHESIZE: [&str; 31] = [
    "synthesize",
    "synthesise",
    "synthesizing",
    "synthesis",
    "conclude",
    "conclusion",
    "end",
    "stop",
    "finish",
    "done",
    "close",
    "summarize",
    "summarise",
    "wrapup",
    "enddiscussion",
    "endthediscussion",
    "zusammenfassen",
    "synthese",
    "beenden",
    "abschließen",
    "synthétiser",
    "synthèse",
    "conclure",
    "concluir",
    "sintetizar",
    "resumir",
    "总结",
    "總結",
    "まとめる",
    "まとめ",
    "結論",
];

/// Reads a decision, or says in a sentence why it cannot be read.
pub fn read(text: &str, choices: &Choices) -> Result<Read, String> {
    if let Some(read) = as_asked(text, choices) {
        return Ok(read);
    }
    let mut fields = find::fields(text)?;
    let mut mended = Mended(vec![]);
    std::mem::take(&mut fields.mended).into_iter().for_each(|what| mended.add(what));
    let decision = decided(&fields, choices, &mut mended)?;
    let reasoning =
        said(&fields, Key::Reasoning, &mut mended).map_or(String::new(), |(words, whole)| {
            if !whole {
                mended.add("the reasoning was cut off");
            }
            bounded(words, "reasoning", limits::REASONING_BYTES, &mut mended)
        });
    if mended.0.is_empty() {
        mended.add("took another kind of value for a text");
    }
    Ok(Read { decision, reasoning, how: How::Repaired, mended: mended.0 })
}

/// The schema of the answer that is asked for, in the part of JSON Schema that
/// all providers and the local model's grammar know.
pub fn schema(choices: &Choices) -> Value {
    let mut decisions = vec!["continue"];
    let mut ids: Vec<&str> = choices.speakers.iter().map(|(id, _)| *id).collect();
    if choices.may_synthesize {
        decisions.push("synthesize");
        if !ids.contains(&NOBODY) {
            ids.push(NOBODY);
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": {
            "decision": {"type": "string", "enum": decisions},
            "nextParticipantId": {"type": "string", "enum": ids},
            "question": {"type": "string"},
            "reasoning": {"type": "string"},
        },
        "required": ["decision", "nextParticipantId", "question", "reasoning"],
        "additionalProperties": false,
    });
    if choices.may_synthesize {
        // Strict schemas know no field that may be absent: nothing is an empty text.
        schema["properties"]["synthesis"] = json!({"type": "string"});
        schema["required"] =
            json!(["decision", "nextParticipantId", "question", "reasoning", "synthesis"]);
    }
    schema
}

/// The answer, if it is exactly as asked for.
fn as_asked(text: &str, choices: &Choices) -> Option<Read> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        decision: String,
        next_participant_id: Option<String>,
        question: Option<String>,
        reasoning: Option<String>,
        synthesis: Option<String>,
    }
    // A list of the four values would be read as well.
    let asked: Asked = text.trim().starts_with('{').then(|| serde_json::from_str(text).ok())??;
    let reasoning = asked.reasoning.unwrap_or_default().trim().to_owned();
    let decision = match asked.decision.as_str() {
        "synthesize" if choices.may_synthesize => {
            Decision::Synthesize { synthesis: asked.synthesis.and_then(written_out) }
        }
        "continue" => {
            let next = asked.next_participant_id?;
            let question = asked.question?.trim().to_owned();
            let is_fit = choices.speakers.iter().any(|(id, _)| *id == next)
                && question.chars().any(char::is_alphanumeric)
                && question.len() <= limits::QUESTION_BYTES;
            is_fit.then_some(Decision::Continue { next, question: Some(question) })?
        }
        _ => return None,
    };
    let is_short = reasoning.len() <= limits::REASONING_BYTES;
    is_short.then_some(Read { decision, reasoning, how: How::Parsed, mended: vec![] })
}

fn decided(fields: &Fields, choices: &Choices, mended: &mut Mended) -> Result<Decision, String> {
    let goes_on = match said(fields, Key::Decision, mended) {
        None => None,
        Some((_, false)) => return Err("It was cut off in its decision.".into()),
        Some((word, true)) => Some(goes_on(&word, mended)?),
    };
    match (goes_on, choices.may_synthesize) {
        (Some(false), true) => {
            let synthesis = said(fields, Key::Synthesis, mended);
            // Half a conclusion is worse than another request.
            let whole = synthesis.filter(|(_, whole)| *whole).map(|(words, _)| words);
            return Ok(Decision::Synthesize { synthesis: whole.and_then(written_out) });
        }
        (Some(false), false) => {
            return Err("It wants to synthesize, but nobody has spoken yet.".into());
        }
        (Some(true) | None, _) => {}
    }
    let next = next(fields, choices, mended)?;
    let question = match said(fields, Key::Question, mended) {
        // Half a question is worse than the one that is asked when there is none.
        Some((_, false)) => {
            return Err(format!("It names {next} and was cut off in its question."));
        }
        Some((words, true)) => Some(bounded(words, "question", limits::QUESTION_BYTES, mended)),
        None => None,
    };
    match (goes_on, &question) {
        (None, None) => return Err(format!("It names {next}, but neither decides nor asks.")),
        (None, Some(_)) => mended.add("took it for continue, as it names a speaker and asks"),
        (Some(_), None) => mended.add("no question was asked"),
        (Some(_), Some(_)) => {}
    }
    Ok(Decision::Continue { next, question })
}

/// The words, unless they only stand for there being none.
fn written_out(words: String) -> Option<String> {
    let folded = folded(&words);
    let is_none = folded.is_empty() || [NOBODY, "null", "na"].contains(&&*folded);
    (!is_none).then(|| words.trim().to_owned())
}

fn goes_on(word: &str, mended: &mut Mended) -> Result<bool, String> {
    let folded = folded(word);
    let goes_on = match (CONTINUE.contains(&&*folded), SYNTHESIZE.contains(&&*folded)) {
        (true, _) => true,
        (_, true) => false,
        (false, false) => {
            let word = shown(word);
            return Err(format!("It decides {word}, which is neither continue nor synthesize."));
        }
    };
    let asked_for = if goes_on { CONTINUE[0] } else { SYNTHESIZE[0] };
    if word != asked_for {
        mended.add(format!("took {} for {asked_for}", shown(word)));
    }
    Ok(goes_on)
}

fn next(fields: &Fields, choices: &Choices, mended: &mut Mended) -> Result<String, String> {
    let named = match fields.get(Key::Next) {
        Some(said) => speaker::named(said.value)?.inspect(|_| mended.key(said.key, Key::Next)),
        None => None,
    };
    match named {
        Some((_, false)) => Err("It was cut off in the next speaker's name.".into()),
        Some((name, true)) => {
            let is_nobody = [NOBODY, "null", "nobody"].contains(&&*folded(&name));
            let (id, taken) = speaker::find(&name, choices).map_err(|why| match is_nobody {
                true => "It continues, but names nobody to speak next.".to_owned(),
                false => why,
            })?;
            taken.into_iter().for_each(|what| mended.add(what));
            Ok(id)
        }
        None => Err("It continues, but names nobody to speak next.".into()),
    }
}

fn said(fields: &Fields, key: Key, mended: &mut Mended) -> Option<(String, bool)> {
    let said = fields.get(key)?;
    let words = said.value.words()?;
    mended.key(said.key, key);
    Some(words)
}

/// Words that are too long are cut, so that one answer cannot fill the record.
fn bounded(mut words: String, what: &str, most: usize, mended: &mut Mended) -> String {
    if words.len() > most {
        words.truncate(words.floor_char_boundary(most - '…'.len_utf8()));
        words.push('…');
        mended.add(format!("cut the {what} to {} KiB", most / 1024));
    }
    words
}

struct Mended(Vec<String>);

impl Mended {
    fn add(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.0.contains(&what) {
            self.0.push(what);
        }
    }

    fn key(&mut self, written: &str, key: Key) {
        if written == key.asked_for() {
            return;
        }
        if folded(written) == folded(key.asked_for()) {
            self.add("put right how keys are written");
        } else {
            self.add(format!("took the key {} for {}", shown(written), key.asked_for()));
        }
    }
}

/// A model's words inside our own, short and on one line.
fn shown(words: &str) -> String {
    const CHARS: usize = 60;
    let line = words.split_whitespace().take(CHARS).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("“{}…”", &line[..end]),
        None => format!("“{line}”"),
    }
}
