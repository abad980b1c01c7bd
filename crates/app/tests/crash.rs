//! The real program, killed again and again: it goes on by itself, loses nothing
//! that it has acknowledged, and no answer comes twice.
//!
//! `PLENARY_CRASH_ROUNDS` sets how often it is killed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use plenary_scripted::{Reply, Script, Scripted};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::accounts::Acknowledged;
use support::kills::{Dice, answer, die_some_day, until_all_rest};
use support::{Home, SAFETY};

const ROUNDS: u64 = 6;
/// Boards that are convened in each round.
const BOARDS: u64 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_goes_on_and_loses_nothing() {
    plenary_providers::install_tls();
    let rounds = std::env::var("PLENARY_CRASH_ROUNDS");
    let rounds: u64 = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let script = Script::new(Reply::canned().tokens_per_second(1_500));
    let scripted = Scripted::start(script.models(&["a", "b", "c"])).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut known = Acknowledged::default();
    let mut dice = Dice::new();
    for round in 0..rounds {
        let serving = home.serve().await;
        let keys: Vec<String> = (0..=round)
            .flat_map(|round| (0..BOARDS).map(move |nth| format!("board-{round}-{nth}")))
            .filter(|key| !known.sessions.contains_key(key))
            .collect();
        let convening = futures::future::join_all(keys.iter().map(|key| {
            let answer = convene(&http, &serving.url, key);
            async move { (key, answer.await) }
        }));
        // A board of an earlier round is asked for more, if it has come to its end,
        // and another one is stopped, if it has not.
        let older = |nth| known.sessions.values().nth(nth).cloned();
        let again = command(&http, &serving.url, older(dice.roll(20)), "resynthesize");
        let stop = command(&http, &serving.url, older(dice.roll(20)), "stop");
        let seen = scripted.requests().len();
        let dying = die_some_day(&serving, &http, &scripted, seen, &mut dice);
        let (convened, again, stopped, ()) = tokio::join!(convening, again, stop, dying);
        // By now it is dead, or about to be, in the middle of what the dice chose.
        serving.kill().await;
        for (key, board) in &convened {
            if let Some(board) = board {
                known.note(Some(key), board);
            }
        }
        again.iter().chain(&stopped).for_each(|board| known.note(None, board));
    }

    let serving = home.serve().await;
    for key in (0..rounds).flat_map(|r| (0..BOARDS).map(move |nth| format!("board-{r}-{nth}"))) {
        let board = convene(&http, &serving.url, &key).await.expect("a server that lives answers");
        known.note(Some(&key), &board);
    }
    until_all_rest(&http, &serving.url).await;
    resume_the_stopped(&http, &serving.url).await;
    serving.kill().await;
    let log = home.log().await;
    known.examine(&*log.store(), &scripted, 0).await;
    log.close().await.unwrap();
    assert_eq!(known.sessions.len() as u64, rounds * BOARDS);
}

/// The board as it was answered; `None` when the server died before.
async fn convene(http: &reqwest::Client, url: &str, key: &str) -> Option<Value> {
    let body = json!({ "prompt": format!("Shall we, {key}?") });
    let request = http.post(format!("{url}/api/boardrooms"));
    let request = request.header("idempotency-key", key).json(&body);
    answer(request).await
}

async fn command(
    http: &reqwest::Client,
    url: &str,
    id: Option<String>,
    command: &str,
) -> Option<Value> {
    let id = id?;
    let path = format!("{url}/api/boardrooms/{id}/{command}");
    answer(http.post(path).json(&json!({}))).await
}

/// Goes on with the boards that a client had stopped, until there is none.
async fn resume_the_stopped(http: &reqwest::Client, url: &str) {
    loop {
        let page = http.get(format!("{url}/api/sessions?status=stopped"));
        let page: Value = page.send().await.unwrap().json().await.unwrap();
        let stopped = page["data"].as_array().unwrap();
        if stopped.is_empty() {
            return;
        }
        for session in stopped {
            let id = session["id"].as_str().map(str::to_owned);
            command(http, url, id, "resume").await.expect("a stopped board can be resumed");
        }
        until_all_rest(http, url).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_told_to_end_says_so_and_still_answers() {
    plenary_providers::install_tls();
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::on_any_store(&scripted.url());
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_SERVE__DRAIN_SECONDS", "3600");
    let mut serving = home.serving(command).await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let get = async |path: &str| http.get(format!("{}{path}", serving.url)).send().await.unwrap();
    assert_eq!(get("/readyz").await.status(), 200);
    let pid = Pid::from_raw(i32::try_from(serving.pid()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let drains = async {
        loop {
            let ready = get("/readyz").await;
            if ready.status() != 200 {
                return (ready.status(), ready.json::<Value>().await.unwrap());
            }
        }
    };
    let (status, body) = tokio::time::timeout(SAFETY, drains).await.unwrap();
    assert_eq!((status.as_u16(), &body["error"]["code"]), (503, &json!("draining")));
    assert_eq!(get("/healthz").await.status(), 200);
    assert!(convene(&http, &serving.url, "late").await.is_some(), "it is answered all the same");
    let nodes: Value = get("/api/nodes").await.json().await.unwrap();
    assert_eq!(nodes["data"][0]["state"], "draining", "{nodes}");
    // A second signal does not wait.
    kill_process(pid, Signal::TERM).unwrap();
    let ended = tokio::time::timeout(SAFETY, serving.child.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_is_told_who_has_the_folder() {
    let scripted = Scripted::start(Script::new(Reply::canned())).await.unwrap();
    let home = Home::new(&scripted.url());
    let serving = home.serve().await;
    let pid = serving.pid().to_string();
    let port = serving.url.rsplit(':').next().unwrap();
    for listen in ["127.0.0.1:0".to_owned(), format!("127.0.0.1:{port}")] {
        let second = home.run(&["serve", "--listen", &listen]).await;
        assert_eq!(second.code, Some(1), "{}", second.err);
        assert!(second.err.contains(&format!("process {pid} (plenary serve)")), "{}", second.err);
        assert!(second.err.contains(&serving.url), "{}", second.err);
    }
    let through = format!("(through the server at {}, process {pid})", serving.url);
    let asked = home.run(&["ask", "Through the server?"]).await;
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    assert!(asked.err.contains(&through), "{}", asked.err);
    assert!(asked.out.contains("## Recommendation"), "{}", asked.out);
    let listed = home.run(&["sessions", "list"]).await;
    assert!(listed.err.contains(&through), "{}", listed.err);
    assert!(listed.out.contains("done          Through the server?"), "{}", listed.out);
    serving.kill().await;

    // A folder whose holder was killed is free again, and nothing is lost.
    let listed = home.run(&["sessions", "list"]).await;
    assert_eq!((listed.code, listed.err.as_str()), (Some(0), ""));
    assert!(listed.out.contains("Through the server?"), "{}", listed.out);
}
