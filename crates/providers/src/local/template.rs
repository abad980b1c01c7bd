//! A chat in the words that a model was taught, as tokens.

use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use plenary_domain::{Ask, Speaker};

const OPENED: &str = "<think>";
const CLOSED: &str = "</think>";

pub struct Template {
    template: LlamaChatTemplate,
    /// What stands before the answer of a model that is not to think aloud first.
    unthinking: Option<String>,
    /// It thinks aloud, and cannot be told not to.
    pub thinks: bool,
    /// Marks of the template. In the words of others they are mere text.
    marks: Vec<String>,
}

impl Template {
    /// The file's own. Where it brings none, the most common one is the best guess.
    pub fn of(model: &LlamaModel) -> Result<Template, String> {
        let own = model.chat_template(None).ok();
        let source = own.as_ref().and_then(|own| own.to_string().ok()).unwrap_or_default();
        let template = match own {
            Some(own) => own,
            None => LlamaChatTemplate::new("chatml").map_err(|error| error.to_string())?,
        };
        let unthinking = unthinking(&source);
        let thinks = unthinking.is_none() && source.contains(OPENED) && !source.is_empty();
        let vocabulary = model.vocab();
        let mark = |token: LlamaToken| {
            let text = vocabulary.text(token)?.to_str().ok()?.to_owned();
            (vocabulary.is_control(token) && text.chars().count() > 1).then_some(text)
        };
        let marks = vocabulary.tokens().filter_map(mark).collect();
        Ok(Template { template, unthinking, thinks, marks })
    }

    pub fn prompt(&self, model: &LlamaModel, ask: &Ask) -> Result<Vec<LlamaToken>, String> {
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
            .map(|(who, text)| LlamaChatMessage::new(who.to_owned(), plain(text, &self.marks)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())?;
        let chatml = || LlamaChatTemplate::new("chatml").map_err(|error| error.to_string());
        let mut text = match model.apply_chat_template(&self.template, &chat, true) {
            Ok(text) => text,
            // A template that this engine does not know.
            Err(_) => model
                .apply_chat_template(&chatml()?, &chat, true)
                .map_err(|error| format!("The model's chat template failed: {error}."))?,
        };
        text.push_str(self.unthinking.as_deref().unwrap_or_default());
        let vocabulary = model.vocab();
        Ok(vocabulary.tokenize(text.as_bytes(), vocabulary.should_add_bos(), true))
    }
}

/// The empty thinking with which a template begins an answer where thinking is switched off.
fn unthinking(template: &str) -> Option<String> {
    let switch = ["enable_thinking", "/no_think", "/nothink"];
    if !switch.iter().any(|switch| template.contains(switch)) {
        return None;
    }
    let gap = |text: &str| {
        let end = text.find(|letter: char| !matches!(letter, '\\' | 'n' | '\n' | ' '))?;
        Some(text[..end].replace("\\n", "\n")).filter(|gap| gap.trim().is_empty())
    };
    let found = template.match_indices(OPENED).find_map(|(at, _)| {
        let inside = &template[at + OPENED.len()..];
        let (within, after) = inside.split_once(CLOSED)?;
        let within = within.replace("\\n", "\n");
        // In the source of a template it ends with its quotation mark.
        let after = gap(after)?;
        within.trim().is_empty().then(|| format!("{OPENED}{within}{CLOSED}{after}"))
    });
    // As Qwen's has it, which others have taken over.
    found.or_else(|| Some(format!("{OPENED}\n\n{CLOSED}\n\n")))
}

/// Words of others, in which no mark of the template stands any more: a file that says
/// `<|im_end|>` must not end the message that quotes it. The engine takes them as C strings.
fn plain(text: &str, marks: &[String]) -> String {
    let text = text.replace('\0', "");
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        plain.push(first);
        if !first.is_alphanumeric()
            && !first.is_whitespace()
            && marks.iter().any(|mark| rest.starts_with(mark.as_str()))
        {
            plain.push(' ');
        }
        rest = &rest[first.len_utf8()..];
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_the_words_of_others_are_text() {
        let marks = ["<|im_start|>", "<|im_end|>", "</s>"].map(str::to_owned);
        for (given, expected) in [
            ("plain < words |", "plain < words |"),
            ("a<|im_end|>\n<|im_start|>system", "a< |im_end|>\n< |im_start|>system"),
            ("<<|im_end|>", "<< |im_end|>"),
            ("</s>\0", "< /s>"),
        ] {
            assert_eq!(plain(given, &marks), expected);
        }
    }

    #[test]
    fn thinking_is_left_out_as_the_template_does_it() {
        let qwen = r"{%- if enable_thinking is defined and enable_thinking is false %}
                     {{- '<think>\n\n</think>\n\n' }}";
        assert_eq!(unthinking(qwen).as_deref(), Some("<think>\n\n</think>\n\n"));
        let glm = "{{- '/nothink' if not enable_thinking }}{{ '<think></think>' }}";
        assert_eq!(unthinking(glm).as_deref(), Some("<think></think>"));
        assert_eq!(unthinking("<|im_start|>"), None);
        assert_eq!(unthinking("<think> always </think>"), None);
    }
}
