//! Which posts get in each other's way.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;
use crate::whiteboard::conflict::{Conflict, Kind, Location, conflicts, location};

/// Posts of ada, as a board keeps them: `ada/1`, `ada/2`, …
fn kept(contents: Vec<Content>) -> Vec<Post> {
    let story = contents.into_iter().map(|content| posts("ada", content));
    let before = vec![register("ada", Role::Specialist)];
    let (state, _) = told(board(), before, story.collect());
    state.posts.iter().map(|post| Post::clone(post)).collect()
}

/// These conflicts are found between the posts, and no others.
#[track_caller]
fn check(contents: Vec<Content>, expected: &[(Kind, &str, &str, &str)]) {
    let posts = kept(contents);
    let expected: Vec<Conflict> = expected
        .iter()
        .map(|(kind, first, second, over)| Conflict {
            kind: *kind,
            first: post_id(first),
            second: post_id(second),
            over: (*over).to_owned(),
        })
        .collect();
    assert_eq!(conflicts(&posts, 100), expected);
}

fn targets(file: &str, place: &str) -> Content {
    Content {
        target_file: Some(file.into()),
        target_location: Some(place.into()).filter(|place: &String| !place.is_empty()),
        ..content(PostKind::Concern, "A")
    }
}

fn reaches(file: &str, cascades: &[&str]) -> Content {
    let cascade_targets = cascades.iter().map(|path| (*path).to_owned()).collect();
    Content { cascade_targets, ..targets(file, "") }
}

fn finds(severity: Severity, findings: &[&str]) -> Content {
    Content {
        severity: Some(severity),
        finding_refs: findings.iter().map(|finding| (*finding).to_owned()).collect(),
        ..content(PostKind::Concern, "A")
    }
}

#[test]
fn a_location_is_lines_or_a_symbol() {
    use Location::{Lines, Symbol};
    let table = [
        ("12", Lines(12, 12)),
        ("L12", Lines(12, 12)),
        ("#L12", Lines(12, 12)),
        ("line 12", Lines(12, 12)),
        ("Line 12", Lines(12, 12)),
        ("12-40", Lines(12, 40)),
        ("40-12", Lines(12, 40)),
        (" 12 - 40 ", Lines(12, 40)),
        ("12–40", Lines(12, 40)),
        ("12:40", Lines(12, 40)),
        ("12,40", Lines(12, 40)),
        ("12..40", Lines(12, 40)),
        ("12..=40", Lines(12, 40)),
        ("12 to 40", Lines(12, 40)),
        ("lines 12 to 40", Lines(12, 40)),
        ("L12-L40", Lines(12, 40)),
        ("#L12-L40", Lines(12, 40)),
        ("l12-40", Lines(12, 40)),
        ("0", Lines(0, 0)),
        ("18446744073709551615", Lines(u64::MAX, u64::MAX)),
        ("18446744073709551616", Symbol("18446744073709551616")),
        (" parse ", Symbol("parse")),
        ("Parser::parse", Symbol("Parser::parse")),
        ("linear", Symbol("linear")),
        ("lines", Symbol("lines")),
        ("l", Symbol("l")),
        ("12-", Symbol("12-")),
        ("-12", Symbol("-12")),
        ("1-2-3", Symbol("1-2-3")),
        ("12.5", Symbol("12.5")),
        ("+12", Symbol("+12")),
        ("L1C2-L3C4", Symbol("L1C2-L3C4")),
        ("#parse", Symbol("#parse")),
    ];
    for (text, expected) in table {
        assert_eq!(location(text), expected, "{text:?}");
    }
}

#[test]
fn lines_of_one_file_that_intersect_overlap() {
    let overlap = Kind::DirectOverlap;
    let contents = vec![
        targets("src/a.rs", "30-50"),
        targets("src/a.rs", "12-40"),
        targets("./src/a.rs", "L40"),
        targets("src/a.rs", "51"),
        targets("src/b.rs", "12-40"),
        targets("src/a.rs", ""),
        targets("src/a.rs", "parse"),
    ];
    let expected = [
        (overlap, "ada/2", "ada/1", "src/a.rs 30-40"),
        (overlap, "ada/2", "ada/3", "src/a.rs 40"),
        (overlap, "ada/1", "ada/3", "src/a.rs 40"),
    ];
    check(contents, &expected);
    check(vec![targets("a", "1-2"), targets("a", "3-4")], &[]);
    let one_line = [(overlap, "ada/1", "ada/2", "a 3")];
    check(vec![targets("a", "1-3"), targets("a", "3-4")], &one_line);
    let within = [(overlap, "ada/1", "ada/2", "a 4-5")];
    check(vec![targets("a", "1-9"), targets("a", "4-5")], &within);
}

#[test]
fn the_same_symbol_of_one_file_overlaps() {
    let overlap = Kind::DirectOverlap;
    let contents = vec![
        targets("a.rs", "parse"),
        targets("a.rs", "Parse"),
        targets("./a.rs", " parse"),
        targets("b.rs", "parse"),
        targets("a.rs", "parse"),
    ];
    let expected = [
        (overlap, "ada/1", "ada/3", "a.rs parse"),
        (overlap, "ada/1", "ada/5", "a.rs parse"),
        (overlap, "ada/3", "ada/5", "a.rs parse"),
    ];
    check(contents, &expected);
}

#[test]
fn a_cascade_collides_with_the_target_that_it_reaches() {
    let collision = Kind::CascadeCollision;
    let contents = vec![
        reaches("a.rs", &["b.rs", "./b.rs", "a.rs", "c.rs"]),
        reaches("b.rs", &["a.rs"]),
        targets("b.rs", "7"),
        reaches("d.rs", &["e.rs"]),
    ];
    let expected = [
        (collision, "ada/1", "ada/2", "b.rs"),
        (collision, "ada/1", "ada/3", "b.rs"),
        (collision, "ada/2", "ada/1", "a.rs"),
    ];
    check(contents, &expected);
}

#[test]
fn one_finding_with_different_severities_is_a_disagreement() {
    use Severity::*;
    let disagreement = Kind::SeverityDisagreement;
    let unrated = Content { severity: None, ..finds(Low, &["F-1"]) };
    let contents = vec![
        finds(Low, &["F-1", "F-2", "F-1"]),
        finds(Critical, &[" F-1 ", "F-3"]),
        finds(Low, &["F-1", "F-2"]),
        unrated,
        finds(Medium, &["F-2"]),
    ];
    let expected = [
        (disagreement, "ada/2", "ada/1", "F-1"),
        (disagreement, "ada/2", "ada/3", "F-1"),
        (disagreement, "ada/5", "ada/1", "F-2"),
        (disagreement, "ada/5", "ada/3", "F-2"),
    ];
    check(contents, &expected);
}

#[test]
fn a_withdrawn_post_is_in_nobodys_way() {
    let made = (0..3).map(|_| posts("ada", targets("a", "1")));
    let before = then(vec![register("ada", Role::Specialist)], made);
    let before = then(before, [moves("fay", Phase::Read), moves("fay", Phase::Debate)]);
    let (state, _) = told(board(), before, vec![withdraws("ada", "ada/2", None)]);
    let left = Conflict {
        kind: Kind::DirectOverlap,
        first: post_id("ada/1"),
        second: post_id("ada/3"),
        over: "a 1".into(),
    };
    assert_eq!(view::board_conflicts(&state), Ok(vec![left]));
}

/// Two thousand posts in one place would make two million pairs.
#[test]
fn the_search_ends_when_there_are_too_many() {
    let crowd = kept(vec![reaches("a", &["a"]); 2_000]);
    assert_eq!(conflicts(&crowd, 10_001).len(), 10_001);
    assert_eq!(conflicts(&crowd, 0), []);
}

// ---------------------------------------------------------------------------
// Against every post with every other

/// A post as it was made up: what it says, and what that means.
#[derive(Clone, Debug)]
struct Made {
    file: Option<&'static str>,
    place: Place,
    severity: Option<Severity>,
    findings: Vec<&'static str>,
    cascades: Vec<&'static str>,
    withdrawn: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Anywhere,
    Lines(u64, u64),
    Symbol(&'static str),
}

fn made() -> impl Strategy<Value = Made> {
    let file = || proptest::sample::select(vec!["a.rs", "b.rs", "c.rs"]);
    let places = prop_oneof![
        1 => Just(Place::Anywhere),
        4 => (0..12_u64, 0..5_u64).prop_map(|(from, more)| Place::Lines(from, from + more)),
        2 => proptest::sample::select(vec!["parse", "print"]).prop_map(Place::Symbol),
    ];
    let severities = proptest::sample::select(vec![
        None,
        Some(Severity::Critical),
        Some(Severity::High),
        Some(Severity::Low),
    ]);
    let findings = vec(proptest::sample::select(vec!["F-1", "F-2"]), 0..3);
    let withdrawn = prop::bool::weighted(0.1);
    (proptest::option::of(file()), places, severities, findings, vec(file(), 0..3), withdrawn)
        .prop_map(|(file, place, severity, findings, cascades, withdrawn)| Made {
            file,
            place: if file.is_some() { place } else { Place::Anywhere },
            severity,
            findings,
            cascades,
            withdrawn,
        })
}

/// As one might write it.
fn written(made: &Made, style: usize) -> Content {
    let dotted = |file: &&str| {
        if style.is_multiple_of(2) { format!("./{file}") } else { (*file).to_owned() }
    };
    let place = match made.place {
        Place::Anywhere => None,
        Place::Lines(from, to) if from == to => Some(format!("L{from}")),
        Place::Lines(from, to) if style.is_multiple_of(3) => Some(format!("lines {from} to {to}")),
        Place::Lines(from, to) => Some(format!("{from}-{to}")),
        Place::Symbol(symbol) => Some(symbol.to_owned()),
    };
    Content {
        target_file: made.file.as_ref().map(dotted),
        target_location: place,
        severity: made.severity,
        finding_refs: made.findings.iter().map(|finding| (*finding).to_owned()).collect(),
        cascade_targets: made.cascades.iter().map(dotted).collect(),
        ..content(PostKind::Claim, "A")
    }
}

/// Kind, both posts, what they meet in. Only a cascade has a direction.
type Found = BTreeSet<(Kind, usize, usize, String)>;

fn brute_force(all: &[Made]) -> Found {
    let mut found = Found::new();
    let standing = || all.iter().enumerate().filter(|(_, made)| !made.withdrawn);
    for (one, a) in standing() {
        for (two, b) in standing().filter(|(two, _)| *two != one) {
            let pair = (one.min(two), one.max(two));
            if let (Some(file), true) = (a.file, a.file == b.file) {
                let over = match (a.place, b.place) {
                    (Place::Lines(from, to), Place::Lines(start, end)) => {
                        let lines: Vec<u64> =
                            (from..=to).filter(|n| (start..=end).contains(n)).collect();
                        match lines.as_slice() {
                            [] => None,
                            [line] => Some(line.to_string()),
                            [first, .., last] => Some(format!("{first}-{last}")),
                        }
                    }
                    (Place::Symbol(a), Place::Symbol(b)) if a == b => Some(a.to_owned()),
                    _ => None,
                };
                let overlap =
                    |over| (Kind::DirectOverlap, pair.0, pair.1, format!("{file} {over}"));
                found.extend(over.map(overlap));
            }
            if let Some(file) = b.file.filter(|file| a.cascades.contains(file)) {
                found.insert((Kind::CascadeCollision, one, two, file.to_owned()));
            }
            let differ = a.severity.is_some() && b.severity.is_some() && a.severity != b.severity;
            for finding in a.findings.iter().filter(|f| differ && b.findings.contains(f)) {
                let over = (*finding).to_owned();
                found.insert((Kind::SeverityDisagreement, pair.0, pair.1, over));
            }
        }
    }
    found
}

fn place_of(id: &PostId) -> usize {
    id.0.strip_prefix("ada/").unwrap().parse::<usize>().unwrap() - 1
}

proptest! {
    #![proptest_config(Config { cases: 256, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_search_finds_what_comparing_all_with_all_finds(all in vec(made(), 0..14), most in 0..40_usize) {
        let contents = all.iter().enumerate().map(|(style, made)| written(made, style));
        let mut posts = kept(contents.collect());
        for (post, made) in posts.iter_mut().zip(&all) {
            post.withdrawn = made.withdrawn;
        }
        let listed = conflicts(&posts, usize::MAX);
        let found: Found = listed
            .iter()
            .map(|conflict| {
                let (one, two) = (place_of(&conflict.first), place_of(&conflict.second));
                let (one, two) = match conflict.kind {
                    Kind::CascadeCollision => (one, two),
                    Kind::DirectOverlap | Kind::SeverityDisagreement => (one.min(two), one.max(two)),
                };
                (conflict.kind, one, two, conflict.over.clone())
            })
            .collect();
        prop_assert_eq!(&found, &brute_force(&all));
        prop_assert_eq!(found.len(), listed.len(), "a conflict is listed twice");
        prop_assert_eq!(&conflicts(&posts, most)[..], &listed[..most.min(listed.len())]);
    }
}
