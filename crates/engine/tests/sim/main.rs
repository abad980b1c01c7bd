//! Engines on one store, on a scheduler that a seed tells: nodes are killed and paused
//! beyond their lease, the store fails before and after its deed, models break and
//! panic, errands are lost. Whatever happens, what clients are told is what the log had
//! while they asked (`clients.rs`, `record.rs`), no node pays for what is not its own
//! (`conduct.rs`), and at the end everything has come to rest (`laws.rs`).
//!
//! A failure prints its seed; `SEED=7` runs that one alone, `SEEDS=20000` so many of each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod clients;
mod conduct;
mod errands;
mod laws;
mod outside;
mod record;
mod rooms;
mod run;
mod workflows;
mod world;

use run::{Run, Theme};

fn all(nodes: usize, theme: Theme, seeds: u64) {
    // Panics of models are part of it.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str().is_none_or(|what| what != "planned") {
            told(panic);
        }
    }));
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds: Vec<u64> = match number("SEED") {
        Some(seed) => vec![seed],
        None => (0..number("SEEDS").unwrap_or(seeds)).collect(),
    };
    let (mut problems, mut heard) = (vec![], 0);
    for seed in &seeds {
        match Run::of(*seed, nodes, theme) {
            Ok(words) => heard += words,
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(first) = problems.first() {
        let heads = problems.iter().map(|one| one.lines().take(2).collect::<Vec<_>>().join(" "));
        let heads: Vec<String> = heads.collect();
        panic!("{first}\n\n{} of {} seeds:\n{}", heads.len(), seeds.len(), heads.join("\n"));
    }
    let many = seeds.len() > 100 && nodes > 1;
    assert!(heard > 0 || !many, "no reader has heard what was said at another node");
}

#[test]
fn one_node() {
    all(1, Theme::Rooms, 800);
}

#[test]
fn two_nodes() {
    all(2, Theme::Rooms, 600);
}

#[test]
fn three_nodes() {
    all(3, Theme::Rooms, 500);
}

#[test]
fn runs_on_one_node() {
    all(1, Theme::Runs, 300);
}

#[test]
fn runs_on_two_nodes() {
    all(2, Theme::Runs, 250);
}

#[test]
fn runs_on_three_nodes() {
    all(3, Theme::Runs, 250);
}
