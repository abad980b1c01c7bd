//! What is known of models beside their names, and what it is used for.

use plenary_scripted::{Fault, Reply, Script};
use serde_json::{Value, json};

use crate::support::TestApp;

fn script() -> Script {
    let about = json!({
        "context_length": 2_000, "parameters": "num_ctx 3000",
        "pricing": { "prompt": "0.000001", "completion": "0.000002",
            "input_cache_read": "0.0000001" },
    });
    Script::new(Reply::canned().usage(1_000, 500)).models(&["a", "b"]).about("a", about)
}

async fn listed(app: &TestApp, name: &str) -> Value {
    let (_, models) = app.get("/api/models").await;
    let mut all = models["data"].as_array().unwrap().iter();
    all.find(|model| model["name"] == name).unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_shows_windows_and_prices_and_who_says_them() {
    let app = TestApp::start(script()).await;
    let mut model = listed(&app, "openai/a").await;
    for part in ["window", "price"] {
        let said_on = model[part].as_object_mut().unwrap().remove("saidOn").unwrap();
        assert!(said_on.as_str().unwrap().starts_with("20"), "{said_on}");
    }
    let window = json!({ "tokens": 2_000, "source": "provider" });
    let price = json!({ "input": 1.0, "output": 2.0, "cached": 0.1, "currency": "USD",
        "source": "provider" });
    let expected = json!({ "name": "openai/a", "provider": "openai", "automatic": true,
        "window": window, "price": price });
    assert_eq!(model, expected);
    let expected = json!({ "name": "openai/b", "provider": "openai", "automatic": true });
    assert_eq!(listed(&app, "openai/b").await, expected);
    assert_eq!(listed(&app, "ollama/a").await["window"]["tokens"], 3_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn seats_for_which_nobody_names_a_model_get_what_lists_call_automatic() {
    let script = Script::new(Reply::canned());
    let app = TestApp::start(script.models(&["small-0.1b", "a-2026-01-31", "a", "b"])).await;
    let (_, models) = app.get("/api/models").await;
    let all = models["data"].as_array().unwrap().iter();
    let automatic = all.filter(|model| model["automatic"] == true).map(|model| &model["name"]);
    let automatic: Vec<&Value> = automatic.take(3).collect();
    assert_eq!(automatic, ["ollama/a", "ollama/b", "openai/a"]);
    let board = app.convene(&json!({ "prompt": "?", "board": "classic-triad" })).await;
    let board = app.until_status(&board, "closed").await;
    let seated: Vec<&Value> =
        board["advisors"].as_array().unwrap().iter().map(|seat| &seat["model"]).collect();
    assert_eq!(seated, automatic, "{board}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_costs_what_the_provider_lists_and_its_estimate_says_so() {
    let app = TestApp::start(script()).await;
    let seats = json!([{ "role": "critic", "model": "openai/a" }]);
    let body = json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/a" });
    // Nobody has listed models here: the first who wants one asks for what it costs.
    let (_, estimate) = app.post("/api/boardrooms/estimate", &body).await;
    let notes = estimate["data"]["notes"].as_array().unwrap();
    let said = notes.last().unwrap().as_str().unwrap();
    assert!(said.starts_with("Prices: openai, ") && said.ends_with('.'), "{estimate}");
    let board = app.until_status(&app.convene(&body).await, "closed").await;
    // Two calls, each with 1,000 tokens at 1 and 500 at 2 for a million.
    assert_eq!((&board["cost"], &board["currency"]), (&json!(0.004), &json!("USD")), "{board}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_certainly_does_not_fit_fails_without_a_call() {
    let app = TestApp::start(script()).await;
    listed(&app, "openai/a").await;
    let seats = json!([
        { "role": "critic", "model": "openai/a" }, { "role": "expert", "model": "openai/b" },
    ]);
    let prompt = "tea ".repeat(3_000);
    let body = json!({ "prompt": prompt, "advisors": seats, "synthesizer": "openai/b" });
    let board = app.until_status(&app.convene(&body).await, "closed").await;
    let error = &board["advisors"][0]["error"];
    assert_eq!(error["kind"], "promptTooLong", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.ends_with("tokens; openai/a takes 2,000."), "{message}");
    assert!(app.scripted.requests().iter().all(|request| request.model == "b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_does_not_list_its_models_is_asked_all_the_same() {
    let app = TestApp::start(script().listing(Fault::Silent)).await;
    let seats = json!([{ "role": "critic", "model": "openai/a" }]);
    let body = json!({ "prompt": "?", "advisors": seats, "synthesizer": "ollama/a" });
    let board = app.until_status(&app.convene(&body).await, "closed").await;
    assert_eq!(board["cost"], Value::Null, "{board}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discussion_is_fitted_into_the_window_that_is_known() {
    let app = TestApp::start(script()).await;
    let seat = |name: &str, model: &str| json!({ "name": name, "model": model });
    let body = json!({ "topic": "Tea?", "facilitator": seat("Lee", "ollama/a"),
        "participants": [seat("Ann", "openai/a"), seat("Bob", "openai/b")] });
    let (status, made) = app.post("/api/discussions", &body).await;
    assert_eq!(status, 201, "{made}");
    let made = &made["data"];
    let windows = [
        &made["moderator"]["windowTokens"],
        &made["participants"][0]["windowTokens"],
        &made["participants"][1]["windowTokens"],
    ];
    assert_eq!(windows, [3_000, 2_000, 128_000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_its_provider_does_not_have_is_refused_where_that_is_known() {
    let app = TestApp::start(script().models(&["qwen3:8b", "gemma3:4b"])).await;
    let convene = async |model: &str| {
        let seats = json!([{ "role": "critic", "model": model }]);
        let body = json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/any" });
        app.post("/api/boardrooms", &body).await
    };
    assert_eq!(convene("ollama/qwen3:9b").await.0, 201, "nobody has listed them");
    app.get("/api/models").await;
    let (status, told) = convene("ollama/qwen3:9b").await;
    let problem = "ollama has no model \"qwen3:9b\"; did you mean ollama/qwen3:8b?";
    let fields = json!([{ "field": "advisors[0].model", "problem": problem }]);
    assert_eq!((status, &told["error"]["fields"]), (422, &fields), "{told}");
    for accepted in ["ollama/qwen3:8b", "openai/unlisted", "gemini/unlisted", "anthropic/latest"] {
        assert_eq!(convene(accepted).await.0, 201, "{accepted}");
    }
}
