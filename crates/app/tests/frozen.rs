//! A process that holds the data folder and is suspended must not hold up everybody
//! else without a word.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::mcp::Agent;
use support::{Home, NOWHERE};

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_holder_is_named() {
    let home = Home::new(NOWHERE);
    let (mut holder, _) = Agent::start(home.command(&["mcp"])).await;
    holder.call("models_list", json!({})).await;
    let pid = holder.child.id().unwrap();
    let (mut other, _) = Agent::start(home.command(&["mcp"])).await;
    holder.signal(Signal::STOP);

    let who = format!("rocess {pid} (plenary mcp)");
    let how = format!("`kill -CONT {pid}`");
    let check = |said: &str| {
        assert!(said.contains(&who) && said.contains(&how), "{said}");
        assert!(said.contains("suspended"), "{said}");
    };
    let listed = home.command(&["sessions", "list"]);
    let told = other.call("whiteboard_list", json!({}));
    let (listed, told) = tokio::join!(home.finish(listed), told);
    assert_eq!(listed.code, Some(1), "{}", listed.err);
    check(&listed.err);
    assert_eq!(told["code"], "not-answering", "{told}");
    check(&told.to_string());

    holder.signal(Signal::CONT);
    let listed = home.run(&["sessions", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);

    // A server waits for it to hand the folder over, and not for ever.
    holder.signal(Signal::STOP);
    check(&home.run(&["serve", "--listen", "127.0.0.1:0"]).await.err);
    holder.signal(Signal::KILL);
    holder.child.wait().await.unwrap();
    let listed = home.run(&["sessions", "list"]).await;
    assert_eq!(listed.code, Some(0), "{}", listed.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_which_folder_it_is_in() {
    let home = Home::new(NOWHERE);
    home.configure("[providers.agent]\nkind = 'command'\nprogram = '/bin/false'\n");
    // It must not be taken for a route.
    let folder = home.path().join("api").display().to_string();
    let mut command = home.command(&["mcp"]);
    command.env("PLENARY_HOME", &folder);
    let (mut agent, welcome) = Agent::start(command).await;
    let instructions = welcome["instructions"].as_str().unwrap();
    assert!(instructions.contains(&format!("the data folder {folder}.")), "{instructions}");
    let here = format!("This is the data folder {folder}.");
    let last = |answer: &Value| answer["next"].as_array().unwrap().last().unwrap().clone();
    // Whoever finds nothing may look in the wrong folder.
    let missed = agent.call("whiteboard_state", json!({ "board_id": "not-here" })).await;
    assert!(missed["hint"].as_str().unwrap_or_default().ends_with(&here), "{missed}");
    for tool in ["sessions_list", "whiteboard_list", "council_list"] {
        let listed = agent.call(tool, json!({})).await;
        assert_eq!(last(&listed), here, "{tool}: {listed}");
    }
    // Others must look where this was made.
    for (tool, given) in [
        ("whiteboard_open", json!({ "board_id": "b", "topic": "Which?", "opened_by": "fay" })),
        ("council_open", json!({ "name": "c", "charter": "Be kind." })),
        ("boardroom_convene", json!({ "prompt": "Shall we?", "models": ["agent/default"] })),
        ("discussion_start", json!({ "topic": "Which?", "model": "agent/default" })),
    ] {
        let opened = agent.call(tool, given).await;
        assert_eq!(last(&opened), here, "{tool}: {opened}");
    }
    // That is enough.
    for (tool, given) in
        [("whiteboard_state", json!({ "board_id": "b" })), ("whiteboard_list", json!({}))]
    {
        let told = agent.call(tool, given).await;
        assert!(!told.to_string().contains(&folder), "{tool}: {told}");
    }
}
