//! What a council's input must be like. Every wrong field is named at once.

use std::sync::Arc;

use jiff::Timestamp;

use super::addressed::ALL;
use super::{Changing, Event, Member, Open, State};
use crate::form::Ruling;
use crate::ledger::Ledger;
use crate::limits;
use crate::names::{are_same, check_agent_name, check_model_name, check_room_name};
use crate::reject::{Reject, Wrong, name, settled, text};

pub fn open(open: Open, at: Timestamp) -> Ruling<Event> {
    let Open { name, charter, members, project, by, prices, budget } = open;
    let (project, by) = (said(project), said(by));
    let members: Arc<[Member]> = members.into_iter().map(blank).collect();
    let mut wrong = vec![];
    if let Err(problem) = check_room_name(&name) {
        wrong.push(Wrong::new("name", problem));
    }
    text(&mut wrong, "charter", &charter, limits::CHARTER_BYTES);
    check_members(&mut wrong, "members", &[], &members);
    label(&mut wrong, "project", project.as_deref());
    label(&mut wrong, "by", by.as_deref());
    budget.iter().for_each(|budget| budget.check(&mut wrong));
    settled(wrong)?;
    let opened = Event::Opened { name, charter: Arc::from(charter), members, project, by, at };
    let noted = Ledger::default().unnoted(prices).map(Event::Priced);
    let budget = budget.map(Event::Budgeted);
    Ok([opened].into_iter().chain(noted).chain(budget).collect())
}

pub fn change(state: &State, changing: Changing) -> Result<Changing, Reject> {
    let Changing { charter, add, remove, prices } = changing;
    let add: Vec<Member> = add.into_iter().map(blank).collect();
    let mut wrong = vec![];
    if let Some(charter) = &charter {
        text(&mut wrong, "charter", charter, limits::CHARTER_BYTES);
    }
    for (place, name) in remove.iter().enumerate().take(limits::WRONG_FIELDS) {
        let field = format!("removeMembers[{place}]");
        if state.member(name).is_none() {
            wrong.push(Wrong::new(field, format!("there is no member {name:?}")));
        } else if remove[..place].contains(name) {
            wrong.push(Wrong::new(field, "is named twice"));
        }
    }
    let stay: Vec<&Member> =
        state.members.iter().filter(|member| !remove.contains(&member.name)).collect();
    check_members(&mut wrong, "addMembers", &stay, &add);
    for (place, member) in add.iter().enumerate().take(limits::WRONG_FIELDS) {
        if let Some(problem) = whose(state, member) {
            wrong.push(Wrong::new(format!("addMembers[{place}].name"), problem));
        }
    }
    settled(wrong)?;
    let comes = |name: &str| add.iter().any(|new| are_same(&new.name, name));
    let former = state.former.iter().map(|former| &former.name).chain(&remove);
    if former.filter(|name| !comes(name)).count() > limits::COUNCIL_FORMER {
        return Err(state.not_now("This council has had the maximum number of members."));
    }
    Ok(Changing { charter, add, remove, prices })
}

/// Whose name a new member would take: what was said under a name stays theirs.
fn whose(state: &State, member: &Member) -> Option<String> {
    let name = &member.name;
    let mut senders = state.senders.iter().filter(|sender| are_same(sender, name));
    if let Some(sender) = senders.find(|sender| member.model.is_some() || *sender != name) {
        let why = "has already posted here; give the member another name";
        return Some(format!("{sender:?} {why}"));
    }
    let had_model = |name: &str| {
        let former = state.former.iter().find(|former| are_same(&former.name, name));
        let was = state.members.iter().find(|member| are_same(&member.name, name));
        former.map(|former| former.had_model).or(was.map(|was| was.model.is_some()))
    };
    (member.model.is_none() && had_model(name) == Some(true))
        .then(|| format!("{name:?} was a model here; a person needs another name"))
}

pub fn post(state: &State, sender: &str, body: &str, reply_to: Option<u64>) -> Result<(), Reject> {
    let same = |name: &str| are_same(name, sender);
    let answers = |member: &&Member| member.model.is_some() && same(&member.name);
    if let Some(member) = state.members.iter().find(answers) {
        let name = &member.name;
        let why =
            format!("{name} has a model and answers automatically; post under your own name.");
        return Err(Reject::Forbidden(why));
    }
    if let Some(former) = state.former.iter().find(|was| was.had_model && same(&was.name)) {
        let why = format!("{} was a model here; post under your own name.", former.name);
        return Err(Reject::Forbidden(why));
    }
    let mut wrong = vec![];
    speaker(&mut wrong, "sender", sender);
    let members = state.members.iter().map(|member| &member.name);
    if let Some(other) = members.chain(&state.senders).find(|name| same(name) && *name != sender) {
        let problem = format!("differs from {other:?} only in case; use that, or another name");
        wrong.push(Wrong::new("sender", problem));
    }
    text(&mut wrong, "body", body, limits::POST_BYTES);
    if let Some(reply_to) = reply_to.filter(|reply_to| state.post_at(*reply_to).is_none()) {
        let problem = match state.last_sequence() {
            0 => format!("there is no post {reply_to}; this one is the first"),
            last => format!("there is no post {reply_to}; posts are numbered 1 to {last}"),
        };
        wrong.push(Wrong::new("replyTo", problem));
    }
    settled(wrong)?;
    let strangers = state.senders.iter().filter(|name| state.member(name).is_none()).count();
    let is_known = state.member(sender).is_some() || state.is_claimed(sender);
    if !is_known && strangers >= limits::COUNCIL_SENDERS {
        return Err(state.not_now("This council has the maximum number of senders."));
    }
    Ok(())
}

pub fn close(summary: Option<&str>, by: Option<&str>) -> Result<(), Reject> {
    let mut wrong = vec![];
    if let Some(summary) = summary {
        text(&mut wrong, "summary", summary, limits::COUNCIL_SUMMARY_BYTES);
    }
    label(&mut wrong, "by", by);
    settled(wrong)
}

fn blank(member: Member) -> Member {
    Member { persona: said(member.persona), ..member }
}

/// A text of blanks is none.
pub fn said(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Members that come to others, which stay.
fn check_members(wrong: &mut Vec<Wrong>, list: &str, stay: &[&Member], members: &[Member]) {
    if stay.len() + members.len() > limits::COUNCIL_MEMBERS {
        let most = limits::COUNCIL_MEMBERS;
        wrong.push(Wrong::new(list, format!("a council can have at most {most} members")));
    }
    for (place, member) in members.iter().enumerate().take(limits::WRONG_FIELDS) {
        let field = |name: &str| format!("{list}[{place}].{name}");
        speaker(wrong, &field("name"), &member.name);
        let before = stay.iter().copied().chain(&members[..place]).map(|other| &other.name);
        if let Some(other) = before.into_iter().find(|name| are_same(name, &member.name)) {
            // Mentions do not tell them apart.
            let problem = match *other == member.name {
                true => "is also the name of another member".to_owned(),
                false => format!("differs from the member {other:?} only in case"),
            };
            wrong.push(Wrong::new(field("name"), problem));
        }
        if let Some(Err(problem)) = member.model.as_ref().map(check_model_name) {
            wrong.push(Wrong::new(field("model"), problem));
        }
        if let Some(persona) = &member.persona {
            text(wrong, &field("persona"), persona, limits::PERSONA_BYTES);
        }
        member.budget.check_seat(wrong, &field("budget"), member.model.is_none());
    }
}

fn speaker(wrong: &mut Vec<Wrong>, field: &str, name: &str) {
    if let Err(problem) = check_agent_name(name) {
        wrong.push(Wrong::new(field, problem));
    }
    if are_same(name, ALL) {
        wrong.push(Wrong::new(field, "`all` means everyone; choose another name"));
    }
}

fn label(wrong: &mut Vec<Wrong>, field: &str, value: Option<&str>) {
    let Some(value) = value else { return };
    name(wrong, field, value, limits::COUNCIL_LABEL_BYTES);
}
