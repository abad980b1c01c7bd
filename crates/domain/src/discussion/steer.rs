//! What people do with a discussion: start, pause, resume, stop, conclude, interject.

use jiff::Timestamp;

use super::{Event, Said, Stage, Start, State, Why, check};
use crate::form::{Moment, Ruling};
use crate::limits;

impl State {
    pub(super) fn start(&self, start: Start, moment: &Moment) -> Ruling<Event> {
        match self.stage {
            Stage::Draft => {
                check::seats(&self.facilitator, &self.participants)?;
                let Start { estimate, prices } = start;
                let noted = self.ledger.unnoted(prices).map(Event::Priced);
                let mut priced = self.clone();
                noted.iter().for_each(|noted| priced.follow(noted));
                check::budget(&priced)?;
                let started = Event::Started { estimate, at: moment.at };
                let begun = priced.then(started, |state| state.choose_next(moment));
                Ok(noted.into_iter().chain(begun).collect())
            }
            Stage::Paused(_) | Stage::Stopped(_) | Stage::Failed { .. } => {
                Err(self.not_now("This discussion has already started; resume it."))
            }
            Stage::Active(_) | Stage::Pausing(_) => {
                Err(self.not_now("This discussion is running."))
            }
            Stage::Concluded(_) => Err(self.not_now("This discussion has concluded.")),
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
                Err(self.not_now("This discussion is already paused."))
            }
            Stage::Draft => Err(self.not_now("This discussion has not been started.")),
            Stage::Stopped(_) | Stage::Failed { .. } => {
                Err(self.not_now("There is nothing to pause."))
            }
            Stage::Concluded(_) => Err(self.not_now("This discussion has concluded.")),
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
            Stage::Active(_) => Err(self.not_now("This discussion is running.")),
            Stage::Draft => Err(self.not_now("This discussion has not been started; start it.")),
            Stage::Concluded(_) => Err(self.not_now("This discussion has concluded.")),
        }
    }

    /// Breaks off what is under way.
    pub(super) fn break_off(&self, at: Timestamp) -> Ruling<Event> {
        match &self.stage {
            Stage::Active(step) | Stage::Pausing(step) | Stage::Paused(step) => {
                Ok(vec![Event::Stopped { next: step.clone(), at }])
            }
            Stage::Draft => Err(self.not_now("This discussion has not been started.")),
            Stage::Stopped(_) => Err(self.not_now("This discussion is already stopped.")),
            Stage::Failed { .. } => {
                Err(self.not_now("This discussion has failed; nothing is running."))
            }
            Stage::Concluded(_) => Err(self.not_now("This discussion has concluded.")),
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

    /// What is under way is broken off, and the conclusion written, unless it is being
    /// written already.
    pub(super) fn conclude_in_time(&self, moment: &Moment) -> Ruling<Event> {
        let over = Event::TimeOver { at: moment.at };
        let stops = self.ledger.stops_when_spent();
        let writes = self.step().is_some_and(|step| step.what.is_synthesis());
        let stopped = self.break_off(moment.at).unwrap_or_default();
        // Whoever has all the time there is would be waited for past its end.
        if self.facilitator.is_person() && !stops {
            return Ok([over].into_iter().chain(stopped).collect());
        }
        if stops || writes || self.no_conclusion().is_some() {
            return Ok(vec![over]);
        }
        let asked = Event::ConcludeAsked { at: moment.at };
        let mut events = self.then(asked, |state| vec![state.begin_synthesis(Why::Budget, moment)]);
        events.insert(0, over);
        Ok(events)
    }

    /// Why a conclusion cannot be asked for now.
    pub(super) fn no_conclusion(&self) -> Option<&'static str> {
        match &self.stage {
            Stage::Draft => Some("Nothing has been said yet; start it first."),
            Stage::Active(step) if step.what.is_synthesis() => {
                Some("The conclusion is being written.")
            }
            Stage::Active(_)
            | Stage::Pausing(_)
            | Stage::Paused(_)
            | Stage::Stopped(_)
            | Stage::Failed { .. } => None,
            Stage::Concluded(_) => Some("This discussion has concluded."),
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
            Stage::Concluded(_) => return Some("This discussion has concluded."),
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
            .then_some("This discussion has the maximum number of interjections.")
    }
}
