//! A synthesis has exactly four headings. Models miss them in small ways, which
//! are put right here, and in large ways, which are said aloud.

use serde::{Deserialize, Serialize};

use crate::thinking;

pub const HEADINGS: [&str; 4] =
    ["Consensus", "Points of Agreement", "Points of Divergence", "Recommendation"];

/// Other words that models use for the same headings.
const ALSO: [&[&str]; 4] = [
    &["consensus", "overall consensus"],
    &["points of agreement", "agreement", "agreements", "areas of agreement"],
    &[
        "points of divergence",
        "divergence",
        "disagreement",
        "disagreements",
        "points of disagreement",
        "areas of divergence",
        "areas of disagreement",
    ],
    &["recommendation", "recommendations", "final recommendation"],
];

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// Markdown. Its headings of level two are the four, unless they are missing.
    pub text: String,
    pub headings: Headings,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Headings {
    AsAsked,
    /// The four were there, but not quite as asked for; the text was put right.
    Repaired,
    /// One or more is missing or empty; the text stands as the model wrote it.
    Missing,
    /// Another form was asked for, or none.
    NotAsked,
}

pub fn read(text: &str) -> Verdict {
    let text = text.trim();
    let after = thinking::opening(text, &thinking::IN_PROSE).and_then(|(_, after)| after);
    let answer = after.map_or(text, str::trim_start);
    let found = found(answer).or_else(|| found(unwrapped(answer)?));
    let Some(sections) = found else {
        return Verdict { text: text.to_owned(), headings: Headings::Missing };
    };
    let repaired = HEADINGS
        .iter()
        .zip(&sections)
        .map(|(heading, body)| format!("## {heading}\n{}", body.trim_end()))
        .collect::<Vec<_>>()
        .join("\n\n");
    if same_words(&repaired, text) {
        return Verdict { text: text.to_owned(), headings: Headings::AsAsked };
    }
    Verdict { text: repaired, headings: Headings::Repaired }
}

impl Verdict {
    /// What stands under each of the four headings; `None` where they are missing.
    pub fn sections(&self) -> Option<[String; 4]> {
        match self.headings {
            Headings::Missing | Headings::NotAsked => None,
            Headings::AsAsked | Headings::Repaired => {
                Some(found(&self.text)?.map(|section| section.trim().to_owned()))
            }
        }
    }
}

/// Blank lines and trailing spaces are no difference.
fn same_words(left: &str, right: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    };
    lines(left) == lines(right)
}

/// Some put the whole answer into a code block.
fn unwrapped(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    let (inside, last) = rest.rsplit_once('\n')?;
    let is_text = matches!(first.trim().trim_matches(['`', '~']), "" | "markdown" | "md");
    let is_wrapped = is_text && Fence::opened_by(first)?.is_closed_by(last);
    is_wrapped.then_some(inside)
}

/// How much like a heading a line must look. A strict manner is tried first, so
/// that where the headings stand as asked for, a line in bold is no heading.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    AsAsked,
    Hashed,
    Loose,
}

fn found(text: &str) -> Option<[String; 4]> {
    let manners = [Manner::AsAsked, Manner::Hashed, Manner::Loose];
    let says_something = |section: &String| section.chars().any(char::is_alphanumeric);
    manners
        .into_iter()
        .map(|manner| sections(text, manner))
        .find(|sections| sections.iter().all(says_something))
}

/// The text under each of the four headings, wherever and in whichever order
/// they stand. Text before the first heading belongs to none.
fn sections(text: &str, manner: Manner) -> [String; 4] {
    let mut sections: [String; 4] = Default::default();
    let mut current = None;
    let mut fence: Option<Fence> = None;
    for line in text.lines() {
        let mut line = line;
        if fence.is_none() {
            while let Some((place, rest)) = heading(line, manner) {
                current = Some(place);
                line = rest;
            }
        }
        let in_code = fence.is_some();
        fence = match fence {
            Some(fence) if fence.is_closed_by(line) => None,
            Some(fence) => Some(fence),
            None => Fence::opened_by(line),
        };
        if let Some(place) = current {
            let demoted = (!in_code).then(|| demoted(line)).flatten();
            push_line(&mut sections[place], demoted.as_deref().unwrap_or(line));
        }
    }
    // Left open, it would swallow the sections that are put after this one.
    if let (Some(fence), Some(place)) = (fence, current) {
        push_line(&mut sections[place], &fence.mark.to_string().repeat(fence.length));
    }
    sections
}

fn push_line(section: &mut String, line: &str) {
    if section.is_empty() && line.trim().is_empty() {
        return;
    }
    section.push_str(line);
    section.push('\n');
}

/// Only the four stand at their level; a heading of the model's own goes below.
fn demoted(line: &str) -> Option<String> {
    let unindented = line.trim_start_matches(' ');
    let words = unindented.trim_start_matches('#');
    let level = unindented.len() - words.len();
    let is_heading = line.len() - unindented.len() <= 3
        && (words.is_empty() || words.starts_with([' ', '\t']))
        && matches!(level, 1 | 2);
    is_heading.then(|| format!("###{words}"))
}

/// Which heading a line is, and what it says after it: `## Consensus`,
/// `**Consensus:** we agree`, `1. CONSENSUS`.
fn heading(line: &str, manner: Manner) -> Option<(usize, &str)> {
    if manner == Manner::AsAsked {
        let name = line.trim_end().strip_prefix("## ")?;
        return Some((HEADINGS.iter().position(|heading| *heading == name)?, ""));
    }
    let trimmed = line.trim();
    let unlisted = ["- ", "* ", "• "].iter().find_map(|bullet| trimmed.strip_prefix(bullet));
    let numbering = |c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | '(' | ' ');
    let bare = unlisted.unwrap_or(trimmed).trim_start_matches(numbering);
    let marked = match manner {
        Manner::AsAsked | Manner::Hashed if !trimmed.starts_with('#') => return None,
        Manner::AsAsked | Manner::Hashed => true,
        Manner::Loose => ["#", "**", "__"].iter().any(|mark| bare.starts_with(mark)),
    };
    let start = if marked { bare.trim_start_matches(|c: char| !c.is_alphabetic()) } else { bare };
    let end = start.find([':', '*', '_']).unwrap_or(start.len());
    let (name, rest) = start.split_at(end);
    let rest = rest.trim_start_matches([':', '*', '_', ' ', '#']);
    let name = name.trim_end_matches(['#', ' ']).to_lowercase();
    let place = ALSO.iter().position(|names| names.contains(&name.as_str()))?;
    // A sentence or a list item that begins with one of the words is no heading.
    (marked || unlisted.is_none() && rest.is_empty()).then_some((place, rest))
}

/// The line of backticks or tildes that has opened a block of code.
pub struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    pub fn opened_by(line: &str) -> Option<Fence> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // Three backticks and more of them further on are code within a line.
        let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
        is_fence.then_some(Fence { mark, length })
    }

    pub fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}
