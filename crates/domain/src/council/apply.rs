//! What each event does to a council. Total: any event is taken in any state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Debt, Event, Post, Silence, Stage, State, Turn, Why};
use crate::budget::tokens_of;
use crate::call::Usage;
use crate::ledger::{Ended, Ledger, Settled};
use crate::limits;

impl State {
    pub(super) fn opened(event: &Event) -> Option<State> {
        let Event::Opened { name, charter, members, project, by, at } = event else {
            return None;
        };
        Some(State {
            name: name.clone(),
            charter: charter.clone(),
            members: members.clone(),
            project: project.clone(),
            opened_by: by.clone(),
            opened_at: *at,
            posts: vec![],
            silences: vec![],
            senders: BTreeSet::new(),
            renewals: BTreeMap::new(),
            stage: Stage::Open { turn: None, owed: vec![] },
            ledger: Ledger::default(),
            read: BTreeMap::new(),
            code: None,
        })
    }
}

impl State {
    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::Opened { .. } => {}
            Event::Priced(prices) => self.ledger.note(prices),
            Event::Budgeted(budget) => self.ledger.allow(*budget),
            Event::TimeOver { .. } => self.ledger.time_is_over(),
            Event::Posted { sequence, sender, body, reply_to, addressed, left_out, at } => {
                // What comes while somebody answers belongs to what set that in motion.
                if self.turn().is_none() {
                    self.ledger.begin(*at);
                }
                self.senders.insert(sender.clone());
                self.keep(Post {
                    sequence: *sequence,
                    sender: sender.clone(),
                    body: body.clone(),
                    reply_to: *reply_to,
                    depth: 0,
                    addressed: addressed.clone(),
                    left_out: left_out.clone(),
                    upto: None,
                    cut: false,
                    usage: Usage::default(),
                    at: *at,
                });
            }
            Event::TokenRenewed { sender, generation, .. } => {
                self.renewals.insert(sender.clone(), *generation);
            }
            Event::TurnBegan { member, upto, nonce } => {
                let nonce = self.code.get_or_insert_with(|| nonce.clone()).clone();
                if let Stage::Open { turn, .. } = &mut self.stage {
                    let member = member.clone();
                    *turn = Some(Turn { member, upto: *upto, nonce });
                }
            }
            Event::Answered {
                member,
                upto,
                sequence,
                answer,
                reply_to,
                depth,
                addressed,
                left_out,
                at,
            } => {
                self.end_turn(member, *upto);
                self.read.insert(member.clone(), *upto);
                self.note_spending(
                    member,
                    answer.usage,
                    (Ended::Answered, answer.attempts),
                    &answer.text,
                );
                self.keep(Post {
                    sequence: *sequence,
                    sender: member.clone(),
                    body: Arc::from(answer.text.as_str()),
                    reply_to: *reply_to,
                    depth: *depth,
                    addressed: addressed.clone(),
                    left_out: left_out.clone(),
                    upto: Some(*upto),
                    cut: answer.cut,
                    usage: answer.usage,
                    at: *at,
                });
            }
            Event::Passed { member, upto, text, usage } => {
                self.end_turn(member, *upto);
                self.read.insert(member.clone(), *upto);
                self.note_spending(member, *usage, (Ended::Answered, 1), text);
                self.fall_silent(member, *upto, Why::Passed { text: text.clone() }, *usage);
            }
            Event::AnswerFailed { member, upto, failure, partial } => {
                self.end_turn(member, *upto);
                let usage = failure.usage;
                let ended = (Ended::Failed(failure.kind), failure.attempts);
                self.note_spending(member, usage, ended, partial);
                let (failure, partial) = (failure.clone(), partial.clone());
                self.fall_silent(member, *upto, Why::Failed { failure, partial }, usage);
            }
            Event::AnswerStopped { member, upto, partial: text, usage } => {
                self.note_spending(member, *usage, (Ended::Stopped, 1), text);
                let of_turn = |s: &&mut Arc<Silence>| s.member == *member && s.upto == *upto;
                let silence = self.silences.iter_mut().rev().find(of_turn).map(Arc::make_mut);
                if let Some(Silence { why: Why::Stopped { partial }, usage: used, .. }) = silence {
                    (*partial, *used) = (Some(text.clone()), *usage);
                }
            }
            Event::Stopped => {
                self.cut_off();
                if let Stage::Open { owed, .. } = &mut self.stage {
                    owed.clear();
                }
            }
            Event::Closed { summary, by, at } => {
                self.cut_off();
                let (summary, by) = (summary.clone(), by.clone());
                self.stage = Stage::Closed { summary, by, at: *at };
            }
        }
    }

    fn keep(&mut self, post: Post) {
        let place = |name: &String| self.members.iter().position(|member| member.name == *name);
        let places: Vec<usize> = post.addressed.iter().filter_map(place).collect();
        if let Stage::Open { owed, .. } = &mut self.stage {
            let sequence = post.sequence;
            owed.extend(places.into_iter().map(|member| Debt { sequence, member }));
        }
        self.posts.push(Arc::new(post));
    }

    fn end_turn(&mut self, name: &str, upto: u64) {
        let members = &self.members;
        let is_named = |place: usize| members.get(place).is_some_and(|m| m.name == name);
        if let Stage::Open { turn, owed } = &mut self.stage {
            *turn = None;
            owed.retain(|debt| debt.sequence > upto || !is_named(debt.member));
        }
    }

    fn note_spending(
        &mut self,
        member: &str,
        usage: Usage,
        (ended, requests): (Ended, u32),
        text: &str,
    ) {
        let Some(model) = self.member(member).and_then(|member| member.model.clone()) else {
            return;
        };
        let read = self.thread_tokens();
        let (seat, written_bytes) = (Some(member), text.len());
        let model = &model;
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
    }

    /// Tokens of the posts that a member is shown, about.
    fn thread_tokens(&self) -> u64 {
        let newest = self.posts.iter().rev().take(limits::EARLIER_POSTS);
        tokens_of(self.charter.len() + newest.map(|post| post.body.len()).sum::<usize>())
    }

    fn fall_silent(&mut self, member: &str, upto: u64, why: Why, usage: Usage) {
        let member = member.to_owned();
        self.silences.push(Arc::new(Silence { member, upto, why, usage }));
    }

    fn cut_off(&mut self) {
        let Stage::Open { turn, .. } = &mut self.stage else { return };
        if let Some(Turn { member, upto, .. }) = turn.take() {
            self.fall_silent(&member, upto, Why::Stopped { partial: None }, Usage::default());
        }
    }
}
