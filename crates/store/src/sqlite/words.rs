//! Full-text search: from what a person typed to what FTS5 understands.

/// One FTS5 expression per word, the last one a prefix. No character of the
/// text reaches FTS5 as an operator; a text without words gives no expression.
pub(super) fn expressions(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text
        .split(|c| !stands_in_word(c))
        .filter(|word| word.contains(char::is_alphanumeric))
        .map(|word| format!("\"{word}\""))
        .collect();
    if let Some(last) = words.pop() {
        words.push(last + "*");
    }
    words.sort_unstable();
    words.dedup();
    words
}

/// Combining accents belong to the letter before them; the tokenizer drops them.
fn stands_in_word(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::expressions;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(expressions(text), expected, "{text:?}");
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
}
