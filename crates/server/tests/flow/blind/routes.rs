//! How every route of the OpenAPI document is called by whoever observes.

use serde_json::{Value, json};

use super::observe::{Follow, Record, whole};
use super::{BOARD, Observer, WORD, World};

/// One route, and how it is called.
struct Entry {
    route: &'static str,
    how: How,
}

enum How {
    /// With each of these queries.
    Get(Vec<String>),
    /// From each of these ids on, until an event of this name has come.
    Follow(&'static [&'static str], &'static str),
    /// With each of these bodies, and what that means where it matters.
    Post(Vec<(&'static str, Value)>),
    Delete,
    /// Only where nothing is.
    Remove,
}

/// Every route. One that is new has to be added here, with calls by which one could
/// learn of another's posts if it told of them.
fn table(world: &World, observer: &Observer<'_>) -> Vec<Entry> {
    let get = |route, queries: &[&str]| {
        let queries = queries.iter().map(|query| (*query).to_owned());
        Entry { route, how: How::Get(queries.collect()) }
    };
    let list = |route| Entry { route, how: How::Get(lists(world)) };
    let follow = |route, ids, until| Entry { route, how: How::Follow(ids, until) };
    let post = |route, bodies: Vec<Value>| {
        let bodies = bodies.into_iter().map(|body| ("", body));
        Entry { route, how: How::Post(bodies.collect()) }
    };
    let formats = ["", "?format=json", "?format=markdown", "?format=pdf"];
    let reads = [
        "",
        "?detail=full",
        "?limit=1",
        "?limit=1&cursor=1",
        "?cursor=9",
        "?limit=0",
        "?since=1",
        "?since=3",
    ];
    // An id that the stream has not come to never gets anything to end it by.
    let from = ["", "0", "1", "-1", "soon"].as_slice();
    vec![
        get("GET /api/access", &[""]),
        post("POST /api/access", vec![json!({ "token": "bob" }), json!({})]),
        Entry { route: "DELETE /api/access", how: How::Delete },
        get("GET /api/agents", &["", "?q=bob", "?detail=full&limit=1", "?cursor=bob", "?limit=0"]),
        post("POST /api/agents", stored_agents(observer)),
        get("GET /api/agents/{id}", &[""]),
        post("PATCH /api/agents/{id}", vec![json!({ "name": "bob" })]),
        Entry { route: "DELETE /api/agents/{id}", how: How::Delete },
        get("GET /api/offers", &[""]),
        get("GET /api/pulls", &[""]),
        post("POST /api/pulls", vec![json!({}), json!({ "model": BOARD })]),
        get("GET /api/pulls/{id}", &[""]),
        Entry { route: "DELETE /api/pulls/{id}", how: How::Delete },
        get("GET /api/settings", &[""]),
        get("GET /api/nodes", &[""]),
        post("PUT /api/settings/keys/{provider}", vec![json!({}), json!({ "key": 7 })]),
        Entry { route: "DELETE /api/settings/keys/{provider}", how: How::Delete },
        post("PUT /api/settings/tiers", vec![json!({ "fast": 7 })]),
        post("PUT /api/settings/prices", vec![json!({ "prices": 7 })]),
        get("GET /v1/models", &[""]),
        get("GET /v1/models/{model}", &[""]),
        post("POST /v1/chat/completions", vec![json!({}), json!({ "model": BOARD })]),
        post("POST /v1/responses", vec![json!({}), json!({ "model": BOARD, "input": 7 })]),
        get("GET /api/boards", &[""]),
        post("POST /api/boards", vec![json!({}), json!({ "copyOf": BOARD })]),
        post("POST /api/boards/import", vec![json!({ "file": BOARD }), json!({})]),
        get("GET /api/boards/{name}", &[""]),
        post("PATCH /api/boards/{name}", vec![json!({ "title": WORD })]),
        Entry { route: "DELETE /api/boards/{name}", how: How::Delete },
        get("GET /api/boards/{name}/export", &["", "?format=json", "?format=pdf"]),
        list("GET /api/boardrooms"),
        post("POST /api/boardrooms", vec![json!({}), json!({ "prompt": 7 })]),
        post("POST /api/boardrooms/estimate", vec![json!({ "prompt": WORD }), json!({})]),
        post("POST /api/boardrooms/import", vec![json!({})]),
        get("GET /api/boardrooms/presets", &[""]),
        Entry { route: "DELETE /api/boardrooms/{id}", how: How::Delete },
        Entry { route: "DELETE /api/sessions/{id}", how: How::Remove },
        get("GET /api/boardrooms/{id}", &[""]),
        post("POST /api/boardrooms/{id}/advisors/{advisor}/retry", vec![json!({})]),
        post("POST /api/boardrooms/{id}/advisors/{advisor}/pick", vec![json!({ "try": 1 })]),
        post(
            "POST /api/boardrooms/{id}/ballot",
            vec![
                json!({ "votes": [{ "point": 1, "vote": "accept" }] }),
                json!({ "advisor": 1, "votes": [{ "point": 1, "vote": "accept" }] }),
            ],
        ),
        post("POST /api/boardrooms/{id}/ballot/open", vec![json!({})]),
        post("POST /api/boardrooms/{id}/follow-up", vec![json!({ "prompt": WORD }), json!({})]),
        post("POST /api/boardrooms/{id}/advisors/{advisor}/stop", vec![json!({})]),
        follow("GET /api/boardrooms/{id}/events", from, "never"),
        get("GET /api/boardrooms/{id}/export", &formats),
        post(
            "POST /api/boardrooms/{id}/reply",
            vec![json!({ "text": "?" }), json!({ "text": "?", "advisor": 1 })],
        ),
        post("POST /api/boardrooms/{id}/resume", vec![json!({})]),
        post("POST /api/boardrooms/{id}/resynthesize", vec![json!({})]),
        post("POST /api/boardrooms/{id}/stop", vec![json!({})]),
        post("POST /api/boardrooms/{id}/synthesize", vec![json!({})]),
        list("GET /api/councils"),
        post("POST /api/councils", councils(observer)),
        get("GET /api/councils/{council}", &[""]),
        post(
            "POST /api/councils/{council}/posts",
            vec![
                json!({ "sender": "bob", "body": "Hello." }),
                json!({ "sender": format!("{:?}", observer.who), "body": "Hello." }),
            ],
        ),
        get(
            "GET /api/councils/{council}/posts",
            &["", "?since=1", "?limit=1", "?waitSeconds=0", "?waitSeconds=601"],
        ),
        post(
            "PATCH /api/councils/{council}",
            vec![json!({ "charter": WORD }), json!({ "removeMembers": ["bob"] })],
        ),
        post("POST /api/councils/{council}/close", vec![json!({})]),
        // Of nobody: what becomes of somebody's token is theirs to know.
        post("POST /api/councils/{council}/agents/{agent}/token", vec![json!({})]),
        follow("GET /api/councils/{council}/events", &["", "0", "1"], "closed"),
        get("GET /api/councils/{council}/export", &formats),
        list("GET /api/discussions"),
        post(
            "POST /api/discussions",
            vec![json!({ "topic": WORD }), json!({}), json!({ "topic": 7 })],
        ),
        post("POST /api/discussions/estimate", vec![json!({ "topic": WORD }), json!({})]),
        get("GET /api/discussions/presets", &[""]),
        get("GET /api/discussions/{id}", &[""]),
        post("PATCH /api/discussions/{id}", vec![json!({ "name": "bob" })]),
        Entry { route: "DELETE /api/discussions/{id}", how: How::Delete },
        post("PATCH /api/discussions/{id}/moderator", vec![json!({ "moderatorId": "bob" })]),
        post("POST /api/discussions/{id}/participants", vec![json!({ "person": "bob" })]),
        Entry {
            route: "DELETE /api/discussions/{id}/participants/{participant}",
            how: How::Delete,
        },
        post("POST /api/discussions/{id}/start", vec![json!({})]),
        post("POST /api/discussions/{id}/pause", vec![json!({})]),
        post("POST /api/discussions/{id}/resume", vec![json!({})]),
        post("POST /api/discussions/{id}/stop", vec![json!({})]),
        post("POST /api/discussions/{id}/conclude", vec![json!({})]),
        post("POST /api/discussions/{id}/interject", vec![json!({ "text": "?", "by": "bob" })]),
        post("POST /api/discussions/{id}/reply", vec![json!({ "text": "?" })]),
        post("POST /api/discussions/{id}/decide", vec![json!({ "decision": "synthesize" })]),
        get("GET /api/discussions/{id}/estimate", &[""]),
        get("GET /api/discussions/{id}/transcript", &["", "?since=1", "?limit=0"]),
        get("GET /api/discussions/{id}/export", &formats),
        follow("GET /api/discussions/{id}/events", from, "never"),
        follow("GET /api/events", &["", "0", "1", "2", "soon"], "transitioned"),
        get("GET /api/limits", &[""]),
        get("GET /api/models", &[""]),
        get("GET /api/providers", &[""]),
        get("GET /api/tiers", &[""]),
        list("GET /api/runs"),
        // What a run tells of a board, it tells in `spies`: it has to come to its end first.
        post("POST /api/runs", vec![json!({}), peeking(), json!({ "workflow": "bob" })]),
        get("GET /api/runs/{id}", &[""]),
        post("POST /api/runs/{id}/cancel", vec![json!({})]),
        post("POST /api/runs/{id}/fork", vec![json!({ "from": "bob" })]),
        post("POST /api/runs/{id}/seats", vec![json!({})]),
        post(
            "POST /api/runs/{id}/steps/{step}/approve",
            vec![json!({ "decision": "approved", "by": "bob" })],
        ),
        get("GET /api/runs/{id}/export", &formats),
        follow("GET /api/runs/{id}/events", from, "never"),
        get("GET /api/overview", &[""]),
        list("GET /api/sessions"),
        get("GET /api/sessions/{id}", &["", "?detail=full"]),
        post("PATCH /api/sessions/{id}", vec![json!({ "pinned": false }), json!({ "title": 7 })]),
        post("POST /api/sessions/{id}/stop", vec![json!({})]),
        post("POST /api/sessions/{id}/budget", vec![json!({ "tokens": 9_000 }), json!({})]),
        get("GET /api/sessions/{id}/wait", &["?seconds=0", "?seconds=0&seen=x", "?seconds=601"]),
        post(
            "POST /api/signals",
            vec![
                json!({ "name": "board-transitioned", "fields": { "board": BOARD } }),
                json!({ "name": "bob", "fields": { "board": BOARD, "post": "bob/1" } }),
            ],
        ),
        list("GET /api/whiteboards"),
        post("POST /api/whiteboards", boards(observer)),
        get("GET /api/whiteboards/{board}", &reads),
        Entry { route: "POST /api/whiteboards/{board}/agents", how: How::Post(agents(observer)) },
        post(
            "POST /api/whiteboards/{board}/invitations",
            vec![
                json!({}),
                json!({ "invite": "bob" }),
                json!({ "invite": "zed", "role": "operator" }),
            ],
        ),
        post("POST /api/whiteboards/{board}/agents/{agent}/token", vec![json!({})]),
        post(
            "POST /api/whiteboards/{board}/seats",
            vec![json!({}), json!({ "name": "bob" }), json!({ "name": "zed", "model": "nobody" })],
        ),
        post("POST /api/whiteboards/{board}/posts", posts()),
        post("POST /api/whiteboards/{board}/annotations", annotations()),
        post("POST /api/whiteboards/{board}/votes", votes()),
        post("POST /api/whiteboards/{board}/transition", transitions(observer)),
        post("POST /api/whiteboards/{board}/archive", vec![json!({}), json!({ "note": 7 })]),
        get("GET /api/whiteboards/{board}/conflicts", &["", "?limit=1", "?cursor=1"]),
        get("GET /api/whiteboards/{board}/summary", &[""]),
        get("GET /api/whiteboards/{board}/export", &formats),
        follow("GET /api/whiteboards/{board}/events", from, "transitioned"),
        get("GET /api/workflows", &[""]),
        post("POST /api/workflows", vec![json!({}), peeking()]),
        post("POST /api/workflows/check", vec![peeking()]),
        post("POST /api/workflows/estimate", vec![peeking()]),
        get("GET /api/workflows/{name}", &[""]),
        post("PUT /api/workflows/{name}", vec![peeking()]),
        Entry { route: "DELETE /api/workflows/{name}", how: How::Delete },
        post("POST /api/workflows/{name}/runs", vec![json!({})]),
        post("POST /hooks/{name}", vec![json!({ "board": BOARD })]),
        get("GET /healthz", &[""]),
        get("GET /metrics", &[""]),
        get("GET /readyz", &[""]),
    ]
}

/// Pages that stand outside of the document.
const PAGES: [&str; 7] = [
    "/",
    "/whiteboards/plan",
    "/docs",
    "/docs/whiteboard",
    "/docs/style.css",
    "/api/openapi.json",
    "/mcp",
];

fn lists(world: &World) -> Vec<String> {
    let fixed = [
        String::new(),
        format!("?q={WORD}"),
        format!("?q={WORD}&kind=whiteboard"),
        "?q=bob".to_owned(),
        "?q=cyd".to_owned(),
        "?q=ann".to_owned(),
        "?status=blind".to_owned(),
        "?kind=whiteboard".to_owned(),
        "?active=true".to_owned(),
        "?active=false&limit=1".to_owned(),
        "?project=apollo".to_owned(),
        "?limit=0".to_owned(),
    ];
    let cursors = [&world.board, &world.council].map(|id| format!("?limit=1&cursor={id}"));
    fixed.into_iter().chain(cursors).collect()
}

/// A file that asks for what no step and no wait gives.
fn peeking() -> Value {
    let wait = format!("{{ signal: board-transitioned, board: {BOARD}, post: bob/1 }}");
    let peek = format!("whiteboard.peek: {{ board: {BOARD} }}");
    json!({ "source": format!("name: peek\nsteps:\n  a: {{ {peek} }}\n  b: {{ wait: {{ any: [ {wait} ] }} }}\n") })
}

/// Stored agents are no agents of a board, whatever they are called.
fn stored_agents(observer: &Observer<'_>) -> Vec<Value> {
    let name = format!("of {:?}", observer.who);
    vec![
        json!({ "name": name, "persona": WORD }),
        json!({ "name": "bob", "persona": WORD }),
        json!({ "copyOf": "bob" }),
        json!({}),
    ]
}

fn councils(observer: &Observer<'_>) -> Vec<Value> {
    let name = format!("of-{:?}", observer.who).to_lowercase();
    vec![
        json!({ "name": name, "charter": "Talk." }),
        json!({ "name": BOARD, "charter": "Talk." }),
        json!({}),
    ]
}

fn boards(observer: &Observer<'_>) -> Vec<Value> {
    let name = format!("of-{:?}", observer.who).to_lowercase();
    vec![
        // Another board, where Bob is somebody else.
        json!({ "boardId": name, "topic": "?", "openedBy": "bob" }),
        json!({ "boardId": BOARD, "topic": "?", "openedBy": "bob" }),
        json!({ "boardId": BOARD, "topic": "?", "openedBy": "ann" }),
        json!({}),
    ]
}

fn agents(observer: &Observer<'_>) -> Vec<(&'static str, Value)> {
    let mut bodies = vec![
        ("claims bob", json!({ "agentName": "bob", "role": "specialist" })),
        ("claims bob", json!({ "agentName": "bob", "role": "operator", "domain": WORD })),
        ("", json!({ "agentName": "fay", "role": "facilitator" })),
        ("", json!({ "agentName": "", "role": "jester" })),
    ];
    if let Some(agent) = observer.who.agent() {
        bodies.push(("", json!({ "agentName": agent, "role": observer.who.role() })));
    }
    bodies
}

/// Every post is about the same place, so that they conflict.
pub fn proposal(title: &str, body: &str) -> Value {
    json!({ "type": "proposal", "title": title, "body": body, "targetFile": "src/lib.rs",
        "targetLocation": "10-20", "severity": if title == "Mine" { "low" } else { "high" },
        "findingRefs": ["F-1"], "cascadeTargets": ["src/lib.rs"] })
}

fn posts() -> Vec<Value> {
    vec![
        proposal("Mine", "What I think."),
        json!({ "type": "informational", "title": "Note", "body": "Well." }),
        json!({ "type": "proposal", "title": "", "body": "" }),
        json!({ "type": "none" }),
    ]
}

pub fn challenge(post: &str) -> Value {
    json!({ "postId": post, "type": "challenge", "body": "No." })
}

/// On posts that Bob may have, that he cannot have, and on one's own.
fn annotations() -> Vec<Value> {
    let mut bodies = vec![json!({}), json!({ "postId": "bob/1", "type": "resolution" })];
    for post in ["bob/1", "bob/999", "ann/1"] {
        bodies.push(challenge(post));
        bodies.push(json!({ "postId": post, "type": "validation", "body": "So it is.",
            "result": "confirmed" }));
        bodies.push(json!({ "postId": post, "type": "withdrawal" }));
        bodies.push(json!({ "postId": post, "type": "resolution", "body": "Settled.",
            "challengeId": "bob/a1" }));
    }
    bodies
}

fn votes() -> Vec<Value> {
    let posts = ["bob/1", "bob/999", "ann/1"];
    let votes = posts.map(|post| json!({ "postId": post, "vote": "accept" }));
    votes.into_iter().chain([json!({})]).collect()
}

fn transitions(observer: &Observer<'_>) -> Vec<Value> {
    let mut phases = vec!["validate", "archived", "blind", "nowhere"];
    if !observer.who.leads() {
        phases.push("read");
    }
    phases.into_iter().map(|phase| json!({ "targetPhase": phase })).collect()
}

/// Every route has its entry, and every entry its route.
pub async fn assert_complete(world: &World) {
    let observer = world.observer(super::Who::Outsider).await;
    let (_, document) = world.app.get("/api/openapi.json").await;
    let mut documented = vec![];
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            documented.push(format!("{} {path}", method.to_uppercase()));
        }
    }
    let table = table(world, &observer);
    for route in &documented {
        assert!(
            table.iter().any(|entry| entry.route == route),
            "{route} is not observed. Say in `table` of tests/flow/blind/routes.rs how it is called, \
             with whatever could make it tell of another agent's posts."
        );
    }
    for entry in &table {
        assert!(documented.iter().any(|route| route == entry.route), "{} is gone", entry.route);
    }
}

/// Who the caller claims to be, by the header `Agent-Token`.
fn tokens(observer: &Observer<'_>) -> Vec<(&'static str, Option<String>)> {
    let forged = format!("bob.{}", "0".repeat(40));
    let own = observer.token.clone().map(|token| ("own", Some(token)));
    // Without their token those who lead are outsiders like any other.
    let others = [("none", None), ("forged", Some(forged))];
    let others = others.into_iter().filter(|_| !observer.who.leads());
    own.into_iter().chain(others).collect()
}

/// The addresses of a route: first where something is, then where nothing should be.
fn addresses(world: &World, path: &str) -> Vec<String> {
    let unknown = "01890000-0000-7000-8000-000000000000";
    let (name, values) = if path.contains("{id}") {
        ("{id}", vec![&*world.board, &*world.council, BOARD, unknown])
    } else if path.contains("{board}") {
        ("{board}", vec![BOARD, &*world.board, "none"])
    } else if path.contains("{name}") {
        ("{name}", vec![BOARD, "none"])
    } else {
        ("{council}", vec![BOARD, &*world.board, "none"])
    };
    let mut places: Vec<String> = values
        .iter()
        .map(|value| {
            let path = path.replace(name, value).replace("{advisor}", "1");
            let path = path.replace("{participant}", "bob").replace("{agent}", "nobody");
            path.replace("{step}", "bob")
        })
        .collect();
    places.dedup();
    places
}

/// Calls every route in every way and records what comes back.
pub async fn sweep(world: &World, observer: &Observer<'_>, record: &mut Record) {
    for (nth, Entry { route, how }) in table(world, observer).into_iter().enumerate() {
        let (method, path) = route.split_once(' ').unwrap();
        for (place, address) in addresses(world, path).into_iter().enumerate() {
            let calls = Calls { world, observer, method, address, first: place == 0 };
            match &how {
                How::Get(queries) => calls.get(queries, record).await,
                How::Follow(ids, until) => calls.follow(ids, until, record).await,
                How::Post(bodies) => calls.post(bodies, &format!("key-{nth}"), record).await,
                How::Delete => calls.post(&[("", json!({}))], "", record).await,
                // What is there would be gone for the calls that follow, and the answer
                // to that holds nothing.
                How::Remove if place < 2 => {}
                How::Remove => calls.post(&[("", json!({}))], "", record).await,
            }
        }
    }
    for page in PAGES {
        let request = world.app.http.get(format!("{}{page}", world.app.url));
        record.add(&format!("{:?}: GET {page}", observer.who), &whole(request).await);
    }
}

struct Calls<'a> {
    world: &'a World,
    observer: &'a Observer<'a>,
    method: &'a str,
    address: String,
    /// Where something is; elsewhere one call is enough.
    first: bool,
}

impl Calls<'_> {
    async fn get(&self, queries: &[String], record: &mut Record) {
        for query in queries.iter().take(self.most()) {
            for (label, request) in self.requests(query) {
                record.add(&label, &whole(request).await);
            }
        }
    }

    async fn follow(&self, ids: &[&str], until: &str, record: &mut Record) {
        for id in ids.iter().take(self.most()) {
            for (label, request) in self.requests("") {
                let label = format!("{label} after {id:?}");
                let request = match *id {
                    "" => request,
                    id => request.header("last-event-id", id),
                };
                match Follow::new(request.send().await.unwrap(), until).await {
                    Ok(stream) => record.follow(&label, stream),
                    Err(answer) => record.add(&label, &answer),
                }
            }
        }
    }

    async fn post(&self, bodies: &[(&str, Value)], key: &str, record: &mut Record) {
        for (meaning, body) in bodies.iter().take(self.most()) {
            for (label, request) in self.requests("") {
                let label = format!("{label} {body} {meaning}");
                let request = request.json(body);
                let keyed = request.try_clone().unwrap().header("idempotency-key", key);
                record.add(&label, &whole(request).await);
                if !key.is_empty() {
                    record.add(&format!("{label} {key}"), &whole(keyed).await);
                }
            }
        }
    }

    fn most(&self) -> usize {
        if self.first { usize::MAX } else { 1 }
    }

    /// The request, as each that the caller may claim to be.
    fn requests(&self, query: &str) -> Vec<(String, reqwest::RequestBuilder)> {
        let Calls { world, observer, method, address, .. } = self;
        let label = format!("{:?}: {method} {address}{query}", observer.who);
        let place = format!("{}{address}{query}", world.app.url);
        let request = world.app.http.request(method.parse().unwrap(), place);
        // Elsewhere the header means nothing.
        if !address.contains("/whiteboards/") && !address.ends_with("/posts") {
            return vec![(label, request)];
        }
        let token = |(name, token): (&str, Option<String>)| {
            let request = request.try_clone().unwrap();
            let request = match token {
                Some(token) => request.header("agent-token", token),
                None => request,
            };
            (format!("{label} ({name})"), request)
        };
        tokens(observer).into_iter().map(token).collect()
    }
}
