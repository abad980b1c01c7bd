//! Every fault on every wire where it exists: what is kept, what it is called,
//! and what the person is told.

use std::time::Duration;

use plenary_domain::FailureKind::{
    self, Misconfigured, OutOfCredit, PromptTooLong, ProviderError, RateLimited, Refused,
    Unreachable,
};
use plenary_providers::{Kind, ProviderConfig, Providers};
use plenary_scripted::{Fault, Reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Heard, KEY, WIRES, ask, config, hear, serve};

const TEXT: &str = "one two three four";

type Expected = (&'static str, FailureKind);
const RETRY: fn(FailureKind) -> Expected = |kind| ("retry", kind);
const FINAL: fn(FailureKind) -> Expected = |kind| ("final", kind);

/// The fault brings this text, this error and these words on all the wires.
async fn check(wires: &[Kind], fault: Fault, text: &str, error: Expected, words: &str) {
    for kind in wires {
        let reply = Reply::text(TEXT).with_fault(fault.clone());
        let (_server, providers) = serve(*kind, reply).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        let case = format!("{kind:?} {fault:?}: {heard:?}");
        assert_eq!(heard.text, text, "{case}");
        assert_eq!(heard.kind(), Some(error), "{case}");
        presentable(&heard, words, &case);
    }
}

fn presentable(heard: &Heard, words: &str, case: &str) {
    let message = heard.message();
    assert!(message.contains(words), "{case}");
    assert!(!message.contains(KEY), "{case}");
    assert!(message.ends_with('.') && !message.contains(".."), "{case}");
    assert!(message.chars().count() < 500, "{case}");
    assert!(!message.chars().any(char::is_control), "{case}");
}

#[tokio::test]
async fn a_wrong_key_names_the_variable() {
    for kind in WIRES {
        let variable = format!("Check {}_API_KEY.", kind.word().to_uppercase());
        check(&[kind], Fault::Unauthorized, "", FINAL(Misconfigured), &variable).await;
    }
}

#[tokio::test]
async fn a_missing_key_names_the_variable_too() {
    let (server, _) = serve(Kind::OpenAi, Reply::fault(Fault::Unauthorized)).await;
    let mut keyless = config(Kind::OpenAi, &server.url());
    keyless.key = None;
    let heard = hear(&Providers::new(vec![keyless]), ask("openai", "m1")).await;
    assert_eq!(heard.kind(), Some(FINAL(Misconfigured)));
    presentable(&heard, "Set OPENAI_API_KEY.", "no key");
}

#[tokio::test]
async fn an_unknown_model_is_named() {
    check(&WIRES, Fault::NoSuchModel, "", FINAL(Misconfigured), "has no model `m1`").await;
    check(&[Kind::Ollama], Fault::NoSuchModel, "", FINAL(Misconfigured), "`ollama pull m1`").await;
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_too_long() {
    let words = "The prompt is too long for `m1`";
    check(&WIRES, Fault::ContextOverflow, "", FINAL(PromptTooLong), words).await;
}

#[tokio::test]
async fn too_many_requests_may_be_tried_again_after_the_wait() {
    for kind in WIRES {
        let fault = Fault::RateLimited { retry_after: Some(7) };
        let (_server, providers) = serve(kind, Reply::fault(fault)).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert_eq!(heard.kind(), Some(RETRY(RateLimited)), "{heard:?}");
        assert_eq!(heard.after(), Some(Duration::from_secs(7)));
        presentable(&heard, "is limiting requests", kind.word());
    }
    let none = Fault::RateLimited { retry_after: None };
    check(&WIRES, none, "", RETRY(RateLimited), "is limiting requests").await;
}

#[tokio::test]
async fn the_wait_may_stand_in_the_body_or_as_a_date() {
    let body = r#"[{"error":{"code":429,"message":"Quota.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}]"#;
    let cases = [
        (Kind::Gemini, body, None, Some(37)),
        (Kind::OpenAi, "", Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some(0)),
        (Kind::OpenAi, "", Some("soon"), None),
    ];
    for (kind, body, header, seconds) in cases {
        let fault = Fault::Status {
            code: 429,
            body: body.to_owned(),
            retry_after: header.map(str::to_owned),
        };
        let (_server, providers) = serve(kind, Reply::fault(fault)).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert_eq!(heard.kind(), Some(RETRY(RateLimited)), "{heard:?}");
        assert_eq!(heard.after(), seconds.map(Duration::from_secs));
    }
}

#[tokio::test]
async fn an_empty_account_is_final() {
    // Gemini has the same words for this and for a request too many.
    let wires = [Kind::Ollama, Kind::OpenAi, Kind::Anthropic];
    check(&wires, Fault::OutOfQuota, "", FINAL(OutOfCredit), "out of credit").await;
}

#[tokio::test]
async fn an_overloaded_provider_may_be_tried_again() {
    check(&WIRES, Fault::Overloaded, "", RETRY(RateLimited), "is overloaded").await;
    let later = Fault::OverloadedAfter { tokens: 2 };
    check(&WIRES, later, "one two ", RETRY(RateLimited), "is overloaded").await;
}

#[tokio::test]
async fn a_broken_provider_may_be_tried_again() {
    check(&WIRES, Fault::ServerError, "", RETRY(ProviderError), "returned an error: ").await;
    for code in [408, 500, 502, 503, 504] {
        let fault = status(code, "<html><body>Bad gateway</body></html>");
        check(&WIRES, fault, "", RETRY(ProviderError), "returned an error.").await;
    }
}

#[tokio::test]
async fn an_error_after_some_tokens_keeps_them() {
    let fault = Fault::ErrorAfter { tokens: 2 };
    check(&WIRES, fault, "one two ", RETRY(ProviderError), "returned an error: ").await;
}

#[tokio::test]
async fn a_cut_keeps_what_came_and_is_no_end() {
    for fault in [Fault::CutAfter { tokens: 2 }, Fault::EndAfter { tokens: 2 }] {
        check(&WIRES, fault, "one two ", RETRY(Unreachable), "broke off in the middle").await;
    }
    check(&WIRES, Fault::CutAfter { tokens: 0 }, "", RETRY(Unreachable), "broke off").await;
    let silent = [Kind::Ollama, Kind::Gemini];
    let fault = Fault::EndAfter { tokens: 0 };
    check(&silent, fault, "", RETRY(Unreachable), "closed the stream without an answer").await;
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused() {
    let fault = Fault::BadUtf8After { tokens: 2 };
    check(&WIRES, fault, "one two ", FINAL(ProviderError), "not UTF-8").await;
}

#[tokio::test]
async fn a_line_without_end_is_refused_before_it_is_read() {
    let fault = Fault::HugeLineAfter { tokens: 2 };
    check(&WIRES, fault, "one two ", FINAL(ProviderError), "a line that is too long").await;
}

#[tokio::test]
async fn an_answer_at_the_output_limit_is_kept_and_called_cut() {
    for kind in WIRES {
        let reply = Reply::text(TEXT).with_fault(Fault::Length);
        let (_server, providers) = serve(kind, reply).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert_eq!((heard.text.as_str(), heard.cut, heard.end), (TEXT, true, Ok(())), "{kind:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_a_refusal() {
    let wires = [Kind::OpenAi, Kind::Anthropic, Kind::Gemini];
    check(&wires, Fault::Refusal, "", FINAL(Refused), "declined to answer").await;
    let fault = Fault::FilteredAfter { tokens: 2 };
    check(&wires, fault, "one two ", FINAL(Refused), "declined to answer").await;
    let words = "I'm sorry, I can't help with that.";
    check(&[Kind::OpenAi], Fault::Refusal, "", FINAL(Refused), words).await;
}

#[tokio::test]
async fn an_empty_answer_is_an_end_without_text() {
    for kind in WIRES {
        let (_server, providers) = serve(kind, Reply::fault(Fault::Empty)).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert_eq!((heard.text.as_str(), &heard.end), ("", &Ok(())), "{kind:?}");
    }
}

#[tokio::test]
async fn what_is_no_model_server_is_called_so() {
    check(&WIRES, Fault::WebPage, "", FINAL(Misconfigured), "check the URL").await;
    let sayings =
        [("hello", Misconfigured), ("{\"status\":\"ok\"}", Misconfigured), ("[]", Misconfigured)];
    for (body, kind) in sayings {
        check(&WIRES, status(200, body), "", FINAL(kind), "check the URL").await;
    }
}

#[tokio::test]
async fn an_error_object_in_place_of_a_stream_is_read() {
    let body = r#"{"error":{"message":"Rate limit exceeded","code":429}}"#;
    let events = [Kind::OpenAi, Kind::Anthropic, Kind::Gemini];
    check(&events, status(200, body), "", RETRY(RateLimited), "Rate limit exceeded").await;
}

#[tokio::test]
async fn other_statuses_mean_what_they_say() {
    let cases = [
        (301, "", FINAL(Misconfigured), "redirects to another address"),
        (
            400,
            r#"{"error":{"message":"bad thing"}}"#,
            FINAL(Misconfigured),
            "rejected the request: bad thing.",
        ),
        (402, "", FINAL(OutOfCredit), "out of credit"),
        (403, "", FINAL(Misconfigured), "rejected the key"),
        (404, "404 page not found", FINAL(Misconfigured), "nothing at this address"),
        (413, "", FINAL(PromptTooLong), "too long"),
        (
            500,
            r#"{"error":"model requires more system memory (9 GiB) than is available"}"#,
            FINAL(Misconfigured),
            "too little memory",
        ),
        (
            400,
            r#"{"error":{"message":"blocked","code":"content_filter"}}"#,
            FINAL(Refused),
            "declined to answer: blocked.",
        ),
        (529, "", RETRY(RateLimited), "is overloaded"),
    ];
    for (code, body, error, words) in cases {
        check(&WIRES, status(code, body), "", error, words).await;
    }
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_does_not_get_it_into_a_message() {
    let body =
        format!("{{\"error\":{{\"message\":\"no \\u001b[31m {KEY} no {}\"}}}}", "x ".repeat(900));
    check(&WIRES, status(400, &body), "", FINAL(Misconfigured), "no [31m [key] no x x").await;
}

#[tokio::test]
async fn an_unknown_host_is_final() {
    for kind in WIRES {
        let heard = hear_at(kind, "http://no-such-host.invalid").await;
        assert_eq!(heard.kind(), Some(FINAL(Unreachable)), "{heard:?}");
        presentable(&heard, "The host of", kind.word());
        presentable(&heard, "http://no-such-host.invalid", kind.word());
    }
}

#[tokio::test]
async fn a_refused_connection_may_be_tried_again() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    for kind in WIRES {
        let heard = hear_at(kind, &url).await;
        assert_eq!(heard.kind(), Some(RETRY(Unreachable)), "{heard:?}");
        presentable(&heard, "check that it is running", kind.word());
    }
}

#[tokio::test]
async fn a_plain_server_behind_https_is_final() {
    for kind in WIRES {
        let (server, _) = serve(kind, Reply::text(TEXT)).await;
        let heard = hear_at(kind, &server.url().replace("http://", "https://")).await;
        assert_eq!(heard.kind(), Some(FINAL(Unreachable)), "{heard:?}");
        presentable(&heard, "Could not make a secure connection", kind.word());
    }
}

#[tokio::test]
async fn a_connection_closed_before_the_status_may_be_tried_again() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let closing = tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let heard = hear_at(Kind::Ollama, &url).await;
    assert_eq!(heard.kind(), Some(RETRY(Unreachable)), "{heard:?}");
    closing.abort();
}

#[tokio::test]
async fn a_connection_closed_inside_an_http_chunk_is_a_cut() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let closing = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = socket.read(&mut request).await.unwrap();
        let line = "{\"message\":{\"content\":\"one \"},\"done\":false}\n";
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        // The chunk claims to be longer than it is.
        let reply = format!("{head}{:x}\r\n{line}{{\"mess", line.len() + 100);
        socket.write_all(reply.as_bytes()).await.unwrap();
    });
    let heard = hear_at(Kind::Ollama, &url).await;
    assert_eq!(heard.text, "one ");
    assert_eq!(heard.kind(), Some(RETRY(Unreachable)), "{heard:?}");
    presentable(&heard, "broke off in the middle", "chunk");
    closing.await.unwrap();
}

#[tokio::test]
async fn a_url_that_is_none_is_misconfigured() {
    let heard = hear_at(Kind::Ollama, "not a url").await;
    assert_eq!(heard.kind(), Some(FINAL(Misconfigured)), "{heard:?}");
    presentable(&heard, "`not a url`", "url");
}

#[tokio::test]
async fn an_unknown_provider_names_those_that_are() {
    let configs = vec![ProviderConfig::new("ollama", Kind::Ollama)];
    let heard = hear(&Providers::new(configs), ask("olama", "m1")).await;
    assert_eq!(heard.kind(), Some(FINAL(Misconfigured)));
    presentable(&heard, "no provider `olama`; available: ollama.", "unknown");
}

#[tokio::test]
async fn after_the_fault_the_provider_serves_again() {
    for kind in WIRES {
        let reply = Reply::text(TEXT).with_fault(Fault::ServerError).first(2);
        let (_server, providers) = serve(kind, reply).await;
        for expected in [Some(RETRY(ProviderError)), Some(RETRY(ProviderError)), None] {
            let heard = hear(&providers, ask(kind.word(), "m1")).await;
            assert_eq!(heard.kind(), expected);
        }
    }
}

fn status(code: u16, body: &str) -> Fault {
    Fault::Status { code, body: body.to_owned(), retry_after: None }
}

async fn hear_at(kind: Kind, url: &str) -> Heard {
    let providers = Providers::new(vec![config(kind, url)]);
    hear(&providers, ask(kind.word(), "m1")).await
}
