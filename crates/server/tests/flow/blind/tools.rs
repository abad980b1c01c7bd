//! How every MCP tool is called by whoever observes, and what else MCP offers.

use serde_json::{Value, json};

use super::observe::{Record, whole};
use super::routes::{challenge, proposal};
use super::{BOARD, Observer, WORD, World};
use crate::mcp::{Client, check_words};

/// Every tool. One that is new has to be added here, with calls by which one could
/// learn of another's posts if it told of them.
fn table(world: &World, observer: &Observer<'_>) -> Vec<(&'static str, Vec<Value>)> {
    let Observer { who, .. } = observer;
    let on_board = |given: Value| {
        let mut given = given;
        given["board_id"] = json!(BOARD);
        given
    };
    // As oneself, as Bob, and as nobody.
    let as_each = |given: Value| {
        let given = on_board(given);
        let named = [who.agent(), Some("bob")].into_iter().flatten().map(|agent| {
            let mut given = given.clone();
            given["agent_name"] = json!(agent);
            given
        });
        let named: Vec<Value> = named.collect();
        named.into_iter().chain([given]).collect::<Vec<Value>>()
    };
    let all = |given: Vec<Value>| given.into_iter().flat_map(as_each).collect::<Vec<Value>>();
    let mine = format!("tool-{who:?}").to_lowercase();
    let phase = if who.leads() { "validate" } else { "read" };
    let lists = || {
        let words = [json!({}), json!({ "q": WORD }), json!({ "q": "bob" })];
        let filters = [json!({ "status": "blind" }), json!({ "limit": 1, "cursor": world.board })];
        words.into_iter().chain(filters).collect::<Vec<Value>>()
    };
    let sessions = |more: Value| {
        let ids = [&world.board, &world.council, BOARD].map(|id| {
            let mut given = more.clone();
            given["id"] = json!(id);
            given
        });
        ids.to_vec()
    };
    let vote = |post: &str| json!({ "post_id": post, "vote": "reject" });
    let snaked = |body: Value| {
        let text = body.to_string().replace("targetFile", "target_file");
        let text = text.replace("targetLocation", "target_location").replace("postId", "post_id");
        let text = text.replace("findingRefs", "finding_refs");
        serde_json::from_str(&text.replace("cascadeTargets", "cascade_targets")).unwrap()
    };
    vec![
        ("boardroom_convene", vec![json!({})]),
        ("boardroom_pick", sessions(json!({ "advisor": 1, "try": 1 }))),
        ("boardroom_follow_up", sessions(json!({ "prompt": WORD }))),
        (
            "whiteboard_open",
            vec![
                json!({ "board_id": mine, "topic": "?", "opened_by": "bob" }),
                json!({ "board_id": BOARD, "topic": "?", "opened_by": "bob" }),
            ],
        ),
        (
            "whiteboard_register",
            all(vec![json!({ "role": "specialist" }), json!({ "role": "operator" })]),
        ),
        (
            "whiteboard_invite",
            all(vec![json!({}), json!({ "invite": "bob" }), json!({ "invite": "zed" })]),
        ),
        ("whiteboard_post", all(vec![snaked(proposal("Mine", "By a tool.")), json!({})])),
        (
            "whiteboard_annotate",
            all(["bob/1", "bob/999", "ann/1"].map(|post| snaked(challenge(post))).to_vec()),
        ),
        ("whiteboard_vote", all(["bob/1", "bob/999", "ann/1"].map(vote).to_vec())),
        ("whiteboard_transition", all(vec![json!({ "target_phase": phase })])),
        ("whiteboard_conflicts", as_each(json!({}))),
        ("whiteboard_state", all(vec![json!({}), json!({ "detail": "full" })])),
        ("whiteboard_summarize", as_each(json!({}))),
        ("whiteboard_archive", as_each(json!({}))),
        ("whiteboard_list", lists()),
        ("council_open", vec![json!({ "name": mine, "charter": "?" }), json!({ "name": BOARD })]),
        ("council_list", lists()),
        ("council_post", vec![json!({ "council": BOARD, "sender": "bob", "body": "Hello." })]),
        ("council_read", vec![json!({ "council": BOARD }), json!({ "council": world.board })]),
        ("council_change", vec![json!({ "council": world.board, "charter": WORD })]),
        ("council_close", vec![json!({ "council": world.board })]),
        ("discussion_start", vec![json!({}), json!({ "topic": WORD, "participants": [] })]),
        ("workflow_run", vec![json!({}), json!({ "workflow": "bob" })]),
        ("workflow_status", sessions(json!({}))),
        ("workflow_approve", sessions(json!({ "step": "bob", "decision": "approved" }))),
        ("workflow_signal", vec![json!({ "name": "bob", "fields": { "board": BOARD } })]),
        ("sessions_list", lists()),
        ("session_get", [json!({}), json!({ "detail": "full" })].map(sessions).concat()),
        ("session_wait", sessions(json!({ "seconds": 0 }))),
        ("session_stop", sessions(json!({}))),
        (
            "agents_list",
            vec![json!({}), json!({ "q": "bob" }), json!({ "detail": "full", "limit": 1 })],
        ),
        ("boards_list", vec![json!({})]),
        ("models_list", vec![json!({})]),
    ]
}

/// What MCP offers besides tools. None of it takes a name of an agent.
fn others(world: &World) -> Vec<(&'static str, Value)> {
    let mut others = vec![
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/list", json!({ "cursor": world.board })),
        ("resources/templates/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "full-board", "arguments": { "question": WORD } })),
        ("tools/call", json!({ "name": "whiteboard_peek", "arguments": {} })),
    ];
    for kind in ["whiteboard", "boardroom", "council", "discussion"] {
        for id in [&*world.board, BOARD] {
            others.push(("resources/read", json!({ "uri": format!("plenary://{kind}/{id}") })));
        }
    }
    others
}

/// Every tool has its entry, and every entry its tool.
pub async fn assert_complete(world: &World, observer: &Observer<'_>) {
    let told = observer.mcp.ask("tools/list", json!({})).await;
    let listed = told["result"]["tools"].as_array().unwrap();
    let listed: Vec<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let table = table(world, observer);
    for name in &listed {
        assert!(
            table.iter().any(|(known, _)| known == name),
            "{name} is not observed. Say in `table` of tests/flow/blind/tools.rs how it is called, \
             with whatever could make it tell of another agent's posts."
        );
    }
    for (name, _) in table {
        assert!(listed.contains(&name), "{name} is gone");
    }
}

/// Calls every tool in every way and records what comes back.
pub async fn sweep(world: &World, observer: &Observer<'_>, record: &mut Record) {
    let Observer { who, mcp, .. } = observer;
    let writes = writes(mcp).await;
    for (nth, (tool, all)) in table(world, observer).into_iter().enumerate() {
        for mut given in all {
            let meaning = match tool {
                "whiteboard_register" if given["agent_name"] == "bob" => " claims bob",
                _ => "",
            };
            let label = format!("{who:?}: {tool} {given}{meaning}");
            record.add(&label, &call(mcp, tool, &given).await);
            if writes.iter().any(|name| name == tool) {
                given["idempotency_key"] = json!(format!("key-{nth}"));
                record.add(&format!("{label} key-{nth}"), &call(mcp, tool, &given).await);
            }
        }
    }
    for (method, params) in others(world) {
        let label = format!("{who:?}: {method} {params}");
        record.add(&label, &ask(mcp, method, params).await);
    }
}

async fn writes(mcp: &Client<'_>) -> Vec<String> {
    let told = mcp.ask("tools/list", json!({})).await;
    let tools = told["result"]["tools"].as_array().unwrap().iter();
    let writes = tools.filter(|tool| tool["annotations"]["readOnlyHint"] == false);
    writes.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

async fn call(mcp: &Client<'_>, tool: &str, given: &Value) -> String {
    let told = ask(mcp, "tools/call", json!({ "name": tool, "arguments": given })).await;
    let lines = told.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    for message in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        check_words(tool, &message["result"]);
    }
    told
}

async fn ask(mcp: &Client<'_>, method: &str, params: Value) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    whole(mcp.request(&body)).await
}
