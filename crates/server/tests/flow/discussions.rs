//! Discussions over REST: what the models are asked, and whatever else happens.

mod drafts;
mod faults;
mod measures;
mod people;
mod readers;
mod records;
mod reference;
mod steering;
mod wires;

use plenary_domain::SessionId;
use plenary_scripted::{Reply, Script, When};
use serde_json::{Value, json};

use crate::support::{Events, TestApp, answer};

/// One discussion.
pub struct Talk<'a> {
    app: &'a TestApp,
    pub id: String,
}

/// Lead leads, Ann and Bob speak, each with a model of that name on Ollama's wire.
pub fn ann_and_bob() -> Value {
    json!({ "topic": "Tea or coffee?", "facilitator": seat("Lead"),
        "participants": [seat("Ann"), seat("Bob")], "maxRounds": 2, "start": true })
}

pub fn seat(name: &str) -> Value {
    json!({ "name": name, "model": format!("ollama/{}", name.to_lowercase()) })
}

/// The same with other fields.
pub fn with(mut body: Value, changes: Value) -> Value {
    for (field, value) in changes.as_object().unwrap() {
        body[field] = value.clone();
    }
    body
}

/// What a facilitator answers to go on with this speaker.
pub fn next(speaker: &str, question: &str) -> Reply {
    let text = json!({ "decision": "continue", "nextParticipantId": speaker,
        "question": question, "reasoning": format!("{speaker} knows.") });
    Reply::text(&text.to_string())
}

pub fn enough() -> Reply {
    let text = json!({ "decision": "synthesize", "nextParticipantId": "none", "question": "",
        "reasoning": "All is said." });
    Reply::text(&text.to_string())
}

/// A part of the prompts of each step, by which a script tells them apart.
pub const OPENS: &str = "Nobody has spoken yet.";
pub const EVALUATES: &str = "Decide: go on with";
pub const CONCLUDES: &str = "Write the conclusion of this discussion now";

/// Everybody answers at once. Ann is always asked, and the conclusion is "So be it.".
pub fn agreeable() -> Script {
    Script::new(Reply::canned())
        .models(&["lead", "ann", "bob"])
        .when(When::says(CONCLUDES), Reply::text("So be it."))
        .when(When::model("ann"), Reply::text("Tea."))
        .when(When::model("bob"), Reply::text("Coffee."))
}

impl<'a> Talk<'a> {
    /// One that must be accepted.
    pub async fn create(app: &'a TestApp, body: Value) -> Talk<'a> {
        let (status, told) = app.post("/api/discussions", &body).await;
        assert_eq!(status, 201, "{told}");
        Talk { app, id: told["data"]["id"].as_str().unwrap().to_owned() }
    }

    pub fn path(&self) -> String {
        format!("/api/discussions/{}", self.id)
    }

    pub fn at(&self, rest: &str) -> String {
        format!("/api/discussions/{}/{rest}", self.id)
    }

    pub fn session(&self) -> SessionId {
        self.id.parse().unwrap()
    }

    /// As commands answer with it; what was said last is only read with it.
    pub async fn view(&self) -> Value {
        let (status, mut told) = self.app.get(&self.path()).await;
        assert_eq!(status, 200, "{told}");
        told["data"].as_object_mut().unwrap().remove("sessions").expect("the last messages");
        told["data"].take()
    }

    pub async fn events(&self) -> Events {
        self.app.events(&self.at("events"), None).await
    }

    /// Follows it until it is as wanted.
    pub async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut events = self.events().await;
        loop {
            let view = self.view().await;
            if wanted(&view) {
                return view;
            }
            loop {
                let frame = events.next().await;
                let frame = frame.unwrap_or_else(|| panic!("the events ended at {view}"));
                if frame.id.is_some() {
                    break;
                }
            }
        }
    }

    pub async fn until_status(&self, status: &str) -> Value {
        self.until(|view| view["status"] == status).await
    }

    /// Gives a command, whether it is accepted or not.
    pub async fn try_to(&self, command: &str, body: Value) -> (u16, Value) {
        self.app.post(&self.at(command), &body).await
    }

    /// Gives a command that must be accepted, and returns the discussion after it.
    pub async fn command(&self, command: &str, body: Value) -> Value {
        let (status, told) = self.try_to(command, body).await;
        assert_eq!(status, 200, "{command}: {told}");
        told["data"].clone()
    }

    pub async fn entries(&self) -> Vec<Value> {
        let (status, told) = self.app.get(&self.at("transcript")).await;
        assert_eq!(status, 200, "{told}");
        told["data"]["entries"].as_array().unwrap().clone()
    }

    /// The transcript without times and measures, a line for each entry.
    pub async fn lines(&self) -> Vec<String> {
        self.entries().await.iter().map(line).collect()
    }

    pub async fn names(&self) -> Vec<String> {
        let events = self.app.store.events(self.session(), 0, 10_000).await.unwrap();
        events.into_iter().map(|event| event.name).collect()
    }

    pub async fn export(&self, format: &str) -> String {
        let place = format!("{}{}", self.app.url, self.at(&format!("export?format={format}")));
        self.app.http.get(place).send().await.unwrap().text().await.unwrap()
    }

    pub async fn delete(&self) -> (u16, Value) {
        answer(self.app.http.delete(format!("{}{}", self.app.url, self.path()))).await
    }
}

/// An entry in one line: number, kind, what became of it, who, and what was said.
pub fn line(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or("-").to_owned();
    let said = match &entry["decision"] {
        Value::Null => match &entry["error"] {
            Value::Null => text("content"),
            error => format!("{}, {}", error["kind"].as_str().unwrap(), text("content")),
        },
        decision => {
            let word = |field: &str| decision[field].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", word("how"), word("decision"), word("nextParticipantId"))
        }
    };
    let (kind, status) = (text("kind"), text("status"));
    format!("{} {kind} {status} {}: {said}", entry["number"], text("agentName"))
}

/// The step that is due, in one word.
pub fn step(view: &Value) -> &str {
    view["step"]["callId"].as_str().unwrap_or("-")
}
