//! What each event does to a council. Total: any event is taken in any state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Change, Debt, Event, Former, Member, Post, Silence, Stage, State, Turn, Why};
use crate::budget::tokens_of;
use crate::call::Usage;
use crate::ids::ModelName;
use crate::ledger::{Ended, Ledger, Settled};
use crate::limits;
use crate::names::are_same;

impl State {
    pub(super) fn opened(event: &Event) -> Option<State> {
        let Event::Opened { name, charter, members, project, by, at } = event else {
            return None;
        };
        Some(State {
            name: name.clone(),
            charter: charter.clone(),
            members: members.clone(),
            former: vec![],
            changes: vec![],
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
                    model: None,
                    cut: false,
                    usage: Usage::default(),
                    at: *at,
                });
            }
            Event::TokenRenewed { sender, generation, .. } => {
                self.renewals.insert(sender.clone(), *generation);
            }
            Event::Changed { charter, added, removed, at } => {
                if let Some(charter) = charter {
                    self.charter = charter.clone();
                }
                self.reseat(added, removed);
                self.changes.push(Arc::new(Change {
                    after: self.last_sequence(),
                    charter: charter.is_some(),
                    added: added.iter().map(|member| member.name.clone()).collect(),
                    removed: removed.clone(),
                    at: *at,
                }));
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
                let model = self.model_of(member);
                let ended = (Ended::Answered, answer.attempts);
                self.note_spending(member, &model, answer.usage, ended, &answer.text);
                self.keep(Post {
                    sequence: *sequence,
                    sender: member.clone(),
                    body: Arc::from(answer.text.as_str()),
                    reply_to: *reply_to,
                    depth: *depth,
                    addressed: addressed.clone(),
                    left_out: left_out.clone(),
                    upto: Some(*upto),
                    model,
                    cut: answer.cut,
                    usage: answer.usage,
                    at: *at,
                });
            }
            Event::Passed { member, upto, text, usage } => {
                self.end_turn(member, *upto);
                self.read.insert(member.clone(), *upto);
                let model = self.model_of(member);
                self.note_spending(member, &model, *usage, (Ended::Answered, 1), text);
                let why = Why::Passed { text: text.clone() };
                self.fall_silent(member, *upto, model, why, *usage);
            }
            Event::AnswerFailed { member, upto, failure, partial } => {
                self.end_turn(member, *upto);
                let usage = failure.usage;
                let ended = (Ended::Failed(failure.kind), failure.attempts);
                let model = self.model_of(member);
                self.note_spending(member, &model, usage, ended, partial);
                let (failure, partial) = (failure.clone(), partial.clone());
                self.fall_silent(member, *upto, model, Why::Failed { failure, partial }, usage);
            }
            Event::AnswerStopped { member, upto, partial: text, usage } => {
                let of_turn = |s: &&mut Arc<Silence>| s.member == *member && s.upto == *upto;
                let silence = self.silences.iter_mut().rev().find(of_turn).map(Arc::make_mut);
                // Who was stopped by being removed is no member any more.
                let model = silence.as_ref().and_then(|silence| silence.model.clone());
                if let Some(Silence { why: Why::Stopped { partial }, usage: used, .. }) = silence {
                    (*partial, *used) = (Some(text.clone()), *usage);
                }
                self.note_spending(member, &model, *usage, (Ended::Stopped, 1), text);
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

    /// Takes members away and brings others. Debts name members by their places.
    fn reseat(&mut self, added: &[Member], removed: &[String]) {
        let is_removed = |member: &Member| removed.contains(&member.name);
        if self.answering().is_some_and(|name| removed.iter().any(|removed| removed == name)) {
            self.cut_off();
        }
        let (gone, stay): (Vec<Member>, Vec<Member>) =
            self.members.iter().cloned().partition(is_removed);
        let stays: Vec<bool> = self.members.iter().map(|member| !is_removed(member)).collect();
        if let Stage::Open { owed, .. } = &mut self.stage {
            owed.retain(|debt| stays.get(debt.member).is_some_and(|stays| *stays));
            let place = |old: usize| stays[..old].iter().filter(|stays| **stays).count();
            owed.iter_mut().for_each(|debt| debt.member = place(debt.member));
        }
        for Member { name, model, .. } in gone {
            self.read.remove(&name);
            self.former.push(Former { name, had_model: model.is_some() });
        }
        let is_back = |former: &Former| added.iter().any(|new| are_same(&new.name, &former.name));
        self.former.retain(|former| !is_back(former));
        self.members = stay.into_iter().chain(added.iter().cloned()).collect();
    }

    fn model_of(&self, member: &str) -> Option<ModelName> {
        self.member(member)?.model.clone()
    }

    fn note_spending(
        &mut self,
        member: &str,
        model: &Option<ModelName>,
        usage: Usage,
        (ended, requests): (Ended, u32),
        text: &str,
    ) {
        let Some(model) = model else { return };
        let read = self.thread_tokens();
        let (seat, written_bytes) = (Some(member), text.len());
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
    }

    /// Tokens of the posts that a member is shown, about.
    fn thread_tokens(&self) -> u64 {
        let newest = self.posts.iter().rev().take(limits::EARLIER_POSTS);
        tokens_of(self.charter.len() + newest.map(|post| post.body.len()).sum::<usize>())
    }

    fn fall_silent(
        &mut self,
        member: &str,
        upto: u64,
        model: Option<ModelName>,
        why: Why,
        usage: Usage,
    ) {
        let member = member.to_owned();
        self.silences.push(Arc::new(Silence { member, upto, model, why, usage }));
    }

    fn cut_off(&mut self) {
        let Stage::Open { turn, .. } = &mut self.stage else { return };
        if let Some(Turn { member, upto, .. }) = turn.take() {
            let (model, why) = (self.model_of(&member), Why::Stopped { partial: None });
            self.fall_silent(&member, upto, model, why, Usage::default());
        }
    }
}
