//! The table against the document, and the rules of identity against a small
//! interface that records what it is asked.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::row::{Acts, Method};
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

const ON_BOARD: Option<Acts> = Some(Acts { name: "agent_name", place: "board_id" });
const BOARD_ID: &[(&str, &str)] = &[("board", "board_id")];

fn table() -> impl Iterator<Item = Row> {
    let register = Row::post("register", "/api/whiteboards/{board}/agents");
    let post = Row::post("post", "/api/whiteboards/{board}/posts");
    let open = Row::post("open", "/api/councils");
    let read = Row::get("read", "/api/councils/{council}");
    [
        Row { acts: ON_BOARD, renamed: BOARD_ID, ..register },
        Row { acts: ON_BOARD, renamed: BOARD_ID, ..post },
        Row { acts: Some(Acts { name: "opened_by", place: "name" }), ..open },
        Row { acts: Some(Acts { name: "agent_name", place: "council" }), items: "posts", ..read },
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
    Told { server: Server::with_rows(door.clone(), &document(), table()), door }
}

impl Told {
    async fn call(&self, caller: &str, tool: &str, arguments: Value) -> Answer {
        self.call_in(&self.server, caller, tool, arguments).await
    }

    async fn call_in(&self, server: &Server, caller: &str, tool: &str, given: Value) -> Answer {
        let entry = server.entry(tool).unwrap();
        let caller = Caller { name: caller.into(), agents: &server.agents };
        server.once(entry, given.as_object().unwrap(), &caller, "").await
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
    assert_eq!(answer, Ok(json!({ "agent_token": "Ada.t" })));
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
        &[("boardId", near), ("board_id", "missing field `board_id`")],
    )
    .await;
    for id in [json!(""), json!(".."), json!([1])] {
        let given = json!({ "board_id": id, "agent_name": "Ada" });
        check(given, &[("board_id", "must be a text that is not empty")]).await;
    }
    let given = json!({ "board_id": "b1", "agent_name": "Ada", "agent_token": "a\nb" });
    check(given, &[("agent_token", "must be a printable text")]).await;
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
    let nullable = json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] });
    assert_eq!(input["properties"]["reply_to"], nullable);
    let tool = told.server.entry("register").unwrap().tool();
    let output = Value::Object((*tool.output_schema.unwrap()).clone());
    assert_eq!(output["properties"]["phase"], json!({ "$ref": "#/$defs/Phase" }));
    assert_eq!(output["$defs"]["Phase"], json!({ "type": "string", "enum": ["blind"] }));
}

#[test]
fn every_row_has_its_route_and_is_told_in_full() {
    let document = serde_json::to_value(crate::document()).unwrap();
    let server = Server::new(Arc::new(Fake::default()), &document);
    let named: Vec<&str> = server.shared.entries.iter().map(|entry| entry.row.name).collect();
    assert_eq!(named, rows().map(|row| row.name).collect::<Vec<_>>(), "a row has no route");
    for entry in &server.shared.entries {
        let (row, tool) = (&entry.row, entry.tool());
        assert_eq!(row.effect.reads_only, row.method == Method::Get, "{}", row.name);
        assert!(!row.title.is_empty() && row.description.len() > 40, "{}", row.name);
        for schema in [&tool.input_schema, tool.output_schema.as_ref().unwrap()] {
            let schema = Value::Object((**schema).clone());
            assert_eq!(schema["type"], "object", "{}", row.name);
            check_names(&schema, row.name);
            let text = schema.to_string();
            for stranger in ["nullable", "#/components", "int32", "int64", "\"example\""] {
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
