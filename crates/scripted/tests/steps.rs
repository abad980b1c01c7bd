//! A model that calls tools: one step per request, on every wire, in its own words.
#![allow(clippy::unwrap_used)]

use plenary_scripted::{Reply, Rules, Script, Scripted};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

async fn started() -> Scripted {
    let rules = json!([{
        "steps": [
            {"call": "open", "with": {"topic": "Why?"}, "text": "First, "},
            {"call": "post", "with": {"token": "${open.token}"}},
        ],
        "text": "Done.", "usage": [7, 3],
    }]);
    let rules = Rules::read(rules.to_string().as_bytes()).unwrap();
    Scripted::start(Script::new(Reply::text("otherwise")).rules(rules)).await.unwrap()
}

async fn post(server: &Scripted, path: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let mut connection = TcpStream::connect(&server.url()["http://".len()..]).await.unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: scripted\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}",
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    connection.read_to_string(&mut said).await.unwrap();
    let (headers, body) = said.split_once("\r\n\r\n").unwrap();
    (headers.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The objects that an answer consists of, whether lines or events.
async fn frames(server: &Scripted, path: &str, body: &Value) -> Vec<Value> {
    let (status, answer) = post(server, path, body).await;
    assert_eq!(status, 200, "{answer}");
    let lines = answer.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    lines
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(Value::is_object)
        .collect()
}

/// The values at a pointer, in the frames that have one.
fn at(frames: &[Value], pointer: &str) -> Vec<Value> {
    frames.iter().filter_map(|frame| frame.pointer(pointer).cloned()).collect()
}

#[tokio::test]
async fn anthropic_calls_tools() {
    let server = started().await;
    let tools = json!([{"name": "mcp__b__open"}, {"name": "mcp__b__post"}]);
    let ask = |messages: Value| json!({"model": "m", "stream": true, "tools": tools, "messages": messages});
    let said =
        frames(&server, "/v1/messages", &ask(json!([{"role": "user", "content": "go"}]))).await;
    assert_eq!(at(&said, "/delta/text"), ["First, "]);
    let block = json!({"type": "tool_use", "id": "call_1", "name": "mcp__b__open", "input": {}});
    assert_eq!(at(&said, "/content_block")[1], block);
    assert_eq!(at(&said, "/delta/partial_json"), [r#"{"topic":"Why?"}"#]);
    assert_eq!(at(&said, "/index"), [0, 0, 0, 1, 1, 1]);
    assert_eq!(at(&said, "/delta/stop_reason"), ["tool_use"]);

    let result = |text: &str| json!({"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": text}]}]});
    let opened = result(r#"{"token": "t1"}"#);
    let said = frames(&server, "/v1/messages", &ask(json!([opened]))).await;
    assert_eq!(at(&said, "/delta/partial_json"), [r#"{"token":"t1"}"#]);
    let said = frames(&server, "/v1/messages", &ask(json!([opened, result("posted")]))).await;
    assert_eq!(at(&said, "/delta/text"), ["Done."]);
    assert_eq!(at(&said, "/delta/stop_reason"), ["end_turn"]);
    assert_eq!(server.requests()[2].result, Some(json!([{"type": "text", "text": "posted"}])));
}

#[tokio::test]
async fn openai_calls_tools_streamed_and_whole() {
    let server = started().await;
    let tools = json!([{"type": "function", "function": {"name": "b_open"}}, {"type": "function", "function": {"name": "b_post"}}]);
    let mut ask = json!({"model": "m", "stream": true, "tools": tools, "messages": []});
    let said = frames(&server, "/v1/chat/completions", &ask).await;
    let function = json!({"name": "b_open", "arguments": r#"{"topic":"Why?"}"#});
    let call = json!({"index": 0, "id": "call_1", "type": "function", "function": function});
    assert_eq!(at(&said, "/choices/0/delta/tool_calls/0"), [call]);
    assert_eq!(at(&said, "/choices/0/finish_reason").last(), Some(&json!("tool_calls")));

    ask["stream"] = false.into();
    ask["messages"] = json!([{"role": "tool", "content": r#"{"token":"t1"}"#}]);
    let said = frames(&server, "/v1/chat/completions", &ask).await;
    let function = "/choices/0/message/tool_calls/0/function";
    assert_eq!(at(&said, function), [json!({"name": "b_post", "arguments": r#"{"token":"t1"}"#})]);
    assert_eq!(at(&said, "/choices/0/finish_reason"), ["tool_calls"]);
}

#[tokio::test]
async fn responses_repeat_each_item_at_its_end() {
    let server = started().await;
    let inside =
        json!([{"type": "function", "name": "open"}, {"type": "function", "name": "post"}]);
    let tools =
        json!([{"type": "web_search"}, {"type": "namespace", "name": "mcp__b", "tools": inside}]);
    let ask = |input: Value| json!({"model": "m", "stream": true, "tools": tools, "input": input});
    let said = frames(&server, "/v1/responses", &ask(json!([]))).await;
    let kinds = [
        "created",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ];
    assert_eq!(at(&said, "/type"), kinds.map(|kind| format!("response.{kind}")));
    let message = json!({
        "id": "item_0", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "First, ", "annotations": []}],
    });
    let call = json!({
        "id": "item_1", "type": "function_call", "status": "completed", "call_id": "call_1",
        "namespace": "mcp__b", "name": "open", "arguments": r#"{"topic":"Why?"}"#,
    });
    assert_eq!([&said[5]["item"], &said[8]["item"]], [&message, &call]);
    let last = &said[9]["response"];
    assert_eq!(last["output"], json!([message, call]));
    assert_eq!([&last["usage"]["input_tokens"], &last["usage"]["output_tokens"]], [7, 3]);

    let output = json!({"type": "function_call_output", "output": "Output:\n{\"token\": \"t1\"}"});
    let said = frames(&server, "/v1/responses", &ask(json!([output]))).await;
    assert_eq!(said.last().unwrap()["response"]["output"][0]["arguments"], r#"{"token":"t1"}"#);
}

#[tokio::test]
async fn gemini_and_ollama_call_tools() {
    let server = started().await;
    let path = "/v1beta/models/m:streamGenerateContent?alt=sse";
    let tools = json!([{"functionDeclarations": [{"name": "mcp_b_open"}, {"name": "mcp_b_post"}]}]);
    let response = json!({"output": r#"{"token": "t1"}"#});
    let parts = json!([{"functionResponse": {"name": "mcp_b_open", "response": response}}]);
    let ask = json!({"tools": tools, "contents": [{"role": "user", "parts": parts}]});
    let said = frames(&server, path, &ask).await;
    let call = json!({"id": "call_2", "name": "mcp_b_post", "args": {"token": "t1"}});
    assert_eq!(at(&said, "/candidates/0/content/parts/0/functionCall"), [call]);

    let tools = json!([{"type": "function", "function": {"name": "open"}}]);
    let ask = json!({"model": "m", "stream": true, "tools": tools, "messages": []});
    let said = frames(&server, "/api/chat", &ask).await;
    let function = json!({"name": "open", "arguments": {"topic": "Why?"}});
    assert_eq!(at(&said, "/message/tool_calls/0/function"), [function]);
}

#[tokio::test]
async fn a_step_that_cannot_be_taken_is_refused_and_a_request_without_tools_has_none() {
    let server = started().await;
    let tools = json!([{"name": "mcp__b__post"}]);
    let ask = json!({"model": "m", "stream": true, "tools": tools, "messages": []});
    let expected = "no tool \"open\" is on offer; there is mcp__b__post";
    let refused = post(&server, "/v1/messages", &ask).await;
    assert_eq!(refused, (400, json!({"error": {"message": expected}}).to_string()));

    let ask = json!({"model": "m", "stream": true, "messages": []});
    let said = frames(&server, "/v1/messages", &ask).await;
    assert_eq!(at(&said, "/delta/text"), ["otherwise"]);
}

#[tokio::test]
async fn a_held_step_waits_until_it_is_released() {
    let rules = json!([{"steps": [{"call": "open", "hold": "turn"}], "text": "Done."}]);
    let rules = Rules::read(rules.to_string().as_bytes()).unwrap();
    let server = Scripted::start(Script::new(Reply::canned()).rules(rules)).await.unwrap();
    let tools = json!([{"type": "function", "function": {"name": "open"}}]);
    let ask = json!({"model": "m", "stream": true, "tools": tools, "messages": []});
    let turn = json!({"name": "turn"});
    let acting = async {
        assert_eq!(post(&server, "/__reached", &turn).await.0, 200);
        assert_eq!(server.in_flight(), 1);
        assert_eq!(post(&server, "/__release", &turn).await.0, 200);
    };
    let (said, ()) = tokio::join!(frames(&server, "/api/chat", &ask), acting);
    assert_eq!(at(&said, "/message/tool_calls/0/function/name"), ["open"]);
}
