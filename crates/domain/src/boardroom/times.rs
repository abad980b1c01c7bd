//! When each advisor was asked and each synthesis begun, and when they ended: read from
//! the times at which the events were written.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{Event, SeatId};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    pub started_at: Timestamp,
    /// `None` while it is under way.
    pub ended_at: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// The last time that each was asked.
    pub advisors: BTreeMap<SeatId, Span>,
    pub syntheses: BTreeMap<u32, Span>,
}

impl Times {
    /// Takes in the events of a board one after the other.
    pub fn take(&mut self, event: &Event, at: Timestamp) {
        let begun = Span { started_at: at, ended_at: None };
        match event {
            Event::Convened { seats, .. } => {
                self.advisors.extend(seats.iter().map(|seat| (seat.id, begun)));
            }
            Event::AdvisorRetried { seat, .. } => drop(self.advisors.insert(*seat, begun)),
            Event::AdvisorAnswered { seat, .. }
            | Event::AdvisorFailed { seat, .. }
            | Event::AdvisorHalted { seat } => end(self.advisors.get_mut(seat), at),
            Event::SynthesisBegan { number, .. } => {
                end(self.advisors.values_mut(), at);
                self.syntheses.insert(*number, begun);
            }
            Event::SynthesisFailed { number, next: None, .. }
            | Event::Synthesized { number, .. } => end(self.syntheses.get_mut(number), at),
            Event::Stopped => {
                end(self.advisors.values_mut(), at);
                end(self.syntheses.values_mut(), at);
            }
            // What a stopped one had said comes after its end.
            Event::AdvisorStopped { .. } | Event::SynthesisStopped { .. } => {}
            Event::SynthesisFailed { next: Some(_), .. }
            | Event::QuorumReached { .. }
            | Event::Failed { .. }
            | Event::BallotBegan { .. }
            | Event::BallotSkipped { .. }
            | Event::BallotCast { .. }
            | Event::BallotFailed { .. }
            | Event::BallotStopped { .. }
            | Event::BallotResumed { .. } => {}
            // A record that is taken over has the time of that, not its own.
            Event::Imported { .. } => *self = Times::default(),
        }
    }
}

fn end<'a>(spans: impl IntoIterator<Item = &'a mut Span>, at: Timestamp) {
    for span in spans {
        span.ended_at.get_or_insert(at);
    }
}
