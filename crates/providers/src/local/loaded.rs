//! A model in memory, and what it says about itself.

use std::path::Path;

use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use plenary_domain::{Ask, Speaker, limits};

/// Models with fewer parameters than this lose the thread in long answers.
const SMALL_PARAMETERS: u64 = 1_000_000_000;

pub struct Loaded<'a> {
    pub backend: &'a LlamaBackend,
    pub model: LlamaModel,
    template: LlamaChatTemplate,
}

impl<'a> Loaded<'a> {
    pub fn open(backend: &'a LlamaBackend, path: &Path) -> Result<Self, String> {
        let shown = path.display();
        if !path.is_file() {
            return Err(format!("There is no model file at {shown}."));
        }
        let model = LlamaModel::load_from_file(backend, path, &LlamaModelParams::default())
            .map_err(|_| format!("{shown} could not be loaded: it is damaged, or no GGUF file."))?;
        // Where the file brings none, the most common one is the best guess.
        let template = match model.chat_template(None) {
            Ok(template) => template,
            Err(_) => LlamaChatTemplate::new("chatml").map_err(|error| error.to_string())?,
        };
        Ok(Loaded { backend, model, template })
    }

    pub fn is_small(&self) -> bool {
        self.model.n_params() < SMALL_PARAMETERS
    }

    /// What the model remembers of one token: a key and a value of two bytes per
    /// number, in every layer.
    pub fn token_bytes(&self) -> usize {
        let head = self.model.n_embd().max(1) as usize / self.model.n_head().max(1) as usize;
        self.model.n_layer() as usize * self.model.n_head_kv() as usize * head * 2 * 2
    }

    /// Tokens that one answer may have.
    pub fn answer_tokens(&self) -> usize {
        if self.is_small() { limits::SMALL_ANSWER_TOKENS } else { limits::LOCAL_ANSWER_TOKENS }
    }

    /// The prompt in the words of the model's own template, as tokens.
    pub fn prompt(&self, ask: &Ask) -> Result<Vec<LlamaToken>, String> {
        let mut chat = vec![("system", ask.system.as_str())];
        chat.extend(ask.messages.iter().map(|message| {
            let speaker = match message.speaker {
                Speaker::User => "user",
                Speaker::Assistant => "assistant",
            };
            (speaker, message.text.as_str())
        }));
        chat.retain(|(_, text)| !text.is_empty());
        let chat = chat
            .into_iter()
            // The engine takes the texts as C strings.
            .map(|(who, text)| LlamaChatMessage::new(who.to_owned(), text.replace('\0', "")))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())?;
        let chatml = || LlamaChatTemplate::new("chatml").map_err(|error| error.to_string());
        let text = match self.model.apply_chat_template(&self.template, &chat, true) {
            Ok(text) => text,
            // A template that this engine does not know.
            Err(_) => self
                .model
                .apply_chat_template(&chatml()?, &chat, true)
                .map_err(|error| format!("The model's chat template failed: {error}."))?,
        };
        let vocabulary = self.model.vocab();
        Ok(vocabulary.tokenize(text.as_bytes(), vocabulary.should_add_bos(), true))
    }
}
