//! Images in a request: which models look at them, and what the others are told.

use plenary_domain::{Ask, Image, Message};

use crate::config::{Kind, ProviderConfig};

/// The request for a model that cannot look: each image is told of in words.
pub(crate) fn described(mut ask: Ask) -> Ask {
    for message in &mut ask.messages {
        for image in std::mem::take(&mut message.images) {
            message.text.push_str(&note(&image));
        }
    }
    ask
}

fn note(image: &Image) -> String {
    let kind = image.media_type.name();
    format!(
        "\n\n(An image, {:?}, {kind}, came with this, which you cannot look at. Where the answer \
         depends on it, say so.)",
        image.name
    )
}

pub(crate) fn has_any(ask: &Ask) -> bool {
    ask.messages.iter().any(|message: &Message| !message.images.is_empty())
}

/// Whether a model is known to look at images, or not to: by what its provider says, else
/// by its family. Of others nothing is known, and they are asked.
pub(crate) fn looks(config: &ProviderConfig, said: Option<bool>, model: &str) -> Option<bool> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let begins = |families: &[&str]| families.iter().any(|family| name.starts_with(family));
    let by_family = || match config.kind {
        Kind::Command | Kind::Local => Some(false),
        Kind::Anthropic if begins(&["claude-2", "claude-instant"]) => Some(false),
        Kind::Anthropic | Kind::Gemini => Some(true),
        Kind::OpenAi if begins(&["gpt-3.5", "o1-mini", "o1-preview", "o3-mini"]) => Some(false),
        Kind::OpenAi if begins(&["gpt-4o", "gpt-4.1", "gpt-5", "o1", "o3", "o4", "chatgpt-4o"]) => {
            Some(true)
        }
        Kind::OpenAi | Kind::Ollama => None,
    };
    said.or_else(by_family)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_looks_is_known_by_the_provider_or_by_the_family() {
        for (kind, said, model, expected) in [
            (Kind::OpenAi, None, "gpt-4o-mini", Some(true)),
            (Kind::OpenAi, None, "openai/gpt-5", Some(true)),
            (Kind::OpenAi, None, "o3-mini", Some(false)),
            (Kind::OpenAi, None, "qwen2.5-vl", None),
            (Kind::OpenAi, Some(false), "gpt-4o", Some(false)),
            (Kind::Ollama, None, "llama3.2", None),
            (Kind::Ollama, Some(true), "llava", Some(true)),
            (Kind::Anthropic, None, "claude-sonnet-4-5", Some(true)),
            (Kind::Gemini, None, "gemini-2.5-flash", Some(true)),
            (Kind::Local, None, "smollm2-135m", Some(false)),
        ] {
            let config = ProviderConfig::new("lab", kind);
            assert_eq!(looks(&config, said, model), expected, "{model}");
        }
    }
}
