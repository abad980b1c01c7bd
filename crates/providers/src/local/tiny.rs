//! Writes GGUF files of tiny models, of the architecture of Llama, with weights that are drawn
//! by lot. They know nothing, but they load, answer and end as large ones do.

use std::path::Path;

const LAYERS: usize = 2;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const HEADS_KV: usize = 2;
const INNER: usize = 96;

pub struct Tiny {
    pub template: &'static str,
    /// Marks of the template, the end of a turn first.
    pub marks: &'static [&'static str],
    pub context: u32,
    /// It ends its turn as soon as it may.
    pub ends: bool,
}

impl Default for Tiny {
    fn default() -> Self {
        Tiny {
            template: CHATML,
            marks: &["<|im_end|>", "<|im_start|>"],
            context: 8_192,
            ends: false,
        }
    }
}

/// As the files of these families have them, cut to what tells them apart.
pub const CHATML: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + \
    message['content'] + '<|im_end|>' + '\n'}}{% endfor %}";
pub const QWEN3: &str = "{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' }}\
    {%- if enable_thinking is defined and enable_thinking is false %}\
    {{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}";
pub const LLAMA3: &str = "{% set content = '<|start_header_id|>' + message['role'] + \
    '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}";
pub const GEMMA: &str = "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + \
    '<end_of_turn>\n' }}";
pub const PHI: &str = "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}\
    {{ '<|assistant|>' }}{% if message['role'] == '<|user|>' %}{% endif %}";

impl Tiny {
    pub fn write(&self, path: &Path) {
        let tokens = self.tokens();
        let mut file = Writer::default();
        file.text("general.architecture", "llama");
        file.text("general.name", "Tiny");
        file.number("llama.context_length", self.context);
        file.number("llama.embedding_length", WIDTH as u32);
        file.number("llama.block_count", LAYERS as u32);
        file.number("llama.feed_forward_length", INNER as u32);
        file.number("llama.attention.head_count", HEADS as u32);
        file.number("llama.attention.head_count_kv", HEADS_KV as u32);
        file.real("llama.attention.layer_norm_rms_epsilon", 1e-5);
        file.text("tokenizer.ggml.model", "gpt2");
        file.text("tokenizer.ggml.pre", "default");
        file.texts("tokenizer.ggml.tokens", tokens.iter().map(|(text, _)| text.as_str()));
        file.numbers("tokenizer.ggml.token_type", tokens.iter().map(|(_, kind)| *kind));
        file.texts("tokenizer.ggml.merges", ["t h", "th e"].into_iter());
        file.number("tokenizer.ggml.bos_token_id", 0);
        file.number("tokenizer.ggml.eos_token_id", 1);
        file.flag("tokenizer.ggml.add_bos_token", false);
        if !self.template.is_empty() {
            file.text("tokenizer.chat_template", self.template);
        }
        self.weights(&mut file, tokens.len());
        std::fs::write(path, file.finish()).unwrap();
    }

    /// Beginning and end of a text, the marks, all bytes as this kind of vocabulary writes them,
    /// and two words.
    fn tokens(&self) -> Vec<(String, i32)> {
        const PLAIN: i32 = 1;
        const CONTROL: i32 = 3;
        let mut tokens: Vec<(String, i32)> = ["<|begin|>", "<|endoftext|>"]
            .iter()
            .chain(self.marks)
            .map(|mark| ((*mark).to_owned(), CONTROL))
            .collect();
        let shown = |byte: &u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
        let mut others = 0x100_u32..;
        let letters = (0..=255_u8).map(|byte| match shown(&byte) {
            true => char::from(byte),
            false => char::from_u32(others.next().unwrap()).unwrap(),
        });
        tokens.extend(letters.map(|letter| (letter.to_string(), PLAIN)));
        tokens.extend(["th", "the"].map(|word| (word.to_owned(), PLAIN)));
        tokens
    }

    fn weights(&self, file: &mut Writer, tokens: usize) {
        let mut lot = Lot(7);
        // The first number of every state stays positive: what looks at it alone always wins.
        let mut embedded = lot.draw(WIDTH * tokens, 0.5);
        embedded.iter_mut().step_by(WIDTH).for_each(|first| *first = 2.0);
        let mut output = lot.draw(WIDTH * tokens, 0.5);
        output.iter_mut().step_by(WIDTH).for_each(|first| *first = 0.0);
        // Marks are never said, but for the end of a turn.
        for mark in 0..2 + self.marks.len() {
            output[mark * WIDTH] = if self.ends && mark == 2 { 20.0 } else { -20.0 };
        }
        file.tensor("token_embd.weight", &[WIDTH, tokens], embedded);
        file.tensor("output_norm.weight", &[WIDTH], vec![1.0; WIDTH]);
        file.tensor("output.weight", &[WIDTH, tokens], output);
        let kv = WIDTH / HEADS * HEADS_KV;
        for layer in 0..LAYERS {
            let mut tensor = |name: &str, shape: &[usize], scale: f32| {
                let numbers = lot.draw(shape.iter().product(), scale);
                file.tensor(&format!("blk.{layer}.{name}.weight"), shape, numbers);
            };
            tensor("attn_q", &[WIDTH, WIDTH], 0.3);
            tensor("attn_k", &[WIDTH, kv], 0.3);
            tensor("attn_v", &[WIDTH, kv], 0.3);
            tensor("attn_output", &[WIDTH, WIDTH], 0.1);
            tensor("ffn_gate", &[WIDTH, INNER], 0.1);
            tensor("ffn_up", &[WIDTH, INNER], 0.1);
            tensor("ffn_down", &[INNER, WIDTH], 0.1);
            for name in ["attn_norm", "ffn_norm"] {
                file.tensor(&format!("blk.{layer}.{name}.weight"), &[WIDTH], vec![1.0; WIDTH]);
            }
        }
    }
}

/// Numbers that look like chance and are the same each time.
struct Lot(u64);

impl Lot {
    fn draw(&mut self, count: usize, scale: f32) -> Vec<f32> {
        let mut one = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 40) as f32 / (1 << 24) as f32 - 0.5) * 2.0 * scale
        };
        (0..count).map(|_| one()).collect()
    }
}

#[derive(Default)]
struct Writer {
    keys: Vec<u8>,
    count: u64,
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
}

fn text(into: &mut Vec<u8>, text: &str) {
    into.extend((text.len() as u64).to_le_bytes());
    into.extend(text.as_bytes());
}

impl Writer {
    fn key(&mut self, name: &str, kind: u32) {
        self.count += 1;
        text(&mut self.keys, name);
        self.keys.extend(kind.to_le_bytes());
    }

    fn list(&mut self, name: &str, kind: u32, count: usize) {
        self.key(name, 9);
        self.keys.extend(kind.to_le_bytes());
        self.keys.extend((count as u64).to_le_bytes());
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name, 8);
        text(&mut self.keys, value);
    }

    fn number(&mut self, name: &str, value: u32) {
        self.key(name, 4);
        self.keys.extend(value.to_le_bytes());
    }

    fn real(&mut self, name: &str, value: f32) {
        self.key(name, 6);
        self.keys.extend(value.to_le_bytes());
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.key(name, 7);
        self.keys.push(u8::from(value));
    }

    fn texts<'a>(&mut self, name: &str, values: impl ExactSizeIterator<Item = &'a str>) {
        self.list(name, 8, values.len());
        values.for_each(|value| text(&mut self.keys, value));
    }

    fn numbers(&mut self, name: &str, values: impl ExactSizeIterator<Item = i32>) {
        self.list(name, 5, values.len());
        values.for_each(|value| self.keys.extend(value.to_le_bytes()));
    }

    fn tensor(&mut self, name: &str, shape: &[usize], numbers: Vec<f32>) {
        self.tensors.push((name.to_owned(), shape.to_vec(), numbers));
    }

    fn finish(self) -> Vec<u8> {
        const STEP: usize = 32;
        let mut file = b"GGUF".to_vec();
        file.extend(3_u32.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend(self.count.to_le_bytes());
        file.extend(self.keys);
        let mut data = vec![];
        for (name, shape, numbers) in &self.tensors {
            text(&mut file, name);
            file.extend((shape.len() as u32).to_le_bytes());
            shape.iter().for_each(|side| file.extend((*side as u64).to_le_bytes()));
            file.extend(0_u32.to_le_bytes());
            file.extend((data.len() as u64).to_le_bytes());
            numbers.iter().for_each(|number| data.extend(number.to_le_bytes()));
            data.resize(data.len().next_multiple_of(STEP), 0);
        }
        file.resize(file.len().next_multiple_of(STEP), 0);
        file.extend(data);
        file
    }
}
