//! What can be changed: a draft wholly, later its name and its rounds, and what people
//! read of topic, format and conclusion. The status is changed by the command that leads
//! there.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Event, Format, Participant, Seat, SeatId, Stage, Start, State, What, check};
use crate::form::{Moment, Ruling};
use crate::limits;
use crate::reject::{Reject, Wrong, name, settled, text};

/// Only what is given changes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Edit {
    pub name: Option<String>,
    pub topic: Option<String>,
    pub format: Option<Format>,
    pub max_rounds: Option<u32>,
    pub status: Option<Wanted>,
    pub conclusion: Option<String>,
}

/// A status that a command leads to.
#[derive(Clone, PartialEq, Debug)]
pub enum Wanted {
    /// Starts a draft, and resumes what rests.
    Active(Start),
    /// Pauses.
    Paused,
    /// Concludes.
    Concluded,
}

impl State {
    pub(super) fn edit(&self, edit: Edit, moment: &Moment) -> Ruling<Event> {
        let Edit { name: called, topic, format, max_rounds, status, conclusion } = edit;
        match self.conclusion() {
            Some(_) if max_rounds.is_some() => {
                return Err(
                    self.not_now("This discussion has concluded; there are no more rounds.")
                );
            }
            None if conclusion.is_some() => {
                let message = "There is no conclusion to edit yet; conclude first.";
                return Err(self.not_now(message));
            }
            Some(_) | None => {}
        }
        let mut wrong = vec![];
        if let Some(called) = &called {
            name(&mut wrong, "name", called.trim(), limits::DISCUSSION_NAME_BYTES);
        }
        if let Some(topic) = &topic {
            text(&mut wrong, "topic", topic, limits::PROMPT_BYTES);
        }
        if let Some(rounds) = max_rounds {
            check::rounds(&mut wrong, rounds, self.rounds_begun().max(1));
        }
        if let Some(conclusion) = &conclusion {
            text(&mut wrong, "conclusion", conclusion, limits::TURN_BYTES);
        }
        settled(wrong)?;
        let at = moment.at;
        let revised =
            conclusion.map(|text| Event::ConclusionEdited { by: moment.actor.clone(), text, at });
        let is_edit = called.is_some() || topic.is_some() || format.is_some();
        let is_edit = is_edit || max_rounds.is_some() || (status.is_none() && revised.is_none());
        let edited = is_edit.then(|| Event::Edited {
            name: called.map(|name| name.trim().to_owned()),
            topic: topic.map(Arc::from),
            format,
            max_rounds,
            at,
        });
        let mut events: Vec<Event> = edited.into_iter().chain(revised).collect();
        if let Some(status) = status {
            let mut after = self.clone();
            events.iter().for_each(|event| after.follow(event));
            events.extend(after.lead_to(status, moment)?);
        }
        Ok(events)
    }

    fn lead_to(&self, status: Wanted, moment: &Moment) -> Ruling<Event> {
        match status {
            Wanted::Active(start) if self.stage == Stage::Draft => self.start(start, moment),
            Wanted::Active(_) => self.resume(moment),
            Wanted::Paused => self.pause(moment.at),
            Wanted::Concluded => self.conclude(moment),
        }
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
                Err(self.not_now(&format!("{what} can only be changed in a draft.")))
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
            return Err(Reject::Unknown(format!("No one with the id {:?} takes part.", seat.0)));
        }
        Ok(vec![Event::ParticipantRemoved { seat, at }])
    }
}
