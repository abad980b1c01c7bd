//! What happens in discussions, in the words of Socket.IO.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_domain::discussion::{self, Decided, SeatId, State, Step, What};
use plenary_domain::limits;
use plenary_domain::room::{self, Event, Room};
use plenary_engine::Engine;
use plenary_engine::ports::StoredEvent;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::command::{AGENT_ERROR, agent_error};
use crate::views::discussions::role;

/// Names of events, with their payload.
pub type Told = Arc<[(&'static str, Value)]>;

/// The last events, put into words once for all clients.
#[derive(Default)]
pub struct News(Mutex<VecDeque<(u64, Arc<OnceCell<Told>>)>>);

impl News {
    /// Whether there may be something to tell.
    pub fn is_any(event: &StoredEvent) -> bool {
        event.kind == "discussion"
    }

    pub async fn of(&self, engine: &Arc<Engine>, event: &StoredEvent) -> Told {
        let cell = event.position.map(|position| self.cell(position)).unwrap_or_default();
        cell.get_or_init(|| told(engine, event)).await.clone()
    }

    fn cell(&self, position: u64) -> Arc<OnceCell<Told>> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, cell)) = cells.iter().rev().find(|(at, _)| *at == position) {
            return cell.clone();
        }
        let cell = Arc::new(OnceCell::new());
        cells.push_back((position, cell.clone()));
        if cells.len() > limits::SOCKET_NEWS {
            cells.pop_front();
        }
        cell
    }
}

async fn told(engine: &Arc<Engine>, event: &StoredEvent) -> Told {
    let Ok(Event::Discussion(happened)) = Event::decode(&event.kind, &event.payload) else {
        return Arc::from([]);
    };
    // Removed since then, or the store failed: whoever asks again hears of that.
    let Ok(now) = engine.get(event.session).await else { return Arc::from([]) };
    let Room::Discussion(state) = &*now.room else { return Arc::from([]) };
    let then = state_then(engine, event, &happened).await;
    let mut told = words(&happened, then.as_ref().and_then(Room::discussion).unwrap_or(state));
    let table = json!(event.session.0);
    for (name, data) in &mut told {
        match *name {
            AGENT_ERROR => *data = agent_error(&table, &data["error"], &data["type"]),
            _ => data["tableId"] = table.clone(),
        }
    }
    Arc::from(told)
}

/// The state right after an event that does not say itself which round it belongs to. It
/// may have moved on since.
async fn state_then(
    engine: &Arc<Engine>,
    event: &StoredEvent,
    happened: &discussion::Event,
) -> Option<Room> {
    use discussion::Event::{PauseAsked, Resumed};
    if !matches!(happened, PauseAsked { .. } | Resumed { .. }) {
        return None;
    }
    let log = engine.events(event.session).await.ok()?;
    let log = log.iter().filter(|earlier| earlier.version <= event.version);
    let mut room = None;
    for earlier in log {
        let happened = Event::decode(&earlier.kind, &earlier.payload).ok()?;
        room::apply(&mut room, &happened, earlier.at);
    }
    room
}

/// `state` is that of now, which may be later than the event: only what stays as it is
/// comes from there.
fn words(event: &discussion::Event, state: &State) -> Vec<(&'static str, Value)> {
    use discussion::Event;
    match event {
        Event::Created { max_rounds, .. } => vec![status("draft", 0, *max_rounds)],
        Event::Began { step, .. } => vec![standing("active", step, state)],
        Event::PauseAsked { .. } => vec![status("pausing", state.round(), state.max_rounds)],
        Event::Paused { next, .. } => vec![standing("paused", next, state)],
        Event::Resumed { .. } => vec![status("active", state.round(), state.max_rounds)],
        Event::Stopped { next, .. } => vec![standing("stopped", next, state)],
        Event::Failed { why, next, .. } => {
            let (name, mut data) = standing("failed", next, state);
            data["problem"] = json!(why);
            vec![(name, data), (AGENT_ERROR, json!({ "error": why, "type": "failed" }))]
        }
        Event::Decided { decided, .. } => vec![(MODERATOR, decision(decided, state))],
        Event::Spoke { turn, speaker, answer, .. } => {
            vec![(TURN, said(*turn, speaker, &answer.text, state))]
        }
        Event::TurnFailed { turn, speaker, failure, partial, .. } => {
            let sentence = format!("No answer ({}). {}", failure.kind.words(), failure.message);
            let mut data = said(*turn, speaker, &sentence, state);
            data["failed"] = json!(true);
            data["partial"] = json!(partial);
            vec![(TURN, data)]
        }
        Event::Interjected { by, text, .. } => {
            vec![(TURN, json!({ "agentName": by, "role": "person", "content": text }))]
        }
        Event::Concluded { answer, why, .. } => vec![
            (CONCLUDED, json!({ "conclusion": answer.text, "why": why })),
            status("concluded", state.round(), state.max_rounds),
        ],
        Event::ConclusionEdited { by, text, .. } => {
            vec![(CONCLUDED, json!({ "conclusion": text, "editedBy": by }))]
        }
        Event::Edited { .. }
        | Event::FacilitatorChanged { .. }
        | Event::ParticipantAdded { .. }
        | Event::ParticipantRemoved { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Started { .. }
        | Event::CutOff { .. }
        | Event::SynthesisFailed { .. }
        | Event::ConcludeAsked { .. } => vec![],
    }
}

const TURN: &str = "discussion:turn";
const MODERATOR: &str = "discussion:moderator";
const CONCLUDED: &str = "discussion:concluded";
const STATUS: &str = "discussion:status";

fn said(turn: u32, speaker: &SeatId, content: &str, state: &State) -> Value {
    json!({
        "agentName": name(speaker, state), "role": role(state, speaker), "content": content,
        "participantId": speaker, "round": turn,
    })
}

fn decision(decided: &Decided, state: &State) -> Value {
    let mut data = json!({
        "decision": decided.decision, "reasoning": decided.reasoning, "how": decided.how,
        "agentName": state.facilitator.name, "round": decided.round(),
    });
    if let Some(next) = &decided.next {
        data["nextParticipantId"] = json!(next);
        data["nextAgentName"] = json!(name(next, state));
    }
    for (key, words) in [("question", &decided.question), ("note", &decided.note)] {
        if let Some(words) = words {
            data[key] = json!(words);
        }
    }
    data
}

fn status(status: &str, round: u32, max_rounds: u32) -> (&'static str, Value) {
    (STATUS, json!({ "status": status, "round": round, "maxRounds": max_rounds }))
}

/// With the step that is under way, or that it will go on with.
fn standing(name: &str, step: &Step, state: &State) -> (&'static str, Value) {
    let kind = match &step.what {
        What::Opening => "opening",
        What::Turn { .. } => "turn",
        What::Evaluation { .. } => "evaluation",
        What::Synthesis { .. } => "synthesis",
    };
    let (told, mut data) = status(name, state.round_of(&step.what), state.max_rounds);
    data["step"] = json!(kind);
    if let Some(seat) = state.seat_of(step) {
        data["agentName"] = json!(seat.name);
    }
    (told, data)
}

fn name(id: &SeatId, state: &State) -> String {
    state.seat(id).map_or_else(|| id.0.clone(), |seat| seat.name.clone())
}

#[cfg(test)]
mod tests {
    use plenary_domain::discussion;
    use serde_json::{Value, json};

    use plenary_domain::{Form, Timestamp};

    use super::words;

    /// What is told of an event in a discussion of Chair, Ann and Bob.
    fn check(event: Value, expected: Value) {
        let seat = |id: &str, name: &str| {
            json!({ "id": id, "name": name, "role": "devil_advocate",
                "sitter": { "model": { "model": "ollama/a", "windowTokens": 8192 } } })
        };
        let at = "2026-01-01T00:00:00Z";
        let created = json!({ "type": "created", "name": "n", "topic": "t", "format": "review",
            "facilitator": seat("chair", "Chair"),
            "participants": [seat("ann", "Ann"), seat("bob", "Bob")],
            "maxRounds": 4, "at": at });
        let created: discussion::Event = serde_json::from_value(created).unwrap();
        let state = discussion::State::open(&created, Timestamp::UNIX_EPOCH).unwrap();
        let mut event = event;
        event["at"] = json!(at);
        let event: discussion::Event = serde_json::from_value(event).unwrap();
        assert_eq!(json!(words(&event, &state)), expected);
    }

    fn step(mut what: Value) -> Value {
        what["nonce"] = json!("n");
        what["tries"] = json!(1);
        what
    }

    #[test]
    fn a_turn_has_its_speaker_and_a_failed_one_says_why() {
        let data = json!({ "agentName": "Ann", "role": "devil_advocate", "content": "Yes.",
            "participantId": "ann", "round": 2 });
        check(
            json!({ "type": "spoke", "turn": 2, "speaker": "ann", "answer": { "text": "Yes." } }),
            json!([["discussion:turn", data]]),
        );
        let failure = json!({ "kind": "timedOut", "message": "It took 120 s." });
        let data = json!({ "agentName": "Bob", "role": "devil_advocate", "participantId": "bob",
            "content": "No answer (timed out). It took 120 s.", "round": 3,
            "failed": true, "partial": "We" });
        check(
            json!({ "type": "turnFailed", "turn": 3, "speaker": "bob", "failure": failure,
                "partial": "We" }),
            json!([["discussion:turn", data]]),
        );
        let data = json!({ "agentName": "Dora", "role": "person", "content": "Wait." });
        check(
            json!({ "type": "interjected", "by": "Dora", "text": "Wait." }),
            json!([["discussion:turn", data]]),
        );
    }

    #[test]
    fn a_decision_names_who_is_next_and_where_it_comes_from() {
        let data = json!({ "agentName": "Chair", "decision": "continue", "reasoning": "Not yet.",
            "how": "repaired", "note": "A comma.", "question": "Why?", "round": 1,
            "nextParticipantId": "bob", "nextAgentName": "Bob" });
        check(
            json!({ "type": "decided", "turn": 1, "decision": "continue", "next": "bob",
                "question": "Why?", "reasoning": "Not yet.", "how": "repaired",
                "note": "A comma." }),
            json!([["discussion:moderator", data]]),
        );
        let data = json!({ "agentName": "Chair", "decision": "synthesize", "reasoning": "",
            "how": "rule", "round": 4 });
        check(
            json!({ "type": "decided", "turn": 4, "decision": "synthesize", "how": "rule" }),
            json!([["discussion:moderator", data]]),
        );
    }

    #[test]
    fn rounds_agree_between_events() {
        let mut began = step(json!({ "what": { "step": "opening" } }));
        began["type"] = json!("began");
        check(
            began,
            json!([["discussion:status", { "status": "active", "round": 1, "maxRounds": 4,
                "step": "opening", "agentName": "Chair" }]]),
        );
        let data = json!({ "agentName": "Chair", "decision": "continue", "reasoning": "",
            "how": "parsed", "question": "Why?", "round": 1, "nextParticipantId": "bob",
            "nextAgentName": "Bob" });
        check(
            json!({ "type": "decided", "turn": 0, "decision": "continue", "next": "bob",
                "question": "Why?", "how": "parsed" }),
            json!([["discussion:moderator", data]]),
        );
    }

    #[test]
    fn the_status_comes_with_the_round_and_what_is_under_way() {
        let what = json!({ "step": "turn", "turn": 3, "speaker": "ann", "question": "Why?" });
        let step = step(json!({ "what": what }));
        let told = |status: &str| {
            json!({ "status": status, "round": 3, "maxRounds": 4, "step": "turn",
                "agentName": "Ann" })
        };
        let mut began = step.clone();
        began["type"] = json!("began");
        check(began, json!([["discussion:status", told("active")]]));
        check(
            json!({ "type": "paused", "next": step }),
            json!([["discussion:status", told("paused")]]),
        );
        check(
            json!({ "type": "stopped", "next": step }),
            json!([["discussion:status", told("stopped")]]),
        );
        let mut failed = told("failed");
        failed["problem"] = json!("No model.");
        let error = json!({ "error": "No model.", "type": "failed" });
        check(
            json!({ "type": "failed", "why": "No model.", "next": step }),
            json!([["discussion:status", failed], ["agent:error", error]]),
        );
        let edited = json!({ "conclusion": "So be it!", "editedBy": "token-1" });
        check(
            json!({ "type": "conclusionEdited", "by": "token-1", "text": "So be it!" }),
            json!([["discussion:concluded", edited]]),
        );
        let concluded = json!({ "status": "concluded", "round": 0, "maxRounds": 4 });
        check(
            json!({ "type": "concluded", "by": "chair", "why": "asked",
                "answer": { "text": "So be it." } }),
            json!([
                ["discussion:concluded", { "conclusion": "So be it.", "why": "asked" }],
                ["discussion:status", concluded],
            ]),
        );
    }
}
