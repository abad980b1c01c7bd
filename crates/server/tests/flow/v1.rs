//! A board as a model. The real clients are in `scripts/openai`; here is what they cannot
//! see, or do not do.

use plenary_domain::limits;
use plenary_scripted::{Fault, Gate, Reply, Rules, Script, When};
use plenary_server::{Access, Capacity};
use serde_json::{Value, json};

use crate::support::{Board, SAFETY, Setup, TestApp, WIRES, answer, canned};

const CHAT: &str = "/v1/chat/completions";
/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn asking(model: &str, messages: &[Value]) -> Value {
    json!({ "model": model, "messages": messages })
}

fn triad(text: &str) -> Value {
    asking("plenary/classic-triad", &[user(text)])
}

fn said(completion: &Value) -> &str {
    completion["choices"][0]["message"]["content"].as_str().unwrap()
}

fn session(completion: &Value) -> Board {
    Board { id: completion["metadata"]["plenary_session"].as_str().unwrap().to_owned() }
}

fn spoke(completion: &Value) -> Value {
    json!({ "role": "assistant", "content": said(completion) })
}

async fn complete(app: &TestApp, body: &Value) -> Value {
    let (status, completion) = app.post(CHAT, body).await;
    assert_eq!(status, 200, "{completion}");
    completion
}

async fn boards(app: &TestApp) -> Value {
    app.get("/api/boardrooms").await.1["meta"]["total"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_where_its_board_stands() {
    let app = TestApp::start(canned()).await;
    let first = complete(&app, &triad("Shall we?")).await;
    assert!(said(&first).starts_with("## Consensus"), "{first}");
    // Space is no difference, and instructions may change.
    let spaced = said(&first).replace("\n\n", "\n \n");
    let so_far = [user("Shall we? "), json!({ "role": "assistant", "content": spaced })];
    let then = |text: &str| {
        let system = json!({ "role": "system", "content": format!("It is {text}.") });
        let all = [&[system], &so_far[..], &[user(text)]].concat();
        asking("plenary/classic-triad", &all)
    };
    let second = complete(&app, &then("And now?")).await;
    assert_eq!(session(&second).id, session(&first).id);
    let view = app.board(&session(&first)).await;
    assert_eq!(view["rounds"].as_array().unwrap().len(), 2, "{view}");
    let prompts: Vec<String> = app.scripted.requests().into_iter().map(|one| one.prompt).collect();
    assert!(prompts[4..7].iter().all(|prompt| prompt.contains("It is And now?.")), "{prompts:?}");

    // The board has gone on: whoever branches off from an earlier place gets another one,
    // which is told what was said.
    let branch = complete(&app, &then("Or later?")).await;
    assert_ne!(session(&branch).id, session(&first).id);
    let view = app.board(&session(&branch)).await;
    assert_eq!(view["prompt"], "Or later?");
    assert_eq!(view["context"][0]["name"], "conversation so far", "{view}");
    // Another board is another conversation.
    let mut other = then("And now?");
    other["model"] = "plenary/devils-court".into();
    assert_eq!(boards(&app).await, 2);
    complete(&app, &other).await;
    assert_eq!(boards(&app).await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_known_again_after_a_restart() {
    let app = TestApp::start(canned()).await;
    let first = complete(&app, &triad("Shall we?")).await;
    let app = app.restarted().await;
    let all = [user("Shall we?"), spoke(&first), user("And then?")];
    let second = complete(&app, &asking("plenary/classic-triad", &all)).await;
    assert_eq!(session(&second).id, session(&first).id);
    assert_eq!(boards(&app).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_can_be_named() {
    let app = TestApp::start(canned()).await;
    let board = app.triad("Shall we?").await;
    app.until_status(&board, "closed").await;
    let mut body = triad("And then?");
    body["metadata"] = json!({ "plenary_session": board.id, "mine": "kept" });
    let completion = complete(&app, &body).await;
    assert_eq!(completion["metadata"], body["metadata"]);
    let request = app.http.post(format!("{}{CHAT}", app.url)).json(&triad("And then again?"));
    let (status, completion) = answer(request.header("x-plenary-session", &board.id)).await;
    assert_eq!((status, session(&completion).id), (200, board.id.clone()));
    let view = app.board(&board).await;
    assert_eq!(view["rounds"].as_array().unwrap().len(), 3);
    body["metadata"]["plenary_session"] = "01890a5d-ac96-774b-bcce-b302099a8057".into();
    let (status, refused) = app.post(CHAT, &body).await;
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("not_found")), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_is_answered_by_the_same_board() {
    let app = TestApp::start(canned()).await;
    let first = app.post_with_key(CHAT, "k", &triad("Shall we?")).await;
    let again = app.post_with_key(CHAT, "k", &triad("Shall we?")).await;
    assert_eq!((first.0, said(&first.1)), (again.0, said(&again.1)));
    assert_eq!(boards(&app).await, 1);
    assert_eq!(app.scripted.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_goes_away_stops_what_they_began_and_nothing_else() {
    let gate = Gate::new();
    let app = TestApp::start(Script::new(Reply::canned().gate(3, &gate)).models(&["a"])).await;
    for stream in [true, false] {
        let before = app.scripted.requests().len();
        let mut body = triad(&format!("Never mind? {stream}"));
        body["stream"] = stream.into();
        let request = app.http.post(format!("{}{CHAT}", app.url)).json(&body);
        let asked = tokio::spawn(async move {
            let mut response = request.send().await.unwrap();
            while response.chunk().await.unwrap().is_some() {}
        });
        until(|| app.scripted.in_flight() == 3).await;
        asked.abort();
        until(|| app.scripted.in_flight() == 0).await;
        let requests = app.scripted.requests();
        assert!(requests.len() == before + 3 && requests[before..].iter().all(|one| one.dropped));
    }
    // One that another request has begun goes on.
    let asking = || {
        let request = app.http.post(format!("{}{CHAT}", app.url)).json(&triad("Twice?"));
        tokio::spawn(request.header("idempotency-key", "k").send())
    };
    let first = asking();
    until(|| app.scripted.in_flight() == 3).await;
    let second = asking();
    app.until_metric("plenary_readers", |readers| readers == 2).await;
    second.abort();
    app.until_metric("plenary_readers", |readers| readers == 1).await;
    gate.release();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
}

async fn until(is_so: impl Fn() -> bool) {
    let comes = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SAFETY, comes).await.expect("it should have come to that");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_that_does_not_follow_its_schema_is_none() {
    let schema = json!({ "type": "object", "required": ["ship"], "additionalProperties": false,
        "properties": { "ship": { "type": "boolean" } } });
    let format = json!({ "type": "json_schema", "json_schema": { "name": "d", "schema": schema } });
    for (texts, status) in [
        (vec!["Sure: {\"ship\": true} is my answer."], 200),
        (vec!["{\"ship\": 1}", "{\"ship\": false}"], 200),
        (vec!["No idea."], 502),
    ] {
        let secretary =
            json!([{ "when": { "contains": ["secretary of a board"] }, "texts": texts }]);
        let script = canned().rules(Rules::read(secretary.to_string().as_bytes()).unwrap());
        let app = TestApp::start(script).await;
        let mut body = triad("Shall we?");
        body["response_format"] = format.clone();
        let (told, completion) = app.post(CHAT, &body).await;
        assert_eq!(told, status, "{texts:?}: {completion}");
        if status == 200 {
            let verdict: Value = serde_json::from_str(said(&completion)).unwrap();
            assert!(verdict["ship"].is_boolean(), "{completion}");
            let view = app.board(&session(&completion)).await;
            assert_eq!(view["syntheses"][0]["headings"], "notAsked");
        } else {
            assert_eq!(completion["error"]["code"], "board_failed", "{completion}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_of_the_advisors_is_what_was_streamed() {
    let thinking = Reply::text("<think>Hm.</think>Yes, but slowly.");
    let broken = Reply::fault(Fault::ServerError);
    let script = canned().when(When::model("b"), thinking).when(When::model("c"), broken);
    let app = TestApp::start(script).await;
    let mut body = triad("Shall we?");
    body["stream"] = true.into();
    body["plenary"] = json!({ "models": ["ollama/a", "ollama/b", "ollama/c"] });
    let request = app.http.post(format!("{}{CHAT}", app.url)).json(&body);
    let text = request.send().await.unwrap().text().await.unwrap();
    let chunks = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let mut said = (String::new(), String::new());
    let mut ended = None;
    for chunk in chunks.filter(|chunk| *chunk != "[DONE]") {
        let chunk: Value = serde_json::from_str(chunk).unwrap();
        let choice = &chunk["choices"][0];
        said.0.push_str(choice["delta"]["reasoning_content"].as_str().unwrap_or_default());
        said.1.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        ended = choice["finish_reason"].as_str().map(str::to_owned).or(ended);
    }
    assert_eq!(ended.as_deref(), Some("stop"), "{text}");
    assert!(text.trim_end().ends_with("data: [DONE]"), "{text}");
    assert!(said.0.contains("**Critic (ollama/b)**"), "{}", said.0);
    assert!(said.0.contains("(No answer: "), "{}", said.0);
    let id = text.split("\"plenary_session\":\"").nth(1).unwrap();
    let view = app.board(&Board { id: id[..36].to_owned() }).await;
    assert_eq!(Some(said.1.as_str()), view["syntheses"][0]["text"].as_str());
}

/// A board is slow beside a model: whoever waits knows at once that it has begun, and who
/// is asked.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_piece_comes_before_anybody_has_said_a_word() {
    let gate = Gate::new();
    let app = TestApp::start(Script::new(Reply::canned().gate(0, &gate)).models(&["a"])).await;
    for (path, body, first) in [
        (CHAT, triad("Shall we?"), "\"role\":\"assistant\""),
        (
            "/v1/responses",
            json!({ "model": "plenary/classic-triad", "input": "Shall we?" }),
            "response.created",
        ),
    ] {
        let mut body = body;
        body["stream"] = true.into();
        let request = app.http.post(format!("{}{path}", app.url)).json(&body);
        let mut response = request.send().await.unwrap();
        assert!(response.headers().contains_key("x-plenary-session"));
        let mut text = String::new();
        let comes = async {
            while !text.contains(first) {
                text.push_str(
                    std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap(),
                );
            }
        };
        tokio::time::timeout(SAFETY, comes).await.expect("the first piece");
        assert!(!text.contains("In short"), "{text}");
    }
    gate.release();
}

#[tokio::test(flavor = "multi_thread")]
async fn usage_is_the_sum_of_all_calls_of_the_round() {
    let broken = Reply::fault(Fault::ServerError).first(1);
    let script = Script::new(Reply::canned().usage(100, 10))
        .models(&["a"])
        .when(When::model("a").and_says("as the Critic").nth(1), broken);
    let app = TestApp::start(script).await;
    let first = complete(&app, &triad("Shall we?")).await;
    // Three advisors and the verdict; what failed said of no usage.
    assert_eq!(first["usage"]["prompt_tokens"], 400, "{first}");
    assert_eq!(first["usage"]["completion_tokens"], 40, "{first}");
    let again = [user("Shall we?"), spoke(&first), user("And then?")];
    let second = complete(&app, &asking("plenary/classic-triad", &again)).await;
    assert_eq!(second["usage"]["total_tokens"], 440, "of this round only: {second}");
    let body = json!({ "model": "plenary/classic-triad", "input": "Shall we?" });
    let (_, response) = app.post("/v1/responses", &body).await;
    assert_eq!(response["usage"]["total_tokens"], 440, "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_much_at_once_is_told_as_a_rate_limit() {
    // By the models.
    let limited = Fault::RateLimited { retry_after: Some(61) };
    let app = TestApp::start(Script::new(Reply::fault(limited)).models(&["a"])).await;
    let request = app.http.post(format!("{}{CHAT}", app.url)).json(&triad("Shall we?"));
    let response = request.send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["x-should-retry"]),
        (429, &"false".parse().unwrap())
    );
    let refused: Value = response.json().await.unwrap();
    assert_eq!(refused["error"]["code"], "rate_limit_exceeded", "{refused}");
    // By the server.
    let access = Access { tokens: vec!["one".to_owned()], ..Access::default() };
    let capacity = Capacity { connections: 8, ..Capacity::default() };
    let app = Setup { access, capacity, ..Setup::default() }.start(canned()).await;
    let get = |path: &str| app.http.get(format!("{}{path}", app.url)).bearer_auth("one");
    let mut readers = vec![];
    let refused = loop {
        readers.push(get("/api/events").send().await.unwrap());
        let response = get("/v1/models").send().await.unwrap();
        if response.status() != 200 {
            break response;
        }
        assert!(readers.len() < 64, "readers take no places");
    };
    assert_eq!(
        (refused.status().as_u16(), refused.headers()["retry-after"].is_empty()),
        (429, false)
    );
    assert_eq!(refused.headers()["x-should-retry"], "true");
    let refused: Value = refused.json().await.unwrap();
    let error = &refused["error"];
    assert_eq!(
        (&error["code"], &error["type"]),
        (&json!("rate_limit_exceeded"), &json!("requests"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_asked_as_it_is_over_every_wire() {
    let app = TestApp::start(Script::new(Reply::text("Just me.").usage(10, 2))).await;
    for wire in WIRES {
        let system = json!({ "role": "developer", "content": "Be brief." });
        let model = format!("{wire}/scripted");
        let mut messages = vec![system, user("Who is there?")];
        let first = complete(&app, &asking(&model, &messages)).await;
        assert_eq!((said(&first), &first["usage"]["total_tokens"]), ("Just me.", &json!(12)));
        messages.extend([spoke(&first), user("Who else?")]);
        let second = complete(&app, &asking(&model, &messages)).await;
        assert_eq!(session(&first).id, session(&second).id);
        assert_eq!(second["usage"]["total_tokens"], 12, "of this turn only: {second}");
        let asked = app.scripted.requests().pop().unwrap();
        for words in ["Be brief.", "Who is there?", "Just me.", "Who else?"] {
            assert!(asked.prompt.contains(words), "{}", asked.prompt);
        }
        assert!(!asked.prompt.contains("board"), "{}", asked.prompt);
    }
    assert_eq!(app.scripted.requests().len(), 8, "nobody writes a synthesis");
}

#[tokio::test(flavor = "multi_thread")]
async fn images_go_out_in_each_wires_way() {
    let app = TestApp::start(Script::new(Reply::text("A pixel."))).await;
    let picture = json!({ "type": "image_url",
        "image_url": { "url": format!("data:image/png;base64,{PNG}") } });
    let message = json!({ "role": "user", "content": [
        { "type": "text", "text": "What is it?" }, picture ] });
    let url = format!("data:image/png;base64,{PNG}");
    for (wire, place, shown) in [
        ("ollama", "/messages/1/images/0", json!(PNG)),
        ("openai", "/messages/1/content/0/image_url/url", json!(url)),
        (
            "anthropic",
            "/messages/0/content/0/source",
            json!({ "type": "base64", "media_type": "image/png", "data": PNG }),
        ),
        (
            "gemini",
            "/contents/0/parts/0/inlineData",
            json!({ "mimeType": "image/png", "data": PNG }),
        ),
    ] {
        let body = asking(&format!("{wire}/scripted"), std::slice::from_ref(&message));
        let completion = complete(&app, &body).await;
        let asked = app.scripted.requests().pop().unwrap();
        assert_eq!(asked.body.pointer(place), Some(&shown), "{wire}: {}", asked.body);
        let view = app.board(&session(&completion)).await;
        let kept = json!([{ "name": "image 1", "mediaType": "image/png", "bytes": 70 }]);
        assert_eq!(view["images"], kept, "{view}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_cannot_look_is_told_that_there_was_an_image() {
    let blind = json!({ "capabilities": ["completion"], "model_info": {} });
    let refuses = Fault::Status {
        code: 400,
        body: "this model does not support images".into(),
        retry_after: None,
    };
    let script = Script::new(Reply::text("I cannot see it."))
        .models(&["blind", "strict"])
        .about("blind", blind)
        .when(When::model("strict"), Reply::fault(refuses).first(1));
    let script = script.when(When::model("strict"), Reply::text("I cannot see it."));
    let app = TestApp::start(script).await;
    // By what is said of it, and by what it says itself.
    for (model, asked) in [("ollama/blind", 1), ("openai/strict", 2)] {
        let before = app.scripted.requests().len();
        let new = json!({ "prompt": "What is it?", "models": [model], "synthesizer": model,
            "advisors": [{ "role": "expert", "model": model }],
            "context": [{ "name": "plan.png", "data": PNG }] });
        let mut new = new;
        new.as_object_mut().unwrap().remove("models");
        let board = app.convene(&new).await;
        app.until_status(&board, "closed").await;
        let requests = app.scripted.requests();
        let last = &requests[before + asked - 1];
        assert!(last.prompt.contains("An image, \"plan.png\", image/png, came with this"));
        assert!(!last.body.to_string().contains(PNG), "{}", last.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn images_travel_with_the_record_and_come_in_by_every_way() {
    let app = TestApp::start(canned()).await;
    let new = json!({ "prompt": "What is it?", "models": ["ollama/a"],
        "context": [{ "name": "plan.png", "data": PNG }, { "name": "a.txt", "data": "SGk=" }] });
    let board = app.convene(&new).await;
    let view = app.until_status(&board, "closed").await;
    assert_eq!(view["context"], json!([{ "name": "a.txt", "bytes": 2 }]), "{view}");
    assert_eq!(view["images"][0]["name"], "plan.png");
    let more = json!({ "prompt": "And this?", "context": [{ "name": "b.png", "data": PNG }] });
    app.command(&board, "follow-up", more).await;
    app.until_status(&board, "closed").await;
    let export = app.http.get(format!("{}{}", app.url, board.at("export?format=json")));
    let record: Value = export.send().await.unwrap().json().await.unwrap();
    assert_eq!(record.to_string().matches(PNG).count(), 2, "each once");
    let (status, copy) = app.post("/api/boardrooms/import", &record).await;
    assert_eq!(status, 201, "{copy}");
    assert_eq!(copy["data"]["images"], view["images"]);
    for (file, problem) in [
        (json!({ "name": "a", "data": "?" }), "must be a file in base64"),
        (json!({ "name": "a", "data": "AAECAwQF/w==" }), "is neither text nor a PDF nor an image"),
        (json!({ "name": "a" }), "give the file's text"),
        (json!({ "name": "a", "text": "x", "data": "SGk=" }), "not both"),
    ] {
        let new = json!({ "prompt": "?", "models": ["ollama/a"], "context": [file] });
        let (status, refused) = app.post("/api/boardrooms", &new).await;
        assert_eq!(status, 422, "{refused}");
        let told = refused["error"]["fields"][0]["problem"].as_str().unwrap();
        assert!(told.contains(problem), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_with_its_parameter() {
    let app = TestApp::start(canned()).await;
    let with = |name: &str, value: Value| {
        let mut body = triad("Shall we?");
        body[name] = value;
        body
    };
    let part = |part: Value| with("messages", json!([{ "role": "user", "content": [part] }]));
    for (body, status, param) in [
        (with("messages", json!([])), 400, "messages"),
        (with("messages", json!([user(" ")])), 400, "messages"),
        (with("messages", json!([{ "role": "assistant", "content": "Hi." }])), 400, "messages"),
        (with("messages", json!([{ "role": "king", "content": "Hi." }])), 400, "messages[0].role"),
        (with("messages", json!(7)), 400, "messages"),
        (with("n", json!(2)), 400, "n"),
        (with("stop", json!(["."])), 400, "stop"),
        (with("logprobs", json!(true)), 400, "logprobs"),
        (with("tool_choice", json!("required")), 400, "tool_choice"),
        (with("modalities", json!(["text", "audio"])), 400, "modalities"),
        (with("best_of", json!(2)), 400, "best_of"),
        (with("max_tokens", json!(1)), 400, "max_tokens"),
        (with("model", json!("plenary/nowhere")), 404, "model"),
        (with("model", json!("model-x")), 404, "model"),
        (with("plenary", json!({ "budget": {} })), 400, "budget"),
        (with("plenary", json!({ "purse": 1 })), 400, "plenary.purse"),
        (
            part(
                json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } }),
            ),
            400,
            "messages[0].content[0].image_url",
        ),
        (part(json!({ "type": "input_audio" })), 400, "messages[0].content[0].type"),
    ] {
        let (told, refused) = app.post(CHAT, &body).await;
        assert_eq!(told, status, "{param}: {refused}");
        assert_eq!(refused["error"]["param"], param, "{refused}");
        assert!(refused["error"]["message"].is_string(), "{refused}");
    }
    for taken in [
        with("tools", json!([{ "type": "function", "function": { "name": "f" } }])),
        with("tool_choice", json!("auto")),
        with("stop", Value::Null),
        with("temperature", json!(0)),
        with("user", json!("ann")),
    ] {
        complete(&app, &taken).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_not_let_in_is_told_so_in_openais_shape() {
    let access = Access {
        tokens: vec!["sesame".to_owned()],
        hosts: vec!["127.0.0.1".to_owned()],
        ..Access::default()
    };
    let app = TestApp::with_access(canned(), access).await;
    let get = |path: &str| app.http.get(format!("{}{path}", app.url));
    for (request, status, code) in [
        (get("/v1/models"), 401, "invalid_api_key"),
        (get("/v1/models").bearer_auth("guess"), 401, "invalid_api_key"),
        (
            get("/v1/models").bearer_auth("sesame").header("host", "evil.example"),
            403,
            "forbidden_host",
        ),
        (
            get("/v1/models").bearer_auth("sesame").header("origin", "https://evil.example"),
            403,
            "forbidden_origin",
        ),
        (get("/v1/embeddings").bearer_auth("sesame"), 404, "not_found"),
        (get(CHAT).bearer_auth("sesame"), 405, "method_not_allowed"),
        (get("/v1/models/plenary/nowhere").bearer_auth("sesame"), 404, "model_not_found"),
    ] {
        let (told, refused) = answer(request).await;
        assert_eq!((told, &refused["error"]["code"]), (status, &json!(code)), "{refused}");
        assert!(refused["error"]["type"].is_string() && refused.get("success").is_none());
    }
    let (status, models) = answer(get("/v1/models").bearer_auth("sesame")).await;
    assert_eq!((status, &models["object"]), (200, &json!("list")), "{models}");
    let long = "x".repeat(limits::BODY_BYTES);
    let post = app.http.post(format!("{}{CHAT}", app.url)).bearer_auth("sesame");
    let (status, refused) = answer(post.json(&triad(&long))).await;
    assert_eq!((status, &refused["error"]["code"]), (413, &json!("too_large")), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_who_answers_is_told_with_the_reason() {
    for (fault, status, code) in [
        (Fault::OutOfQuota, 429, "insufficient_quota"),
        (Fault::Refusal, 502, "board_failed"),
        (Fault::ContextOverflow, 400, "context_length_exceeded"),
    ] {
        let app = TestApp::start(Script::new(Reply::fault(fault.clone())).models(&["a"])).await;
        let request = app.http.post(format!("{}{CHAT}", app.url)).json(&triad("Shall we?"));
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["x-should-retry"], "false");
        assert!(response.headers().contains_key("x-plenary-session"));
        let told = response.status().as_u16();
        let refused: Value = response.json().await.unwrap();
        assert_eq!((told, &refused["error"]["code"]), (status, &json!(code)), "{refused}");
        let mut body = triad("Shall we?");
        body["stream"] = true.into();
        let request = app.http.post(format!("{}{CHAT}", app.url)).json(&body);
        let text = request.send().await.unwrap().text().await.unwrap();
        let last = text.lines().rfind(|line| line.starts_with("data: ")).unwrap();
        let last: Value = serde_json::from_str(&last[6..]).unwrap();
        assert_eq!(last["error"]["code"], code, "{text}");
        let (_, failed) = app
            .post(
                "/v1/responses",
                &json!({ "model": "plenary/classic-triad",
            "input": "Shall we?" }),
            )
            .await;
        assert_eq!(failed["error"]["code"], code, "{failed}");
    }
}
