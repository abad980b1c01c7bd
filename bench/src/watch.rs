//! What a stretch of time cost: on the clock, and in processor time.

use std::time::{Duration, Instant};

use crate::Outcome;
use crate::process::{Process, machine_cpu, own_cpu};

/// Wall and processor time since a moment: of this process, then of those given.
pub struct Watch {
    start: Instant,
    cpu: Vec<Duration>,
    machine: Duration,
}

pub struct Spent {
    pub wall: Duration,
    pub cpu: Vec<Duration>,
    machine: Duration,
}

impl Watch {
    pub fn start(processes: &[&Process]) -> Outcome<Watch> {
        Ok(Watch { start: Instant::now(), cpu: cpu(processes)?, machine: machine_cpu()? })
    }

    pub fn read(&self, processes: &[&Process]) -> Outcome<Spent> {
        let now = cpu(processes)?;
        let cpu = now.iter().zip(&self.cpu).map(|(now, then)| now.saturating_sub(*then)).collect();
        let machine = machine_cpu()?.saturating_sub(self.machine);
        Ok(Spent { wall: self.start.elapsed(), cpu, machine })
    }
}

impl Spent {
    pub fn cores(&self, process: usize) -> f64 {
        self.cpu[process].as_secs_f64() / self.wall.as_secs_f64()
    }

    /// What everything else on the machine took.
    pub fn others(&self) -> f64 {
        let ours: Duration = self.cpu.iter().sum();
        self.machine.saturating_sub(ours).as_secs_f64() / self.wall.as_secs_f64()
    }
}

fn cpu(processes: &[&Process]) -> Outcome<Vec<Duration>> {
    let others = processes.iter().map(|process| process.cpu());
    std::iter::once(own_cpu()).chain(others).collect()
}
