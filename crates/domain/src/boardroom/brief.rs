//! What is wanted of the answers to one question, beside the question itself.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::verdict::{self, Verdict};
use super::{Convene, Headings, Sitter, State};
use crate::call::Answer;
use crate::fits::fitting;
use crate::image::{self, Image};
use crate::limits;
use crate::quote::{ContextFile, check_files};
use crate::reject::{Wrong, text};

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    /// How to answer, for the advisors and for whoever writes the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The JSON schema of the verdict, in place of the four headings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Tokens of the verdict, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_tokens: Option<u32>,
    /// The answer of the only advisor is the verdict, and nobody writes another.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sole: bool,
    /// Files that came with a further question; those of the first are the board's context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ContextFile>,
    /// What the advisors are shown. The log has each once, here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Arc<Image>>,
}

fn is_off(is: &bool) -> bool {
    !is
}

impl Brief {
    pub fn is_empty(brief: &Arc<Brief>) -> bool {
        **brief == Brief::default()
    }

    pub(super) fn check(&self, wrong: &mut Vec<Wrong>) {
        if let Some(instructions) = &self.instructions {
            text(wrong, "instructions", instructions, limits::PROMPT_BYTES);
        }
        if let Some(schema) = &self.schema {
            check_schema(wrong, schema);
        }
        let sound = limits::OUTPUT_TOKENS_LEAST..=limits::OUTPUT_TOKENS_MOST;
        if self.answer_tokens.is_some_and(|tokens| !sound.contains(&tokens)) {
            let (least, most) = (sound.start(), sound.end());
            wrong.push(Wrong::new("answerTokens", format!("must be from {least} to {most}")));
        }
        check_files(wrong, &self.files);
        image::check(wrong, &self.images);
    }

    /// What is read from an answer that should be the verdict, or what is wrong with it.
    /// One that was cut off stands as it is.
    pub(super) fn read(&self, answer: &Answer) -> Result<Verdict, String> {
        let as_it_is = |text: &str| Verdict { text: text.to_owned(), headings: Headings::NotAsked };
        match &self.schema {
            Some(schema) => match fitting(&answer.text, schema) {
                Ok((json, _)) => Ok(as_it_is(json)),
                Err(_) if answer.cut => Ok(as_it_is(&answer.text)),
                Err(problem) => Err(problem),
            },
            None if self.sole => Ok(as_it_is(&answer.text)),
            None => Ok(verdict::read(&answer.text)),
        }
    }
}

fn check_schema(wrong: &mut Vec<Wrong>, schema: &Value) {
    let problem = match schema {
        Value::Object(_) if schema.to_string().len() > limits::SCHEMA_BYTES => {
            format!("may have {} bytes", limits::SCHEMA_BYTES)
        }
        Value::Object(_) if depth(schema) > limits::OUTPUT_DEPTH => {
            format!("is nested deeper than {} levels", limits::OUTPUT_DEPTH)
        }
        Value::Object(_) => return,
        _ => "must be a JSON object".to_owned(),
    };
    wrong.push(Wrong::new("schema", problem));
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// Whether the board is one on which an answer can stand for the verdict.
pub(super) fn check(wrong: &mut Vec<Wrong>, convene: &Convene) {
    convene.brief.check(wrong);
    let is_one = matches!(&convene.seats[..], [one] if matches!(one.sitter, Sitter::Model(_)));
    if convene.brief.sole && (!is_one || convene.ballot) {
        let problem = "only a board of one model, without votes, can do without a verdict";
        wrong.push(Wrong::new("sole", problem));
    }
}

impl State {
    /// What is wanted of the answers of this round.
    pub fn brief(&self, round: u32) -> &Brief {
        let further = self.follow_ups.iter().find(|follow_up| follow_up.round == round);
        further.map_or(&self.brief, |further| &further.brief)
    }

    /// Whether a conversation that is known by this key ends where the board stands, so
    /// that it can go on.
    pub fn goes_on_from(&self, key: &str) -> bool {
        self.thread.as_deref() == Some(key) && self.cannot_follow_up().is_none()
    }
}
