//! PostgreSQL keeps any text but the null character, and we keep any text.

use std::borrow::Cow;

/// Stands before what stands for a null character, or for this one: Unicode promises that
/// it is no character.
const MARK: char = '\u{10FFFE}';
const NULL: char = '0';
const ITSELF: char = '1';

/// As the database can keep it.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', MARK]) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\0' => kept.extend([MARK, NULL]),
            MARK => kept.extend([MARK, ITSELF]),
            c => kept.push(c),
        }
    }
    Cow::Owned(kept)
}

/// As it was given.
pub(super) fn given(text: String) -> String {
    if !text.contains(MARK) {
        return text;
    }
    let mut given = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            MARK if characters.next() == Some(NULL) => given.push('\0'),
            c => given.push(c),
        }
    }
    given
}

#[cfg(test)]
mod tests {
    use super::{given, kept};

    #[test]
    fn any_text_comes_back() {
        for text in ["", "plain", "a\0b", "\0", "\u{10FFFE}", "\u{10FFFE}0\0\u{10FFFE}1\0\0"] {
            let kept = kept(text);
            assert!(!kept.contains('\0'));
            assert_eq!(given(kept.into_owned()), text);
        }
        assert_eq!(kept("plain"), "plain");
    }
}
