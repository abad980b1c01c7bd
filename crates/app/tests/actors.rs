//! Lost tokens, invitations and people's seats from the command line.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use plenary_scripted::{Reply, Script, Scripted};
use serde_json::Value;
use support::{Home, NOWHERE, Ran, Serving};

/// Words of a command, with the blanks between them.
async fn run(home: &Home, words: &str) -> Ran {
    home.run(&words.split(' ').collect::<Vec<_>>()).await
}

async fn good(home: &Home, words: &str) -> Ran {
    let ran = run(home, words).await;
    assert_eq!(ran.code, Some(0), "{words}: {}", ran.shown());
    ran
}

async fn bad(home: &Home, words: &str, told: &str) {
    let ran = run(home, words).await;
    assert_ne!(ran.code, Some(0), "{words}: {}", ran.shown());
    assert!(ran.err.contains(told), "{words}: {}", ran.shown());
}

fn forget(home: &Home) {
    std::fs::remove_file(home.path().join("data/agents.json")).unwrap();
}

/// A server that wants a token, the first of which is the operator's.
async fn guarded(home: &Home) -> Serving {
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLENARY_TOKEN", "one,two,three");
    home.serving(command).await
}

/// Another machine, whose user has this token of the server.
struct Elsewhere {
    home: Home,
    url: String,
    token: &'static str,
}

impl Elsewhere {
    fn new(url: &str, token: &'static str) -> Elsewhere {
        Elsewhere { home: Home::new(NOWHERE), url: url.to_owned(), token }
    }

    async fn run(&self, words: &[&str]) -> Ran {
        let mut command = self.home.command(&[&["--server", &self.url], words].concat());
        command.env("PLENARY_TOKEN", self.token);
        self.home.finish(command).await
    }

    async fn good(&self, words: &[&str]) -> Ran {
        let ran = self.run(words).await;
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.shown());
        ran
    }

    async fn bad(&self, words: &[&str], told: &str) {
        let ran = self.run(words).await;
        assert_ne!(ran.code, Some(0), "{words:?}: {}", ran.shown());
        assert!(ran.err.contains(told), "{words:?}: {}", ran.shown());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_token_is_made_anew_and_the_board_archived() {
    let home = Home::new(NOWHERE);
    good(&home, "whiteboard open adr Which? --as lead").await;
    for phase in ["read", "debate", "resolve"] {
        good(&home, &format!("whiteboard transition adr {phase} --as lead")).await;
    }
    forget(&home);
    let hint = "plenary whiteboard token adr --for lead";
    bad(&home, "whiteboard archive adr --as lead", hint).await;
    bad(&home, "whiteboard token adr --for eve", "no agent eve").await;
    let told = good(&home, "whiteboard token adr --for lead").await;
    assert!(told.out.starts_with("lead."), "{}", told.shown());
    good(&home, "whiteboard archive adr --as lead").await;

    good(&home, "council open talk Talk.").await;
    good(&home, "council post talk Hello. --as ann").await;
    forget(&home);
    bad(&home, "council post talk Again. --as ann", "--as").await;
    let told = good(&home, "council token talk --for ann --json").await;
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["sender"], "ann");
    good(&home, "council post talk Again. --as ann").await;
    // Whoever has one from before is told who can help.
    let old = "ann.0000000000000000000000000000000000000000";
    let words = format!("council post talk Again. --as ann --token {old}");
    bad(&home, &words, "plenary council token").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_by_invitation_is_joined_by_codes() {
    let home = Home::new(NOWHERE);
    let opened = good(&home, "whiteboard open adr Which? --as lead --admission invited").await;
    let code = opened.err.rsplit_once("--invitation ").unwrap().1.trim().to_owned();
    bad(&home, "whiteboard register adr --as oto --role operator", "--invitation").await;
    let renewed = good(&home, "whiteboard invite adr --as lead").await.out.trim().to_owned();
    let register = |code: &str| {
        format!("whiteboard register adr --as oto --role operator --invitation {code}")
    };
    bad(&home, &register(&code), "newer").await;
    good(&home, &register(&renewed)).await;
    good(&home, "whiteboard transition adr read --as lead").await;
    bad(&home, "whiteboard register adr --as eve", "personal invitation").await;
    let personal = good(&home, "whiteboard invite adr --for eve --as lead").await;
    let code = personal.out.trim();
    good(&home, &format!("whiteboard register adr --as eve --invitation {code}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_shared_server_one_acts_on_ones_own() {
    let scripted = Scripted::start(Script::new(Reply::canned()).models(&["a"])).await.unwrap();
    let home = Home::new(&scripted.url());
    let serving = guarded(&home).await;
    let [one, two, three] =
        ["one", "two", "three"].map(|token| Elsewhere::new(&serving.url, token));
    two.good(&["council", "open", "talk", "Talk."]).await;
    three.bad(&["council", "close", "talk"], "operator of this server").await;
    three.bad(&["sessions", "remove", "talk", "--yes"], "operator of this server").await;
    two.good(&["council", "close", "talk"]).await;
    one.good(&["sessions", "remove", "talk", "--yes"]).await;
    two.good(&["whiteboard", "open", "adr", "Which?", "--as", "lead"]).await;
    two.bad(&["whiteboard", "token", "adr", "--for", "lead"], "operator of this server").await;
    one.good(&["whiteboard", "token", "adr", "--for", "lead"]).await;
    // Commands on the server's own machine are the operator's.
    good(&home, "whiteboard token adr --for lead").await;
    good(&home, "sessions remove adr --yes").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_replies_by_the_token_of_the_seat() {
    let scripted = Scripted::start(Script::new(Reply::canned()).models(&["a"])).await.unwrap();
    let home = Home::new(&scripted.url());
    let serving = guarded(&home).await;
    plenary_providers::install_tls();
    let body = serde_json::json!({ "prompt": "?", "synthesizer": "ollama/a",
        "advisors": [{ "role": "critic", "person": "Ann" }] });
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = http.post(format!("{}/api/boardrooms", serving.url)).bearer_auth("two");
    let convened: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
    let convened = &convened["data"];
    let id = convened["id"].as_str().unwrap();
    let token = convened["seatTokens"][0]["seatToken"].as_str().unwrap();
    let three = Elsewhere::new(&serving.url, "three");
    three.bad(&["sessions", "reply", id, "Yes."], "--token").await;
    let replied = three.good(&["sessions", "reply", id, "Yes.", "--token", token]).await;
    assert!(replied.out.contains("Recommendation"), "{}", replied.shown());
}
