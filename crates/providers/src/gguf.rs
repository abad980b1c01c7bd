//! What a GGUF file says of its model, read from its head without loading it.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

const MAGIC: [u8; 4] = *b"GGUF";
/// What a sound head stays below. A damaged one may claim anything.
const KEYS: u64 = 4_096;
const KEY_BYTES: u64 = 1_024;
const TEXT_BYTES: u64 = 1 << 20;
const ITEMS: u64 = 1 << 23;

/// The head of a model, as far as it matters here.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Head {
    pub architecture: String,
    /// `general.name`, for people.
    pub name: Option<String>,
    /// It can be talked to: files of other kinds (vocabularies, projectors of pictures,
    /// embeddings) bring no chat template.
    pub talks: bool,
    /// Tokens that the model was made for.
    pub trained_tokens: Option<u64>,
    /// What the model remembers of one token: a key and a value of two bytes per number, in
    /// every layer.
    pub token_bytes: Option<u64>,
}

impl Head {
    pub fn read(path: &Path) -> io::Result<Head> {
        let mut from = Reader { file: BufReader::new(File::open(path)?) };
        if from.bytes(4)? != MAGIC {
            return Err(wrong("it does not begin as a GGUF file does"));
        }
        let version = from.number(4)?;
        if !(2..=3).contains(&version) {
            return Err(wrong("it is of another version of GGUF"));
        }
        let _tensors = from.number(8)?;
        let mut keys = HashMap::new();
        for _ in 0..bounded(from.number(8)?, KEYS)? {
            let key = from.text(KEY_BYTES)?;
            let kind = from.number(4)?;
            let wanted = !key.starts_with("tokenizer.") || key == "tokenizer.chat_template";
            if let Some(value) = from.value(kind, wanted)? {
                keys.insert(key, value);
            }
        }
        Ok(Head::of(&keys))
    }

    fn of(keys: &HashMap<String, Value>) -> Head {
        let text = |key: &str| match keys.get(key) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let architecture = text("general.architecture").unwrap_or_default();
        let number = |key: &str| match keys.get(&format!("{architecture}.{key}")) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        let layers = number("block_count");
        // One number for all layers, or one for each.
        let heads = match keys.get(&format!("{architecture}.attention.head_count_kv")) {
            Some(Value::Sum(all)) => Some(*all),
            Some(Value::Number(each)) => layers.map(|layers| layers.saturating_mul(*each)),
            _ => layers.zip(number("attention.head_count")).map(|(l, h)| l.saturating_mul(h)),
        };
        let usual = number("embedding_length").zip(number("attention.head_count"));
        let usual = usual.and_then(|(all, heads)| all.checked_div(heads));
        let key = number("attention.key_length").or(usual);
        let value = number("attention.value_length").or(usual);
        let numbers = key.zip(value).map(|(key, value)| key.saturating_add(value));
        Head {
            name: text("general.name"),
            talks: keys.contains_key("tokenizer.chat_template"),
            trained_tokens: number("context_length"),
            token_bytes: heads.zip(numbers).map(|(h, n)| h.saturating_mul(n).saturating_mul(2)),
            architecture,
        }
    }
}

enum Value {
    Text(String),
    Number(u64),
    /// Of a list of numbers.
    Sum(u64),
}

struct Reader {
    file: BufReader<File>,
}

impl Reader {
    fn bytes(&mut self, count: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Little-endian, of up to eight bytes.
    fn number(&mut self, bytes: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.file.read_exact(&mut number[..bytes])?;
        Ok(u64::from_le_bytes(number))
    }

    fn text(&mut self, most: u64) -> io::Result<String> {
        let length = bounded(self.number(8)?, most)?;
        Ok(String::from_utf8_lossy(&self.bytes(length)?).into_owned())
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.file.seek_relative(i64::try_from(bytes).map_err(|_| wrong("it is damaged"))?)
    }

    fn value(&mut self, kind: u64, wanted: bool) -> io::Result<Option<Value>> {
        const TEXT: u64 = 8;
        const LIST: u64 = 9;
        if let Some(bytes) = width(kind) {
            let number = self.number(bytes)?;
            return Ok(wanted.then_some(Value::Number(number)));
        }
        match kind {
            TEXT if wanted => Ok(Some(Value::Text(self.text(TEXT_BYTES)?))),
            TEXT => {
                let length = self.number(8)?;
                self.skip(length).map(|()| None)
            }
            LIST => {
                let kind = self.number(4)?;
                let count = bounded(self.number(8)?, ITEMS)?;
                match width(kind) {
                    Some(bytes) if wanted && count <= KEYS => {
                        let mut sum = 0_u64;
                        for _ in 0..count {
                            sum = sum.saturating_add(self.number(bytes)?);
                        }
                        return Ok(Some(Value::Sum(sum)));
                    }
                    Some(bytes) => self.skip(count * bytes as u64)?,
                    None if kind == TEXT => {
                        for _ in 0..count {
                            let length = self.number(8)?;
                            self.skip(length)?;
                        }
                    }
                    None => return Err(wrong("it is damaged")),
                }
                Ok(None)
            }
            _ => Err(wrong("it is damaged")),
        }
    }
}

/// Bytes of a value of this kind, where that is the same for all.
fn width(kind: u64) -> Option<usize> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

fn bounded(number: u64, most: u64) -> io::Result<u64> {
    (number <= most).then_some(number).ok_or_else(|| wrong("it is damaged"))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The bytes of all parts of a model, of which this is the first.
pub fn size(first: &Path) -> u64 {
    let own = fs::metadata(first).map_or(0, |file| file.len());
    let name = first.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((stem, rest)) = name.split_once("-00001-of-") else { return own };
    let count = rest.split('.').next().and_then(|count| count.parse().ok()).unwrap_or(1);
    let part = |n: u32| first.with_file_name(format!("{stem}-{n:05}-of-{rest}"));
    let others = (2..=count).map(|n| fs::metadata(part(n)).map_or(0, |file| file.len()));
    own + others.sum::<u64>()
}

/// Heads that were read before, until their files change.
#[derive(Default)]
pub(crate) struct Heads {
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// When the file was changed, its size, and its head.
type Known = (SystemTime, u64, Option<Head>);

impl Heads {
    pub(crate) fn of(&self, path: &Path) -> Option<Head> {
        let file = fs::metadata(path).ok()?;
        let at = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((then, bytes, head)) = known.get(path)
            && (*then, *bytes) == (at, file.len())
        {
            return head.clone();
        }
        let head = Head::read(path).ok();
        known.insert(path.to_owned(), (at, file.len(), head.clone()));
        head
    }
}
