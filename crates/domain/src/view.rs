//! What a given viewer may see. This is the only way out of a whiteboard: REST,
//! MCP, streams, exports, search, conflicts and counts are made from it.
//!
//! In the blind phase a viewer sees the same, byte for byte, whatever the others
//! post. A facilitator or an operator also sees who has posted, never what.

#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::call::{Failure, Usage};
use crate::ids::AgentName;
use crate::ledger::Ledger;
use crate::limits;
use crate::reject::Reject;
use crate::room::{Event, is_session};
use crate::whiteboard::conflict::{Conflict, conflicts};
pub use crate::whiteboard::line;
use crate::whiteboard::{
    self, Action, Admission, Annotation, Content, Member, Note, Phase, Post, Readiness,
    SeatStanding, Sitter, State, Step, Visibility, Vote, readiness,
};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Viewer {
    /// Whoever has not proved to be an agent of the board.
    Outsider,
    Agent(AgentName),
}

impl Viewer {
    fn name(&self) -> Option<&AgentName> {
        match self {
            Viewer::Outsider => None,
            Viewer::Agent(name) => Some(name),
        }
    }
}

/// A whiteboard as one viewer sees it.
pub struct Board<'a> {
    pub name: &'a str,
    pub topic: &'a str,
    pub project: Option<&'a str>,
    pub phase: Phase,
    pub since: Timestamp,
    pub deadline: Option<Timestamp>,
    pub opened_by: &'a AgentName,
    pub opened_at: Timestamp,
    pub admission: Admission,
    pub debate: Visibility,
    pub steps: &'a [Step],
    /// The viewer, when registered.
    pub viewer: Option<&'a Member>,
    pub members: Vec<&'a Member>,
    /// In the blind phase, for those who lead.
    pub has_posted: Option<Vec<&'a AgentName>>,
    pub posts: Vec<Seen<'a>>,
    /// Posts that the viewer knows of. In the blind phase those who lead know of one of
    /// each agent who has posted, besides their own: who, and not how often.
    pub known_posts: usize,
    /// Absent where it would tell what others do.
    pub readiness: Option<Readiness>,
    pub allowed: Vec<&'static str>,
    pub next: Vec<String>,
    /// The models among the members, where the viewer sees those.
    pub seats: Vec<SeatSeen<'a>>,
    /// What they have spent, where the viewer may know.
    pub accounts: Option<&'a Ledger>,
    /// Events that a `Lens` of this viewer has told so far.
    pub told: u64,
    /// From this number on, where nothing is hidden from anybody, the viewer's numbers are
    /// those of the log. Of a debate that hides they are not even a leader's, who may have
    /// been none when it began.
    known_from: Option<u64>,
}

impl Board<'_> {
    /// The posts that have changed since this viewer had been told so many events; `None`
    /// where that cannot be said by the viewer's own numbers: while something is hidden from
    /// them, and of the time before the board last moved on.
    pub fn changed_since(&self, told: u64) -> Option<Vec<&Seen<'_>>> {
        let is_known = self.known_from.is_some_and(|from| (from..=self.told).contains(&told));
        is_known.then(|| self.posts.iter().filter(|seen| seen.post.changed > told).collect())
    }
}

/// Who sits there by a model.
pub struct SeatSeen<'a> {
    pub sitter: &'a Sitter,
    /// `None` where it would tell what it does. In the blind phase those who lead know
    /// whether it was asked and has answered, and not what came of it.
    pub standing: Option<SeatStanding>,
}

/// A post with what is seen of its annotations and votes.
pub struct Seen<'a> {
    pub post: &'a Post,
    pub annotations: Vec<&'a Annotation>,
    pub votes: Vec<&'a Vote>,
    /// False: there may be annotations and votes that this viewer does not see yet.
    pub whole: bool,
}

/// Where a viewer stands on a board, without its posts.
pub struct Glance<'a> {
    pub name: &'a str,
    pub phase: Phase,
    pub viewer: Option<&'a Member>,
    pub allowed: Vec<&'static str>,
    pub next: Vec<String>,
}

pub fn glance<'a>(state: &'a State, viewer: &Viewer) -> Glance<'a> {
    let viewer = viewer.name().and_then(|agent| state.member(agent));
    Glance {
        name: &state.name,
        phase: state.phase,
        viewer,
        allowed: state.allowed(viewer),
        next: next(state, viewer),
    }
}

/// One post, if the viewer may see it.
pub fn post<'a>(state: &'a State, viewer: &Viewer, id: &whiteboard::PostId) -> Option<Seen<'a>> {
    let agent = viewer.name();
    let post = state.posts.iter().find(|post| post.id == *id)?;
    sees_post(state, agent, &post.author).then(|| seen(state, agent, post))
}

pub fn board<'a>(state: &'a State, viewer: &Viewer) -> Board<'a> {
    let agent = viewer.name();
    let member = agent.and_then(|agent| state.member(agent));
    let leads = member.is_some_and(|member| member.role.leads());
    let blind = state.phase == Phase::Blind;
    let has_posted = (blind && leads).then(|| {
        state.members.iter().filter(|member| member.posts > 0).map(|member| &member.name).collect()
    });
    let others = state.members.iter().filter(|m| m.posts > 0 && Some(&m.name) != agent);
    let others = if blind && leads { others.count() } else { 0 };
    let posts = state.posts.iter().filter(|post| sees_post(state, agent, &post.author));
    let posts: Vec<Seen<'_>> = posts.map(|post| seen(state, agent, post)).collect();
    let members: Vec<&Member> =
        state.members.iter().filter(|m| sees_member(state, agent, &m.name)).collect();
    Board {
        name: &state.name,
        topic: &state.topic,
        project: state.project.as_deref(),
        phase: state.phase,
        since: state.since,
        deadline: state.deadline(),
        opened_by: &state.opened_by,
        opened_at: state.opened_at,
        admission: state.admission,
        debate: state.debate,
        steps: &state.steps,
        viewer: member,
        told: told(state, agent, &members, &posts),
        members,
        has_posted,
        known_posts: posts.len() + others,
        posts,
        readiness: (leads || !hides(state)).then(|| readiness(state)),
        seats: seats(state, agent),
        accounts: accounts(state, viewer),
        allowed: state.allowed(member),
        next: next(state, member),
        known_from: (!hides(state)).then_some(state.moved),
    }
}

fn seats<'a>(state: &'a State, agent: Option<&AgentName>) -> Vec<SeatSeen<'a>> {
    let seen = state.sitters.iter().filter(|sitter| sees_member(state, agent, &sitter.name));
    let may = leads(state, agent) || !hides(state);
    let standing = |sitter: &Sitter| match (state.phase, state.standing_of(sitter)) {
        (Phase::Blind, SeatStanding::Done { .. }) => SeatStanding::Done { left_out: vec![] },
        (Phase::Blind, SeatStanding::Failed(failure)) => SeatStanding::Failed(Failure {
            message: format!("The answer is {}.", failure.kind.words()),
            attempts: 1,
            usage: Usage::default(),
            ..failure
        }),
        (_, standing) => standing,
    };
    seen.map(|sitter| SeatSeen { sitter, standing: may.then(|| standing(sitter)) }).collect()
}

/// What seats have spent, unless that would tell what they do.
pub fn accounts<'a>(state: &'a State, viewer: &Viewer) -> Option<&'a Ledger> {
    let sees = sees_accounts(state, viewer.name()) && !state.sitters.is_empty();
    sees.then_some(&state.ledger)
}

/// In the blind phase nobody: what an answer costs tells how long it is.
fn sees_accounts(state: &State, agent: Option<&AgentName>) -> bool {
    state.phase != Phase::Blind && (leads(state, agent) || !hides(state))
}

/// Each of these came with an event; whoever opened the board came with the board.
fn told(state: &State, agent: Option<&AgentName>, members: &[&Member], posts: &[Seen<'_>]) -> u64 {
    let moves = 1 + state.steps.len();
    let newcomers = members.iter().filter(|member| member.name != state.opened_by).count();
    let invited = state.invited.iter().filter(|one| sees_member(state, agent, &one.name)).count();
    let renewed = members.iter().map(|member| u64::from(member.renewals)).sum::<u64>();
    let renewed = renewed + u64::from(state.invitation);
    let seats = state.sitters.iter().filter(|one| sees_member(state, agent, &one.name));
    let renewed = renewed + seats.map(|sitter| sitter.again).sum::<u64>();
    let renewed = renewed + accounts_told(state, agent);
    let on_post = |seen: &Seen<'_>| {
        let votes = if seen.whole { seen.post.votes_given } else { 0 };
        1 + seen.annotations.len() as u64 + votes
    };
    (moves + newcomers + invited) as u64 + renewed + posts.iter().map(on_post).sum::<u64>()
}

/// What happened before a debate in which things are hidden has been seen.
fn accounts_told(state: &State, agent: Option<&AgentName>) -> u64 {
    match (sees_accounts(state, agent), state.phase) {
        (true, _) => state.accounts,
        (false, Phase::Blind) => 0,
        (
            false,
            Phase::Read | Phase::Validate | Phase::Debate | Phase::Resolve | Phase::Archived,
        ) => state.accounts_before,
    }
}

/// Conflicts between posts that everybody sees; there are none to see before that.
pub fn board_conflicts(state: &State) -> Result<Vec<Conflict>, Reject> {
    state.gate_anyone(Action::Conflicts)?;
    Ok(conflicts(state.posts.iter().map(|post| &**post), limits::CONFLICTS + 1))
}

fn seen<'a>(state: &State, agent: Option<&AgentName>, post: &'a Post) -> Seen<'a> {
    let whole = sees_related(state, agent, post);
    let shown = |note: &Note| whole || is_for_all(note);
    Seen {
        post,
        annotations: post.annotations.iter().filter(|a| shown(&a.note)).collect(),
        votes: post.votes.iter().filter(|_| whole).collect(),
        whole,
    }
}

/// What all see in any debate. A withdrawn post shows as withdrawn to all, since
/// nothing can be added to it: so is what its author says to that.
fn is_for_all(note: &Note) -> bool {
    match note {
        Note::Validation { .. } | Note::Withdrawal { challenge: None } => true,
        Note::Challenge
        | Note::Corroboration
        | Note::Rebuttal { .. }
        | Note::Withdrawal { challenge: Some(_) }
        | Note::Resolution { .. } => false,
    }
}

/// Whether those who do not lead see less than there is.
fn hides(state: &State) -> bool {
    match (state.phase, state.debate) {
        (Phase::Blind, _) | (Phase::Debate, Visibility::OwnAndRelated) => true,
        (Phase::Debate, Visibility::Full)
        | (Phase::Read | Phase::Validate | Phase::Resolve | Phase::Archived, _) => false,
    }
}

fn leads(state: &State, agent: Option<&AgentName>) -> bool {
    agent.and_then(|agent| state.member(agent)).is_some_and(|member| member.role.leads())
}

fn sees_post(state: &State, agent: Option<&AgentName>, author: &AgentName) -> bool {
    state.phase != Phase::Blind || agent == Some(author)
}

/// Who opened a board is said with the board.
fn sees_member(state: &State, agent: Option<&AgentName>, member: &AgentName) -> bool {
    state.phase != Phase::Blind
        || agent == Some(member)
        || state.opened_by == *member
        || leads(state, agent)
}

/// Whether the viewer sees what the debate does to this post.
pub(crate) fn sees_related(state: &State, agent: Option<&AgentName>, post: &Post) -> bool {
    match (state.phase, state.debate) {
        (Phase::Debate, Visibility::OwnAndRelated) => {
            let Some(agent) = agent else { return false };
            post.author == *agent
                || post.annotations.iter().any(|annotation| annotation.by == *agent)
                || post.votes.iter().any(|vote| vote.by == *agent)
                || leads(state, Some(agent))
        }
        (Phase::Debate, Visibility::Full)
        | (
            Phase::Blind | Phase::Read | Phase::Validate | Phase::Resolve | Phase::Archived,
            Visibility::Full | Visibility::OwnAndRelated,
        ) => true,
    }
}

/// Whether the viewer sees an event of the board as it stands now.
fn sees_event(state: &State, viewer: &Viewer, event: &whiteboard::Event) -> bool {
    use whiteboard::Event;
    let agent = viewer.name();
    let related = |id: &whiteboard::PostId| {
        let post = state.posts.iter().find(|post| post.id == *id);
        post.is_none_or(|post| sees_related(state, agent, post))
    };
    match event {
        Event::Opened { .. } | Event::InvitationRenewed { .. } | Event::Transitioned { .. } => true,
        Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Answered { .. }
        | Event::AnswerFailed { .. }
        | Event::AnswerStopped { .. }
        | Event::Stopped { .. } => sees_accounts(state, agent),
        Event::Registered { agent: other, .. }
        | Event::Seated { agent: other, .. }
        | Event::Invited { agent: other, .. }
        | Event::TokenRenewed { agent: other, .. } => sees_member(state, agent, other),
        Event::Posted { author, .. } => sees_post(state, agent, author),
        Event::Annotated { post, note, .. } => is_for_all(note) || related(post),
        Event::Voted { post, .. } => related(post),
    }
}

/// One viewer's stream of a session's events, numbered from 1 without a gap. An
/// event that is hidden is held back and comes when it may be seen. The numbers
/// are the viewer's own: the log's versions would count what is hidden. It keeps no
/// words, so that many readers of a large board cost little.
pub struct Lens<T> {
    viewer: Viewer,
    board: Option<State>,
    held: Vec<(whiteboard::Event, T)>,
    told: u64,
}

impl<T> Lens<T> {
    pub fn new(viewer: Viewer) -> Self {
        Lens { viewer, board: None, held: vec![], told: 0 }
    }

    /// What the viewer sees now that this event has happened. Events come in order
    /// and from the first one on.
    pub fn pass(&mut self, event: Event, carried: T) -> Vec<(u64, T)> {
        let mut out = vec![];
        match event {
            Event::Whiteboard(event) => self.pass_board(event, carried, &mut out),
            other if is_session(other.kind()) => out.push(carried),
            // No session's stream has any other.
            _ => {}
        }
        let number = |carried| {
            self.told += 1;
            (self.told, carried)
        };
        out.into_iter().map(number).collect()
    }

    fn pass_board(&mut self, event: whiteboard::Event, carried: T, out: &mut Vec<T>) {
        let event = event.outline();
        match &mut self.board {
            Some(board) => board.follow(&event),
            None => self.board = State::opened(&event),
        }
        let Some(state) = &self.board else { return };
        if !sees_event(state, &self.viewer, &event) {
            self.held.push((event, carried));
            return;
        }
        out.push(carried);
        let held = std::mem::take(&mut self.held);
        for (event, carried) in held {
            if sees_event(state, &self.viewer, &event) {
                out.push(carried);
            } else {
                self.held.push((event, carried));
            }
        }
    }
}

/// Whether everybody sees this event of the board as it stands now.
pub(crate) fn is_seen_by_all(state: &State, event: &whiteboard::Event) -> bool {
    sees_event(state, &Viewer::Outsider, event)
}

/// What everybody may read from this event on.
pub(crate) fn words_for_all(state: &State, event: &whiteboard::Event) -> String {
    use whiteboard::Event;
    if !is_seen_by_all(state, event) {
        return String::new();
    }
    match event {
        Event::Opened { topic, name, .. } => format!("{name}\n{topic}"),
        Event::Posted { content, .. } => post_words(content),
        Event::Annotated { body, .. } => body.clone(),
        Event::Voted { reason, .. } => reason.clone().unwrap_or_default(),
        Event::Registered { agent, domain, .. } | Event::Seated { agent, domain, .. } => {
            agent_words(agent, domain.as_deref())
        }
        Event::InvitationRenewed { .. }
        | Event::Invited { .. }
        | Event::TokenRenewed { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Answered { .. }
        | Event::AnswerFailed { .. }
        | Event::AnswerStopped { .. }
        | Event::Stopped { .. } => String::new(),
        Event::Transitioned { to: Phase::Read, note, .. } => {
            let others = state.members.iter().filter(|member| member.name != state.opened_by);
            let agents = others.map(|member| agent_words(&member.name, member.domain.as_deref()));
            let posts = state.posts.iter().map(|post| post_words(&post.content));
            let hidden: Vec<String> = agents.chain(posts).collect();
            format!("{}\n{}", note.as_deref().unwrap_or_default(), hidden.join("\n"))
        }
        Event::Transitioned { to: Phase::Resolve, note, .. } => {
            let hidden = state.debate == Visibility::OwnAndRelated;
            let posts = state.posts.iter().filter(|_| hidden);
            let bodies = posts.flat_map(|post| {
                let notes = post.annotations.iter().filter(|a| !is_for_all(&a.note));
                let notes = notes.map(|a| a.body.clone());
                notes.chain(post.votes.iter().filter_map(|vote| vote.reason.clone()))
            });
            let bodies: Vec<String> = bodies.collect();
            format!("{}\n{}", note.as_deref().unwrap_or_default(), bodies.join("\n"))
        }
        Event::Transitioned { note, .. } => note.clone().unwrap_or_default(),
    }
}

fn agent_words(agent: &AgentName, domain: Option<&str>) -> String {
    format!("{agent} {}", domain.unwrap_or_default())
}

fn post_words(content: &Content) -> String {
    format!("{}\n{}", content.title, content.body)
}

/// What this viewer can do now, in sentences for somebody who has forgotten.
fn next(state: &State, member: Option<&Member>) -> Vec<String> {
    let mut steps: Vec<&str> = vec![];
    let leads = member.is_some_and(|member| member.role.leads());
    match (state.phase, member) {
        (Phase::Resolve, None) => steps.push("No one can join any more; you can only read."),
        (Phase::Archived, _) => steps.push("The board is archived: read it, or export its record."),
        (_, None) => steps.push(state.how_to_register()),
        (Phase::Blind, Some(_)) => steps.push(
            "Post what you think, before you know what others think. Others see it when the board \
             moves to read.",
        ),
        (Phase::Read, Some(_)) => steps.push("Read all posts; validations come next."),
        (Phase::Validate, Some(_)) => steps.push(
            "Check the posts of others and annotate each with a validation: confirmed, refuted or \
             inconclusive.",
        ),
        (Phase::Debate, Some(_)) => steps.push(
            "Challenge or corroborate posts of others, answer challenges of yours, and vote accept, \
             reject or defer on each post.",
        ),
        (Phase::Resolve, Some(_)) => {
            steps.push("Settle open challenges of others with a resolution.");
        }
    }
    let mut steps: Vec<String> = steps.into_iter().map(str::to_owned).collect();
    let ways: Vec<&str> = state.phase.next().iter().map(|phase| phase.name()).collect();
    if leads && !ways.is_empty() {
        let how = match state.phase {
            Phase::Resolve => "archive the board".to_owned(),
            Phase::Blind | Phase::Read | Phase::Validate | Phase::Debate | Phase::Archived => {
                format!("move the board on to {}", whiteboard::or(&ways))
            }
        };
        steps.push(format!("When the phase is finished, {how}."));
    } else if member.is_some() && !ways.is_empty() {
        steps.push(format!(
            "A facilitator or an operator, such as {}, moves the board on to {}.",
            state.opened_by,
            whiteboard::or(&ways)
        ));
    }
    steps
}
