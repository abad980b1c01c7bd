//! What becomes of a transcript that is too long.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::ids::Nonce;
use crate::limits;
use crate::quote::quoted;

fn quotation(label: &str, text: &str) -> Quotation {
    Quotation { label: label.into(), text: text.into() }
}

fn piece(label: &str, asked: &str, text: &str) -> Piece {
    let asked = (!asked.is_empty()).then(|| quotation("question", asked));
    Piece { asked, said: quotation(label, text) }
}

#[track_caller]
fn check(pieces: &[Piece], room: usize, expect: (&[Piece], Option<&str>, u32)) {
    let fitted = fit(pieces.to_vec(), room);
    let (left_out, condensed) = (fitted.left_out.as_deref(), fitted.condensed);
    assert_eq!((&fitted.pieces[..], left_out, condensed), expect);
}

#[test]
fn what_fits_stands_whole() {
    let pieces = [piece("turn 1 by Ann", "Why?", "Tea."), piece("Eve", "", "Milk?")];
    check(&pieces, 2_000, (&pieces, None, 0));
    check(&[], 2_000, (&[], None, 0));
}

#[test]
fn older_pieces_keep_the_beginning_of_what_was_said() {
    let sentence = "Tea is better than coffee, as everybody knows. ";
    // 47 bytes each: five sentences are 235 bytes, the sixth passes 240.
    let long = piece("one", "Why?", &sentence.repeat(8));
    let newest = piece("three", "And?", &"x".repeat(1_000));
    // 4 + 376 - 234 characters: the space after the fifth sentence is left out too.
    let short = format!("{} [… 146 characters left out]", sentence.repeat(5).trim_end());
    let expect = [piece("one", "", &short), newest.clone()];
    // 1113 + 487 bytes do not fit; three quarters are 1194, which the newest has.
    check(&[long, newest], 1_592, (&expect, None, 1));
}

#[test]
fn short_old_pieces_stand_whole_and_are_not_counted() {
    let old = piece("one", "Why?", "Tea.");
    let newest = piece("two", "", &"x".repeat(3_000));
    let fitted = fit(vec![old.clone(), newest], 2_000);
    assert_eq!((&fitted.pieces[0], fitted.condensed), (&old, 1));
}

#[test]
fn the_newest_loses_its_middle_when_it_alone_is_too_long() {
    let text = format!("Begin.{}End.", "ä".repeat(2_000));
    let fitted = fit(vec![piece("turn 1 by Ann", "Why?", &text)], 1_600);
    let [newest] = &fitted.pieces[..] else { panic!("{}", fitted.pieces.len()) };
    // 1200 bytes less label, frame and note are 1091: 545 at each end.
    let start = format!("Begin.{}", "ä".repeat(269));
    let end = format!("{}End.", "ä".repeat(270));
    assert_eq!(newest.said.text, format!("{start} [… 1465 characters left out …] {end}"));
    assert_eq!((fitted.left_out, fitted.condensed), (None, 1));
}

#[test]
fn what_has_no_room_at_all_is_named() {
    let old = |n: u32| piece(&format!("turn {n}"), "", &"y".repeat(400));
    let mut pieces: Vec<Piece> = (1..=21).map(old).collect();
    pieces.push(piece("turn 22", "", &"x".repeat(2_000)));
    let fitted = fit(pieces, 1_600);
    // A quarter of the room, 400 bytes, takes the line and one shortened piece.
    assert_eq!(
        fitted.left_out.as_deref(),
        Some("Left out for length: 20 pieces, turn 1 to turn 20.")
    );
    assert_eq!((fitted.pieces.len(), fitted.condensed), (2, 22));
}

/// Sentences, words, one long word, letters of several bytes, blank lines.
const UNITS: [&str; 6] = ["Tea. ", "tea ", "t", "ä🫖", "茶。", " \n"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn it_fits_and_nothing_goes_silently(
        texts in vec((0..80_usize, 0..UNITS.len(), 0..900_usize, 0..120_usize), 1..30),
        room in limits::TRANSCRIPT_LEAST_BYTES..8_000,
    ) {
        let nonce = Nonce("0123456789ab".into());
        let named = |(n, (asked, unit, times, name)): (usize, &(usize, usize, usize, usize))| {
            let label = format!("turn {n} by {}, devil's advocate", "n".repeat(*name));
            piece(&label, &"q".repeat(*asked), &UNITS[*unit].repeat(*times))
        };
        let pieces: Vec<Piece> = texts.iter().enumerate().map(named).collect();
        let fitted = fit(pieces.clone(), room);
        let quotations = fitted.pieces.iter().flat_map(Piece::quotations);
        let shown: usize = quotations.map(|q| quoted(&q.label, &q.text, &nonce).len() + 1).sum();
        let line = fitted.left_out.as_ref().map_or(0, |line| line.len() + 4);
        prop_assert!(shown + line <= room, "{shown} + {line} of {room}");

        // The newest are there in order; whatever is not is in the line.
        let gone = pieces.len() - fitted.pieces.len();
        prop_assert!(gone < pieces.len());
        prop_assert_eq!(gone > 0, fitted.left_out.is_some());
        if let Some(line) = &fitted.left_out {
            prop_assert!(line.contains(&pieces[0].said.label) && line.contains(&pieces[gone - 1].said.label));
            let count = format!("{gone} pieces");
            prop_assert!(gone == 1 || line.contains(&count));
        }
        let mut condensed = gone as u32;
        for (kept, piece) in fitted.pieces.iter().zip(&pieces[gone..]) {
            prop_assert_eq!(&kept.said.label, &piece.said.label);
            if kept != piece {
                condensed += 1;
                let (start, note) = kept.said.text.split_once(" [… ").expect("a note");
                let (left, end) = note.split_once(" characters left out").expect("a note");
                let end = end.trim_start_matches(" …]").trim_start_matches(']');
                let left: usize = left.parse().expect("a number");
                let stays = start.chars().count() + end.strip_prefix(' ').unwrap_or(end).chars().count();
                prop_assert_eq!(left + stays, piece.chars());
                prop_assert!(piece.said.text.contains(start));
            }
        }
        prop_assert_eq!(fitted.condensed, condensed);
    }

    /// Between two fittings a transcript only grows at its end, and each makes room for
    /// long.
    #[test]
    fn a_long_transcript_is_fitted_seldom(
        sizes in vec(10..600_usize, 1..120),
        room in 6_000..12_000_usize,
    ) {
        let said = |(n, size): (usize, &usize)| piece(&format!("turn {n}"), "Why?", &"x".repeat(*size));
        let pieces: Vec<Piece> = sizes.iter().enumerate().map(said).collect();
        let mut shown = vec![];
        let (mut changes, mut written) = (0, 0);
        for upto in 1..=pieces.len() {
            let fitted = fit(pieces[..upto].to_vec(), room).pieces;
            changes += usize::from(!fitted.starts_with(&shown));
            written += pieces[upto - 1].size();
            shown = fitted;
        }
        prop_assert!(changes <= written / (room / 4), "{changes} after {written} of {room}");
    }
}
