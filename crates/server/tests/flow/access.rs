//! Who may come in.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use plenary_domain::limits;
use plenary_engine::testkit::ManualClock;
use plenary_server::Access;
use reqwest::StatusCode;
use serde_json::json;

use crate::support::{Setup, TestApp, answer, canned};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_the_door() {
    let tokens = vec!["one".to_owned(), "two".to_owned()];
    let local_token = Some("inner".to_owned());
    let access = Access { tokens, local_token, ..Access::default() };
    let app = TestApp::with_access(canned(), access).await;
    let get = |path: &str| app.http.get(format!("{}{path}", app.url));
    let sessions = "/api/sessions";
    for (request, expected) in [
        (get(sessions), 401),
        (get(sessions).bearer_auth("three"), 401),
        (get(sessions).header("authorization", "one"), 401),
        (get(sessions).bearer_auth("one"), 200),
        (get(sessions).bearer_auth("two"), 200),
        (get(sessions).bearer_auth("inner"), 200),
        (get("/api/openapi.json"), 401),
        (get("/api/nothing"), 401),
        (get("/healthz"), 200),
        (get("/readyz"), 200),
    ] {
        let (status, body) = answer(request).await;
        assert_eq!(status, expected, "{body}");
        if status == 401 {
            assert_eq!(body["error"]["code"], "unauthorized");
            assert!(body["error"]["hint"].as_str().unwrap().contains("PLENARY_TOKEN"));
        }
    }
    let response = get("/metrics").send().await.unwrap();
    assert_eq!(response.status(), 401);
    assert_eq!(response.headers()["www-authenticate"], "Bearer");
    // A key of one caller is not the key of another.
    let post = |token: &str| {
        let request = app.http.post(format!("{}/api/boardrooms", app.url)).bearer_auth(token);
        request
            .header("idempotency-key", "k")
            .json(&json!({ "prompt": "?", "models": ["ollama/a"] }))
    };
    let (_, first) = answer(post("one")).await;
    let (_, second) = answer(post("two")).await;
    let (_, third) = answer(post("one")).await;
    assert_ne!(first["data"]["id"], second["data"]["id"]);
    assert_eq!(first["data"]["id"], third["data"]["id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_gets_nothing() {
    let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let app = TestApp::with_access(canned(), Access { hosts, ..Access::default() }).await;
    let own = app.url.strip_prefix("http://").unwrap();
    let get = |host: &str| app.http.get(format!("{}/api/sessions", app.url)).header("host", host);
    for (request, expected) in [
        (get("evil.example"), "forbidden-host"),
        (get("evil.example:7171"), "forbidden-host"),
        (get("localhost.evil.example"), "forbidden-host"),
        (get("[::2]:7171"), "forbidden-host"),
        (get(""), "forbidden-host"),
        (get(own).header("origin", "https://evil.example"), "forbidden-origin"),
        (get(own).header("origin", "http://localhost:1"), "forbidden-origin"),
        (get(own).header("origin", "null"), "forbidden-origin"),
        // The trick of a rebound name: both agree, and neither is ours.
        (get("evil.example").header("origin", "http://evil.example"), "forbidden-host"),
    ] {
        let shown = format!("{request:?}");
        let (status, body) = answer(request).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!(expected)), "{shown}");
    }
    // Load balancers know nodes by their addresses.
    let looked = app.http.get(format!("{}/readyz", app.url)).header("host", "10.0.0.5:7171");
    assert_eq!(answer(looked).await.0, 200);
    for request in [
        get(own),
        get("LocalHost:7171"),
        get("[::1]:7171"),
        get(own).header("origin", format!("http://{own}")),
    ] {
        assert_eq!(answer(request).await.0, 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_from_elsewhere_is_let_in_by_the_operator() {
    let friend = "http://localhost:3000";
    let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let access = Access { hosts, origins: vec![friend.into()], ..guarded(&["one"]) };
    let app = TestApp::with_access(canned(), access).await;
    let ask = |method: reqwest::Method, path: &str, origin: &str| {
        let request = app.http.request(method, format!("{}{path}", app.url));
        request.header("origin", origin)
    };
    let told = |response: &reqwest::Response, name: &str| {
        response.headers().get(name).map(|value| value.to_str().unwrap().to_owned())
    };
    let opening = "/socket.io/?EIO=4&transport=polling";
    for path in ["/api/discussions", opening] {
        // The browser asks first whether the page may.
        let before = |origin: &str| {
            let request = ask(reqwest::Method::OPTIONS, path, origin);
            request
                .header("access-control-request-method", "PATCH")
                .header("access-control-request-headers", "authorization,content-type")
        };
        let response = before(friend).send().await.unwrap();
        assert_eq!(response.status(), 204, "{path}");
        assert_eq!(told(&response, "access-control-allow-origin").as_deref(), Some(friend));
        let headers = told(&response, "access-control-allow-headers");
        assert_eq!(headers.as_deref(), Some("authorization,content-type"));
        let methods = told(&response, "access-control-allow-methods").unwrap();
        assert!(methods.contains("PATCH"), "{methods}");
        let response = before(friend).header("host", "evil.example").send().await.unwrap();
        assert_eq!(response.status(), 403);
        let get = ask(reqwest::Method::GET, path, friend).bearer_auth("one");
        let response = get.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(told(&response, "access-control-allow-origin").as_deref(), Some(friend));
        assert_eq!(told(&response, "access-control-allow-credentials").as_deref(), Some("true"));
        assert_eq!(told(&response, "vary").as_deref(), Some("origin"));
        // Whoever is not on the list gets nothing, whatever it shows.
        for stranger in ["http://localhost:3001", "https://localhost:3000", "http://evil", "null"] {
            for request in [before(stranger), ask(reqwest::Method::GET, path, stranger)] {
                let response = request.bearer_auth("one").send().await.unwrap();
                assert_eq!(response.status(), 403, "{path} {stranger}");
                assert_eq!(told(&response, "access-control-allow-origin"), None);
            }
        }
    }
    // It is told what is wrong, and has to show a token: our cookie is our own pages'.
    let response = ask(reqwest::Method::GET, "/api/discussions", friend).send().await.unwrap();
    assert_eq!(response.status(), 401);
    assert_eq!(told(&response, "access-control-allow-origin").as_deref(), Some(friend));
    let cookie = cookie(&enter(&app, "one").await);
    let get = ask(reqwest::Method::GET, "/api/discussions", friend).header("cookie", cookie);
    for site in [None, Some("same-site")] {
        let request = get.try_clone().unwrap();
        let request =
            site.into_iter().fold(request, |all, site| all.header("sec-fetch-site", site));
        let (status, body) = answer(request).await;
        assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden-origin")));
    }
}

/// The cookie of an answer, as a browser would send it back.
fn cookie(response: &reqwest::Response) -> String {
    let set = response.headers()["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

async fn enter(app: &TestApp, token: &str) -> reqwest::Response {
    let request = app.http.post(format!("{}/api/access", app.url));
    request.json(&json!({ "token": token })).send().await.unwrap()
}

fn guarded(tokens: &[&str]) -> Access {
    let tokens = tokens.iter().map(|token| (*token).to_owned()).collect();
    Access { tokens, ..Access::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_comes_in_with_a_token_once() {
    let app = TestApp::with_access(canned(), guarded(&["one", "two"])).await;
    let own = app.url.clone();
    let state = async |cookie: &str| {
        let request = app.http.get(format!("{}/api/access", app.url)).header("cookie", cookie);
        answer(request).await.1["data"].clone()
    };
    assert_eq!(state("").await, json!({ "tokenWanted": true, "admitted": false }));
    let entered = enter(&app, "two").await;
    assert_eq!(entered.status(), 200);
    let set = entered.headers()["set-cookie"].to_str().unwrap().to_owned();
    let port = app.url.rsplit(':').next().unwrap();
    assert!(set.starts_with(&format!("plenary-{port}=")), "{set}");
    let rest = "; HttpOnly; SameSite=Strict; Path=/; Max-Age=7776000";
    assert!(set.ends_with(rest), "{set}");
    assert!(!set.contains("two"), "{set}");
    let cookie = cookie(&entered);
    let body: serde_json::Value = entered.json().await.unwrap();
    assert_eq!(body["data"], json!({ "tokenWanted": true, "admitted": true }));
    assert_eq!(state(&format!("a=b; {cookie}; c=d")).await["admitted"], true);

    let get = |path: &str| app.http.get(format!("{}{path}", app.url)).header("cookie", &cookie);
    for path in ["/api/sessions", "/api/openapi.json", "/docs", "/metrics"] {
        assert_eq!(get(path).send().await.unwrap().status(), 200, "{path}");
    }
    // What a token of its own says counts more than the cookie.
    assert_eq!(answer(get("/api/sessions").bearer_auth("three")).await.0, 401);
    // The record knows the browser as the one that has the token.
    let body = json!({ "prompt": "?", "models": ["ollama/a"] });
    let post = || app.http.post(format!("{}/api/boardrooms", app.url)).json(&body);
    let keyed = |request: reqwest::RequestBuilder| request.header("idempotency-key", "k");
    let with_cookie = post().header("cookie", &cookie).header("origin", &own);
    let (status, by_cookie) = answer(keyed(with_cookie)).await;
    assert_eq!(status, 201, "{by_cookie}");
    let (_, by_token) = answer(keyed(post().bearer_auth("two"))).await;
    assert_eq!(by_cookie["data"]["id"], by_token["data"]["id"]);

    let left = app.http.delete(format!("{}/api/access", app.url)).header("cookie", &cookie);
    let left = left.send().await.unwrap();
    let set = left.headers()["set-cookie"].to_str().unwrap();
    assert!(set.starts_with(&format!("plenary-{port}=;")) && set.contains("Max-Age=0"), "{set}");
    let body: serde_json::Value = left.json().await.unwrap();
    assert_eq!(body["data"], json!({ "tokenWanted": true, "admitted": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_outlives_the_server_and_not_its_token() {
    let first = TestApp::with_access(canned(), guarded(&["one"])).await;
    let given = cookie(&enter(&first, "one").await);
    let (_, value) = given.split_once('=').unwrap();
    let status = async |app: &TestApp, name: &str| {
        let request = app.http.get(format!("{}/api/sessions", app.url));
        answer(request.header("cookie", format!("{name}={value}"))).await.0
    };
    let name = |app: &TestApp| format!("plenary-{}", app.url.rsplit(':').next().unwrap());
    // Another process with the same token, and one whose token has changed.
    let second = TestApp::with_access(canned(), guarded(&["new", "one"])).await;
    assert_eq!(status(&second, &name(&second)).await, 200);
    // The cookie of another port is not ours.
    assert_eq!(status(&second, &name(&first)).await, 401);
    let third = TestApp::with_access(canned(), guarded(&["new"])).await;
    assert_eq!(status(&third, &name(&third)).await, 401);
    assert_eq!(status(&third, "plenary").await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_counts_for_our_own_pages() {
    let app = TestApp::with_access(canned(), guarded(&["one"])).await;
    let cookie = cookie(&enter(&app, "one").await);
    let own = app.url.as_str();
    let get = || app.http.get(format!("{own}/api/sessions")).header("cookie", &cookie);
    let body = json!({ "prompt": "?", "models": ["ollama/a"] });
    let post =
        || app.http.post(format!("{own}/api/boardrooms")).header("cookie", &cookie).json(&body);
    for (request, expected) in [
        (get(), 200),
        (get().header("sec-fetch-site", "same-origin"), 200),
        (get().header("sec-fetch-site", "none"), 200),
        // A page on another port of this host; a link on it is only followed.
        (get().header("sec-fetch-site", "same-site"), 403),
        (get().header("sec-fetch-site", "same-site").header("sec-fetch-mode", "navigate"), 200),
        (get().header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "no-cors"), 403),
        (post(), 403),
        (post().header("origin", own), 201),
        (post().header("sec-fetch-site", "same-origin"), 201),
        (post().header("sec-fetch-site", "none"), 403),
        (post().header("sec-fetch-site", "same-site"), 403),
        (post().header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate"), 403),
        (post().header("origin", "http://127.0.0.1:1"), 403),
        // Who proves itself by a token needs no page.
        (post().bearer_auth("one"), 201),
    ] {
        let shown = format!("{request:?}");
        let (status, body) = answer(request).await;
        assert_eq!(status, expected, "{shown}: {body}");
        if status == 403 {
            assert_eq!(body["error"]["code"], "forbidden-origin");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_is_kept_to_https_where_that_is_used() {
    let app = TestApp::with_access(canned(), guarded(&["one"])).await;
    for (forwarded, secure) in [("https", true), ("HTTPS, http", true), ("http", false)] {
        let request = app.http.post(format!("{}/api/access", app.url));
        let request = request.header("x-forwarded-proto", forwarded);
        let response = request.json(&json!({ "token": "one" })).send().await.unwrap();
        let set = response.headers()["set-cookie"].to_str().unwrap();
        assert_eq!(set.ends_with("; Secure"), secure, "{forwarded}: {set}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_token_is_wanted_none_is_kept() {
    let app = TestApp::start(canned()).await;
    let open = json!({ "tokenWanted": false, "admitted": true });
    assert_eq!(app.get("/api/access").await.1["data"], open);
    let entered = enter(&app, "any").await;
    assert_eq!((entered.status(), entered.headers().get("set-cookie")), (StatusCode::OK, None));
    assert_eq!(app.delete("/api/access").await.1["data"], open);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_guesses_has_to_wait() {
    let clock = Arc::new(ManualClock::default());
    let setup = Setup { access: guarded(&["one"]), clock: clock.clone(), ..Setup::default() };
    let app = setup.start(canned()).await;
    let in_already = cookie(&enter(&app, "one").await);
    for _ in 0..limits::WRONG_TOKENS {
        let wrong = enter(&app, "oen").await;
        assert_eq!(
            (wrong.status(), wrong.headers().get("set-cookie")),
            (StatusCode::UNAUTHORIZED, None)
        );
        let body: serde_json::Value = wrong.json().await.unwrap();
        assert_eq!(body["error"]["code"], "unauthorized");
        assert_eq!(body["error"]["message"], "That is not this server's access token.");
    }
    for token in ["oen", "one"] {
        let refused = enter(&app, token).await;
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.headers()["retry-after"], "6");
        let body: serde_json::Value = refused.json().await.unwrap();
        assert_eq!(body["error"]["code"], "too-many-tries");
        assert_eq!(body["error"]["hint"], "Try again in 6 seconds.");
    }
    // Nobody else is kept out.
    let get = || app.http.get(format!("{}/api/sessions", app.url));
    assert_eq!(answer(get().header("cookie", in_already)).await.0, 200);
    assert_eq!(answer(get().bearer_auth("one")).await.0, 200);
    // Nor is whoever types elsewhere, even through the same proxy on this machine.
    let elsewhere = async |address: &str| {
        let request = app.http.post(format!("{}/api/access", app.url));
        let request = request.header("x-forwarded-for", format!("192.0.2.1, {address}"));
        request.json(&json!({ "token": "one" })).send().await.unwrap().status()
    };
    assert_eq!(elsewhere("192.0.2.7").await, 200);
    assert_eq!(elsewhere("127.0.0.1").await, 429);
    clock.advance(Duration::from_millis(limits::WRONG_TOKEN_MS));
    assert_eq!(enter(&app, "one").await.status(), 200);
}

/// The configuration refuses one; should another way lead to it, nobody comes in.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_token_opens_nothing() {
    let app = TestApp::with_access(canned(), guarded(&[""])).await;
    let get = || app.http.get(format!("{}/api/sessions", app.url));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"");
    let forged = ring::hmac::sign(&key, b"plenary access cookie 1");
    let forged: String = forged.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let port = app.url.rsplit(':').next().unwrap();
    for request in [
        get(),
        get().bearer_auth(""),
        get().header("authorization", "Bearer"),
        get().header("cookie", format!("plenary-{port}={forged}")),
    ] {
        let (status, body) = answer(request).await;
        assert_eq!(status, 401, "{body}");
    }
    assert_eq!(enter(&app, "").await.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_many_guess_everybody_waits_and_gets_in() {
    let clock = Arc::new(ManualClock::default());
    let setup = Setup { access: guarded(&["one"]), clock: clock.clone(), ..Setup::default() };
    let app = setup.start(canned()).await;
    let enter = async |address: u32, token: &str| {
        let request = app.http.post(format!("{}/api/access", app.url));
        let request = request.header("x-forwarded-for", Ipv4Addr::from_bits(address).to_string());
        request.json(&json!({ "token": token })).send().await.unwrap().status()
    };
    for address in 0..limits::WRONG_TOKENS_ALL {
        assert_eq!(enter(0x0b00_0000 + address, "oen").await, 401);
    }
    let pause = Duration::from_millis(limits::WRONG_TOKEN_ALL_MS);
    let waits = async {
        clock.until_asleep(1, pause..=pause).await;
        clock.advance(pause);
    };
    let (status, ()) = tokio::join!(enter(0x0c00_0000, "one"), waits);
    assert_eq!(status, 200);
}
