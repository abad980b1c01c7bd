//! Whoever reads along: events in order, the text so far, and the transcript that
//! can be built from them.

use plenary_domain::SessionId;
use plenary_scripted::{Fault, Gate, Reply, Script, When};
use serde_json::{Value, json};

use super::{CONCLUDES, EVALUATES, OPENS, Talk, agreeable, ann_and_bob, line, next, seat, with};
use crate::support::{Events, SseFrame, TestApp, Texts};

/// A transcript made from events alone, by the rule in docs/api.md.
#[derive(Default)]
struct Reader {
    names: Vec<(String, String, bool)>,
    entries: Vec<Value>,
    aside: Vec<Value>,
    step: Option<Value>,
    conclusion: Option<Value>,
}

impl Reader {
    fn take(&mut self, event: &Value) {
        match event["type"].as_str().unwrap() {
            "created" => {
                let seats = event["participants"].as_array().unwrap().iter();
                for seat in seats.chain([&event["facilitator"]]) {
                    let text = |field: &str| seat[field].as_str().unwrap().to_owned();
                    let person = seat["sitter"]["person"].is_object();
                    self.names.push((text("id"), text("name"), person));
                }
            }
            "began" => self.step = Some(event.clone()),
            "decided" => {
                let decision = json!({ "how": event["how"], "decision": event["decision"],
                    "nextParticipantId": event["next"] });
                let leader = self.names.last().unwrap().1.clone();
                self.end(json!({ "kind": "decision", "agentName": leader, "decision": decision }));
            }
            "spoke" => self.end_turn(event, "done", &event["answer"]["text"], &Value::Null),
            "turnFailed" => self.end_turn(event, "failed", &event["partial"], &event["failure"]),
            "synthesisFailed" => {
                let by = self.name(&event["by"]);
                self.end(json!({ "kind": "synthesis", "status": "failed", "agentName": by,
                    "content": event["partial"], "error": event["failure"] }));
            }
            "interjected" => {
                let entry = json!({ "kind": "interjection", "agentName": event["by"],
                    "content": event["text"] });
                match self.model_is_asked() {
                    true => self.aside.push(entry),
                    false => self.write(entry),
                }
            }
            "stopped" | "concludeAsked" => self.cut(),
            "cutOff" => {
                let entries = self.entries.iter_mut().rev();
                let mut cut = entries.filter(|entry| entry["callId"] == event["call"]);
                cut.next().unwrap()["content"] = event["partial"].clone();
            }
            "paused" | "failed" => self.step = None,
            "concluded" => {
                self.step = None;
                self.conclusion = Some(event["answer"]["text"].clone());
            }
            _ => {}
        }
    }

    fn name(&self, id: &Value) -> String {
        self.names.iter().find(|(known, ..)| known == id).unwrap().1.clone()
    }

    /// Whose step it is: the facilitator's unless it says otherwise.
    fn seat(&self) -> Option<&(String, String, bool)> {
        let what = &self.step.as_ref()?["what"];
        let id = what.get("speaker").or(what.get("by"));
        id.map_or(self.names.last(), |id| self.names.iter().find(|(known, ..)| known == id))
    }

    fn model_is_asked(&self) -> bool {
        self.seat().is_some_and(|(_, _, person)| !person)
    }

    fn end_turn(&mut self, event: &Value, status: &str, said: &Value, error: &Value) {
        let name = self.name(&event["speaker"]);
        self.end(json!({ "kind": "turn", "status": status, "agentName": name, "content": said,
            "error": error }));
    }

    fn cut(&mut self) {
        if self.model_is_asked() {
            let name = self.seat().unwrap().1.clone();
            let step = self.step.clone().unwrap();
            let (kind, tries) = (&step["what"]["step"], &step["tries"]);
            let kind = kind.as_str().unwrap();
            let call = match &step["what"]["turn"] {
                Value::Null => format!("{kind}#{tries}"),
                turn => format!("{kind}/{turn}#{tries}"),
            };
            self.end(
                json!({ "kind": kind, "status": "stopped", "agentName": name, "callId": call }),
            );
        }
        self.step = None;
    }

    fn end(&mut self, entry: Value) {
        self.step = None;
        self.write(entry);
    }

    fn write(&mut self, entry: Value) {
        for mut entry in [vec![entry], std::mem::take(&mut self.aside)].concat() {
            entry["number"] = json!(self.entries.len() + 1);
            if entry["status"].is_null() {
                entry["status"] = json!("done");
            }
            if entry["content"] == "" {
                entry["content"] = Value::Null;
            }
            self.entries.push(entry);
        }
    }

    fn lines(&self) -> Vec<String> {
        self.entries.iter().map(line).collect()
    }
}

async fn until_over(events: &mut Events, reader: &mut Reader) -> Vec<SseFrame> {
    let mut frames = vec![];
    while reader.conclusion.is_none() {
        let frame = events.next().await.unwrap();
        if frame.id.is_some() {
            reader.take(&frame.data["event"]);
        }
        frames.push(frame);
    }
    frames
}

fn durable(frames: &[SseFrame]) -> Vec<(u64, &str)> {
    frames.iter().filter_map(|frame| Some((frame.id?, frame.name.as_str()))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_come_in_order_and_can_be_taken_up_again() {
    let gate = Gate::new();
    let script = agreeable().when(When::says(OPENS), Reply::canned().gate(0, &gate));
    let app = TestApp::start(script).await;
    let body = with(ann_and_bob(), json!({ "maxRounds": 1 }));
    let talk = Talk::create(&app, body).await;
    let mut events = app.events(&talk.at("events"), Some(0)).await;
    gate.release();
    let mut reader = Reader::default();
    let frames = until_over(&mut events, &mut reader).await;
    let names = [
        "created",
        "started",
        "began",
        "decided",
        "began",
        "spoke",
        "decided",
        "began",
        "concluded",
    ];
    let expected: Vec<(u64, &str)> = (1..).zip(names).collect();
    assert_eq!(durable(&frames), expected);
    for frame in frames.iter().filter(|frame| frame.id.is_some()) {
        let session: SessionId = frame.data["sessionId"].as_str().unwrap().parse().unwrap();
        assert_eq!((session, &frame.data["kind"]), (talk.session(), &json!("discussion")));
    }
    assert_eq!(reader.lines(), talk.lines().await);
    assert_eq!(reader.conclusion, Some(json!("So be it.")));
    let texts = frames.iter().fold(Texts::default(), |mut texts, frame| {
        texts.take(frame);
        texts
    });
    assert_eq!((texts.of("turn/1#1"), texts.of("synthesis#1")), ("Tea.", "So be it."));
    for (id, name) in expected.into_iter().skip(1) {
        let mut events = app.events(&talk.at("events"), Some(id - 1)).await;
        let frame = events.next().await.unwrap();
        assert_eq!((frame.id, &*frame.name), (Some(id), name));
    }
    let mut all = app.events("/api/events", Some(0)).await;
    for name in names {
        assert_eq!(all.next().await.unwrap().name, name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_in_the_middle_of_an_answer_gets_the_text_so_far() {
    let gate = Gate::new();
    let script = agreeable_until(&gate);
    let app = TestApp::start(script).await;
    let talk = Talk::create(&app, ann_and_bob()).await;
    let mut first = talk.events().await;
    Texts::default().until_call(&mut first, "turn/1#1", "one two ").await;
    let mut events = app.events(&talk.at("events"), Some(4)).await;
    let began = events.next().await.unwrap();
    assert_eq!((began.id, &*began.name), (Some(5), "began"));
    assert_eq!(began.data["event"]["what"]["speaker"], "bob");
    let so_far = events.next().await.unwrap();
    assert_eq!(
        (&*so_far.name, so_far.id, &so_far.data),
        (
            "delta",
            None,
            &json!({ "callId": "turn/1#1", "attempt": 1, "offset": 0, "text": "one two " })
        )
    );
    gate.release();
    let more = events.next().await.unwrap();
    assert_eq!((&*more.name, &more.data["offset"]), ("delta", &json!(8)));
    let spoke = events.until("spoke").await;
    assert_eq!(spoke.data["event"]["answer"]["text"], "one two three");
}

fn agreeable_until(gate: &Gate) -> Script {
    Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "How many?"))
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("bob"), Reply::text("one two three").gate(2, gate))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_built_from_events_is_the_transcript() {
    let (turn, evaluation) = (Gate::new(), Gate::new());
    let gone = Reply::text("So be it.").with_fault(Fault::NoSuchModel).first(1);
    let script = Script::new(Reply::canned())
        .when(When::says(OPENS), next("bob", "How many?"))
        .when(When::says(CONCLUDES), gone)
        .when(When::says(EVALUATES), next("ada", "And you?").gate(0, &evaluation))
        .when(When::model("bob"), Reply::text("one two three").gate(2, &turn));
    let app = TestApp::start(script).await;
    let people = json!([seat("Ann"), seat("Bob"), { "person": "Ada" }]);
    let talk = Talk::create(&app, with(ann_and_bob(), json!({ "participants": people }))).await;
    let mut live = talk.events().await;
    let say = async |text: &str| {
        talk.command("interject", json!({ "text": text })).await;
    };
    Texts::default().until_call(&mut live, "turn/1#1", "one two ").await;
    say("During the turn.").await;
    say("Once more.").await;
    talk.command("stop", json!({})).await;
    say("While it is stopped.").await;
    talk.command("resume", json!({})).await;
    turn.reached(2).await;
    say("During the second try.").await;
    talk.command("pause", json!({})).await;
    turn.release();
    talk.until_status("paused").await;
    say("While it is paused.").await;
    talk.command("resume", json!({})).await;
    evaluation.reached(1).await;
    say("During the evaluation.").await;
    evaluation.release();
    talk.until(|view| view["step"]["waitsForPerson"] == true).await;
    say("While a person thinks.").await;
    talk.command("reply", json!({ "text": "Cocoa." })).await;
    let mut reader = Reader::default();
    until_over(&mut talk.events().await, &mut reader).await;
    let lines = talk.lines().await;
    assert_eq!(reader.lines(), lines);
    assert_eq!(lines.len(), 14, "{lines:#?}");
    assert_eq!(talk.view().await["entries"], lines.len());
    // A page at a time it is the same.
    let mut paged = vec![];
    let mut since = 0;
    loop {
        let path = talk.at(&format!("transcript?since={since}&limit=4"));
        let page = app.get(&path).await.1["data"].clone();
        paged.extend(page["entries"].as_array().unwrap().iter().map(line));
        since = page["since"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(paged, lines);
    let beyond = app.get(&talk.at("transcript?since=99")).await.1["data"].clone();
    assert_eq!(
        (&beyond["entries"], &beyond["since"], &beyond["more"]),
        (&json!([]), &json!(99), &json!(false))
    );
}
