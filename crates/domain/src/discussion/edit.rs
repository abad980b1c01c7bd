//! What can be changed: a draft wholly, later its name and its rounds.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Event, Format, Participant, Seat, SeatId, Stage, State, What, check};
use crate::form::Ruling;
use crate::limits;
use crate::reject::{Reject, Wrong, name, settled, text};

/// Only what is given changes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Edit {
    pub name: Option<String>,
    pub topic: Option<String>,
    pub format: Option<Format>,
    pub max_rounds: Option<u32>,
}

impl State {
    pub(super) fn edit(&self, edit: Edit, at: Timestamp) -> Ruling<Event> {
        match self.stage {
            Stage::Concluded(_) => {
                return Err(self.not_now("This discussion is concluded and stays as it is."));
            }
            Stage::Draft => {}
            Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. } => {
                if edit.topic.is_some() || edit.format.is_some() {
                    let message = "Topic and format can be changed in a draft only; the name and \
                                   the number of rounds can be changed until the conclusion.";
                    return Err(self.not_now(message));
                }
            }
        }
        let mut wrong = vec![];
        if let Some(called) = &edit.name {
            name(&mut wrong, "name", called.trim(), limits::DISCUSSION_NAME_BYTES);
        }
        if let Some(topic) = &edit.topic {
            text(&mut wrong, "topic", topic, limits::PROMPT_BYTES);
        }
        if let Some(rounds) = edit.max_rounds {
            check::rounds(&mut wrong, rounds, self.rounds_begun().max(1));
        }
        settled(wrong)?;
        Ok(vec![Event::Edited {
            name: edit.name.map(|name| name.trim().to_owned()),
            topic: edit.topic.map(Arc::from),
            format: edit.format,
            max_rounds: edit.max_rounds,
            at,
        }])
    }

    /// Turns that have ended, and the one that is next, under way, or being decided on.
    fn rounds_begun(&self) -> u32 {
        let planned = self.step().is_some_and(|step| match step.what {
            What::Turn { .. } => true,
            What::Opening | What::Evaluation { .. } => self.under_way().is_some(),
            What::Synthesis { .. } => false,
        });
        self.turns() + u32::from(planned)
    }

    fn is_draft(&self, what: &str) -> Result<(), Reject> {
        match self.stage {
            Stage::Draft => Ok(()),
            Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. }
            | Stage::Concluded(_) => {
                Err(self.not_now(&format!("{what} can be changed in a draft only.")))
            }
        }
    }

    pub(super) fn change_facilitator(&self, seat: Seat, at: Timestamp) -> Ruling<Event> {
        self.is_draft("The facilitator")?;
        let mut wrong = vec![];
        check::seat(&mut wrong, "facilitator", &seat);
        if let Some(name) = check::same(&seat, self.participants.iter().map(|p| &*p.seat)) {
            let problem = format!("{name} takes part and cannot lead the discussion too");
            wrong.push(Wrong::new("facilitator", problem));
        }
        settled(wrong)?;
        Ok(vec![Event::FacilitatorChanged { facilitator: Arc::new(seat), at }])
    }

    pub(super) fn add_participant(&self, participant: Participant, at: Timestamp) -> Ruling<Event> {
        self.is_draft("Who takes part")?;
        let mut wrong = vec![];
        check::seat(&mut wrong, "participant", &participant.seat);
        let field = "participant";
        check::other(&mut wrong, field, &participant.seat, &self.facilitator, &self.participants);
        if self.participants.len() >= limits::PARTICIPANTS {
            let most = limits::PARTICIPANTS;
            wrong.push(Wrong::new("participants", format!("at most {most} can take part")));
        }
        settled(wrong)?;
        Ok(vec![Event::ParticipantAdded { participant, at }])
    }

    pub(super) fn remove_participant(&self, seat: SeatId, at: Timestamp) -> Ruling<Event> {
        self.is_draft("Who takes part")?;
        if !self.participants.iter().any(|participant| participant.seat.id == seat) {
            return Err(Reject::Unknown(format!("Nobody with the id {:?} takes part.", seat.0)));
        }
        Ok(vec![Event::ParticipantRemoved { seat, at }])
    }
}
