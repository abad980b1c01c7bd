//! Runs of workflows over REST, with the other forms for real.

mod approve;
mod budgets;
mod cancel;
mod fork;
mod outside;
mod prevented;
mod signals;
mod stored;
mod tools;
mod veiled;

use plenary_scripted::{Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{TestApp, canned};

const ADR: &str = include_str!("../../../../examples/adr.yaml");

/// Specialists who agree on the engineer's proposal but for the skeptic.
pub fn deciding() -> Script {
    let json = |value: Value| Reply::text(&value.to_string()).usage(100, 20);
    let vote =
        |post: &str, vote: &str| json!({ "post": post, "vote": vote, "reason": "It is so." });
    let votes = json!({ "votes": [
        vote("engineer/1", "accept"), vote("skeptic/1", "reject"), vote("operator/1", "reject"),
    ] });
    let post = json!({ "title": "Use a queue", "body": "It is simple.", "type": "proposal" });
    let facts = json!({ "annotations": [
        { "post": "engineer/1", "type": "validation", "result": "confirmed", "body": "Measured." },
        { "post": "skeptic/1", "type": "validation", "result": "confirmed", "body": "Measured." },
    ] });
    let doubt = json!({ "annotations": [
        { "post": "operator/1", "type": "challenge", "body": "Who runs it at night?" },
    ] });
    canned()
        .when(When::says("Propose one answer"), json(post))
        .when(When::says("Check the facts"), json(facts))
        .when(When::says("Challenge what you"), json(doubt))
        .when(When::says("Vote on every post"), json(votes))
}

pub struct Run<'a> {
    app: &'a TestApp,
    pub id: String,
}

impl<'a> Run<'a> {
    pub async fn begin(app: &'a TestApp, source: &str, inputs: Value) -> Run<'a> {
        let (status, body) =
            app.post("/api/runs", &json!({ "source": source, "inputs": inputs })).await;
        assert_eq!(status, 201, "{body}");
        Run { app, id: body["data"]["id"].as_str().unwrap().to_owned() }
    }

    pub fn at(&self, rest: &str) -> String {
        format!("/api/runs/{}{rest}", self.id)
    }

    /// Decides on a step.
    pub async fn decide(&self, step: &str, body: &Value) -> (u16, Value) {
        self.app.post(&self.decision(step), body).await
    }

    pub fn decision(&self, step: &str) -> String {
        self.at(&format!("/steps/{}/approve", step.replace('/', "%2F")))
    }

    pub async fn approve(&self, step: &str, by: &str) -> Value {
        let (status, body) = self.decide(step, &json!({ "decision": "approved", "by": by })).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    pub async fn cancel(&self) {
        let (status, body) = self.app.post(&self.at("/cancel"), &json!({})).await;
        assert_eq!(status, 200, "{body}");
    }

    /// Follows the run until this step is under way.
    pub async fn until_running(&self, place: &str) -> Value {
        let is_running = |step: &Value| step["place"] == place && step["status"] == "running";
        self.until(|view| view["steps"].as_array().unwrap().iter().any(is_running)).await
    }

    /// How often something of this name has happened to a step.
    pub async fn count(&self, name: &str, place: &str) -> usize {
        let id = self.id.parse().unwrap();
        let events = self.app.store.events(id, 0, 10_000).await.unwrap();
        let is_meant =
            |payload: &str| serde_json::from_str::<Value>(payload).unwrap()["place"] == place;
        events.iter().filter(|event| event.name == name && is_meant(&event.payload)).count()
    }

    pub async fn view(&self) -> Value {
        let (status, body) = self.app.get(&self.at("")).await;
        assert_eq!(status, 200, "{body}");
        body["data"].clone()
    }

    /// Follows the run until it is as wanted.
    pub async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut events = self.app.events(&self.at("/events"), None).await;
        loop {
            let view = self.view().await;
            if wanted(&view) {
                return view;
            }
            let next = tokio::time::timeout(crate::support::SAFETY, async {
                loop {
                    match events.next().await {
                        Some(frame) if frame.id.is_none() => {}
                        next => return next,
                    }
                }
            });
            assert!(next.await.is_ok_and(|next| next.is_some()), "nothing more happens: {view:#}");
        }
    }

    pub async fn ended(&self) -> Value {
        self.until(|view| view["status"] != "running").await
    }

    pub async fn step(&self, place: &str) -> Value {
        of(&self.view().await, place)
    }
}

/// A file with these steps.
pub fn file(name: &str, steps: &str) -> String {
    format!("name: {name}\nsteps:\n{steps}\n")
}

/// Puts a workflow on the shelf.
pub async fn store(app: &TestApp, source: &str) -> Value {
    let (status, body) = app.post("/api/workflows", &json!({ "source": source })).await;
    assert_eq!(status, 201, "{body}");
    body["data"].clone()
}

/// A whiteboard that `fay` leads, and her token.
pub async fn whiteboard(app: &TestApp, name: &str) -> String {
    let body = json!({ "boardId": name, "topic": "Which?", "openedBy": "fay" });
    let (status, told) = app.post("/api/whiteboards", &body).await;
    assert_eq!(status, 201, "{told}");
    told["data"]["agentToken"].as_str().unwrap().to_owned()
}

pub async fn move_to(app: &TestApp, fay: &str, name: &str, phase: &str) {
    let at = format!("/api/whiteboards/{name}/transition");
    let (status, told) = app.post_as(fay, &at, &json!({ "targetPhase": phase })).await;
    assert_eq!(status, 200, "{told}");
}

pub async fn council(app: &TestApp, name: &str) {
    let body = json!({ "name": name, "charter": "Talk." });
    let (status, told) = app.post("/api/councils", &body).await;
    assert_eq!(status, 201, "{told}");
}

/// What has been said in a council, as `sender: words`.
pub async fn said(app: &TestApp, council: &str) -> Vec<String> {
    let (status, told) = app.get(&format!("/api/councils/{council}/posts")).await;
    assert_eq!(status, 200, "{told}");
    let posts = told["data"]["posts"].as_array().unwrap_or_else(|| panic!("{told}"));
    let line = |post: &Value| {
        let part = |name: &str| post[name].as_str().unwrap().to_owned();
        format!("{}: {}", part("sender"), part("body"))
    };
    posts.iter().map(line).collect()
}

pub fn of(view: &Value, place: &str) -> Value {
    let steps = view["steps"].as_array().unwrap();
    let found = steps.iter().find(|step| step["place"] == place);
    found.unwrap_or_else(|| panic!("{place} in {view:#}")).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_decision_of_a_whiteboard_comes_out_with_its_dissent() {
    let app = TestApp::start(deciding()).await;
    let run = Run::begin(&app, ADR, json!({ "topic": "Where do jobs wait?" })).await;
    let view = run.ended().await;
    assert_eq!(view["status"], "done", "{view:#}");
    let outputs = &view["outputs"];
    assert_eq!(outputs["outcome"], "accepted", "{view:#}");
    assert_eq!(outputs["decision"], "Use a queue\n\nIt is simple.", "{view:#}");
    let dissent = outputs["dissent"].as_array().unwrap();
    let is_challenge = |one: &&Value| one["kind"] == "challenge" && one["post"] == "operator/1";
    assert!(dissent.iter().any(|one| is_challenge(&one)), "{outputs:#}");
    // What a graph and a timeline show.
    let propose = of(&view, "propose");
    assert_eq!(propose["items"], json!({ "ended": 3, "total": 3 }));
    let post = of(&view, "propose/1/post");
    assert_eq!((&post["status"], &post["kind"]), (&json!("done"), &json!("whiteboard.post")));
    assert_eq!(post["usage"], json!({ "inputTokens": 100, "outputTokens": 20 }), "{post:#}");
    assert_eq!(of(&view, "panel")["status"], "skipped");
    // Three posts, three checks, three challenges and three ballots, each asked once.
    assert_eq!(app.scripted.requests().len(), 12);
    let board = of(&view, "board")["output"]["board"].as_str().unwrap().to_owned();
    let (_, board) = app.get(&format!("/api/whiteboards/{board}")).await;
    assert_eq!(board["data"]["phase"], "archived", "{board:#}");
    // What one seat is asked shows nothing that the others have posted blindly.
    let asked = app.scripted.requests();
    let proposals = asked.iter().filter(|one| one.prompt.contains("Propose one answer"));
    assert!(proposals.clone().count() == 3);
    assert!(proposals.into_iter().all(|one| !one.prompt.contains("Use a queue")));
}
