//! A transcript that fits. The rule, from the newest piece to the oldest:
//!
//! 1. The newest pieces stand whole, as long as they fit three quarters of the room.
//! 2. Older ones are shortened to their beginning, and say how much is left out.
//! 3. When there is no room for that either, one line says which are left out.
//!
//! The newest piece of all is always there; if it alone is too long, its middle is
//! left out. The record keeps every text whole.

/// Bytes of an older piece that stay.
const SHORT_BYTES: usize = 240;

/// A piece of the transcript before it is fitted.
pub struct Piece {
    pub label: String,
    pub text: String,
}

pub struct Fitted {
    pub pieces: Vec<Piece>,
    /// Stands before the pieces when some are left out.
    pub left_out: Option<String>,
    /// Pieces that do not stand whole.
    pub condensed: u32,
}

pub fn fit(pieces: Vec<Piece>, room: usize) -> Fitted {
    let size = |piece: &Piece| piece.label.len() + piece.text.len() + FRAME_BYTES;
    if pieces.iter().map(size).sum::<usize>() <= room {
        return Fitted { pieces, left_out: None, condensed: 0 };
    }
    let (mut whole, mut rest) = (room / 4 * 3, room / 4);
    let mut kept: Vec<Piece> = vec![];
    let mut condensed = 0;
    let mut older = pieces.into_iter().rev().peekable();
    if let Some(newest) = older.next() {
        let most = whole.saturating_sub(newest.label.len() + FRAME_BYTES).max(SHORT_BYTES);
        let fits = newest.text.len() <= most;
        let newest = if fits { newest } else { without_middle(newest, most) };
        condensed += u32::from(!fits);
        whole = whole.saturating_sub(size(&newest));
        kept.push(newest);
    }
    while let Some(piece) = older.next_if(|piece| size(piece) <= whole) {
        whole -= size(&piece);
        kept.push(piece);
    }
    rest += whole;
    let mut gone = vec![];
    for piece in older {
        let short = shortened(piece);
        condensed += 1;
        if gone.is_empty() && size(&short) <= rest {
            rest -= size(&short);
            kept.push(short);
        } else {
            gone.push(short.label);
        }
    }
    kept.reverse();
    Fitted { pieces: kept, left_out: left_out(&gone), condensed }
}

/// What the quotation around a piece takes.
const FRAME_BYTES: usize = 48;

fn left_out(newest_first: &[String]) -> Option<String> {
    match newest_first {
        [] => None,
        [one] => Some(format!("Left out for length: {one}.")),
        [last, .., first] => {
            let count = newest_first.len();
            Some(format!("Left out for length: {count} pieces, from {first} to {last}."))
        }
    }
}

/// The beginning, up to the end of a sentence where there is one.
fn shortened(piece: Piece) -> Piece {
    let text = piece.text.trim();
    if text.len() <= SHORT_BYTES {
        return Piece { text: text.to_owned(), label: piece.label };
    }
    let start = &text[..text.floor_char_boundary(SHORT_BYTES)];
    let sentence = start.rfind(['.', '!', '?', '。']).filter(|end| *end > SHORT_BYTES / 3);
    let word = start.rfind(char::is_whitespace).filter(|end| *end > SHORT_BYTES / 3);
    let end = sentence.map(|end| start.ceil_char_boundary(end + 1)).or(word);
    let start = start[..end.unwrap_or(start.len())].trim_end();
    let left = text.chars().count() - start.chars().count();
    Piece { text: format!("{start} [… {left} characters left out]"), label: piece.label }
}

fn without_middle(piece: Piece, most: usize) -> Piece {
    let text = piece.text.trim();
    // The note takes a little room as well.
    let half = most.saturating_sub(40) / 2;
    let start = &text[..text.floor_char_boundary(half)];
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(half)).max(start.len())..];
    let left = text.chars().count() - start.chars().count() - end.chars().count();
    Piece {
        text: format!("{start} [… {left} characters left out …] {end}"), label: piece.label
    }
}
