//! A reader of JSON as models write it: what is wrong with the form is put right
//! and told; what is no object or list at all is refused.
//!
//! It looks only a short way ahead and nests only so deep, so that it takes one
//! pass whatever it is given.

use super::marks::{
    Begun, Inside, Quotes, ahead, closes, closing, is_bare, is_blank, is_colon, is_comma,
    key_ahead, parts,
};

/// Objects and lists inside one another.
const DEPTH: usize = 32;

/// Numbers and truth values are texts here: nobody asked for one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Null,
    /// Not whole when the input ended in it.
    Text {
        text: String,
        whole: bool,
    },
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Value {
    /// One text, and whether it is whole; nothing if there are no words in it.
    pub fn words(&self) -> Option<(String, bool)> {
        let (text, whole) = match self {
            Value::Null | Value::Object(_) => return None,
            Value::Text { text, whole } => (text.clone(), *whole),
            Value::List(items) => {
                let all: Vec<(String, bool)> = items.iter().filter_map(Value::words).collect();
                let whole = all.iter().all(|(_, whole)| *whole);
                (all.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join("\n"), whole)
            }
        };
        let is_said = !whole || text.chars().any(char::is_alphanumeric);
        is_said.then(|| (text.trim().to_owned(), whole))
    }
}

pub(crate) struct Found {
    pub value: Value,
    /// The byte after it.
    pub end: usize,
    /// The input ended before the value did.
    pub cut: bool,
    pub mended: Vec<&'static str>,
}

/// Reads the object or list that begins at `start`, or tells how far it got.
pub(crate) fn read(text: &str, start: usize, begun: Begun) -> Result<Found, usize> {
    let mut reader = Reader { text, at: start, cut: false, mended: vec![], begun };
    let value = match reader.peek() {
        Some('{') => reader.object(DEPTH),
        Some('[') => reader.list(DEPTH),
        _ => None,
    };
    let Reader { at, cut, mut mended, .. } = reader;
    if cut {
        mended.push("closed what was cut off");
    }
    value.map(|value| Found { value, end: at, cut, mended }).ok_or(at)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    cut: bool,
    mended: Vec<&'static str>,
    begun: Begun,
}

impl<'a> Reader<'a> {
    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut entries = vec![];
        let mut comma = false;
        self.skip();
        loop {
            self.gap();
            let Some(next) = self.peek() else {
                return Some(self.cut_off(Value::Object(entries)));
            };
            if next == '}' || next == ']' {
                self.close(next == '}', comma);
                return Some(Value::Object(entries));
            }
            if !entries.is_empty() && !comma {
                key_ahead(ahead(self.rest()), self.begun)
                    .then(|| self.mend("put in a missing comma"))?;
            }
            let key = self.key()?;
            self.gap();
            let Some(colon) = self.peek() else {
                return Some(self.cut_off(Value::Object(entries)));
            };
            is_colon(colon).then(|| self.skip())?;
            if colon == '=' && self.peek() == Some('>') {
                self.skip();
            }
            let value = self.value(Inside::Object, depth.checked_sub(1)?)?;
            entries.push((key, value));
            comma = self.comma();
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut items = vec![];
        let mut comma = false;
        self.skip();
        loop {
            self.gap();
            let Some(next) = self.peek() else {
                return Some(self.cut_off(Value::List(items)));
            };
            if next == ']' || next == '}' {
                self.close(next == ']', comma);
                return Some(Value::List(items));
            }
            if !items.is_empty() && !comma {
                self.mend("put in a missing comma");
            }
            items.push(self.value(Inside::List, depth.checked_sub(1)?)?);
            comma = self.comma();
        }
    }

    fn value(&mut self, inside: Inside, depth: usize) -> Option<Value> {
        self.gap();
        match self.peek() {
            None => Some(self.cut_off(Value::Text { text: String::new(), whole: false })),
            Some('{') if depth > 0 => self.object(depth),
            Some('[') if depth > 0 => self.list(depth),
            Some('{' | '[') => None,
            Some(mark) if !closing(mark).is_empty() => Some(self.string(mark, inside)),
            Some(_) => self.bare(inside),
        }
    }

    fn string(&mut self, opening: char, inside: Inside) -> Value {
        self.told_quotes(opening);
        self.skip();
        let mut text = String::new();
        let mut quotes = Quotes::default();
        while let Some(next) = self.rest().chars().next() {
            quotes.pass(next);
            if closing(opening).contains(&next) {
                let after = ahead(&self.rest()[next.len_utf8()..]);
                if closes(after, inside, self.begun) && !quotes.holds(after) {
                    self.skip();
                    return Value::Text { text, whole: true };
                }
                if inside == Inside::Object && self.key_after(&text) {
                    self.mend("closed a text that was left open");
                    let text = text.trim_end().trim_end_matches(is_comma).to_owned();
                    return Value::Text { text, whole: true };
                }
                quotes.any = true;
                self.mend("kept quotation marks inside a text");
            }
            if next == '\\' {
                self.skip();
                text.extend(self.escape());
                continue;
            }
            match next {
                '\n' | '\r' => self.mend("kept a line break inside a text"),
                next if next.is_control() => self.mend("kept a control character inside a text"),
                _ => {}
            }
            text.push(next);
            self.skip();
        }
        let text = text.trim_end().trim_end_matches('`').to_owned();
        self.cut_off(Value::Text { text, whole: false })
    }

    /// Whether the next key begins here, although the text before it was not closed.
    fn key_after(&self, text: &str) -> bool {
        let words = text.trim_end();
        let parted = words.ends_with(is_comma) || text[words.len()..].contains('\n');
        parted && key_ahead(ahead(self.rest()), self.begun)
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Option<char> {
        let mark = self.rest().chars().next()?;
        self.skip();
        match mark {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'b' | 'f' => Some(' '),
            '"' | '\\' | '/' => Some(mark),
            'u' => Some(self.unicode()),
            other => {
                self.mend("left out a wrong backslash");
                Some(other)
            }
        }
    }

    fn unicode(&mut self) -> char {
        let first = self.four_digits();
        let low = match first {
            Some(0xd800..=0xdbff) if self.rest().starts_with("\\u") => {
                self.at += 2;
                self.four_digits()
            }
            _ => None,
        };
        let units = [first.unwrap_or(0xfffd), low.unwrap_or(0)];
        let units = &units[..1 + usize::from(low.is_some())];
        char::decode_utf16(units.iter().copied()).next().and_then(Result::ok).unwrap_or('\u{fffd}')
    }

    fn four_digits(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4)?;
        let number = u16::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(number)
    }

    /// A value without quotation marks: a number, a literal, or words.
    fn bare(&mut self, inside: Inside) -> Option<Value> {
        let start = self.at;
        while let Some(next) = self.rest().chars().next() {
            let after = &self.rest()[next.len_utf8()..];
            let ends = match next {
                '\n' | '}' | ']' => true,
                ' ' => after.starts_with("//") || after.starts_with("/*"),
                comma if is_comma(comma) => {
                    inside == Inside::List || parts(ahead(after), self.begun)
                }
                _ => false,
            };
            if ends {
                break;
            }
            self.skip();
        }
        let whole = self.at < self.text.len();
        let text = self.text[start..self.at].trim();
        let is_number = text.parse::<f64>().is_ok() && text.ends_with(|c: char| c.is_ascii_digit());
        let value = match text {
            "" => return None,
            "null" => Value::Null,
            "None" | "nil" | "undefined" | "NaN" => {
                self.mend("took a foreign word for null");
                Value::Null
            }
            text => {
                if !is_number && text != "true" && text != "false" {
                    self.mend("put quotation marks around bare words");
                }
                Value::Text { text: text.to_owned(), whole }
            }
        };
        Some(if whole { value } else { self.cut_off(value) })
    }

    fn key(&mut self) -> Option<String> {
        let opening = self.peek()?;
        let mut key = String::new();
        if !closing(opening).is_empty() {
            self.told_quotes(opening);
            self.skip();
            while let Some(next) = self.rest().chars().next() {
                self.skip();
                match next {
                    '\\' => {}
                    next if closing(opening).contains(&next) => break,
                    next => key.push(next),
                }
            }
            return Some(key);
        }
        while let Some(next) = self.rest().chars().next().filter(|next| is_bare(*next)) {
            key.push(next);
            self.skip();
        }
        self.mend("put quotation marks around bare words");
        (!key.is_empty()).then_some(key)
    }

    fn told_quotes(&mut self, opening: char) {
        match opening {
            '"' => {}
            '\'' | '`' => self.mend("took single quotation marks for double ones"),
            _ => self.mend("took typographic quotation marks for plain ones"),
        }
    }

    fn close(&mut self, fits: bool, comma: bool) {
        if comma {
            self.mend("left out a trailing comma");
        }
        match fits {
            true => self.skip(),
            // It closes what is around this.
            false => self.mend("put in a missing bracket"),
        }
    }

    fn comma(&mut self) -> bool {
        self.gap();
        let mut found = false;
        while let Some(mark) = self.peek().filter(|next| is_comma(*next)) {
            if found || mark != ',' {
                self.mend("put right a wrong comma");
            }
            found = true;
            self.skip();
            self.gap();
        }
        found
    }

    /// Passes blank space and comments.
    fn gap(&mut self) {
        loop {
            let rest = self.rest().trim_start_matches(is_blank);
            self.at = self.text.len() - rest.len();
            let end = match rest {
                rest if rest.starts_with("//") || rest.starts_with('#') => rest.find('\n'),
                rest if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
                _ => return,
            };
            self.at += end.unwrap_or(rest.len());
            self.mend("left out a comment");
        }
    }

    fn cut_off(&mut self, value: Value) -> Value {
        self.cut = true;
        value
    }

    fn mend(&mut self, what: &'static str) {
        if !self.mended.contains(&what) {
            self.mended.push(what);
        }
    }

    /// The next character between values, where the end of a code fence ends all.
    fn peek(&self) -> Option<char> {
        self.rest().chars().next().filter(|_| !self.rest().starts_with("```"))
    }

    fn skip(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
}
