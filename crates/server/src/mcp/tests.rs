//! The table against the document, and the rules of identity against a small
//! interface that records what it is asked.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::row::Acts;
use super::*;
use serde_json::json;

/// Answers every request with what was prepared for its address, and keeps it.
#[derive(Default)]
struct Fake {
    replies: BTreeMap<&'static str, (u16, Value)>,
    asked: Mutex<Vec<Request>>,
}

impl Door for Fake {
    fn call(&self, request: Request) -> BoxFuture<'_, Reply> {
        let reply = self.replies.get(request.path.as_str()).cloned();
        self.asked.lock().unwrap_or_else(|broken| broken.into_inner()).push(request);
        let none = json!({ "code": "not-found", "message": "There is nothing." });
        Box::pin(async move { Ok(reply.unwrap_or((404, json!({ "error": none })))) })
    }

    fn ticks(&self) -> u64 {
        0
    }
}

fn document() -> Value {
    let board = json!([{ "name": "board", "in": "path", "required": true,
        "schema": { "type": "string", "format": "uuid" }, "description": "The board." }]);
    let body = |properties: Value, required: Value| {
        json!({ "content": { "application/json": { "schema": {
            "type": "object", "properties": properties, "required": required } } } })
    };
    let reply = |data: Value| {
        json!({ "200": { "content": { "application/json": { "schema": {
            "type": "object", "properties": { "success": {}, "data": data } } } } } })
    };
    let text = json!({ "type": "string" });
    json!({
        "paths": {
            "/api/whiteboards/{board}/agents": { "post": {
                "parameters": board,
                "requestBody": body(json!({ "agentName": text }), json!(["agentName"])),
                "responses": reply(json!({ "$ref": "#/components/schemas/Agent" })),
            } },
            "/api/whiteboards/{board}/posts": { "post": {
                "parameters": board,
                "requestBody": body(
                    json!({ "text": text, "replyTo": { "type": "integer", "format": "int64", "nullable": true } }),
                    json!(["text"]),
                ),
                "responses": reply(json!({ "type": "object", "properties": { "postId": text } })),
            } },
            "/api/councils": { "post": {
                "requestBody": body(json!({ "name": text, "openedBy": text }), json!(["name", "openedBy"])),
                "responses": reply(json!({ "$ref": "#/components/schemas/Agent" })),
            } },
            "/api/councils/{council}": { "get": {
                "parameters": [
                    { "name": "council", "in": "path", "required": true, "schema": text },
                    { "name": "waitSeconds", "in": "query", "required": false, "schema": text },
                ],
                "responses": reply(json!({ "type": "array", "items": text })),
            } },
        },
        "components": { "schemas": {
            "Agent": { "type": "object", "properties": { "agentToken": text, "phase": { "$ref": "#/components/schemas/Phase" } } },
            "Phase": { "type": "string", "enum": ["blind"], "example": "blind" },
        } },
    })
}

const ON_BOARD: Option<Acts> =
    Some(Acts { name: "agent_name", place: "board_id", given_by: "register" });
const BOARD_ID: &[(&str, &str)] = &[("board", "board_id")];

fn table() -> impl Iterator<Item = Row> {
    let register = Row::post("register", "/api/whiteboards/{board}/agents");
    let post = Row::post("post", "/api/whiteboards/{board}/posts");
    let open = Row::post("open", "/api/councils");
    let read = Row::get("read", "/api/councils/{council}");
    [
        Row { acts: ON_BOARD, renamed: BOARD_ID, typed: true, ..register },
        Row { acts: ON_BOARD, renamed: BOARD_ID, ..post },
        Row { acts: Some(Acts { name: "opened_by", place: "name", given_by: "open" }), ..open },
        Row {
            acts: Some(Acts { name: "agent_name", place: "council", given_by: "open" }),
            items: "posts",
            ..read
        },
    ]
    .into_iter()
}

struct Told {
    server: Server,
    door: Arc<Fake>,
}

fn start() -> Told {
    let good = |data: Value| (200, json!({ "success": true, "data": data }));
    let wrong = json!({ "code": "invalid-input", "message": "`replyTo`: no such post",
        "fields": [{ "field": "replyTo", "problem": "no such post" }, { "field": "board", "problem": "?" }] });
    let door = Arc::new(Fake {
        replies: BTreeMap::from([
            ("/api/whiteboards/b1/agents", good(json!({ "agentToken": "Ada.t" }))),
            ("/api/whiteboards/b1/posts", good(json!({ "postId": "p1" }))),
            ("/api/whiteboards/b2/posts", (422, json!({ "success": false, "error": wrong }))),
            ("/api/councils", good(json!({ "agentToken": "Bob.t" }))),
            ("/api/councils/c1", good(json!(["hello"]))),
        ]),
        ..Fake::default()
    });
    let server = Server::with_entries(door.clone(), || entries(&document(), table()));
    Told { server, door }
}

impl Told {
    async fn call(&self, caller: &str, tool: &str, arguments: Value) -> Answer {
        self.call_in(&self.server, caller, tool, arguments).await
    }

    async fn call_in(&self, server: &Server, caller: &str, tool: &str, given: Value) -> Answer {
        let entry = server.entry(tool).unwrap();
        let caller = Caller { name: caller.into(), agents: &server.agents, keeps: true };
        server.once(entry, given.as_object().unwrap(), &caller).await
    }

    /// As a protocol without sessions calls: nothing is left of an earlier call.
    async fn call_alone(&self, tool: &str, given: Value) -> Answer {
        let server = self.server.for_another_session();
        let entry = server.entry(tool).unwrap();
        let caller = Caller { name: "me".into(), agents: &server.agents, keeps: false };
        server.once(entry, given.as_object().unwrap(), &caller).await
    }

    fn last(&self) -> Request {
        self.door.asked.lock().unwrap().last().unwrap().clone()
    }

    fn token(&self) -> Option<String> {
        self.last().agent_token
    }
}

#[tokio::test]
async fn arguments_go_where_the_route_wants_them() {
    let told = start();
    let given = json!({ "board_id": "b1", "agent_name": "Ada", "text": "Hi", "reply_to": 3,
        "agent_token": "Ada.t", "idempotency_key": "k" });
    let answer = told.call("me", "post", given).await;
    assert_eq!(answer, Ok(json!({ "post_id": "p1" })));
    let asked = told.last();
    assert_eq!((asked.method, asked.path.as_str()), ("POST", "/api/whiteboards/b1/posts"));
    // The route has no name in its body: the token says who it is.
    assert_eq!(asked.body, Some(json!({ "text": "Hi", "replyTo": 3 })));
    // Every request says that an agent makes it.
    let headers = [("agent-token", "Ada.t"), ("idempotency-key", "k"), ("plenary-through", "mcp")];
    assert_eq!(asked.headers(), headers.map(|(name, value)| (name, value.to_owned())));
    assert_eq!(asked.caller, "me");
    let given = json!({ "council": "c/1 ?", "wait_seconds": 5 });
    let _ = told.call("me", "read", given).await;
    let asked = told.last();
    assert_eq!(asked.path, "/api/councils/c%2F1%20%3F?waitSeconds=5");
    assert_eq!((asked.body, asked.idempotency_key), (None, None));
}

#[tokio::test]
async fn a_change_gets_a_key_of_its_own() {
    let told = start();
    let given =
        json!({ "board_id": "b1", "agent_name": "Ada", "agent_token": "Ada.t", "text": "Hi" });
    let _ = told.call("me", "post", given.clone()).await;
    let first = told.last().idempotency_key.unwrap();
    let _ = told.call("me", "post", given).await;
    assert_ne!(first, told.last().idempotency_key.unwrap());
}

#[tokio::test]
async fn a_session_acts_as_the_agents_that_it_registered() {
    let told = start();
    let ada = json!({ "board_id": "b1", "agent_name": "Ada" });
    let says = |name: &str| json!({ "board_id": "b1", "agent_name": name, "text": "Hi" });
    let refused = |answer: Answer, why: &str| {
        assert_eq!(answer.unwrap_err()["code"], "not-your-agent", "{why}");
    };
    refused(told.call("me", "post", says("Ada")).await, "nobody is registered yet");
    let answer = told.call("me", "register", ada).await;
    let next =
        "This MCP session now acts as Ada automatically. Keep agent_token for other sessions.";
    assert_eq!(answer, Ok(json!({ "agent_token": "Ada.t", "next": [next] })));
    assert_eq!(told.last().body, Some(json!({ "agentName": "Ada" })));
    let _ = told.call("me", "post", says("Ada")).await;
    assert_eq!(told.token().as_deref(), Some("Ada.t"));
    refused(told.call("me", "post", says("Bob")).await, "another agent");
    let elsewhere = json!({ "board_id": "b2", "agent_name": "Ada", "text": "Hi" });
    refused(told.call("me", "post", elsewhere).await, "another board");
    refused(told.call("other", "post", says("Ada")).await, "another caller in the same session");
    let other = told.server.for_another_session();
    refused(told.call_in(&other, "me", "post", says("Ada")).await, "another session");
    let mut given = says("Ada");
    given["agent_token"] = json!("Bob.t");
    refused(told.call("me", "post", given).await, "the token of another");
    let mut given = says("Ada");
    given["agent_token"] = json!("Ada.given");
    let _ = told.call("me", "post", given).await;
    assert_eq!(told.token().as_deref(), Some("Ada.given"), "what is given wins");
}

#[tokio::test]
async fn without_sessions_the_token_comes_with_every_call() {
    let told = start();
    let ada = json!({ "board_id": "b1", "agent_name": "Ada" });
    let answer = told.call_alone("register", ada.clone()).await.unwrap();
    let next = answer["next"][0].as_str().unwrap();
    let keep = "Keep agent_token and send it with every call as Ada: agent_token = \"Ada.t\".";
    assert!(next.starts_with(keep), "{next}");
    let mut says = json!({ "board_id": "b1", "agent_name": "Ada", "text": "Hi" });
    let error = told.call_alone("post", says.clone()).await.unwrap_err();
    assert_eq!(error["code"], "not-your-agent");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("agent_token is missing."), "{message}");
    assert!(message.ends_with("so send it with every call."), "{message}");
    assert_eq!(
        error["hint"],
        "If Ada is yours, send the agent_token that register returned for it, with every call; \
         otherwise act under your own name."
    );
    says["agent_token"] = answer["agent_token"].clone();
    assert_eq!(told.call_alone("post", says).await, Ok(json!({ "post_id": "p1" })));
    // Who sends it knows it.
    let mut again = ada;
    again["agent_token"] = answer["agent_token"].clone();
    let answer = told.call_alone("register", again).await;
    assert_eq!(answer, Ok(json!({ "agent_token": "Ada.t" })));
}

#[tokio::test]
async fn who_opens_a_place_is_known_there() {
    let told = start();
    let _ = told.call("me", "open", json!({ "name": "c1", "opened_by": "Bob" })).await;
    let answer = told.call("me", "read", json!({ "council": "c1", "agent_name": "Bob" })).await;
    assert_eq!(answer, Ok(json!({ "posts": ["hello"] })));
    assert_eq!(told.token().as_deref(), Some("Bob.t"));
}

#[tokio::test]
async fn what_is_wrong_is_told_in_the_names_of_the_tool() {
    let told = start();
    let given =
        json!({ "board_id": "b2", "agent_name": "Ada", "agent_token": "Ada.t", "text": "Hi" });
    let error = told.call("me", "post", given).await.unwrap_err();
    assert_eq!(error["message"], "`reply_to`: no such post");
    let fields = json!([{ "field": "reply_to", "problem": "no such post" }, { "field": "board_id", "problem": "?" }]);
    assert_eq!(error["fields"], fields);
    let check = async |given: Value, expected: &[(&str, &str)]| {
        let error = told.call("me", "post", given).await.unwrap_err();
        assert_eq!(error["code"], "invalid-input");
        let fields: Vec<Value> =
            expected.iter().map(|(f, p)| json!({ "field": f, "problem": p })).collect();
        assert_eq!(error["fields"], json!(fields));
    };
    let near = "there is no such argument; did you mean `board_id`?";
    check(
        json!({ "boardId": "b1", "agent_name": "Ada", "text": "" }),
        &[("boardId", near), ("board_id", "is missing")],
    )
    .await;
    for id in [json!(""), json!(".."), json!([1])] {
        let given = json!({ "board_id": id, "agent_name": "Ada" });
        let wrong = [("board_id", "must be a non-empty string"), ("text", "is missing")];
        check(given, &wrong).await;
    }
    let given = json!({ "board_id": "b1", "agent_name": "Ada", "agent_token": "a\nb", "text": "" });
    check(given, &[("agent_token", "must be a printable string")]).await;
    // All that is missing is named at once.
    let missing = ["board_id", "text", "agent_name"].map(|name| (name, "is missing"));
    check(json!({}), &missing).await;
    let error = told.call("me", "post", json!({})).await.unwrap_err();
    let message = "3 arguments are wrong or missing: board_id, text, agent_name.";
    assert_eq!(error["message"], message);
}

#[test]
fn schemas_stand_by_themselves() {
    let told = start();
    let tool = told.server.entry("post").unwrap().tool();
    let input = Value::Object((*tool.input_schema).clone());
    let names: Vec<&String> = input["properties"].as_object().unwrap().keys().collect();
    let expected = ["agent_name", "agent_token", "board_id", "idempotency_key", "reply_to", "text"];
    assert_eq!(names, expected);
    assert_eq!(input["required"], json!(["board_id", "text", "agent_name"]));
    // What is not given is left out; that it may be null need not be said.
    assert_eq!(input["properties"]["reply_to"], json!({ "type": "integer" }));
    let tool = told.server.entry("register").unwrap().tool();
    let output = Value::Object((*tool.output_schema.unwrap()).clone());
    let text = json!({ "type": "string" });
    assert_eq!(output["properties"], json!({ "agent_token": text, "phase": text }));
    assert!(told.server.entry("post").unwrap().tool().output_schema.is_none());
}

fn real() -> Server {
    Server::new(Arc::new(Fake::default()))
}

/// Clients ask their user before a tool that destroys or reaches out, or refuse it.
#[test]
fn annotations_are_no_stronger_than_true() {
    let server = real();
    let shown = server.shared.entries.iter().map(|entry| {
        let hints = entry.tool().annotations.unwrap();
        assert_eq!(hints.open_world_hint, Some(false), "{}", entry.row.name);
        let reads = hints.read_only_hint.unwrap();
        let hints = (reads, hints.destructive_hint.unwrap(), hints.idempotent_hint.unwrap());
        (entry.row.name, hints)
    });
    let (reads, adds, settles, stops) =
        ((true, false, true), (false, false, false), (false, false, true), (false, true, true));
    let expected = [
        ("boardroom_convene", adds),
        ("boardroom_pick", settles),
        ("boardroom_follow_up", adds),
        ("whiteboard_open", settles),
        ("whiteboard_register", settles),
        ("whiteboard_invite", adds),
        ("whiteboard_post", adds),
        ("whiteboard_annotate", adds),
        ("whiteboard_vote", settles),
        ("whiteboard_transition", settles),
        ("whiteboard_conflicts", reads),
        ("whiteboard_state", reads),
        ("whiteboard_summarize", reads),
        ("whiteboard_archive", settles),
        ("whiteboard_list", reads),
        ("council_open", settles),
        ("council_list", reads),
        ("council_post", adds),
        ("council_read", reads),
        ("council_change", settles),
        ("council_close", settles),
        ("discussion_start", adds),
        ("workflow_run", adds),
        ("workflow_status", reads),
        ("workflow_approve", adds),
        ("workflow_signal", adds),
        ("sessions_list", reads),
        ("session_get", reads),
        ("session_wait", reads),
        ("session_stop", stops),
        ("agents_list", reads),
        ("boards_list", reads),
        ("models_list", reads),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// Every client loads the whole list, and most put all of it but the output schemas
/// before their model with each request.
#[test]
fn the_list_of_tools_stays_small() {
    const LIST_BYTES: usize = 46_600;
    const MODEL_BYTES: usize = 35_400;
    let tools: Vec<Tool> = real().shared.entries.iter().map(Entry::tool).collect();
    let list = serde_json::to_string(&tools).unwrap().len();
    let for_models = tools.iter().map(|tool| {
        let parts = json!([tool.name, tool.description, tool.input_schema]);
        parts.to_string().len()
    });
    let for_models = for_models.sum::<usize>();
    assert!(list <= LIST_BYTES, "{list} {for_models}");
    assert!(for_models <= MODEL_BYTES, "{for_models}");
    assert!(instructions().len() <= 1_500);
}

#[test]
fn every_row_has_its_route_and_is_told_in_full() {
    let server = real();
    let named: Vec<&str> = server.shared.entries.iter().map(|entry| entry.row.name).collect();
    assert_eq!(named, rows().map(|row| row.name).collect::<Vec<_>>(), "a row has no route");
    for entry in server.shared.entries.iter() {
        let (row, tool) = (&entry.row, entry.tool());
        assert!(!row.title.is_empty() && row.description.len() > 25, "{}", row.name);
        for schema in [Some(&tool.input_schema), tool.output_schema.as_ref()].into_iter().flatten()
        {
            let schema = Value::Object((**schema).clone());
            assert_eq!(schema["type"], "object", "{}", row.name);
            check_names(&schema, row.name);
            let text = schema.to_string();
            for stranger in
                ["null", "#/components", "int32", "int64", "\"example\"", "Length", "meta."]
            {
                assert!(!text.contains(stranger), "{} has {stranger}", row.name);
            }
            for part in text.split("\"$ref\":\"#").skip(1) {
                let pointer = part.split('"').next().unwrap();
                assert!(schema.pointer(pointer).is_some(), "{}: {pointer}", row.name);
            }
        }
        // Every argument says what it is for.
        for (name, argument) in tool.input_schema["properties"].as_object().unwrap() {
            let told = argument["description"].is_string() || argument["$ref"].is_string();
            assert!(told, "{} does not describe {name}", row.name);
        }
        let known: Vec<&str> = entry.shape.arguments.iter().map(|a| a.name.as_str()).collect();
        let mentioned = row.described.iter().map(|(name, _)| *name);
        for name in mentioned.chain(row.renamed.iter().map(|(_, to)| *to)) {
            assert!(known.contains(&name), "{} has no {name}", row.name);
        }
    }
}

/// A filter of lists takes every status, and no other.
#[test]
fn the_statuses_are_those_of_the_document() {
    let document = serde_json::to_value(crate::document()).unwrap();
    let kinds = [
        ("boardroom", "BoardStatus"),
        ("whiteboard", "PhaseName"),
        ("council", "CouncilStatus"),
        ("discussion", "DiscussionStatus"),
        ("workflow", "RunStatus"),
    ];
    assert_eq!(plenary_domain::room::KINDS.len(), kinds.len());
    for ((kind, statuses), (expected, schema)) in plenary_domain::room::KINDS.into_iter().zip(kinds)
    {
        assert_eq!(kind, expected);
        assert_eq!(json!(statuses), document["components"]["schemas"][schema]["enum"], "{kind}");
    }
}

/// Every field can be turned into the route's name and back.
fn check_names(schema: &Value, tool: &str) {
    match schema {
        Value::Object(fields) => {
            for name in schema["properties"].as_object().into_iter().flat_map(|all| all.keys()) {
                assert_eq!(names::snake(&names::camel(name)), *name, "{tool}");
            }
            fields.values().for_each(|schema| check_names(schema, tool));
        }
        Value::Array(parts) => parts.iter().for_each(|schema| check_names(schema, tool)),
        _ => {}
    }
}
