//! Full-text search: what a word is, and when two are the same. Both databases go by it.
//!
//! SQLite's own tokenizer (`unicode61 remove_diacritics 2`) has the same rules, so there
//! only what a person typed is cut into words. PostgreSQL's parsers belong to languages, so
//! there the words are made here, and the database compares them as they are.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Bytes of a word that count. PostgreSQL takes no more than 2,046.
const WORD_BYTES: usize = 1_024;
/// Bytes of all words of one row, of which PostgreSQL takes a million.
const ROW_BYTES: usize = 256 * 1024;

/// One FTS5 expression per word, the last one a prefix. No character of the
/// text reaches FTS5 as an operator; a text without words gives no expression.
pub(crate) fn for_fts5(text: &str) -> Vec<String> {
    asked(split(text).map(|word| format!("\"{word}\"")), "*")
}

/// The same as texts of `tsquery`.
pub(crate) fn for_tsquery(text: &str) -> Vec<String> {
    asked(split(text).map(|word| format!("'{}'", folded(word))), ":*")
}

/// The words of a text as texts of `tsvector`, each once; several where they are many.
pub(crate) fn for_tsvectors(text: &str) -> Vec<String> {
    let words: BTreeSet<String> = split(text).map(folded).collect();
    let mut rows: Vec<String> = vec![];
    for word in words {
        match rows.last_mut() {
            Some(row) if row.len() + word.len() < ROW_BYTES => {
                row.push(' ');
                row.push_str(&word);
            }
            Some(_) | None => rows.push(word),
        }
    }
    rows
}

fn asked(words: impl Iterator<Item = String>, prefix: &str) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    if let Some(last) = words.last_mut() {
        last.push_str(prefix);
    }
    words.sort_unstable();
    words.dedup();
    words
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c| !stands_in_word(c));
    words.filter(|word| word.contains(char::is_alphanumeric))
}

fn stands_in_word(c: char) -> bool {
    c.is_alphanumeric() || is_accent(c)
}

/// Combining accents belong to the letter before them.
fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Without case, and without the accents of Latin letters.
fn folded(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    for c in word.nfc().map(plain).flat_map(char::to_lowercase).filter(|c| !is_accent(*c)) {
        let c = if c == 'ς' { 'σ' } else { c };
        if folded.len() + c.len_utf8() > WORD_BYTES {
            break;
        }
        folded.push(c);
    }
    folded
}

fn plain(c: char) -> char {
    let mut base = c;
    let mut is_first = true;
    decompose_canonical(c, |part| {
        if is_first && part.is_ascii_alphabetic() {
            base = part;
        }
        is_first = false;
    });
    base
}

#[cfg(test)]
mod tests {
    use super::{for_fts5, for_tsquery, for_tsvectors};

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(for_fts5(text), expected, "{text:?}");
    }

    #[test]
    fn only_words_are_left() {
        check("", &[]);
        check(" \t\u{301} -- \"' * () ^ : \u{0} 🎉", &[]);
        check("one", &["\"one\"*"]);
        check("one two", &["\"one\"", "\"two\"*"]);
        check("two AND one", &["\"AND\"", "\"one\"*", "\"two\""]);
        check("one one one", &["\"one\"", "\"one\"*"]);
        check("foo-bar\"baz", &["\"bar\"", "\"baz\"*", "\"foo\""]);
        check("cafe\u{301}", &["\"cafe\u{301}\"*"]);
    }

    #[test]
    fn words_are_folded_for_postgres() {
        assert_eq!(for_tsquery("CAFÉ ÜBER Straße"), ["'cafe'", "'straße':*", "'uber'"]);
        assert_eq!(for_tsquery("cafe\u{301} Привет 東京"), ["'cafe'", "'привет'", "'東京':*"]);
        assert_eq!(for_tsvectors("b A, a-É ệ"), ["a b e"]);
        assert_eq!(for_tsvectors("... 🎉"), [""; 0]);
        let many: String = (0..60_000).map(|number| format!("word{number} ")).collect();
        let rows = for_tsvectors(&many);
        assert!(rows.len() > 1 && rows.iter().all(|row| row.len() < 1_000_000));
        assert_eq!(for_tsvectors(&"x".repeat(5_000))[0].len(), 1_024);
    }
}
