//! Runs of a workflow, and a server that is killed again and again: each goes on by itself
//! to its end, and whatever it does to others it does once.
//!
//! `PLENARY_CRASH_RUNS` and `PLENARY_CRASH_ROUNDS` set how many and how often;
//! `PLENARY_CRASH_ACCOUNTS` names a file for what there was.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use plenary_domain::Timestamp;
use plenary_scripted::{Reply, Script, Scripted};
use plenary_store::{Holder, SqliteStore};
use serde_json::json;
use support::deliveries::Deliveries;
use support::kills::{Dice, answer, die_some_day, kill, until_all_rest};
use support::runs::{
    Accounts, answers, begin, examine_deliveries, examine_requests, examine_rooms, guild, look,
};
use support::{Home, SAFETY, Serving};

const RUNS: u64 = 32;
const KILLS: u64 = 16;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_effect_of_a_run_happens_once() {
    plenary_providers::install_tls();
    let count = setting("PLENARY_CRASH_RUNS", RUNS);
    let kills = setting("PLENARY_CRASH_ROUNDS", KILLS);
    let script = Script::new(Reply::text("So it is.").tokens_per_second(2_000).usage(9, 3));
    let scripted = Scripted::start(answers(script)).await.unwrap();
    let deliveries = Deliveries::start().await;
    let home = Home::new(&scripted.url());
    home.configure(&format!("[workflows]\nprivate_hosts = [\"{}\"]\n", deliveries.address));
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let hook = deliveries.url();
    let mut ids: BTreeMap<u64, String> = BTreeMap::new();
    for round in 0..kills {
        let serving = home.serve().await;
        let upto = count * (round + 1) / kills;
        let missing: Vec<u64> = (0..upto).filter(|nth| !ids.contains_key(nth)).collect();
        let creating = async {
            answer(guild(&http, &serving.url)).await;
            let begun = missing.into_iter().map(|nth| {
                let begun = answer(begin(&http, &serving.url, &hook, nth));
                async move { (nth, begun.await) }
            });
            futures::future::join_all(begun).await
        };
        let dying = die(&serving, &http, &scripted, &deliveries);
        let (begun, ()) = tokio::join!(creating, dying);
        serving.kill().await;
        for (nth, begun) in begun {
            if let Some(id) = begun.and_then(|view| view["id"].as_str().map(str::to_owned)) {
                ids.insert(nth, id);
            }
        }
    }

    let serving = home.serve().await;
    answer(guild(&http, &serving.url)).await.expect("a server that lives answers");
    for nth in 0..count {
        let view = answer(begin(&http, &serving.url, &hook, nth)).await.expect("it lives");
        let id = view["id"].as_str().unwrap().to_owned();
        assert_eq!(*ids.entry(nth).or_insert_with(|| id.clone()), id, "one key, one run");
    }
    until_all_rest(&http, &serving.url).await;
    let mut shown = BTreeMap::new();
    for (nth, id) in &ids {
        let run = look(&http, &serving.url, id).await;
        assert_eq!(run["status"], "done", "{nth}: {run:#}");
        assert_eq!(run["outputs"], json!({ "outcome": "accepted" }), "{nth}: {run:#}");
        shown.insert(id.clone(), run);
    }
    serving.kill().await;

    let again = home.serve().await;
    for (id, before) in &shown {
        assert_eq!(look(&http, &again.url, id).await, *before, "{id} after a restart");
    }
    again.kill().await;
    let store = open(&home).await;
    let mut accounts = Accounts { runs: count, kills, ..Accounts::default() };
    examine_rooms(&store, count, &shown, &BTreeSet::new(), &mut accounts).await;
    examine_requests(&store, &scripted.requests(), &mut accounts).await;
    examine_deliveries(count, &deliveries.all(), &mut accounts);
    store.close().await.unwrap();
    if let Ok(path) = std::env::var("PLENARY_CRASH_ACCOUNTS") {
        std::fs::write(path, format!("{accounts:#?}\n")).unwrap();
    }
}

/// At a moment that the dice choose: when something was delivered, or as others die.
async fn die(
    serving: &Serving,
    http: &reqwest::Client,
    scripted: &Scripted,
    deliveries: &Deliveries,
) {
    let mut dice = Dice::new();
    if dice.roll(3) > 0 {
        let seen = scripted.requests().len();
        return die_some_day(serving, http, scripted, seen, &mut dice).await;
    }
    let wanted = deliveries.all().len() + 1 + dice.roll(5);
    tokio::time::timeout(SAFETY, deliveries.wait_for(wanted)).await.expect("runs go on");
    kill(serving, &mut dice).await;
}

async fn open(home: &Home) -> SqliteStore {
    let holder = Holder { command: "test".into(), since: Timestamp::UNIX_EPOCH };
    plenary_store::open(&home.path().join("data"), holder).await.unwrap()
}
