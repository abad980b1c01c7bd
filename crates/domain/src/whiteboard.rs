//! Registered agents post blind, read, validate, debate and resolve; facilitators
//! and operators lead a board from phase to phase.
//!
//! Who may do what and when is one table in `gate.rs`. Who may see what stands in
//! `view.rs` of this crate: the fields here are not public, so that nothing leaves
//! a board by another way.

mod admission;
pub(crate) mod answers;
mod apply;
mod check;
pub mod conflict;
mod event;
mod gate;
mod madr;
mod report;
mod seats;
mod summary;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod told;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use admission::{Admission, Invited, Shown};
pub use event::Event;
pub use gate::Action;
pub use madr::madr;
pub use seats::{Answered, NewSeat, Seat, SeatStanding, Sitter, Task, Turn};
pub(crate) use summary::readiness;
pub use summary::{Line, Outcome, Readiness, Standing, Summary, Tally, line, summarize};

use crate::budget::{Budget, Claim};
use crate::call::{self, Ask, Call, Work};
use crate::form::{Form, Moment, Ruling};
use crate::ids::{AgentName, CallId, Nonce};
use crate::ledger::Ledger;
use crate::limits;
use crate::names;
use crate::prices::Noted;
use crate::reject::{Reject, Wrong};
use crate::view;

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub(crate) name: String,
    pub(crate) topic: String,
    pub(crate) project: Option<String>,
    pub(crate) opened_by: AgentName,
    /// As whom they came in, where that is not the operator of the server.
    pub(crate) principal: Option<String>,
    pub(crate) opened_at: Timestamp,
    pub(crate) admission: Admission,
    /// How often the invitation was made anew.
    pub(crate) invitation: u32,
    /// Those who were invited by name.
    pub(crate) invited: Vec<Invited>,
    pub(crate) debate: Visibility,
    pub(crate) deadlines: Vec<Deadline>,
    pub(crate) phase: Phase,
    pub(crate) since: Timestamp,
    pub(crate) members: Vec<Member>,
    /// Shared, because a state is copied for every decision.
    pub(crate) posts: Vec<Arc<Post>>,
    pub(crate) steps: Vec<Step>,
    /// Models and stored agents among the members, in the order in which they were seated.
    pub(crate) sitters: Vec<Sitter>,
    /// What they were asked and is over.
    pub(crate) turns: Vec<Arc<Turn>>,
    pub(crate) ledger: Ledger,
    /// The code around quotations: the nonce of the first seat.
    pub(crate) code: Option<Nonce>,
    /// Somebody has stopped what was asked, and the board has not gone on since.
    pub(crate) halted: bool,
    /// Events about calls and what they cost, in all and when the phase began.
    pub(crate) accounts: u64,
    pub(crate) accounts_before: u64,
    /// Events so far, and how many there were when the board last moved on.
    pub(crate) events: u64,
    pub(crate) moved: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    Blind,
    Read,
    Validate,
    Debate,
    Resolve,
    Archived,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    Specialist,
    Facilitator,
    /// A facilitator's powers; by convention a person, or somebody from outside.
    Operator,
}

/// What is seen of annotations and votes while the debate goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Visibility {
    #[default]
    Full,
    /// Those on one's own posts, and on posts that one has annotated or voted on.
    OwnAndRelated,
}

/// At the end of this time the board goes on to the next phase by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Deadline {
    pub phase: Phase,
    pub after_ms: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub name: AgentName,
    pub role: Role,
    pub domain: Option<String>,
    pub since: Timestamp,
    /// How often its token was made anew.
    pub(crate) renewals: u32,
    /// How many posts and annotations it has made. Ids count per agent: a counter
    /// that all share would tell of blind posts.
    pub(crate) posts: u32,
    pub(crate) annotations: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Post {
    pub id: PostId,
    pub author: AgentName,
    pub content: Content,
    pub at: Timestamp,
    pub(crate) annotations: Vec<Annotation>,
    /// One per agent; a second one replaces the first.
    pub(crate) votes: Vec<Vote>,
    /// Votes that were given, those included that a second one replaced.
    pub(crate) votes_given: u64,
    pub withdrawn: bool,
    /// Events of the board when this post last changed.
    pub(crate) changed: u64,
}

/// `author/2`: the author's second post.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PostId(pub String);

/// `agent/a3`: that agent's third annotation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AnnotationId(pub String);

/// What a post says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    pub kind: PostKind,
    pub title: String,
    pub body: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_file: Option<String>,
    /// Lines (`12-40`) or a symbol of that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finding_refs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cascade_targets: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PostKind {
    Proposal,
    Claim,
    Concern,
    Informational,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    Critical,
    High,
    Medium,
    Low,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Annotation {
    pub id: AnnotationId,
    pub by: AgentName,
    pub note: Note,
    pub body: String,
    pub at: Timestamp,
    /// Of a challenge: its challenger has taken it back.
    pub withdrawn: bool,
    /// Of a challenge: the resolution that settled it.
    pub settled_by: Option<AnnotationId>,
}

/// What an annotation is, with what belongs to that.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Note {
    Validation {
        result: Finding,
    },
    Challenge,
    Corroboration,
    /// By the post's author, perhaps of one challenge.
    Rebuttal {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<AnnotationId>,
    },
    /// Of the post by its author, or of a challenge by its challenger.
    Withdrawal {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<AnnotationId>,
    },
    Resolution {
        challenge: AnnotationId,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Finding {
    Confirmed,
    Refuted,
    Inconclusive,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Vote {
    pub by: AgentName,
    pub choice: Choice,
    pub reason: Option<String>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Choice {
    Accept,
    Reject,
    Defer,
}

/// One move of the board from phase to phase.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub to: Phase,
    /// `None`: the clock.
    pub by: Option<AgentName>,
    pub note: Option<String>,
    pub at: Timestamp,
}

// ---------------------------------------------------------------------------
// Command

/// Who acts has been proved by a token before a command comes here.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Open(Open),
    Register {
        agent: AgentName,
        role: Role,
        domain: Option<String>,
        shown: Shown,
    },
    /// Makes the invitation anew, or invites a newcomer by name.
    Invite {
        agent: AgentName,
        newcomer: Option<(AgentName, Role)>,
    },
    /// By the operator of the server, who is no agent of the board.
    RenewToken {
        agent: AgentName,
    },
    Post {
        agent: AgentName,
        content: Content,
    },
    Annotate {
        agent: AgentName,
        post: PostId,
        note: Note,
        body: String,
    },
    Vote {
        agent: AgentName,
        post: PostId,
        choice: Choice,
        reason: Option<String>,
    },
    /// A leader seats a model or a stored agent as a specialist.
    Seat {
        agent: AgentName,
        new: NewSeat,
        prices: Noted,
    },
    Transition {
        agent: AgentName,
        to: Phase,
        note: Option<String>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Open {
    pub name: String,
    pub topic: String,
    pub project: Option<String>,
    pub by: AgentName,
    pub principal: Option<String>,
    pub admission: Admission,
    pub debate: Visibility,
    pub deadlines: Vec<Deadline>,
    pub seats: Vec<NewSeat>,
    /// Of the models that sit there, as far as they are known.
    pub prices: Noted,
    /// What they may spend.
    pub budget: Option<Budget>,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "whiteboard";
    /// The phases.
    const STATUSES: &'static [&'static str] =
        &["blind", "read", "validate", "debate", "resolve", "archived"];
    type Command = Command;
    type Event = Event;

    fn decide(state: Option<&Self>, command: Command, moment: &Moment) -> Ruling<Event> {
        let Some(state) = state else {
            return match command {
                Command::Open(open) => check::open(open, moment),
                Command::Register { .. }
                | Command::Invite { .. }
                | Command::RenewToken { .. }
                | Command::Post { .. }
                | Command::Annotate { .. }
                | Command::Vote { .. }
                | Command::Seat { .. }
                | Command::Transition { .. } => {
                    Err(Reject::Unknown("There is no such whiteboard.".into()))
                }
            };
        };
        state.carry_out(command, moment)
    }

    /// The clock moves a board on in the ordinary order; all else is of seats.
    fn settle(&self, call: &CallId, outcome: call::Outcome, moment: &Moment) -> Ruling<Event> {
        let is_deadline = self.deadline().is_some() && *call == deadline_call(self.phase);
        match (is_deadline, outcome, self.phase.next().first()) {
            (true, call::Outcome::Elapsed, Some(to)) => {
                Ok(vec![Event::Transitioned { to: *to, by: None, note: None, at: moment.at }])
            }
            (false, outcome, _) => self.answered(call, outcome, moment),
            _ => Err(Reject::Stale),
        }
    }

    /// Breaks off what seats are asked. Agents act by themselves: there is nothing of
    /// theirs to stop.
    fn stop(&self, moment: &Moment) -> Ruling<Event> {
        if self.asked().is_empty() {
            let message = "Nothing is running on this whiteboard.".to_owned();
            return Err(self.not_now(None, message));
        }
        Ok(vec![Event::Stopped { at: moment.at }])
    }

    fn open(event: &Event, _: Timestamp) -> Option<State> {
        State::opened(event)
    }

    fn take(&mut self, event: &Event, at: Timestamp) {
        self.take_event(event, at);
    }

    /// What its seats are asked, and its phase's deadline.
    fn due(&self) -> Vec<Call> {
        let sleep = |until| Call { id: deadline_call(self.phase), work: Work::Sleep { until } };
        self.seat_calls().chain(self.deadline().map(sleep)).collect()
    }

    fn ask(&self, call: &CallId) -> Option<Ask> {
        self.question(call)
    }

    fn claim(&self, call: &CallId) -> Claim {
        self.claim_of(call)
    }

    fn allow(&self, budget: Budget, prices: Noted) -> Ruling<Event> {
        if self.phase == Phase::Archived {
            return Err(self.not_now(
                None,
                "This whiteboard is archived; it has no budget to set.".to_owned(),
            ));
        }
        let noted = self.ledger.unnoted(prices).map(Event::Priced);
        Ok(noted.into_iter().chain([Event::Budgeted(budget.checked()?)]).collect())
    }

    /// What is asked is broken off. The next phase has the whole time again.
    fn out_of_time(&self, moment: &Moment) -> Ruling<Event> {
        let at = moment.at;
        let stopped = (!self.asked().is_empty()).then_some(Event::Stopped { at });
        Ok([Event::TimeOver { at }].into_iter().chain(stopped).collect())
    }

    /// Whoever sees that a model is asked would know who has posted.
    fn is_secret(&self) -> bool {
        self.phase == Phase::Blind
    }

    fn is_listed(&self, event: &Event) -> bool {
        view::is_seen_by_all(self, event)
    }

    fn searchable(&self, event: &Event) -> String {
        view::words_for_all(self, event)
    }
}

fn deadline_call(phase: Phase) -> CallId {
    CallId::new("deadline").of(phase.name())
}

impl Phase {
    pub const ALL: [Phase; 6] = [
        Phase::Blind,
        Phase::Read,
        Phase::Validate,
        Phase::Debate,
        Phase::Resolve,
        Phase::Archived,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Blind => "blind",
            Phase::Read => "read",
            Phase::Validate => "validate",
            Phase::Debate => "debate",
            Phase::Resolve => "resolve",
            Phase::Archived => "archived",
        }
    }

    /// Where the board may go from here, the ordinary way first.
    pub fn next(self) -> &'static [Phase] {
        match self {
            Phase::Blind => &[Phase::Read],
            Phase::Read => &[Phase::Validate, Phase::Debate],
            Phase::Validate => &[Phase::Debate, Phase::Resolve],
            Phase::Debate => &[Phase::Resolve],
            Phase::Resolve => &[Phase::Archived],
            Phase::Archived => &[],
        }
    }
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Specialist => "specialist",
            Role::Facilitator => "facilitator",
            Role::Operator => "operator",
        }
    }

    pub fn leads(self) -> bool {
        match self {
            Role::Specialist => false,
            Role::Facilitator | Role::Operator => true,
        }
    }
}

impl Post {
    /// Challenges that nobody has settled or taken back.
    pub fn open_challenges(&self) -> impl Iterator<Item = &Annotation> {
        let open = |a: &&Annotation| a.is_open_challenge();
        self.annotations.iter().filter(|_| !self.withdrawn).filter(open)
    }
}

impl Annotation {
    pub fn is_open_challenge(&self) -> bool {
        self.note == Note::Challenge && !self.withdrawn && self.settled_by.is_none()
    }
}

impl State {
    /// What an agent does.
    fn carry_out(&self, command: Command, moment: &Moment) -> Ruling<Event> {
        let at = moment.at;
        match command {
            Command::Open(_) => Err(Reject::NotNow {
                state: self.phase.name(),
                message: "This whiteboard has already been opened.".into(),
                allowed: vec![],
            }),
            Command::Register { agent, role, domain, shown } => {
                self.register(agent, role, domain, shown, at)
            }
            Command::Invite { agent, newcomer } => self.invite(agent, newcomer, at),
            Command::RenewToken { agent } => self.renew_token(agent, at),
            Command::Post { agent, content } => self.post(agent, content, at),
            Command::Annotate { agent, post, note, body } => {
                self.annotate(agent, &post, note, body, at)
            }
            Command::Vote { agent, post, choice, reason } => {
                self.vote(agent, &post, choice, reason, at)
            }
            Command::Transition { agent, to, note } => self.transition(agent, to, note, at),
            Command::Seat { agent, new, prices } => self.seat(agent, new, prices, moment),
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Where an agent stands among those who came, from 0.
    pub fn place(&self, agent: &AgentName) -> Option<usize> {
        self.members.iter().position(|member| member.name == *agent)
    }

    pub fn member(&self, agent: &AgentName) -> Option<&Member> {
        self.members.iter().find(|member| member.name == *agent)
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        let deadline = self.deadlines.iter().find(|deadline| deadline.phase == self.phase)?;
        let ms = i64::try_from(deadline.after_ms).unwrap_or(i64::MAX);
        let until = self.since.checked_add(SignedDuration::from_millis(ms));
        Some(until.unwrap_or(Timestamp::MAX))
    }

    fn post(&self, agent: AgentName, content: Content, at: Timestamp) -> Ruling<Event> {
        let member = self.gate(&agent, Action::post(content.kind))?;
        let content = check::content(content)?;
        if member.posts >= limits::BOARD_POSTS {
            let most = limits::BOARD_POSTS;
            return Err(Reject::Forbidden(format!(
                "An agent can post at most {most} times on a board."
            )));
        }
        let id = PostId(format!("{agent}/{}", member.posts + 1));
        Ok(vec![Event::Posted { id, author: agent, content, at }])
    }

    fn annotate(
        &self,
        agent: AgentName,
        post: &PostId,
        note: Note,
        body: String,
        at: Timestamp,
    ) -> Ruling<Event> {
        let action = Action::annotate(&note);
        let member = self.gate(&agent, action)?;
        check::body("body", &body, matches!(note, Note::Withdrawal { .. }))?;
        if member.annotations >= limits::BOARD_ANNOTATIONS {
            let most = limits::BOARD_ANNOTATIONS;
            let message = format!("An agent can annotate at most {most} times on a board.");
            return Err(Reject::Forbidden(message));
        }
        let post = self.standing_post(member, post, action)?;
        let own = post.author == agent;
        match &note {
            Note::Validation { .. } | Note::Corroboration if own => {
                return Err(Reject::Forbidden(format!(
                    "{agent} wrote {}; someone else must {}.",
                    post.id,
                    action.verb()
                )));
            }
            Note::Validation { .. } | Note::Corroboration | Note::Challenge => {}
            Note::Rebuttal { challenge } => {
                if !own {
                    return Err(Reject::Forbidden(format!(
                        "Only {}, who wrote {}, can rebut; you can challenge or corroborate it.",
                        post.author, post.id
                    )));
                }
                if let Some(challenge) = challenge {
                    self.challenge(&agent, post, challenge)?;
                }
            }
            Note::Withdrawal { challenge: None } => {
                if !own {
                    return Err(Reject::Forbidden(format!(
                        "Only {}, who wrote {}, can withdraw it.",
                        post.author, post.id
                    )));
                }
            }
            Note::Withdrawal { challenge: Some(challenge) } => {
                let challenge = self.open_challenge(&agent, post, challenge)?;
                if challenge.by != agent {
                    return Err(Reject::Forbidden(format!(
                        "Only {}, who made {}, can withdraw it.",
                        challenge.by, challenge.id
                    )));
                }
            }
            Note::Resolution { challenge } => {
                let challenge = self.open_challenge(&agent, post, challenge)?;
                if challenge.by == agent {
                    return Err(Reject::Forbidden(format!(
                        "{agent} made {}; someone else must settle it. You can withdraw it.",
                        challenge.id
                    )));
                }
            }
        }
        let id = AnnotationId(format!("{agent}/a{}", member.annotations + 1));
        Ok(vec![Event::Annotated { id, post: post.id.clone(), by: agent, note, body, at }])
    }

    fn vote(
        &self,
        agent: AgentName,
        post: &PostId,
        choice: Choice,
        reason: Option<String>,
        at: Timestamp,
    ) -> Ruling<Event> {
        let member = self.gate(&agent, Action::Vote)?;
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        check::body("reason", reason.as_deref().unwrap_or_default(), true)?;
        let post = self.standing_post(member, post, Action::Vote)?;
        if post.author == agent {
            let message = format!("{agent} wrote {}; no one can vote on their own post.", post.id);
            return Err(Reject::Forbidden(message));
        }
        let same = |vote: &Vote| vote.by == agent && vote.choice == choice && vote.reason == reason;
        if post.votes.iter().any(same) {
            return Ok(vec![]);
        }
        Ok(vec![Event::Voted { post: post.id.clone(), by: agent, choice, reason, at }])
    }

    fn transition(
        &self,
        agent: AgentName,
        to: Phase,
        note: Option<String>,
        at: Timestamp,
    ) -> Ruling<Event> {
        let member = self.gate(&agent, Action::Transition)?;
        let note = note.filter(|note| !note.trim().is_empty());
        check::body("note", note.as_deref().unwrap_or_default(), true)?;
        if !self.phase.next().contains(&to) {
            let from = self.phase.name();
            let ways: Vec<&str> = self.phase.next().iter().map(|phase| phase.name()).collect();
            let message = if to == self.phase {
                format!("The board is already in {from}; from here it moves to {}.", or(&ways))
            } else {
                let to = to.name();
                format!(
                    "A board cannot move from {from} to {to}; from here it moves to {}.",
                    or(&ways)
                )
            };
            return Err(self.not_now(Some(member), message));
        }
        Ok(vec![Event::Transitioned { to, by: Some(agent), note, at }])
    }

    /// A post that can still be acted on. Nobody gets here in the blind phase, so
    /// whether a post exists is told to those only who can see all of them.
    fn standing_post(&self, member: &Member, id: &PostId, action: Action) -> Result<&Post, Reject> {
        let post = self.posts.iter().find(|post| post.id == *id);
        let post = post.ok_or_else(|| {
            let ids = self.posts.iter().map(|post| post.id.0.as_str());
            let there = names::told(&id.0, ids);
            Reject::Unknown(format!("There is no post {id} on this board{there}."))
        })?;
        if post.withdrawn && action != Action::Resolve {
            // No other phase would help: the phase and who can change it are left out.
            return Err(Reject::NotNow {
                state: self.phase.name(),
                message: format!(
                    "{} has withdrawn {}; nothing can be added to it.",
                    post.author, post.id
                ),
                allowed: self.allowed(Some(member)),
            });
        }
        Ok(post)
    }

    /// A challenge of this post that the agent can see.
    fn challenge<'a>(
        &self,
        agent: &AgentName,
        post: &'a Post,
        id: &AnnotationId,
    ) -> Result<&'a Annotation, Reject> {
        let seen = crate::view::sees_related(self, Some(agent), post);
        let challenges =
            || post.annotations.iter().filter(|found| seen && found.note == Note::Challenge);
        challenges().find(|challenge| challenge.id == *id).ok_or_else(|| {
            let there = names::told(&id.0, challenges().map(|challenge| challenge.id.0.as_str()));
            Reject::Unknown(format!("There is no challenge {id} of {}{there}.", post.id))
        })
    }

    fn open_challenge<'a>(
        &self,
        agent: &AgentName,
        post: &'a Post,
        id: &AnnotationId,
    ) -> Result<&'a Annotation, Reject> {
        let challenge = self.challenge(agent, post, id)?;
        let problem = match (&challenge.settled_by, challenge.withdrawn) {
            (Some(by), _) => format!("was already settled by {by}"),
            (None, true) => "was withdrawn".to_owned(),
            (None, false) => return Ok(challenge),
        };
        Err(Reject::Invalid(vec![Wrong::new("challengeId", problem)]))
    }
}

/// `a`, `a or b`.
pub(crate) fn or(words: &[&str]) -> String {
    match words {
        [] => "nowhere".to_owned(),
        words => words.join(" or "),
    }
}

impl std::fmt::Display for PostId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for AnnotationId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
