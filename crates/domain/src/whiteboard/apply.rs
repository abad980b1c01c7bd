//! What an event does to a board.

use std::sync::Arc;

use super::seats::Answered;
use super::{
    Annotation, AnnotationId, Event, Invited, Member, Note, Phase, Post, PostId, Role, State, Step,
    Vote,
};
use crate::call::Life;
use crate::ids::AgentName;
use crate::ledger::{Ended, Ledger};

impl State {
    pub(crate) fn opened(event: &Event) -> Option<State> {
        let Event::Opened { name, topic, project, by, principal, admission, debate, deadlines, at } =
            event
        else {
            return None;
        };
        Some(State {
            name: name.clone(),
            topic: topic.clone(),
            project: project.clone(),
            opened_by: by.clone(),
            principal: principal.clone(),
            opened_at: *at,
            admission: *admission,
            invitation: 0,
            invited: vec![],
            debate: *debate,
            deadlines: deadlines.clone(),
            phase: Phase::Blind,
            since: *at,
            members: vec![Member::new(by.clone(), Role::Facilitator, None, *at)],
            posts: vec![],
            steps: vec![],
            sitters: vec![],
            turns: vec![],
            ledger: Ledger::default(),
            code: None,
            halted: false,
            accounts: 0,
            accounts_before: 0,
            events: 1,
            moved: 1,
        })
    }
}

impl Member {
    fn new(name: AgentName, role: Role, domain: Option<String>, since: jiff::Timestamp) -> Self {
        Member { name, role, domain, since, renewals: 0, posts: 0, annotations: 0 }
    }
}

impl State {
    pub(crate) fn follow(&mut self, event: &Event) {
        self.events += 1;
        match event {
            Event::Opened { .. } => {}
            Event::Registered { agent, role, domain, at } => {
                self.members.push(Member::new(agent.clone(), *role, domain.clone(), *at));
            }
            Event::InvitationRenewed { generation, .. } => self.invitation = *generation,
            Event::Invited { agent, role, .. } => {
                self.invited.push(Invited { name: agent.clone(), role: *role });
            }
            Event::TokenRenewed { agent, generation, .. } => {
                if let Some(member) = self.members.iter_mut().find(|m| m.name == *agent) {
                    member.renewals = *generation;
                }
            }
            Event::Posted { id, author, content, at } => {
                if let Some(member) = self.members.iter_mut().find(|m| m.name == *author) {
                    member.posts += 1;
                }
                self.posts.push(Arc::new(Post {
                    id: id.clone(),
                    author: author.clone(),
                    content: content.clone(),
                    at: *at,
                    annotations: vec![],
                    votes: vec![],
                    votes_given: 0,
                    withdrawn: false,
                    changed: self.events,
                }));
            }
            Event::Annotated { id, post, by, note, body, at } => {
                if let Some(member) = self.members.iter_mut().find(|m| m.name == *by) {
                    member.annotations += 1;
                }
                let annotation = Annotation {
                    id: id.clone(),
                    by: by.clone(),
                    note: note.clone(),
                    body: body.clone(),
                    at: *at,
                    withdrawn: false,
                    settled_by: None,
                };
                if let Some(post) = self.post_mut(post) {
                    post.annotate(annotation);
                }
            }
            Event::Voted { post, by, choice, reason, at } => {
                if let Some(post) = self.post_mut(post) {
                    post.votes_given += 1;
                    post.votes.retain(|vote| vote.by != *by);
                    let (by, reason) = (by.clone(), reason.clone());
                    post.votes.push(Vote { by, choice: *choice, reason, at: *at });
                }
            }
            Event::Seated { agent, domain, seat, nonce, at, .. } => {
                match self.members.iter_mut().find(|member| member.name == *agent) {
                    Some(member) => member.domain.clone_from(domain),
                    None => {
                        let (role, domain) = (Role::Specialist, domain.clone());
                        self.members.push(Member::new(agent.clone(), role, domain, *at));
                    }
                }
                self.code.get_or_insert_with(|| nonce.clone());
                self.take_seat(agent, seat);
                self.halted = false;
                self.ledger.begin(*at);
            }
            Event::Priced(prices) => {
                self.accounts += 1;
                self.ledger.note(prices);
            }
            Event::Budgeted(budget) => {
                self.accounts += 1;
                self.ledger.allow(*budget);
            }
            Event::TimeOver { .. } => {
                self.accounts += 1;
                self.ledger.time_is_over();
            }
            Event::Stopped { .. } => {
                self.accounts += 1;
                self.halted = true;
            }
            Event::Answered { call, agent, task, usage, attempts, bytes, left_out, .. } => {
                self.accounts += 1;
                let written = usize::try_from(*bytes).unwrap_or(usize::MAX);
                self.note_spending(agent, *usage, (Ended::Answered, *attempts), written);
                let done = Answered { usage: *usage, left_out: left_out.clone() };
                self.end_turn(call, agent, task, Life::Done(done));
            }
            Event::AnswerFailed { call, agent, task, failure, partial, .. } => {
                self.accounts += 1;
                let ended = (Ended::Failed(failure.kind), failure.attempts);
                self.note_spending(agent, failure.usage, ended, partial.len());
                let (failure, partial) = (failure.clone(), partial.clone());
                self.end_turn(call, agent, task, Life::Failed { failure, partial });
            }
            Event::AnswerStopped { call, agent, partial, usage, .. } => {
                self.accounts += 1;
                self.note_spending(agent, *usage, (Ended::Stopped, 1), partial.len());
                self.hear_stopped(call, partial, *usage);
            }
            Event::Transitioned { to, by, note, at } => {
                self.accounts_before = self.accounts;
                self.halted = false;
                self.ledger.begin(*at);
                self.phase = *to;
                self.since = *at;
                self.moved = self.events;
                let (by, note) = (by.clone(), note.clone());
                self.steps.push(Step { to: *to, by, note, at: *at });
            }
        }
    }

    /// A post that is about to change.
    fn post_mut(&mut self, id: &PostId) -> Option<&mut Post> {
        let post = self.posts.iter_mut().find(|post| post.id == *id).map(Arc::make_mut)?;
        post.changed = self.events;
        Some(post)
    }
}

impl Post {
    fn annotate(&mut self, annotation: Annotation) {
        match &annotation.note {
            Note::Withdrawal { challenge: None } => self.withdrawn = true,
            Note::Withdrawal { challenge: Some(id) } => {
                if let Some(challenge) = self.annotation_mut(id) {
                    challenge.withdrawn = true;
                }
            }
            Note::Resolution { challenge } => {
                let by = annotation.id.clone();
                if let Some(challenge) = self.annotation_mut(challenge) {
                    challenge.settled_by = Some(by);
                }
            }
            Note::Validation { .. }
            | Note::Challenge
            | Note::Corroboration
            | Note::Rebuttal { .. } => {}
        }
        self.annotations.push(annotation);
    }

    fn annotation_mut(&mut self, id: &AnnotationId) -> Option<&mut Annotation> {
        self.annotations.iter_mut().find(|annotation| annotation.id == *id)
    }
}
