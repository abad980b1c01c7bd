//! What a whiteboard's input must be like. Every wrong field is named at once.

use super::seats::{checked, seated};
use super::{Content, Event, Member, NewSeat, Open, Phase};
use crate::form::{Moment, Ruling};
use crate::ids::AgentName;
use crate::ledger::Ledger;
use crate::limits;
use crate::names::{are_same, check_agent_name, check_room_name};
use crate::reject::{Reject, Wrong, name, settled, size, text};

pub fn open(open: Open, moment: &Moment) -> Ruling<Event> {
    let (mut wrong, at) = (vec![], moment.at);
    if let Err(problem) = check_room_name(&open.name) {
        wrong.push(Wrong::new("boardId", problem));
    }
    text(&mut wrong, "topic", &open.topic, limits::TOPIC_BYTES);
    agent(&mut wrong, "openedBy", &open.by);
    let project = open.project.map(|p| p.trim().to_owned()).filter(|project| !project.is_empty());
    if let Some(project) = &project {
        name(&mut wrong, "project", project, limits::PROJECT_BYTES);
    }
    for (place, deadline) in open.deadlines.iter().enumerate() {
        let phase = deadline.phase;
        let field = format!("deadlines.{}Seconds", phase.name());
        let (least, most) = (limits::PHASE_LEAST_MS, limits::PHASE_MOST_MS);
        if phase == Phase::Archived {
            wrong.push(Wrong::new(field, "an archived board has no deadline"));
        } else if !(least..=most).contains(&deadline.after_ms) {
            let (least, most) = (least / 1000, most / 1000);
            wrong.push(Wrong::new(field, format!("must be from {least} to {most}")));
        } else if open.deadlines[..place].iter().any(|earlier| earlier.phase == phase) {
            wrong.push(Wrong::new(field, "is given twice"));
        }
    }
    let seats = seats(&mut wrong, &open.by, open.seats);
    open.budget.iter().for_each(|budget| budget.check(&mut wrong));
    settled(wrong)?;
    let by = open.by.clone();
    let opened = Event::Opened {
        name: open.name,
        topic: open.topic.trim().to_owned(),
        project,
        by: open.by,
        principal: open.principal,
        admission: open.admission,
        debate: open.debate,
        deadlines: open.deadlines,
        at,
    };
    let noted = Ledger::default().unnoted(open.prices).map(Event::Priced);
    let budget = open.budget.map(Event::Budgeted);
    let seats = seats.into_iter().map(|new| seated(new, by.clone(), moment));
    Ok([opened].into_iter().chain(noted).chain(budget).chain(seats).collect())
}

/// Those who sit at a board from its beginning.
fn seats(wrong: &mut Vec<Wrong>, opener: &AgentName, seats: Vec<NewSeat>) -> Vec<NewSeat> {
    if seats.len() > limits::BOARD_SEATS {
        let most = limits::BOARD_SEATS;
        wrong
            .push(Wrong::new("seats", format!("a board can have at most {most} seats for models")));
        return vec![];
    }
    let (mut names, mut all) = (vec![opener.clone()], vec![]);
    for (place, new) in seats.into_iter().enumerate() {
        let field = |name: &str| format!("seats[{place}].{name}");
        agent(wrong, &field("name"), &new.name);
        if let Some(other) = names.iter().find(|other| are_same(&other.0, &new.name.0)) {
            wrong.push(Wrong::new(field("name"), format!("is already the name of {other}")));
        }
        size(
            wrong,
            &field("domain"),
            new.domain.as_deref().unwrap_or_default(),
            limits::DOMAIN_BYTES,
        );
        names.push(new.name.clone());
        match checked(new, &format!("seats[{place}]")) {
            Ok(new) => all.push(new),
            Err(Reject::Invalid(more)) => wrong.extend(more),
            Err(_) => {}
        }
    }
    all
}

/// Of an agent that is not there yet.
pub fn register(name: &AgentName, domain: Option<&str>, members: &[Member]) -> Result<(), Reject> {
    let mut wrong = vec![];
    agent(&mut wrong, "agentName", name);
    if let Some(other) = members.iter().find(|member| are_same(&member.name.0, &name.0)) {
        let other = &other.name;
        let problem = format!("differs from {other} only in case; use that, or another name");
        wrong.push(Wrong::new("agentName", problem));
    }
    size(&mut wrong, "domain", domain.unwrap_or_default(), limits::DOMAIN_BYTES);
    settled(wrong)
}

pub fn content(mut content: Content) -> Result<Content, Reject> {
    let given = |text: &mut Option<String>| {
        *text = text.take().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    };
    given(&mut content.target_file);
    given(&mut content.target_location);
    let mut wrong = vec![];
    text(&mut wrong, "title", &content.title, limits::POST_TITLE_BYTES);
    text(&mut wrong, "body", &content.body, limits::BOARD_BODY_BYTES);
    let file = content.target_file.as_deref().unwrap_or_default();
    size(&mut wrong, "targetFile", file, limits::POST_REF_BYTES);
    let location = content.target_location.as_deref().unwrap_or_default();
    size(&mut wrong, "targetLocation", location, limits::POST_REF_BYTES);
    if content.target_location.is_some() && content.target_file.is_none() {
        wrong.push(Wrong::new("targetLocation", "needs a `targetFile`"));
    }
    list(&mut wrong, "findingRefs", &content.finding_refs);
    list(&mut wrong, "cascadeTargets", &content.cascade_targets);
    settled(wrong)?;
    Ok(content)
}

/// A text that somebody writes about something.
pub fn body(field: &str, value: &str, may_be_empty: bool) -> Result<(), Reject> {
    let mut wrong = vec![];
    if may_be_empty {
        size(&mut wrong, field, value, limits::BOARD_BODY_BYTES);
    } else {
        text(&mut wrong, field, value, limits::BOARD_BODY_BYTES);
    }
    settled(wrong)
}

fn agent(wrong: &mut Vec<Wrong>, field: &str, name: &AgentName) {
    if let Err(problem) = check_agent_name(&name.0) {
        wrong.push(Wrong::new(field, problem));
    }
}

fn list(wrong: &mut Vec<Wrong>, field: &str, items: &[String]) {
    if items.len() > limits::POST_REFS {
        let most = limits::POST_REFS;
        wrong.push(Wrong::new(field, format!("can have at most {most} entries")));
        return;
    }
    for (place, item) in items.iter().enumerate() {
        text(wrong, &format!("{field}[{place}]"), item, limits::POST_REF_BYTES);
    }
}
