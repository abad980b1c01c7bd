//! Whiteboards over REST, from open to archive.

mod identity;
mod seats;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::{SessionId, limits};
use plenary_engine::ports::Clock as _;
use plenary_engine::testkit::ManualClock;
use plenary_engine::{Engine, Frame};
use plenary_providers::Providers;
use serde_json::{Value, json};

use crate::support::{SAFETY, TestApp, answer, canned, pick, providers};

/// One board and the tokens of those who are on it.
struct Whiteboard<'a> {
    app: &'a TestApp,
    name: &'a str,
    session: SessionId,
    tokens: Vec<(String, String)>,
}

impl<'a> Whiteboard<'a> {
    /// A board that `fay` leads.
    async fn open(app: &'a TestApp, name: &'a str, more: Value) -> Whiteboard<'a> {
        let mut body = json!({ "boardId": name, "topic": "Which one?", "openedBy": "fay" });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let (status, told) = app.post("/api/whiteboards", &body).await;
        assert_eq!(status, 201, "{told}");
        let session = told["data"]["sessionId"].as_str().unwrap().parse().unwrap();
        let mut board = Whiteboard { app, name, session, tokens: vec![] };
        board.keep(&told);
        board
    }

    /// A board with specialists on it.
    async fn with(app: &'a TestApp, name: &'a str, agents: &[&str], more: Value) -> Whiteboard<'a> {
        let mut board = Whiteboard::open(app, name, more).await;
        for agent in agents {
            board.register(agent, "specialist").await;
        }
        board
    }

    fn keep(&mut self, told: &Value) {
        let text = |key: &str| told["data"][key].as_str().unwrap().to_owned();
        self.tokens.push((text("agentName"), text("agentToken")));
    }

    async fn register(&mut self, agent: &str, role: &str) {
        let body = json!({ "agentName": agent, "role": role });
        let (status, told) = self.app.post(&self.at("/agents"), &body).await;
        assert_eq!(status, 200, "{told}");
        self.keep(&told);
    }

    fn at(&self, rest: &str) -> String {
        format!("/api/whiteboards/{}{rest}", self.name)
    }

    fn token(&self, agent: &str) -> &str {
        &self.tokens.iter().find(|(name, _)| name == agent).unwrap().1
    }

    async fn ask(&self, agent: &str, what: &str, body: &Value) -> (u16, Value) {
        self.app.post_as(self.token(agent), &self.at(&format!("/{what}")), body).await
    }

    /// A request that must be accepted.
    async fn does(&self, agent: &str, what: &str, body: Value) -> Value {
        let (status, told) = self.ask(agent, what, &body).await;
        assert_eq!(status, 200, "{agent} {what} {body}: {told}");
        told["data"].clone()
    }

    async fn posts(&self, agent: &str, title: &str) -> String {
        let body =
            json!({ "type": "proposal", "title": title, "body": format!("{title}, because.") });
        text(&self.does(agent, "posts", body).await["postId"])
    }

    async fn moves_to(&self, phase: &str) -> Value {
        self.does("fay", "transition", json!({ "targetPhase": phase })).await
    }

    /// The board as an agent sees it; without a name, as anybody does.
    async fn seen(&self, agent: &str, rest: &str) -> Value {
        let (status, told) = match agent {
            "" => self.app.get(&self.at(rest)).await,
            agent => self.app.get_as(self.token(agent), &self.at(rest)).await,
        };
        assert_eq!(status, 200, "{told}");
        told["data"].clone()
    }

    async fn stored(&self) -> usize {
        self.app.store.events(self.session, 0, 10_000).await.unwrap().len()
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn annotation(post: &str, kind: &str, body: &str) -> Value {
    json!({ "postId": post, "type": kind, "body": body })
}

fn vote(post: &str, vote: &str, reason: &str) -> Value {
    json!({ "postId": post, "vote": vote, "reason": reason })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_from_open_to_archive() {
    let app = TestApp::start(canned()).await;
    let mut board = Whiteboard::open(
        &app,
        "adr-2026-05-07",
        json!({ "topic": "Should we add mkdocs or mdbook for documentation?",
            "openedBy": "facilitator-claude", "project": "docs" }),
    )
    .await;
    for agent in ["mkdocs-advocate", "mdbook-advocate", "fact-checker@v1.0.0"] {
        board.register(agent, "specialist").await;
    }
    let leads = "facilitator-claude";
    let post = |kind: &str, title: &str| {
        json!({ "type": kind, "title": title, "body": format!("{title}: reasons."),
            "targetFile": "docs/index.md", "severity": "medium" })
    };
    // Blind: each sees their own posts, the facilitator who has posted.
    let written = board.does("mkdocs-advocate", "posts", post("proposal", "Adopt mkdocs")).await;
    assert_eq!(
        (&written["postId"], &written["phase"]),
        (&json!("mkdocs-advocate/1"), &json!("blind"))
    );
    board.does("mdbook-advocate", "posts", post("proposal", "Adopt mdbook")).await;
    board.does("mdbook-advocate", "posts", post("claim", "Nobody reads docs")).await;
    let own = board.seen("mdbook-advocate", "?detail=full").await;
    assert_eq!(pick(&own["posts"], "postId"), ["mdbook-advocate/1", "mdbook-advocate/2"]);
    assert_eq!(own["posts"][0]["body"], "Adopt mdbook: reasons.");
    assert_eq!((&own["readyToAdvance"], &own["hasPosted"]), (&Value::Null, &Value::Null));
    let lead = board.seen(leads, "").await;
    assert_eq!(lead["hasPosted"], json!(["mkdocs-advocate", "mdbook-advocate"]));
    assert_eq!((&lead["posts"], &lead["readyToAdvance"]), (&json!([]), &json!(false)));
    assert_eq!(lead["whyNot"], json!(["fact-checker@v1.0.0 has not posted yet"]));

    let transition = |phase: &str| json!({ "targetPhase": phase });
    board.does(leads, "transition", transition("read")).await;
    assert_eq!(board.seen("", "").await["postsTotal"], 3);
    board.does(leads, "transition", transition("validate")).await;
    for (of, result) in [
        ("mkdocs-advocate/1", "confirmed"),
        ("mdbook-advocate/1", "confirmed"),
        ("mdbook-advocate/2", "refuted"),
    ] {
        let mut note = annotation(of, "validation", "I have looked it up.");
        note["result"] = json!(result);
        board.does("fact-checker@v1.0.0", "annotations", note).await;
    }
    board.does(leads, "transition", transition("debate")).await;
    let challenge = annotation("mkdocs-advocate/1", "challenge", "mdbook does that too.");
    let challenge = board.does("mdbook-advocate", "annotations", challenge).await;
    assert_eq!(challenge["annotationId"], "mdbook-advocate/a1");
    let mut rebuttal = annotation("mkdocs-advocate/1", "rebuttal", "Not dark mode.");
    rebuttal["challengeId"] = json!("mdbook-advocate/a1");
    board.does("mkdocs-advocate", "annotations", rebuttal).await;
    board
        .does(leads, "annotations", annotation("mkdocs-advocate/1", "corroboration", "I like it."))
        .await;
    for (agent, choice) in [(leads, "defer"), ("fact-checker@v1.0.0", "accept"), (leads, "accept")]
    {
        board.does(agent, "votes", vote("mkdocs-advocate/1", choice, "It fits.")).await;
    }
    board.does("fact-checker@v1.0.0", "votes", vote("mdbook-advocate/1", "reject", "No.")).await;
    let moved = board.does(leads, "transition", transition("resolve")).await;
    assert_eq!(moved["unresolvedChallenges"][0]["annotationId"], "mdbook-advocate/a1");
    assert_eq!(moved["readyToAdvance"], false);
    let mut resolution = annotation("mkdocs-advocate/1", "resolution", "Dark mode decides.");
    resolution["challengeId"] = json!("mdbook-advocate/a1");
    board.does(leads, "annotations", resolution).await;

    let archived = board.does(leads, "archive", json!({ "note": "mkdocs it is." })).await;
    let summary = &archived["summary"];
    assert_eq!(summary["phase"], "archived");
    assert_eq!(
        summary["outcome"],
        json!({ "decision": "accepted", "posts": ["mkdocs-advocate/1"] })
    );
    assert_eq!(summary["surviving"], json!(["mkdocs-advocate/1", "mdbook-advocate/1"]));
    assert_eq!(summary["excluded"], json!(["mdbook-advocate/2"]));
    assert_eq!(summary["unresolvedChallenges"], json!([]));
    let counts = ["agents", "posts", "annotations", "votes"].map(|key| summary[key].clone());
    assert_eq!(counts, [json!(4), json!(3), json!(7), json!(3)]);
    let tally = json!({ "accept": 2, "reject": 0, "defer": 0 });
    assert_eq!(summary["lines"][0]["tally"], tally);
    let record = text(&archived["record"]);
    for said in ["status: accepted", "mkdocs it is.", "Adopt mdbook", "mdbook does that too."] {
        assert!(record.contains(said), "{said} is missing in {record}");
    }
    // The record is what the exports say, now and for whoever asks. In which order one
    // got to see the events is one's own.
    let (status, export) = app.get_as(board.token(leads), &board.at("/export")).await;
    assert_eq!((status, &export), (200, &archived["export"]));
    let (status, export) = app.get(&board.at("/export")).await;
    assert_eq!((status, &export["summary"]["outcome"]), (200, &summary["outcome"]));
    let names: Vec<Value> = pick(&export["events"], "event");
    let kinds = |kind: &str| names.iter().filter(|event| event["type"] == kind).count();
    assert_eq!(["posted", "annotated", "voted", "transitioned"].map(kinds), [3, 7, 4, 5]);
    assert_eq!(pick(&export["events"], "number"), (1..=names.len()).collect::<Vec<_>>());
    let markdown = app.http.get(format!("{}{}", app.url, board.at("/export?format=markdown")));
    let markdown = markdown.send().await.unwrap();
    assert_eq!(markdown.headers()["content-type"], "text/markdown; charset=utf-8");
    let file = "attachment; filename=\"adr-2026-05-07.md\"";
    assert_eq!(markdown.headers()["content-disposition"], file);
    assert_eq!(markdown.text().await.unwrap(), record);
    let (_, listed) = app.get("/api/whiteboards?project=docs&status=archived").await;
    assert_eq!(pick(&listed["data"], "name"), ["adr-2026-05-07"]);
    for what in ["transition", "archive"] {
        let (status, told) = board.ask(leads, what, &transition("archived")).await;
        let expected = if what == "archive" { 422 } else { 409 };
        assert_eq!(status, expected, "{told}");
    }
}

/// An engine looks round every few seconds; this long only deadlines are slept for.
const BEYOND_A_BEAT: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread")]
async fn at_its_deadline_a_board_goes_on_by_the_clock() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let deadlines =
        json!({ "deadlines": { "blindSeconds": 60, "readSeconds": 30, "debateSeconds": 90 } });
    let board = Whiteboard::with(&app, "timed", &["ann"], deadlines).await;
    let seconds = |range: u64| Duration::from_secs(range)..=Duration::from_secs(range);
    let asleep =
        async |time| tokio::time::timeout(SAFETY, clock.until_asleep(1, seconds(time))).await;
    let mut events = app.events(&board.at("/events"), None).await;
    board.posts("ann", "In time").await;
    asleep(60).await.unwrap();
    assert_eq!(board.seen("", "").await["deadline"], "2027-01-15T08:01:01Z");
    clock.advance(Duration::from_secs(59));
    asleep(1).await.unwrap();
    assert_eq!(board.seen("", "").await["phase"], "blind");
    clock.advance(Duration::from_secs(1));
    let moved = events.until("transitioned").await;
    assert_eq!(
        (&moved.data["event"]["to"], &moved.data["event"]["by"]),
        (&json!("read"), &Value::Null)
    );
    asleep(30).await.unwrap();
    let read = board.seen("", "").await;
    assert_eq!((&read["phase"], &read["postsTotal"]), (&json!("read"), &json!(1)));
    let steps = read["steps"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[0]["to"], &steps[0]["by"]), (1, &json!("read"), &Value::Null));
    clock.advance(Duration::from_secs(30));
    events.until("transitioned").await;
    // A phase without a deadline waits for somebody.
    assert_eq!(board.seen("", "").await["deadline"], Value::Null);
    assert_eq!(clock.sleepers(BEYOND_A_BEAT), 0);
    board.moves_to("debate").await;
    asleep(90).await.unwrap();
    // Whoever is earlier than the clock takes the deadline away.
    board.moves_to("resolve").await;
    clock.advance(Duration::from_secs(90));
    let by = pick(&board.seen("", "").await["steps"], "by");
    assert_eq!(by, [Value::Null, Value::Null, json!("fay"), json!("fay")]);
}

/// Timers run on another clock than deadlines are written by.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_goes_by_the_clock_on_the_wall_also_when_that_is_set() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let deadlines = json!({ "deadlines": { "blindSeconds": 3600, "readSeconds": 60 } });
    let board = Whiteboard::open(&app, "jumped", deadlines).await;
    let mut events = app.events(&board.at("/events"), None).await;
    let asleep = async |seconds| {
        let time = Duration::from_secs(seconds);
        tokio::time::timeout(SAFETY, clock.until_asleep(1, time..=time)).await.unwrap();
    };
    asleep(3600).await;
    clock.set_forward(Duration::from_secs(2 * 3600));
    events.until("transitioned").await;
    asleep(60).await;
    clock.set_back(Duration::from_secs(3600));
    // As long as it would have taken, and it is not time yet.
    clock.advance(Duration::from_secs(60));
    asleep(3600).await;
    assert_eq!(board.seen("", "").await["phase"], "read");
    clock.advance(Duration::from_secs(3600));
    events.until("transitioned").await;
    assert_eq!(board.seen("", "").await["phase"], "validate");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_passed_while_nobody_ran_is_kept_after_a_restart() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let deadlines = json!({ "deadlines": { "blindSeconds": 60, "readSeconds": 600 } });
    let board = Whiteboard::open(&app, "slept", deadlines).await;
    // Another process, two minutes later; the first one's clock stands still.
    let later = Arc::new(ManualClock::default());
    later.advance(Duration::from_secs(121));
    let models = Arc::new(Providers::new(providers(&app.scripted.url())));
    let second = Engine::new(app.store.clone(), models, later.clone());
    let mut frames = Box::pin(second.watch(board.session, 1).await.unwrap());
    assert_eq!(second.resume_all().await.unwrap(), 1);
    let moves = async {
        use futures::StreamExt as _;
        match frames.next().await.unwrap() {
            Frame::Event(event) => event,
            other => panic!("{other:?}"),
        }
    };
    let moved = tokio::time::timeout(SAFETY, moves).await.unwrap();
    assert_eq!((moved.name.as_str(), moved.actor.as_str()), ("transitioned", "engine"));
    assert_eq!(moved.at, later.now());
    // The next deadline counts from there.
    let time = Duration::from_secs(600);
    tokio::time::timeout(SAFETY, later.until_asleep(1, time..=time)).await.unwrap();
    // When the first one's clock comes to the deadline it looks at the log, and finds that
    // it has passed.
    clock.advance(Duration::from_secs(60));
    let follows = async {
        while board.seen("", "").await["phase"] == "blind" {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SAFETY, follows).await.unwrap();
    let seen = board.seen("", "").await;
    assert_eq!((&seen["phase"], seen["steps"].as_array().unwrap().len()), (&json!("read"), 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn posts_and_conflicts_are_paged() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "pages", &["ann", "bob"], json!({})).await;
    for nth in 0..7 {
        let agent = if nth % 2 == 0 { "ann" } else { "bob" };
        let post = json!({ "type": "concern", "title": format!("No. {nth}"), "body": "Here.",
            "targetFile": "src/lib.rs", "targetLocation": "1-9" });
        board.does(agent, "posts", post).await;
    }
    let all = async |agent: &str, limit: usize| {
        let (mut found, mut cursor, mut pages) = (vec![], String::new(), 0);
        loop {
            let page = board.seen(agent, &format!("?limit={limit}{cursor}")).await;
            found.extend(pick(&page["posts"], "postId"));
            pages += 1;
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return (found, pages, page["postsTotal"].clone()),
            }
        }
    };
    let own = ["ann/1", "ann/2", "ann/3", "ann/4"].map(|id| json!(id)).to_vec();
    assert_eq!(all("ann", 2).await, (own, 2, json!(4)));
    assert_eq!(all("", 2).await, (vec![], 1, json!(0)));
    board.moves_to("read").await;
    let (found, pages, total) = all("ann", 3).await;
    assert_eq!((found.len(), pages, total), (7, 3, json!(7)));
    assert_eq!(all("", 7).await.1, 1);
    // Seven posts about one place: every pair of different authors, or of all.
    let (status, first) = app.get(&board.at("/conflicts?limit=5")).await;
    assert_eq!(status, 200);
    let total = first["meta"]["total"].as_u64().unwrap();
    let (mut seen, mut cursor) = (vec![], Some("0".to_owned()));
    while let Some(from) = cursor {
        let (_, page) = app.get(&board.at(&format!("/conflicts?limit=5&cursor={from}"))).await;
        seen.extend(pick(&page["data"], "posts"));
        cursor = page["meta"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(seen.len() as u64, total);
    let pairs: std::collections::BTreeSet<String> = seen.iter().map(Value::to_string).collect();
    assert_eq!(pairs.len(), seen.len(), "{seen:?}");
    assert!(pick(&first["data"], "kind").iter().all(|kind| kind == "direct_overlap"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_named_with_what_would_be_right() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "strict", &["ann", "bob"], json!({})).await;
    let fields = |told: &Value| -> Vec<String> {
        let fields = told["error"]["fields"].as_array().into_iter().flatten();
        let mut fields: Vec<String> = fields.map(|field| text(&field["field"])).collect();
        fields.sort();
        fields
    };
    let long = |bytes: usize| "x".repeat(bytes + 1);
    for (body, wrong) in [
        (json!({}), vec!["boardId", "openedBy", "topic"]),
        (
            json!({ "boardId": "Plan", "topic": "", "openedBy": "" }),
            vec!["boardId", "openedBy", "topic"],
        ),
        (
            json!({ "boardId": "p", "topic": long(limits::TOPIC_BYTES), "openedBy": "a b",
                "project": long(limits::PROJECT_BYTES), "deadlines": { "readSeconds": 0 } }),
            vec!["deadlines.readSeconds", "openedBy", "project", "topic"],
        ),
        (
            json!({ "boardId": "p", "topic": "t", "openedBy": "a", "debateVisibility": "x", "hat": 1 }),
            vec!["debateVisibility", "hat"],
        ),
    ] {
        let (status, told) = app.post("/api/whiteboards", &body).await;
        assert_eq!((status, fields(&told)), (422, owned(wrong)), "{body}: {told}");
    }
    for (body, wrong) in [
        (json!({ "type": "proposal", "title": " ", "body": "" }), vec!["body", "title"]),
        (
            json!({ "type": "claim", "title": long(limits::POST_TITLE_BYTES), "body": long(limits::BOARD_BODY_BYTES),
                "targetLocation": "7", "findingRefs": ["", "ok"], "cascadeTargets": vec!["x"; limits::POST_REFS + 1] }),
            vec!["body", "cascadeTargets", "findingRefs[0]", "targetLocation", "title"],
        ),
        (
            json!({ "type": "rant", "title": 1, "severity": "awful" }),
            vec!["body", "severity", "title", "type"],
        ),
    ] {
        let (status, told) = board.ask("ann", "posts", &body).await;
        assert_eq!((status, fields(&told)), (422, owned(wrong)), "{told}");
    }
    // What is wrong with the moment says what moment it is, and what would do.
    for (agent, what, body, allowed) in [
        ("ann", "annotations", annotation("bob/1", "challenge", "No."), "post"),
        ("ann", "votes", vote("bob/1", "accept", ""), "post"),
        ("fay", "transition", json!({ "targetPhase": "debate" }), "transition"),
        ("fay", "archive", json!({}), "transition"),
    ] {
        let (status, told) = board.ask(agent, what, &body).await;
        let error = &told["error"];
        assert_eq!(
            (status, &error["code"], &error["state"]),
            (409, &json!("not-now"), &json!("blind"))
        );
        assert!(error["allowed"].as_array().unwrap().contains(&json!(allowed)), "{told}");
        assert!(text(&error["hint"]).contains("possible now"), "{told}");
    }
    let (status, told) = app.get(&board.at("/conflicts")).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("not-now")));
    let (status, told) = board.ask("ann", "transition", &json!({ "targetPhase": "read" })).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("forbidden")), "{told}");
    assert!(text(&told["error"]["message"]).contains("fay opened this board"), "{told}");
    let post = board.posts("ann", "Mine").await;
    for phase in ["read", "validate", "debate"] {
        board.moves_to(phase).await;
    }
    for (agent, what, body, status, code) in [
        ("ann", "votes", vote(&post, "accept", ""), 403, "forbidden"),
        ("ann", "annotations", annotation(&post, "corroboration", "So it is."), 403, "forbidden"),
        ("bob", "annotations", annotation(&post, "rebuttal", "No."), 403, "forbidden"),
        ("bob", "annotations", annotation(&post, "withdrawal", ""), 403, "forbidden"),
        ("bob", "annotations", annotation("ann/9", "challenge", "?"), 404, "not-found"),
        ("bob", "annotations", annotation(&post, "challenge", " "), 422, "invalid-input"),
        ("bob", "annotations", annotation(&post, "resolution", "?"), 422, "invalid-input"),
        ("bob", "annotations", annotation(&post, "validation", "?"), 422, "invalid-input"),
        ("bob", "votes", vote("nobody/1", "accept", ""), 404, "not-found"),
        ("bob", "votes", json!({ "postId": post, "vote": "maybe" }), 422, "invalid-input"),
        ("bob", "posts", json!({ "type": "proposal", "title": "a", "body": "b" }), 409, "not-now"),
    ] {
        let (found, told) = board.ask(agent, what, &body).await;
        assert_eq!((found, &told["error"]["code"]), (status, &json!(code)), "{body}: {told}");
    }
    for (path, status, code) in [
        ("/api/whiteboards/none".to_owned(), 404, "not-found"),
        (format!("/api/whiteboards/{}", board.session), 404, "not-found"),
        (format!("/api/boardrooms/{}", board.session), 404, "not-found"),
        (format!("/api/boardrooms/{}/events", board.session), 404, "not-found"),
        (format!("/api/councils/{}", board.name), 404, "not-found"),
        (board.at("?limit=0"), 400, "invalid-query"),
        (board.at("?limit=201"), 400, "invalid-query"),
        (board.at("?cursor=x"), 400, "invalid-query"),
        (board.at("?cursor=%2B1"), 400, "invalid-query"),
        (board.at("?cursor=0000000001"), 400, "invalid-query"),
        (board.at("?colour=red"), 400, "invalid-query"),
        (board.at("/export?format=pdf"), 400, "invalid-query"),
    ] {
        let (found, told) = app.get(&path).await;
        assert_eq!((found, &told["error"]["code"]), (status, &json!(code)), "{path}: {told}");
    }
    let stop = format!("/api/sessions/{}/stop", board.session);
    let (status, told) = app.post_as(board.token("fay"), &stop, &json!({})).await;
    assert_eq!((status, &told["error"]["state"]), (409, &json!("debate")), "{told}");
    // Nobody can come by way of another form and remove it.
    assert_eq!(app.delete(&format!("/api/boardrooms/{}", board.session)).await.0, 404);
    assert_eq!(board.seen("", "").await["phase"], "debate");
}

fn owned(words: Vec<&str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_taken_for_ever() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::open(&app, "once", json!({})).await;
    let again = json!({ "boardId": "once", "topic": "Another?", "openedBy": "ann" });
    let (status, told) = app.post("/api/whiteboards", &again).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("taken")), "{told}");
    // A council is something else, and may be called the same.
    let council = json!({ "name": "once", "charter": "Talk." });
    assert_eq!(app.post("/api/councils", &council).await.0, 201);
    assert_eq!(app.post("/api/councils", &council).await.0, 409);
    assert!(app.store.remove(board.session).await.unwrap());
    assert_eq!(app.get("/api/whiteboards").await.1["meta"]["total"], 0);
    let (status, told) = app.post("/api/whiteboards", &again).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("taken")), "{told}");
    assert!(text(&told["error"]["hint"]).contains("never reused"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_lose_nothing() {
    let app = TestApp::start(canned()).await;
    let agents = ["a1", "a2", "a3", "a4", "a5", "a6"];
    let board = Whiteboard::with(&app, "busy", &agents, json!({})).await;
    let all = agents.iter().flat_map(|agent| (0..10).map(move |nth| (agent, nth)));
    let all = all.map(|(agent, nth)| {
        let board = &board;
        async move { board.posts(agent, &format!("No. {nth}")).await }
    });
    let mut ids = futures::future::join_all(all).await;
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 60);
    board.moves_to("read").await;
    assert_eq!(board.seen("", "?limit=200").await["posts"].as_array().unwrap().len(), 60);
    // The same key at the same moment is one request.
    let post = json!({ "type": "informational", "title": "t", "body": "b" });
    for phase in ["validate", "debate"] {
        board.moves_to(phase).await;
    }
    let before = board.stored().await;
    let same = (0..12).map(|_| {
        let request = app.http.post(format!("{}{}", app.url, board.at("/posts"))).json(&post);
        let request = request.header("agent-token", board.token("a1"));
        answer(request.header("idempotency-key", "k"))
    });
    for (status, told) in futures::future::join_all(same).await {
        assert_eq!((status, &told["data"]["postId"]), (200, &json!("a1/11")), "{told}");
    }
    assert_eq!(board.stored().await, before + 1);
}

/// After one vote on a large board, one post is sent.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_a_board_is_sent_what_has_changed_since() {
    let app = TestApp::start(canned()).await;
    let board = Whiteboard::with(&app, "wall", &["ann", "bob"], json!({})).await;
    let mut posts = vec![];
    for nth in 0..6 {
        posts.push(board.posts("bob", &format!("Plan {nth}")).await);
    }
    // While it is blind, everybody gets all that they see.
    let blind = board.seen("bob", "?since=3").await;
    assert_eq!(
        (blind["posts"].as_array().unwrap().len(), &blind["changedSince"]),
        (6, &Value::Null)
    );
    for phase in ["read", "debate"] {
        board.moves_to(phase).await;
    }
    for (who, choice) in [("", "accept"), ("ann", "reject"), ("fay", "defer")] {
        let before = board.seen(who, "").await["version"].as_u64().unwrap();
        let none = board.seen(who, &format!("?since={before}")).await;
        assert_eq!((&none["posts"], &none["changedSince"]), (&json!([]), &json!(before)), "{who}");
        let vote = json!({ "postId": posts[2], "vote": choice });
        board.does("ann", "votes", vote).await;
        let some = board.seen(who, &format!("?since={before}&detail=full")).await;
        assert_eq!(pick(&some["posts"], "postId"), [json!(posts[2])], "{who}");
        assert_eq!((&some["postsTotal"], &some["changedSince"]), (&json!(6), &json!(before)));
        let whole = board.seen(who, "?detail=full").await;
        assert_eq!(some["posts"][0], whole["posts"][2], "{who}");
        assert_eq!(some["version"], whole["version"]);
    }
    // What the board was before it moved on is not counted from.
    let version = board.seen("", "").await["version"].as_u64().unwrap();
    board.moves_to("resolve").await;
    let moved = board.seen("", &format!("?since={version}")).await;
    assert_eq!(
        (moved["posts"].as_array().unwrap().len(), &moved["changedSince"]),
        (6, &Value::Null)
    );
    assert_eq!(app.get(&board.at("?since=1000000001")).await.0, 400);
}
