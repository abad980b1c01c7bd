//! Boardrooms: convene, synthesize, retry, answer, vote.

mod seating;

use std::borrow::Cow;
use std::sync::Arc;

use plenary_domain::boardroom::{
    self, Choice, Command, Role, SeatId, Sitter, Standing, State, Vote,
};
use plenary_domain::discussion::Estimate;
use plenary_domain::{ModelName, Reject, Report, Room, SessionId, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::budgets::{NewAllowance, NewBudget};
use crate::discussions::usual;
use crate::identity::{Caller, Proven};
use crate::{Clerk, ClerkError, Result, mirror, models};

pub const KIND: &str = "boardroom";

mirror! {
    #[serde(rename_all = "kebab-case")]
    RoleName = Role { Advocate, Critic, Analyst, DevilsAdvocate, Expert, Generalist }
    #[serde(rename_all = "camelCase")]
    BallotChoice = Choice { Accept, Reject, Defer }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBoardroom {
    /// The question.
    #[schema(min_length = 1, max_length = 65536)]
    pub prompt: String,
    /// A preset board; `classic-triad` when neither this nor `advisors` is given.
    pub board: Option<BoardName>,
    /// The advisors, in place of a preset board.
    #[schema(min_items = 1, max_items = 16)]
    pub advisors: Option<Vec<NewAdvisor>>,
    /// Models to seat round-robin where none is named; those available, if there is none.
    pub models: Option<Vec<String>>,
    /// Who writes the synthesis.
    pub synthesizer: Option<String>,
    pub quorum: Option<NewQuorum>,
    /// The advisors vote on each point of the synthesis; off when absent.
    pub ballot: Option<bool>,
    /// People see what the others say before they have answered themselves; off when absent.
    pub open_answers: Option<bool>,
    /// Files that belong to the question.
    #[schema(max_items = 16)]
    pub context: Option<Vec<NewContext>>,
    pub budget: Option<NewBudget>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BoardName {
    ClassicTriad,
    DevilsCourt,
    FullBoard,
    PeerReview,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAdvisor {
    // As people write it: `Devil's advocate` will do.
    #[serde(deserialize_with = "role")]
    pub role: RoleName,
    /// `provider/model`, or a bare name that one provider has.
    pub model: Option<String>,
    /// A person's name, in place of a model.
    pub person: Option<String>,
    /// How long the person has; without it the board waits.
    #[schema(minimum = 1)]
    pub reply_within_seconds: Option<u32>,
    /// In place of the role's own; an empty one means the role's own.
    #[serde(alias = "customPrompt")]
    #[schema(max_length = 8192)]
    pub system_prompt: Option<String>,
    pub budget: Option<NewAllowance>,
}

fn role<'de, D: Deserializer<'de>>(from: D) -> Result<RoleName, D::Error> {
    let written = String::deserialize(from)?;
    let role = Role::parse(&written).map(RoleName::from);
    role.ok_or_else(|| D::Error::unknown_variant(&written, &Role::IDS))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewQuorum {
    /// How many answers suffice.
    #[schema(minimum = 1, maximum = 16)]
    pub need: usize,
    /// How long the others still have; 20 when absent.
    #[schema(minimum = 0, maximum = 3600)]
    pub grace_seconds: Option<f64>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContext {
    pub name: String,
    pub text: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSynthesis {
    /// Another model than the board's synthesizer.
    #[schema(min_length = 1)]
    pub model: Option<String>,
    /// What the reader asks of it: "for a board of directors", "in French".
    #[schema(max_length = 8192)]
    pub instruction: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Retry {
    /// Another model for this seat.
    #[schema(min_length = 1)]
    pub model: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewFollowUp {
    /// The next question. Where it begins with names (`@critic …`), only they are asked.
    #[schema(min_length = 1, max_length = 65536)]
    pub prompt: String,
    /// The seats that are asked, by their numbers, in place of names; all when absent.
    #[schema(max_items = 16)]
    pub advisors: Option<Vec<u8>>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Answer {
    /// The seat's number; needed when persons hold several.
    #[schema(minimum = 1, maximum = 16)]
    pub advisor: Option<u8>,
    #[schema(min_length = 1, max_length = 65536)]
    pub text: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBallot {
    /// The seat's number; needed when the votes of several persons are awaited.
    #[schema(minimum = 1, maximum = 16)]
    pub advisor: Option<u8>,
    /// At most one on each point; a point without one is not voted on.
    #[schema(min_items = 1, max_items = 12)]
    pub votes: Vec<NewBallotVote>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBallotVote {
    /// The point's number.
    #[schema(minimum = 1, maximum = 12)]
    pub point: u32,
    pub vote: BallotChoice,
    /// A sentence that says why.
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// Convenes a board.
pub async fn convene(clerk: &Clerk, id: Option<SessionId>, by: By, new: NewBoardroom) -> Result {
    if let Some(earlier) = clerk.opened(id, &by).await? {
        return Ok(earlier);
    }
    let convene = seating::seat(clerk, new).await?;
    clerk.open(id, by, room::Command::Boardroom(Command::Convene(convene))).await
}

/// What a board would take that is yet to be convened.
pub async fn estimate(clerk: &Clerk, new: NewBoardroom) -> Result<Estimate> {
    let convene = seating::seat(clerk, new).await?;
    let (at, latencies) = (clerk.engine.clock().now(), clerk.engine.latencies().await);
    let measured = |model: &ModelName| usual(&latencies, model);
    let estimate = boardroom::foresee(&convene, at, measured, |model| clerk.price(model))?;
    Ok(estimate.priced_by(&convene.prices))
}

/// Asks again whoever has no answer.
pub async fn resume(clerk: &Clerk, id: SessionId, by: By) -> Result {
    // One that was cut off by a crash has nothing to decide, only to go on with.
    if clerk.row(id, KIND).await?.active {
        clerk.engine.resume(id).await?;
        return Ok(clerk.engine.get(id).await?);
    }
    submit(clerk, id, by, Command::Resume).await
}

/// Begins the synthesis now.
pub async fn synthesize(clerk: &Clerk, id: SessionId, by: By, new: NewSynthesis) -> Result {
    let (model, instruction) = (models::named(clerk, new.model).await?, new.instruction);
    let prices = clerk.noted(&model);
    submit(clerk, id, by, Command::Synthesize { model, instruction, prices }).await
}

/// Adds a synthesis to a board at rest.
pub async fn resynthesize(clerk: &Clerk, id: SessionId, by: By, new: NewSynthesis) -> Result {
    let (model, instruction) = (models::named(clerk, new.model).await?, new.instruction);
    let prices = clerk.noted(&model);
    submit(clerk, id, by, Command::Resynthesize { model, instruction, prices }).await
}

/// Asks one advisor again.
pub async fn retry(clerk: &Clerk, (id, seat): (SessionId, SeatId), by: By, new: Retry) -> Result {
    let model = models::named(clerk, new.model).await?;
    let prices = clerk.noted(&model);
    submit(clerk, id, by, Command::Retry { seat, model, prices }).await
}

/// Puts a further question to a board at rest.
pub async fn follow_up(clerk: &Clerk, id: SessionId, by: By, new: NewFollowUp) -> Result {
    let seats = new.advisors.unwrap_or_default().into_iter().map(SeatId).collect();
    submit(clerk, id, by, Command::FollowUp { prompt: new.prompt, seats }).await
}

/// A person's own answer as an advisor.
pub async fn answer(clerk: &Clerk, caller: Caller, new: Answer) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&caller.by).await? {
        return Ok(earlier);
    }
    let seat = speaking(clerk, &caller, new.advisor, persons_seat).await?;
    submit(clerk, caller.session, caller.by, Command::Reply { seat, text: new.text }).await
}

/// A person's own votes as an advisor.
pub async fn cast(clerk: &Clerk, caller: Caller, new: NewBallot) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&caller.by).await? {
        return Ok(earlier);
    }
    let seat = speaking(clerk, &caller, new.advisor, voters_seat).await?;
    let vote = |new: NewBallotVote| Vote {
        point: new.point,
        vote: new.vote.into(),
        reason: new.reason.unwrap_or_default(),
    };
    let votes = new.votes.into_iter().map(vote).collect();
    submit(clerk, caller.session, caller.by, Command::CastBallot { seat, votes }).await
}

/// What needs nothing to be found out.
pub async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Boardroom(command)).await?)
}

/// A session as it is seen from a seat of a board: from the one whose token was shown, or
/// else from the one that was named. Whoever shows and names none sees all.
pub fn seen(snapshot: Snapshot, proven: &Proven, named: Option<u8>) -> Result<Snapshot> {
    let Some(seat) = looking(proven, named)? else { return Ok(snapshot) };
    let Some(state) = snapshot.room.boardroom() else { return Ok(snapshot) };
    let room = match state.seen_from(seat) {
        Cow::Borrowed(_) => return Ok(snapshot),
        Cow::Owned(seen) => Arc::new(Room::Boardroom(seen)),
    };
    Ok(Snapshot { room, ..snapshot })
}

/// The seat from which somebody looks.
pub fn looking(proven: &Proven, named: Option<u8>) -> Result<Option<SeatId>> {
    match proven {
        Proven::Seat(own) => Ok(Some(numbered(&own.id))),
        Proven::Nothing | Proven::Agent(_) | Proven::Opener => Ok(named.map(SeatId)),
        Proven::Stranger => Err(ClerkError::WrongToken),
    }
}

/// A session of another form is no board.
pub fn board(snapshot: &Snapshot) -> Result<&State> {
    let board = snapshot.room.boardroom();
    board.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}

/// A seat by its number. One that no seat can have is one that no seat has.
pub fn numbered(text: &str) -> SeatId {
    SeatId(text.parse().unwrap_or(0))
}

/// The seat for which somebody speaks: the one that was named, or their own, or else the
/// one that is awaited.
async fn speaking(
    clerk: &Clerk,
    caller: &Caller,
    named: Option<u8>,
    awaited: fn(&State) -> Result<SeatId>,
) -> Result<SeatId> {
    let snapshot = clerk.engine.get(caller.session).await?;
    let state = board(&snapshot)?;
    let own = caller.seat(&snapshot)?;
    match (own, named) {
        (Some(own), Some(named)) if own.id != named.to_string() => {
            Err(ClerkError::OtherSeat(format!("advisor {}, {}", own.id, own.name)))
        }
        (Some(own), _) => Ok(numbered(&own.id)),
        (None, Some(named)) => Ok(SeatId(named)),
        (None, None) => awaited(state),
    }
}

/// The one seat that waits for a person's votes.
fn voters_seat(state: &State) -> Result<SeatId> {
    the_one(state, &state.awaited_voters(), "No votes are awaited on this board.")
}

/// The one seat that waits for a person.
fn persons_seat(state: &State) -> Result<SeatId> {
    let waiting: Vec<SeatId> = state
        .advisors
        .iter()
        .filter(|advisor| matches!(advisor.seat.sitter, Sitter::Person { .. }))
        .filter(|advisor| advisor.standing == Standing::Asked)
        .map(|advisor| advisor.seat.id)
        .collect();
    the_one(state, &waiting, "No reply is awaited on this board.")
}

fn the_one(state: &State, waiting: &[SeatId], none: &str) -> Result<SeatId> {
    match waiting {
        [one] => Ok(*one),
        [] => Err(ClerkError::Refused(Reject::NotNow {
            state: state.status(),
            message: none.into(),
            allowed: state.allowed(),
        })),
        many => {
            let seats: Vec<String> = many.iter().map(|seat| seat.0.to_string()).collect();
            let problem = format!("say for which seat: {}", seats.join(", "));
            Err(ClerkError::wrong("advisor", problem))
        }
    }
}
