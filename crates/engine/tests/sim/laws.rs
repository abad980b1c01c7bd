//! What must hold at the end of a run, whatever has happened.

use std::collections::BTreeMap;

use plenary_domain::workflow::gives::Ended;
use plenary_domain::workflow::{self, Doing, End, Place, Stage, State, Status};
use plenary_domain::{Errand, Event, Room, SessionId, Usage, Work};
use serde_json::Value;

use super::clients::Accounts;
use super::errands::{said, told_by};
use super::outside::short;
use super::record::as_the_log_has_it;
use super::run::Run;
use super::world::Inner;

/// Nothing is under way, but for what waits for somebody who does not come.
pub fn is_at_rest(inner: &Inner) -> bool {
    inner.streams.is_empty() && inner.memory.rows().all(|row| !row.active || waits(inner, row.id))
}

/// Whether a session waits for somebody outside, and for nothing else.
fn waits(inner: &Inner, id: SessionId) -> bool {
    let Some(room) = inner.record.now(id) else { return false };
    room.due().iter().all(|call| match (&call.work, room.errand(&call.id)) {
        (Work::Errand, Some(Errand::Await { all, signals, since, taken })) => {
            let mut came = vec![];
            for signal in &signals {
                let (kind, called) = told_by(signal);
                let id = inner.memory.named(kind, called);
                let room = id.and_then(|id| inner.record.now(id));
                came.extend(room.map(|room| said(room, called, since)).unwrap_or_default());
            }
            came.retain(|signal| !workflow::is_among(&taken, signal));
            workflow::resumes(all, &signals, &came).is_none()
        }
        (Work::Errand, Some(Errand::Watch { session, .. })) => {
            let id = session.parse().unwrap();
            let goes_on = inner.record.now(id).is_some_and(|room| Ended::of(room).is_none());
            let is_there = inner.memory.row(id).is_some();
            is_there && goes_on && waits(inner, id)
        }
        (_, _) => false,
    })
}

pub fn violations(run: &Run) -> Vec<String> {
    let inner = run.world.lock();
    let accounts = run.accounts.lock().unwrap();
    let mut all = inner.violations.clone();
    all.extend(accounts.differ.clone());
    let is_left = |session: &SessionId| !accounts.removed.contains(session);
    for (session, version) in accounts.acknowledged.iter().filter(|(id, _)| is_left(id)) {
        if inner.memory.row(*session).is_none_or(|row| row.version < *version) {
            all.push(format!("version {version} of {session} was acknowledged and is lost"));
        }
    }
    for (number, (node, what)) in &accounts.waiting {
        all.push(format!("#{number} ({what}) at n{node} was never answered"));
    }
    for row in inner.memory.rows() {
        if row.active && !waits(&inner, row.id) {
            all.push(format!("{} is {} and nobody goes on with it", row.id, row.status));
        }
        for (call, text) in inner.memory.drafts(row.id) {
            all.push(format!("{call} of {}: {text:?} was never handed in", row.id));
        }
        spending(&inner, row.id, &mut all);
    }
    for stream in inner.streams.values() {
        all.push(format!("n{} still pays for {}", stream.node, stream.call));
    }
    for reader in run.readers.iter().filter(|reader| is_left(&reader.session)) {
        let seen = reader.seen.lock().unwrap();
        let last = inner.memory.row(reader.session).map_or(0, |row| row.version);
        if *seen != (1..=last).collect::<Vec<u64>>() {
            let (at, of) = (reader.node, short(reader.session));
            all.push(format!("a reader at n{at} saw {seen:?} of {last} of {of}"));
        }
    }
    for (session, by) in inner.record.goes_on.iter().filter(|(id, _)| !accounts.is_meddled(*id)) {
        all.push(format!("{session} goes on after {by} has ended it"));
    }
    let posts = posts(&inner);
    for row in inner.memory.rows().filter(|row| row.kind == "workflow") {
        steps(&inner, row.id, &posts, &accounts, &mut all);
        sessions(&inner, row.id, &accounts, &mut all);
    }
    all
}

fn tokens(usage: Usage) -> u64 {
    usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0)
}

/// What sessions took that a run has opened, as its log has it.
fn absorbed(inner: &Inner, id: SessionId) -> BTreeMap<String, Usage> {
    let mut all = BTreeMap::new();
    for stored in inner.memory.events(id) {
        let event = Event::decode(&stored.kind, &stored.payload).unwrap();
        if let Event::Workflow(workflow::Event::SessionSpent { session, took }) = event {
            let usage = took.models.values().fold(Usage::default(), |sum, one| sum.plus(*one));
            let before: &mut Usage = all.entry(session).or_default();
            *before = before.plus(usage);
        }
    }
    all
}

/// A session says what its attempts took, and those that it has opened.
fn spending(inner: &Inner, id: SessionId, all: &mut Vec<String>) {
    let attempts = inner.memory.attempts(id);
    let spent = attempts.iter().fold(Usage::default(), |sum, row| sum.plus(row.usage));
    let spent = absorbed(inner, id).values().fold(spent, |sum, one| sum.plus(*one));
    let room = as_the_log_has_it(inner.memory.events(id));
    let ledger = room.ledger();
    let told = ledger.map(|ledger| ledger.total()).unwrap_or_default();
    if told != spent {
        all.push(format!("{id} spent {spent:?} and says {told:?}"));
    }
    let (tokens, most) = (tokens(spent), ledger.and_then(|ledger| ledger.budget()?.most.tokens));
    if most.is_some_and(|most| tokens > most) {
        all.push(format!("{id} spent {tokens} of {most:?} tokens"));
    }
}

/// How often each text was posted, in whatever room.
fn posts(inner: &Inner) -> BTreeMap<String, u32> {
    let mut all = BTreeMap::new();
    let logs = inner.memory.rows().map(|row| inner.memory.events(row.id));
    for stored in logs.flatten().filter(|stored| ["whiteboard", "council"].contains(&&*stored.kind))
    {
        let event: Value = serde_json::from_str(&stored.payload).unwrap();
        let body = event.get("body").or_else(|| event.get("content")?.get("body"));
        if let Some(body) = body.and_then(Value::as_str) {
            *all.entry(body.to_owned()).or_default() += 1;
        }
    }
    all
}

/// Every step begins once and is settled once, and has done once what it did.
fn steps(
    inner: &Inner,
    id: SessionId,
    posts: &BTreeMap<String, u32>,
    accounts: &Accounts,
    all: &mut Vec<String>,
) {
    use workflow::Event::*;
    let mut counts: BTreeMap<(&str, Place), u32> = BTreeMap::new();
    for stored in inner.memory.events(id) {
        let Event::Workflow(event) = Event::decode(&stored.kind, &stored.payload).unwrap() else {
            continue;
        };
        let counted = match event {
            StepBegan { place, .. } => ("began", place),
            StepDone { place, .. }
            | StepSkipped { place, .. }
            | StepFailed { place, .. }
            | StepCancelled { place, .. } => ("was settled", place),
            _ => continue,
        };
        *counts.entry(counted).or_default() += 1;
    }
    for ((what, place), count) in counts.iter().filter(|(_, count)| **count > 1) {
        all.push(format!("{place} of {id} {what} {count} times"));
    }
    let Some(run) = state(inner, id) else { return };
    for (place, step) in &run.steps {
        let Some(Doing::Act { with, .. }) = step.doing.as_deref() else { continue };
        let Some(body) = with.get("body").and_then(Value::as_str) else { continue };
        let count = posts.get(body).copied().unwrap_or(0);
        let is_done = matches!(step.status, Status::Done(_));
        if count > 1 || count == 0 && is_done && accounts.removed.is_empty() {
            all.push(format!("{place} of {id} posted {count} times: {:?}", step.status));
        }
    }
}

fn state(inner: &Inner, id: SessionId) -> Option<&State> {
    inner.record.now(id)?.workflow()
}

/// A run knows of all that it has opened, and what that took; one that was cancelled leaves
/// nothing behind. What clients have had their hands in says nothing.
fn sessions(inner: &Inner, id: SessionId, accounts: &Accounts, all: &mut Vec<String>) {
    let Some(run) = state(inner, id) else { return };
    let Stage::Ended { ending, .. } = &run.stage else { return };
    let took = absorbed(inner, id);
    let mut keys = BTreeMap::new();
    for (_, key, session) in inner.record.opened.iter().filter(|(by, ..)| *by == id) {
        *keys.entry(key).or_insert(0) += 1;
        if keys[key] > 1 {
            all.push(format!("{key} has opened {} sessions", keys[key]));
        }
        let place = key.split_once('/').map_or("", |(_, place)| place);
        let place = Place(place.split('#').next().unwrap_or_default().into());
        let doing = run.steps.get(&place).and_then(|step| step.doing.as_deref());
        let is_kept = matches!(doing, Some(Doing::Act { with, .. }) if with.contains_key("keep"));
        let (Some(room), false) = (inner.record.now(*session), accounts.is_meddled(*session))
        else {
            continue;
        };
        if ending.status == End::Cancelled && !is_kept && !room.is_over() {
            let kind = room.kind();
            all.push(format!("{kind} {session} is {}, whose run was cancelled", room.status()));
        }
        let is_awaited =
            matches!(&**room, Room::Boardroom(_) | Room::Discussion(_) | Room::Workflow(_));
        let spent = room.ledger().map(|ledger| ledger.total()).unwrap_or_default();
        let told = took.get(&session.to_string()).copied().unwrap_or_default();
        // One that was told to end says what it took by then; the rest is handed in later by
        // whoever drives it, and nobody tells its run.
        let is_stopped = inner.record.is_over(*session);
        let is_wrong = if is_stopped { tokens(told) > tokens(spent) } else { told != spent };
        if is_awaited && !is_kept && is_wrong {
            all.push(format!("{session} took {spent:?}, and {id} says {told:?}"));
        }
    }
}
