//! A model in memory, and what it says about itself.

use std::path::Path;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use plenary_domain::{Ask, limits};

use super::template::Template;
use crate::gguf::Head;
use crate::memory::Room;

/// Models with fewer parameters than this lose the thread in long answers.
const SMALL_PARAMETERS: u64 = 1_000_000_000;

pub struct Loaded<'a> {
    pub backend: &'a LlamaBackend,
    pub model: LlamaModel,
    /// Tokens that it may remember.
    pub room: Room,
    template: Template,
}

impl<'a> Loaded<'a> {
    pub fn open(backend: &'a LlamaBackend, path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_file() {
            return Err(format!("There is no model file at {shown}."));
        }
        let damaged = || format!("{shown} could not be loaded: it is damaged, or not a GGUF file.");
        let head = Head::read(path).map_err(|_| damaged())?;
        let model = LlamaModel::load_from_file(backend, path, &LlamaModelParams::default())
            .map_err(|_| damaged())?;
        let template = Template::of(&model)?;
        Ok(Loaded { backend, model, room: Room::of(path, &head), template })
    }

    pub fn is_small(&self) -> bool {
        self.model.n_params() < SMALL_PARAMETERS
    }

    /// Whether what it remembers can be kept and shared by the token. A state that each token
    /// changes as a whole cannot.
    pub fn can_share(&self) -> bool {
        !self.model.is_recurrent() && !self.model.is_hybrid()
    }

    /// Tokens that one answer may have.
    pub fn answer_tokens(&self) -> usize {
        let thinking = if self.template.thinks { limits::LOCAL_THINKING_TOKENS } else { 0 };
        match self.is_small() {
            true => limits::SMALL_ANSWER_TOKENS + thinking,
            false => limits::LOCAL_ANSWER_TOKENS + thinking,
        }
    }

    /// The prompt in the words of the model's own template, as tokens.
    pub fn prompt(&self, ask: &Ask) -> Result<Vec<LlamaToken>, String> {
        self.template.prompt(&self.model, ask)
    }
}
