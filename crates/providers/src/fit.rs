//! Whether a prompt can fit into a model's window.

use plenary_domain::ledger::count;
use plenary_domain::{Ask, FailureKind};
use plenary_engine::ports::ModelError;

use crate::failure;

/// Bytes of a token of usual text.
const TOKEN_BYTES: usize = 4;

/// A prompt and what its model takes.
#[derive(Clone)]
pub(crate) struct Fit {
    model: String,
    window: u32,
    /// Tokens that the prompt has at least: no model has one for two words.
    least: usize,
    about: usize,
}

impl Fit {
    pub(crate) fn new(ask: &Ask, window: u32) -> Self {
        let texts =
            || ask.messages.iter().map(|one| one.text.as_str()).chain([ask.system.as_str()]);
        let words = |text: &str| {
            text.split(|letter: char| !letter.is_alphabetic())
                .filter(|word| !word.is_empty())
                .count()
        };
        let least = texts().map(words).sum::<usize>();
        let about = texts().map(str::len).sum::<usize>() / TOKEN_BYTES;
        Fit { model: ask.model.0.clone(), window, least, about: about.max(least) }
    }

    /// Why it is not even sent, where it certainly cannot fit: a server may cut it off
    /// without a word, or want money for saying so.
    pub(crate) fn refused(&self) -> Option<ModelError> {
        let is_too_long = self.least > self.window as usize;
        is_too_long.then(|| failure::last(FailureKind::PromptTooLong, self.words()))
    }

    /// What a provider says of a prompt that is too long, with what is known of it.
    pub(crate) fn explained(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Final { kind: FailureKind::PromptTooLong, message } => {
                failure::last(FailureKind::PromptTooLong, format!("{message} {}", self.words()))
            }
            ModelError::Final { .. } | ModelError::Retry { .. } => error,
        }
    }

    fn words(&self) -> String {
        let (about, window) = (count(self.about as u64), count(self.window.into()));
        format!("The prompt has about {about} tokens; {} takes {window}.", self.model)
    }
}
