//! One answer of the local model, from its prompt to its last word.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;
use plenary_domain::{FailureKind, Shape, Usage, limits};
use plenary_engine::ports::{Ending, ModelError, Piece};
use tokio::sync::mpsc::UnboundedSender;

use super::Job;
use super::grammar;
use super::loaded::Loaded;
use crate::failure::last;

/// An answer is not over before this many tokens: an empty one helps nobody.
const LEAST_TOKENS: usize = 12;
/// Near the limit, the answer ends with the next sentence.
const LAST_TOKENS: usize = 64;
/// A sequence needs this much room beside its prompt.
const ROOM_TOKENS: usize = 128;
/// Tokens that are weighed at all.
const CANDIDATES: usize = 256;

pub struct Sequence {
    /// The prompt, and what has been answered.
    tokens: Vec<LlamaToken>,
    prompt: usize,
    /// Tokens that are in the model's memory.
    read: usize,
    /// The most tokens of the answer.
    most: usize,
    /// Where in the last batch this sequence's logits are.
    logits: Option<i32>,
    sampler: LlamaSampler,
    grammar: Option<LlamaSampler>,
    text: Text,
    pieces: UnboundedSender<Result<Piece, ModelError>>,
}

#[derive(PartialEq, Eq)]
pub enum Went {
    On,
    Over,
}

impl Sequence {
    pub fn new(loaded: &Loaded<'_>, job: Job, sampler: LlamaSampler) -> Result<Self, ModelError> {
        let Job { ask, pieces, .. } = job;
        let window = loaded.room.window;
        let wrong = |message| last(FailureKind::Misconfigured, message);
        let tokens = loaded.prompt(&ask).map_err(wrong)?;
        let prompt = tokens.len();
        if prompt + ROOM_TOKENS > window {
            let message = format!(
                "The prompt has {prompt} tokens; this local model takes {}.",
                window.saturating_sub(ROOM_TOKENS)
            );
            return Err(last(FailureKind::PromptTooLong, message));
        }
        let grammar = match &ask.shape {
            Shape::Free => None,
            Shape::Json(schema) => Some(grammar::json(schema).map_err(wrong)?),
            Shape::Headings(headings) => Some(grammar::headings(headings)),
        };
        let grammar = grammar
            .map(|text| LlamaSampler::grammar(&loaded.model, &text, "root"))
            .transpose()
            .map_err(|error| wrong(format!("The shape asked for is no grammar: {error}.")))?;
        // A grammar bounds its text by itself.
        let most = match grammar {
            None => loaded.answer_tokens().min(window - prompt),
            Some(_) => (window - prompt).min(limits::LOCAL_SHAPED_TOKENS),
        };
        Ok(Sequence {
            most: most.min(ask.patience.answer_tokens as usize).max(1),
            tokens,
            prompt,
            read: 0,
            logits: None,
            sampler,
            grammar,
            text: Text::default(),
            pieces,
        })
    }

    /// Tokens that it will have in memory at most.
    pub fn need(&self) -> usize {
        self.prompt + self.most
    }

    /// The tokens, of which so many are in memory.
    pub fn known(&self) -> (&[LlamaToken], usize) {
        (&self.tokens, self.read)
    }

    /// Those that are in memory, when it is over.
    pub fn into_known(mut self) -> Vec<LlamaToken> {
        self.tokens.truncate(self.read);
        self.tokens
    }

    pub fn prompt(&self) -> &[LlamaToken] {
        &self.tokens[..self.prompt]
    }

    /// So many tokens of its prompt have come into memory from another sequence.
    pub fn skip(&mut self, tokens: usize) {
        self.read = tokens;
    }

    pub fn is_reading(&self) -> bool {
        self.tokens.len() == self.prompt
    }

    fn answered(&self) -> usize {
        self.tokens.len() - self.prompt
    }

    pub fn is_abandoned(&self) -> bool {
        self.pieces.is_closed()
    }

    /// Tells that it is next.
    pub fn wait(&self) {
        let _ = self.pieces.send(Ok(Piece::Waiting { place: 1 }));
    }

    pub fn fail(&self, error: ModelError) {
        let _ = self.pieces.send(Err(error));
    }

    /// Puts this sequence's next tokens into the batch; says how many.
    pub fn fill(&mut self, batch: &mut LlamaBatch<'_>, id: i32, room: usize) -> usize {
        self.logits = None;
        let end = self.tokens.len().min(self.read + room);
        for (place, token) in self.tokens[self.read..end].iter().enumerate() {
            let wanted = self.read + place + 1 == self.tokens.len();
            let index = batch.n_tokens();
            if batch.add(*token, (self.read + place) as i32, &[id], wanted).is_err() {
                self.read += place;
                return place;
            }
            if wanted {
                self.logits = Some(index);
            }
        }
        let filled = end - self.read;
        self.read = end;
        filled
    }

    /// Picks the next token and hands out what it says.
    pub fn advance(&mut self, loaded: &Loaded<'_>, context: &LlamaContext<'_>) -> Went {
        let Some(index) = self.logits.take() else { return Went::On };
        let Some(token) = self.pick(loaded, context, index) else {
            self.fail(last(
                FailureKind::Malformed,
                "The local model could not follow the required format.".to_owned(),
            ));
            return Went::Over;
        };
        self.sampler.accept(token);
        if let Some(grammar) = &mut self.grammar {
            grammar.accept(token);
        }
        self.tokens.push(token);
        let vocabulary = loaded.model.vocab();
        if vocabulary.is_eog(token) {
            return self.end(Ending::Whole);
        }
        self.text.push(&vocabulary.token_to_piece(token, false, None));
        // A grammar ends by itself; free text ends at a sentence near the limit.
        let near_limit = self.grammar.is_none() && self.answered() + LAST_TOKENS >= self.most;
        if self.answered() >= self.most || near_limit && self.text.ends_sentence() {
            return self.end(Ending::Cut);
        }
        // From there on only whole sentences go out, so that the last one is whole.
        if !near_limit && !self.say() {
            return Went::Over;
        }
        Went::On
    }

    /// The next token. Only one that the grammar allows may be accepted: the
    /// engine ends the process over any other.
    fn pick(
        &mut self,
        loaded: &Loaded<'_>,
        context: &LlamaContext<'_>,
        index: i32,
    ) -> Option<LlamaToken> {
        let vocabulary = loaded.model.vocab();
        let early = self.grammar.is_none() && self.answered() < LEAST_TOKENS;
        let logits = context.get_logits_ith(index);
        let mut free = best(logits, |token| early && vocabulary.is_eog(token));
        self.sampler.apply(&mut free);
        let picked = free.selected_token()?;
        // The grammar looks at one token; all of them only when that one is wrong.
        let Some(grammar) = &mut self.grammar else { return Some(picked) };
        let one = LlamaTokenData::new(picked, 1.0, 0.0);
        let mut one = LlamaTokenDataArray::new(vec![one], false);
        grammar.apply(&mut one);
        if one.data.first().is_some_and(|data| data.logit().is_finite()) {
            return Some(picked);
        }
        let mut all = context.token_data_array_ith(index);
        grammar.apply(&mut all);
        all.data.retain(|candidate| candidate.logit().is_finite());
        if all.data.is_empty() {
            return None;
        }
        self.sampler.apply(&mut all);
        all.selected_token()
    }

    /// Hands out what is whole. False: nobody listens.
    fn say(&mut self) -> bool {
        match self.text.take() {
            Some(text) => self.pieces.send(Ok(Piece::Text(text))).is_ok(),
            None => true,
        }
    }

    fn end(&mut self, ending: Ending) -> Went {
        if self.grammar.is_none() && self.answered() >= self.most {
            self.text.cut_to_sentence();
        }
        self.say();
        let usage = Usage {
            input_tokens: Some(self.prompt as u64),
            output_tokens: Some(self.answered() as u64),
            ..Usage::default()
        };
        let _ = self.pieces.send(Ok(Piece::Usage(usage)));
        let _ = self.pieces.send(Ok(Piece::End(ending)));
        Went::Over
    }
}

/// Set against repetition, which is what small models fall into.
pub fn sampler(loaded: &Loaded<'_>, asked: Option<f64>) -> LlamaSampler {
    let usual = if loaded.is_small() { 0.6 } else { 0.7 };
    let (seed, temperature) = (random(), asked.map_or(usual, |asked| asked as f32));
    LlamaSampler::chain_simple([
        LlamaSampler::penalties(loaded.model.n_vocab(), 256, 1.1, 0.0, 0.0),
        LlamaSampler::dry(&loaded.model, 0.8, 1.75, 3, 1024, ["\n", ":", "\"", "*"]),
        LlamaSampler::top_k(40),
        LlamaSampler::top_p(0.9, 1),
        LlamaSampler::min_p(0.05, 1),
        LlamaSampler::temp(temperature),
        LlamaSampler::dist(seed),
    ])
}

fn random() -> u32 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0) as u32
}

/// The most likely tokens. What is sampled comes from the forty best after penalties, which only
/// take away; to weigh a whole vocabulary for that would cost as much as a small model itself.
fn best(logits: &[f32], is_forbidden: impl Fn(LlamaToken) -> bool) -> LlamaTokenDataArray {
    let mut kept: Vec<(f32, i32)> = Vec::with_capacity(4 * CANDIDATES);
    let mut least = f32::NEG_INFINITY;
    for (id, logit) in (0_i32..).zip(logits) {
        if *logit > least && !is_forbidden(LlamaToken(id)) {
            kept.push((*logit, id));
            if kept.len() == 4 * CANDIDATES {
                kept.select_nth_unstable_by(CANDIDATES - 1, |one, other| other.0.total_cmp(&one.0));
                kept.truncate(CANDIDATES);
                least = kept[CANDIDATES - 1].0;
            }
        }
    }
    kept.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    kept.truncate(CANDIDATES);
    let data = kept.into_iter().map(|(logit, id)| LlamaTokenData::new(LlamaToken(id), logit, 0.0));
    LlamaTokenDataArray::from_iter(data, true)
}

/// Bytes of an answer that have not gone out yet.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
}

impl Text {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// All whole characters; the rest of one stays.
    fn take(&mut self) -> Option<String> {
        let whole = match std::str::from_utf8(&self.bytes) {
            Ok(_) => self.bytes.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.bytes.len(),
        };
        let rest = self.bytes.split_off(whole);
        let text = std::mem::replace(&mut self.bytes, rest);
        let text = String::from_utf8_lossy(&text).into_owned();
        (!text.is_empty()).then_some(text)
    }

    fn ends_sentence(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes);
        let text = text.trim_end_matches(['"', '\'', ')', '*', '_', ' ']);
        text.ends_with(['.', '!', '?', '。', '！', '？', '\n'])
    }

    /// Leaves out what comes after the last whole sentence, if there is one.
    fn cut_to_sentence(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        if let Some(end) = text.rfind(['.', '!', '?', '\n', '。', '！', '？']) {
            let end = end + text[end..].chars().next().map_or(0, char::len_utf8);
            self.bytes = text.as_bytes()[..end].to_vec();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        let mut text = Text::default();
        text.push(bytes);
        text
    }

    #[test]
    fn the_likeliest_tokens_are_weighed_in_order() {
        let logits: Vec<f32> = (0..5_000).map(|n| ((n * 7_919) % 5_003) as f32).collect();
        let mut expected: Vec<(f32, i32)> = logits.iter().copied().zip(0..).collect();
        expected.retain(|(_, id)| id % 2 == 0);
        expected.sort_by(|one, other| other.0.total_cmp(&one.0));
        expected.truncate(CANDIDATES);
        let found = best(&logits, |token| token.0 % 2 == 1);
        let found: Vec<(f32, i32)> = found.data.iter().map(|d| (d.logit(), d.id().0)).collect();
        assert_eq!(found, expected);
        assert_eq!(best(&logits[..3], |_| false).data.len(), 3);
    }

    #[test]
    fn characters_go_out_whole() {
        let bytes = "grüße".as_bytes();
        let mut held = text(&bytes[..3]);
        assert_eq!(held.take().as_deref(), Some("gr"));
        assert_eq!(held.take(), None);
        held.push(&bytes[3..]);
        assert_eq!(held.take().as_deref(), Some("üße"));
    }

    #[test]
    fn an_answer_is_cut_at_its_last_sentence() {
        let cut = |given: &str| {
            let mut held = text(given.as_bytes());
            held.cut_to_sentence();
            held.take().unwrap_or_default()
        };
        assert_eq!(cut("One. Two! Thr"), "One. Two!");
        assert_eq!(cut("一。二"), "一。");
        assert_eq!(cut("no end here"), "no end here");
    }

    #[test]
    fn a_sentence_ends_also_in_quotes() {
        assert!(text(b"He said \"go.\"").ends_sentence());
        assert!(text(b"**Done!**").ends_sentence());
        assert!(!text(b"and then").ends_sentence());
    }
}
