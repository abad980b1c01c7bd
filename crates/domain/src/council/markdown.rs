//! A council as a document that people read.

use std::collections::VecDeque;

use super::{Change, Member, Post, Silence, Stage, State, Why};
use crate::form::Report;
use crate::ids::ModelName;
use crate::ledger::Usage;
use crate::record::{Document, Line, Saying, Words, line};

pub fn markdown(state: &State) -> String {
    let mut out = Document::default();
    out.heading(1, line!("{}", Words(&state.name)));
    out.note(line!("Council, {}, {}", state.opened_at, state.status()));
    if let Some(project) = &state.project {
        out.note(line!("Project: {}", Words(project)));
    }
    if let Some(by) = &state.opened_by {
        out.note(line!("Opened by {}", Words(by)));
    }
    out.heading(2, line!("Charter"));
    out.quote(&state.charter);
    if !state.members.is_empty() {
        out.heading(2, line!("Members"));
        state.members.iter().for_each(|member| write_member(&mut out, member));
    }
    out.heading(2, line!("Thread"));
    write_thread(&mut out, state);
    out.spending(&state.ledger);
    if let Stage::Closed { summary, by, at } = &state.stage {
        out.rule();
        out.heading(2, line!("Summary"));
        let by = by.as_ref().map(|by| line!(" by {}", Words(by))).unwrap_or_default();
        out.note(line!("Closed{}, {}", by, *at));
        out.quote(summary.as_deref().unwrap_or_default());
    }
    out.text()
}

fn write_member(out: &mut Document, member: &Member) {
    let model = member.model.as_ref().map(|model| line!(" ({})", Words(&model.0)));
    let persona = member.persona.as_deref().map(|persona| line!(": {}", Saying(persona)));
    let (model, persona) = (model.unwrap_or_default(), persona.unwrap_or_default());
    out.item(line!("**{}**{}{}", Words(&member.name), model, persona));
}

/// Posts in their order; a turn without one stands after the last post that its
/// member was shown, and a change where it was made.
fn write_thread(out: &mut Document, state: &State) {
    let mut changes: VecDeque<&Change> = state.changes.iter().map(|c| c.as_ref()).collect();
    let mut silences: Vec<&Silence> = state.silences.iter().map(|s| s.as_ref()).collect();
    silences.sort_by_key(|silence| silence.upto);
    let mut silences = VecDeque::from(silences);
    for post in &state.posts {
        while let Some(change) = changes.pop_front_if(|c| c.after < post.sequence) {
            write_change(out, change);
        }
        write_post(out, state, post);
        while let Some(silence) = silences.pop_front_if(|s| s.upto <= post.sequence) {
            write_silence(out, state, silence);
        }
    }
    silences.into_iter().for_each(|silence| write_silence(out, state, silence));
    changes.into_iter().for_each(|change| write_change(out, change));
    if let Some(member) = state.answering() {
        out.note(line!("{} is answering.", Words(member)));
    }
}

fn write_change(out: &mut Document, change: &Change) {
    let names = |names: &[String]| {
        let names: Vec<Line> = names.iter().map(|name| line!("{}", Words(name))).collect();
        Line::joined(&names, ", ")
    };
    if change.charter {
        out.note(line!("{}: the charter was changed.", change.at));
    }
    if !change.removed.is_empty() {
        out.note(line!("{}: removed {}.", change.at, names(&change.removed)));
    }
    if !change.added.is_empty() {
        out.note(line!("{}: added {}.", change.at, names(&change.added)));
    }
}

/// What an answer of this model took.
fn took(state: &State, model: Option<&ModelName>, used: Usage) -> Option<String> {
    state.ledger.call_in_words(model?, used)
}

fn write_post(out: &mut Document, state: &State, post: &Post) {
    out.rule();
    out.heading(3, line!("{}. {}", post.sequence, Words(&post.sender)));
    let reply = post.reply_to.map(|to| line!(", in reply to {}", to)).unwrap_or_default();
    out.note(line!("{}{}", post.at, reply));
    out.answer(&post.body, post.cut);
    out.took(took(state, post.model.as_ref(), post.usage));
    if !post.left_out.is_empty() {
        let names: Vec<Line> = post.left_out.iter().map(|name| line!("{}", Words(name))).collect();
        out.note(line!("Not asked to answer: {}", Line::joined(&names, ", ")));
    }
}

fn write_silence(out: &mut Document, state: &State, silence: &Silence) {
    let member = Words(&silence.member);
    let (note, text) = match &silence.why {
        Why::Passed { text } => (line!("{} passed.", member), text.as_str()),
        Why::Failed { failure, partial } => {
            (line!("{} failed: {}", member, Saying(&failure.message)), partial.as_str())
        }
        Why::Stopped { partial } => {
            (line!("{} was stopped.", member), partial.as_deref().unwrap_or_default())
        }
    };
    out.note(note);
    out.quote(text);
    out.took(took(state, silence.model.as_ref(), silence.usage));
}
