//! A transcript that fits. The rule:
//!
//! 1. The newest pieces stand whole, in three quarters of the room.
//! 2. Older ones are shortened: the question goes, the beginning of what was said
//!    stays, and it says how much is left out.
//! 3. When there is no room for that either, one line says which are left out.
//!
//! Pieces are shortened many at once: when the newest have outgrown their place, those
//! stay whole that fit half of it. Until it is full again a prompt only grows at its end,
//! so that a model's cache has the rest of it already.
//!
//! The newest piece of all is always there; if it alone is too long, its middle is
//! left out. The record keeps every text whole.

#[cfg(test)]
mod tests;

/// Bytes of an older piece that stay.
const SHORT_BYTES: usize = 240;
/// What the quotation around a text takes.
const FRAME_BYTES: usize = 48;
/// What a note takes that something is left out.
const NOTE_BYTES: usize = 48;

/// A piece of the transcript before it is fitted.
#[derive(Clone, PartialEq, Debug)]
pub struct Piece {
    /// The question, where one was answered.
    pub asked: Option<Quotation>,
    pub said: Quotation,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Quotation {
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

impl Quotation {
    fn size(&self) -> usize {
        self.label.len() + self.text.len() + FRAME_BYTES
    }
}

impl Piece {
    pub fn quotations(&self) -> impl Iterator<Item = &Quotation> {
        self.asked.iter().chain([&self.said])
    }

    fn size(&self) -> usize {
        self.quotations().map(Quotation::size).sum()
    }

    fn chars(&self) -> usize {
        self.quotations().map(|quotation| quotation.text.chars().count()).sum()
    }

    /// What stays of it, without the question.
    fn cut(&self, text: String) -> Piece {
        let label = self.said.label.clone();
        Piece { asked: None, said: Quotation { label, text } }
    }
}

pub fn fit(pieces: Vec<Piece>, room: usize) -> Fitted {
    let sizes: Vec<usize> = pieces.iter().map(Piece::size).collect();
    if sizes.iter().sum::<usize>() <= room {
        return Fitted { pieces, left_out: None, condensed: 0 };
    }
    let place = room / 4 * 3;
    let (older, whole) = pieces.split_at(first_whole(&sizes, room, place));
    let longest = older.iter().map(|piece| piece.said.label.len()).max().unwrap_or_default();
    // The line that names what is left out holds two labels.
    let mut rest = (room / 4).saturating_sub(2 * longest + NOTE_BYTES);
    let mut kept: Vec<Piece> = vec![];
    let mut gone: Vec<&str> = vec![];
    for piece in older.iter().rev() {
        let short = shortened(piece);
        if gone.is_empty() && short.size() <= rest {
            rest -= short.size();
            kept.push(short);
        } else {
            gone.push(&piece.said.label);
        }
    }
    kept.reverse();
    kept.extend(whole.iter().map(|piece| match piece.size() <= place {
        true => piece.clone(),
        false => without_middle(piece, place),
    }));
    let changed = kept.iter().zip(&pieces[gone.len()..]).filter(|(kept, piece)| kept != piece);
    let condensed = (gone.len() + changed.count()) as u32;
    let left_out = left_out(&gone);
    Fitted { pieces: kept, left_out, condensed }
}

/// The first piece that stands whole. It depends on what came before, not only on how much
/// there is, and so it stays the same for as long as the pieces after it have room.
fn first_whole(sizes: &[usize], room: usize, place: usize) -> usize {
    let (mut first, mut taken, mut most) = (0, 0, room);
    for (newest, size) in sizes.iter().enumerate() {
        taken += size;
        if taken <= most {
            continue;
        }
        (first, taken, most) = (newest, *size, place);
        while first > 0 && taken + sizes[first - 1] <= place / 2 {
            first -= 1;
            taken += sizes[first];
        }
    }
    first
}

fn left_out(newest_first: &[&str]) -> Option<String> {
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
    let bytes: usize = piece.quotations().map(|quotation| quotation.text.len()).sum();
    if bytes <= SHORT_BYTES + NOTE_BYTES {
        return piece.clone();
    }
    let text = piece.said.text.trim();
    let start = &text[..text.floor_char_boundary(SHORT_BYTES)];
    let sentence = start.rfind(['.', '!', '?', '。']).filter(|end| *end > SHORT_BYTES / 3);
    let word = start.rfind(char::is_whitespace).filter(|end| *end > SHORT_BYTES / 3);
    let end = sentence.map(|end| start.ceil_char_boundary(end + 1)).or(word);
    let end = end.filter(|_| start.len() < text.len()).unwrap_or(start.len());
    let start = start[..end].trim_end();
    let left = piece.chars() - start.chars().count();
    piece.cut(format!("{start} [… {left} characters left out]"))
}

/// The beginning and the end, so that the whole piece takes at most so many bytes.
fn without_middle(piece: &Piece, most: usize) -> Piece {
    let text = piece.said.text.trim();
    let half = most.saturating_sub(piece.said.label.len() + FRAME_BYTES + NOTE_BYTES) / 2;
    let start = &text[..text.floor_char_boundary(half)];
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(half)).max(start.len())..];
    let left = piece.chars() - start.chars().count() - end.chars().count();
    piece.cut(format!("{start} [… {left} characters left out …] {end}"))
}
