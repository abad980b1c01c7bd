//! Boards by invitation.

use serde_json::{Value, json};

use super::{caller, refused, text};
use crate::mcp::Client;
use crate::support::{TestApp, canned};

const BOARD: &str = "/api/whiteboards/plan";

struct Guarded<'a> {
    app: &'a TestApp,
    fay: String,
    invitation: String,
}

impl<'a> Guarded<'a> {
    async fn open(app: &'a TestApp) -> Guarded<'a> {
        let open = json!({ "boardId": "plan", "topic": "?", "openedBy": "fay",
            "admission": "invited" });
        let opened = caller(app, "").does("/api/whiteboards", open).await;
        let text = |key: &str| text(&opened[key]);
        Guarded { app, fay: text("agentToken"), invitation: text("invitation") }
    }

    async fn register(&self, name: &str, role: &str, invitation: Option<&str>) -> (u16, Value) {
        let mut body = json!({ "agentName": name, "role": role });
        if let Some(invitation) = invitation {
            body["invitation"] = json!(invitation);
        }
        caller(self.app, "").post(&format!("{BOARD}/agents"), body).await
    }

    async fn invite(&self, token: &str, body: Value) -> (u16, Value) {
        caller(self.app, "").showing(token).post(&format!("{BOARD}/invitations"), body).await
    }

    async fn moves_to(&self, phase: &str) {
        let moved = json!({ "targetPhase": phase });
        caller(self.app, "").showing(&self.fay).does(&format!("{BOARD}/transition"), moved).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn in_the_blind_phase_leaders_need_the_invitation_and_specialists_none() {
    let app = TestApp::start(canned()).await;
    let board = Guarded::open(&app).await;
    let (status, ann) = board.register("ann", "specialist", None).await;
    assert_eq!((status, &ann["data"]["invitation"]), (200, &Value::Null), "{ann}");
    for invitation in [None, Some("invitation.00"), Some(""), Some(board.fay.as_str())] {
        for role in ["facilitator", "operator"] {
            let told = board.register("oto", role, invitation).await;
            refused(&told, 403, "not-invited");
        }
    }
    let (status, oto) = board.register("oto", "operator", Some(&board.invitation)).await;
    assert_eq!((status, &oto["data"]["role"]), (200, &json!("operator")), "{oto}");

    // The opener makes it anew; nobody else does.
    let oto = text(&oto["data"]["agentToken"]);
    let ann = text(&ann["data"]["agentToken"]);
    refused(&board.invite(&oto, json!({})).await, 403, "forbidden");
    refused(&board.invite(&ann, json!({})).await, 403, "forbidden");
    refused(&board.invite("fay.00", json!({})).await, 403, "not-your-agent");
    refused(&board.invite(&board.fay, json!({ "role": "operator" })).await, 422, "invalid-input");
    let (status, told) = board.invite(&board.fay, json!({})).await;
    assert_eq!(status, 200, "{told}");
    let newer = text(&told["data"]["invitation"]);
    let told = board.register("eve", "facilitator", Some(&board.invitation)).await;
    refused(&told, 403, "not-invited");
    assert!(text(&told.1["error"]["message"]).contains("newer"), "{}", told.1);
    assert_eq!(board.register("eve", "facilitator", Some(&newer)).await.0, 200);
    // The view says how one comes in, the record who let whom.
    let (_, seen) = app.get(BOARD).await;
    assert_eq!(seen["data"]["admission"], "invited");
    let (_, export) = app.get_as(&board.fay, &format!("{BOARD}/export")).await;
    let names: Vec<&Value> =
        export["events"].as_array().unwrap().iter().map(|event| &event["event"]["type"]).collect();
    assert_eq!(
        names,
        ["opened", "registered", "registered", "invitationRenewed", "registered"],
        "{export}"
    );
    for code in [&board.invitation, &newer, &board.fay] {
        let code = code.rsplit_once('.').unwrap().1;
        assert!(!export.to_string().contains(code), "{export}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_blind_phase_one_is_invited_by_name_and_role() {
    let app = TestApp::start(canned()).await;
    let board = Guarded::open(&app).await;
    board.moves_to("read").await;
    for role in ["specialist", "facilitator"] {
        for invitation in [None, Some(board.invitation.as_str())] {
            refused(&board.register("eve", role, invitation).await, 403, "not-invited");
        }
    }
    refused(&board.invite(&board.fay, json!({})).await, 409, "not-now");
    let (status, told) = board.invite(&board.fay, json!({ "invite": "eve" })).await;
    assert_eq!(status, 200, "{told}");
    let told = &told["data"];
    assert_eq!((&told["invited"], &told["role"]), (&json!("eve"), &json!("specialist")));
    let code = text(&told["invitation"]);
    // A name that is in the record lets nobody in by itself, nor does another's code.
    refused(&board.register("eve", "specialist", None).await, 403, "not-invited");
    refused(&board.register("mal", "specialist", Some(&code)).await, 403, "not-invited");
    refused(&board.register("eve", "operator", Some(&code)).await, 403, "not-invited");
    let (status, eve) = board.register("eve", "specialist", Some(&code)).await;
    assert_eq!(status, 200, "{eve}");
    // The code made eve; it is not eve's token, and makes nobody a second time.
    refused(&board.register("eve", "specialist", Some(&code)).await, 403, "not-your-agent");
    let eve = text(&eve["data"]["agentToken"]);
    assert_eq!(
        caller(&app, "")
            .showing(&eve)
            .post(&format!("{BOARD}/agents"), json!({ "agentName": "eve", "role": "specialist" }))
            .await
            .0,
        200
    );
    refused(&board.invite(&eve, json!({ "invite": "mal" })).await, 403, "forbidden");
    let leads = json!({ "invite": "oto", "role": "operator" });
    let code = text(&board.invite(&board.fay, leads).await.1["data"]["invitation"]);
    assert_eq!(board.register("oto", "operator", Some(&code)).await.0, 200);
}

/// Whoever is not invited gets the same bytes whoever is there and whatever they did.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_not_invited_does_not_learn_who_is_registered() {
    let app = TestApp::start(canned()).await;
    let board = Guarded::open(&app).await;
    let (_, bob) = board.register("bob", "specialist", None).await;
    let bob = text(&bob["data"]["agentToken"]);
    let post = json!({ "type": "claim", "title": "t", "body": "b" });
    caller(&app, "").showing(&bob).does(&format!("{BOARD}/posts"), post).await;
    let (agent, _) = Client::start(&app, None).await;
    for invitation in [None, Some("invitation.00")] {
        let mut told = vec![];
        for name in ["nobody", "bob", "fay"] {
            let over_rest = board.register(name, "operator", invitation).await;
            refused(&over_rest, 403, "not-invited");
            let mut given = json!({ "board_id": "plan", "agent_name": name, "role": "operator" });
            if let Some(invitation) = invitation {
                given["invitation"] = json!(invitation);
            }
            let over_mcp = agent.bad("whiteboard_register", given).await;
            told.push((over_rest.1.to_string(), over_mcp.to_string()));
        }
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0], told[2]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_open_invite_and_come_through_mcp() {
    let app = TestApp::start(canned()).await;
    let (fay, _) = Client::start(&app, None).await;
    let (eve, _) = Client::start(&app, None).await;
    let open = json!({ "board_id": "plan", "topic": "?", "opened_by": "fay",
        "admission": "invited" });
    let opened = fay.good("whiteboard_open", open).await;
    let lead = json!({ "board_id": "plan", "agent_name": "eve", "role": "facilitator" });
    assert_eq!(eve.bad("whiteboard_register", lead.clone()).await["code"], "not-invited");
    let mut invited = lead;
    invited["invitation"] = opened["invitation"].clone();
    eve.good("whiteboard_register", invited).await;
    let moved = json!({ "board_id": "plan", "agent_name": "eve", "target_phase": "read" });
    eve.good("whiteboard_transition", moved).await;
    let late = json!({ "board_id": "plan", "agent_name": "fay", "invite": "zoe" });
    let late = fay.good("whiteboard_invite", late).await;
    let zoe = json!({ "board_id": "plan", "agent_name": "zoe", "role": "specialist",
        "invitation": late["invitation"] });
    assert_eq!(eve.good("whiteboard_register", zoe).await["phase"], "read");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_open_unless_it_says_otherwise() {
    let app = TestApp::start(canned()).await;
    for (name, more) in [("plain", json!(null)), ("said", json!("open"))] {
        let open = json!({ "boardId": name, "topic": "?", "openedBy": "fay", "admission": more });
        let opened = caller(&app, "").does("/api/whiteboards", open).await;
        assert_eq!(opened["invitation"], Value::Null);
        let path = format!("/api/whiteboards/{name}");
        assert_eq!(app.get(&path).await.1["data"]["admission"], "open");
        let oto = json!({ "agentName": "oto", "role": "operator", "invitation": "whatever" });
        caller(&app, "").does(&format!("{path}/agents"), oto).await;
        let invite = json!({ "invite": "eve" });
        let fay = text(&opened["agentToken"]);
        let told =
            caller(&app, "").showing(&fay).post(&format!("{path}/invitations"), invite).await;
        refused(&told, 403, "forbidden");
    }
}
