//! A board as a decision record in Markdown, after the MADR template.

use super::summary::{self, Outcome, Standing, Summary, summarize};
use super::{Choice, Finding, Note, Phase, PostId, PostKind};
use crate::ids::AgentName;
use crate::record::{Code, Document, Line, Saying, Words, line};
use crate::view::{Board, Seen};

/// The record of what a viewer sees.
pub fn madr(board: &Board<'_>) -> String {
    let summary = summarize(board);
    let mut out = Document::default();
    head(&mut out, board, &summary);
    out.heading(2, line!("Context and Problem Statement"));
    out.quote(board.topic);
    drivers(&mut out, board);
    options(&mut out, board);
    decision(&mut out, board, &summary);
    pros_and_cons(&mut out, board);
    more(&mut out, board, &summary);
    out.text()
}

fn head(out: &mut Document, board: &Board<'_>, summary: &Summary) {
    let status = match (board.phase, &summary.outcome) {
        (Phase::Archived, Outcome::Accepted(_)) => "accepted",
        (Phase::Archived, Outcome::Tied(_) | Outcome::Undecided) => "no decision",
        (Phase::Blind | Phase::Read | Phase::Validate | Phase::Debate | Phase::Resolve, _) => {
            "proposed"
        }
    };
    let date = board.since.to_string();
    let names = board.members.iter().map(|member| line!("\"{}\"", who(&member.name)));
    let names = Line::joined(&names.collect::<Vec<_>>(), ", ");
    out.front(&[
        line!("status: {}", status),
        line!("date: {}", Words(date.get(..10).unwrap_or(&date))),
        line!("decision-makers: [{}]", names),
    ]);
    out.heading(1, line!("{}", Words(board.topic.lines().next().unwrap_or_default())));
}

fn who(name: &AgentName) -> Words<'_> {
    Words(&name.0)
}

fn drivers(out: &mut Document, board: &Board<'_>) {
    let drivers: Vec<&Seen<'_>> =
        board.posts.iter().filter(|s| s.post.content.kind != PostKind::Proposal).collect();
    if !drivers.is_empty() {
        out.heading(2, line!("Decision Drivers"));
    }
    for seen in drivers {
        let (post, content) = (seen.post, &seen.post.content);
        let (kind, standing) = (kind(content.kind), standing(summary::line(seen).standing));
        let (title, body) = (Words(&content.title), Saying(&content.body));
        out.item(line!("**{}** ({} by {}{}): {}", title, kind, who(&post.author), standing, body));
    }
}

fn options(out: &mut Document, board: &Board<'_>) {
    out.heading(2, line!("Considered Options"));
    let proposals = || board.posts.iter().filter(|s| s.post.content.kind == PostKind::Proposal);
    if proposals().next().is_none() {
        out.item(line!("none"));
    }
    for seen in proposals() {
        let post = seen.post;
        let (title, id, standing) =
            (Words(&post.content.title), Code(&post.id.0), standing(summary::line(seen).standing));
        out.item(line!("**{}** ({} by {}{})", title, id, who(&post.author), standing));
    }
}

fn decision(out: &mut Document, board: &Board<'_>, summary: &Summary) {
    out.heading(2, line!("Decision Outcome"));
    if board.phase != Phase::Archived {
        out.paragraph(line!(
            "Nothing is decided yet: the board is in its {} phase. As the votes stand now:",
            board.phase.name()
        ));
    }
    let find = |id: &PostId| summary.lines.iter().find(|line| line.id == *id);
    let title = |id: &PostId| {
        find(id).map(|found| line!("**{}**", Words(&found.title))).unwrap_or_default()
    };
    let votes = |found: &summary::Line| {
        let tally = found.tally;
        line!("{} accept, {} reject, {} defer", tally.accept, tally.reject, tally.defer)
    };
    out.paragraph(match &summary.outcome {
        Outcome::Accepted(id) => {
            let votes = find(id).map(votes).unwrap_or_default();
            line!("Chosen option: {} ({}), by the votes: {}.", title(id), Code(&id.0), votes)
        }
        Outcome::Tied(ids) => {
            let names: Vec<Line> = ids.iter().map(title).collect();
            line!("No option was chosen: {} are tied.", Line::joined(&names, " and "))
        }
        Outcome::Undecided => {
            line!(
                "No option was chosen: no remaining option has more votes for it than against \
                   it."
            )
        }
    });
    let last = board.steps.last().filter(|step| step.to == Phase::Archived);
    out.quote(last.and_then(|step| step.note.as_deref()).unwrap_or_default());
    if let Outcome::Accepted(id) = &summary.outcome
        && let Some(seen) = board.posts.iter().find(|seen| seen.post.id == *id)
    {
        dissent(out, seen);
    }
    confirmation(out, board);
}

fn dissent(out: &mut Document, seen: &Seen<'_>) {
    let against = seen.votes.iter().filter(|vote| vote.choice != Choice::Accept);
    let challenges = seen.annotations.iter().filter(|a| a.note == Note::Challenge).map(|a| {
        let end = match (&a.settled_by, a.withdrawn) {
            (_, true) => "withdrawn",
            (Some(_), false) => "settled",
            (None, false) => "not settled",
        };
        line!("{} challenged ({}): {}", who(&a.by), end, Saying(&a.body))
    });
    let lines: Vec<Line> = against.map(|vote| voted(vote)).chain(challenges).collect();
    if !lines.is_empty() {
        out.heading(3, line!("Dissent"));
    }
    lines.into_iter().for_each(|line| out.item(line));
}

fn confirmation(out: &mut Document, board: &Board<'_>) {
    let validations: Vec<Line> = board
        .posts
        .iter()
        .flat_map(|seen| seen.annotations.iter().map(move |a| (seen.post, a)))
        .filter_map(|(post, a)| match a.note {
            Note::Validation { result } => {
                let (id, word) = (Code(&post.id.0), finding(result));
                Some(line!("{} {} by {}: {}", id, word, who(&a.by), Saying(&a.body)))
            }
            Note::Challenge
            | Note::Corroboration
            | Note::Rebuttal { .. }
            | Note::Withdrawal { .. }
            | Note::Resolution { .. } => None,
        })
        .collect();
    if !validations.is_empty() {
        out.heading(3, line!("Confirmation"));
    }
    validations.into_iter().for_each(|line| out.item(line));
}

fn pros_and_cons(out: &mut Document, board: &Board<'_>) {
    let mut proposals =
        board.posts.iter().filter(|s| s.post.content.kind == PostKind::Proposal).peekable();
    if proposals.peek().is_some() {
        out.heading(2, line!("Pros and Cons of the Options"));
    }
    proposals.for_each(|seen| option(out, seen));
}

fn option(out: &mut Document, seen: &Seen<'_>) {
    let content = &seen.post.content;
    out.heading(3, line!("{}", Words(&content.title)));
    out.quote(&content.body);
    if let Some(file) = &content.target_file {
        let place = content.target_location.as_deref().unwrap_or_default();
        out.paragraph(line!("Target: {}", Code(&format!("{file} {place}"))));
    }
    for annotation in &seen.annotations {
        let (id, by, body) = (Code(&annotation.id.0), who(&annotation.by), said(&annotation.body));
        out.item(match &annotation.note {
            Note::Validation { result } => line!("{} found it {}{}", by, finding(*result), body),
            Note::Corroboration => line!("Good, because {} corroborates{}", by, body),
            Note::Challenge => line!("Bad, because {} challenges ({}){}", by, id, body),
            Note::Rebuttal { challenge: Some(challenge) } => {
                line!("{} rebuts {}{}", by, Code(&challenge.0), body)
            }
            Note::Rebuttal { challenge: None } => line!("{} rebuts{}", by, body),
            Note::Resolution { challenge } => {
                line!("{} settles {}{}", by, Code(&challenge.0), body)
            }
            Note::Withdrawal { challenge: Some(challenge) } => {
                line!("{} withdraws {}{}", by, Code(&challenge.0), body)
            }
            Note::Withdrawal { challenge: None } => line!("{} withdraws it{}", by, body),
        });
    }
    for vote in &seen.votes {
        out.item(voted(vote));
    }
}

fn more(out: &mut Document, board: &Board<'_>, summary: &Summary) {
    out.heading(2, line!("More Information"));
    let (name, opener) = (Code(board.name), who(board.opened_by));
    out.paragraph(line!("Whiteboard {}, opened by {} at {}.", name, opener, board.opened_at));
    for step in board.steps {
        let by = step.by.as_ref().map_or(line!("the deadline"), |by| line!("{}", who(by)));
        let note = said(step.note.as_deref().unwrap_or_default());
        out.item(line!("{} by {} at {}{}", step.to.name(), by, step.at, note));
    }
    for (post, challenge, by) in &summary.unresolved {
        let (post, challenge) = (Code(&post.0), Code(&challenge.0));
        out.item(line!("not settled: {} of {} by {}", challenge, post, who(by)));
    }
}

fn voted(vote: &super::Vote) -> Line {
    let choice = match vote.choice {
        Choice::Accept => "accept",
        Choice::Reject => "reject",
        Choice::Defer => "defer",
    };
    let reason = said(vote.reason.as_deref().unwrap_or_default());
    line!("{} votes {}{}", who(&vote.by), choice, reason)
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

/// What follows on who did what, if anything was said.
fn said(text: &str) -> Line {
    if text.trim().is_empty() { Line::default() } else { line!(": {}", Saying(text)) }
}
