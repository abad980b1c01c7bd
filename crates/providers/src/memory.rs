//! How much of this machine a model inside this process may take.

use std::fs;
use std::path::Path;

use plenary_domain::limits;

use crate::gguf::{self, Head};

/// Where a machine does not say how much memory it has.
const USUAL_BYTES: u64 = 8 << 30;
/// The engine rounds a context up to this.
const STEP: u64 = 256;

/// Tokens that a model may remember, of all answers that run and of those that have ended, and
/// of one alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    pub cells: usize,
    pub window: usize,
}

impl Room {
    pub(crate) fn of(path: &Path, head: &Head) -> Room {
        Room::on(machine_bytes(), gguf::size(path), head)
    }

    /// A quarter of the memory, less where the weights leave less. It goes by what the machine
    /// has, not by what is free just now, so that a session and the engine count alike.
    fn on(machine: u64, weights: u64, head: &Head) -> Room {
        let beside = (machine / 4 * 3).saturating_sub(weights);
        let bytes = (machine / 4).min(beside).min(limits::LOCAL_MEMORY_BYTES);
        let bytes = bytes.max(limits::LOCAL_MEMORY_LEAST_BYTES);
        let fit = bytes / head.token_bytes.unwrap_or(limits::LOCAL_TOKEN_BYTES).max(1);
        let most = limits::LOCAL_WINDOW_TOKENS as u64;
        let cells = (fit / STEP * STEP).clamp(limits::LOCAL_LEAST_TOKENS as u64, most);
        let trained = head.trained_tokens.unwrap_or(limits::LOCAL_LEAST_TOKENS as u64);
        Room { cells: cells as usize, window: cells.min(trained) as usize }
    }
}

/// The memory of this machine, or of the container that this process is in.
pub fn machine_bytes() -> u64 {
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    let held = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let held = held.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    let total = total.map(|kilobytes: u64| kilobytes * 1024).unwrap_or(USUAL_BYTES);
    total.min(held.unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_model_remembers_what_the_machine_has_room_for() {
        let head = |token_bytes, trained| Head {
            token_bytes: Some(token_bytes),
            trained_tokens: Some(trained),
            ..Head::default()
        };
        for (machine, weights, head, cells, window) in [
            // A small model takes all that one may have, and its own window of that.
            (24 * GIB, GIB, head(23_040, 8_192), 32_768, 8_192),
            (24 * GIB, GIB, head(12_288, 131_072), 32_768, 32_768),
            // A larger one what a quarter of the memory holds.
            (8 * GIB, 2 * GIB, head(114_688, 40_960), 18_688, 18_688),
            (4 * GIB, 2 * GIB, head(114_688, 40_960), 9_216, 9_216),
            // One that hardly fits still gets enough to answer at all.
            (4 * GIB, 4 * GIB, head(114_688, 40_960), 4_096, 4_096),
            // Nothing is known of it.
            (8 * GIB, GIB, Head::default(), 16_384, 4_096),
        ] {
            assert_eq!(Room::on(machine, weights, &head), Room { cells, window }, "{head:?}");
        }
    }

    #[test]
    fn this_machine_has_memory() {
        assert!(machine_bytes() > 1 << 26);
    }
}
