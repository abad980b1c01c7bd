//! A board as a decision record in Markdown, after the MADR template.
//!
//! Its headings are ours alone. What somebody wrote in one line stays in a line,
//! and what may have several is quoted as a block, with its own headings in it.

use std::fmt::Write;

use super::summary::{Line, Outcome, Standing, Summary, line, summarize};
use super::{Choice, Finding, Note, Phase, PostId, PostKind};
use crate::view::{Board, Seen};

/// The record of what a viewer sees.
pub fn madr(board: &Board<'_>) -> String {
    let summary = summarize(board);
    let mut out = String::new();
    head(&mut out, board, &summary);
    let _ = writeln!(out, "## Context and Problem Statement\n\n{}\n", quoted(board.topic));
    drivers(&mut out, board);
    options(&mut out, board);
    decision(&mut out, board, &summary);
    pros_and_cons(&mut out, board);
    more(&mut out, board, &summary);
    out
}

fn head(out: &mut String, board: &Board<'_>, summary: &Summary) {
    let status = match (board.phase, &summary.outcome) {
        (Phase::Archived, Outcome::Accepted(_)) => "accepted",
        (Phase::Archived, Outcome::Tied(_) | Outcome::Undecided) => "no decision",
        (Phase::Blind | Phase::Read | Phase::Validate | Phase::Debate | Phase::Resolve, _) => {
            "proposed"
        }
    };
    let date = board.since.to_string();
    let date = date.get(..10).unwrap_or(&date);
    let names = board.members.iter().map(|member| format!("\"{}\"", member.name));
    let names = names.collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "---\nstatus: {status}\ndate: {date}\ndecision-makers: [{names}]\n---\n");
    let title = flat(board.topic.lines().next().unwrap_or_default());
    let _ = writeln!(out, "# {title}\n");
}

fn drivers(out: &mut String, board: &Board<'_>) {
    let drivers: Vec<&Seen<'_>> =
        board.posts.iter().filter(|s| s.post.content.kind != PostKind::Proposal).collect();
    if drivers.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Decision Drivers\n");
    for seen in drivers {
        let (post, content) = (seen.post, &seen.post.content);
        let kind = kind(content.kind);
        let standing = standing(line(seen).standing);
        let _ = writeln!(
            out,
            "* **{}** ({kind} by {}{standing}): {}",
            flat(&content.title),
            post.author,
            flat(&content.body)
        );
    }
    out.push('\n');
}

fn options(out: &mut String, board: &Board<'_>) {
    let _ = writeln!(out, "## Considered Options\n");
    let proposals = || board.posts.iter().filter(|s| s.post.content.kind == PostKind::Proposal);
    if proposals().next().is_none() {
        let _ = writeln!(out, "* none");
    }
    for seen in proposals() {
        let post = seen.post;
        let standing = standing(line(seen).standing);
        let title = flat(&post.content.title);
        let _ = writeln!(out, "* **{title}** (`{}` by {}{standing})", post.id, post.author);
    }
    out.push('\n');
}

fn decision(out: &mut String, board: &Board<'_>, summary: &Summary) {
    let _ = writeln!(out, "## Decision Outcome\n");
    if board.phase != Phase::Archived {
        let phase = board.phase.name();
        let _ = writeln!(
            out,
            "Nothing is decided yet: the board is in its {phase} phase. As the votes stand now:\n"
        );
    }
    let find = |id: &PostId| summary.lines.iter().find(|line| line.id == *id);
    let title = |id: &PostId| find(id).map(|line| flat(&line.title)).unwrap_or_default();
    let votes = |line: &Line| {
        let tally = line.tally;
        format!("{} accept, {} reject, {} defer", tally.accept, tally.reject, tally.defer)
    };
    let _ = match &summary.outcome {
        Outcome::Accepted(id) => {
            let votes = find(id).map(votes).unwrap_or_default();
            writeln!(out, "Chosen option: **{}** (`{id}`), by the votes: {votes}.\n", title(id))
        }
        Outcome::Tied(ids) => {
            let names: Vec<String> = ids.iter().map(|id| format!("**{}**", title(id))).collect();
            writeln!(out, "No option was chosen: {} have the same lead.\n", names.join(" and "))
        }
        Outcome::Undecided => {
            writeln!(out, "No option was chosen: none that survives has more accept than reject.\n")
        }
    };
    let last = board.steps.last().filter(|step| step.to == Phase::Archived);
    if let Some(note) = last.and_then(|step| step.note.as_deref()) {
        let _ = writeln!(out, "{}\n", quoted(note));
    }
    if let Outcome::Accepted(id) = &summary.outcome
        && let Some(seen) = board.posts.iter().find(|seen| seen.post.id == *id)
    {
        let against: Vec<String> = seen
            .votes
            .iter()
            .filter(|vote| vote.choice != Choice::Accept)
            .map(|vote| format!("* {}", voted(vote)))
            .chain(seen.annotations.iter().filter(|a| a.note == Note::Challenge).map(|a| {
                let end = match (&a.settled_by, a.withdrawn) {
                    (_, true) => "withdrawn",
                    (Some(_), false) => "settled",
                    (None, false) => "not settled",
                };
                format!("* {} challenged ({end}): {}", a.by, flat(&a.body))
            }))
            .collect();
        if !against.is_empty() {
            let _ = writeln!(out, "### Dissent\n\n{}\n", against.join("\n"));
        }
    }
    confirmation(out, board);
}

fn confirmation(out: &mut String, board: &Board<'_>) {
    let validations: Vec<String> = board
        .posts
        .iter()
        .flat_map(|seen| seen.annotations.iter().map(move |a| (seen.post, a)))
        .filter_map(|(post, a)| match a.note {
            Note::Validation { result } => {
                let word = finding(result);
                Some(format!("* `{}` {word} by {}: {}", post.id, a.by, flat(&a.body)))
            }
            Note::Challenge
            | Note::Corroboration
            | Note::Rebuttal { .. }
            | Note::Withdrawal { .. }
            | Note::Resolution { .. } => None,
        })
        .collect();
    if !validations.is_empty() {
        let _ = writeln!(out, "### Confirmation\n\n{}\n", validations.join("\n"));
    }
}

fn pros_and_cons(out: &mut String, board: &Board<'_>) {
    let mut proposals =
        board.posts.iter().filter(|s| s.post.content.kind == PostKind::Proposal).peekable();
    if proposals.peek().is_some() {
        let _ = writeln!(out, "## Pros and Cons of the Options\n");
    }
    proposals.for_each(|seen| option(out, seen));
}

fn option(out: &mut String, seen: &Seen<'_>) {
    let content = &seen.post.content;
    let _ = writeln!(out, "### {}\n\n{}\n", flat(&content.title), quoted(&content.body));
    if let Some(file) = &content.target_file {
        let place = content.target_location.as_deref().unwrap_or_default();
        let _ = writeln!(out, "Target: {}\n", code(&flat(&format!("{file} {place}"))));
    }
    for annotation in &seen.annotations {
        let (id, by, body) = (&annotation.id, &annotation.by, said(&annotation.body));
        let _ = match &annotation.note {
            Note::Validation { result } => {
                let word = finding(*result);
                writeln!(out, "* {by} found it {word}{body}")
            }
            Note::Corroboration => writeln!(out, "* Good, because {by} corroborates{body}"),
            Note::Challenge => writeln!(out, "* Bad, because {by} challenges (`{id}`){body}"),
            Note::Rebuttal { challenge: Some(challenge) } => {
                writeln!(out, "* {by} rebuts `{challenge}`{body}")
            }
            Note::Rebuttal { challenge: None } => writeln!(out, "* {by} rebuts{body}"),
            Note::Resolution { challenge } => writeln!(out, "* {by} settles `{challenge}`{body}"),
            Note::Withdrawal { challenge: Some(challenge) } => {
                writeln!(out, "* {by} withdraws `{challenge}`{body}")
            }
            Note::Withdrawal { challenge: None } => writeln!(out, "* {by} withdraws it{body}"),
        };
    }
    for vote in &seen.votes {
        let _ = writeln!(out, "* {}", voted(vote));
    }
    if !(seen.annotations.is_empty() && seen.votes.is_empty()) {
        out.push('\n');
    }
}

fn more(out: &mut String, board: &Board<'_>, summary: &Summary) {
    let _ = writeln!(out, "## More Information\n");
    let _ = writeln!(
        out,
        "Whiteboard `{}`, opened by {} at {}.\n",
        board.name, board.opened_by, board.opened_at
    );
    for step in board.steps {
        let by = step.by.as_ref().map_or("the clock", |by| by.0.as_str());
        let note = said(step.note.as_deref().unwrap_or_default());
        let _ = writeln!(out, "* {} by {by} at {}{note}", step.to.name(), step.at);
    }
    for (post, challenge, by) in &summary.unresolved {
        let _ = writeln!(out, "* not settled: `{challenge}` of `{post}` by {by}");
    }
}

fn voted(vote: &super::Vote) -> String {
    let choice = match vote.choice {
        Choice::Accept => "accept",
        Choice::Reject => "reject",
        Choice::Defer => "defer",
    };
    let reason = said(vote.reason.as_deref().unwrap_or_default());
    format!("{} votes {choice}{reason}", vote.by)
}

fn kind(kind: PostKind) -> &'static str {
    match kind {
        PostKind::Proposal => "proposal",
        PostKind::Claim => "claim",
        PostKind::Concern => "concern",
        PostKind::Informational => "information",
    }
}

fn finding(finding: Finding) -> &'static str {
    match finding {
        Finding::Confirmed => "confirmed",
        Finding::Refuted => "refuted",
        Finding::Inconclusive => "inconclusive",
    }
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Surviving => "",
        Standing::Excluded => ", refuted",
        Standing::Withdrawn => ", withdrawn",
    }
}

/// As written, as a block that ends where it ends: a heading, a list or a fence in
/// it is its own. A lone carriage return begins a line in Markdown too.
fn quoted(text: &str) -> String {
    let text = text.trim().replace("\r\n", "\n");
    let quote = |line: &str| if line.is_empty() { ">".to_owned() } else { format!("> {line}") };
    text.split(['\n', '\r']).map(quote).collect::<Vec<_>>().join("\n")
}

/// A span of code, between more backticks than it has in a row.
fn code(text: &str) -> String {
    let most = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(most + 1);
    if most == 0 { format!("`{text}`") } else { format!("{ticks} {text} {ticks}") }
}

/// What follows on who did what, if anything was said.
fn said(text: &str) -> String {
    let text = flat(text);
    if text.is_empty() { text } else { format!(": {text}") }
}

/// One line, so that what somebody wrote opens no heading of ours.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
