//! Text out of what a program prints for a terminal.

/// Takes bytes in any pieces and gives text without escape codes and without
/// control characters other than tabs and line ends.
#[derive(Default)]
pub(crate) struct Plain {
    /// The start of a letter whose end has not arrived.
    carry: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    /// After the escape character.
    Escape,
    /// Inside `ESC [ … letter`.
    Control,
    /// Inside `ESC ] … BEL` and its like.
    Command,
    /// After an escape character inside the former.
    CommandEscape,
}

/// The bytes are not UTF-8.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct NotText;

impl Plain {
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<String, NotText> {
        let mut whole = std::mem::take(&mut self.carry);
        whole.extend_from_slice(bytes);
        let text = match std::str::from_utf8(&whole) {
            Ok(text) => text,
            Err(error) if error.error_len().is_some() => return Err(NotText),
            Err(error) => {
                let (good, rest) = whole.split_at(error.valid_up_to());
                self.carry = rest.to_vec();
                std::str::from_utf8(good).map_err(|_| NotText)?
            }
        };
        let mut out = String::with_capacity(text.len());
        text.chars().for_each(|letter| self.letter(letter, &mut out));
        Ok(out)
    }

    /// Fails when the last letter is not whole.
    pub(crate) fn finish(&self) -> Result<(), NotText> {
        match self.carry.is_empty() {
            true => Ok(()),
            false => Err(NotText),
        }
    }

    fn letter(&mut self, letter: char, out: &mut String) {
        self.state = match (self.state, letter) {
            (State::Text, '\u{1b}') => State::Escape,
            (State::Text, '\u{9b}') => State::Control,
            (State::Text, letter) => {
                if !letter.is_control() || letter == '\n' || letter == '\t' {
                    out.push(letter);
                }
                State::Text
            }
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Command,
            (State::Escape, '\u{20}'..='\u{2f}') => State::Escape,
            (State::Escape, _) => State::Text,
            (State::Control, '\u{40}'..='\u{7e}') => State::Text,
            (State::Control, _) => State::Control,
            (State::Command | State::CommandEscape, '\u{7}') => State::Text,
            (State::Command | State::CommandEscape, '\u{1b}') => State::CommandEscape,
            (State::CommandEscape, '\\') => State::Text,
            (State::Command | State::CommandEscape, _) => State::Command,
        };
    }
}

/// The same for bytes that are all there and may be anything.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    let mut plain = Plain::default();
    let mut out = String::new();
    let text = String::from_utf8_lossy(bytes);
    text.chars().for_each(|letter| plain.letter(letter, &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_codes_are_left_out_wherever_the_bytes_are_cut() {
        let input =
            "\x1b[1;31mré😀d\x1b[0m\r\n\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b(Bc\x08\td";
        for size in 1..=input.len() {
            let mut plain = Plain::default();
            let pieces = input.as_bytes().chunks(size).map(|piece| plain.push(piece).unwrap());
            assert_eq!(pieces.collect::<String>(), "ré😀d\nabc\td", "{size}");
            assert_eq!(plain.finish(), Ok(()));
        }
        assert_eq!(lossy(input.as_bytes()), "ré😀d\nabc\td");
    }

    #[test]
    fn what_is_not_utf8_is_refused() {
        assert_eq!(Plain::default().push(b"a\xff"), Err(NotText));
        let mut half = Plain::default();
        assert_eq!(half.push(b"a\xc3"), Ok("a".to_owned()));
        assert_eq!(half.finish(), Err(NotText));
    }
}
