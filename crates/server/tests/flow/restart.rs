//! A second driver on the same store, as after a restart.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::room::Command;
use plenary_domain::{SessionId, council};
use plenary_engine::ports::{Append, Appended, AttemptState};
use plenary_engine::{By, Engine, SystemClock};
use plenary_providers::Providers;
use plenary_scripted::{Gate, Reply, When};
use serde_json::json;

use crate::support::{SAFETY, TestApp, canned, providers, states, unreadable};

/// A session whose record this program cannot read.
async fn write_unreadable(app: &TestApp, id: SessionId) {
    let append = Append { title: "From a later version".into(), ..unreadable(id) };
    assert!(matches!(app.store.append(append).await.unwrap(), Appended::Written { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_driver_goes_on_and_the_first_adds_nothing() {
    let gate = Gate::new();
    let waits = Reply::canned().gate(1, &gate);
    let app = TestApp::start(canned().when(When::says("Who drives"), waits)).await;
    write_unreadable(&app, "01890000-0000-7000-8000-000000000000".parse().unwrap()).await;
    let board = app.triad("Who drives?").await;
    gate.reached(3).await;

    let models = Arc::new(Providers::new(providers(&app.scripted.url())));
    let second = Engine::new(app.store.clone(), models, Arc::new(SystemClock::default()));
    let mut events = Box::pin(second.watch(board.session(), 0).await.unwrap());
    // The first one was not heard of for too long.
    app.store.renew(&app.node, None, Duration::ZERO).await.unwrap();
    assert_eq!(second.resume_all().await.unwrap(), 2, "the unreadable one stops nobody");
    gate.reached(6).await;
    gate.release();
    let closes = async {
        use futures::StreamExt as _;
        use plenary_engine::Frame;
        while let Some(frame) = events.next().await {
            if matches!(&frame, Frame::Event(event) if event.name == "synthesized") {
                return;
            }
        }
        panic!("the events ended");
    };
    tokio::time::timeout(SAFETY, closes).await.unwrap();
    // What the first driver still had to say reaches the store after this at the latest.
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    let names = app.names(&board).await;
    let shown = app.get(&board.path()).await.1;
    assert_eq!(names.iter().filter(|name| *name == "advisorAnswered").count(), 3, "{shown}");
    assert_eq!(names.len(), 6, "{names:?}");
    let attempts = app.attempts(&board).await;
    // Those of the first driver were cut off; nothing is known of their end.
    use AttemptState::{Begun, Done};
    assert_eq!(states(&attempts), [Begun, Done, Begun, Done, Begun, Done, Done]);
    app.assert_attempts_match_requests(&board).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_is_told_also_what_another_process_wrote() {
    let app = TestApp::start(canned()).await;
    let body = json!({ "name": "talk", "charter": "Talk.", "members": [{ "name": "ann" }] });
    let (status, told) = app.post("/api/councils", &body).await;
    assert_eq!(status, 201, "{told}");
    let id: SessionId = told["data"]["sessionId"].as_str().unwrap().parse().unwrap();
    let mut events = app.events("/api/councils/talk/events", None).await;
    assert_eq!(events.next().await.unwrap().id, Some(1));

    let models = Arc::new(Providers::new(providers(&app.scripted.url())));
    let second = Engine::new(app.store.clone(), models, Arc::new(SystemClock::default()));
    let (sender, body) = ("bob".to_owned(), "From elsewhere.".to_owned());
    let post = council::Command::Post { sender, proved: false, body, reply_to: None };
    second.submit(id, By::actor("bob"), Command::Council(post)).await.unwrap();
    let body = json!({ "sender": "ann", "body": "From here." });
    assert_eq!(app.post("/api/councils/talk/posts", &body).await.0, 200);
    for (version, body) in [(2, "From elsewhere."), (3, "From here.")] {
        let frame = events.next().await.unwrap();
        assert_eq!((frame.id, &frame.data["event"]["body"]), (Some(version), &json!(body)));
    }
}
