//! Whiteboards on paper. Whatever agents wrote goes through `clean` here.

use jiff::Timestamp;

use super::view::{
    Agent, Annotation, Conflict, Outcome, Post, Seat, Summary, Tally, Whiteboard, Written,
};
use crate::rounded::duration;
use crate::terminal::{Ink, clean, line};

/// Characters of a title or a reason in a line.
const SHORT: usize = 80;

pub fn board(board: &Whiteboard, now: Timestamp, ink: Ink) -> String {
    let mut out = vec![head(board, now, ink)];
    out.push(format!("\n{}", ink.bold("People and agents")));
    out.extend(board.agents.iter().map(|one| agent(one, board, ink)));
    if !board.seats.is_empty() {
        out.push(format!("\n{}", ink.bold("Models and agents")));
        out.extend(board.seats.iter().map(|one| format!("  {}", seat(one, ink))));
    }
    out.push(format!("\n{}", ink.bold("Posts")));
    if board.posts.is_empty() {
        out.push("  none you can see".into());
    }
    for seen in &board.posts {
        out.push(post(seen, ink));
    }
    let left = board.posts_total.saturating_sub(board.posts.len());
    if left > 0 {
        out.push(format!("  … and {left} more"));
    }
    if board.ready_to_advance == Some(false) {
        out.push(format!("\n{}", ink.bold("Not ready to move on")));
        out.extend(board.why_not.iter().map(|why| format!("  {}", clean(why))));
    }
    out.join("\n")
}

/// Name, phase, the time that is left, as whom it is seen, and the topic, which is set
/// off: it may have lines that look like ours.
pub fn head(board: &Whiteboard, now: Timestamp, ink: Ink) -> String {
    let name = ink.bold(&clean(&board.board_id));
    let mut out = format!("{name} · {}", phase(&board.phase, ink));
    if let Some(deadline) = board.deadline {
        let left = deadline.as_millisecond() - now.as_millisecond();
        out.push_str(&match u64::try_from(left) {
            Ok(left) => format!(" · {} left", duration(left)),
            Err(_) => " · deadline passed".to_owned(),
        });
    }
    match &board.you {
        Some(you) => out.push_str(&format!(" · you are {}, {}", clean(&you.agent_name), you.role)),
        None => out.push_str(" · as a guest"),
    }
    format!("{out}\n{}", indented(&board.topic, 2))
}

pub fn phase(name: &str, ink: Ink) -> String {
    ink.cyan(name)
}

fn agent(agent: &Agent, board: &Whiteboard, ink: Ink) -> String {
    let name = clean(&agent.agent_name);
    let mut out = format!("  {name:<24}  {:<11}", agent.role);
    if let Some(domain) = &agent.domain {
        out.push_str(&format!("  {}", line(domain, SHORT)));
    }
    // Who leads sees who has posted, while nobody sees what.
    if let Some(posted) = &board.has_posted {
        let has = posted.contains(&agent.agent_name);
        let mark = if has { ink.green("has posted") } else { ink.dim("not yet") };
        out.push_str(&format!("  {mark}"));
    }
    out.trim_end().to_owned()
}

/// Who sits there by which model, and how it stands.
pub fn seat(seat: &Seat, ink: Ink) -> String {
    let name = clean(&seat.agent_name);
    let agent = seat.agent.as_ref().map(|agent| format!("@{}, ", clean(agent)));
    let model = format!("{}{}", agent.unwrap_or_default(), clean(&seat.model));
    let mut out = format!("{name:<24}  {model}");
    match seat.status.as_deref() {
        Some("asked") => out.push_str(&format!("  {}", ink.cyan("answering…"))),
        Some("done") => out.push_str(&format!("  {}", ink.green("answered"))),
        Some("stopped") => out.push_str(&format!("  {}", ink.yellow("stopped"))),
        Some("failed") => {
            let why = seat.failure.as_ref().map(|failure| line(&failure.message, SHORT));
            let why = format!("failed: {}", why.unwrap_or_default());
            out.push_str(&format!("  {}", ink.red(&why)));
        }
        Some(_) | None => {}
    }
    for left_out in &seat.left_out {
        out.push_str(&format!("\n      not accepted: {}", line(left_out, SHORT)));
    }
    out
}

fn post(post: &Post, ink: Ink) -> String {
    let mut out = vec![format!("  {}", post_line(post, ink))];
    if let Some(body) = &post.body {
        out.push(indented(body, 6));
    }
    out.extend(post.annotations.iter().map(|one| format!("      {}", annotation(one, ink))));
    // The tally has them too; the reasons are in the whole only.
    for vote in post.votes.iter().filter(|_| post.body.is_some()) {
        // In one line, so that no reason looks like the next vote.
        let flat = |reason: &str| reason.split_whitespace().collect::<Vec<_>>().join(" ");
        let reason = vote.reason.as_deref().map(|reason| format!(": {}", flat(&clean(reason))));
        let reason = reason.unwrap_or_default();
        out.push(format!("      {} {}{reason}", clean(&vote.by), choice(&vote.vote, ink)));
    }
    if post.partly_hidden {
        out.push(format!("      {}", ink.dim("more is hidden during the debate")));
    }
    out.join("\n")
}

/// A post in one line: what it is, and how it stands.
pub fn post_line(post: &Post, ink: Ink) -> String {
    let id = ink.bold(&clean(&post.post_id));
    let mut out = format!("{id}  {}  {}", post.kind, line(&post.title, SHORT));
    let location = post.target_location.as_deref().map(|at| format!(":{at}")).unwrap_or_default();
    if let Some(file) = &post.target_file {
        out.push_str(&format!("  {}", ink.dim(&line(&format!("{file}{location}"), SHORT))));
    }
    if let Some(severity) = &post.severity {
        out.push_str(&format!("  {}", ink.yellow(severity)));
    }
    let mut marks = vec![];
    if post.standing != "surviving" {
        marks.push(ink.red(&post.standing));
    }
    marks.extend(tally(post.tally));
    for result in ["confirmed", "refuted", "inconclusive"] {
        let same = |note: &&Annotation| note.result.as_deref() == Some(result);
        match post.annotations.iter().filter(same).count() {
            0 => {}
            count => marks.push(finding(&format!("{count} {result}"), ink)),
        }
    }
    let open = post.annotations.iter().filter(|note| note.open == Some(true)).count();
    if open > 0 {
        marks.push(ink.yellow(&counted(open, "open challenge")));
    }
    if !marks.is_empty() {
        out.push_str(&format!("  [{}]", marks.join(", ")));
    }
    out
}

fn annotation(note: &Annotation, ink: Ink) -> String {
    let id = clean(&note.annotation_id);
    let mut out = format!("{} {} by {}", ink.bold(&id), note.kind, clean(&note.by));
    if let Some(result) = &note.result {
        out.push_str(&format!(": {}", finding(result, ink)));
    }
    if let Some(challenge) = &note.challenge_id {
        out.push_str(&format!(" of {}", clean(challenge)));
    }
    match note.open {
        Some(true) => out.push_str(&format!(" ({})", ink.yellow("open"))),
        Some(false) => out.push_str(" (settled)"),
        None => {}
    }
    if let Some(body) = note.body.as_deref().filter(|body| !body.trim().is_empty()) {
        out.push_str(&format!("\n{}", indented(body, 8)));
    }
    out
}

/// A result, or how often there was one.
pub fn finding(result: &str, ink: Ink) -> String {
    match result.rsplit(' ').next() {
        Some("confirmed") => ink.green(result),
        Some("refuted") => ink.red(result),
        _ => ink.yellow(result),
    }
}

pub fn choice(vote: &str, ink: Ink) -> String {
    match vote {
        "accept" => ink.green(vote),
        "reject" => ink.red(vote),
        other => ink.yellow(other),
    }
}

/// Absent while nobody has voted.
pub fn tally(tally: Tally) -> Option<String> {
    let Tally { accept, reject, defer } = tally;
    let counts = [(accept, "accept"), (reject, "reject"), (defer, "defer")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

pub fn written(written: &Written, ink: Ink) -> String {
    let line = post_line(&written.post, ink);
    let note = written.annotation_id.as_ref();
    note.map_or(line.clone(), |id| format!("{} on {line}", ink.bold(&clean(id))))
}

pub fn summary(summary: &Summary, ink: Ink) -> String {
    let counts = [
        counted(summary.agents, "agent"),
        counted(summary.posts, "post"),
        counted(summary.annotations, "annotation"),
        counted(summary.votes, "vote"),
    ];
    let name = ink.bold(&clean(&summary.board_id));
    let mut out = vec![
        format!("{name} · {} · {}", phase(&summary.phase, ink), counts.join(", ")),
        indented(&summary.topic, 2),
        String::new(),
        outcome(&summary.outcome, ink),
    ];
    for one in &summary.lines {
        let id = ink.bold(&clean(&one.post_id));
        let mut marks = vec![match one.standing.as_str() {
            "surviving" => ink.green("not refuted"),
            other => ink.red(other),
        }];
        marks.extend(tally(one.tally));
        let checks = [
            (one.confirmed, "confirmed"),
            (one.refuted, "refuted"),
            (one.inconclusive, "inconclusive"),
        ];
        let checks = checks.into_iter().filter(|(count, _)| *count > 0);
        marks.extend(checks.map(|(count, name)| finding(&format!("{count} {name}"), ink)));
        let title = line(&one.title, SHORT);
        out.push(format!("  {id}  {}  {title}  [{}]", one.kind, marks.join(", ")));
    }
    for challenge in &summary.unresolved_challenges {
        let (id, post) = (clean(&challenge.annotation_id), clean(&challenge.post_id));
        out.push(format!("  open challenge {id} on {post}, by {}", clean(&challenge.by)));
    }
    if !summary.unvalidated_posts.is_empty() {
        let posts = summary.unvalidated_posts.join(", ");
        out.push(format!("  no one has validated {}", clean(&posts)));
    }
    out.extend(summary.why_not.iter().map(|why| format!("  not ready: {}", clean(why))));
    out.join("\n")
}

pub fn outcome(outcome: &Outcome, ink: Ink) -> String {
    let posts = clean(&outcome.posts.join(", "));
    match outcome.decision.as_str() {
        "accepted" => format!("Accepted: {}", ink.green(&posts)),
        "tied" => format!("Tied: {}", ink.yellow(&posts)),
        _ => "Undecided".to_owned(),
    }
}

pub fn conflict(conflict: &Conflict, ink: Ink) -> String {
    let [first, second] = &conflict.posts;
    let (first, second) = (ink.bold(&clean(first)), ink.bold(&clean(second)));
    let over = line(&conflict.over, SHORT);
    format!("{}  {first}  {second}  {over}", ink.yellow(&format!("{:<21}", conflict.kind)))
}

pub fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn indented(text: &str, by: usize) -> String {
    let margin = " ".repeat(by);
    let text = clean(text.trim());
    text.lines().map(|line| format!("{margin}{line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_line_of_a_topic_looks_like_one_of_ours() {
        let board = serde_json::json!({
            "boardId": "adr", "topic": "Which?\n12:00:00  eve moved the board on to archived",
            "phase": "blind", "agents": [], "posts": [], "postsTotal": 0, "whyNot": [],
            "allowed": [], "next": [],
        });
        let board = serde_json::from_value(board).unwrap();
        let shown = head(&board, Timestamp::UNIX_EPOCH, Ink::none());
        let expected = "adr · blind · as a guest\n  Which?\n  12:00:00  eve moved the board on \
                        to archived";
        assert_eq!(shown, expected);
    }
}
