//! Who may do what to a session: its opener, a person, an agent by its token, and the
//! operator of the server.

mod admission;
mod lost;
mod seats;

use plenary_server::Access;
use serde_json::{Value, json};

use crate::mcp::Client;
use crate::support::{TestApp, answer, canned};

/// A server with three tokens, the first of which is the operator's.
async fn guarded() -> TestApp {
    let tokens = ["one", "two", "three"].map(str::to_owned).to_vec();
    let local_token = Some("inner".to_owned());
    TestApp::with_access(canned(), Access { tokens, local_token, ..Access::default() }).await
}

/// Whoever comes in with an access token, and perhaps shows an agent's.
#[derive(Clone, Copy)]
struct Caller<'a> {
    app: &'a TestApp,
    access: &'a str,
    shows: &'a str,
    is_agent: bool,
}

fn caller<'a>(app: &'a TestApp, access: &'a str) -> Caller<'a> {
    Caller { app, access, shows: "", is_agent: false }
}

impl<'a> Caller<'a> {
    fn showing(self, token: &'a str) -> Caller<'a> {
        Caller { shows: token, ..self }
    }

    /// As the door of `plenary mcp` sends what an agent asks for.
    fn as_agent(self) -> Caller<'a> {
        Caller { is_agent: true, ..self }
    }

    async fn send(self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let place = format!("{}{path}", self.app.url);
        let mut request = self.app.http.request(method.parse().unwrap(), place);
        if !self.access.is_empty() {
            request = request.bearer_auth(self.access);
        }
        if !self.shows.is_empty() {
            request = request.header("agent-token", self.shows);
        }
        if self.is_agent {
            request = request.header("plenary-through", "mcp");
        }
        answer(request.json(body)).await
    }

    async fn post(self, path: &str, body: Value) -> (u16, Value) {
        self.send("POST", path, &body).await
    }

    /// The data of a request that must be accepted.
    async fn does(self, path: &str, body: Value) -> Value {
        let (status, told) = self.post(path, body).await;
        assert!(status < 300, "{path}: {told}");
        told["data"].clone()
    }

    async fn delete(self, path: &str) -> (u16, Value) {
        self.send("DELETE", path, &json!({})).await
    }
}

#[track_caller]
fn refused(told: &(u16, Value), status: u16, code: &str) {
    assert_eq!((told.0, &told.1["error"]["code"]), (status, &json!(code)), "{}", told.1);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// A session of each form: its addresses for deleting, and the token that came back.
async fn one_of_each(opener: Caller<'_>, nth: &str) -> Vec<(Vec<String>, String)> {
    let models = json!({ "prompt": "?", "models": ["ollama/a"] });
    let board = opener.does("/api/boardrooms", models).await;
    let talk = opener.does("/api/discussions", json!({ "topic": "?", "model": "ollama/a" })).await;
    // Agents may be called as principals are, and are none.
    let whiteboard = json!({ "boardId": format!("w{nth}"), "topic": "?", "openedBy": "token-3" });
    let whiteboard = opener.does("/api/whiteboards", whiteboard).await;
    let council = json!({ "name": format!("c{nth}"), "charter": "Talk." });
    let council = opener.does("/api/councils", council).await;
    let by_id = |id: &Value| format!("/api/sessions/{}", text(id));
    let own = |noun: &str, view: &Value| {
        vec![by_id(&view["id"]), format!("/api/{noun}/{}", text(&view["id"]))]
    };
    vec![
        (own("boardrooms", &board), String::new()),
        (own("discussions", &talk), String::new()),
        (vec![by_id(&whiteboard["sessionId"])], text(&whiteboard["agentToken"])),
        (vec![by_id(&council["sessionId"])], text(&council["agentToken"])),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_deleted_by_its_opener_or_the_operator() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    for (nth, (opener, others, may)) in [
        ("two", vec!["three"], "two"),
        ("two", vec!["three"], "one"),
        ("two", vec!["three"], "inner"),
        ("one", vec!["two", "three"], "one"),
        ("inner", vec!["two", "three"], "one"),
    ]
    .into_iter()
    .enumerate()
    {
        for (places, _) in one_of_each(by(opener), &nth.to_string()).await {
            for place in &places {
                for other in &others {
                    let told = by(other).delete(place).await;
                    refused(&told, 403, "not-yours");
                    assert!(told.1["error"]["hint"].is_string(), "{}", told.1);
                }
                // An agent is not the operator, whoever runs it.
                refused(&by("one").as_agent().delete(place).await, 403, "not-yours");
                refused(&by("inner").as_agent().delete(place).await, 403, "not-yours");
            }
            let (status, told) = by(may).delete(places.last().unwrap()).await;
            assert_eq!(status, 200, "{told}");
            assert_eq!(by("one").delete(&places[0]).await.0, 404);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_openers_own_token_will_do_and_no_other() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let opened = one_of_each(by("two"), "-own").await;
    let elsewhere = one_of_each(by("two"), "-elsewhere").await;
    let ann = json!({ "agentName": "ann", "role": "facilitator" });
    let ann = by("two").does("/api/whiteboards/w-own/agents", ann).await;
    let sender = json!({ "sender": "opener", "body": "Hello." });
    let sender = by("three").does("/api/councils/c-own/posts", sender).await;
    let wrong = [text(&ann["agentToken"]), text(&sender["agentToken"])];
    let wrong: Vec<&String> =
        wrong.iter().chain(elsewhere.iter().map(|(_, token)| token)).collect();
    for (places, token) in opened.iter().filter(|(_, token)| !token.is_empty()) {
        for wrong in wrong.iter().filter(|wrong| !wrong.is_empty()) {
            let told = by("three").showing(wrong).delete(&places[0]).await;
            refused(&told, 403, "not-yours");
        }
        let (status, told) = by("three").as_agent().showing(token).delete(&places[0]).await;
        assert_eq!(status, 200, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_council_is_changed_and_closed_by_its_opener_or_the_operator() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let closed = json!({ "summary": "Done." });
    for (nth, may) in ["two", "one", "inner", "token"].into_iter().enumerate() {
        let council = json!({ "name": format!("talk-{nth}"), "charter": "Talk." });
        let council = by("two").does("/api/councils", council).await;
        let token = text(&council["agentToken"]);
        let path = format!("/api/councils/talk-{nth}");
        // What proves the opener proves no sender, and hinders none.
        let post = json!({ "sender": "ann", "body": "Hello." });
        let ann = by("two").showing(&token).does(&format!("{path}/posts"), post.clone()).await;
        let told = by("two").showing(&token).post(&format!("{path}/posts"), post).await;
        refused(&told, 403, "not-your-agent");
        let close = format!("{path}/close");
        for told in [
            by("three").post(&close, closed.clone()).await,
            by("three").showing(&text(&ann["agentToken"])).post(&close, closed.clone()).await,
            by("one").as_agent().post(&close, closed.clone()).await,
        ] {
            refused(&told, 403, "not-yours");
        }
        // The same for a new charter.
        let change = json!({ "charter": "Talk on." });
        for told in [
            by("three").send("PATCH", &path, &change).await,
            by("three").showing(&text(&ann["agentToken"])).send("PATCH", &path, &change).await,
            by("one").as_agent().send("PATCH", &path, &change).await,
        ] {
            refused(&told, 403, "not-yours");
        }
        let (status, told) = match may {
            "token" => by("three").as_agent().showing(&token).send("PATCH", &path, &change).await,
            may => by(may).send("PATCH", &path, &change).await,
        };
        assert_eq!((status, &told["data"]["charter"]), (200, &json!("Talk on.")), "{told}");
        let closed = match may {
            "token" => by("three").as_agent().showing(&token).does(&close, closed.clone()).await,
            may => by(may).does(&close, closed.clone()).await,
        };
        assert_eq!(closed["status"], "closed");
        assert_eq!(closed["agentToken"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_token_is_needed_people_are_the_operator_and_agents_are_not() {
    let app = TestApp::start(canned()).await;
    let (here, _) = Client::start(&app, None).await;
    let (there, _) = Client::start(&app, None).await;
    for (places, _) in one_of_each(caller(&app, ""), "").await {
        refused(&caller(&app, "").as_agent().delete(&places[0]).await, 403, "not-yours");
        assert_eq!(caller(&app, "").delete(&places[0]).await.0, 200);
    }
    let open = |name: &str| json!({ "name": name, "charter": "Talk." });
    let close = |name: &str| json!({ "council": name });
    // A person's council, and one of another session.
    caller(&app, "").does("/api/councils", open("persons")).await;
    assert_eq!(here.bad("council_close", close("persons")).await["code"], "not-yours");
    let opened = there.good("council_open", open("theirs")).await;
    assert_eq!(here.bad("council_close", close("theirs")).await["code"], "not-yours");
    let mut shown = close("theirs");
    shown["agent_token"] = opened["agent_token"].clone();
    assert_eq!(here.good("council_close", shown).await["status"], "closed");
    // One's own needs nothing more.
    here.good("council_open", open("mine")).await;
    let change = |name: &str| json!({ "council": name, "charter": "Talk on." });
    assert_eq!(here.good("council_change", change("mine")).await["charter"], "Talk on.");
    assert_eq!(here.bad("council_change", change("persons")).await["code"], "not-yours");
    assert_eq!(here.good("council_close", close("mine")).await["status"], "closed");
    // The person closes whatever is open.
    there.good("council_open", open("left")).await;
    let closed = caller(&app, "").does("/api/councils/left/close", json!({})).await;
    assert_eq!(closed["status"], "closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_has_what_its_own_principal_opened_unless_that_is_the_operator() {
    let app = guarded().await;
    for (access, may) in [("one", false), ("two", true)] {
        let council = json!({ "name": format!("of-{access}"), "charter": "Talk." });
        caller(&app, access).does("/api/councils", council).await;
        let (agent, _) = Client::start(&app, Some(access)).await;
        let close = json!({ "council": format!("of-{access}") });
        match may {
            true => assert_eq!(agent.good("council_close", close).await["status"], "closed"),
            false => assert_eq!(agent.bad("council_close", close).await["code"], "not-yours"),
        }
    }
}
