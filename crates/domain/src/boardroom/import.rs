//! Taking over the record of a board that was held elsewhere. Whoever wrote the
//! record is not trusted: each event must follow from those before it.

use super::ballot::{points, read::read};
use super::{
    Advisor, Convene, Event, Point, SeatId, Sitter, Stage, Standing, State, Synthesis, Wait, check,
};
use crate::call::Usage;
use crate::form::{Form, Moment, Report, Ruling};
use crate::ids::{ModelName, SessionId};
use crate::limits;
use crate::prices::Noted;
use crate::reject::{Reject, Wrong, settled, size};

/// The record as it is, but for the nonce, which its author knows and could have
/// put into a file; and whatever was running there does not run here.
pub fn import(from: Option<SessionId>, mut events: Vec<Event>, moment: &Moment) -> Ruling<Event> {
    let refused = |field: &str, problem| Reject::Invalid(vec![Wrong::new(field, problem)]);
    if events.len() > limits::IMPORT_EVENTS {
        let most = limits::IMPORT_EVENTS;
        return Err(refused("events", format!("at most {most} can be imported")));
    }
    let Some(Event::Convened { nonce, .. }) = events.first_mut() else {
        let problem = "the first event of a board's record must be `convened`";
        return Err(refused("events", problem.to_owned()));
    };
    *nonce = moment.nonce.clone();
    let mut state: Option<State> = None;
    let mut wrong = vec![];
    for (place, event) in events.iter().enumerate() {
        let field = format!("events[{place}]");
        limits_hold(&mut wrong, &format!("{field}.event"), event);
        let follows = match &state {
            None => begins(event)?,
            Some(state) => follows(state, event).and_then(|()| agrees(state, event)),
        };
        if let Err(problem) = follows {
            // What comes after was to follow from this.
            wrong.push(Wrong::new(field, problem));
            break;
        }
        state = State::apply(state, event, moment.at);
    }
    settled(wrong)?;
    let running = |state: &State| !state.is_over();
    if state.as_ref().is_some_and(running) {
        state = State::apply(state, &Event::Stopped, moment.at);
        events.push(Event::Stopped);
    }
    events.extend(state.iter().flat_map(unheard));
    events.push(Event::Imported { from, at: moment.at });
    Ok(events)
}

fn begins(event: &Event) -> Result<Result<(), &'static str>, Reject> {
    let Event::Convened {
        prompt,
        context,
        seats,
        synthesizers,
        quorum,
        ballot,
        open_answers,
        terms,
        brief,
        nonce: _,
        at,
    } = event
    else {
        return Ok(Ok(()));
    };
    let convene = Convene {
        prompt: prompt.to_string(),
        context: context.to_vec(),
        seats: seats.clone(),
        synthesizers: synthesizers.clone(),
        quorum: *quorum,
        ballot: *ballot,
        prices: Noted::default(),
        budget: None,
        open_answers: *open_answers,
        terms: terms.clone(),
        brief: (**brief).clone(),
    };
    match check::board(&convene, *at) {
        Ok(()) => Ok(Ok(())),
        Err(Reject::Invalid(wrong)) => {
            Err(Reject::Invalid(wrong.into_iter().map(placed).collect()))
        }
        Err(other) => Err(other),
    }
}

/// A wrong field of a board that is convened, by its place in the record.
fn placed(wrong: Wrong) -> Wrong {
    let field = match wrong.field.as_str() {
        "synthesizer" => "synthesizers".to_owned(),
        other => other.replacen("advisors", "seats", 1),
    };
    Wrong::new(format!("events[0].event.{field}"), wrong.problem)
}

/// No text of a record is longer than one that is made here.
fn limits_hold(wrong: &mut Vec<Wrong>, field: &str, event: &Event) {
    let mut check =
        |name: &str, text: &str, most| size(wrong, &format!("{field}.{name}"), text, most);
    match event {
        // Held to its limits where a board is convened.
        Event::Convened { .. } => {}
        Event::AdvisorAnswered { answer, .. }
        | Event::Synthesized { answer, .. }
        | Event::BallotCast { answer: Some(answer), .. } => {
            check("answer.text", &answer.text, limits::ANSWER_BYTES);
            check("answer.reasoning", &answer.reasoning, limits::THINKING_BYTES);
        }
        Event::AdvisorFailed { failure, partial, .. }
        | Event::SynthesisFailed { failure, partial, .. }
        | Event::BallotFailed { failure, partial, .. } => {
            check("failure.message", &failure.message, limits::FAILURE_BYTES);
            check("partial", partial, limits::ANSWER_BYTES);
        }
        Event::AdvisorStopped { partial, .. }
        | Event::Overtaken { partial, .. }
        | Event::SynthesisStopped { partial, .. }
        | Event::BallotStopped { partial, .. } => check("partial", partial, limits::ANSWER_BYTES),
        Event::SynthesisBegan { instruction, absent, .. } => {
            let instruction = instruction.as_deref().unwrap_or_default();
            check("instruction", instruction, limits::INSTRUCTION_BYTES);
            for (place, absent) in absent.iter().enumerate().take(limits::ADVISORS) {
                check(&format!("absent[{place}].why"), &absent.why, limits::FAILURE_BYTES);
            }
        }
        // The rest is held to its limits where it could be put.
        Event::FollowedUp { prompt, .. } => check("prompt", prompt, limits::PROMPT_BYTES),
        Event::Threaded { key } => check("key", key, limits::THREAD_KEY_BYTES),
        Event::BallotSkipped { reason, .. } | Event::Failed { reason } => {
            check("reason", reason, limits::FAILURE_BYTES);
        }
        Event::BallotCast { answer: None, .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::AdvisorHalted { .. }
        | Event::AdvisorRetried { .. }
        | Event::AdvisorPicked { .. }
        | Event::QuorumReached { .. }
        | Event::BallotBegan { .. }
        | Event::BallotHalted { .. }
        | Event::BallotResumed { .. }
        | Event::Stopped
        | Event::Imported { .. } => {}
    }
}

/// Whether what was made of an answer is what the answer says, and who gave it could.
fn agrees(state: &State, event: &Event) -> Result<(), &'static str> {
    let is_person = |seat: &SeatId| {
        let sitter = state.advisor(*seat).map(|advisor| &advisor.seat.sitter);
        matches!(sitter, Some(Sitter::Person { .. }))
    };
    match event {
        Event::AdvisorAnswered { seat, answer, .. } => ensure(
            !is_person(seat) || answer.text.len() <= limits::REPLY_BYTES,
            "a person's reply is too long",
        ),
        Event::Synthesized { number, verdict, answer } => {
            let round = state.synthesis(*number).map_or(1, |synthesis| synthesis.round);
            let says = state.brief(round).read(answer);
            ensure(says.as_ref() == Ok(verdict), "the verdict does not match its answer")
        }
        Event::BallotBegan { number, points, left_out, .. } => ensure(
            state.points_of(*number) == (points.clone(), *left_out),
            "the points are not those of the verdict",
        ),
        Event::BallotSkipped { number, .. } => ensure(
            state.points_of(*number).0.is_empty(),
            "the verdict has points that could be voted on",
        ),
        Event::BallotCast { seat, answer: None, .. } => {
            ensure(is_person(seat), "the votes of a model must come with its answer")
        }
        Event::BallotCast { number, seat, votes, answer: Some(answer) } => {
            let held = state.synthesis(*number).and_then(Synthesis::held);
            let points = held.map(|held| held.points.as_slice()).unwrap_or_default();
            let says = read(&answer.text, points);
            ensure(
                !is_person(seat) && says.as_ref() == Ok(votes),
                "the votes do not match their answer",
            )
        }
        Event::SynthesisBegan { basis, contributions, absent, .. } => {
            let heard = *basis == state.answered() && *contributions == state.heard_otherwise();
            let seats: Vec<SeatId> = absent.iter().map(|absent| absent.seat).collect();
            let missing: Vec<SeatId> = state.absent().iter().map(|absent| absent.seat).collect();
            ensure(heard && seats == missing, "a verdict must name everyone as heard or as absent")
        }
        Event::SynthesisFailed { number, next: Some(_), .. } => {
            let tries = state.synthesis(*number).map_or(0, |synthesis| synthesis.tries);
            ensure(tries < limits::SYNTHESIS_TRIES, "this verdict was tried too often")
        }
        Event::QuorumReached { .. } => {
            let need = state.quorum.map_or(0, |quorum| quorum.need);
            ensure(state.answered().len() >= need, "the quorum had not been reached")
        }
        Event::Convened { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::AdvisorFailed { .. }
        | Event::AdvisorHalted { .. }
        | Event::AdvisorStopped { .. }
        | Event::Overtaken { .. }
        | Event::AdvisorRetried { .. }
        | Event::AdvisorPicked { .. }
        | Event::FollowedUp { .. }
        | Event::Threaded { .. }
        | Event::SynthesisFailed { next: None, .. }
        | Event::SynthesisStopped { .. }
        | Event::BallotFailed { .. }
        | Event::BallotHalted { .. }
        | Event::BallotStopped { .. }
        | Event::BallotResumed { .. }
        | Event::Stopped
        | Event::Failed { .. }
        | Event::Imported { .. } => Ok(()),
    }
}

impl State {
    /// What a ballot on this synthesis is about, and how many points it leaves out.
    fn points_of(&self, number: u32) -> (Vec<Point>, u32) {
        let written = self.synthesis(number).and_then(|synthesis| synthesis.standing.done());
        written.map(|written| points::read(&written.verdict)).unwrap_or_default()
    }
}

/// Whether a board in this state could have gone on with this event.
fn follows(state: &State, event: &Event) -> Result<(), &'static str> {
    let advisor =
        |seat: &SeatId, is: &dyn Fn(&Advisor) -> bool| state.advisor(*seat).is_some_and(is);
    let asked = |seat| advisor(seat, &Advisor::is_asked);
    // One of the answers that were asked for at once; the last, where it is not said.
    let one = |seat: &SeatId, asked: &Option<u32>, is: fn(&Standing) -> bool| {
        let known = state.advisor(*seat);
        let wanted = known.map(|known| asked.unwrap_or(known.asked));
        let mut current = known.into_iter().flat_map(Advisor::current);
        // The last one is never named.
        let is_named = known.is_some_and(|known| *asked != Some(known.asked));
        is_named && current.any(|(id, standing)| Some(id.asked) == wanted && is(standing))
    };
    let answering = matches!(state.stage, Stage::Answering(_));
    let writes_or_votes = matches!(state.stage, Stage::Synthesizing | Stage::Balloting);
    let synthesizing = |number: &u32| {
        state.stage == Stage::Synthesizing
            && state.syntheses.last().map(|s| s.number) == Some(*number)
    };
    match event {
        Event::Convened { .. } => Err("a board can be convened only once"),
        Event::Priced(prices) => {
            prices.check()?;
            let new = state.ledger.unnoted(prices.clone());
            ensure(new.as_ref() == Some(prices), "these prices had already been recorded")
        }
        Event::Budgeted(budget) => {
            ensure(budget.checked().is_ok(), "a budget has tokens, money or time within limits")
        }
        Event::TimeOver { .. } => {
            let limited = state.ledger.budget().is_some_and(|budget| budget.most.time_ms.is_some());
            ensure(limited && !state.ledger.is_time_over(), "there was no time limit")
        }
        Event::AdvisorAnswered { answer, .. } | Event::Synthesized { answer, .. }
            if answer.text.trim().is_empty() =>
        {
            Err("an answer must not be empty")
        }
        Event::AdvisorAnswered { seat, asked, .. } | Event::AdvisorFailed { seat, asked, .. } => {
            let asked = one(seat, asked, Standing::is_asked);
            ensure(answering && asked, "this advisor was not being asked")
        }
        Event::AdvisorHalted { seat } => {
            ensure(answering && asked(seat), "this advisor was not being asked")
        }
        Event::AdvisorStopped { seat, asked, .. } => {
            let unheard = one(seat, asked, Standing::is_unheard);
            ensure(unheard, "this advisor had not been stopped")
        }
        Event::AdvisorPicked { seat, asked } => {
            let known = state.advisor(*seat);
            let could = known.is_some_and(|known| state.could_pick(known, *asked).is_ok());
            ensure(!writes_or_votes && could, "this answer could not be picked")
        }
        Event::Overtaken { call, .. } => {
            ensure(state.overtaken.contains_key(call), "nothing could be repeated before it ended")
        }
        Event::AdvisorRetried { seat, model } => {
            named(model.as_ref())?;
            let can_be = |advisor: &Advisor| advisor.can_be_asked_again(state.round());
            let again = !writes_or_votes && state.has_room() && advisor(seat, &can_be);
            ensure(again, "this advisor could not be asked again")
        }
        Event::FollowedUp { round, prompt, asked, brief, .. } => {
            let mut wrong = vec![];
            brief.check(&mut wrong);
            ensure(wrong.is_empty(), "what was wanted of the answers is not within limits")?;
            state.could_follow_up(*round, prompt, asked)
        }
        Event::Threaded { .. } => {
            ensure(state.cannot_follow_up().is_none(), "the board had not finished its question")
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
                "a verdict must be made from advisors that have answered",
            )?;
            let can_begin = !writes_or_votes
                && state.syntheses.len() < limits::SYNTHESES
                && *number as usize == state.syntheses.len() + 1
                && absent.iter().all(|absent| state.advisor(absent.seat).is_some());
            ensure(can_begin, "this verdict could not have been started")
        }
        Event::SynthesisFailed { number, next, .. } => {
            named(next.as_ref())?;
            ensure(synthesizing(number), "this verdict was not being written")
        }
        Event::Synthesized { number, .. } => {
            ensure(synthesizing(number), "this verdict was not being written")
        }
        Event::SynthesisStopped { number, .. } => ensure(
            state.synthesis(*number).is_some_and(|synthesis| synthesis.standing.is_unheard()),
            "this verdict had not been stopped",
        ),
        Event::BallotBegan { number, points, voters, .. } => {
            state.could_begin_ballot(*number, points, voters)
        }
        Event::BallotSkipped { number, .. } => state.could_ballot(*number),
        Event::BallotCast { number, seat, votes, .. } => {
            state.could_vote(*number, *seat, Some(votes))
        }
        Event::BallotFailed { number, seat, .. } | Event::BallotHalted { number, seat } => {
            state.could_vote(*number, *seat, None)
        }
        Event::BallotStopped { number, seat, .. } => state.could_hand_paper_back(*number, *seat),
        Event::BallotResumed { number, voters, .. } => state.could_resume_ballot(*number, voters),
        Event::Stopped => ensure(answering || writes_or_votes, "nothing was running"),
        Event::Failed { .. } => ensure(
            answering && !state.is_awaited() && state.answered().is_empty(),
            "a board can fail only if no one has answered",
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
        Some(Err(_)) => Err("a model must be named provider/model"),
    }
}

/// Calls that ran elsewhere hand nothing back here: their text is empty.
fn unheard(state: &State) -> Vec<Event> {
    let current = state.advisors.iter().flat_map(|advisor| {
        let last = advisor.contribution();
        advisor.current().map(move |(id, standing)| (id, last, standing))
    });
    let advisors = current.filter(|(_, _, standing)| standing.is_unheard()).map(|(id, last, _)| {
        Event::AdvisorStopped {
            seat: id.seat,
            asked: Some(id.asked).filter(|_| id != last),
            partial: String::new(),
            usage: Usage::default(),
        }
    });
    let syntheses = state.syntheses.iter().filter(|synthesis| synthesis.standing.is_unheard());
    let syntheses = syntheses.map(|synthesis| Event::SynthesisStopped {
        number: synthesis.number,
        partial: String::new(),
        usage: Usage::default(),
    });
    advisors.chain(syntheses).chain(state.unheard_papers()).collect()
}
