//! A synthesis has exactly four headings. Models miss them in small ways, which
//! are put right here, and in large ways, which are said aloud.

use serde::{Deserialize, Serialize};

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
}

pub fn read(text: &str) -> Verdict {
    let text = text.trim();
    let sections = sections(after_thinking(text));
    if sections.iter().any(|section| section.trim().is_empty()) {
        return Verdict { text: text.to_owned(), headings: Headings::Missing };
    }
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

/// Some models think aloud inside the answer before they begin it.
fn after_thinking(text: &str) -> &str {
    let thinking = text.strip_prefix("<think>").and_then(|rest| rest.split_once("</think>"));
    thinking.map_or(text, |(_, answer)| answer.trim_start())
}

/// The text under each of the four headings, wherever and in whichever order
/// they stand. Text before the first heading belongs to none.
fn sections(text: &str) -> [String; 4] {
    let mut sections: [String; 4] = Default::default();
    let mut current = None;
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let found = if in_code { None } else { heading(line) };
        if let Some((place, rest)) = found {
            current = Some(place);
            push_line(&mut sections[place], rest);
        } else if let Some(place) = current {
            // Only the four stand at their level; a heading of the model's own goes below.
            let own_heading = !in_code && (line.starts_with("# ") || line.starts_with("## "));
            let line = if own_heading {
                format!("### {}", line.trim_start_matches(['#', ' ']))
            } else {
                line.to_owned()
            };
            push_line(&mut sections[place], &line);
        }
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

/// Which heading a line is, and what it says after it: `## Consensus`,
/// `**Consensus:** we agree`, `1. CONSENSUS`.
fn heading(line: &str) -> Option<(usize, &str)> {
    let trimmed = line.trim();
    let marked = trimmed.starts_with('#') || trimmed.starts_with("**") || trimmed.starts_with("__");
    let numbering = |c: char| c.is_ascii_digit() || matches!(c, '#' | '*' | '_' | '.' | ')' | ' ');
    let start = trimmed.trim_start_matches(numbering);
    let end = start.find([':', '*', '_']).unwrap_or(start.len());
    let (name, rest) = start.split_at(end);
    let rest = rest.trim_start_matches([':', '*', '_', ' ', '#']);
    let name = name.trim_end_matches(['#', ' ']).to_lowercase();
    let place = ALSO.iter().position(|names| names.contains(&name.as_str()))?;
    // A sentence that begins with one of the words is no heading.
    (marked || rest.is_empty()).then_some((place, rest))
}
