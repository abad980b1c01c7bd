//! What models, rooms, hosts and disks say, as the case has it.

use crate::workflow::gives::Ended;
use serde_json::{Map, Value, json};

use super::case::{self, Replies, Reply};
use super::given::{flow, given, heard, sample};
use super::{Fault, Rehearsal};
use crate::call::{Answer, Failure, FailureKind, Outcome, Work};
use crate::fits;
use crate::ledger::Usage;
use crate::workflow::calls::What;
use crate::workflow::event::{Doing, Place};
use crate::workflow::kinds::Act;
use crate::workflow::signal::{Signal, is_among, resumes};
use crate::workflow::{Attempt, Running, Status, seat};

const MODEL: &str = "rehearsed/model";

impl<'a> Rehearsal<'a> {
    /// Settles the first call that the case can settle; items in their order.
    pub(super) fn outside(&mut self) -> bool {
        let mut wanted = self.state.calls();
        wanted.retain(|wanted| matches!(wanted.call.work, Work::Ask | Work::Errand));
        wanted.sort_by(|a, b| place_of(&a.what).map(order).cmp(&place_of(&b.what).map(order)));
        for wanted in wanted {
            if let Some(outcome) = self.outcome(&wanted.what) {
                self.settle(&wanted.call.id, outcome);
                return true;
            }
        }
        false
    }

    /// `None`: nothing comes of it now.
    fn outcome(&mut self, what: &What) -> Option<Outcome> {
        match what {
            What::Look(place) => self.look(place),
            What::Ask(place) => self.answer(place),
            What::Do(place) => self.deed(place),
            What::Watch(place) => {
                let reply = self.reply(place)?;
                self.outcome_of(place, reply)
            }
            What::Await(place) => {
                let Some(Doing::Wait { all, signals, .. }) =
                    self.state.steps.get(place).and_then(|step| step.doing.as_deref())
                else {
                    return None;
                };
                let taken = self.state.taken(place);
                let is_new = |signal: &&Signal| !is_among(&taken, signal);
                let came: Vec<Signal> = self.came.iter().filter(is_new).cloned().collect();
                resumes(*all, signals, &came)?;
                Some(Outcome::Brought(json!(came)))
            }
            What::Stop(_) | What::CalledOff(_) => Some(Outcome::Brought(Value::Null)),
            What::Wake(_)
            | What::TimeOver(_)
            | What::Again(_)
            | What::AttemptLate(_)
            | What::StepLate(_)
            | What::FinallyLate => None,
        }
    }

    /// Finds the seat. One that votes has to know the posts: those that it will name.
    fn look(&mut self, place: &Place) -> Option<Outcome> {
        let reply = self.reply(place)?;
        let posts = match (self.state.act(place), &reply) {
            (Some((act @ Act::WhiteboardVote, with)), Reply::Gives(said)) => {
                let schema = seat::schema(act, with).unwrap_or_default();
                posts(
                    said.as_str()
                        .and_then(|text| fits::json_of(text, &schema).ok())
                        .as_ref()
                        .unwrap_or(said),
                )
            }
            (_, _) => vec![],
        };
        Some(Outcome::Brought(json!({ "model": MODEL, "posts": posts })))
    }

    fn answer(&mut self, place: &Place) -> Option<Outcome> {
        match self.reply(place)? {
            Reply::Gives(Value::String(text)) => Some(answered(text)),
            Reply::Gives(value) => Some(answered(value.to_string())),
            Reply::Fails { message, kind } => Some(failed(message, kind)),
            Reply::Hangs => None,
        }
    }

    fn deed(&mut self, place: &Place) -> Option<Outcome> {
        let (act, with) = self.state.act(place)?;
        if act.is_awaited() {
            return Some(Outcome::Brought(json!({ "id": self.attempt(place) })));
        }
        // A seat's words were heard; the deed follows from them.
        let follows =
            act.is_asked(with) || act.spec().open.is_empty() && self.replies(place).is_none();
        let reply = if follows { Reply::Gives(Value::Null) } else { self.reply(place)? };
        self.outcome_of(place, reply)
    }

    fn outcome_of(&mut self, place: &Place, reply: Reply) -> Option<Outcome> {
        match reply {
            Reply::Gives(value) => {
                let (act, with) = self.state.act(place)?;
                let mut with = with.clone();
                if let Some(Attempt::Doing { answer: Some(answer) }) = self.state.attempt(place) {
                    with.insert("answer".into(), answer.clone());
                }
                let number = self.count(act, &with);
                let output = given(act, &with, value, &self.attempt(place), number);
                let signal = heard(act, &with, &output);
                if let Some(Value::Object(signal)) = signal {
                    self.comes(signal);
                }
                Some(Outcome::Brought(match act.is_awaited() {
                    true => Ended { status: "done".into(), took: None, given: Ok(output) }.told(),
                    false => output,
                }))
            }
            Reply::Fails { message, kind } => Some(failed(message, kind)),
            Reply::Hangs => None,
        }
    }

    /// Which post of its writer, or of its council, this is.
    fn count(&mut self, act: Act, with: &Map<String, Value>) -> u32 {
        let room = if act == Act::CouncilPost { "council" } else { "board" };
        let text = |name: &str| with.get(name).and_then(Value::as_str).unwrap_or_default();
        let by = if act == Act::CouncilPost { "" } else { text("as") };
        let key = format!("{}\n{}\n{by}", act.name(), text(room));
        let count = self.posts.entry(key).or_default();
        *count += 1;
        *count
    }

    /// A name for the attempt that is under way at a place.
    fn attempt(&self, place: &Place) -> String {
        match self.state.status_of(place) {
            Some(Status::Running(Running::Act(acting))) if acting.tries > 1 => {
                format!("{place}#{}", acting.tries)
            }
            Some(_) | None => place.to_string(),
        }
    }

    /// What the case has for this place, and under which key.
    fn replies(&self, place: &Place) -> Option<(&'a String, &'a Replies)> {
        let answers = &self.case.answers;
        answers.get_key_value(&*place.0).or_else(|| answers.get_key_value(place.id()))
    }

    /// What the case says to this attempt.
    fn reply(&mut self, place: &Place) -> Option<Reply> {
        let attempt = self.attempt(place);
        if let Some(reply) = self.said.get(&attempt) {
            return Some(reply.clone());
        }
        let reply = match self.replies(place) {
            Some((_, Replies::Always(reply))) => Some(reply),
            Some((key, Replies::InTurn(replies))) => {
                let taken = self.taken.entry(key.clone()).or_default();
                let reply = replies.get(*taken);
                *taken += usize::from(reply.is_some());
                reply
            }
            None => None,
        };
        match reply {
            Some(reply) => {
                self.said.insert(attempt, reply.clone());
            }
            None if self.missing.contains(place) => {}
            None => self.missing.push(place.clone()),
        }
        reply.cloned()
    }

    /// What the case could add for a step that it says nothing of.
    pub(super) fn ask_for(&self, place: &Place) -> Fault {
        let (act, sample) = match self.state.act(place) {
            Some((act, with)) => (act.name(), wanted(act, with)),
            None => ("", Value::Null),
        };
        let (message, key) = match self.replies(place) {
            Some((key, Replies::InTurn(replies))) => {
                let count = replies.len();
                let message = format!("needs one more answer; all {count} for `{key}` are used up");
                (message, &*place.0)
            }
            Some((_, Replies::Always(_))) | None => {
                (format!("this {act} needs an answer, but the case has none"), place.id())
            }
        };
        let mut fault = Fault::of(self.case.answers_at, &format!("answers.{place}"), message);
        fault.add = vec!["answers:".into(), format!("  {key}: {}", flow(&sample))];
        fault
    }
}

/// The posts that a vote names, and those that it leaves out.
fn posts(vote: &Value) -> Vec<Value> {
    let list = |name: &str| vote.get(name).and_then(Value::as_array).into_iter().flatten();
    let voted = list("votes").filter_map(|vote| vote.get("post"));
    voted.chain(list("abstained")).cloned().collect()
}

/// What a case would say for such a step.
fn wanted(act: Act, with: &Map<String, Value>) -> Value {
    if act.is_asked(with) {
        return seat::schema(act, with).map_or_else(|| "…".into(), |schema| sample(&schema));
    }
    let field = |name: &&str| {
        let value = match *name {
            "outcome" => case::OUTCOMES[0].into(),
            "status" => 200.into(),
            "posts" | "conflicts" => json!([]),
            "outputs" => json!({}),
            _ => "…".into(),
        };
        ((*name).to_owned(), value)
    };
    Value::Object(act.spec().open.iter().map(field).collect())
}

fn answered(text: String) -> Outcome {
    Outcome::Answered(Answer::by_person(text))
}

fn failed(message: String, kind: FailureKind) -> Outcome {
    let failure = Failure { kind, message, attempts: 1, usage: Usage::default() };
    Outcome::Failed { failure, partial: String::new() }
}

fn place_of(what: &What) -> Option<&Place> {
    match what {
        What::Look(place)
        | What::Ask(place)
        | What::Do(place)
        | What::Watch(place)
        | What::Await(place)
        | What::Wake(place)
        | What::TimeOver(place)
        | What::Again(place)
        | What::AttemptLate(place)
        | What::StepLate(place) => Some(place),
        What::Stop(_) | What::CalledOff(_) | What::FinallyLate => None,
    }
}

/// Items and rounds as numbers: the second comes before the tenth.
pub(super) fn order(place: &Place) -> Vec<(u32, &str)> {
    place.0.split('/').map(|part| (part.parse().unwrap_or(0), part)).collect()
}
