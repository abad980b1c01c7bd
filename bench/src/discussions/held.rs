//! What came of many discussions, and how it is told.

use serde::{Deserialize, Serialize};

use crate::figures::{Samples, megabytes};

/// Discussions that were held at once by one process. Children print it as JSON.
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

impl Held {
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
