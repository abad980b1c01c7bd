//! In the blind phase nobody can tell what another agent does.
//!
//! The same session runs on several fresh servers. Only Bob does something else in
//! each of them, and everything that others can observe must be the same, byte for
//! byte: every route of the OpenAPI document, every MCP tool, every stream, every
//! error. What is called, and how, stands in `routes.rs` and `tools.rs`; a route or
//! a tool that is missing there fails here.

mod observe;
mod routes;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use plenary_engine::testkit::ManualClock;
use plenary_scripted::{Fault, Gate, Reply, When};
use serde_json::{Value, json};

use crate::mcp::Client;
use crate::support::{SAFETY, TestApp, answer, canned};
use observe::{Follow, Record, same};

/// The board, and a council of the same name.
const BOARD: &str = "plan";
/// A word of Bob's posts, and of nobody else's.
const WORD: &str = "zebra";
/// Writes carry the keys `key-0`, `key-1`, …; Bob uses as many.
const KEYS: usize = 64;
/// How long those wait who wait while Bob acts.
const WAIT: Duration = Duration::from_secs(10);

/// What Bob does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bob {
    IsNotThere,
    DoesNothing,
    PostsOnce,
    /// Words that are searched for, files that others' posts are about.
    PostsMany,
    /// Under the keys that others use.
    UsesTheSameKeys,
    IsRefused,
    ReadsAlong,
    /// A third agent registers and posts as well.
    BringsCyd,
    /// A model sits in his place.
    IsAModel(Says),
}

/// What a model answers that sits in Bob's place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    /// It is still being asked.
    NothingYet,
    Nothing,
    OnePost,
    ManyPosts,
    WhatCannotBeRead,
    Fails,
}

impl Bob {
    const ALL: [Bob; 14] = [
        Bob::IsNotThere,
        Bob::DoesNothing,
        Bob::PostsOnce,
        Bob::PostsMany,
        Bob::UsesTheSameKeys,
        Bob::IsRefused,
        Bob::ReadsAlong,
        Bob::BringsCyd,
        Bob::IsAModel(Says::NothingYet),
        Bob::IsAModel(Says::Nothing),
        Bob::IsAModel(Says::OnePost),
        Bob::IsAModel(Says::ManyPosts),
        Bob::IsAModel(Says::WhatCannotBeRead),
        Bob::IsAModel(Says::Fails),
    ];

    /// To whoever leads, who may know who is there, who has posted and how it stands with
    /// models, this is the same.
    fn to_leaders(self) -> Option<Bob> {
        match self {
            Bob::IsNotThere
            | Bob::DoesNothing
            | Bob::BringsCyd
            | Bob::IsAModel(Says::NothingYet | Says::Nothing | Says::Fails) => None,
            Bob::PostsOnce
            | Bob::PostsMany
            | Bob::UsesTheSameKeys
            | Bob::IsRefused
            | Bob::ReadsAlong => Some(Bob::PostsOnce),
            Bob::IsAModel(Says::OnePost | Says::ManyPosts) => Some(Bob::IsAModel(Says::OnePost)),
            Bob::IsAModel(Says::WhatCannotBeRead) => Some(Bob::IsAModel(Says::WhatCannotBeRead)),
        }
    }

    /// How the model answers that sits in his place.
    fn reply(self) -> Option<Reply> {
        let Bob::IsAModel(says) = self else { return None };
        let post = json!({ "type": "proposal", "title": WORD, "body": "The zebra says so.",
            "target_file": "src/a.rs" });
        let posts = |count: usize| Reply::text(&json!({ "posts": vec![&post; count] }).to_string());
        Some(match says {
            Says::NothingYet | Says::Nothing => posts(0),
            Says::OnePost => posts(1),
            Says::ManyPosts => posts(9).reasoning("Hm. Let me see."),
            Says::WhatCannotBeRead => Reply::text(&format!("The {WORD}! ").repeat(99)),
            Says::Fails => Reply::fault(Fault::Unauthorized),
        })
    }
}

/// Who observes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    Specialist,
    Outsider,
    Facilitator,
    Operator,
}

impl Who {
    const ALL: [Who; 4] = [Who::Specialist, Who::Outsider, Who::Facilitator, Who::Operator];

    fn agent(self) -> Option<&'static str> {
        match self {
            Who::Specialist => Some("ann"),
            Who::Outsider => None,
            Who::Facilitator => Some("fay"),
            Who::Operator => Some("oto"),
        }
    }

    fn role(self) -> &'static str {
        match self {
            Who::Specialist | Who::Outsider => "specialist",
            Who::Facilitator => "facilitator",
            Who::Operator => "operator",
        }
    }

    fn leads(self) -> bool {
        match self {
            Who::Specialist | Who::Outsider => false,
            Who::Facilitator | Who::Operator => true,
        }
    }
}

/// One server with one board in its blind phase.
struct World {
    app: TestApp,
    clock: Arc<ManualClock>,
    /// Sessions.
    board: String,
    council: String,
    /// Agents with their tokens.
    tokens: Vec<(&'static str, String)>,
    /// Holds the answer of the model that sits in Bob's place.
    gate: Gate,
}

struct Observer<'a> {
    who: Who,
    token: Option<String>,
    mcp: Client<'a>,
}

impl World {
    async fn open(bob: Bob) -> World {
        let gate = Gate::new();
        let script = match bob.reply() {
            Some(reply) => canned().when(When::says("blind phase: nobody"), reply.gate(1, &gate)),
            None => canned(),
        };
        let (app, clock) = TestApp::with_clock(script).await;
        let (status, council) =
            app.post("/api/councils", &json!({ "name": BOARD, "charter": "Talk." })).await;
        assert_eq!(status, 201, "{council}");
        let mut board =
            json!({ "boardId": BOARD, "topic": "Which?", "openedBy": "fay", "project": "apollo" });
        if matches!(bob, Bob::IsAModel(_)) {
            board["seats"] = json!([{ "name": "bob", "model": "ollama/d" }]);
            board["budget"] = json!({ "tokens": 1_000_000 });
        }
        let (status, opened) = app.post("/api/whiteboards", &board).await;
        assert_eq!(status, 201, "{opened}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut world = World {
            board: text(&opened["data"]["sessionId"]),
            council: text(&council["data"]["sessionId"]),
            tokens: vec![("fay", text(&opened["data"]["agentToken"]))],
            app,
            clock,
            gate,
        };
        world.register("ann", "specialist").await;
        world.register("oto", "operator").await;
        if !matches!(bob, Bob::IsNotThere | Bob::IsAModel(_)) {
            world.register("bob", "specialist").await;
        }
        let first = routes::proposal("Mine", "What ann thinks.");
        let (status, told) = world.write("ann", "posts", &first, Some("ann-1")).await;
        assert_eq!(status, 200, "{told}");
        world
    }

    async fn register(&mut self, agent: &'static str, role: &str) {
        let body = json!({ "agentName": agent, "role": role });
        let (status, told) =
            self.app.post(&format!("/api/whiteboards/{BOARD}/agents"), &body).await;
        assert_eq!(status, 200, "{told}");
        self.tokens.push((agent, told["data"]["agentToken"].as_str().unwrap().to_owned()));
    }

    fn token(&self, agent: &str) -> &str {
        &self.tokens.iter().find(|(name, _)| *name == agent).unwrap().1
    }

    async fn write(
        &self,
        agent: &str,
        what: &str,
        body: &Value,
        key: Option<&str>,
    ) -> (u16, Value) {
        let path = format!("{}/api/whiteboards/{BOARD}/{what}", self.app.url);
        let request = self.app.http.post(path).header("agent-token", self.token(agent)).json(body);
        answer(match key {
            Some(key) => request.header("idempotency-key", key),
            None => request,
        })
        .await
    }

    async fn post(&self, agent: &str, title: &str, key: Option<&str>) {
        let post = routes::proposal(title, &format!("The {WORD} says so."));
        let (status, told) = self.write(agent, "posts", &post, key).await;
        assert_eq!(status, 200, "{told}");
    }

    async fn observer(&self, who: Who) -> Observer<'_> {
        let (mcp, _) = Client::start(&self.app, None).await;
        let token = who.agent().map(|agent| self.token(agent).to_owned());
        if let (Some(agent), Some(token)) = (who.agent(), &token) {
            // From now on the MCP session acts as this agent.
            let given = json!({ "board_id": BOARD, "agent_name": agent, "role": who.role(),
                "agent_token": token });
            mcp.good("whiteboard_register", given).await;
        }
        Observer { who, token, mcp }
    }

    async fn bob_acts(&mut self, bob: Bob) {
        match bob {
            Bob::IsNotThere | Bob::DoesNothing | Bob::IsAModel(Says::NothingYet) => {}
            Bob::IsAModel(_) => {
                self.gate.release();
                self.until_heard().await;
            }
            Bob::PostsOnce => self.post("bob", WORD, None).await,
            Bob::PostsMany => {
                for nth in 0..20 {
                    self.post("bob", &format!("{WORD} {nth}"), None).await;
                }
                let (mcp, _) = Client::start(&self.app, None).await;
                let mut given = json!({ "board_id": BOARD, "agent_name": "bob", "type": "claim",
                    "title": WORD, "body": WORD, "agent_token": self.token("bob") });
                mcp.good("whiteboard_post", given.clone()).await;
                given["idempotency_key"] = json!("key-1");
                mcp.good("whiteboard_post", given).await;
            }
            Bob::UsesTheSameKeys => {
                self.post("bob", WORD, Some("ann-1")).await;
                for nth in 0..KEYS {
                    self.post("bob", WORD, Some(&format!("key-{nth}"))).await;
                }
            }
            Bob::IsRefused => {
                for (what, body) in [
                    ("posts", json!({ "type": "proposal", "title": "", "body": WORD })),
                    ("posts", json!({ "type": WORD })),
                    ("annotations", routes::challenge("ann/1")),
                    ("votes", json!({ "postId": "ann/1", "vote": "reject" })),
                    ("transition", json!({ "targetPhase": "read" })),
                    ("archive", json!({})),
                ] {
                    let (status, told) = self.write("bob", what, &body, Some("key-2")).await;
                    assert!(status >= 400, "{told}");
                }
                self.post("bob", WORD, None).await;
            }
            Bob::ReadsAlong => {
                self.post("bob", WORD, None).await;
                self.bob_reads().await;
            }
            Bob::BringsCyd => {
                self.register("cyd", "specialist").await;
                self.post("cyd", WORD, Some("key-3")).await;
                self.post("bob", WORD, Some("key-3")).await;
            }
        }
    }

    /// Waits until the model that sits in Bob's place has been heard, whatever it said.
    async fn until_heard(&self) {
        let id = self.board.parse().unwrap();
        let is_heard = |name: &str| matches!(name, "answered" | "answerFailed");
        let heard = async {
            loop {
                let events = self.app.store.events(id, 0, 1_000).await.unwrap();
                if events.iter().any(|event| is_heard(&event.name)) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(SAFETY, heard).await.unwrap();
    }

    /// How many read along at a moment is no secret; what they read is. So Bob has
    /// left again before the others look.
    async fn bob_reads(&self) {
        let readers = self.app.metric("plenary_readers").await;
        for path in ["", "/summary", "/conflicts", "/export", "/events"] {
            let path = format!("{}/api/whiteboards/{BOARD}{path}", self.app.url);
            let request = self.app.http.get(&path).header("agent-token", self.token("bob"));
            let response = request.send().await.unwrap();
            if path.ends_with("/events") {
                Follow::new(response, "posted").await.unwrap().rest().await;
            }
        }
        self.app.until_metric("plenary_readers", |now| now == readers).await;
    }
}

/// What was observed before the board went to read, and after.
struct Run {
    /// Kept, because its streams go on.
    _world: World,
    bob: Bob,
    blind: Record,
    read: Record,
}

async fn run(bob: Bob) -> Run {
    let mut world = World::open(bob).await;
    routes::assert_complete(&world).await;
    let mut blind = Record::new(&world);

    // Some wait or read along while Bob acts.
    let waits = waits(&world).await;
    let streams = live(&world).await;
    let waiting = waiting(&world).await;
    world.clock.advance(Duration::from_secs(1));
    world.bob_acts(bob).await;
    world.clock.advance(WAIT);
    for (label, answer) in waiting {
        let answer = tokio::time::timeout(SAFETY, answer).await.unwrap().unwrap();
        blind.add(&label, &answer);
    }
    for (label, stream) in streams {
        blind.follow(&label, stream);
    }

    blind.add("a run that waits", &seen(&world, &waits).await);
    blind.add("a run that looks", &spies(&world).await);

    let mut observers = vec![];
    for who in Who::ALL {
        observers.push(world.observer(who).await);
    }
    for observer in &observers {
        tools::assert_complete(&world, observer).await;
        routes::sweep(&world, observer, &mut blind).await;
        tools::sweep(&world, observer, &mut blind).await;
    }
    // The end of what the streams tell of the blind phase.
    world.clock.advance(Duration::from_secs(1));
    let (status, told) =
        world.write("fay", "transition", &json!({ "targetPhase": "read" }), None).await;
    assert_eq!(status, 200, "{told}");
    let mut read = Record::new(&world);
    ended(&world, &waits).await;
    read.add("a run that waits", &seen(&world, &waits).await);
    for (label, rest) in blind.end_streams().await {
        read.follow(&label, rest);
    }
    if matches!(bob, Bob::DoesNothing | Bob::PostsMany) {
        for observer in observers.iter().filter(|observer| !observer.who.leads()) {
            routes::sweep(&world, observer, &mut read).await;
            tools::sweep(&world, observer, &mut read).await;
        }
    }
    drop(observers);
    Run { _world: world, bob, blind, read }
}

/// A run that waits until the board goes to read.
async fn waits(world: &World) -> String {
    let signal = format!("{{ signal: board-transitioned, board: {BOARD}, phase: read }}");
    let source = format!("name: waits\nsteps:\n  a: {{ wait: {{ any: [ {signal} ] }} }}\n");
    begin(world, &source).await
}

/// What a run comes to that looks at the board in every way that a step has, as long as it
/// is blind.
async fn spies(world: &World) -> String {
    let signal = format!("{{ signal: board-transitioned, board: {BOARD}, phase: blind }}");
    let looks = format!(
        "name: spies
steps:
  count: {{ whiteboard.summarize: {{ board: {BOARD} }} }}
  collide: {{ whiteboard.conflicts: {{ board: {BOARD} }}, needs: [count], on_failure: continue }}
  heard: {{ wait: {{ any: [ {signal} ] }}, needs: {{ collide: any }} }}
  seat: {{ whiteboard.register: {{ board: {BOARD}, agent: eve }}, needs: [heard] }}
  ask: {{ whiteboard.post: {{ board: {BOARD}, as: eve, ask: What do you see? }}, needs: {{ seat: any }}, on_failure: continue }}
  read: {{ council.read: {{ council: {BOARD} }}, needs: {{ ask: any }} }}
"
    );
    let run = begin(world, &looks).await;
    ended(world, &run).await;
    // Who is asked sees what their seat sees.
    let mut asked = world.app.scripted.requests();
    asked.retain(|asked| asked.prompt.contains("What do you see?"));
    assert_eq!(asked.len(), 1);
    assert!(asked[0].prompt.contains("You see no posts.") && !asked[0].prompt.contains(WORD));
    seen(world, &run).await
}

async fn begin(world: &World, source: &str) -> String {
    let (status, begun) = world.app.post("/api/runs", &json!({ "source": source })).await;
    assert_eq!(status, 201, "{begun}");
    begun["data"]["id"].as_str().unwrap().to_owned()
}

async fn ended(world: &World, run: &str) {
    let mut events = world.app.events(&format!("/api/runs/{run}/events"), None).await;
    events.until("ended").await;
}

/// The whole run, with its record.
async fn seen(world: &World, run: &str) -> String {
    let mut all = String::new();
    for rest in ["", "/export?format=markdown"] {
        let place = format!("{}/api/runs/{run}{rest}", world.app.url);
        all += &observe::whole(world.app.http.get(place)).await;
    }
    all
}

/// Streams that are open before Bob acts.
async fn live(world: &World) -> Vec<(String, Follow)> {
    let mut streams = vec![];
    for who in Who::ALL {
        let path = format!("/api/whiteboards/{BOARD}/events");
        for path in [path.as_str(), "/api/events"] {
            let mut request = world.app.http.get(format!("{}{path}", world.app.url));
            if let Some(agent) = who.agent() {
                request = request.header("agent-token", world.token(agent));
            }
            let stream = Follow::new(request.send().await.unwrap(), "transitioned").await.unwrap();
            streams.push((format!("{who:?}: live {path}"), stream));
        }
    }
    streams
}

/// Requests that wait for something to happen on the board.
async fn waiting(world: &World) -> Vec<(String, tokio::task::JoinHandle<String>)> {
    let report = format!("/api/sessions/{}", world.board);
    let (_, told) = world.app.get(&report).await;
    let seen = told["data"]["seen"].as_str().unwrap().to_owned();
    let seconds = WAIT.as_secs();
    let mut waiting = vec![];
    for (nth, path) in [
        format!("{report}/wait?seconds={seconds}"),
        format!("{report}/wait?seconds={seconds}&seen={seen}"),
        format!("/api/councils/{BOARD}/posts?waitSeconds={seconds}"),
    ]
    .into_iter()
    .enumerate()
    {
        let request = world.app.http.get(format!("{}{path}", world.app.url));
        let request = request.header("agent-token", world.token("ann"));
        waiting.push((format!("Specialist: {path}"), tokio::spawn(observe::whole(request))));
        let asleep = world.clock.until_asleep(nth + 1, WAIT..=WAIT);
        tokio::time::timeout(SAFETY, asleep).await.unwrap();
    }
    waiting
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_does_in_the_blind_phase_changes_nothing_that_one_can_observe() {
    let mut runs = futures::future::join_all(Bob::ALL.map(run)).await;
    let of = |bob: Bob| runs.iter().find(|run| run.bob == bob).unwrap();
    let nothing = of(Bob::DoesNothing);
    for run in &runs {
        let seen_by = |who: Who| move |label: &str| label.starts_with(&format!("{who:?}:"));
        // Whether a name is free is told to whoever wants it, so this differs by
        // nature when Bob has not taken his.
        let open = |label: &str| run.bob != Bob::IsNotThere || !label.contains("claims bob");
        for who in Who::ALL {
            let compared = |label: &str| seen_by(who)(label) && open(label);
            match (who.leads(), run.bob.to_leaders()) {
                (false, _) => same(&nothing.blind, &run.blind, run.bob, compared),
                (true, Some(other)) => same(&of(other).blind, &run.blind, run.bob, compared),
                (true, None) => {}
            }
        }
    }
    // It could have failed: from the read phase on Bob is seen everywhere.
    let many = runs.iter_mut().find(|run| run.bob == Bob::PostsMany).unwrap();
    many.read.end_streams_at("bob/22").await;
    let of = |bob: Bob| runs.iter().find(|run| run.bob == bob).unwrap();
    let (nothing, many) = (of(Bob::DoesNothing), of(Bob::PostsMany));
    for who in [Who::Specialist, Who::Outsider] {
        for (label, shown) in shown_when_read() {
            let label = format!("{who:?}: {label}");
            assert!(many.read.text(&label).contains(shown), "{label} should tell of Bob now");
            assert!(!nothing.read.text(&label).contains(shown), "{label}");
            assert!(!many.blind.text(&label).contains(shown), "{label}");
        }
        let live = format!("{who:?}: live /api/whiteboards/{BOARD}/events");
        let posted = many.read.text(&live).matches("\"author\":\"bob\"").count();
        assert_eq!(posted, 22, "{live}");
    }
}

/// Where Bob's posts can be read when the board has gone to read, and by what one
/// knows them.
fn shown_when_read() -> Vec<(String, &'static str)> {
    let board = format!("GET /api/whiteboards/{BOARD}");
    let given = json!({ "board_id": BOARD });
    let resource = json!({ "uri": "plenary://whiteboard/<board>" });
    vec![
        (format!("{board} (none)"), "bob/22"),
        (format!("{board}?detail=full (none)"), "The zebra says so."),
        (format!("{board}/summary (none)"), "bob/22"),
        (format!("{board}/conflicts (none)"), "bob/1"),
        (format!("{board}/export (none)"), "The zebra says so."),
        (format!("{board}/export?format=markdown (none)"), "The zebra says so."),
        (format!("GET /api/sessions?q={WORD}"), "<board>"),
        (format!("GET /api/whiteboards?q={WORD}"), "<board>"),
        ("GET /api/sessions/<board>?detail=full".to_owned(), "The zebra says so."),
        (format!("whiteboard_state {given}"), "bob/22"),
        (format!("whiteboard_summarize {given}"), "bob/22"),
        (format!("whiteboard_conflicts {given}"), "bob/1"),
        (format!("whiteboard_list {}", json!({ "q": WORD })), "Which?"),
        (format!("resources/read {resource}"), "The zebra says so."),
    ]
}
