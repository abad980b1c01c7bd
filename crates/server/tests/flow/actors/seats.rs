//! Seats that people hold.

use plenary_scripted::{Reply, When};
use serde_json::{Value, json};

use super::{Caller, caller, guarded, refused, text};
use crate::mcp::Client;
use crate::support::{TestApp, canned};

const SECRET: &str = "Raise the price.";

/// Ann sits first, Bo second; the synthesizer is a model.
fn two_people() -> Value {
    json!({ "prompt": "Shall we?", "ballot": true, "synthesizer": "ollama/a", "advisors": [
        { "role": "critic", "person": "Ann" }, { "role": "expert", "person": "Bo" }] })
}

/// The token of each person, in the order of the seats.
fn tokens(view: &Value) -> Vec<String> {
    let tokens = view["seatTokens"].as_array().unwrap();
    tokens.iter().map(|seat| text(&seat["seatToken"])).collect()
}

async fn board(by: Caller<'_>, id: &str) -> Value {
    let (status, told) = by.send("GET", &format!("/api/boardrooms/{id}"), &json!({})).await;
    assert_eq!(status, 200, "{told}");
    told["data"].clone()
}

/// Reads along until the board has this status.
async fn until(app: &TestApp, id: &str, status: &str) -> Value {
    let by = caller(app, "one");
    loop {
        let now = board(by, id).await;
        if now["status"] == status {
            return now;
        }
        let seen = text(&session(by, id).await["seen"]);
        let wait = format!("/api/sessions/{id}/wait?seconds=30&seen={seen}");
        assert_eq!(by.send("GET", &wait, &json!({})).await.0, 200);
    }
}

async fn session(by: Caller<'_>, id: &str) -> Value {
    by.send("GET", &format!("/api/sessions/{id}"), &json!({})).await.1["data"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_persons_answer_and_votes_are_for_that_person_the_opener_and_the_operator() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let convened = by("two").does("/api/boardrooms", two_people()).await;
    let id = text(&convened["id"]);
    let seats: Vec<(&Value, &Value)> = convened["seatTokens"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| (&seat["seat"], &seat["person"]))
        .collect();
    assert_eq!(seats, [(&json!("1"), &json!("Ann")), (&json!("2"), &json!("Bo"))]);
    let [ann, bo] = &tokens(&convened)[..] else { panic!("two people") };
    assert_eq!(board(by("two"), &id).await["seatTokens"], Value::Null);
    let elsewhere = by("two").does("/api/boardrooms", two_people()).await;
    let elsewhere = &tokens(&elsewhere)[0];

    let reply = format!("/api/boardrooms/{id}/reply");
    let says = |advisor: Value| json!({ "text": "Yes.", "advisor": advisor });
    refused(&by("three").post(&reply, says(json!(1))).await, 403, "not-yours");
    refused(&by("one").as_agent().post(&reply, says(json!(1))).await, 403, "not-yours");
    refused(&by("three").showing(ann).post(&reply, says(json!(2))).await, 403, "not-yours");
    for wrong in [elsewhere.as_str(), "1.00", "Ann"] {
        let told = by("three").showing(wrong).post(&reply, says(json!(1))).await;
        refused(&told, 403, "not-your-agent");
    }
    assert_eq!(board(by("one"), &id).await["advisors"][0]["text"], "");
    // Two are awaited: the token says which one speaks.
    by("three").showing(ann).does(&reply, json!({ "text": "Ann says yes." })).await;
    by("two").does(&reply, json!({ "text": "Bo says no.", "advisor": 2 })).await;
    let voting = until(&app, &id, "balloting").await;
    let said: Vec<&Value> =
        voting["advisors"].as_array().unwrap().iter().map(|a| &a["text"]).collect();
    assert_eq!(said, ["Ann says yes.", "Bo says no."]);

    let ballot = format!("/api/boardrooms/{id}/ballot");
    let votes =
        |advisor: Value| json!({ "advisor": advisor, "votes": [{ "point": 1, "vote": "accept" }] });
    refused(&by("three").post(&ballot, votes(json!(1))).await, 403, "not-yours");
    refused(&by("three").showing(ann).post(&ballot, votes(json!(2))).await, 403, "not-yours");
    by("three").showing(bo).does(&ballot, votes(Value::Null)).await;
    by("one").does(&ballot, votes(json!(1))).await;
    let closed = until(&app, &id, "closed").await;
    let voters: Vec<&Value> = closed["syntheses"][0]["points"][0]["votes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vote| &vote["advisor"])
        .collect();
    assert_eq!(voters, [&json!(1), &json!(2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_discussion_is_led_and_spoken_in_by_whose_seat_it_is() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let draft = json!({ "topic": "Tea?", "facilitator": { "person": "Lea" },
        "participants": [{ "person": "Ada" }, { "name": "Ann", "model": "ollama/a" }] });
    let (status, told) = by("two").post("/api/discussions", draft).await;
    assert_eq!(status, 201, "{told}");
    let created = &told["data"];
    let people: Vec<&Value> =
        created["seatTokens"].as_array().unwrap().iter().map(|seat| &seat["person"]).collect();
    assert_eq!(people, ["Ada", "Lea"]);
    let [ada, lea] = &tokens(created)[..] else { panic!("two people") };
    let path = format!("/api/discussions/{}", text(&created["id"]));
    // Whoever starts it and has not opened it gets nobody's token.
    let started = by("three").does(&format!("{path}/start"), json!({})).await;
    assert_eq!(started["seatTokens"], Value::Null);

    // Nobody puts in a word as somebody who sits there.
    let interject = format!("{path}/interject");
    let word = |by: &str| json!({ "text": "Well.", "by": by });
    for name in ["Ada", " ada", "\u{ff21}da"] {
        refused(&by("three").post(&interject, word(name)).await, 403, "not-yours");
        refused(&by("three").showing(lea).post(&interject, word(name)).await, 403, "not-yours");
    }
    by("three").does(&interject, word("Eve")).await;
    by("three").showing(ada).does(&interject, word("Ada")).await;

    let decide = format!("{path}/decide");
    let next = json!({ "decision": "continue", "nextParticipantId": "ada", "question": "Well?" });
    refused(&by("three").post(&decide, next.clone()).await, 403, "not-yours");
    refused(&by("three").showing(ada).post(&decide, next.clone()).await, 403, "not-yours");
    refused(&by("one").as_agent().post(&decide, next.clone()).await, 403, "not-yours");
    by("three").showing(lea).does(&decide, next).await;
    let reply = format!("{path}/reply");
    let cocoa = json!({ "text": "Cocoa." });
    refused(&by("three").post(&reply, cocoa.clone()).await, 403, "not-yours");
    // Lea's token speaks for Lea, whose turn it is not.
    refused(&by("three").showing(lea).post(&reply, cocoa.clone()).await, 409, "not-now");
    let named = json!({ "text": "Cocoa.", "participantId": "ada" });
    refused(&by("three").showing(lea).post(&reply, named).await, 403, "not-yours");
    by("three").showing(ada).does(&reply, cocoa).await;
    let end = json!({ "decision": "synthesize" });
    by("two").does(&decide, end).await;
    let ended = by("one").does(&reply, json!({ "text": "So be it." })).await;
    assert_eq!(ended["status"], "concluded", "{ended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_gets_the_tokens_when_it_starts() {
    let app = guarded().await;
    let draft = json!({ "topic": "Tea?", "facilitator": { "person": "Lea" },
        "participants": [{ "name": "Ann", "model": "ollama/a" }] });
    for (starter, expected) in [("two", 2), ("one", 2)] {
        let created = caller(&app, "two").does("/api/discussions", draft.clone()).await;
        let path = format!("/api/discussions/{}", text(&created["id"]));
        // Somebody who was added since has a token too.
        let ada = json!({ "person": "Ada" });
        caller(&app, "two").does(&format!("{path}/participants"), ada).await;
        let started = caller(&app, starter).does(&format!("{path}/start"), json!({})).await;
        assert_eq!(tokens(&started).len(), expected, "{started}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_hands_out_the_seats_of_what_it_began() {
    let app = TestApp::start(canned()).await;
    let (agent, _) = Client::start(&app, None).await;
    let convened = agent.good("boardroom_convene", two_people()).await;
    assert_eq!(convened["seat_tokens"][1]["person"], "Bo");
    let bo = text(&convened["seat_tokens"][1]["seat_token"]);
    let reply = format!("/api/boardrooms/{}/reply", text(&convened["id"]));
    let said = json!({ "text": "Bo says no." });
    let told = caller(&app, "").showing(&bo).does(&reply, said).await;
    assert_eq!(told["advisors"][1]["text"], "Bo says no.");
    // Where no token is needed, whoever sits at the machine speaks for anybody.
    let said = json!({ "text": "Ann says yes.", "advisor": 1 });
    caller(&app, "").does(&reply, said).await;
}

/// Ids of seats are made from names, and one that is free again may be given anew.
#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_a_persons_and_not_the_next_ones_on_their_seat() {
    let app = guarded().await;
    let by = |access| caller(&app, access);
    let draft = json!({ "topic": "Tea?", "facilitator": { "person": "Lea" },
        "participants": [{ "person": "李" }, { "name": "Ann", "model": "ollama/a" }] });
    let (status, told) = by("two").post("/api/discussions", draft).await;
    assert_eq!(status, 201, "{told}");
    let [li, _] = &tokens(&told["data"])[..] else { panic!("two people") };
    let path = format!("/api/discussions/{}", text(&told["data"]["id"]));
    let seat = text(&told["data"]["seatTokens"][0]["seat"]);
    assert_eq!(by("two").delete(&format!("{path}/participants/{seat}")).await.0, 200);
    by("two").does(&format!("{path}/participants"), json!({ "person": "王" })).await;
    let started = by("two").does(&format!("{path}/start"), json!({})).await;
    assert_eq!(started["seatTokens"][0]["seat"], seat.as_str(), "{started}");
    let wang = text(&started["seatTokens"][0]["seatToken"]);
    assert_ne!(wang, *li);
    let word = json!({ "text": "Well.", "by": "王" });
    let interject = format!("{path}/interject");
    refused(&by("three").showing(li).post(&interject, word.clone()).await, 403, "not-your-agent");
    by("three").showing(&wang).does(&interject, word).await;
}

/// Ann on a board with a model, which has answered.
async fn half(more: Value) -> (TestApp, String, String) {
    let script = canned().when(When::says("as the Expert"), Reply::text(SECRET));
    let app = TestApp::start(script).await;
    let mut body = json!({ "prompt": "Shall we?", "synthesizer": "ollama/a", "advisors": [
        { "role": "critic", "person": "Ann" }, { "role": "expert", "model": "ollama/b" }] });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let convened = caller(&app, "").does("/api/boardrooms", body).await;
    let (id, ann) = (text(&convened["id"]), tokens(&convened).remove(0));
    let mut events = app.events(&format!("/api/boardrooms/{id}/events"), None).await;
    events.until("advisorAnswered").await;
    (app, id, ann)
}

async fn read(app: &TestApp, path: &str, token: Option<&str>) -> String {
    let mut request = app.http.get(format!("{}{path}", app.url));
    if let Some(token) = token {
        request = request.header("agent-token", token);
    }
    request.send().await.unwrap().text().await.unwrap()
}

/// Every way to read a board.
fn ways(id: &str) -> [String; 5] {
    let (board, session) = (format!("/api/boardrooms/{id}"), format!("/api/sessions/{id}"));
    [
        format!("{board}/export"),
        format!("{board}/export?format=markdown"),
        format!("{session}?detail=full"),
        format!("{session}/wait?seconds=0"),
        board,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_what_the_others_say_after_the_own_answer() {
    let (app, id, ann) = half(json!({})).await;
    for way in ways(&id) {
        let told = read(&app, &way, Some(&ann)).await;
        assert!(!told.contains(SECRET) && told.contains("Shall we?"), "{way}: {told}");
    }
    // The operator sees everything, and may look from a seat.
    let path = format!("/api/boardrooms/{id}");
    assert!(read(&app, &path, None).await.contains(SECRET));
    let told = read(&app, &format!("{path}?seat=1"), None).await;
    let told: Value = serde_json::from_str(&told).unwrap();
    let advisor = &told["data"]["advisors"][1];
    let expected = json!(["done", "", true]);
    assert_eq!(json!([advisor["status"], advisor["text"], advisor["hidden"]]), expected);
    assert_eq!(told["data"]["advisors"][0].get("hidden"), None);
    for (token, seat) in [(ann.as_str(), ""), ("", "?seat=1")] {
        let events = format!("{path}/events{seat}");
        let mut events = match token {
            "" => app.events(&events, None).await,
            token => app.events_as(token, &events, None).await,
        };
        let answered = events.until("advisorAnswered").await;
        assert_eq!(answered.data["event"]["answer"]["text"], "");
        assert_eq!(answered.data["event"]["seat"], 2);
    }
    let (agent, _) = Client::start(&app, None).await;
    let look = |token: &str| json!({ "id": id, "detail": "full", "agent_token": token });
    let told = agent.good("session_get", look(&ann)).await;
    assert!(!told.to_string().contains(SECRET), "{told}");
    refused(
        &caller(&app, "").showing("1.00").send("GET", &path, &json!({})).await,
        403,
        "not-your-agent",
    );

    let said = json!({ "text": "No." });
    let told = caller(&app, "").showing(&ann).does(&format!("{path}/reply"), said).await;
    assert_eq!(told["advisors"][1]["text"], SECRET, "{told}");
    for way in ways(&id).iter().filter(|way| !way.contains("wait")) {
        let told = read(&app, way, Some(&ann)).await;
        assert!(told.contains(SECRET), "{way}: {told}");
    }
    assert!(agent.good("session_get", look(&ann)).await.to_string().contains(SECRET));
    let mut events = app.events_as(&ann, &format!("{path}/events"), None).await;
    let answered = events.until("advisorAnswered").await;
    assert_eq!(answered.data["event"]["answer"]["text"], SECRET);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_may_say_that_people_see_all() {
    let (app, id, ann) = half(json!({ "openAnswers": true })).await;
    let told = read(&app, &format!("/api/boardrooms/{id}"), Some(&ann)).await;
    assert!(told.contains(SECRET) && told.contains("\"openAnswers\":true"), "{told}");
}
