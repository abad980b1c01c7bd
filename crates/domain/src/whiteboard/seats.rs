//! Models and stored agents that sit at a board as specialists. Each is asked when its
//! phase allows it, sees what it may see, and what it answers becomes the same posts,
//! annotations and votes as those of any other agent.
//!
//! What is asked follows from the board: there is no event for it. A question that is not
//! due any more, because the board has moved on or the challenge that it was about is
//! gone, is stopped, and what it took is noted when it hands that back.

mod read;

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::gate::Action;
use super::told::{self, MayNote};
use super::{AnnotationId, Event, Note, Phase, Post, State, answers, check};
use crate::budget::{Allowance, Claim, tokens_of};
use crate::call::{
    self, Ask, Call, Failed, Failure, Heard, Life, Message, Outcome, Patience, Shape, Speaker,
    Stopping, Usage, Work,
};
use crate::form::{Moment, Ruling};
use crate::ids::{AgentName, CallId, ModelName, Nonce};
use crate::ledger::{Ended, Settled};
use crate::limits;
use crate::prices::Noted;
use crate::quote::named;
use crate::reject::{Reject, Wrong, settled};
use crate::seated::Seated;
use crate::spoken;

/// Who sits there by a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    pub model: ModelName,
    /// The stored agent that speaks by it, and how it is asked.
    #[serde(default, skip_serializing_if = "Seated::is_plain")]
    pub seated: Seated,
    /// What it may spend on this board.
    #[serde(default, skip_serializing_if = "Allowance::is_none")]
    pub budget: Allowance,
}

/// Somebody who is to take a seat.
#[derive(Clone, PartialEq, Debug)]
pub struct NewSeat {
    pub name: AgentName,
    pub domain: Option<String>,
    pub seat: Seat,
}

/// A seat that is taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Sitter {
    pub name: AgentName,
    pub seat: Seat,
    /// Turns before this one that brought nothing are not its last word: it was seated
    /// anew since.
    pub(super) from: usize,
    /// How often it was seated anew.
    pub(crate) again: u64,
}

/// A question that was put to a seat and is over.
#[derive(Clone, PartialEq, Debug)]
pub struct Turn {
    pub call: CallId,
    pub agent: AgentName,
    pub task: Task,
    pub life: Life<Answered>,
}

/// What came of an answer that could be read, beside what is on the board.
#[derive(Clone, PartialEq, Debug)]
pub struct Answered {
    pub usage: Usage,
    /// What the board did not take of it, and why.
    pub left_out: Vec<String>,
}

/// What a seat is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Task {
    Post,
    Validate,
    Debate,
    /// Of one challenge of a post of its own.
    Rebut {
        challenge: AnnotationId,
    },
    Vote,
}

/// A question that should be under way.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Asked {
    pub call: CallId,
    pub agent: AgentName,
    pub task: Task,
}

impl Task {
    pub fn name(&self) -> &'static str {
        match self {
            Task::Post => "post",
            Task::Validate => "validate",
            Task::Debate => "debate",
            Task::Rebut { .. } => "rebut",
            Task::Vote => "vote",
        }
    }

    fn call(&self, agent: &AgentName, times: usize) -> CallId {
        let call = CallId::new(self.name()).of(agent);
        let call = match self {
            Task::Rebut { challenge } => call.of(challenge),
            Task::Post | Task::Validate | Task::Debate | Task::Vote => call,
        };
        call.nth(u32::try_from(times).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Items that an answer may have.
    fn most(&self) -> usize {
        match self {
            Task::Post => limits::SEAT_POSTS,
            Task::Validate | Task::Debate => limits::SEAT_NOTES,
            Task::Rebut { .. } => 1,
            Task::Vote => limits::SEAT_VOTES,
        }
    }
}

// ---------------------------------------------------------------------------
// What is asked

impl State {
    /// Questions that should be under way.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        if self.halted {
            return vec![];
        }
        let each = |task: Task, speaks: &dyn Fn(&AgentName, &Post) -> bool| -> Vec<Asked> {
            let has_something = |sitter: &&Sitter| {
                let others = self.posts.iter().filter(|post| post.author != sitter.name);
                let mut standing = others.filter(|post| !post.withdrawn);
                task == Task::Post || standing.any(|post| speaks(&sitter.name, post))
            };
            let sitters = self.sitters.iter().filter(has_something);
            sitters.filter_map(|sitter| self.due_of(sitter, task.clone())).collect()
        };
        match self.phase {
            Phase::Blind => each(Task::Post, &|_, _| true),
            Phase::Validate => each(Task::Validate, &|agent, post| !has_validated(agent, post)),
            Phase::Debate => {
                let debates = each(Task::Debate, &|_, _| true);
                let answers: Vec<Asked> =
                    self.sitters.iter().flat_map(|sitter| self.rebuttals(sitter)).collect();
                // Votes come last: when all seats have said what they have to say, and have
                // answered each other. Whoever else challenges them does not hold that up.
                let is_over =
                    debates.is_empty() && !answers.iter().any(|one| self.is_by_a_seat(one));
                let votes = match is_over {
                    true => each(Task::Vote, &|agent, post| !has_voted(agent, post)),
                    false => vec![],
                };
                debates.into_iter().chain(answers).chain(votes).collect()
            }
            Phase::Read | Phase::Resolve | Phase::Archived => vec![],
        }
    }

    /// Whether it answers a challenge of another seat.
    fn is_by_a_seat(&self, asked: &Asked) -> bool {
        let Task::Rebut { challenge } = &asked.task else { return false };
        let notes = self.posts.iter().flat_map(|post| &post.annotations);
        let mut own = notes.filter(|note| note.id == *challenge);
        own.any(|note| self.sitter(&note.by).is_some())
    }

    fn turns_of(&self, agent: &AgentName, task: &Task) -> impl Iterator<Item = (usize, &Turn)> {
        let own = move |(_, turn): &(usize, &Turn)| turn.agent == *agent && turn.task == *task;
        self.turns.iter().map(|turn| &**turn).enumerate().filter(own)
    }

    fn due_of(&self, sitter: &Sitter, task: Task) -> Option<Asked> {
        let turns: Vec<(usize, &Turn)> = self.turns_of(&sitter.name, &task).collect();
        let is_due = turns.last().is_none_or(|(place, turn)| match &turn.life {
            Life::Asked | Life::Done(_) => false,
            Life::Stopped { why: Stopping::Late, .. } => true,
            Life::Stopped { why: Stopping::ByHand, .. } | Life::Failed { .. } => {
                *place < sitter.from
            }
        });
        let call = task.call(&sitter.name, turns.len());
        is_due.then(|| Asked { call, agent: sitter.name.clone(), task })
    }

    /// The first challenges of its own posts that it has not answered.
    fn rebuttals(&self, sitter: &Sitter) -> Vec<Asked> {
        let own = self.posts.iter().filter(|post| post.author == sitter.name);
        let challenges = own.flat_map(|post| {
            let made = post.annotations.iter().filter(|note| note.note == Note::Challenge);
            made.map(move |challenge| (challenge, post))
        });
        let mut challenges: Vec<_> = challenges.collect();
        challenges.sort_by_key(|(challenge, _)| (challenge.at, &challenge.id));
        let is_answered = |post: &Post, challenge: &AnnotationId| {
            let answer = Note::Rebuttal { challenge: Some(challenge.clone()) };
            post.annotations.iter().any(|note| note.by == sitter.name && note.note == answer)
        };
        let open = challenges.into_iter().take(limits::SEAT_REBUTTALS).filter(|(one, post)| {
            !post.withdrawn && one.is_open_challenge() && !is_answered(post, &one.id)
        });
        let tasks = open.map(|(challenge, _)| Task::Rebut { challenge: challenge.id.clone() });
        tasks.filter_map(|task| self.due_of(sitter, task)).collect()
    }

    /// What it may write about which posts, where it has not yet.
    fn notes_for(&self, sitter: &Sitter, task: &Task) -> Vec<MayNote> {
        let kinds: &[&str] = match task {
            Task::Validate => &["validation"],
            Task::Debate => &["challenge", "corroboration"],
            Task::Post | Task::Rebut { .. } | Task::Vote => &[],
        };
        let mut notes = told::annotatable(self, &sitter.name);
        notes.retain(|note| kinds.contains(&note.kind.as_str()));
        let is_new = |id: &String| {
            let post = self.posts.iter().find(|post| post.id.0 == *id);
            *task != Task::Validate || post.is_some_and(|post| !has_validated(&sitter.name, post))
        };
        notes.iter_mut().for_each(|note| note.posts.retain(is_new));
        notes.retain(|note| !note.posts.is_empty());
        notes
    }

    fn to_vote_on(&self, agent: &AgentName) -> Vec<String> {
        let mut posts = told::votable(self, agent);
        posts.retain(|id| {
            let post = self.posts.iter().find(|post| post.id.0 == *id);
            post.is_some_and(|post| !has_voted(agent, post))
        });
        posts
    }

    pub(super) fn seat_calls(&self) -> impl Iterator<Item = Call> {
        self.asked().into_iter().map(|asked| Call { id: asked.call, work: Work::Ask })
    }

    /// What seats were asked and is over.
    pub fn turns(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().map(|turn| &**turn)
    }

    pub fn sitter(&self, name: &AgentName) -> Option<&Sitter> {
        self.sitters.iter().find(|sitter| sitter.name == *name)
    }

    /// The words of a question.
    pub(super) fn question(&self, call: &CallId) -> Option<Ask> {
        let asked = self.asked().into_iter().find(|asked| asked.call == *call)?;
        let (sitter, code) = (self.sitter(&asked.agent)?, self.code.as_ref()?);
        let domain = self.member(&asked.agent).and_then(|member| member.domain.as_deref());
        let about = domain.map(|domain| format!("\n\nYou know about {}.", named(domain)));
        let standing = answers::standing(sitter.seat.seated.persona.trim(), &asked.agent.0, code);
        let schema = self.schema(&asked, sitter);
        let view = told::seen(self, &asked.agent);
        let prompt = answers::question(&view, &wanted(&asked.task), code);
        Some(sitter.seat.seated.asked(Ask {
            model: sitter.seat.model.clone(),
            system: standing + &about.unwrap_or_default(),
            messages: vec![Message::new(Speaker::User, answers::with_schema(&prompt, &schema))],
            shape: Shape::Json(schema),
            patience: Patience {
                answer_bytes: limits::SEAT_ANSWER_BYTES,
                attempts: limits::SEAT_ATTEMPTS,
                ..Patience::default()
            },
            temperature: None,
            workspace: None,
        }))
    }

    /// What is offered is what the board would take.
    fn schema(&self, asked: &Asked, sitter: &Sitter) -> Value {
        let list = |name: &str, item: Value| {
            let mut list = answers::list(name, item);
            list["properties"][name]["maxItems"] = asked.task.most().into();
            list
        };
        match &asked.task {
            Task::Post => {
                let post = answers::object(answers::post(), &["type", "title", "body"]);
                list("posts", post)
            }
            Task::Validate | Task::Debate => {
                list("annotations", answers::note(&self.notes_for(sitter, &asked.task)))
            }
            Task::Rebut { .. } => answers::object(json!({ "body": answers::text() }), &["body"]),
            Task::Vote => list("votes", answers::vote(&self.to_vote_on(&asked.agent))),
        }
    }

    /// Whose question it is, and what that seat may spend; all that are asked have the same
    /// right to what is left.
    pub(super) fn claim_of(&self, call: &CallId) -> Claim {
        let asked = self.asked();
        let one = asked.iter().find(|asked| asked.call == *call);
        let sitter = one.and_then(|asked| self.sitter(&asked.agent));
        let seat = sitter.map(|sitter| (sitter.name.0.clone(), sitter.seat.budget));
        Claim { seat, calls: asked.len().max(1) as u64, follows: None }
    }
}

fn has_validated(agent: &AgentName, post: &Post) -> bool {
    let own = |note: &super::Annotation| note.by == *agent;
    let mut own = post.annotations.iter().filter(|note| own(note));
    own.any(|note| matches!(note.note, Note::Validation { .. }))
}

fn has_voted(agent: &AgentName, post: &Post) -> bool {
    post.votes.iter().any(|vote| vote.by == *agent)
}

/// What is asked, in words.
fn wanted(task: &Task) -> String {
    let most = task.most();
    match task {
        Task::Post => format!(
            "The board is in its blind phase: nobody sees what others post. Post what you think \
             about its topic, in at most {most} posts: a proposal that can be voted on, a claim, a \
             concern, or something that others should know. Give your reasons. If you have nothing \
             to say, the list is empty."
        ),
        Task::Validate => format!(
            "Check the posts of others, at most {most}: is what they say true? For each say what \
             you found, and why."
        ),
        Task::Debate => format!(
            "Challenge posts of others that you think wrong, and corroborate those for which you \
             have reasons of your own, at most {most} in all. If you have nothing to add, the list \
             is empty."
        ),
        Task::Rebut { challenge } => format!(
            "Your post is challenged by {}. Answer that challenge in a few sentences.",
            named(&challenge.0)
        ),
        Task::Vote => format!(
            "Vote accept, reject or defer on the posts of others, at most {most}, each with a \
             sentence that says why."
        ),
    }
}

// ---------------------------------------------------------------------------
// Seating

impl State {
    /// A leader seats somebody, or the same one anew: then it is asked again for what it
    /// has failed at.
    pub(super) fn seat(
        &self,
        by: AgentName,
        new: NewSeat,
        prices: Noted,
        moment: &Moment,
    ) -> Ruling<Event> {
        let leader = self.gate(&by, Action::Seat)?;
        let new = checked(new, "")?;
        match self.sitter(&new.name) {
            Some(sitter) => {
                let is_asked = self.asked().iter().any(|asked| asked.agent == sitter.name);
                if is_asked {
                    let message = format!("{} is answering; stop that first.", sitter.name);
                    return Err(self.not_now(Some(leader), message));
                }
                if sitter.again >= limits::RENEWALS.into() {
                    let most = limits::RENEWALS;
                    let message =
                        format!("{} has been seated {most} times, the maximum.", sitter.name);
                    return Err(Reject::Forbidden(message));
                }
            }
            None => {
                check::register(&new.name, new.domain.as_deref(), &self.members)?;
                if let Some(member) = self.member(&new.name) {
                    return Err(super::admission::already(member));
                }
                if self.members.len() >= limits::BOARD_AGENTS {
                    let most = limits::BOARD_AGENTS;
                    return Err(Reject::Forbidden(format!(
                        "A board can have at most {most} agents."
                    )));
                }
                if self.sitters.len() >= limits::BOARD_SEATS {
                    let most = limits::BOARD_SEATS;
                    return Err(Reject::Forbidden(format!(
                        "A board can have at most {most} seats for models."
                    )));
                }
            }
        }
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        let seated = seated(new, by, moment);
        Ok(noted.into_iter().chain([seated]).collect())
    }
}

/// With every wrong field named.
pub(super) fn checked(mut new: NewSeat, field: &str) -> Result<NewSeat, Reject> {
    let mut wrong = vec![];
    let at =
        |name: &str| if field.is_empty() { name.to_owned() } else { format!("{field}.{name}") };
    new.seat.seated.check(&mut wrong, at);
    new.seat.budget.check(&mut wrong, &at("budget"));
    if let Err(problem) = crate::names::check_model_name(&new.seat.model) {
        wrong.push(Wrong::new(at("model"), problem));
    }
    new.domain = new.domain.map(|d| d.trim().to_owned()).filter(|domain| !domain.is_empty());
    settled(wrong).map(|()| new)
}

pub(super) fn seated(new: NewSeat, by: AgentName, moment: &Moment) -> Event {
    let NewSeat { name: agent, domain, seat } = new;
    Event::Seated { agent, domain, seat, nonce: moment.nonce.clone(), by, at: moment.at }
}

// ---------------------------------------------------------------------------
// What came of it

impl State {
    pub(super) fn answered(
        &self,
        call: &CallId,
        outcome: Outcome,
        moment: &Moment,
    ) -> Ruling<Event> {
        let at = moment.at;
        let asked = self.asked().into_iter().find(|asked| asked.call == *call);
        let Some(asked) = asked else { return self.handed_back(call, outcome, at) };
        let code = self.code.clone().unwrap_or(Nonce(String::new()));
        let outcome = spoken::own(outcome.as_prose(), &code);
        match Life::<Answered>::Asked.hear(outcome)? {
            Heard::Answered(answer) => Ok(self.written(asked, answer, moment)),
            Heard::Failed(failed) => Ok(vec![answer_failed(asked, failed, at)]),
            Heard::HandedBack(..) => Err(Reject::Stale),
        }
    }

    /// A question that is not due any more hands back what it had, once.
    fn handed_back(&self, call: &CallId, outcome: Outcome, at: Timestamp) -> Ruling<Event> {
        let of_call = |turn: &&Arc<Turn>| turn.call == *call && turn.life.is_unheard();
        let turn = self.turns.iter().rev().find(of_call).ok_or(Reject::Stale)?;
        let Heard::HandedBack(partial, usage) = turn.life.hear(outcome)? else {
            return Err(Reject::Stale);
        };
        let partial = spoken::within(partial, limits::SEAT_ANSWER_BYTES);
        let (call, agent) = (call.clone(), turn.agent.clone());
        Ok(vec![Event::AnswerStopped { call, agent, partial, usage, at }])
    }

    /// What the answer puts on the board, as if its seat had written it there, and then
    /// what it took. What the board does not take is named; an answer of which it takes
    /// nothing has failed.
    fn written(&self, asked: Asked, answer: call::Answer, moment: &Moment) -> Vec<Event> {
        let at = moment.at;
        let commands = match read::commands(self, &asked, &answer.text) {
            Ok(commands) => commands,
            Err(problem) => return vec![answer_failed(asked, malformed(answer, problem), at)],
        };
        let (mut after, mut events, mut left_out) = (self.clone(), vec![], vec![]);
        let most = asked.task.most();
        if commands.len() > most {
            left_out.push(format!("More than {most} were given; the first {most} count."));
        }
        for command in commands.into_iter().take(most) {
            match command.and_then(|command| after.carry_out(command, moment)) {
                Ok(new) => {
                    new.iter().for_each(|event| after.follow(event));
                    events.extend(new);
                }
                Err(reject) => left_out.push(read::why(reject)),
            }
        }
        if let (true, Some(first)) = (events.is_empty(), left_out.first()) {
            let problem = format!("The board takes nothing of the answer: {first}");
            return vec![answer_failed(asked, malformed(answer, problem), at)];
        }
        let bytes = answer.text.len() as u64;
        let call::Answer { usage, attempts, .. } = answer;
        let Asked { call, agent, task } = asked;
        events.push(Event::Answered { call, agent, task, usage, attempts, bytes, left_out, at });
        events
    }
}

fn malformed(answer: call::Answer, problem: String) -> Failed {
    let mut failed = Failed::of(answer, call::FailureKind::Malformed, problem);
    failed.partial = spoken::within(failed.partial, limits::SEAT_ANSWER_BYTES);
    failed
}

fn answer_failed(asked: Asked, failed: Failed, at: Timestamp) -> Event {
    let Asked { call, agent, task } = asked;
    let Failed { failure, partial } = failed;
    let partial = spoken::within(partial, limits::SEAT_ANSWER_BYTES);
    Event::AnswerFailed { call, agent, task, failure, partial, at }
}

// ---------------------------------------------------------------------------
// What events do to it

impl State {
    /// Takes an event, and stops questions that are not due any more because of it.
    pub(super) fn take_event(&mut self, event: &Event, at: Timestamp) {
        let before = self.asked();
        self.follow(event);
        if before.is_empty() && self.sitters.is_empty() {
            return;
        }
        let after = self.asked();
        // What a seat writes is of its own question, which ends with the answer after it.
        let is_own = |one: &Asked| match event {
            Event::Posted { author, .. } => *author == one.agent,
            Event::Annotated { by, .. } | Event::Voted { by, .. } => *by == one.agent,
            _ => false,
        };
        let is_over = |one: &Asked| {
            !is_own(one)
                && !after.iter().any(|other| other.call == one.call)
                && !self.turns.iter().rev().any(|turn| turn.call == one.call)
        };
        let why = match event {
            Event::Stopped { .. } => Stopping::ByHand,
            _ => Stopping::Late,
        };
        let over: Vec<Asked> = before.into_iter().filter(is_over).collect();
        for Asked { call, agent, task } in over {
            let life = Life::Stopped { why, partial: None, usage: Usage::default() };
            self.end_turn(&call, &agent, &task, life);
        }
        let timed = |asked: &&Asked| {
            self.sitter(&asked.agent).is_some_and(|one| one.seat.budget.time_ms.is_some())
        };
        let busy = after.iter().filter(timed).map(|asked| asked.agent.0.clone());
        let busy: Vec<String> = busy.collect();
        self.ledger.at_work(&busy, at);
    }

    pub(super) fn end_turn(
        &mut self,
        call: &CallId,
        agent: &AgentName,
        task: &Task,
        life: Life<Answered>,
    ) {
        let (call, agent, task) = (call.clone(), agent.clone(), task.clone());
        self.turns.push(Arc::new(Turn { call, agent, task, life }));
    }

    pub(super) fn take_seat(&mut self, name: &AgentName, seat: &Seat) {
        let from = self.turns.len();
        match self.sitters.iter_mut().find(|sitter| sitter.name == *name) {
            Some(sitter) => {
                *sitter =
                    Sitter { seat: seat.clone(), from, again: sitter.again + 1, ..sitter.clone() };
            }
            None => {
                let (name, seat) = (name.clone(), seat.clone());
                self.sitters.push(Sitter { name, seat, from, again: 0 });
            }
        }
    }

    pub(super) fn hear_stopped(&mut self, call: &CallId, partial: &str, usage: Usage) {
        let of_call = |turn: &&mut Arc<Turn>| turn.call == *call;
        if let Some(turn) = self.turns.iter_mut().rev().find(of_call) {
            Arc::make_mut(turn).life.hand_back(partial, usage);
        }
    }

    pub(super) fn note_spending(
        &mut self,
        agent: &AgentName,
        usage: Usage,
        (ended, requests): (Ended, u32),
        written_bytes: usize,
    ) {
        let Some(sitter) = self.sitter(agent) else { return };
        let (model, seat) = (sitter.seat.model.clone(), agent.0.clone());
        let of_post = |post: &Arc<Post>| {
            let notes: usize = post.annotations.iter().map(|note| note.body.len()).sum();
            post.content.title.len() + post.content.body.len() + notes
        };
        let said: usize = self.posts.iter().map(of_post).sum();
        let read = tokens_of(self.topic.len() + said.min(limits::BOARD_TOLD_BYTES));
        let (model, seat) = (&model, Some(seat.as_str()));
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
    }
}

/// How it stands with somebody who was asked, for whoever may know.
#[derive(Clone, PartialEq, Debug)]
pub enum SeatStanding {
    /// Nothing is asked of it in this phase, or nothing yet.
    Waiting,
    Asked,
    Done {
        left_out: Vec<String>,
    },
    Failed(Failure),
    Stopped,
}

impl State {
    /// How it stands in this phase.
    pub(crate) fn standing_of(&self, sitter: &Sitter) -> SeatStanding {
        if self.asked().iter().any(|asked| asked.agent == sitter.name) {
            return SeatStanding::Asked;
        }
        let of_phase = |task: &Task| match task {
            Task::Post => self.phase == Phase::Blind,
            Task::Validate => self.phase == Phase::Validate,
            Task::Debate | Task::Rebut { .. } | Task::Vote => self.phase == Phase::Debate,
        };
        let own = |turn: &&Arc<Turn>| turn.agent == sitter.name && of_phase(&turn.task);
        let turns: Vec<&Arc<Turn>> = self.turns.iter().filter(own).collect();
        let is_last = |turn: &&&Arc<Turn>| {
            let later = |other: &&Arc<Turn>| other.task == turn.task;
            turns.iter().rev().find(|other| later(other)).is_some_and(|last| last.call == turn.call)
        };
        // What went wrong stands before what went well.
        let last: Vec<&Life<Answered>> = turns.iter().filter(is_last).map(|t| &t.life).collect();
        let failed = last.iter().find_map(|life| match life {
            Life::Failed { failure, .. } => Some(SeatStanding::Failed(failure.clone())),
            Life::Asked | Life::Done(_) | Life::Stopped { .. } => None,
        });
        let is_stopped = |life: &&&Life<Answered>| matches!(life, Life::Stopped { .. });
        let stopped = last.iter().find(is_stopped).map(|_| SeatStanding::Stopped);
        let done = || {
            let done: Vec<&Answered> = last.iter().filter_map(|life| life.done()).collect();
            let left_out = done.iter().flat_map(|done| done.left_out.clone()).collect();
            (!done.is_empty()).then_some(SeatStanding::Done { left_out })
        };
        failed.or(stopped).or_else(done).unwrap_or(SeatStanding::Waiting)
    }
}
