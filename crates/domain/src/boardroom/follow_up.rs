//! A board goes on: a further question to the same seats, each of which has its own earlier
//! answers and the verdict before it.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Addressed, Advisor, Brief, Event, FollowUp, SeatId, Sitter, Stage, State, later};
use crate::call::Answer;
use crate::form::{Moment, Ruling};
use crate::limits;
use crate::reject::{Reject, Wrong, settled, text};

impl State {
    /// The round that is, or was, the last: 1 for the first question.
    pub fn round(&self) -> u32 {
        self.follow_ups.last().map_or(1, |last| last.round)
    }

    /// The advisors to whom the question of the last round was put.
    pub fn asked_now(&self) -> impl Iterator<Item = &Advisor> {
        let round = self.round();
        self.advisors.iter().filter(move |advisor| advisor.round == round)
    }

    /// What came of a round: its last synthesis that is there.
    pub(super) fn verdict(&self, round: u32) -> Option<&str> {
        let of_round = self.syntheses.iter().rev().filter(|synthesis| synthesis.round == round);
        of_round.filter_map(|synthesis| synthesis.standing.done()).next().map(|w| &*w.verdict.text)
    }

    /// Why no further question can be put now.
    pub(super) fn cannot_follow_up(&self) -> Option<&'static str> {
        match self.stage {
            Stage::Answering(_) | Stage::Synthesizing | Stage::Balloting => {
                Some("The board is still working on its question; wait for it or stop it.")
            }
            Stage::Closed | Stage::Stopped | Stage::Failed(_) => {
                let spoke = |advisor: &Advisor| advisor.answers().next().is_some();
                if !self.advisors.iter().any(spoke) {
                    return Some("No one has answered yet, so there is nothing to follow up on.");
                }
                let is_full = !self.has_room() || self.follow_ups.len() >= limits::FOLLOW_UPS;
                is_full.then_some("This board has the maximum number of questions or verdicts.")
            }
        }
    }

    pub(super) fn follow_up(
        &self,
        prompt: String,
        seats: Vec<SeatId>,
        brief: Brief,
        moment: &Moment,
    ) -> Ruling<Event> {
        for seat in &seats {
            self.known(*seat)?;
        }
        let (seats, prompt) = match seats.is_empty() {
            true => self.addressed(&prompt)?,
            false => (seats, prompt),
        };
        let mut wrong = vec![];
        text(&mut wrong, "prompt", &prompt, limits::PROMPT_BYTES);
        brief.check(&mut wrong);
        settled(wrong)?;
        if let Some(why) = self.cannot_follow_up() {
            return Err(self.not_now(why));
        }
        let is_asked = |advisor: &&Advisor| seats.is_empty() || seats.contains(&advisor.seat.id);
        let asked = self.advisors.iter().filter(is_asked);
        let asked = asked.map(|advisor| Addressed {
            seat: advisor.seat.id,
            reply_by: self.given(advisor).map(|ms| later(moment.at, ms)),
        });
        let (round, asked) = (self.round() + 1, asked.collect());
        let (prompt, brief) = (Arc::from(prompt), Arc::new(brief));
        Ok(vec![Event::FollowedUp { round, prompt, asked, brief, at: moment.at }])
    }

    /// A board that is through with its question notes what the conversation is known by.
    pub(super) fn be_known_by(&self, key: String) -> Ruling<Event> {
        let mut wrong = vec![];
        text(&mut wrong, "key", &key, limits::THREAD_KEY_BYTES);
        settled(wrong)?;
        match self.cannot_follow_up() {
            Some(why) => Err(self.not_now(why)),
            None => Ok(vec![Event::Threaded { key }]),
        }
    }

    /// How long a person was given for the last question that was put to them.
    pub(super) fn given(&self, advisor: &Advisor) -> Option<u64> {
        let Sitter::Person { reply_by, .. } = &advisor.seat.sitter else { return None };
        let put = self.follow_ups.iter().find(|follow_up| follow_up.round == advisor.round);
        let put_at = put.map_or(self.convened_at, |follow_up| follow_up.at);
        let given = (*reply_by)?.duration_since(put_at).as_millis();
        Some(u64::try_from(given).unwrap_or(0))
    }

    /// The seats that a question begins with the names of, and the question without them:
    /// `@critic @expert-2 How sure are you?`
    fn addressed(&self, prompt: &str) -> Result<(Vec<SeatId>, String), Reject> {
        let (mut seats, mut rest) = (vec![], prompt.trim_start());
        while let Some(after) = rest.strip_prefix('@') {
            let is_name = |c: char| c.is_alphanumeric() || c == '-';
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            let name = after[..end].to_lowercase();
            if name.is_empty() {
                break;
            }
            let means = |a: &&Advisor| {
                let role = a.seat.role_name();
                let is_standard = a.seat.own.is_none() && name == a.seat.role.id();
                is_standard || name == handle(role) || name == self.handle(a.seat.id)
            };
            let meant: Vec<SeatId> =
                self.advisors.iter().filter(means).map(|a| a.seat.id).collect();
            if meant.is_empty() {
                let all: Vec<String> =
                    self.advisors.iter().map(|a| format!("@{}", self.handle(a.seat.id))).collect();
                let problem =
                    format!("there is no advisor @{name} here; available: {}", all.join(", "));
                return Err(Reject::Invalid(vec![Wrong::new("prompt", problem)]));
            }
            seats.extend(meant);
            rest = after[end..].trim_start_matches([' ', '\t', ',', ':', '\n']);
        }
        Ok((seats, rest.to_owned()))
    }

    /// What is written after the @ to mean an advisor: `critic`, `critic-2`.
    fn handle(&self, seat: SeatId) -> String {
        handle(&self.label(seat))
    }

    /// Who is not asked stays as it was.
    pub(super) fn followed_up(
        &mut self,
        (round, prompt, brief): (u32, &Arc<str>, &Arc<Brief>),
        asked: &[Addressed],
        at: Timestamp,
        written: Timestamp,
    ) {
        self.supersede_ballot();
        let seats: Vec<SeatId> = asked.iter().map(|addressed| addressed.seat).collect();
        self.thread = None;
        let (prompt, brief) = (prompt.clone(), brief.clone());
        self.follow_ups.push(FollowUp { round, prompt, seats, brief, at });
        for Addressed { seat, reply_by: until } in asked {
            self.overtake_unheard(*seat);
            let Some(advisor) = self.advisors.iter_mut().find(|a| a.seat.id == *seat) else {
                continue;
            };
            advisor.begin(round, written);
            if let Sitter::Person { reply_by, .. } = &mut advisor.seat.sitter {
                *reply_by = *until;
            }
            advisor.ask_for_more(written);
        }
        self.stage = Stage::Answering(self.wait_for(asked.len()));
    }

    /// Whether a record could go on with this question.
    pub(super) fn could_follow_up(
        &self,
        round: u32,
        prompt: &str,
        asked: &[Addressed],
    ) -> Result<(), &'static str> {
        let mut seats: Vec<SeatId> = asked.iter().map(|addressed| addressed.seat).collect();
        seats.sort();
        let different = seats.windows(2).all(|pair| pair[0] != pair[1]);
        let known = !seats.is_empty() && seats.iter().all(|seat| self.advisor(*seat).is_some());
        let is_next = round == self.round() + 1 && !prompt.trim().is_empty();
        let is_so = is_next && known && different && self.cannot_follow_up().is_none();
        if is_so { Ok(()) } else { Err("this question could not be put there") }
    }
}

/// `Devil's Advocate` → `devils-advocate`; letters of any script stay.
fn handle(name: &str) -> String {
    let mut handle = String::new();
    for c in name.to_lowercase().chars().filter(|c| !matches!(c, '\'' | '’')) {
        match c.is_alphanumeric() {
            true => handle.push(c),
            false if !handle.is_empty() && !handle.ends_with('-') => handle.push('-'),
            false => {}
        }
    }
    handle.trim_end_matches('-').to_owned()
}

impl Advisor {
    /// What it has answered, each with its round, oldest first.
    pub(super) fn answers(&self) -> impl Iterator<Item = (u32, &Answer)> {
        let earlier = self.earlier.iter().map(|one| (one.id.round, &one.standing));
        let all = earlier.chain([(self.round, &self.standing)]);
        all.filter_map(|(round, standing)| Some((round, standing.done()?)))
    }

    /// Its answer in this round: the one that was picked, else the last.
    pub(super) fn answer_in(&self, round: u32) -> Option<&Answer> {
        if let Some(picked) = self.picked_in(round) {
            let mut earlier = self.earlier.iter().map(|one| (one.id, &one.standing));
            let own = (self.contribution(), &self.standing);
            let mut all = earlier.by_ref().chain([own]);
            return all.find(|(id, _)| *id == picked).and_then(|(_, standing)| standing.done());
        }
        self.answers().filter(|(of, _)| *of == round).last().map(|(_, answer)| answer)
    }
}
