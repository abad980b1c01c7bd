//! A transcript that fits. The rule, from the newest piece to the oldest:
//!
//! 1. The newest pieces stand whole, as long as they fit three quarters of the room.
//! 2. Older ones are shortened: the question goes, the beginning of what was said
//!    stays, and it says how much is left out.
//! 3. When there is no room for that either, one line says which are left out.
//!
//! The newest piece of all is always there; if it alone is too long, its middle is
//! left out. The record keeps every text whole.

#[cfg(test)]
mod tests;

/// Bytes of an older piece that stay.
const SHORT_BYTES: usize = 240;
/// What the quotation around a piece takes.
const FRAME_BYTES: usize = 48;
/// What a note takes that something is left out.
const NOTE_BYTES: usize = 48;

/// A piece of the transcript before it is fitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    pub label: String,
    /// The question, where one was answered.
    pub asked: String,
    pub text: String,
}

pub struct Fitted {
    pub pieces: Vec<Piece>,
    /// Stands before the pieces when some are left out.
    pub left_out: Option<String>,
    /// Pieces that do not stand whole.
    pub condensed: u32,
}

impl Piece {
    pub fn words(&self) -> String {
        format!("{}{}", self.asked, self.text)
    }

    fn size(&self) -> usize {
        self.label.len() + self.asked.len() + self.text.len() + FRAME_BYTES
    }
}

pub fn fit(pieces: Vec<Piece>, room: usize) -> Fitted {
    if pieces.iter().map(Piece::size).sum::<usize>() <= room {
        return Fitted { pieces, left_out: None, condensed: 0 };
    }
    let longest = pieces.iter().map(|piece| piece.label.len()).max().unwrap_or_default();
    // The line that names what is left out holds two labels.
    let line = 2 * longest + NOTE_BYTES;
    let (mut whole, mut rest) = (room / 4 * 3, (room / 4).saturating_sub(line));
    let mut kept: Vec<Piece> = vec![];
    let mut condensed = 0;
    let mut older = pieces.into_iter().rev().peekable();
    if let Some(newest) = older.next() {
        let fits = newest.size() <= whole;
        let newest = if fits { newest } else { without_middle(newest, whole) };
        condensed += u32::from(!fits);
        whole = whole.saturating_sub(newest.size());
        kept.push(newest);
    }
    while let Some(piece) = older.next_if(|piece| piece.size() <= whole) {
        whole -= piece.size();
        kept.push(piece);
    }
    rest += whole;
    let mut gone = vec![];
    for piece in older {
        let short = shortened(&piece);
        if gone.is_empty() && short.size() <= rest {
            rest -= short.size();
            condensed += u32::from(short != piece);
            kept.push(short);
        } else {
            condensed += 1;
            gone.push(piece.label);
        }
    }
    kept.reverse();
    Fitted { pieces: kept, left_out: left_out(&gone), condensed }
}

fn left_out(newest_first: &[String]) -> Option<String> {
    match newest_first {
        [] => None,
        [one] => Some(format!("Left out for length: {one}.")),
        [last, .., first] => {
            let count = newest_first.len();
            Some(format!("Left out for length: {count} pieces, {first} to {last}."))
        }
    }
}

/// The beginning, up to the end of a sentence where there is one.
fn shortened(piece: &Piece) -> Piece {
    if piece.asked.len() + piece.text.len() <= SHORT_BYTES + NOTE_BYTES {
        return piece.clone();
    }
    let text = piece.text.trim();
    let start = &text[..text.floor_char_boundary(SHORT_BYTES)];
    let sentence = start.rfind(['.', '!', '?', '。']).filter(|end| *end > SHORT_BYTES / 3);
    let word = start.rfind(char::is_whitespace).filter(|end| *end > SHORT_BYTES / 3);
    let end = sentence.map(|end| start.ceil_char_boundary(end + 1)).or(word);
    let end = end.filter(|_| start.len() < text.len()).unwrap_or(start.len());
    let start = start[..end].trim_end();
    let left = piece.words().chars().count() - start.chars().count();
    let text = format!("{start} [… {left} characters left out]");
    Piece { label: piece.label.clone(), asked: String::new(), text }
}

/// The beginning and the end, so that the whole piece takes at most so many bytes.
fn without_middle(piece: Piece, most: usize) -> Piece {
    let words = piece.words();
    let text = words.trim();
    let half = most.saturating_sub(piece.label.len() + FRAME_BYTES + NOTE_BYTES) / 2;
    let start = &text[..text.floor_char_boundary(half)];
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(half)).max(start.len())..];
    let left = words.chars().count() - start.chars().count() - end.chars().count();
    let text = format!("{start} [… {left} characters left out …] {end}");
    Piece { label: piece.label, asked: String::new(), text }
}
