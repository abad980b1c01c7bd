//! What each call took and cost, wherever it is told, and that it adds up to the session's.

use plenary_clerk::{Price, Prices};
use plenary_domain::ModelName;
use plenary_scripted::{Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Setup, TestApp};

const NAMES: [&str; 6] = ["a", "b", "s", "lead", "ann", "bob"];

/// A million tokens cost a thousand to read and two thousand to write.
async fn start(script: Script) -> TestApp {
    let price = Price { input: 1_000.0, output: 2_000.0, cached: None };
    let models = NAMES.map(|name| (ModelName::new("openai", name), price)).into();
    Setup {
        prices: Prices { models, currency: "EUR".into(), ..Prices::default() },
        ..Setup::default()
    }
    .start(script)
    .await
}

/// Tokens in and out, and money in thousandths, so that they can be compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Spent(u64, u64, u64);

impl Spent {
    fn of(usage: &Value, cost: &Value) -> Spent {
        let number = |field: &str| usage[field].as_u64().unwrap_or_default();
        let cost = (cost.as_f64().unwrap_or_default() * 1_000.0).round() as u64;
        Spent(number("inputTokens"), number("outputTokens"), cost)
    }

    fn call(call: &Value) -> Spent {
        Spent::of(&call["usage"], &call["cost"])
    }

    fn plus(self, other: Spent) -> Spent {
        Spent(self.0 + other.0, self.1 + other.1, self.2 + other.2)
    }

    fn all<'a>(calls: impl IntoIterator<Item = &'a Value>) -> Spent {
        calls.into_iter().map(Spent::call).fold(Spent::default(), Spent::plus)
    }
}

fn list<'a>(value: &'a Value, field: &str) -> std::slice::Iter<'a, Value> {
    value[field].as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

async fn as_a_session(app: &TestApp, id: &Value) -> Spent {
    let (_, told) = app.get(&format!("/api/sessions/{}", id.as_str().unwrap())).await;
    assert_eq!(told["data"]["currency"], "EUR", "{told}");
    Spent::call(&told["data"])
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_board_add_up_to_what_it_says() {
    let script = Script::new(Reply::canned().usage(10, 1))
        .when(When::model("s").nth(1), Reply::text("Prose.").usage(100, 7));
    let app = start(script).await;
    let seats = ["a", "b"].map(|m| json!({ "role": "expert", "model": format!("openai/{m}") }));
    let new =
        json!({ "prompt": "?", "advisors": seats, "synthesizer": "openai/s", "ballot": true });
    let board = app.convene(&new).await;
    app.until_status(&board, "closed").await;
    app.command(&board, "advisors/1/retry", json!({})).await;
    let view = app.until_status(&board, "closed").await;
    let mut sum = Spent::default();
    for advisor in list(&view, "advisors") {
        sum = sum.plus(Spent::call(advisor)).plus(Spent::all(list(advisor, "earlier")));
    }
    for synthesis in list(&view, "syntheses") {
        sum = sum.plus(Spent::call(synthesis));
        sum = sum.plus(Spent::all(list(synthesis, "failedBefore")));
        sum = sum.plus(Spent::all(list(synthesis, "ballots")));
    }
    // Nine calls as asked for, and one that came without the headings.
    assert_eq!(sum, Spent(9 * 10 + 100, 9 + 7, 9 * 12 + 114), "{view:#}");
    assert_eq!((sum, &view["currency"]), (Spent::call(&view), &json!("EUR")));
    assert_eq!(sum, as_a_session(&app, &view["id"]).await);
    let (_, record) = app.get(&board.at("export")).await;
    assert_eq!(sum, Spent::call(&record["boardroom"]), "{record}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_of_a_discussion_add_up_to_what_it_says() {
    let script = Script::new(Reply::canned().usage(10, 1))
        .when(When::model("lead").nth(2), Reply::text("What?").usage(100, 7));
    let app = start(script).await;
    let seat = |name: &str| json!({ "name": name, "model": format!("openai/{name}") });
    let new = json!({ "topic": "Tea?", "maxRounds": 2, "facilitator": seat("lead"),
        "participants": [seat("ann"), seat("bob")], "start": true });
    let (status, told) = app.post("/api/discussions", &new).await;
    assert_eq!(status, 201, "{told}");
    let id = told["data"]["id"].as_str().unwrap().to_owned();
    let talk = loop {
        app.get(&format!("/api/sessions/{id}/wait?seconds=30")).await;
        let (_, told) = app.get(&format!("/api/discussions/{id}")).await;
        if told["data"]["status"] == "concluded" {
            break told["data"].clone();
        }
    };
    let (_, told) = app.get(&format!("/api/discussions/{id}/transcript")).await;
    let steps = Spent::all(list(&told["data"], "entries"));
    let end = Spent::of(&talk["conclusionUsage"], &talk["conclusionCost"]);
    assert_eq!(end, Spent(10, 1, 12), "{talk:#}");
    // An opening, two turns, and a decision that could not be read.
    assert_eq!(steps, Spent(130, 10, 150), "{told:#}");
    let all = Spent::of(&talk["actual"], &talk["actual"]["cost"]);
    assert_eq!((steps.plus(end), as_a_session(&app, &talk["id"]).await), (all, all), "{talk:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_a_council_add_up_to_what_it_says() {
    let script = Script::new(Reply::text("Tea, and for a reason.").usage(10, 1))
        .when(When::model("bob"), Reply::text("I agree.").usage(100, 7));
    let app = start(script).await;
    let member = |name: &str| json!({ "name": name, "model": format!("openai/{name}") });
    let new = json!({ "name": "talk", "charter": "?", "members": [member("ann"), member("bob")] });
    let (status, told) = app.post("/api/councils", &new).await;
    assert_eq!(status, 201, "{told}");
    let mut events = app.events("/api/councils/talk/events", None).await;
    let post = json!({ "sender": "eve", "body": "@ann @bob Which?" });
    assert_eq!(app.post("/api/councils/talk/posts", &post).await.0, 200);
    events.until("passed").await;
    let (_, council) = app.get("/api/councils/talk").await;
    let (_, read) = app.get("/api/councils/talk/posts").await;
    let (council, read) = (&council["data"], &read["data"]);
    let posts = Spent::all(list(read, "posts"));
    let silences = Spent::all(list(read, "silences"));
    assert_eq!((posts, silences), (Spent(10, 1, 12), Spent(100, 7, 114)), "{read:#}");
    assert_eq!(read["currency"], "EUR", "{read:#}");
    let all = Spent::call(council);
    assert_eq!((posts.plus(silences), council["currency"].as_str()), (all, Some("EUR")));
    assert_eq!(as_a_session(&app, &council["sessionId"]).await, all);
}
