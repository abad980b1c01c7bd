//! Saved boards on the wire.

use plenary_clerk::agents::TierName;
use plenary_clerk::boardrooms::RoleName;
use plenary_clerk::budgets::WhenSpentName;
use plenary_domain::agent::ModelChoice;
use plenary_domain::board::{Board, Seat, Synthesis};
use plenary_domain::boardroom::OwnRole;
use serde::Serialize;
use utoipa::ToSchema;

use super::boardrooms::QuorumView;
use super::budgets::AllowanceView;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedBoardView {
    /// By which it is asked for.
    name: String,
    /// What people read.
    title: String,
    /// One line for lists.
    description: String,
    /// Ships with Plenary; it can be copied, not changed or removed.
    is_built_in: bool,
    seats: Vec<SavedSeatView>,
    /// Who writes the synthesis, where the board says that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    synthesis: Option<SavedSynthesisView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    quorum: Option<QuorumView>,
    ballot: bool,
    open_answers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<SavedBudgetView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    language: Option<String>,
    /// Agents that came with it, by their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    agents: Vec<String>,
    /// What it needs that is not here. Lists do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedSeatView {
    /// `generalist`, where it has a role of its own.
    role: RoleName,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    own_role: Option<OwnRoleView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tier: Option<TierName>,
    /// A stored agent's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    person: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reply_within_seconds: Option<u32>,
    /// Given when it replaces the role's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    system_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<AllowanceView>,
}

/// What each session of the board may spend.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedBudgetView {
    #[serde(flatten)]
    most: AllowanceView,
    when_spent: WhenSpentName,
    /// Of the costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
}

/// A role of one's own, and how it is told apart.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OwnRoleView {
    name: String,
    /// Two letters that no other role on the board has.
    initials: String,
    colour: String,
    /// One sign, where it has one.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    glyph: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SavedSynthesisView {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tier: Option<TierName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u32>,
}

impl SavedBoardView {
    pub fn new(board: &Board, missing: Option<Vec<String>>) -> Self {
        SavedBoardView {
            name: board.name.clone(),
            title: board.called().to_owned(),
            description: board.description.clone(),
            is_built_in: board.built_in,
            seats: board.seats.iter().map(seat).collect(),
            synthesis: Some(&board.synthesis).filter(|one| !one.is_plain()).map(synthesis),
            quorum: board.quorum.map(|quorum| QuorumView {
                need: quorum.need,
                grace_seconds: quorum.grace_ms as f64 / 1000.0,
                until: None,
            }),
            ballot: board.ballot,
            open_answers: board.open_answers,
            budget: board.budget.map(|budget| SavedBudgetView {
                most: budget.most.into(),
                when_spent: budget.when_spent.into(),
                currency: board.currency.clone(),
            }),
            language: board.language.clone(),
            agents: board.agents.iter().map(|agent| agent.id.0.clone()).collect(),
            missing,
        }
    }
}

impl OwnRoleView {
    pub fn new(own: &OwnRole) -> Self {
        let OwnRole { name, initials, colour, glyph } = own.clone();
        OwnRoleView { name, initials, colour, glyph }
    }
}

fn seat(seat: &Seat) -> SavedSeatView {
    let (model, tier) = choice(&seat.model);
    SavedSeatView {
        role: seat.role.into(),
        own_role: seat.own.as_ref().map(OwnRoleView::new),
        model,
        tier,
        agent: seat.agent.clone(),
        person: seat.person.clone(),
        reply_within_seconds: seat.reply_within_seconds,
        system_prompt: seat.prompt.clone(),
        temperature: seat.temperature,
        output_tokens: seat.output_tokens,
        tries: seat.tries,
        budget: AllowanceView::of(seat.budget),
    }
}

fn synthesis(synthesis: &Synthesis) -> SavedSynthesisView {
    let (model, tier) = choice(&synthesis.model);
    SavedSynthesisView {
        model,
        tier,
        prompt: synthesis.prompt.clone(),
        temperature: synthesis.temperature,
        output_tokens: synthesis.output_tokens,
    }
}

fn choice(choice: &ModelChoice) -> (Option<String>, Option<TierName>) {
    match choice {
        ModelChoice::Any => (None, None),
        ModelChoice::Tier(tier) => (None, Some(TierName::from(*tier))),
        ModelChoice::Model(model) => (Some(model.0.clone()), None),
    }
}
