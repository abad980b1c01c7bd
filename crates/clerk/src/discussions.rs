//! Discussions: draft, estimate, start, take part.

mod seating;

use plenary_domain::discussion::{
    self, Choice, Command, Create, Edit, Estimate, Format, Measure, Participant, Role, Seat,
    SeatId, Start, State, Wanted,
};
use plenary_domain::{ModelName, Noted, Reject, SessionId, names, room};
use plenary_engine::{By, EngineError, Latencies, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crate::agents::DiscussionFormat as FormatName;
use crate::agents::TierName;
use crate::attachments::NewContext;
use crate::budgets::{NewAllowance, NewBudget};
use crate::identity::{self, Caller, PersonsSeat};
use crate::{Clerk, ClerkError, Result, mirror};

pub const KIND: &str = "discussion";

mirror! {
    #[serde(rename_all = "snake_case")]
    #[schema(as = DiscussionRole)]
    RoleName = Role { Participant, Observer, DevilAdvocate }
    #[serde(rename_all = "camelCase")]
    #[schema(as = Decision)]
    ChoiceName = Choice { Continue, Synthesize }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewDiscussion {
    /// For lists; taken from the topic by default.
    #[schema(max_length = 200)]
    pub name: Option<String>,
    /// What is discussed.
    #[schema(min_length = 1, max_length = 65536)]
    pub topic: String,
    /// `deliberation` when absent.
    pub format: Option<FormatName>,
    /// The saved agent that leads; by default one that suits the format.
    #[schema(min_length = 1, max_length = 120)]
    pub moderator_id: Option<String>,
    /// Who leads, in place of `moderatorId`.
    pub facilitator: Option<NewSeat>,
    /// Who takes part; by default three agents that suit the format.
    #[schema(min_items = 1, max_items = 16)]
    pub participants: Option<Vec<NewSeat>>,
    /// For every seat that names no model itself.
    #[schema(min_length = 1)]
    pub model: Option<String>,
    /// 5 by default. The facilitator may end earlier.
    #[schema(minimum = 1, maximum = 50)]
    pub max_rounds: Option<u32>,
    pub budget: Option<NewBudget>,
    /// The same as `tokens` of a budget.
    #[schema(minimum = 1000, maximum = 1_000_000_000_000_u64)]
    pub budget_tokens: Option<u64>,
    /// For lists: what it belongs to.
    #[schema(min_length = 1, max_length = 200)]
    pub project: Option<String>,
    /// Files that belong to the topic.
    #[schema(max_items = 16)]
    pub context: Option<Vec<NewContext>>,
    /// Starts at once; otherwise it is a draft.
    pub start: Option<bool>,
}

impl NewDiscussion {
    fn starts(&self) -> bool {
        self.start == Some(true)
    }
}

/// A stored agent, a model with a name, or a person.
#[derive(Deserialize, ToSchema, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewDiscussionSeat)]
pub struct NewSeat {
    /// A saved agent, by id or name.
    #[schema(min_length = 1, max_length = 120)]
    pub agent_id: Option<String>,
    /// A person's name, in place of an agent or a model.
    #[schema(min_length = 1, max_length = 120)]
    pub person: Option<String>,
    /// For a seat that is not a saved agent.
    #[schema(min_length = 1, max_length = 120)]
    pub name: Option<String>,
    /// For a seat that is not a saved agent.
    #[schema(max_length = 16384)]
    pub persona: Option<String>,
    /// `provider/model`, or a bare name that one provider has. It goes before the agent's own.
    #[schema(min_length = 1)]
    pub model: Option<String>,
    /// In place of a model.
    pub tier: Option<TierName>,
    /// How long a person has for a reply; without it the discussion waits.
    #[schema(minimum = 1)]
    pub reply_within_seconds: Option<u32>,
    /// `participant` when absent. A facilitator has none.
    pub role: Option<RoleName>,
    /// What it may spend in this discussion, in place of what its agent may.
    pub budget: Option<NewAllowance>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewModerator {
    /// A saved agent, by id or name.
    #[schema(min_length = 1, max_length = 120)]
    pub moderator_id: Option<String>,
    /// In place of `moderatorId`.
    pub facilitator: Option<NewSeat>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiscussionEdit {
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// In a draft it is what will be discussed; later it is put right for readers only.
    #[schema(min_length = 1, max_length = 65536)]
    pub topic: Option<String>,
    /// Like the topic.
    pub format: Option<FormatName>,
    /// Until the conclusion; not fewer than have begun.
    #[schema(minimum = 1, maximum = 50)]
    pub max_rounds: Option<u32>,
    /// The command that leads there: `active` starts or resumes, `paused` pauses and
    /// `concluded` concludes. Anything else is refused.
    pub status: Option<WantedStatus>,
    /// In place of the conclusion that there is. Who edited it is recorded.
    #[schema(min_length = 1, max_length = 65536)]
    pub conclusion: Option<String>,
}

#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WantedStatus {
    Active,
    Paused,
    Concluded,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Interjection {
    #[schema(min_length = 1, max_length = 16384)]
    pub text: String,
    /// Who says it; `Organizer` by default. The name of a person with a seat is reserved for them.
    #[schema(min_length = 1, max_length = 120)]
    pub by: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeatReply {
    #[schema(min_length = 1, max_length = 65536)]
    pub text: String,
    /// Whose seat; refused when it is someone else's turn.
    #[schema(min_length = 1, max_length = 120)]
    pub participant_id: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PersonsDecision {
    pub decision: ChoiceName,
    /// Who speaks next; needed to continue.
    #[schema(max_length = 120)]
    pub next_participant_id: Option<String>,
    /// What they are asked; needed to continue.
    #[schema(max_length = 4096)]
    pub question: Option<String>,
    #[schema(max_length = 8192)]
    pub reasoning: Option<String>,
}

/// Creates a discussion: a draft, or one that is under way.
pub async fn create(clerk: &Clerk, id: Option<SessionId>, by: By, new: NewDiscussion) -> Result {
    if let Some(earlier) = clerk.opened(id, &by).await? {
        return Ok(earlier);
    }
    let starts = new.starts();
    let mut create = seating::seat(clerk, new).await?;
    if starts {
        let estimate = foreseen(clerk, create.clone()).await.ok();
        let prices = noted(clerk, seats(&create.participants, &create.facilitator));
        create.start = Some(Start { estimate, prices });
    }
    clerk.open(id, by, room::Command::Discussion(Command::Create(Box::new(create)))).await
}

/// What a discussion would take that is yet to be created.
pub async fn estimate_new(clerk: &Clerk, new: NewDiscussion) -> Result<Estimate> {
    let starts = new.starts();
    let create = seating::seat(clerk, new).await?;
    let prices = noted(clerk, seats(&create.participants, &create.facilitator));
    let start = starts.then(|| Start { prices, ..Start::default() });
    Ok(foreseen(clerk, Create { start, ..create }).await?)
}

async fn foreseen(clerk: &Clerk, create: Create) -> Result<Estimate, Reject> {
    let (at, latencies) = (clerk.engine.clock().now(), clerk.engine.latencies().await);
    let measured = |model: &ModelName| usual(&latencies, model);
    let prices = noted(clerk, seats(&create.participants, &create.facilitator));
    let estimate = discussion::foresee(create, at, measured, |model| clerk.price(model))?;
    Ok(estimate.priced_by(&prices))
}

fn seats<'a>(
    participants: &'a [Participant],
    facilitator: &'a Seat,
) -> impl Iterator<Item = &'a Seat> {
    participants.iter().map(|participant| participant.seat.as_ref()).chain([facilitator])
}

/// What the models of these seats cost.
fn noted<'a>(clerk: &Clerk, seats: impl Iterator<Item = &'a Seat>) -> Noted {
    clerk.noted(seats.filter_map(Seat::model))
}

/// What is known when a draft starts.
async fn known(clerk: &Clerk, id: SessionId) -> Result<Start> {
    let estimate = Some(estimate(clerk, id).await?);
    let now = clerk.engine.get(id).await?;
    let draft = state(&now)?;
    let prices = noted(clerk, seats(&draft.participants, &draft.facilitator));
    Ok(Start { estimate, prices })
}

/// What a discussion may take from here on.
pub async fn estimate(clerk: &Clerk, id: SessionId) -> Result<Estimate> {
    let now = clerk.engine.get(id).await?;
    let latencies = clerk.engine.latencies().await;
    let measured = |model: &ModelName| usual(&latencies, model);
    let state = state(&now)?;
    let prices = noted(clerk, seats(&state.participants, &state.facilitator));
    let estimate = state.foresee(measured, |model| clerk.price(model));
    Ok(estimate.priced_by(&prices))
}

/// The middle and the slow end of what was measured.
pub(crate) fn usual(latencies: &Latencies, model: &ModelName) -> Option<Measure> {
    let times = latencies.get(model)?;
    let at = |part: f64| times.get((times.len().saturating_sub(1) as f64 * part) as usize).copied();
    Some(Measure { low_ms: at(0.25)?, high_ms: at(0.9)? })
}

/// Changes what is given, all or nothing.
pub async fn edit(clerk: &Clerk, id: SessionId, by: By, new: DiscussionEdit) -> Result {
    let DiscussionEdit { name, topic, format, max_rounds, status, conclusion } = new;
    let is_as_foreseen = topic.is_none() && format.is_none() && max_rounds.is_none();
    let status = match status {
        None => None,
        Some(WantedStatus::Active) => {
            let Start { estimate, prices } = known(clerk, id).await?;
            let estimate = estimate.filter(|_| is_as_foreseen);
            Some(Wanted::Active(Start { estimate, prices }))
        }
        Some(WantedStatus::Paused) => Some(Wanted::Paused),
        Some(WantedStatus::Concluded) => Some(Wanted::Concluded),
    };
    let format = format.map(Format::from);
    let edit = Edit { name, topic, format, max_rounds, status, conclusion };
    submit(clerk, id, by, Command::Edit(edit)).await
}

/// Starts a draft.
pub async fn start(clerk: &Clerk, id: SessionId, by: By) -> Result {
    let start = known(clerk, id).await?;
    submit(clerk, id, by, Command::Start(start)).await
}

/// Another facilitator, in a draft.
pub async fn change_moderator(clerk: &Clerk, id: SessionId, by: By, new: NewModerator) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return Ok(earlier);
    }
    let now = clerk.engine.get(id).await?;
    let seat = seating::moderator(clerk, new, state(&now)?).await?;
    submit(clerk, id, by, Command::ChangeFacilitator(Box::new(seat))).await
}

/// One more who takes part, in a draft.
pub async fn add_participant(clerk: &Clerk, id: SessionId, by: By, new: NewSeat) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return Ok(earlier);
    }
    let now = clerk.engine.get(id).await?;
    let participant = seating::participant(clerk, new, state(&now)?).await?;
    submit(clerk, id, by, Command::AddParticipant(Box::new(participant))).await
}

/// Adds a person's message between the turns.
pub async fn interject(clerk: &Clerk, caller: Caller, new: Interjection) -> Result {
    let name = new.by.unwrap_or_else(|| "Organizer".to_owned());
    let now = clerk.engine.get(caller.session).await?;
    state(&now)?;
    // Under the name of a person who sits there it would be read as theirs.
    let same = |person: &PersonsSeat| names::are_same(&person.name, &name);
    if let Some(person) = identity::persons(&now.room).into_iter().find(same) {
        speaking(&now, &caller, Some(SeatId(person.id)))?;
    }
    submit(clerk, caller.session, caller.by, Command::Interject { by: name, text: new.text }).await
}

/// A person's turn, or the conclusion of a person who leads.
pub async fn reply(clerk: &Clerk, caller: Caller, new: SeatReply) -> Result {
    let now = clerk.engine.get(caller.session).await?;
    state(&now)?;
    let seat = speaking(&now, &caller, new.participant_id.map(SeatId))?;
    submit(clerk, caller.session, caller.by, Command::Reply { seat, text: new.text }).await
}

/// The decision of a person who leads.
pub async fn decide(clerk: &Clerk, caller: Caller, new: PersonsDecision) -> Result {
    let now = clerk.engine.get(caller.session).await?;
    let leads = state(&now)?.facilitator.id.clone();
    speaking(&now, &caller, Some(leads))?;
    let command = Command::Decide {
        decision: new.decision.into(),
        next: new.next_participant_id.map(SeatId),
        question: new.question,
        reasoning: new.reasoning,
    };
    submit(clerk, caller.session, caller.by, command).await
}

/// The seat for which somebody speaks: the one that was named, or their own.
fn speaking(now: &Snapshot, caller: &Caller, named: Option<SeatId>) -> Result<Option<SeatId>> {
    match (caller.seat(now)?, named) {
        (Some(own), Some(named)) if own.id != named.0 => {
            Err(ClerkError::OtherSeat(format!("the seat of {}", own.name)))
        }
        (Some(own), _) => Ok(Some(SeatId(own.id))),
        (None, named) => Ok(named),
    }
}

/// What needs nothing to be found out.
pub async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Discussion(command)).await?)
}

/// A session of another form is no discussion.
pub fn state(snapshot: &Snapshot) -> Result<&State> {
    let state = snapshot.room.discussion();
    state.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}
