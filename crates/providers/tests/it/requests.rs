//! What goes out on each wire.

use plenary_domain::{Ask, Message, Shape, Speaker, limits};
use plenary_providers::{Kind, Providers, Secret};
use plenary_scripted::{Fault, Recorded, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{KEY, WIRES, ask, config, hear, serve, serve_script};

/// Makes one request and shows it.
async fn sent(kind: Kind, ask: Ask) -> Recorded {
    let (server, providers) = serve(kind, Reply::text("{}")).await;
    assert_eq!(hear(&providers, ask).await.end, Ok(()));
    server.wait_for_requests(1).await.remove(0)
}

fn talk(kind: Kind) -> Ask {
    let mut ask = ask(kind.word(), "m1");
    let more = [(Speaker::Assistant, "Perhaps."), (Speaker::User, "Well?")];
    ask.messages.extend(more.map(|(speaker, text)| Message::new(speaker, text)));
    ask
}

fn schema() -> Value {
    json!({
        "type": "object", "properties": {"vote": {"type": "string"}}, "required": ["vote"],
    })
}

#[tokio::test]
async fn ollama_gets_its_chat() {
    let request = sent(Kind::Ollama, talk(Kind::Ollama)).await;
    assert_eq!(request.path, "/api/chat");
    assert_eq!(
        request.body,
        json!({
            "model": "m1", "stream": true, "options": {"num_predict": limits::ANSWER_TOKENS},
            "messages": [
                {"role": "system", "content": "You are an advisor."},
                {"role": "user", "content": "Shall we?"},
                {"role": "assistant", "content": "Perhaps."},
                {"role": "user", "content": "Well?"},
            ],
        })
    );
}

#[tokio::test]
async fn ollama_gets_its_context_size_when_one_is_set() {
    let (server, _) = serve(Kind::Ollama, Reply::text("yes")).await;
    let mut config = config(Kind::Ollama, &server.url());
    config.num_ctx = Some(16384);
    hear(&Providers::new(vec![config]), ask("ollama", "m1")).await;
    let options = json!({"num_ctx": 16384, "num_predict": limits::ANSWER_TOKENS});
    assert_eq!(server.requests()[0].body["options"], options);
}

#[tokio::test]
async fn openai_gets_its_completions() {
    let request = sent(Kind::OpenAi, talk(Kind::OpenAi)).await;
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(
        request.body,
        json!({
            "model": "m1", "stream": true, "stream_options": {"include_usage": true},
            "max_tokens": limits::ANSWER_TOKENS, "messages": [
                {"role": "system", "content": "You are an advisor."},
                {"role": "user", "content": "Shall we?"},
                {"role": "assistant", "content": "Perhaps."},
                {"role": "user", "content": "Well?"},
            ],
        })
    );
}

#[tokio::test]
async fn anthropic_gets_its_messages() {
    let request = sent(Kind::Anthropic, talk(Kind::Anthropic)).await;
    assert_eq!(request.path, "/v1/messages");
    assert_eq!(request.header("x-api-key"), Some(KEY));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(
        request.body,
        json!({
            "model": "m1", "stream": true, "max_tokens": limits::ANSWER_TOKENS,
            "system": "You are an advisor.", "messages": [
                {"role": "user", "content": "Shall we?"},
                {"role": "assistant", "content": "Perhaps."},
                {"role": "user", "content": "Well?"},
            ],
        })
    );
}

/// Some words that only this seat is told, and so many parts of a transcript.
fn lasting(parts: usize) -> Ask {
    let mut ask = ask("anthropic", "m1");
    ask.messages = vec![Message::new(Speaker::User, "")];
    (1..=parts).for_each(|part| ask.messages[0].keep(&format!("<{part}>\n")));
    ask.messages[0].text.push_str("Well?");
    ask
}

#[tokio::test]
async fn anthropic_is_told_what_to_keep() {
    let request = sent(Kind::Anthropic, lasting(2)).await;
    let keep = json!({"type": "ephemeral"});
    assert_eq!(
        (&request.body["system"], &request.body["messages"]),
        (
            &json!([{"type": "text", "text": "You are an advisor.", "cache_control": keep}]),
            &json!([{"role": "user", "content": [
                {"type": "text", "text": "<1>\n"},
                {"type": "text", "text": "<2>\n", "cache_control": keep},
                {"type": "text", "text": "Well?"},
            ]}]),
        )
    );
}

/// What was kept at the end of one request is found from a mark of the next.
#[tokio::test]
async fn anthropic_gets_no_more_marks_and_parts_than_it_takes() {
    let marked = async |parts: usize| {
        let body = sent(Kind::Anthropic, lasting(parts)).await.body;
        let content = body["messages"][0]["content"].as_array().unwrap().clone();
        let marks =
            content.iter().enumerate().filter(|(_, part)| part.get("cache_control").is_some());
        let places: Vec<usize> = marks.map(|(place, _)| place + 1).collect();
        (content.len(), places)
    };
    assert_eq!(marked(15).await, (16, vec![15]));
    assert_eq!(marked(50).await, (51, vec![10, 30, 50]));
    let most = limits::CACHE_PARTS;
    assert_eq!(marked(most + 300).await, (most + 2, vec![most - 39, most - 19, most + 1]));
}

/// A vote goes on from what the advisor was asked before, which alone is kept.
#[tokio::test]
async fn anthropic_keeps_the_message_that_will_come_again() {
    let mut asked = lasting(1);
    asked.messages.push(Message::new(Speaker::Assistant, "Perhaps."));
    asked.messages.push(Message::new(Speaker::User, "Vote."));
    let messages = sent(Kind::Anthropic, asked).await.body["messages"].take();
    assert_eq!(messages[0]["content"][0]["cache_control"], json!({"type": "ephemeral"}));
    assert_eq!(
        (&messages[1]["content"], &messages[2]["content"]),
        (&json!("Perhaps."), &json!("Vote."))
    );
}

#[tokio::test]
async fn gemini_gets_its_contents_and_no_key_in_the_address() {
    let request = sent(Kind::Gemini, talk(Kind::Gemini)).await;
    assert_eq!(request.path, "/v1beta/models/m1:streamGenerateContent");
    assert_eq!(request.header("x-goog-api-key"), Some(KEY));
    assert_eq!(
        request.body,
        json!({
            "generationConfig": {"maxOutputTokens": limits::ANSWER_TOKENS},
            "systemInstruction": {"parts": [{"text": "You are an advisor."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Shall we?"}]},
                {"role": "model", "parts": [{"text": "Perhaps."}]},
                {"role": "user", "parts": [{"text": "Well?"}]},
            ],
        })
    );
}

#[tokio::test]
async fn every_wire_gets_the_request_id() {
    for kind in WIRES {
        let request = sent(kind, talk(kind)).await;
        assert_eq!(request.request_id.as_deref(), Some("request-1"));
    }
}

#[tokio::test]
async fn a_schema_goes_out_in_each_wires_own_way() {
    let closed = json!({
        "type": "object", "properties": {"vote": {"type": "string"}}, "required": ["vote"],
        "additionalProperties": false,
    });
    let loose = json!({"name": "answer", "strict": false, "schema": schema()});
    let cases = [
        (Kind::Ollama, "/format", schema()),
        (Kind::OpenAi, "/response_format", json!({"type": "json_schema", "json_schema": loose})),
        (
            Kind::Anthropic,
            "/output_config/format",
            json!({"type": "json_schema", "schema": closed}),
        ),
        (
            Kind::Gemini,
            "/generationConfig",
            json!({
                "responseMimeType": "application/json", "responseJsonSchema": schema(),
                "maxOutputTokens": limits::ANSWER_TOKENS,
            }),
        ),
    ];
    for (kind, place, expected) in cases {
        let mut asked = talk(kind);
        asked.shape = Shape::Json(schema());
        let request = sent(kind, asked).await;
        assert_eq!(request.body.pointer(place), Some(&expected), "{kind:?}");
    }
    let mut asked = talk(Kind::OpenAi);
    asked.shape = Shape::Json(closed);
    let request = sent(Kind::OpenAi, asked).await;
    assert_eq!(request.body.pointer("/response_format/json_schema/strict"), Some(&json!(true)));
}

#[tokio::test]
async fn a_server_that_knows_no_schemas_gets_it_in_words() {
    for kind in WIRES {
        let no = Fault::Status {
            code: 400,
            body: json!({"error": {"message": "json_schema is not supported"}}).to_string(),
            retry_after: None,
        };
        let script = Script::new(Reply::text("{}")).when(When::default().nth(1), Reply::fault(no));
        let (server, providers) = serve_script(kind, script).await;
        let mut asked = talk(kind);
        asked.shape = Shape::Json(schema());
        assert_eq!(hear(&providers, asked).await.end, Ok(()));
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{kind:?}");
        assert!(requests[1].prompt.contains("follows this JSON schema"), "{kind:?}");
        let mut plain = requests[1].body.clone();
        let fields = plain.as_object_mut().unwrap();
        for field in ["format", "response_format", "output_config"] {
            assert!(fields.remove(field).is_none(), "{kind:?} {field}");
        }
        let generation = fields.remove("generationConfig");
        let cap = json!({"maxOutputTokens": limits::ANSWER_TOKENS});
        assert_eq!(generation.unwrap_or_else(|| cap.clone()), cap, "{kind:?}");
    }
}

#[tokio::test]
async fn a_cap_on_the_answer_goes_out_in_each_wires_own_way() {
    let cases = [
        (Kind::Ollama, "/options", json!({"num_predict": 700})),
        (Kind::OpenAi, "/max_tokens", json!(700)),
        (Kind::Anthropic, "/max_tokens", json!(700)),
        (Kind::Gemini, "/generationConfig", json!({"maxOutputTokens": 700})),
    ];
    for (kind, place, expected) in cases {
        let mut asked = talk(kind);
        asked.patience.answer_tokens = 700;
        let request = sent(kind, asked).await;
        assert_eq!(request.body.pointer(place), Some(&expected), "{kind:?}");
    }
}

#[tokio::test]
async fn a_temperature_goes_out_in_each_wires_own_way() {
    // Anthropic's ends at 1.
    for (kind, place, most) in [
        (Kind::Ollama, "/options/temperature", 1.5),
        (Kind::OpenAi, "/temperature", 1.5),
        (Kind::Anthropic, "/temperature", 1.0),
        (Kind::Gemini, "/generationConfig/temperature", 1.5),
    ] {
        for (asked, sent_as) in [(0.0, 0.0), (0.25, 0.25), (1.5, most)] {
            let ask = Ask { temperature: Some(asked), ..talk(kind) };
            let body = sent(kind, ask).await.body;
            assert_eq!(body.pointer(place), Some(&json!(sent_as)), "{kind:?}");
        }
        assert!(!sent(kind, talk(kind)).await.body.to_string().contains("temperature"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_model_that_takes_no_temperature_is_asked_without_it() {
    for kind in WIRES {
        let no = Fault::Status {
            code: 400,
            body: json!({"error": {"message": "Unsupported value: 'temperature' does not support \
                0.5 with this model."}})
            .to_string(),
            retry_after: None,
        };
        let script = Script::new(Reply::text("yes")).when(When::default().nth(1), Reply::fault(no));
        let (server, providers) = serve_script(kind, script).await;
        let ask = Ask { temperature: Some(0.5), ..talk(kind) };
        assert_eq!(hear(&providers, ask).await.end, Ok(()), "{kind:?}");
        let said = |nth: usize| server.requests()[nth].body.to_string().contains("temperature");
        assert_eq!((said(0), said(1)), (true, false), "{kind:?}");
    }
}

#[tokio::test]
async fn a_cap_leaves_room_for_other_options() {
    let (server, _) = serve(Kind::Ollama, Reply::text("yes")).await;
    let mut config = config(Kind::Ollama, &server.url());
    config.num_ctx = Some(16384);
    let mut asked = ask("ollama", "m1");
    asked.patience.answer_tokens = 700;
    hear(&Providers::new(vec![config]), asked).await;
    let options = json!({"num_ctx": 16384, "num_predict": 700});
    assert_eq!(server.requests()[0].body["options"], options);

    let mut asked = talk(Kind::Gemini);
    asked.patience.answer_tokens = 700;
    asked.shape = Shape::Json(schema());
    let expected = json!({
        "responseMimeType": "application/json", "responseJsonSchema": schema(),
        "maxOutputTokens": 700,
    });
    assert_eq!(sent(Kind::Gemini, asked).await.body["generationConfig"], expected);
}

#[tokio::test]
async fn a_model_that_wants_the_cap_by_its_newer_name_gets_it_so() {
    let no = Fault::Status {
        code: 400,
        body: json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported \
            with this model. Use 'max_completion_tokens' instead."}})
        .to_string(),
        retry_after: None,
    };
    let script = Script::new(Reply::text("yes")).when(When::default().nth(1), Reply::fault(no));
    let (server, providers) = serve_script(Kind::OpenAi, script).await;
    let mut asked = ask("openai", "m1");
    asked.patience.answer_tokens = 700;
    assert_eq!(hear(&providers, asked).await.end, Ok(()));
    let body = &server.requests()[1].body;
    let caps = (body.get("max_tokens"), body.get("max_completion_tokens"));
    assert_eq!(caps, (None, Some(&json!(700))));
}

/// Every request has a cap: one that a server finds too large becomes smaller.
#[tokio::test]
async fn a_cap_that_is_too_large_becomes_smaller() {
    let sayings = [
        (Kind::OpenAi, "max_tokens is too large: 8192. This model supports at most 4096"),
        (Kind::Anthropic, "max_tokens: 8192 > 4096, which is the maximum allowed number"),
        (
            Kind::OpenAi,
            "This model's maximum context length is 4096 tokens. However, you requested \
            9000 tokens (808 in the messages, 8192 in the completion).",
        ),
    ];
    for (kind, words) in sayings {
        let body = json!({"error": {"message": words}}).to_string();
        let no = Fault::Status { code: 400, body, retry_after: None };
        let script = Script::new(Reply::text("yes")).when(When::default().nth(1), Reply::fault(no));
        let (server, providers) = serve_script(kind, script).await;
        assert_eq!(hear(&providers, ask(kind.word(), "m1")).await.end, Ok(()), "{words}");
        let caps: Vec<_> = server.requests().iter().map(|r| r.body["max_tokens"].clone()).collect();
        assert_eq!(caps, [json!(8192), json!(2048)], "{words}");
    }
}

#[tokio::test]
async fn a_server_that_counts_nothing_is_asked_without_the_count() {
    let no = Fault::Status {
        code: 400,
        body: json!({"error": {"message": "Unrecognized request argument: stream_options"}})
            .to_string(),
        retry_after: None,
    };
    let script = Script::new(Reply::text("yes")).when(When::default().nth(1), Reply::fault(no));
    let (server, providers) = serve_script(Kind::OpenAi, script).await;
    let heard = hear(&providers, ask("openai", "m1")).await;
    assert_eq!((heard.text.as_str(), heard.end), ("yes", Ok(())));
    assert_eq!(server.requests()[1].body.get("stream_options"), None);
}

#[tokio::test]
async fn a_server_that_turns_everything_down_is_not_asked_forever() {
    let no = Fault::Status {
        code: 400,
        body: json!({"error": {"message": "no stream_options, no schema"}}).to_string(),
        retry_after: None,
    };
    let (server, providers) = serve(Kind::OpenAi, Reply::fault(no)).await;
    let mut asked = ask("openai", "m1");
    asked.shape = Shape::Json(schema());
    assert!(hear(&providers, asked).await.end.is_err());
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_model_name_cannot_lead_to_another_address() {
    let request = sent(Kind::Gemini, ask("gemini", "../x?key=1#y/z")).await;
    assert_eq!(request.path, "/v1beta/models/..%2Fx%3Fkey%3D1%23y%2Fz:streamGenerateContent");
}

#[tokio::test]
async fn a_name_with_slashes_and_colons_arrives_whole() {
    for kind in [Kind::Ollama, Kind::OpenAi, Kind::Anthropic] {
        let request = sent(kind, ask(kind.word(), "hf.co/some/model:Q4_K_M")).await;
        assert_eq!(request.model, "hf.co/some/model:Q4_K_M");
    }
}

#[tokio::test]
async fn a_key_shows_nowhere() {
    let shown = format!("{:?} {:?}", config(Kind::OpenAi, "http://x"), Secret::new(KEY));
    assert!(!shown.contains(KEY) && !shown.contains("4711"), "{shown}");
}

#[tokio::test]
async fn a_key_that_no_header_can_hold_is_named_by_its_variable() {
    let mut config = config(Kind::OpenAi, "http://127.0.0.1:9");
    config.key = Some(Secret::new("a\nb"));
    let heard = hear(&Providers::new(vec![config]), ask("openai", "m1")).await;
    assert!(heard.message().contains("The key in OPENAI_API_KEY"), "{heard:?}");
}
