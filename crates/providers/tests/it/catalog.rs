//! What is there, and what to do about what is not.

use plenary_domain::ModelName;
use plenary_engine::ports::{Models as _, ProviderReport, ProviderState};
use plenary_providers::{CommandConfig, Kind, Output, ProviderConfig, Providers};
use plenary_scripted::{Fault, Reply, Script, Scripted};

use crate::support::{KEY, WIRES, ask, config, hear, serve};

fn script() -> Script {
    Script::new(Reply::canned()).models(&["big", "text-embedding-3", "small"]).key(KEY)
}

fn unusable(report: &ProviderReport) -> (&str, &str) {
    match &report.state {
        ProviderState::Unusable { problem, hint } => (problem, hint),
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
            ("ollama", "ollama", all.clone()),
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
    assert!(problem.contains("Nothing listens for ollama"), "{problem}");
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
        assert!(problem.contains("refused the key"), "{problem}");
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
        assert!(problem.contains("does not speak"), "{problem}");
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
