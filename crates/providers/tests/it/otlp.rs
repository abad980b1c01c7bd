//! Traces, as a collector gets them over real HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use plenary_domain::{CallId, FailureKind, ModelName, SessionId, Timestamp, Usage, limits};
use plenary_engine::{CallEnding, Span, Spanned, TraceCounts, Traces};
use plenary_providers::{Otlp, OtlpConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const SAFETY: Duration = Duration::from_secs(60);

fn config(set: &[(&str, &str)]) -> Result<Option<OtlpConfig>, String> {
    let set: BTreeMap<&str, &str> = set.iter().copied().collect();
    OtlpConfig::of(&|name| set.get(name).map(|value| (*value).to_owned()))
}

async fn collector() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

/// One request: its head in lower case, and its body.
async fn received(listener: &TcpListener) -> (TcpStream, String, Vec<u8>) {
    let receive = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![];
        loop {
            stream.read_buf(&mut bytes).await.unwrap();
            let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().parse().unwrap();
            if bytes.len() == end + 4 + length {
                return (stream, head, bytes[end + 4..].to_vec());
            }
        }
    };
    tokio::time::timeout(SAFETY, receive).await.unwrap()
}

async fn answer(mut stream: TcpStream, status: &str) {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
    stream.write_all(answer.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
}

fn session() -> SessionId {
    "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap()
}

fn opened() -> Span {
    let at = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
    let what = Spanned::Opened { kind: "boardroom" };
    Span { session: session(), began: at, ended: at, what }
}

fn called(model: &str, ending: CallEnding) -> Span {
    let usage = Usage { input_tokens: Some(12), output_tokens: Some(34), ..Usage::default() };
    let usage = if ending == CallEnding::Answered { usage } else { Usage::default() };
    Span {
        began: Timestamp::from_millisecond(1_800_000_000_100).unwrap(),
        ended: Timestamp::from_millisecond(1_800_000_002_345).unwrap(),
        what: Spanned::Call {
            call: CallId("advisor/1#1".into()),
            model: ModelName(model.into()),
            usage,
            requests: 2,
            ending,
        },
        ..opened()
    }
}

#[tokio::test]
async fn a_session_is_a_trace_and_a_call_a_span() {
    let (listener, url) = collector().await;
    let config = config(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("{url}/")),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20abc%3D, x-scope=%zz"),
        ("OTEL_SERVICE_NAME", "council"),
    ]);
    let otlp = Otlp::start(&config.unwrap().unwrap(), "node-1", "1.2.3").unwrap();
    otlp.note(opened());
    otlp.note(called("gemini/flash", CallEnding::Answered));
    otlp.note(called("lab/qwen", CallEnding::Failed(FailureKind::RateLimited)));
    otlp.note(called("lab/qwen/32b", CallEnding::Dropped));
    let (head, body) = {
        let closes = otlp.close();
        let takes = async {
            let (stream, head, body) = received(&listener).await;
            answer(stream, "200 OK").await;
            (head, body)
        };
        tokio::join!(closes, takes).1
    };
    assert_eq!(otlp.counts(), TraceCounts { exported: 4, dropped: 0 });
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    for line in ["content-type: application/json", "authorization: basic abc=", "x-scope: %zz"] {
        assert!(head.lines().any(|own| own == line), "{line} in {head}");
    }

    let text = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let number = |key: &str, value: &str| json!({ "key": key, "value": { "intValue": value } });
    let conversation = text("gen_ai.conversation.id", &session().to_string());
    let about = |provider: &str, model: &str| {
        vec![
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.provider.name", provider),
            text("gen_ai.request.model", model),
            conversation.clone(),
            text("plenary.call", "advisor/1#1"),
            number("plenary.requests", "2"),
        ]
    };
    let with = |mut attributes: Vec<Value>, more: Vec<Value>| {
        attributes.extend(more);
        attributes
    };
    let span = |model: &str, attributes: Vec<Value>| {
        json!({
            "traceId": "01890a5dac96774bbcceb302099a8057",
            "spanId": "own",
            "parentSpanId": "bcceb302099a8057",
            "name": format!("chat {model}"),
            "kind": 3,
            "startTimeUnixNano": "1800000000100000000",
            "endTimeUnixNano": "1800000002345000000",
            "attributes": attributes,
        })
    };
    let failed = |mut span: Value| {
        span["status"] = json!({ "code": 2 });
        span
    };
    let used =
        vec![number("gen_ai.usage.input_tokens", "12"), number("gen_ai.usage.output_tokens", "34")];
    let limited = with(about("lab", "qwen"), vec![text("error.type", "rateLimited")]);
    let stopped = with(about("lab", "qwen/32b"), vec![text("error.type", "cancelled")]);
    let expected = json!({ "resourceSpans": [{
        "resource": { "attributes": [
            text("service.name", "council"),
            text("service.version", "1.2.3"),
            text("service.instance.id", "node-1"),
        ] },
        "scopeSpans": [{
            "scope": { "name": "plenary", "version": "1.2.3" },
            "spans": [
                {
                    "traceId": "01890a5dac96774bbcceb302099a8057",
                    "spanId": "bcceb302099a8057",
                    "name": "boardroom",
                    "kind": 1,
                    "startTimeUnixNano": "1800000000000000000",
                    "endTimeUnixNano": "1800000000000000000",
                    "attributes": [conversation],
                },
                span("flash", with(about("gcp.gemini", "flash"), used)),
                failed(span("qwen", limited)),
                failed(span("qwen/32b", stopped)),
            ],
        }],
    }] });
    let mut found: Value = serde_json::from_slice(&body).unwrap();
    for span in found["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap() {
        if span["parentSpanId"].is_string() {
            let id = span["spanId"].as_str().unwrap();
            assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
            span["spanId"] = "own".into();
        }
    }
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_the_collector_does_not_get_is_counted() {
    let (listener, url) = collector().await;
    let config = config(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{url}/own"))]);
    let otlp = Otlp::start(&config.unwrap().unwrap(), "node-1", "1.2.3").unwrap();
    otlp.note(opened());
    let closes = otlp.close();
    let refuses = async {
        let (stream, head, _) = received(&listener).await;
        assert!(head.starts_with("post /own http/1.1"), "{head}");
        answer(stream, "503 Service Unavailable").await;
    };
    tokio::join!(closes, refuses);
    assert_eq!(otlp.counts(), TraceCounts { exported: 0, dropped: 1 });
    // Nobody takes any more, and nobody waits.
    (0..limits::SPANS_WAITING).for_each(|_| otlp.note(opened()));
    assert_eq!(otlp.counts().dropped, 1 + limits::SPANS_WAITING as u64);
}

#[tokio::test]
async fn nobody_waits_for_a_collector_that_does_not_answer() {
    let (listener, url) = collector().await;
    let config = config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]);
    let otlp = Otlp::start(&config.unwrap().unwrap(), "node-1", "1.2.3").unwrap();
    // This task does not let others run, so all of them have to fit into the queue.
    (0..limits::SPANS_WAITING + 7).for_each(|_| otlp.note(opened()));
    assert_eq!(otlp.counts(), TraceCounts { exported: 0, dropped: 7 });
    let (_silent, _, body) = received(&listener).await;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(spans.as_array().unwrap().len(), limits::SPANS_AT_ONCE);
}

#[test]
fn variables_say_where_traces_go() {
    assert!(config(&[]).unwrap().is_none());
    assert!(config(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_none());
    let grpc = config(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ]);
    assert!(grpc.unwrap_err().contains("http/json"));
    let secret = config(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=very-secret"),
    ]);
    assert!(!format!("{secret:?}").contains("very-secret"));
}
