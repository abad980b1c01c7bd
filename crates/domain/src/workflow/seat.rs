//! A model is asked: for itself, or as a seat at a whiteboard that sees its own view of
//! the board and nothing else.

use serde_json::{Map, Value, json};

use super::calls::{What, ask_call};
use super::event::{Place, Seat};
use super::kinds::{Act, Answer, Asks};
use super::{Attempt, State};
use crate::budget::Allowance;
use crate::call::{self, Ask, Message, Patience, Shape, Speaker};
use crate::fits;
use crate::ids::CallId;
use crate::spoken;
use crate::whiteboard::answers;

impl State {
    /// The words of a question that is due.
    pub(super) fn question(&self, call: &CallId) -> Option<Ask> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        let What::Ask(place) = wanted.what else { return None };
        let (act, with) = self.act(&place)?;
        let Attempt::Asking { seat, asked, so_far } = self.attempt(&place)? else { return None };
        debug_assert_eq!(
            self.steps.get(&place).map(|step| ask_call(&place, step)).as_ref(),
            Some(call)
        );
        let text = |name: &str| with.get(name).and_then(Value::as_str).unwrap_or_default();
        let schema = schema(act, with).map(|schema| about(schema, seat));
        let (system, prompt) = match act.spec().asks {
            Asks::Model => {
                let own = text("system");
                let system =
                    [seat.system.as_str(), own].into_iter().filter(|part| !part.is_empty());
                (system.collect::<Vec<_>>().join("\n\n"), text("prompt").to_owned())
            }
            Asks::Seat(_) | Asks::Nobody => (
                answers::standing(&seat.system, text("as"), &self.code),
                self.board_question(seat, text("ask"), *asked, so_far),
            ),
        };
        let prompt = match &schema {
            Some(schema) => answers::with_schema(&prompt, schema),
            None => prompt,
        };
        Some(seat.seated.asked(Ask {
            model: seat.model.clone(),
            system,
            messages: vec![Message::new(Speaker::User, prompt)],
            shape: schema.map_or(Shape::Free, Shape::Json),
            patience: Patience::default(),
            temperature: None,
            workspace: None,
        }))
    }

    /// Whose question a call is, and what that seat may spend.
    pub(super) fn seat_of(&self, call: &CallId) -> Option<(String, Allowance)> {
        let wanted = self.calls().into_iter().find(|wanted| wanted.call.id == *call)?;
        let What::Ask(place) = wanted.what else { return None };
        let budget = self.definition.step(place.id()).and_then(|step| step.budget);
        Some((self.seat_name(&place), budget.unwrap_or_default().allowance()))
    }

    /// A seat at a whiteboard is the same in all steps; whoever is asked for itself has a
    /// seat in that step alone.
    pub(super) fn seat_name(&self, place: &Place) -> String {
        let with = self.act(place).map(|(_, with)| with);
        let text = |name: &str| with.and_then(|with| with.get(name)).and_then(Value::as_str);
        match (text("board"), text("as")) {
            (Some(board), Some(agent)) => format!("{agent} at {board}"),
            (_, _) => place.to_string(),
        }
    }

    /// Only who has not voted on everything is asked again.
    fn board_question(&self, seat: &Seat, ask: &str, asked: u32, so_far: &Value) -> String {
        let again = match asked > 1 {
            true => {
                let missing = missing(seat, so_far).join(", ");
                format!("\n\nYour votes on these posts are still missing: {missing}.")
            }
            false => String::new(),
        };
        answers::question(&seat.view, &format!("{ask}{again}"), &self.code)
    }

    /// What an answer says: the output of `ask`, or what is written on the board.
    pub(super) fn read_answer(
        &self,
        place: &Place,
        answer: &call::Answer,
    ) -> Result<Value, String> {
        let Some((act, with)) = self.act(place) else { return Err("nothing was asked".into()) };
        let text = spoken::own(call::Outcome::Answered(answer.clone()), &self.code);
        let (text, _) = text.handed_back();
        let found = schema(act, with).map(|schema| fits::json_of(&text, &schema)).transpose()?;
        let found = found.map(|found| match act.spec().asks {
            Asks::Seat(Answer::Post) => with_title(found),
            Asks::Model | Asks::Seat(_) | Asks::Nobody => found,
        });
        Ok(match act == Act::Ask {
            true => {
                let model = match self.attempt(place) {
                    Some(Attempt::Asking { seat, .. }) => seat.model.0.clone(),
                    Some(_) | None => String::new(),
                };
                json!({ "text": text, "json": found, "model": model, "cut": answer.cut })
            }
            false => found.unwrap_or_default(),
        })
    }

    /// What comes after an answer that could be read: the next question, or the deed.
    pub(super) fn after_answer(&self, place: &Place, answer: &call::Answer) -> Option<Attempt> {
        let (act, _) = self.act(place)?;
        let Attempt::Asking { seat, asked, so_far } = self.attempt(place)? else { return None };
        let found = self.read_answer(place, answer).unwrap_or_default();
        match act.spec().asks {
            Asks::Model => None,
            Asks::Seat(Answer::Votes) => {
                let votes = merged(seat, so_far, &found);
                let missing = missing(seat, &votes);
                Some(match missing.is_empty() || *asked > 1 {
                    true => {
                        let answer = json!({ "votes": votes, "abstained": missing });
                        Attempt::Doing { answer: Some(answer) }
                    }
                    false => {
                        Attempt::Asking { seat: seat.clone(), asked: asked + 1, so_far: votes }
                    }
                })
            }
            Asks::Seat(Answer::Post | Answer::Annotations) | Asks::Nobody => {
                Some(Attempt::Doing { answer: Some(found) })
            }
        }
    }
}

fn with_title(mut post: Value) -> Value {
    if let Some(Value::String(title)) = post.get_mut("title") {
        *title = answers::title(title);
    }
    post
}

fn post_of(vote: &Value) -> Option<&str> {
    vote.get("post").and_then(Value::as_str)
}

/// All votes on posts of the board, the first on each.
fn merged(seat: &Seat, so_far: &Value, found: &Value) -> Value {
    let mut votes: Vec<Value> = so_far.as_array().cloned().unwrap_or_default();
    for vote in found.get("votes").and_then(Value::as_array).into_iter().flatten() {
        let Some(post) = post_of(vote) else { continue };
        let is_new = !votes.iter().any(|other| post_of(other) == Some(post));
        if is_new && seat.posts.iter().any(|known| known == post) {
            votes.push(vote.clone());
        }
    }
    Value::Array(votes)
}

fn missing(seat: &Seat, votes: &Value) -> Vec<String> {
    let has = |post: &&String| {
        votes.as_array().is_some_and(|votes| votes.iter().any(|vote| post_of(vote) == Some(post)))
    };
    seat.posts.iter().filter(|post| !has(post)).cloned().collect()
}

/// What an answer has to look like.
pub(super) fn schema(act: Act, with: &Map<String, Value>) -> Option<Value> {
    match act.spec().asks {
        Asks::Model => with.get("schema").cloned(),
        Asks::Seat(Answer::Post) => Some(open(with, answers::post(), &["title", "body"])),
        Asks::Seat(Answer::Annotations) => {
            let kinds = ["validation", "challenge", "corroboration", "rebuttal", "resolution"];
            let fields = json!({
                "post": answers::text(), "body": answers::text(), "type": { "enum": kinds },
                "result": answers::one_of(answers::RESULTS), "challenge": answers::perhaps(),
            });
            let note = answers::object(fields, &["post", "type", "body"]);
            Some(answers::list("annotations", note))
        }
        Asks::Seat(Answer::Votes) => Some(answers::list("votes", answers::vote(&[]))),
        Asks::Nobody => None,
    }
}

/// A map of these fields, without those that the step says itself: those are not asked for.
fn open(with: &Map<String, Value>, mut fields: Value, required: &[&str]) -> Value {
    let is_asked_for = |name: &str| !with.contains_key(name);
    if let Some(fields) = fields.as_object_mut() {
        fields.retain(|name, _| is_asked_for(name));
    }
    let required: Vec<&str> = required.iter().copied().filter(|name| is_asked_for(name)).collect();
    answers::object(fields, &required)
}

/// Where posts are answered, they are named as they are called, and nothing is offered that
/// the board would not take.
fn about(mut schema: Value, seat: &Seat) -> Value {
    let items = |list: &str| format!("/properties/{list}/items");
    if let Some(note) = schema.pointer_mut(&items("annotations")).filter(|_| !seat.notes.is_empty())
    {
        *note = answers::note(&seat.notes);
        return schema;
    }
    for list in ["annotations", "votes"] {
        let path = format!("{}/properties/post", items(list));
        if let Some(post) = schema.pointer_mut(&path).filter(|_| !seat.posts.is_empty()) {
            *post = json!({ "enum": seat.posts });
        }
    }
    if let Some(votes) = schema.pointer_mut("/properties/votes").filter(|_| !seat.posts.is_empty())
    {
        votes["maxItems"] = seat.posts.len().into();
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fits::misfit;
    use crate::workflow::MayNote;

    fn seat(posts: &[&str], notes: Vec<MayNote>) -> Seat {
        let posts: Vec<&str> = posts.to_vec();
        let seat = json!({ "model": "m/x", "posts": posts, "notes": notes });
        serde_json::from_value(seat).unwrap()
    }

    #[test]
    fn what_a_step_says_itself_is_not_asked_for() {
        let with = json!({ "ask": "Propose.", "type": "proposal", "title": "Tea" });
        let post = schema(Act::WhiteboardPost, with.as_object().unwrap()).unwrap();
        let fields: Vec<&String> = post["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["body", "severity", "target_file", "target_location"]);
        assert_eq!(post["required"], json!(["body"]));
    }

    #[test]
    fn votes_can_only_name_posts_that_are_there() {
        let votes = schema(Act::WhiteboardVote, &Map::new()).unwrap();
        assert_eq!(about(votes.clone(), &seat(&[], vec![])), votes);
        let held = about(votes, &seat(&["ann/1", "ben/1"], vec![]));
        let post = held.pointer("/properties/votes/items/properties/post");
        assert_eq!(post, Some(&json!({ "enum": ["ann/1", "ben/1"] })));
        assert_eq!(held.pointer("/properties/votes/maxItems"), Some(&json!(2)));
    }

    #[test]
    fn an_annotation_can_only_be_one_that_the_board_takes() {
        let may = |kind: &str, challenges: &[&str]| MayNote {
            kind: kind.into(),
            posts: vec!["ann/1".into()],
            challenges: challenges.iter().map(|id| (*id).to_owned()).collect(),
        };
        let notes = schema(Act::WhiteboardAnnotate, &Map::new()).unwrap();
        let item = |notes_of: Vec<MayNote>| {
            let held = about(notes.clone(), &seat(&["ann/1"], notes_of));
            held.pointer("/properties/annotations/items").cloned().unwrap()
        };
        let fits = |schema: &Value, note: Value| misfit(&note, schema).is_none();
        let facts = item(vec![may("validation", &[])]);
        let note = json!({ "post": "ann/1", "type": "validation", "body": "So it is." });
        assert!(!fits(&facts, note.clone()), "what was found is missing");
        let with = |field: &str, value: &str| {
            let mut note = note.clone();
            note[field] = value.into();
            note
        };
        assert!(fits(&facts, with("result", "confirmed")));
        assert!(!fits(&facts, json!({ "post": "ann/1", "type": "challenge", "body": "No." })));
        let debate = item(vec![may("challenge", &[]), may("rebuttal", &["ben/a1"])]);
        assert!(fits(&debate, json!({ "post": "ann/1", "type": "challenge", "body": "No." })));
        assert!(!fits(&debate, json!({ "post": "eve/1", "type": "challenge", "body": "No." })));
        assert!(!fits(&debate, json!({ "post": "ann/1", "type": "rebuttal", "body": "Yes." })));
        let rebuttal =
            json!({ "post": "ann/1", "type": "rebuttal", "challenge": "ben/a1", "body": "Yes." });
        assert!(fits(&debate, rebuttal));
    }
}
