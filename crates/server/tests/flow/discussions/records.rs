//! What is left of a discussion: exports, lists, search; and removing it.

use plenary_scripted::{Gate, Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, Talk, agreeable, ann_and_bob, seat, with};
use crate::mcp::Client;
use crate::support::{TestApp, pick};

#[tokio::test(flavor = "multi_thread")]
async fn it_is_exported_whole() {
    let app = TestApp::start(agreeable()).await;
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "maxRounds": 1 }))).await;
    let view = talk.until_status("concluded").await;
    let export: Value = serde_json::from_str(&talk.export("json").await).unwrap();
    assert_eq!(
        (&export["format"], &export["formatVersion"]),
        (&json!("plenary.discussion"), &json!(1))
    );
    assert_eq!(
        (&export["discussion"], &export["transcript"]),
        (&view, &json!(talk.entries().await))
    );
    let events = export["events"].as_array().unwrap();
    let names: Vec<&str> =
        events.iter().map(|one| one["event"]["type"].as_str().unwrap()).collect();
    assert_eq!(names, talk.names().await);
    let markdown = talk.export("markdown").await;
    for part in ["Tea or coffee?", "So be it.", "Lead", "Ann", "Tea."] {
        assert!(markdown.contains(part), "{part}: {markdown}");
    }
    let place = format!("{}{}", app.url, talk.at("export?format=markdown"));
    let response = app.http.get(place).send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(header("content-disposition"), "attachment; filename=\"tea-or-coffee.md\"");
    let (_, session) = app.get(&format!("/api/sessions/{}?detail=full", talk.id)).await;
    assert_eq!(session["data"]["result"], json!(markdown));
    assert_eq!(app.get(&talk.at("export?format=pdf")).await.0, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_listed_found_waited_for_and_stopped_like_any_session() {
    let gate = Gate::new();
    let script = Script::new(Reply::canned())
        .when(When::says(CONCLUDES), Reply::text("So be it, with marmalade."))
        .when(When::model("bob"), Reply::text("Nothing.").gate(0, &gate));
    let app = TestApp::start(script).await;
    let ann = json!([seat("Ann")]);
    let tea = json!({ "project": "tea", "maxRounds": 1, "participants": ann });
    let over = Talk::create(&app, with(ann_and_bob(), tea)).await;
    let wait = format!("/api/sessions/{}/wait?seconds=600", over.id);
    let (_, told) = app.get(&wait).await;
    // It may be over only after some steps; each of them ends a wait that has seen less.
    let told = match told["data"]["over"] == true {
        true => told,
        false => {
            over.until_status("concluded").await;
            app.get(&wait).await.1
        }
    };
    let session = &told["data"];
    assert_eq!(
        (&session["kind"], &session["status"], &session["over"], &session["result"]),
        (
            &json!("discussion"),
            &json!("concluded"),
            &json!(true),
            &json!("> So be it, with marmalade.")
        )
    );
    assert_eq!(
        session["progress"],
        json!({ "done": 2, "total": 2, "message": "Concluded after 1 round." })
    );
    let bob = json!([seat("Bob")]);
    let held = Talk::create(&app, with(ann_and_bob(), json!({ "participants": bob }))).await;
    gate.reached(1).await;
    for (query, expected) in [
        ("", vec![&held.id, &over.id]),
        ("?q=marmalade", vec![&over.id]),
        ("?q=coffee", vec![&held.id, &over.id]),
        ("?project=tea", vec![&over.id]),
        ("?status=active", vec![&held.id]),
        ("?active=true", vec![&held.id]),
        ("?status=concluded", vec![&over.id]),
        ("?q=cocoa", vec![]),
    ] {
        for path in ["/api/discussions", "/api/sessions"] {
            let (status, told) = app.get(&format!("{path}{query}")).await;
            assert_eq!(
                (status, pick(&told["data"], "id")),
                (200, expected.iter().map(|id| json!(id)).collect()),
                "{path}{query}"
            );
        }
    }
    let stop = format!("/api/sessions/{}/stop", held.id);
    let (status, told) = app.post(&stop, &json!({})).await;
    assert_eq!((status, &told["data"]["status"]), (200, &json!("stopped")), "{told}");
    assert_eq!(held.view().await["status"], "stopped");
    assert_eq!(app.post(&stop, &json!({})).await.0, 409);
    // A session of another form is no discussion, and the other way round.
    let board = app.triad("Well?").await;
    for rest in ["", "/estimate", "/transcript", "/export", "/events"] {
        let path = format!("/api/discussions/{}{rest}", board.id);
        // Its body is not read: that of a stream never ends.
        let response = app.http.get(format!("{}{path}", app.url)).send().await.unwrap();
        assert_eq!(response.status(), 404, "{path}");
    }
    for command in ["start", "pause", "resume", "stop", "conclude"] {
        let path = format!("/api/discussions/{}/{command}", board.id);
        assert_eq!(app.post(&path, &json!({})).await.0, 404, "{path}");
    }
    assert_eq!(app.get(&format!("/api/boardrooms/{}", over.id)).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_one_that_runs_ends_it() {
    let gate = Gate::new();
    let script =
        Script::new(Reply::canned()).when(When::model("ann"), Reply::text("Tea.").gate(0, &gate));
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    gate.reached(1).await;
    let mut events = talk.events().await;
    let (status, told) = talk.delete().await;
    assert_eq!(status, 200, "{told}");
    events.until("removed").await;
    assert!(events.next().await.is_none());
    let gone = app.scripted.wait_until(|all| all.iter().any(|request| request.dropped)).await;
    assert!(gone.iter().all(|request| request.dropped == (request.model == "ann")));
    for path in [talk.path(), talk.at("transcript"), talk.at("events"), talk.at("export")] {
        assert_eq!(app.get(&path).await.0, 404, "{path}");
    }
    assert_eq!(talk.delete().await.0, 404);
    assert_eq!(app.get("/api/sessions").await.1["meta"]["total"], 0);
    gate.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_starts_one_and_the_others_follow_it() {
    let gate = Gate::new();
    let script = agreeable().when(When::model("zoe"), Reply::text("Hm.").gate(0, &gate));
    let script = script.models(&["lead", "ann", "bob", "zoe"]);
    let app = TestApp::start(script).await;
    let (client, _) = Client::start(&app, None).await;
    let agents = client.good("agents_list", json!({})).await;
    let agent = agents["agents"][0]["id"].clone();
    let given = json!({ "topic": "Tea or coffee?", "max_rounds": 1, "facilitator": seat("Lead"),
        "participants": [seat("Ann"), { "agent_id": agent, "role": "devil_advocate" }] });
    let started = client.good("discussion_start", given).await;
    let fields: Vec<&String> = started.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "max_rounds", "name", "next", "status"]);
    assert_eq!(
        (&started["status"], &started["name"]),
        (&json!("active"), &json!("Tea or coffee?"))
    );
    let id = started["id"].clone();
    // It tells of each turn, and of the end.
    let mut over = client.good("session_wait", json!({ "id": id })).await;
    while over["over"] != true {
        over = client.good("session_wait", json!({ "id": id, "seen": over["seen"] })).await;
    }
    assert_eq!(
        (&over["over"], &over["status"], &over["kind"]),
        (&json!(true), &json!("concluded"), &json!("discussion")),
        "{over}"
    );
    assert!(over["result"].as_str().unwrap().ends_with("So be it."), "{over}");
    assert_eq!(client.good("session_get", json!({ "id": id })).await, over);
    let full = client.good("session_get", json!({ "id": id, "detail": "full" })).await;
    assert!(full["result"].as_str().unwrap().contains("Tea."), "{full}");
    let error = client.bad("session_stop", json!({ "id": id })).await;
    assert_eq!((&error["code"], &error["state"]), (&json!("not-now"), &json!("concluded")));
    // One that is held is stopped.
    let given =
        json!({ "topic": "Held?", "facilitator": seat("Lead"), "participants": [seat("Zoe")] });
    let held = client.good("discussion_start", given).await["id"].clone();
    gate.reached(1).await;
    let stopped = client.good("session_stop", json!({ "id": held })).await;
    assert_eq!((&stopped["over"], &stopped["status"]), (&json!(true), &json!("stopped")));
    // It starts at once, whatever is said.
    for (given, wrong) in [
        (json!({ "topic": "?", "start": false }), "start"),
        (json!({}), "topic"),
        (json!({ "topic": "?", "max_rounds": 99 }), "max_rounds"),
        (json!({ "topic": "?", "participants": [{ "agentid": "x" }] }), "participants[0].agentid"),
        (
            json!({ "topic": "?", "participants": [{ "agent_id": "nobody" }] }),
            "participants[0].agent_id",
        ),
    ] {
        let error = client.bad("discussion_start", given).await;
        assert_eq!(error["fields"][0]["field"], wrong, "{error}");
    }
    let uri = format!("plenary://discussion/{}", id.as_str().unwrap());
    let told = client.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(told["result"]["contents"][0]["text"], full["result"], "{told}");
}
