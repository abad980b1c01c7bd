//! Councils over REST: members that answer in turn, and whoever reads along.

use std::time::Duration;

use plenary_domain::{SessionId, limits};
use plenary_engine::ports::AttemptState;
use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Events, SAFETY, TestApp, Texts, answer, canned, pick, states};

struct Council<'a> {
    app: &'a TestApp,
    session: SessionId,
}

const PATH: &str = "/api/councils/talk";

impl<'a> Council<'a> {
    /// Members with a model are called as their model is; others have none.
    async fn open(app: &'a TestApp, models: &[&str], others: &[&str]) -> Council<'a> {
        let models = models.iter().map(|name| {
            json!({ "name": name, "model": format!("ollama/{name}"), "persona": format!("You are {name}.") })
        });
        let members: Vec<Value> =
            models.chain(others.iter().map(|name| json!({ "name": name }))).collect();
        let body = json!({ "name": "talk", "charter": "Say what you think.", "members": members,
            "project": "apollo" });
        let (status, told) = app.post("/api/councils", &body).await;
        assert_eq!(status, 201, "{told}");
        Council { app, session: told["data"]["sessionId"].as_str().unwrap().parse().unwrap() }
    }

    async fn post(&self, sender: &str, body: &str) -> Value {
        let body = json!({ "sender": sender, "body": body });
        let (status, told) = self.app.post(&format!("{PATH}/posts"), &body).await;
        assert_eq!(status, 200, "{told}");
        told["data"].clone()
    }

    async fn read(&self, query: &str) -> Value {
        let (status, told) = self.app.get(&format!("{PATH}/posts{query}")).await;
        assert_eq!(status, 200, "{told}");
        told["data"].clone()
    }

    async fn events(&self) -> Events {
        self.app.events(&format!("{PATH}/events"), None).await
    }

    /// Reads along until nobody answers any more.
    async fn quiet(&self) -> Value {
        let mut events = self.events().await;
        loop {
            let read = self.read("").await;
            if read["answering"].is_null() {
                return read;
            }
            while events.next().await.unwrap().id.is_none() {}
        }
    }

    async fn names(&self) -> Vec<String> {
        let events = self.app.store.events(self.session, 0, 1_000).await.unwrap();
        events.into_iter().map(|event| event.name).collect()
    }
}

fn senders(read: &Value) -> Vec<Value> {
    pick(&read["posts"], "sender")
}

#[tokio::test(flavor = "multi_thread")]
async fn members_answer_in_turn() {
    let script = canned()
        .when(When::model("a"), Reply::text("I am for it."))
        .when(When::model("b").and_says("I am for it."), Reply::text("I am not, like a."))
        .when(When::model("b"), Reply::text("I have read nothing."));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a", "b"], &["ann"]).await;
    let posted = council.post("ann", "Shall we?").await;
    assert_eq!((&posted["sequence"], &posted["addressed"]), (&json!(1), &json!(["a", "b"])));
    let read = council.quiet().await;
    assert_eq!(senders(&read), ["ann", "a", "b"]);
    assert_eq!(pick(&read["posts"], "sequence"), [1, 2, 3]);
    assert_eq!(pick(&read["posts"], "depth"), [0, 1, 1]);
    assert_eq!(pick(&read["posts"], "replyTo"), [Value::Null, json!(1), json!(1)]);
    // The second one has heard the first.
    assert_eq!(read["posts"][2]["body"], "I am not, like a.");
    let asked = app.scripted.requests();
    assert_eq!(asked.len(), 2);
    // The council as it stands, and what all sessions know of it.
    let (_, view) = app.get(PATH).await;
    let view = &view["data"];
    assert_eq!((&view["last"], &view["status"]), (&json!(3), &json!("open")));
    assert_eq!(
        pick(&view["members"], "model"),
        [json!("ollama/a"), json!("ollama/b"), Value::Null]
    );
    let (_, listed) = app.get("/api/councils?project=apollo&status=open&q=like").await;
    assert_eq!(pick(&listed["data"], "name"), ["talk"]);
    let (_, report) = app.get(&format!("/api/sessions/{}", council.session)).await;
    assert_eq!(
        (&report["data"]["over"], &report["data"]["kind"]),
        (&json!(true), &json!("council"))
    );
    assert_eq!(
        council.names().await,
        ["opened", "posted", "turnBegan", "answered", "turnBegan", "answered"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mention_addresses_a_member_and_an_answer_may_mention_another() {
    let script = canned()
        .when(When::model("a"), Reply::text("Ask @b about that."))
        .when(When::model("b"), Reply::text("I would not."))
        .when(When::model("c"), Reply::text("Nobody asked me."));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a", "b", "c"], &[]).await;
    let posted = council.post("ann", "@a, what do you think? Write to x@c.org.").await;
    assert_eq!(posted["addressed"], json!(["a"]));
    let read = council.quiet().await;
    assert_eq!(senders(&read), ["ann", "a", "b"]);
    assert_eq!(read["posts"][1]["addressed"], json!(["b"]));
    assert_eq!(pick(&read["posts"], "depth"), [0, 1, 2]);
    // One post makes five answer and says whom it left out.
    let (status, told) = app
        .post(
            "/api/councils",
            &json!({ "name": "crowd", "charter": "?", "members":
                (0..7).map(|nth| json!({ "name": format!("m{nth}"), "model": "ollama/c" })).collect::<Vec<_>>() }),
        )
        .await;
    assert_eq!(status, 201, "{told}");
    let body = json!({ "sender": "ann", "body": "@all?" });
    let (_, told) = app.post("/api/councils/crowd/posts", &body).await;
    assert_eq!(told["data"]["addressed"].as_array().unwrap().len(), limits::FAN_OUT);
    assert_eq!(told["data"]["leftOut"], json!(["m5", "m6"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn passes_and_failures_are_recorded_and_are_no_posts() {
    let script = canned()
        .when(When::model("a"), Reply::text("Agreed."))
        .when(When::model("b"), Reply::fault(Fault::Unauthorized))
        .when(When::model("c"), Reply::text("Something at last."));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a", "b", "c"], &[]).await;
    council.post("ann", "Well?").await;
    let read = council.quiet().await;
    assert_eq!(senders(&read), ["ann", "c"]);
    assert_eq!(pick(&read["silences"], "member"), ["a", "b"]);
    assert_eq!(pick(&read["silences"], "why"), ["passed", "failed"]);
    assert_eq!(read["silences"][0]["text"], "Agreed.");
    assert!(!read["silences"][1]["text"].as_str().unwrap().is_empty());
    // Whoever has read so far is not told of old silences.
    assert_eq!(council.read("?since=2").await["silences"], json!([]));
    let names = council.names().await;
    assert_eq!(names.iter().filter(|name| *name == "passed").count(), 1);
    assert_eq!(names.iter().filter(|name| *name == "answerFailed").count(), 1);
    let (_, export) = app.get(&format!("{PATH}/export")).await;
    assert_eq!(pick(&export["thread"]["silences"], "why"), ["passed", "failed"]);
    let markdown = app.http.get(format!("{}{PATH}/export?format=markdown", app.url));
    let markdown = markdown.send().await.unwrap().text().await.unwrap();
    assert!(markdown.contains("Something at last."), "{markdown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_waits_for_the_next_post_or_for_its_time() {
    let (app, clock) = TestApp::with_clock(canned()).await;
    let council = Council::open(&app, &[], &["ann"]).await;
    let seconds = Duration::from_secs(30);
    let asleep = async |count| {
        let asleep = clock.until_asleep(count, seconds..=seconds);
        tokio::time::timeout(SAFETY, asleep).await.unwrap();
    };
    // A post wakes it.
    let (read, posted) = tokio::join!(council.read("?waitSeconds=30"), async {
        asleep(1).await;
        council.post("ann", "Hello.").await
    });
    assert_eq!((senders(&read), &read["since"]), (vec![json!("ann")], &json!(1)));
    // Nobody posts: the time ends it.
    let (read, ()) = tokio::join!(council.read("?since=1&waitSeconds=30"), async {
        asleep(1).await;
        clock.advance(seconds);
    });
    assert_eq!(
        (&read["posts"], &read["since"], &read["more"]),
        (&json!([]), &json!(1), &json!(false))
    );
    // What is there is given at once, a page at a time.
    let second = json!({ "sender": "ann", "body": "Again.", "replyTo": 1 });
    let token = posted["agentToken"].as_str().unwrap();
    assert_eq!(app.post_as(token, &format!("{PATH}/posts"), &second).await.0, 200);
    let read = council.read("?limit=1&waitSeconds=30").await;
    assert_eq!((pick(&read["posts"], "sequence"), &read["more"]), (vec![json!(1)], &json!(true)));
    let read = council.read("?limit=1&since=1&waitSeconds=30").await;
    assert_eq!((pick(&read["posts"], "replyTo"), &read["more"]), (vec![json!(1)], &json!(false)));
    // Closing ends every wait: nothing can come any more.
    let (read, closed) = tokio::join!(council.read("?since=2&waitSeconds=30"), async {
        asleep(1).await;
        app.post(&format!("{PATH}/close"), &json!({ "summary": "Said." })).await
    });
    assert_eq!((closed.0, &read["status"]), (200, &json!("closed")));
    assert_eq!(council.read("?since=2&waitSeconds=30").await["posts"], json!([]));
    assert_eq!(app.metric("plenary_attempts_total").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_cuts_off_the_answer_that_is_being_written() {
    let gate = Gate::new();
    let script = canned().when(When::model("a"), Reply::text("one two three").gate(2, &gate));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a", "b"], &[]).await;
    council.post("ann", "Well?").await;
    let mut events = council.events().await;
    let mut texts = Texts::default();
    texts.until(&mut events, 1, "one two ").await;
    assert_eq!(council.read("").await["answering"], "a");
    let (status, told) = app.post(&format!("{PATH}/close"), &json!({ "summary": "Enough." })).await;
    let view = &told["data"];
    assert_eq!(
        (status, &view["status"], &view["summary"]),
        (200, &json!("closed"), &json!("Enough."))
    );
    assert_eq!((&view["answering"], &view["allowed"]), (&Value::Null, &json!(["export"])));
    // What had been said is kept, and nobody else is asked.
    let stopped = events.until("answerStopped").await;
    assert_eq!(stopped.data["event"]["partial"], "one two ");
    let read = council.read("").await;
    assert_eq!(
        (senders(&read), read["silences"][0]["text"].as_str()),
        (vec![json!("ann")], Some("one two "))
    );
    assert_eq!(read["silences"][0]["why"], "stopped");
    app.until_metric("plenary_calls_running", |calls| calls == 0).await;
    gate.release();
    assert_eq!(app.scripted.requests().len(), 1);
    let attempts = app.store.attempts(council.session).await.unwrap();
    assert_eq!(states(&attempts), [AttemptState::Stopped]);
    let (status, told) =
        app.post(&format!("{PATH}/posts"), &json!({ "sender": "eve", "body": "Late." })).await;
    assert_eq!((status, &told["error"]["state"]), (409, &json!("closed")), "{told}");
    let (status, told) = app.post(&format!("{PATH}/close"), &json!({})).await;
    assert_eq!((status, &told["error"]["code"]), (409, &json!("not-now")), "{told}");
}

/// Who is removed while writing hands back what had been said, and the next one answers.
#[tokio::test(flavor = "multi_thread")]
async fn charter_and_members_are_changed_while_it_goes_on() {
    let gate = Gate::new();
    let script = canned()
        .when(When::model("a"), Reply::text("one two three").gate(2, &gate))
        .when(When::model("b").and_says("Be brief."), Reply::text("No, @a."))
        .when(When::model("c").and_says("Posts 1 to 3 are new"), Reply::text("Hello."));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a", "b"], &["bo"]).await;
    council.post("ann", "Well?").await;
    let mut events = council.events().await;
    Texts::default().until(&mut events, 1, "one two ").await;
    let change = json!({ "charter": "Be brief.", "removeMembers": ["a", "bo"],
        "addMembers": [{ "name": "c", "model": "ollama/c", "persona": "You are c." }] });
    let (status, told) = app.patch(PATH, &change).await;
    let view = &told["data"];
    assert_eq!((status, &view["charter"]), (200, &json!("Be brief.")), "{told}");
    assert_eq!(pick(&view["members"], "name"), ["b", "c"]);
    let read = council.quiet().await;
    assert_eq!(senders(&read), ["ann", "b"]);
    assert_eq!(read["silences"][0]["text"], "one two ");
    let change = &read["changes"][0];
    assert_eq!((&change["after"], &change["charter"]), (&json!(1), &json!(true)));
    assert_eq!((&change["removed"], &change["added"]), (&json!(["a", "bo"]), &json!(["c"])));
    assert_eq!(council.read("?since=2").await["changes"], json!([]));
    gate.release();
    // A former member is nobody to speak to, and nobody takes its name.
    let posts = format!("{PATH}/posts");
    let (status, told) = app.post(&posts, &json!({ "sender": "eve", "body": "@c?" })).await;
    assert_eq!((status, &told["data"]["addressed"]), (200, &json!(["c"])), "{told}");
    assert_eq!(council.quiet().await["posts"][3]["body"], "Hello.");
    let (_, told) = app.post(&posts, &json!({ "sender": "fay", "body": "@a?" })).await;
    assert_eq!(told["data"]["addressed"], json!([]));
    let (status, told) = app.post(&posts, &json!({ "sender": "a", "body": "Me." })).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("forbidden")), "{told}");
    // All that is wrong is said at once, of models and of names alike.
    let wrong = json!({ "charter": "", "removeMembers": ["a"],
        "addMembers": [{ "name": "ann", "model": "nope" }, { "name": "d", "model": "nope" }] });
    let (status, told) = app.patch(PATH, &wrong).await;
    let mut fields = pick(&told["error"]["fields"], "field");
    fields.sort_by_key(Value::to_string);
    let named = ["addMembers[0].model", "addMembers[0].name", "addMembers[1].model", "charter"];
    assert_eq!((status, &fields[..4]), (422, &named.map(|name| json!(name))[..]), "{told}");
    assert_eq!(fields[4..], [json!("removeMembers[0]")]);
    let names = council.names().await;
    assert_eq!(names.iter().filter(|name| *name == "changed").count(), 1);
    let (_, listed) = app.get("/api/councils?q=brief").await;
    assert_eq!(pick(&listed["data"], "name"), ["talk"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_leaves_the_council_open() {
    let gate = Gate::new();
    let script = canned().when(When::model("a"), Reply::text("one two").gate(1, &gate));
    let app = TestApp::start(script).await;
    let council = Council::open(&app, &["a"], &[]).await;
    council.post("ann", "Well?").await;
    gate.reached(1).await;
    let stop = format!("/api/sessions/{}/stop", council.session);
    let (status, told) = app.post(&stop, &json!({})).await;
    assert_eq!((status, &told["data"]["status"]), (200, &json!("open")), "{told}");
    assert_eq!(council.read("").await["silences"][0]["why"], "stopped");
    assert_eq!(app.post(&stop, &json!({})).await.0, 409);
    gate.release();
    let second = json!({ "sender": "bob", "body": "Once more?" });
    assert_eq!(app.post(&format!("{PATH}/posts"), &second).await.0, 200);
    assert_eq!(senders(&council.quiet().await), ["ann", "bob", "a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_post_claims_a_name_and_the_next_needs_its_token() {
    let app = TestApp::start(canned()).await;
    let council = Council::open(&app, &["a"], &["ann"]).await;
    let token = council.post("ann", "@nobody Mine.").await["agentToken"].clone();
    let token = token.as_str().unwrap();
    let path = format!("{PATH}/posts");
    // The model's own answers come when they come.
    let posts = async || council.names().await.iter().filter(|name| *name == "posted").count();
    let before = posts().await;
    let again = json!({ "sender": "ann", "body": "@nobody Again." });
    let other = council.post("bob", "@nobody Me too.").await;
    for (status, told) in [
        app.post(&path, &again).await,
        app.post_as(other["agentToken"].as_str().unwrap(), &path, &again).await,
        app.post_as("ann.00", &path, &again).await,
        app.post_with_key(&path, "k", &again).await,
    ] {
        assert_eq!((status, &told["error"]["code"]), (403, &json!("not-your-agent")), "{told}");
        assert!(!told.to_string().contains(token));
    }
    let (status, told) = app.post_as(token, &path, &again).await;
    assert_eq!((status, &told["data"]["agentToken"]), (200, &json!(token)));
    // A model speaks for itself.
    let (status, told) = app.post(&path, &json!({ "sender": "a", "body": "I am a." })).await;
    assert_eq!((status, &told["error"]["code"]), (403, &json!("forbidden")), "{told}");
    // Of many that come at once with a new name, one gets it.
    let zoe = json!({ "sender": "zoe", "body": "@nobody First!" });
    let all = futures::future::join_all((0..8).map(|_| app.post(&path, &zoe))).await;
    assert_eq!(all.iter().filter(|(status, _)| *status == 200).count(), 1, "{all:?}");
    assert_eq!(all.iter().filter(|(status, _)| *status == 403).count(), 7, "{all:?}");
    assert_eq!(posts().await - before, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_post_is_one_post() {
    let app = TestApp::start(canned()).await;
    let council = Council::open(&app, &["a"], &[]).await;
    let path = format!("{PATH}/posts");
    let body = json!({ "sender": "ann", "body": "Once?" });
    let (status, first) = app.post_with_key(&path, "k", &body).await;
    assert_eq!(status, 200, "{first}");
    council.quiet().await;
    let before = council.names().await;
    let token = first["data"]["agentToken"].as_str().unwrap();
    for token in ["", token] {
        let request = app.http.post(format!("{}{path}", app.url)).header("idempotency-key", "k");
        let request = match token {
            "" => request,
            token => request.header("agent-token", token),
        };
        let (status, again) = answer(request.json(&body)).await;
        for key in ["sequence", "agentToken", "addressed"] {
            assert_eq!((status, &again["data"][key]), (200, &first["data"][key]), "{again}");
        }
    }
    let other = json!({ "sender": "ann", "body": "Twice?" });
    let (status, told) = app.post_with_key(&path, "k", &other).await;
    assert_eq!((status, &told["error"]["code"]), (422, &json!("idempotency-key-reused")));
    let close = json!({ "summary": "Done." });
    let closed = app.post_with_key(&format!("{PATH}/close"), "c", &close).await;
    assert_eq!(app.post_with_key(&format!("{PATH}/close"), "c", &close).await, closed);
    // Also after it was closed, the first post is the first post.
    let (status, again) = app.post_with_key(&path, "k", &body).await;
    assert_eq!((status, &again["data"]["sequence"]), (200, &json!(1)));
    assert_eq!(council.names().await.len(), before.len() + 1);
    let open = json!({ "name": "new", "charter": "?" });
    let opened = app.post_with_key("/api/councils", "o", &open).await;
    assert_eq!(app.post_with_key("/api/councils", "o", &open).await, opened);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_a_council_can_be_taken_up_again() {
    let paced = Reply::text("one two three four five").tokens_per_second(2_000);
    let app = TestApp::start(Script::new(paced).models(&["a", "b"])).await;
    let council = Council::open(&app, &["a", "b"], &[]).await;
    council.post("ann", "Well?").await;
    let path = format!("{PATH}/events");
    let (mut last, mut names) = (0, vec![]);
    while names.iter().filter(|name| *name == "answered").count() < 2 {
        // Each connection brings one event; deltas come in between.
        let mut events = app.events(&path, Some(last)).await;
        let frame = loop {
            let frame = events.next().await.unwrap();
            if frame.id.is_some() {
                break frame;
            }
        };
        assert_eq!(frame.id, Some(last + 1));
        last += 1;
        names.push(frame.name);
    }
    assert_eq!(names, council.names().await);
    let mut all = app.events("/api/events", Some(0)).await;
    for name in &names {
        assert_eq!(all.next().await.unwrap().name, *name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_input_names_every_wrong_field() {
    let app = TestApp::start(canned()).await;
    let council = Council::open(&app, &["a"], &["ann"]).await;
    let check = async |path: &str, body: Value, status: u16, code: &str, wrong: &[&str]| {
        let (found, told) = app.post(path, &body).await;
        assert_eq!((found, &told["error"]["code"]), (status, &json!(code)), "{body}: {told}");
        let fields = told["error"]["fields"].as_array().into_iter().flatten();
        let mut fields: Vec<&str> = fields.map(|field| field["field"].as_str().unwrap()).collect();
        fields.sort_unstable();
        assert_eq!(fields, wrong, "{told}");
    };
    let long = |bytes: usize| "x".repeat(bytes + 1);
    let open = "/api/councils";
    check(
        open,
        json!({ "name": "Talk", "charter": "" }),
        422,
        "invalid-input",
        &["charter", "name"],
    )
    .await;
    let members = json!([{ "name": "all" }, { "name": "x y" }, { "name": "b" }, { "name": "B" },
        { "name": "c", "persona": long(limits::PERSONA_BYTES) }]);
    let wrong = [
        "charter",
        "members[0].name",
        "members[1].name",
        "members[3].name",
        "members[4].persona",
        "project",
    ];
    let body = json!({ "name": "t", "charter": long(limits::CHARTER_BYTES), "members": members,
        "project": long(limits::COUNCIL_LABEL_BYTES) });
    check(open, body, 422, "invalid-input", &wrong).await;
    let crowd: Vec<Value> = (0..17).map(|nth| json!({ "name": format!("m{nth}") })).collect();
    let body = json!({ "name": "t", "charter": "?", "members": crowd });
    check(open, body, 422, "invalid-input", &["members"]).await;
    let members = json!([{ "name": "m", "model": "nope" }, { "name": "n", "model": "ollama/a" },
        { "name": "o", "model": "no/pe" }]);
    let body = json!({ "name": "t", "charter": " ", "members": members });
    check(open, body, 422, "invalid-input", &["charter", "members[0].model", "members[2].model"])
        .await;
    check(open, json!({ "name": "talk", "charter": "?" }), 409, "taken", &[]).await;
    let posts = format!("{PATH}/posts");
    check(
        &posts,
        json!({ "sender": "a b", "body": " ", "replyTo": 9 }),
        422,
        "invalid-input",
        &["body", "replyTo", "sender"],
    )
    .await;
    let body = json!({ "sender": "Ann", "body": long(limits::POST_BYTES) });
    check(&posts, body, 422, "invalid-input", &["body", "sender"]).await;
    check("/api/councils/none/posts", json!({ "sender": "x", "body": "y" }), 404, "not-found", &[])
        .await;
    let close = json!({ "summary": long(limits::COUNCIL_SUMMARY_BYTES) });
    check(&format!("{PATH}/close"), close, 422, "invalid-input", &["summary"]).await;
    for (path, status) in [
        (format!("{PATH}/posts?limit=0"), 400),
        (format!("{PATH}/posts?waitSeconds=601"), 400),
        (format!("{PATH}/posts?since=x"), 400),
        (format!("{PATH}/posts?since=1000000001"), 400),
        (format!("/api/councils/{}", council.session), 404),
        (format!("/api/boardrooms/{}", council.session), 404),
        ("/api/whiteboards/talk".to_owned(), 404),
        (format!("{PATH}/export?format=pdf"), 400),
    ] {
        assert_eq!(app.get(&path).await.0, status, "{path}");
    }
    assert_eq!(council.names().await, ["opened"]);
    assert_eq!(app.scripted.requests().len(), 0);
}
