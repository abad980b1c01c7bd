//! What each event does to a discussion. Total: any event is taken in any state.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{
    Conclusion, Corrected, Decided, Entry, Event, How, Participant, Revision, Said, SeatId, Spoken,
    Stage, State, What,
};
use crate::budget::{Allowance, Budget};
use crate::call::{Answer, Failure, FailureKind, Timing, Usage};
use crate::ids::CallId;
use crate::ledger::{Ended, Ledger, Settled};

impl State {
    pub(super) fn created(event: &Event) -> Option<State> {
        let Event::Created {
            name,
            topic,
            format,
            context,
            facilitator,
            participants,
            max_rounds,
            budget_tokens,
            project,
            at,
        } = event
        else {
            return None;
        };
        let mut ledger = Ledger::default();
        if let Some(tokens) = budget_tokens {
            let most = Allowance { tokens: Some(*tokens), ..Allowance::default() };
            ledger.allow(Budget { most, ..Budget::default() });
        }
        Some(State {
            name: name.clone(),
            topic: topic.clone(),
            format: *format,
            context: context.clone(),
            facilitator: facilitator.clone(),
            participants: participants.clone(),
            max_rounds: *max_rounds,
            project: project.clone(),
            created_at: *at,
            started_at: None,
            changed_at: *at,
            estimate: None,
            corrected: Corrected::default(),
            transcript: vec![],
            aside: vec![],
            used: BTreeMap::new(),
            ledger,
            begun: BTreeMap::new(),
            resumed_at: 0,
            code: None,
            stage: Stage::Draft,
        })
    }
}

impl State {
    pub(super) fn follow(&mut self, event: &Event) {
        match event {
            Event::Created { .. } => {}
            Event::Edited { name, topic, format, max_rounds, at } => {
                self.name = name.as_ref().unwrap_or(&self.name).clone();
                match self.stage {
                    Stage::Draft => {
                        self.topic = topic.as_ref().unwrap_or(&self.topic).clone();
                        self.format = format.unwrap_or(self.format);
                    }
                    Stage::Active(_)
                    | Stage::Pausing(_)
                    | Stage::Paused(_)
                    | Stage::Stopped(_)
                    | Stage::Failed { .. }
                    | Stage::Concluded(_) => {
                        let Corrected { topic: before, format: usual } = self.corrected.clone();
                        let (topic, format) = (topic.clone().or(before), format.or(usual));
                        self.corrected = Corrected { topic, format };
                    }
                }
                self.max_rounds = max_rounds.unwrap_or(self.max_rounds);
                self.changed_at = *at;
            }
            Event::FacilitatorChanged { facilitator, at } => {
                self.facilitator = facilitator.clone();
                self.changed_at = *at;
            }
            Event::ParticipantAdded { participant, at } => {
                let all = self.participants.iter().chain([participant]);
                self.participants = all.cloned().collect();
                self.changed_at = *at;
            }
            Event::ParticipantRemoved { seat, at } => {
                let stays = |participant: &&Participant| participant.seat.id != *seat;
                self.participants = self.participants.iter().filter(stays).cloned().collect();
                self.changed_at = *at;
            }
            Event::Priced(prices) => self.ledger.note(prices),
            Event::Budgeted(budget) => self.ledger.allow(*budget),
            Event::TimeOver { .. } => self.ledger.time_is_over(),
            Event::Started { estimate, at } => {
                self.ledger.begin(*at);
                self.estimate = estimate.clone();
                self.started_at = Some(*at);
                self.changed_at = *at;
            }
            Event::Began { step, at } => {
                self.begun.insert(step.what.call(), step.tries);
                self.code.get_or_insert_with(|| step.nonce.clone());
                self.rest(Stage::Active(step.clone()), *at);
            }
            Event::Decided { decided, at } => self.take_decision(decided, *at),
            Event::Spoke { turn, speaker, answer, condensed, at } => {
                self.count_answer(speaker, answer);
                let spoken = Spoken::Words(answer.clone());
                self.end_turn(*turn, speaker, spoken, *condensed, *at);
            }
            Event::TurnFailed { turn, speaker, failure, partial, condensed, at } => {
                self.count_failed(speaker, failure, partial);
                let spoken = Spoken::Failed { failure: failure.clone(), partial: partial.clone() };
                self.end_turn(*turn, speaker, spoken, *condensed, *at);
            }
            Event::CutOff { call, partial, usage } => self.keep_partial(call, partial, *usage),
            Event::SynthesisFailed { by, failure, partial, at } => {
                self.count_failed(by, failure, partial);
                let (failure, partial) = (failure.clone(), partial.clone());
                self.write(*at, Said::SynthesisFailed { by: by.clone(), failure, partial });
            }
            Event::Interjected { by, text, at } => {
                let said = Said::Interjection { by: by.clone(), text: text.clone() };
                if self.under_way().is_some() && self.awaited().is_none() {
                    self.aside.push(Arc::new(Entry { number: 0, at: *at, said }));
                    self.changed_at = *at;
                } else {
                    self.write(*at, said);
                }
            }
            Event::PauseAsked { at } => {
                if let Stage::Active(step) = &self.stage {
                    self.rest(Stage::Pausing(step.clone()), *at);
                }
            }
            Event::Paused { next, at } => self.rest(Stage::Paused(next.clone()), *at),
            Event::Resumed { at } => {
                self.ledger.begin(*at);
                self.resumed_at = self.transcript.len();
                if let Stage::Pausing(step) = &self.stage {
                    self.rest(Stage::Active(step.clone()), *at);
                }
            }
            Event::Stopped { next, at } => {
                self.cut_off(*at);
                self.rest(Stage::Stopped(next.clone()), *at);
            }
            Event::ConcludeAsked { at } => self.cut_off(*at),
            Event::Failed { why, next, at } => {
                self.rest(Stage::Failed { why: why.clone(), next: next.clone() }, *at);
            }
            Event::Concluded { by, why, answer, condensed, at } => {
                // One that came with the decision was counted with it.
                if self.step().is_some_and(|step| step.what.is_synthesis()) {
                    self.count_answer(by, answer);
                }
                let conclusion = Conclusion {
                    by: by.clone(),
                    why: *why,
                    answer: answer.clone(),
                    condensed: *condensed,
                    at: *at,
                    revision: None,
                };
                self.rest(Stage::Concluded(Arc::new(conclusion)), *at);
            }
            Event::ConclusionEdited { by, text, at } => {
                let (by, text) = (by.clone(), text.clone());
                if let Stage::Concluded(conclusion) = &mut self.stage {
                    let revision = Some(Revision { by, text, at: *at });
                    Arc::make_mut(conclusion).revision = revision;
                }
                self.changed_at = *at;
            }
        }
    }

    fn rest(&mut self, stage: Stage, at: Timestamp) {
        self.stage = stage;
        self.changed_at = at;
    }

    fn write(&mut self, at: Timestamp, said: Said) {
        let number = self.transcript.len() as u32 + 1;
        self.transcript.push(Arc::new(Entry { number, at, said }));
        self.changed_at = at;
        for aside in std::mem::take(&mut self.aside) {
            let number = self.transcript.len() as u32 + 1;
            self.transcript.push(Arc::new(Entry { number, ..(*aside).clone() }));
        }
    }

    fn take_decision(&mut self, decided: &Decided, at: Timestamp) {
        match decided.how {
            How::Parsed | How::Repaired | How::Fallback if !self.facilitator.is_person() => {
                let id = self.facilitator.id.clone();
                let written = decided.raw.as_ref().map_or(decided.reasoning.len(), String::len);
                // Of a fallback nothing says whether there was an answer.
                let ended = match decided.how {
                    How::Fallback => Ended::Failed(FailureKind::Malformed),
                    How::Parsed | How::Repaired | How::Person | How::Rule => Ended::Answered,
                };
                let (usage, timing) = (decided.usage, decided.timing);
                self.count(&id, Took { usage, timing, ended, requests: 1, written });
            }
            How::Parsed | How::Repaired | How::Fallback | How::Person | How::Rule => {}
        }
        self.write(at, Said::Decision(decided.clone()));
    }

    fn end_turn(
        &mut self,
        turn: u32,
        speaker: &SeatId,
        spoken: Spoken,
        condensed: u32,
        at: Timestamp,
    ) {
        let question = match self.step().map(|step| &step.what) {
            Some(What::Turn { question, .. }) => question.clone(),
            Some(What::Opening | What::Evaluation { .. } | What::Synthesis { .. }) | None => {
                String::new()
            }
        };
        self.write(at, Said::Turn { turn, speaker: speaker.clone(), question, spoken, condensed });
    }

    /// A step under way that is broken off leaves its place in the transcript. One
    /// that waits for a person has no words yet.
    fn cut_off(&mut self, at: Timestamp) {
        let Some(step) = self.under_way().filter(|_| self.awaited().is_none()) else { return };
        let (what, call) = (step.what.clone(), step.call_id());
        if let Some(id) = self.seat_of(step).map(|seat| seat.id.clone()) {
            let used = self.used.entry(id).or_default();
            used.calls = used.calls.saturating_add(1);
        }
        let (partial, usage) = (None, Usage::default());
        self.write(at, Said::Cut { what, call, partial, usage });
    }

    fn keep_partial(&mut self, of: &CallId, text: &str, used: Usage) {
        let is_of = |entry: &&mut Arc<Entry>| matches!(&entry.said, Said::Cut { call, partial: None, .. } if call == of);
        let Some(entry) = self.transcript.iter_mut().rev().find(is_of) else { return };
        let Said::Cut { what, partial, usage, .. } = &mut Arc::make_mut(entry).said else { return };
        (*partial, *usage) = (Some(text.to_owned()), used);
        let by = match what {
            What::Opening | What::Evaluation { .. } => self.facilitator.id.clone(),
            What::Turn { speaker, .. } => speaker.clone(),
            What::Synthesis { by, .. } => by.clone(),
        };
        // It was counted as a call when it was broken off.
        let calls = self.used.get(&by).map_or(0, |used| used.calls);
        let (timing, ended, written) = (Timing::default(), Ended::Stopped, text.len());
        self.count(&by, Took { usage: used, timing, ended, requests: 1, written });
        self.used.entry(by).or_default().calls = calls;
    }

    fn count_answer(&mut self, seat: &SeatId, answer: &Answer) {
        let (usage, timing, written) = (answer.usage, answer.timing, answer.text.len());
        let (ended, requests) = (Ended::Answered, answer.attempts);
        self.count(seat, Took { usage, timing, ended, requests, written });
    }

    fn count_failed(&mut self, seat: &SeatId, failure: &Failure, partial: &str) {
        let (usage, requests, written) = (failure.usage, failure.attempts, partial.len());
        let (timing, ended) = (Timing::default(), Ended::Failed(failure.kind));
        self.count(seat, Took { usage, timing, ended, requests, written });
    }

    /// A person's words cost nothing.
    fn count(&mut self, id: &SeatId, took: Took) {
        let Some(seat) = self.seat(id).cloned() else { return };
        let Some(model) = seat.model() else { return };
        let Took { usage, timing, ended, requests, written: written_bytes } = took;
        let (read, of) = (self.prompt_tokens(&seat), Some(id.0.as_str()));
        let seat = of;
        self.ledger.settle(Settled { model, seat, usage, ended, requests, read, written_bytes });
        let used = self.used.entry(id.clone()).or_default();
        used.calls = used.calls.saturating_add(1);
        used.usage = used.usage.plus(usage);
        used.latency_ms = used.latency_ms.saturating_add(timing.latency_ms);
    }
}

/// What a call of a seat took.
struct Took {
    usage: Usage,
    timing: Timing,
    ended: Ended,
    requests: u32,
    /// Bytes.
    written: usize,
}
