//! What a row of a list says of a session beyond its title, so that nobody has to ask for
//! each session on its own. Only what everybody may see.

use plenary_clerk::Clerk;
use plenary_domain::boardroom::SynthesisStanding;
use plenary_domain::view::{self, Viewer};
use plenary_domain::{Room, discussion, limits};
use serde::Serialize;
use utoipa::ToSchema;

use super::spent;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FactsView {
    /// How far it is, in a sentence.
    progress: String,
    /// What came of it so far, in a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<String>,
    /// Around the first word that was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    found: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    opened_by: Option<String>,
    /// How many take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    people: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    posts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
}

/// `words` are those that were searched for.
pub fn facts(clerk: &Clerk, room: &Room, words: Option<&str>) -> FactsView {
    let (cost, currency) = room.accounts().map(|ledger| spent(clerk, ledger)).unwrap_or_default();
    let tokens = room.accounts().map(|ledger| ledger.total()).and_then(|total| {
        let sum = total.input_tokens.unwrap_or(0) + total.output_tokens.unwrap_or(0);
        (sum > 0).then_some(sum)
    });
    let found = words.and_then(|words| {
        let report = room.report(true);
        // Its head says what the row says too.
        let body = report.find("\n## ").map_or(&*report, |at| &report[at..]);
        passage(body, words).or_else(|| passage(&report, words))
    });
    let whole = FactsView {
        progress: room.progress().message,
        result: result(room).map(|text| line(&text)).filter(|text| !text.is_empty()),
        found,
        opened_by: None,
        people: None,
        posts: None,
        tokens,
        cost,
        currency,
    };
    match room {
        Room::Boardroom(board) => FactsView { people: Some(board.advisors.len()), ..whole },
        Room::Discussion(talk) => FactsView { people: Some(talk.participants.len()), ..whole },
        Room::Council(council) => FactsView {
            opened_by: council.opened_by.clone(),
            people: Some(council.members.len()),
            posts: Some(council.posts.len()),
            ..whole
        },
        Room::Whiteboard(state) => {
            let board = view::board(state, &Viewer::Outsider);
            // While it is blind, how many have posted is nobody's business.
            let told = (board.phase != plenary_domain::whiteboard::Phase::Blind)
                .then_some((board.members.len(), board.posts.len()));
            FactsView {
                opened_by: Some(board.opened_by.0.clone()),
                people: told.map(|(members, _)| members),
                posts: told.map(|(_, posts)| posts),
                ..whole
            }
        }
        Room::Workflow(_)
        | Room::Library(_)
        | Room::Boards(_)
        | Room::Signals(_)
        | Room::Shelf(_) => whole,
    }
}

/// The text whose first sentence says what came of it.
fn result(room: &Room) -> Option<String> {
    match room {
        Room::Boardroom(board) => board.syntheses.iter().rev().find_map(|synthesis| {
            let SynthesisStanding::Done(written) = &synthesis.standing else { return None };
            let sections = written.verdict.sections();
            Some(sections.map_or_else(|| written.answer.text.clone(), |[first, ..]| first))
        }),
        Room::Discussion(talk) => match &talk.stage {
            discussion::Stage::Concluded(conclusion) => Some(conclusion.text().to_owned()),
            discussion::Stage::Draft
            | discussion::Stage::Active(_)
            | discussion::Stage::Pausing(_)
            | discussion::Stage::Paused(_)
            | discussion::Stage::Stopped(_)
            | discussion::Stage::Failed { .. } => None,
        },
        Room::Council(council) => {
            council.posts.last().map(|post| format!("{}: {}", post.sender, post.body))
        }
        Room::Workflow(_)
        | Room::Whiteboard(_)
        | Room::Library(_)
        | Room::Boards(_)
        | Room::Signals(_)
        | Room::Shelf(_) => None,
    }
}

/// A line of plain text: without marks, and not too long.
fn line(text: &str) -> String {
    let plain: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '_')).collect();
    let first = plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let end = first.match_indices(". ").map(|(at, _)| at + 1).next().unwrap_or(first.len());
    shortened(&first[..end], limits::FACT_CHARS)
}

fn shortened(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Some words on each side of the first word that is found.
fn passage(text: &str, words: &str) -> Option<String> {
    let plain: String =
        text.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '|' | '>')).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = plain.to_lowercase();
    // Letters whose small form is longer would move every place behind them.
    if lower.len() != plain.len() {
        return None;
    }
    let at = words
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .find_map(|word| lower.find(&word.to_lowercase()))?;
    let before = plain[..at].char_indices().rev().nth(limits::FACT_CHARS / 3);
    let from = before.map_or(0, |(place, _)| {
        plain[place..].find(' ').map_or(place, |space| place + space + 1).min(at)
    });
    let shown = shortened(&plain[from..], limits::FACT_CHARS);
    Some(if from == 0 { shown } else { format!("… {shown}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_its_first_sentence_without_marks() {
        let check = |text: &str, expected: &str| assert_eq!(line(text), expected);
        check("\n**Draw** the `line` now. Then wait.", "Draw the line now.");
        check("One line\nand another", "One line");
        check("", "");
        assert_eq!(line(&"long ".repeat(100)).chars().count(), limits::FACT_CHARS);
    }

    #[test]
    fn a_passage_stands_around_the_first_word_that_is_found() {
        let text = "An invoice and its order stop committing together. You write an **outbox** in week three, and so on.";
        let found = passage(text, "nothing outbox").unwrap_or_default();
        assert!(found.starts_with("… "), "{found}");
        assert!(found.contains("You write an outbox in week three"), "{found}");
        assert_eq!(passage(text, "absent"), None);
        assert_eq!(passage("Straße und Größe", "größe").as_deref(), Some("Straße und Größe"));
    }
}
