//! What a viewer's stream of a board tells, and how it counts.

use serde_json::{Value, json};

use super::{Whiteboard, annotation, vote};
use crate::support::{Events, TestApp, canned, resident_kb};

/// The number, name and one telling field of each frame.
async fn next(events: &mut Events, count: usize) -> Vec<(u64, String)> {
    let mut told = vec![];
    for _ in 0..count {
        let frame = events.next().await.unwrap();
        let event = &frame.data["event"];
        let what = ["id", "agent", "to", "post", "name"].map(|key| event[key].as_str());
        let what = what.into_iter().flatten().next().unwrap();
        told.push((frame.id.unwrap(), format!("{} {what}", frame.name)));
    }
    told
}

fn expected(first: u64, told: &[&str]) -> Vec<(u64, String)> {
    (first..).zip(told.iter().map(|told| (*told).to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_counts_what_its_viewer_sees_and_brings_the_rest_when_it_may() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "live", &["ann", "bob"], json!({})).await;
    let path = board.at("/events");
    let open = async |agent: &str, after| {
        let token = if agent.is_empty() { "" } else { board.token(agent) };
        app.events_as(token, &path, after).await
    };
    let mut anns = open("ann", None).await;
    let mut anybodys = open("", None).await;
    let mut fays = open("fay", None).await;
    for title in ["one", "two"] {
        board.posts("bob", title).await;
        board.posts("ann", title).await;
    }
    board.moves_to("read").await;
    let blind =
        ["opened live", "registered ann", "posted ann/1", "posted ann/2", "transitioned read"];
    assert_eq!(next(&mut anns, 5).await, expected(1, &blind));
    let held = ["registered bob", "posted bob/1", "posted bob/2"];
    assert_eq!(next(&mut anns, 3).await, expected(6, &held));
    assert_eq!(next(&mut anybodys, 2).await, expected(1, &["opened live", "transitioned read"]));
    let rest = [
        "registered ann",
        "registered bob",
        "posted bob/1",
        "posted ann/1",
        "posted bob/2",
        "posted ann/2",
    ];
    assert_eq!(next(&mut anybodys, 6).await, expected(3, &rest));
    let lead = ["opened live", "registered ann", "registered bob", "transitioned read"];
    assert_eq!(next(&mut fays, 4).await, expected(1, &lead));
    // Whoever comes back goes on where they were, by their own count.
    for after in [0, 1, 4, 5, 7] {
        let mut again = open("ann", Some(after)).await;
        let all: Vec<&str> = blind.iter().chain(&held).copied().collect();
        let left = &all[after as usize..];
        assert_eq!(next(&mut again, left.len()).await, expected(after + 1, left));
    }
    let mut anns = open("ann", Some(8)).await;
    board.moves_to("validate").await;
    assert_eq!(next(&mut anns, 1).await, expected(9, &["transitioned validate"]));
    // A count from the future is answered with nothing until it comes true.
    let mut ahead = open("ann", Some(10)).await;
    for phase in ["debate", "resolve"] {
        board.moves_to(phase).await;
    }
    assert_eq!(next(&mut ahead, 1).await, expected(11, &["transitioned resolve"]));
    // All sessions: what was posted blindly is not among their events.
    let mut all = app.events("/api/events", Some(0)).await;
    let names = next(&mut all, 5).await;
    let listed = ["opened live", "transitioned read", "transitioned validate"];
    assert_eq!(names[..3], expected(1, &listed));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_own_and_related_debate_is_seen_by_those_it_concerns() {
    let app = TestApp::start(canned()).await;
    let visibility = json!({ "debateVisibility": "own-and-related" });
    let board = Whiteboard::with(&app, "close", &["ann", "bob", "cyd"], visibility).await;
    board.posts("ann", "Mine").await;
    board.posts("bob", "Other").await;
    for phase in ["read", "debate"] {
        board.moves_to(phase).await;
    }
    let path = board.at("/events");
    let last = async |agent: &str| board.seen(agent, "").await["posts"][0].clone();
    let mut cyds = app.events_as(board.token("cyd"), &path, None).await;
    let mut anns = app.events_as(board.token("ann"), &path, None).await;
    let before = board.seen("cyd", "/summary").await;
    let search = async || app.get("/api/whiteboards?q=xylophone").await.1["meta"]["total"].clone();
    board.does("bob", "annotations", annotation("ann/1", "challenge", "A xylophone.")).await;
    board.does("bob", "votes", vote("ann/1", "reject", "No.")).await;
    // To Cyd nothing has happened, whatever is asked.
    assert_eq!(board.seen("cyd", "/summary").await, before);
    let post = last("cyd").await;
    assert_eq!((&post["annotations"], &post["votes"]), (&json!([]), &json!([])));
    assert_eq!((&post["partlyHidden"], &post["tally"]["reject"]), (&json!(true), &json!(0)));
    assert_eq!(search().await, 0);
    for agent in ["ann", "bob", "fay"] {
        let post = last(agent).await;
        assert_eq!((&post["tally"]["reject"], &post["partlyHidden"]), (&json!(1), &Value::Null));
    }
    let mut seen = vec![];
    while seen.last() != Some(&"voted".to_owned()) {
        seen.push(anns.next().await.unwrap().name);
    }
    assert_eq!(seen[seen.len() - 2..], ["annotated", "voted"]);
    // What Cyd does to the post relates Cyd to it, and the rest comes.
    board.does("cyd", "votes", vote("ann/1", "accept", "Yes.")).await;
    let mut seen = vec![];
    while seen.iter().filter(|name| *name == "voted").count() < 2 {
        let frame = cyds.next().await.unwrap();
        assert_eq!(frame.id, Some(seen.len() as u64 + 1));
        seen.push(frame.name);
    }
    assert_eq!(seen[seen.len() - 3..], ["voted", "annotated", "voted"]);
    board.moves_to("resolve").await;
    assert_eq!(last("").await["tally"]["reject"], 1);
    assert_eq!(search().await, 1);
}

/// 40 readers of a board of 13 MB who stop reading: while it is blind, when it is
/// opened to all, and who come afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn readers_who_do_not_read_hold_no_copy_of_the_board() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "large", &["ann"], json!({})).await;
    let body = "x".repeat(60 * 1024);
    for number in 0..220 {
        let post = json!({ "type": "claim", "title": format!("{number}"), "body": body });
        board.does("ann", "posts", post).await;
    }
    let before = resident_kb();
    let mut readers = vec![];
    for _ in 0..40 {
        let mut events = app.events(&board.at("/events"), None).await;
        events.until("opened").await;
        readers.push(events);
    }
    board.moves_to("read").await;
    for events in &mut readers {
        // What was held back follows it.
        events.until("transitioned").await;
    }
    for _ in 0..40 {
        let mut events = app.events_as(board.token("ann"), &board.at("/events"), None).await;
        events.until("posted").await;
        readers.push(events);
    }
    // A copy for each would be 1 GB.
    if let (Some(before), Some(after)) = (before, resident_kb()) {
        assert!(after < before + 250_000, "{before} kB before, {after} kB after");
    }
    // They miss nothing, however late they read.
    let mut late = readers.swap_remove(0);
    for number in 0..220 {
        let frame = late.until("posted").await;
        assert_eq!(frame.data["event"]["content"]["title"], number.to_string());
    }
}
