//! Boardrooms: convene, synthesize, retry, answer, vote.

mod seating;

pub(crate) use seating::role;

use std::borrow::Cow;
use std::sync::Arc;

use plenary_domain::boardroom::{
    self, Brief, Choice, Command, Role, SeatId, Sitter, Standing, State, Vote,
};
use plenary_domain::discussion::Estimate;
use plenary_domain::{ModelName, Reject, Report, Room, SessionId, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::TierName;
use crate::attachments::{self, NewContext};
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

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBoardroom {
    /// The question.
    #[schema(min_length = 1, max_length = 65536)]
    pub prompt: String,
    /// A saved or built-in board, by name; `classic-triad` if neither this, `boardFile` nor
    /// `advisors` is given. Other fields override the board's.
    #[schema(min_length = 1)]
    pub board: Option<String>,
    /// A board as the text of its file, TOML or JSON, in place of a saved one.
    #[schema(min_length = 1)]
    pub board_file: Option<String>,
    /// The advisors, in place of a board.
    #[schema(min_items = 1, max_items = 16)]
    pub advisors: Option<Vec<NewAdvisor>>,
    /// Models to seat round-robin where none is named; those available, if there is none.
    pub models: Option<Vec<String>>,
    /// Who writes the verdict: a model, or `@name` for a saved agent.
    pub synthesizer: Option<String>,
    /// An extra instruction for the verdict; the board's own by default, an empty one for none.
    #[schema(max_length = 8192)]
    pub synthesis_prompt: Option<String>,
    /// How freely models choose their words, where a seat does not say. Some models take no
    /// such setting, and are asked without it.
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Tokens of one answer, where a seat does not say.
    #[schema(minimum = 16, maximum = 65536)]
    pub output_tokens: Option<u32>,
    /// Answers to ask each model for at once, unless a seat says otherwise; 1 by default. The
    /// verdict uses all of them, unless one is picked.
    #[schema(minimum = 1, maximum = 8)]
    pub tries: Option<u32>,
    /// The language to answer in; by default the question's.
    #[schema(min_length = 1, max_length = 60)]
    pub language: Option<String>,
    pub quorum: Option<NewQuorum>,
    /// The advisors vote on each point of the verdict; off by default.
    pub ballot: Option<bool>,
    /// People see the other answers before they give their own; off by default.
    pub open_answers: Option<bool>,
    /// Files that belong to the question.
    #[schema(max_items = 16)]
    pub context: Option<Vec<NewContext>>,
    pub budget: Option<NewBudget>,
    /// What else is wanted of the answers, by whoever is no person with a form.
    #[serde(skip)]
    #[schema(ignore)]
    pub brief: Brief,
}

#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAdvisor {
    /// `advocate`, `critic`, `analyst`, `devils-advocate`, `expert` or `generalist`, or the
    /// name of a role of your own.
    #[schema(min_length = 1, max_length = 40)]
    pub role: String,
    /// Of a role of your own: two letters that no other role on the board has.
    pub initials: Option<String>,
    /// Of a role of your own.
    #[schema(pattern = "^#[0-9A-Fa-f]{6}$")]
    pub colour: Option<String>,
    /// Of a role of your own: one sign.
    pub glyph: Option<String>,
    /// `provider/model`, or a bare name that one provider has.
    pub model: Option<String>,
    /// How able its model should be, in place of a model.
    pub tier: Option<TierName>,
    /// A stored agent, by id or name: its persona and limits apply, and its model, where
    /// none is given here.
    #[schema(min_length = 1)]
    pub agent: Option<String>,
    /// A person's name, in place of a model.
    pub person: Option<String>,
    /// How long the person has; without it the board waits.
    #[schema(minimum = 1)]
    pub reply_within_seconds: Option<u32>,
    /// In place of the role's own; an empty one means the role's own.
    #[serde(alias = "customPrompt", alias = "prompt")]
    #[schema(max_length = 8192)]
    pub system_prompt: Option<String>,
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Tokens of one answer.
    #[schema(minimum = 16, maximum = 65536)]
    pub output_tokens: Option<u32>,
    /// Answers that it is asked for at once.
    #[schema(minimum = 1, maximum = 8)]
    pub tries: Option<u32>,
    pub budget: Option<NewAllowance>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPick {
    /// Which of its answers to the last question, by the number of its try.
    #[schema(minimum = 1)]
    pub r#try: u32,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
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
    /// The seats to ask, by number, in place of names; all by default.
    #[schema(max_items = 16)]
    pub advisors: Option<Vec<u8>>,
    /// Files that belong to the question.
    #[schema(max_items = 16)]
    pub context: Option<Vec<NewContext>>,
    /// What else is wanted of the answers, by whoever is no person with a form.
    #[serde(skip)]
    #[schema(ignore)]
    pub brief: Brief,
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

/// Takes one of an advisor's answers, and none of its others, from now on.
pub async fn pick(clerk: &Clerk, (id, seat): (SessionId, SeatId), by: By, new: NewPick) -> Result {
    submit(clerk, id, by, Command::Pick { seat, asked: new.r#try }).await
}

/// Puts a further question to a board at rest.
pub async fn follow_up(clerk: &Clerk, id: SessionId, by: By, new: NewFollowUp) -> Result {
    let seats = new.advisors.unwrap_or_default().into_iter().map(SeatId).collect();
    let mut brief = new.brief;
    let (mut wrong, mut files) = (vec![], attachments::Files::default());
    attachments::read(clerk, &mut wrong, &mut files, new.context.unwrap_or_default()).await;
    if !wrong.is_empty() {
        return Err(Reject::Invalid(wrong).into());
    }
    brief.files.extend(files.texts);
    brief.images.extend(files.images);
    submit(clerk, id, by, Command::FollowUp { prompt: new.prompt, seats, brief }).await
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
    the_one(state, &state.awaited_voters(), "This board is not waiting for votes.")
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
    the_one(state, &waiting, "This board is not waiting for a reply.")
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
            let problem = format!("say which seat: {}", seats.join(", "));
            Err(ClerkError::wrong("advisor", problem))
        }
    }
}
