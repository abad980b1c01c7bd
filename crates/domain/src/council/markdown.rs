//! A council as a document that people read.

use std::collections::VecDeque;
use std::fmt::Write;

use super::{Member, Post, Silence, Stage, State, Why};

pub fn markdown(state: &State) -> String {
    let mut out = format!("# {}\n\n", state.name);
    let _ = writeln!(out, "*Council, {}, {}*\n", state.opened_at, state.status());
    if let Some(project) = &state.project {
        let _ = writeln!(out, "*Project: {project}*\n");
    }
    if let Some(by) = &state.opened_by {
        let _ = writeln!(out, "*Opened by {by}*\n");
    }
    let _ = writeln!(out, "## Charter\n\n{}\n", state.charter.trim());
    if !state.members.is_empty() {
        let _ = writeln!(out, "## Members\n");
        state.members.iter().for_each(|member| write_member(&mut out, member));
        out.push('\n');
    }
    let _ = writeln!(out, "## Thread");
    write_thread(&mut out, state);
    if let Stage::Closed { summary, by, at } = &state.stage {
        let by = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
        let _ = writeln!(out, "\n---\n\n## Summary\n\n*Closed{by}, {at}*");
        if let Some(summary) = summary {
            let _ = writeln!(out, "\n{}", summary.trim());
        }
    }
    out
}

fn write_member(out: &mut String, member: &Member) {
    let model = member.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
    let _ = write!(out, "- **{}**{model}", member.name);
    // A list item goes on as long as its lines are indented.
    if let Some(persona) = &member.persona {
        let _ = write!(out, ": {}", persona.trim().replace('\n', "\n  "));
    }
    out.push('\n');
}

/// Posts in their order; a turn without one stands after the last post that its
/// member was shown.
fn write_thread(out: &mut String, state: &State) {
    let mut silences: Vec<&Silence> = state.silences.iter().map(|s| s.as_ref()).collect();
    silences.sort_by_key(|silence| silence.upto);
    let mut silences = VecDeque::from(silences);
    for post in &state.posts {
        write_post(out, post);
        while let Some(silence) = silences.pop_front_if(|s| s.upto <= post.sequence) {
            write_silence(out, silence);
        }
    }
    silences.into_iter().for_each(|silence| write_silence(out, silence));
    if let Some(member) = state.answering() {
        let _ = writeln!(out, "\n*{member} is answering.*");
    }
}

fn write_post(out: &mut String, post: &Post) {
    let reply = post.reply_to.map(|to| format!(", in reply to {to}")).unwrap_or_default();
    let _ = writeln!(out, "\n---\n\n### {}. {}\n", post.sequence, post.sender);
    let _ = writeln!(out, "*{}{reply}*\n\n{}", post.at, post.body.trim());
    if !post.left_out.is_empty() {
        let _ = writeln!(out, "\n*Not asked to answer: {}*", post.left_out.join(", "));
    }
}

fn write_silence(out: &mut String, silence: &Silence) {
    let member = &silence.member;
    let (note, text) = match &silence.why {
        Why::Passed { text } => (format!("{member} passed."), text.as_str()),
        Why::Failed { failure, partial } => {
            (format!("{member} failed: {}", failure.message), partial.as_str())
        }
        Why::Stopped { partial } => {
            (format!("{member} was stopped."), partial.as_deref().unwrap_or_default())
        }
    };
    let _ = writeln!(out, "\n*{note}*");
    for line in text.trim().lines() {
        let _ = write!(out, "\n> {line}");
    }
    if !text.trim().is_empty() {
        out.push('\n');
    }
}
