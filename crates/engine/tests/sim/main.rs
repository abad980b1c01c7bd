//! Engines on one store, on a scheduler that a seed tells: nodes are killed and paused
//! beyond their lease, the store fails before and after its deed, models break and
//! panic. Whatever happens, what engine.rs promises holds at the end.
//!
//! A failure prints its seed; `SEED=7` runs that one alone, `SEEDS=20000` so many of each.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod outside;
mod run;
mod world;

use run::Run;

fn all(nodes: usize, seeds: u64) {
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
    let mut failed = vec![];
    let mut first = None;
    for seed in &seeds {
        if let Err(problem) = Run::of(*seed, nodes, 400) {
            failed.push(*seed);
            first.get_or_insert(problem);
        }
    }
    if let Some(first) = first {
        panic!("{first}\n\n{} of {} seeds: {failed:?}", failed.len(), seeds.len());
    }
}

#[test]
fn one_node() {
    all(1, 1_000);
}

#[test]
fn two_nodes() {
    all(2, 1_000);
}

#[test]
fn three_nodes() {
    all(3, 700);
}
