//! What people do with a discussion: start, pause, resume, stop, conclude, interject.

use jiff::Timestamp;

use super::{Estimate, Event, Said, Stage, State, Why, check};
use crate::form::{Moment, Ruling};
use crate::limits;

impl State {
    pub(super) fn start(&self, estimate: Option<Estimate>, moment: &Moment) -> Ruling<Event> {
        match self.stage {
            Stage::Draft => {
                check::seats(&self.facilitator, &self.participants)?;
                check::budget(self)?;
                let started = Event::Started { estimate, at: moment.at };
                Ok(self.then(started, |state| state.choose_next(moment)))
            }
            Stage::Paused(_) | Stage::Stopped(_) | Stage::Failed { .. } => {
                Err(self.not_now("This discussion has been started; resume it."))
            }
            Stage::Active(_) | Stage::Pausing(_) => {
                Err(self.not_now("This discussion is under way."))
            }
            Stage::Concluded(_) => Err(self.not_now("This discussion is concluded.")),
        }
    }

    pub(super) fn pause(&self, at: Timestamp) -> Ruling<Event> {
        match &self.stage {
            // Nobody's words are lost when the discussion rests while a person thinks.
            Stage::Active(step) if self.awaited().is_some() => {
                Ok(vec![Event::Paused { next: step.clone(), at }])
            }
            Stage::Active(_) => Ok(vec![Event::PauseAsked { at }]),
            Stage::Pausing(_) | Stage::Paused(_) => {
                Err(self.not_now("This discussion is paused already."))
            }
            Stage::Draft => Err(self.not_now("This discussion has not been started.")),
            Stage::Stopped(_) | Stage::Failed { .. } => {
                Err(self.not_now("Nothing is under way that could be paused."))
            }
            Stage::Concluded(_) => Err(self.not_now("This discussion is concluded.")),
        }
    }

    pub(super) fn resume(&self, moment: &Moment) -> Ruling<Event> {
        match &self.stage {
            // The step under way was never broken off.
            Stage::Pausing(_) => Ok(vec![Event::Resumed { at: moment.at }]),
            Stage::Paused(step) | Stage::Stopped(step) | Stage::Failed { next: step, .. } => {
                let resumed = Event::Resumed { at: moment.at };
                Ok(self.then(resumed, |state| state.begin_again(step, moment)))
            }
            Stage::Active(_) => Err(self.not_now("This discussion is under way.")),
            Stage::Draft => Err(self.not_now("This discussion has not been started; start it.")),
            Stage::Concluded(_) => Err(self.not_now("This discussion is concluded.")),
        }
    }

    /// Breaks off what is under way.
    pub(super) fn break_off(&self, at: Timestamp) -> Ruling<Event> {
        match &self.stage {
            Stage::Active(step) | Stage::Pausing(step) | Stage::Paused(step) => {
                Ok(vec![Event::Stopped { next: step.clone(), at }])
            }
            Stage::Draft => Err(self.not_now("This discussion has not been started.")),
            Stage::Stopped(_) => Err(self.not_now("This discussion is stopped already.")),
            Stage::Failed { .. } => Err(self.not_now("This discussion has failed; nothing runs.")),
            Stage::Concluded(_) => Err(self.not_now("This discussion is concluded.")),
        }
    }

    pub(super) fn conclude(&self, moment: &Moment) -> Ruling<Event> {
        if let Some(why) = self.no_conclusion() {
            return Err(self.not_now(why));
        }
        if let Stage::Pausing(step) = &self.stage
            && step.what.is_synthesis()
        {
            return Ok(vec![Event::Resumed { at: moment.at }]);
        }
        let asked = Event::ConcludeAsked { at: moment.at };
        Ok(self.then(asked, |state| vec![state.begin_synthesis(Why::Asked, moment)]))
    }

    /// Why a conclusion cannot be asked for now.
    pub(super) fn no_conclusion(&self) -> Option<&'static str> {
        match &self.stage {
            Stage::Draft => Some("Nothing has been said; start it first."),
            Stage::Active(step) if step.what.is_synthesis() => {
                Some("The conclusion is being written.")
            }
            Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. } => None,
            Stage::Concluded(_) => Some("This discussion is concluded."),
        }
    }

    pub(super) fn interject(&self, by: String, text: String, at: Timestamp) -> Ruling<Event> {
        if let Some(why) = self.no_interjection() {
            return Err(self.not_now(why));
        }
        check::interjection(self, &by, &text)?;
        Ok(vec![Event::Interjected { by: by.trim().to_owned(), text, at }])
    }

    /// Why nobody can interject now.
    pub(super) fn no_interjection(&self) -> Option<&'static str> {
        match &self.stage {
            Stage::Draft => return Some("This discussion has not been started; edit its topic."),
            Stage::Concluded(_) => return Some("This discussion is concluded."),
            Stage::Active(step) | Stage::Pausing(step) if step.what.is_synthesis() => {
                return Some("The conclusion is being written.");
            }
            Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. } => {}
        }
        let entries = self.transcript.iter().chain(&self.aside);
        let kept = entries.filter(|entry| matches!(entry.said, Said::Interjection { .. })).count();
        (kept >= limits::INTERJECTIONS)
            .then_some("This discussion has as many interjections as it can keep.")
    }
}
