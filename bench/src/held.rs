//! What came of many discussions or runs at once, and how it is told.

use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::Outcome;
use crate::figures::{Samples, megabytes};
use crate::frames::{self, Frames};
use crate::plenary::{Api, Place};
use crate::process::{Process, machine_cpu, own_cpu, to_the_end};

/// What one process held at once. Children print it as JSON.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    /// Of each that came to the right conclusion.
    pub seconds: Vec<f64>,
    /// When the time was over.
    pub unfinished: usize,
    /// Those that ended in another way.
    pub problems: usize,
    pub first_problem: Option<String>,
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
    pub before_kb: u64,
    pub peak_kb: u64,
}

/// The head of the table that `row` makes lines for.
pub const HEAD: &str = "| at once | held by | concluded | wall, s | each, s: p50 / p95 | added, ms: \
p50 / p95 | ratio | cpu, ms each | memory, MB: before, peak | KB each | others, cores |\n\
|---|---|---|---|---|---|---|---|---|---|---|";

/// Runs a child that prints what it held, and tells all processor time it took.
pub fn printed(command: &mut Command) -> Outcome<(Held, Duration)> {
    let (printed, cpu) = to_the_end(command)?;
    Ok((serde_json::from_str(&printed)?, cpu))
}

/// Begins so many sessions at once in a `plenary serve` of its own, and reads the events of
/// all of them on one connection. `begin` returns the id of one, `ends` are the events by
/// which one comes to rest, and `fault` says what is wrong with how it stands then.
pub async fn serve<B, F>(
    url: &str,
    at_once: usize,
    limit: Duration,
    ends: &[&str],
    begin: impl Fn(Api, usize) -> B,
    fault: impl Fn(Api, String) -> F,
) -> Outcome<Held>
where
    B: Future<Output = Outcome<String>> + Send + 'static,
    F: Future<Output = Outcome<Option<String>>>,
{
    let place = Place::new(url)?;
    let plenary = place.serve()?;
    let api = &plenary.api;
    let mut events = Frames::new(api.client.get(format!("{}/api/events", api.url)).send().await?)?;
    let (before, cpu) = (plenary.process.memory()?, plenary.process.cpu()?);
    let start = Instant::now();

    let begin = |nth: usize| {
        let begun = begin(api.clone(), nth);
        tokio::spawn(async move { (Instant::now(), begun.await) })
    };
    let begun: Vec<_> = (0..at_once).map(begin).collect();
    let mut ended: HashMap<String, Instant> = HashMap::new();
    let all = events.each(|frame| {
        if let Some(id) = ended_session(frame, ends) {
            ended.insert(id, Instant::now());
        }
        ended.len() == at_once
    });
    // What has ended by then is counted either way.
    let _ = timeout(limit, all).await;

    let mut held = Held {
        wall_seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: (plenary.process.cpu()? - cpu).as_secs_f64(),
        before_kb: before.now_kb,
        peak_kb: plenary.process.memory()?.peak_kb,
        ..Held::default()
    };
    for one in begun {
        let (began, id) = one.await?;
        let id = match id {
            Ok(id) => id,
            Err(problem) => {
                held.failed(problem.to_string());
                continue;
            }
        };
        match (ended.get(&id), fault(api.clone(), id.clone()).await?) {
            (Some(end), None) => held.seconds.push((*end - began).as_secs_f64()),
            (Some(_), Some(fault)) => held.failed(fault),
            (None, _) => held.unfinished += 1,
        }
    }
    Ok(held)
}

/// The session that an event brought to rest.
fn ended_session(frame: &str, ends: &[&str]) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Event {
        session_id: String,
    }
    ends.contains(&frames::name(frame)?).then_some(())?;
    let event: Event = serde_json::from_str(frames::data(frame)?).ok()?;
    Some(event.session_id)
}

/// What everything else on the machine takes meanwhile.
pub struct Others {
    start: Instant,
    machine: Duration,
    known: Duration,
}

impl Others {
    pub fn watch(scripted: &Process) -> Outcome<Others> {
        let known = own_cpu()? + scripted.cpu()?;
        Ok(Others { start: Instant::now(), machine: machine_cpu()?, known })
    }

    /// Beside this process, the models and the one that is measured.
    pub fn cores(self, scripted: &Process, measured: Duration) -> Outcome<f64> {
        let known = own_cpu()? + scripted.cpu()? + measured - self.known;
        let others = (machine_cpu()? - self.machine).saturating_sub(known);
        Ok(others.as_secs_f64() / self.start.elapsed().as_secs_f64())
    }
}

impl Held {
    pub fn with_cpu(self) -> (Held, Duration) {
        let cpu = Duration::from_secs_f64(self.cpu_seconds);
        (self, cpu)
    }

    pub fn failed(&mut self, problem: String) {
        self.problems += 1;
        self.first_problem.get_or_insert(problem);
    }

    pub fn row(&self, at_once: usize, name: &str, ideal: f64, others: f64) -> String {
        let each = Samples::new(self.seconds.clone());
        let added = |part: f64| (each.at(part) - ideal) * 1000.0;
        let heard = match each.len() {
            0 => "– | – | –".to_owned(),
            _ => format!(
                "{:.2} / {:.2} | {:.0} / {:.0} | ×{:.3}",
                each.median(),
                each.at(0.95),
                added(0.5),
                added(0.95),
                each.median() / ideal
            ),
        };
        let grown = self.peak_kb.saturating_sub(self.before_kb);
        format!(
            "| {at_once} | {name} | {} | {:.1} | {heard} | {:.1} | {:.0}, {:.0} | {:.0} | {others:.2} |",
            self.ends(),
            self.wall_seconds,
            self.cpu_seconds * 1000.0 / at_once as f64,
            megabytes(self.before_kb),
            megabytes(self.peak_kb),
            grown as f64 / at_once as f64,
        )
    }

    fn ends(&self) -> String {
        let mut told = self.seconds.len().to_string();
        if self.unfinished > 0 {
            told = format!("{told}, {} unfinished", self.unfinished);
        }
        if self.problems > 0 {
            told = format!("{told}, {} failed", self.problems);
        }
        told
    }
}
