//! What is there, and what to do about what is not.

use plenary_domain::{FailureKind, Message, ModelName, Price, Source, Speaker};
use plenary_engine::ports::{Models as _, ProviderReport, ProviderState};
use plenary_providers::{
    CommandConfig, Kind, LocalModel, Output, ProviderConfig, Providers, Sheet, has_local,
};
use plenary_scripted::{Fault, Reply, Script, Scripted};

use crate::support::{KEY, WIRES, ask, config, hear, serve};

fn script() -> Script {
    Script::new(Reply::canned()).models(&["big", "text-embedding-3", "small"]).key(KEY)
}

fn unusable(report: &ProviderReport) -> (&str, &str) {
    match &report.state {
        ProviderState::Unusable { problem, hint, .. } => (problem, hint),
        ProviderState::Ready { .. } => panic!("{report:?}"),
    }
}

#[tokio::test]
async fn all_providers_list_their_models() {
    let server = Scripted::start(script()).await.unwrap();
    let configs = WIRES.map(|kind| config(kind, &server.url()));
    let reports = Providers::new(configs.to_vec()).catalog().await;
    let found: Vec<_> =
        reports.iter().map(|one| (one.name.as_str(), one.kind, one.state.clone())).collect();
    let ready = |models: &[&str]| ProviderState::Ready {
        models: models.iter().map(|one| (*one).to_owned()).collect(),
    };
    let all = ready(&["big", "text-embedding-3", "small"]);
    let chats = ready(&["big", "small"]);
    assert_eq!(
        found,
        [
            ("ollama", "ollama", chats.clone()),
            ("openai", "openai", chats.clone()),
            ("anthropic", "anthropic", all),
            ("gemini", "gemini", chats),
        ]
    );
    assert_eq!(reports[1].place, format!("{}/v1", server.url()));
}

#[tokio::test]
async fn a_list_is_believed_for_a_while_and_shared() {
    let server = Scripted::start(script()).await.unwrap();
    let providers = Providers::new(vec![config(Kind::Ollama, &server.url())]);
    let (one, other) = futures::join!(providers.catalog(), providers.catalog());
    assert_eq!(one, other);
    assert_eq!(providers.catalog().await, one);
    assert_eq!(server.listings(), 1);
}

#[tokio::test]
async fn a_fixed_list_is_not_asked_for() {
    let server = Scripted::start(script()).await.unwrap();
    let mut config = config(Kind::OpenAi, &server.url());
    config.models = Some(vec!["mine".to_owned()]);
    let reports = Providers::new(vec![config]).catalog().await;
    let models = vec!["mine".to_owned()];
    assert_eq!(reports[0].state, ProviderState::Ready { models });
    assert_eq!(server.listings(), 0);
}

#[tokio::test]
async fn an_absent_ollama_says_how_to_start_it() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let reports = Providers::new(vec![config(Kind::Ollama, &url)]).catalog().await;
    let (problem, hint) = unusable(&reports[0]);
    assert!(problem.contains("Could not connect to ollama"), "{problem}");
    assert!(hint.contains("ollama serve") && hint.contains("https://ollama.com"), "{hint}");
}

#[tokio::test]
async fn an_ollama_without_models_says_how_to_get_one() {
    let server = Scripted::start(script().models(&[])).await.unwrap();
    let reports = Providers::new(vec![config(Kind::Ollama, &server.url())]).catalog().await;
    let (problem, hint) = unusable(&reports[0]);
    assert_eq!(problem, "ollama has no models.");
    assert!(hint.contains("ollama pull"), "{hint}");
}

#[tokio::test]
async fn a_wrong_key_is_seen_before_anybody_asks() {
    let server = Scripted::start(script().key("another")).await.unwrap();
    for kind in WIRES {
        let reports = Providers::new(vec![config(kind, &server.url())]).catalog().await;
        let (problem, hint) = unusable(&reports[0]);
        assert!(problem.contains("rejected the key"), "{problem}");
        assert!(
            hint.contains(if kind == Kind::Ollama { "OLLAMA_HOST" } else { "_API_KEY" }),
            "{hint}"
        );
        assert!(!format!("{problem}{hint}").contains(KEY));
    }
}

#[tokio::test]
async fn a_web_page_is_no_list() {
    let server = Scripted::start(script().listing(Fault::WebPage)).await.unwrap();
    for kind in WIRES {
        let reports = Providers::new(vec![config(kind, &server.url())]).catalog().await;
        let (problem, _) = unusable(&reports[0]);
        assert!(problem.contains("does not use"), "{problem}");
    }
}

#[tokio::test]
async fn a_silent_provider_does_not_hold_up_the_others() {
    let silent = Scripted::start(script().listing(Fault::Silent)).await.unwrap();
    let well = Scripted::start(script()).await.unwrap();
    let configs = vec![config(Kind::Ollama, &silent.url()), config(Kind::OpenAi, &well.url())];
    let reports = Providers::new(configs).catalog().await;
    let (problem, _) = unusable(&reports[0]);
    assert!(problem.contains("within 5 s"), "{problem}");
    assert!(matches!(reports[1].state, ProviderState::Ready { .. }), "{:?}", reports[1]);
}

/// Who is only slow or being started again may list in a moment.
#[tokio::test]
async fn what_passes_is_told_from_what_does_not() {
    let passes = async |providers: &Providers| match &providers.catalog().await[0].state {
        ProviderState::Unusable { passes, .. } => *passes,
        ProviderState::Ready { .. } => panic!("it is there"),
    };
    for (fault, expected) in [
        (Fault::Overloaded, true),
        (Fault::ServerError, true),
        (Fault::RateLimited { retry_after: None }, true),
        (Fault::Unauthorized, false),
        (Fault::WebPage, false),
    ] {
        let server = Scripted::start(script().listing(fault.clone())).await.unwrap();
        let providers = Providers::new(vec![config(Kind::OpenAi, &server.url())]);
        assert_eq!(passes(&providers).await, expected, "{fault:?}");
        drop(server);
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    assert!(!passes(&Providers::new(vec![config(Kind::Ollama, &url)])).await, "nobody is there");
}

#[tokio::test]
async fn a_command_is_looked_for_on_the_path() {
    let there = CommandConfig::new("sh", &[], Output::Text);
    let absent = CommandConfig::new("no-such-program-here", &[], Output::Text);
    let configs =
        vec![ProviderConfig::command("shell", there), ProviderConfig::command("ghost", absent)];
    let reports = Providers::new(configs).catalog().await;
    let models = vec!["default".to_owned()];
    assert_eq!(reports[0].state, ProviderState::Ready { models });
    assert_eq!((reports[0].kind, reports[0].place.as_str()), ("command", "sh"));
    let (problem, hint) = unusable(&reports[1]);
    assert!(problem.contains("no program `no-such-program-here`"), "{problem}");
    assert!(hint.contains("[providers.ghost]"), "{hint}");
}

#[tokio::test]
async fn what_opens_an_address_shows_nowhere() {
    for url in [
        "http://ann:quite-a-word@127.0.0.1:1/v1",
        "http://127.0.0.1:1/v1?api_key=quite-a-word",
        "no-scheme://ann:quite-a-word@127.0.0.1:1/v1",
    ] {
        for kind in WIRES {
            let providers = Providers::new(vec![ProviderConfig::new("lab", kind).at(url)]);
            let report = &providers.catalog().await[0];
            let heard = hear(&providers, ask("lab", "m1")).await;
            let all = format!("{report:?} {heard:?}");
            assert!(all.contains("127.0.0.1:1/v1") && all.contains("[hidden]"), "{all}");
            assert!(!all.contains("quite-a-word"), "{all}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_repeats_the_key_is_kept_without_it() {
    let text = format!("The key is {KEY}, or {}.", &KEY[1..]);
    for kind in WIRES {
        let (_server, providers) = serve(kind, Reply::text(&text)).await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert!(
            heard.text.starts_with("The key is ") && heard.text.ends_with("[key]."),
            "{heard:?}"
        );
        assert!(!heard.text.contains("very-secret"), "{heard:?}");
    }
}

#[test]
fn a_models_window_is_what_is_set_or_usual() {
    let kinds =
        [Kind::Ollama, Kind::OpenAi, Kind::Anthropic, Kind::Gemini, Kind::Command, Kind::Local];
    let check = |window: Option<u32>, num_ctx: Option<u32>, expected: [u32; 6]| {
        let configs = kinds.map(|kind| ProviderConfig {
            window_tokens: window,
            num_ctx,
            ..ProviderConfig::new(kind.word(), kind)
        });
        let providers = Providers::new(configs.to_vec());
        let found =
            kinds.map(|kind| providers.window_tokens(&ModelName::new(kind.word(), "any/m1")));
        assert_eq!(found, expected);
        assert_eq!(providers.window_tokens(&ModelName::new("nobody", "m1")), 128_000);
    };
    check(None, None, [4_096, 128_000, 128_000, 128_000, 128_000, 4_096]);
    check(Some(9_000), None, [9_000, 9_000, 9_000, 9_000, 9_000, 4_096]);
    check(Some(9_000), Some(16_384), [16_384, 9_000, 9_000, 9_000, 9_000, 4_096]);
}

/// What is known of a model of this name at all wires: the window, who says it, the price.
fn known(providers: &Providers, kind: Kind, name: &str) -> (Option<(u32, Source)>, Option<Price>) {
    let known = providers.known(&ModelName::new(kind.word(), name));
    assert_eq!(known.price.and_then(|quote| quote.said_at).is_some(), known.price.is_some());
    let window = known.window.map(|window| (window.tokens, window.source));
    (window, known.price.map(|quote| quote.price))
}

#[tokio::test]
async fn lists_say_how_much_models_take_and_what_they_cost() {
    let about = serde_json::json!({
        "context_length": 65_536, "pricing": { "prompt": "0.000001", "completion": "0.000002" },
        "max_input_tokens": 200_000, "inputTokenLimit": 32_768,
        "parameters": "num_ctx    8192", "model_info": { "qwen3.context_length": 40_960 },
    });
    let server = Scripted::start(script().about("big", about)).await.unwrap();
    let configs = WIRES.map(|kind| config(kind, &server.url()));
    let providers = Providers::new(configs.to_vec());
    for kind in WIRES {
        assert_eq!(known(&providers, kind, "big"), (None, None), "before anybody has listed them");
    }
    providers.catalog().await;
    providers.learned().await;
    let price = Price { input: 1.0, output: 2.0, cached: None };
    for (kind, window, price) in [
        (Kind::Ollama, 8_192, None),
        (Kind::OpenAi, 65_536, Some(price)),
        (Kind::Anthropic, 200_000, None),
        (Kind::Gemini, 32_768, None),
    ] {
        let expected = (Some((window, Source::Provider)), price);
        assert_eq!(known(&providers, kind, "big"), expected, "{kind:?}");
        assert_eq!(providers.window_tokens(&ModelName::new(kind.word(), "big")), window);
    }
    assert_eq!(known(&providers, Kind::OpenAi, "small"), (None, None));
}

#[tokio::test]
async fn a_model_is_met_once_before_it_is_asked() {
    let about = serde_json::json!({
        "context_length": 65_536, "pricing": { "prompt": "0.000001", "completion": "0.000002" },
    });
    let server = Scripted::start(script().about("big", about)).await.unwrap();
    let providers = Providers::new(vec![config(Kind::OpenAi, &server.url())]);
    let (big, small) = (ModelName::new("openai", "big"), ModelName::new("openai", "small"));
    futures::join!(providers.meet(&big), providers.meet(&small));
    let price = Some(Price { input: 1.0, output: 2.0, cached: None });
    assert_eq!(known(&providers, Kind::OpenAi, "big"), (Some((65_536, Source::Provider)), price));
    providers.meet(&small).await;
    assert_eq!(server.listings(), 1);
    // A list to choose from is asked for by whoever chooses, and is enough.
    assert!(!providers.lacks(&ModelName::new("openai", "none")).await);
    let listed = Providers::new(vec![config(Kind::OpenAi, &server.url())]);
    listed.catalog().await;
    listed.meet(&big).await;
    assert_eq!(server.listings(), 2);
    // What is set, and a vendor that lists nothing but names, need no list.
    let fixed = ProviderConfig { models: Some(vec![]), ..config(Kind::OpenAi, &server.url()) };
    Providers::new(vec![fixed]).meet(&big).await;
    assert_eq!(server.listings(), 2);
}

/// Earlier ones list only how much a model was made for.
#[tokio::test]
async fn llama_cpp_is_asked_for_the_window_that_it_has() {
    let about = serde_json::json!({ "owned_by": "llamacpp", "meta": { "n_ctx_train": 32_768 } });
    let props = serde_json::json!({ "default_generation_settings": { "n_ctx": 5_632 } });
    let script = script().about("big", about).page("/props", props);
    let server = Scripted::start(script).await.unwrap();
    let providers = Providers::new(vec![config(Kind::OpenAi, &server.url())]);
    providers.catalog().await;
    providers.learned().await;
    let expected = (Some((5_632, Source::Provider)), None);
    assert_eq!(known(&providers, Kind::OpenAi, "big"), expected);
    // It stays known when the list is the same.
    providers.catalog().await;
    assert_eq!(known(&providers, Kind::OpenAi, "big"), expected);
}

#[tokio::test]
async fn settings_go_before_the_provider_and_that_before_a_list() {
    let about = serde_json::json!({ "context_length": 65_536 });
    let server = Scripted::start(script().about("big", about)).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    let list = serde_json::json!({
        "openai/big": { "max_input_tokens": 9_000, "input_cost_per_token": 1e-6,
            "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 1e-7 },
        "openai/small": { "max_input_tokens": 7_000 },
    });
    let at = plenary_domain::Timestamp::UNIX_EPOCH;
    let (sheet, _) = Sheet::read(list.to_string().as_bytes(), at).unwrap();
    let providers = |window_tokens| {
        let config = ProviderConfig { window_tokens, ..config(Kind::OpenAi, &server.url()) };
        Providers::new(vec![config]).with_sheet(path.clone())
    };
    let running = providers(None);
    assert_eq!(known(&running, Kind::OpenAi, "big"), (None, None), "nothing was imported yet");
    std::fs::write(&path, serde_json::to_string(&sheet).unwrap()).unwrap();
    let price = Some(Price { input: 1.0, output: 2.0, cached: Some(0.1) });
    // A process that runs sees what another has imported.
    let imported = (Some((9_000, Source::Import)), price);
    assert_eq!(known(&running, Kind::OpenAi, "big"), imported);
    running.catalog().await;
    let listed = (Some((65_536, Source::Provider)), price);
    assert_eq!(known(&running, Kind::OpenAi, "big"), listed);
    assert_eq!(known(&running, Kind::OpenAi, "small"), (Some((7_000, Source::Import)), None));
    let set = (Some((1_000, Source::Settings)), price);
    assert_eq!(known(&providers(Some(1_000)), Kind::OpenAi, "big"), set);
    std::fs::write(&path, "{").unwrap();
    assert_eq!(known(&providers(None), Kind::OpenAi, "big"), (None, None));
}

#[tokio::test]
async fn a_prompt_that_certainly_does_not_fit_is_not_sent() {
    let server = Scripted::start(script()).await.unwrap();
    for kind in WIRES {
        let config = ProviderConfig { window_tokens: Some(1_000), ..config(kind, &server.url()) };
        let mut long = ask(kind.word(), "big");
        long.messages = vec![Message::new(Speaker::User, "a word ".repeat(900))];
        let heard = hear(&Providers::new(vec![config.clone()]), long.clone()).await;
        assert_eq!(heard.kind(), Some(("final", FailureKind::PromptTooLong)));
        let said = format!("The prompt has about 1,804 tokens; {}/big takes 1,000.", kind.word());
        assert_eq!(heard.message(), said);
        // What may fit is sent, and so is what goes to a model of which nothing is known.
        long.messages = vec![Message::new(Speaker::User, "a word ".repeat(490))];
        assert_eq!(hear(&Providers::new(vec![config]), long).await.kind(), None);
    }
    assert_eq!(server.requests().len(), WIRES.len());
}

#[tokio::test]
async fn a_provider_that_finds_a_prompt_too_long_is_explained() {
    let server = Scripted::start(Script::new(Reply::fault(Fault::ContextOverflow))).await.unwrap();
    let mut config = config(Kind::OpenAi, &server.url());
    config.window_tokens = Some(5_632);
    let heard = hear(&Providers::new(vec![config]), ask("openai", "m1")).await;
    let end = " The prompt has about 7 tokens; openai/m1 takes 5,632.";
    assert!(heard.message().ends_with(end), "{}", heard.message());
}

#[tokio::test]
async fn a_model_that_is_not_listed_is_missing_only_where_all_are_listed() {
    let server = Scripted::start(script().models(&["big:latest", "small:7b"])).await.unwrap();
    let configs = WIRES.map(|kind| config(kind, &server.url()));
    let providers = Providers::new(configs.to_vec());
    let lacks =
        async |kind: Kind, name: &str| providers.lacks(&ModelName::new(kind.word(), name)).await;
    assert!(!lacks(Kind::Ollama, "none").await, "nobody has listed them");
    assert_eq!(server.listings(), 0);
    providers.catalog().await;
    for (kind, name, expected) in [
        (Kind::Ollama, "none", true),
        (Kind::Ollama, "small", true),
        (Kind::Ollama, "big", false),
        (Kind::Ollama, "small:7b", false),
        (Kind::OpenAi, "none", false),
        (Kind::Anthropic, "none", false),
        (Kind::Gemini, "none", false),
    ] {
        assert_eq!(lacks(kind, name).await, expected, "{kind:?} {name}");
    }
    assert!(!providers.lacks(&ModelName::new("nobody", "none")).await);
}

/// Nobody has to be asked for these, so that a wrong name is known before anything is opened.
#[tokio::test]
async fn a_model_inside_the_program_is_missing_before_anybody_has_listed_them() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mine = LocalModel { name: "mine".into(), path: file.path().into(), note: None };
    let providers = Providers::new(vec![ProviderConfig::local("local", vec![mine])]);
    let lacks = async |name: &str| providers.lacks(&ModelName::new("local", name)).await;
    assert!(!lacks("mine").await);
    // Without the engine there is another reason why none answers.
    assert_eq!(lacks("none").await, has_local());
}
