//! The points of a synthesis that can be voted on, by one rule: the items of the list
//! in each of the sections Points of Agreement, Points of Divergence and
//! Recommendation; of a section without a list, its sentences. What is nested in an
//! item belongs to it. Headings, code, tables and "None." are no points.

use super::{Point, Section};
use crate::boardroom::verdict::{Fence, Verdict};
use crate::limits;
use crate::written::folded;

/// Words that only look like the end of a sentence.
const ABBREVIATIONS: [&str; 14] =
    ["eg", "ie", "cf", "vs", "dr", "mr", "mrs", "ms", "prof", "st", "no", "approx", "zb", "bzw"];
/// What a section says that has nothing to say.
const NOTHING: [&str; 4] = ["none", "na", "nothing", "nonenoted"];

/// The points, and how many more there would be. When there are too many, every
/// section keeps its first ones: the recommendation stands last and must not be what
/// is cut off.
pub fn read(verdict: &Verdict) -> (Vec<Point>, u32) {
    let Some(sections) = verdict.sections() else { return (vec![], 0) };
    let [_, bodies @ ..] = &sections;
    let mut all: Vec<(usize, Section, String)> = vec![];
    for (section, body) in Section::ALL.into_iter().zip(bodies) {
        let texts = texts(body).into_iter().enumerate();
        all.extend(texts.map(|(place, text)| (place, section, text)));
    }
    let left_out = all.len().saturating_sub(limits::BALLOT_POINTS) as u32;
    all.sort_by_key(|(place, section, _)| (*place, *section));
    all.truncate(limits::BALLOT_POINTS);
    all.sort_by_key(|(place, section, _)| (*section, *place));
    let number = |(place, (_, section, text)): (usize, (usize, Section, String))| Point {
        number: place as u32 + 1,
        section,
        text,
    };
    (all.into_iter().enumerate().map(number).collect(), left_out)
}

fn texts(body: &str) -> Vec<String> {
    let lines = prose(body);
    let items = items(&lines);
    let found = if items.is_empty() { sentences_of(&lines) } else { items };
    found.into_iter().map(|text| bounded(&text)).filter(|text| says_something(text)).collect()
}

/// The lines that are neither code nor headings nor rows of a table; in their place
/// stands a blank one, which ends what is before it.
fn prose(body: &str) -> Vec<&str> {
    let mut fence: Option<Fence> = None;
    let mut keep = |line| match &fence {
        Some(open) => {
            if open.is_closed_by(line) {
                fence = None;
            }
            false
        }
        None => {
            fence = Fence::opened_by(line);
            fence.is_none() && !line.trim_start().starts_with(['#', '|'])
        }
    };
    body.lines().map(|line| if keep(line) { line } else { "" }).collect()
}

fn items(lines: &[&str]) -> Vec<String> {
    let mut items: Vec<String> = vec![];
    // How far the list is indented, once it has begun.
    let mut indent: Option<usize> = None;
    let mut open = false;
    for line in lines {
        let words = line.trim_start();
        let deep = line.len() - words.len();
        match (marked(words), items.last_mut()) {
            (Some(text), _) if indent.is_none_or(|indent| deep < indent + 2) => {
                indent = indent.or(Some(deep));
                items.push(text.to_owned());
                open = true;
            }
            (Some(text), Some(item)) => {
                let joint = if item.ends_with([':', ';', ',', '.', '!', '?']) { " " } else { "; " };
                item.push_str(joint);
                item.push_str(text);
                open = true;
            }
            (None, Some(item)) if !words.is_empty() && (open || deep >= 2) => {
                item.push(' ');
                item.push_str(words);
                open = true;
            }
            (Some(_) | None, _) => open = false,
        }
    }
    items
}

/// What stands after the mark of a list's item: `- `, `* `, `+ `, `• `, `1. `, `2) `.
fn marked(line: &str) -> Option<&str> {
    let after = line.strip_prefix(['-', '*', '+', '•', '–']).or_else(|| {
        let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = line.len() - after.len();
        (1..=3).contains(&digits).then(|| after.strip_prefix(['.', ')']))?
    })?;
    after.starts_with([' ', '\t']).then(|| after.trim_start())
}

fn sentences_of(lines: &[&str]) -> Vec<String> {
    let paragraphs = lines.split(|line| line.trim().is_empty());
    paragraphs.flat_map(|lines| sentences(&one_line(&lines.join(" ")))).collect()
}

fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![];
    let mut start = 0;
    let mut marks = text.char_indices().peekable();
    while let Some((at, mark)) = marks.next() {
        let ends = matches!(mark, '.' | '!' | '?' | '…' | '。' | '！' | '？');
        if !ends || (mark == '.' && is_abbreviation(&text[start..at])) {
            continue;
        }
        let closing = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '*' | '_');
        let mut end = at + mark.len_utf8();
        while let Some((at, mark)) = marks.next_if(|(_, next)| closing(*next)) {
            end = at + mark.len_utf8();
        }
        let rest = text[end..].trim_start();
        let parted = rest.len() < text.len() - end || matches!(mark, '。' | '！' | '？');
        if parted && !rest.starts_with(char::is_lowercase) {
            sentences.push(text[start..end].trim().to_owned());
            start = end;
        }
    }
    sentences.push(text[start..].trim().to_owned());
    sentences
}

/// Looks only a short way back: a text may be one word of a million letters.
fn is_abbreviation(before: &str) -> bool {
    const BACK: usize = 16;
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(BACK))..];
    let word = folded(near.rsplit(' ').next().unwrap_or_default());
    let is_number = near.len() == before.len() && near.trim().chars().all(|c| c.is_ascii_digit());
    // An initial, as in a name.
    let is_letter = word.chars().count() == 1 && near.ends_with(char::is_uppercase);
    is_number || is_letter || ABBREVIATIONS.contains(&&*word)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bounded(text: &str) -> String {
    super::read::within(one_line(text), limits::POINT_BYTES)
}

fn says_something(text: &str) -> bool {
    let words = folded(text);
    !words.is_empty() && !NOTHING.contains(&&*words)
}
