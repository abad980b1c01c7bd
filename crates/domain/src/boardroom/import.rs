//! Taking over the record of a board that was held elsewhere. Whoever wrote the
//! record is not trusted: each event must follow from those before it.

use jiff::Timestamp;

use super::{
    Advisor, Command, Convene, Event, SeatId, Sitter, Stage, Standing, State, Synthesis,
    SynthesisStanding, Wait, apply, check,
};
use crate::ids::{ModelName, Nonce, SessionId};
use crate::limits;
use crate::reject::{Reject, Wrong};

/// The record as it is, but for the nonce, which its author knows and could have
/// put into a file; and whatever was running there does not run here.
pub fn import(
    from: Option<SessionId>,
    mut events: Vec<Event>,
    at: Timestamp,
    fresh: Nonce,
) -> Result<Vec<Event>, Reject> {
    let wrong = |field: String, problem| Reject::Invalid(vec![Wrong::new(field, problem)]);
    let Some(Event::Convened { nonce, .. }) = events.first_mut() else {
        let problem = "the first event of a board's record must be `convened`";
        return Err(wrong("events".into(), problem));
    };
    *nonce = fresh;
    let mut state: Option<State> = None;
    for (place, event) in events.iter().enumerate() {
        match &state {
            None => begins(event)?,
            Some(state) => follows(state, event)
                .map_err(|problem| wrong(format!("events[{place}]"), problem))?,
        }
        state = apply(state, event);
    }
    let running = |state: &State| !state.is_over();
    if state.as_ref().is_some_and(running) {
        state = apply(state, &Event::Stopped);
        events.push(Event::Stopped);
    }
    events.extend(state.iter().flat_map(unheard));
    events.push(Event::Imported { from, at });
    Ok(events)
}

fn begins(event: &Event) -> Result<(), Reject> {
    let Event::Convened { prompt, context, seats, synthesizers, quorum, ballot, nonce, at } = event
    else {
        return Ok(());
    };
    let convene = Convene {
        prompt: prompt.to_string(),
        context: context.to_vec(),
        seats: seats.clone(),
        synthesizers: synthesizers.clone(),
        quorum: *quorum,
        ballot: *ballot,
    };
    super::decide(None, Command::Convene(convene), *at, nonce.clone()).map(|_| ())
}

/// Whether a board in this state could have gone on with this event.
fn follows(state: &State, event: &Event) -> Result<(), &'static str> {
    let advisor =
        |seat: &SeatId, is: &dyn Fn(&Advisor) -> bool| state.advisor(*seat).is_some_and(is);
    let asked = |seat| advisor(seat, &|advisor| advisor.standing == Standing::Asked);
    let answering = matches!(state.stage, Stage::Answering(_));
    let writes_or_votes = matches!(state.stage, Stage::Synthesizing | Stage::Balloting);
    let synthesizing = |number: &u32| {
        state.stage == Stage::Synthesizing
            && state.syntheses.last().map(|s| s.number) == Some(*number)
    };
    match event {
        Event::Convened { .. } => Err("a board is convened once"),
        Event::AdvisorAnswered { answer, .. } if answer.text.trim().is_empty() => {
            Err("an answer is not empty")
        }
        Event::AdvisorAnswered { seat, .. }
        | Event::AdvisorFailed { seat, .. }
        | Event::AdvisorHalted { seat } => {
            ensure(answering && asked(seat), "this advisor was not being asked")
        }
        Event::AdvisorStopped { seat, .. } => {
            let unheard = advisor(seat, &|advisor| is_unheard(advisor));
            ensure(unheard, "this advisor had not been stopped")
        }
        Event::AdvisorRetried { seat, model } => {
            named(model.as_ref())?;
            let again =
                !writes_or_votes && state.has_room() && advisor(seat, &Advisor::can_be_asked_again);
            ensure(again, "this advisor could not be asked again")
        }
        Event::QuorumReached { .. } => ensure(
            matches!(state.stage, Stage::Answering(Wait::Quorum(_))),
            "there was no quorum to reach",
        ),
        Event::SynthesisBegan { number, model, basis, absent, .. } => {
            named(Some(model))?;
            let answered = state.answered();
            ensure(
                !basis.is_empty() && basis.iter().all(|seat| answered.contains(seat)),
                "a synthesis takes advisors that have answered",
            )?;
            let can_begin = !writes_or_votes
                && state.syntheses.len() < limits::SYNTHESES
                && *number as usize == state.syntheses.len() + 1
                && absent.iter().all(|absent| state.advisor(absent.seat).is_some());
            ensure(can_begin, "this synthesis could not begin")
        }
        Event::SynthesisFailed { number, next, .. } => {
            named(next.as_ref())?;
            ensure(synthesizing(number), "this synthesis was not being written")
        }
        Event::Synthesized { number, .. } => {
            ensure(synthesizing(number), "this synthesis was not being written")
        }
        Event::SynthesisStopped { number, .. } => ensure(
            state.synthesis(*number).is_some_and(is_undrafted),
            "this synthesis had not been stopped",
        ),
        Event::BallotBegan { number, points, voters, .. } => {
            state.could_begin_ballot(*number, points, voters)
        }
        Event::BallotSkipped { number, .. } => state.could_ballot(*number),
        Event::BallotCast { number, seat, votes, .. } => {
            state.could_vote(*number, *seat, Some(votes))
        }
        Event::BallotFailed { number, seat, .. } => state.could_vote(*number, *seat, None),
        Event::BallotStopped { number, seat, .. } => state.could_hand_paper_back(*number, *seat),
        Event::BallotResumed { number, voters, .. } => state.could_resume_ballot(*number, voters),
        Event::Stopped => ensure(answering || writes_or_votes, "nothing was running"),
        Event::Failed { .. } => ensure(
            answering && !state.is_awaited() && state.answered().is_empty(),
            "a board fails when nobody has answered",
        ),
        Event::Imported { .. } => Ok(()),
    }
}

fn ensure(is: bool, problem: &'static str) -> Result<(), &'static str> {
    if is { Ok(()) } else { Err(problem) }
}

fn named(model: Option<&ModelName>) -> Result<(), &'static str> {
    match model.map(|model| check::model_field(Some(model))) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(_)) => Err("a model is named provider/model"),
    }
}

/// Calls that ran elsewhere hand nothing back here: their text is empty.
fn unheard(state: &State) -> Vec<Event> {
    let advisors = state.advisors.iter().filter(|advisor| is_unheard(advisor));
    let advisors = advisors
        .map(|advisor| Event::AdvisorStopped { seat: advisor.seat.id, partial: String::new() });
    let syntheses = state.syntheses.iter().filter(|synthesis| is_undrafted(synthesis));
    let syntheses = syntheses.map(|synthesis| Event::SynthesisStopped {
        number: synthesis.number,
        partial: String::new(),
    });
    advisors.chain(syntheses).chain(state.unheard_papers()).collect()
}

fn is_unheard(advisor: &Advisor) -> bool {
    matches!(advisor.seat.sitter, Sitter::Model(_))
        && matches!(advisor.standing, Standing::Stopped { partial: None, .. })
}

fn is_undrafted(synthesis: &Synthesis) -> bool {
    matches!(synthesis.standing, SynthesisStanding::Stopped { partial: None })
}
