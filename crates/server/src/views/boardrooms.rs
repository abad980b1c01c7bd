//! A boardroom as it goes out: its seats, what each has said, and its verdict.

use std::sync::Arc;

use plenary_clerk::boardrooms::RoleName;
use plenary_clerk::mirror;
use plenary_domain::boardroom::{
    self, Advisor, Brief, Contribution, ContributionId, FailedTry, Headings, SeatId, Sitter, Span,
    Stage, Standing, Synthesis, SynthesisStanding, Wait, Written,
};
use plenary_domain::{Answer, CallId, ContextFile, Failure, Image, SessionId, Timestamp, Usage};
use plenary_engine::Underway;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::ballots::{self, BallotView};
use super::boards::OwnRoleView;
use super::budgets::{AllowanceView, BudgetView};
use super::course::SectionsView;
use super::{Beside, FailureView, RetryingView, UsageView, failure_view, spent, usage};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BoardroomView {
    id: Uuid,
    /// The number of the last event: give it as `after` to read on.
    version: u64,
    title: String,
    prompt: String,
    /// The saved board that it was convened from. What that said then stands here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    board: Option<String>,
    /// The language that all answer in, where one was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    language: Option<String>,
    status: BoardStatus,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<String>,
    /// What can be done with it now.
    allowed: Vec<&'static str>,
    context: Vec<ContextView>,
    /// Those of the first question. The event that brought one has its bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    images: Vec<ImageView>,
    advisors: Vec<AdvisorView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    quorum: Option<QuorumView>,
    /// Whether the advisors vote on the points of each synthesis.
    ballot: bool,
    /// Whether people see what the others say before they have answered themselves.
    open_answers: bool,
    /// The chosen synthesizer, then the models that would take over.
    synthesizers: Vec<String>,
    /// The questions that were put to it, `prompt` first, each of which began a round.
    rounds: Vec<RoundView>,
    /// Numbered from 1; the last one is the current one.
    syntheses: Vec<SynthesisView>,
    /// Of all calls and all their attempts, whatever became of them, where the providers
    /// say.
    usage: UsageView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<BudgetView>,
    /// Of the same, by the operator's prices, or as the providers say. Absent unless all
    /// of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// Of the costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    convened_at: Timestamp,
    /// Held elsewhere and taken over from a record, which whoever wrote it answers for.
    /// Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    imported: bool,
    /// When that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    imported_at: Option<Timestamp>,
    /// The board's id there, where the record says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    imported_from: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoundView {
    /// From 1.
    number: u32,
    prompt: String,
    /// The seats to which it was put.
    advisors: Vec<u8>,
    /// Files and images that came with it; those of the first stand with the board.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    context: Vec<ContextView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    images: Vec<ImageView>,
    asked_at: Timestamp,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum BoardStatus {
    Answering,
    Synthesizing,
    /// The advisors vote on the points of the last synthesis.
    Balloting,
    Closed,
    Stopped,
    Failed,
}

#[derive(Serialize, ToSchema)]
pub struct ContextView {
    name: String,
    bytes: usize,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageView {
    name: String,
    media_type: &'static str,
    bytes: usize,
}

fn images(brief: &Brief) -> Vec<ImageView> {
    let view = |image: &Arc<Image>| ImageView {
        name: image.name.clone(),
        media_type: image.media_type.name(),
        bytes: image.bytes(),
    };
    brief.images.iter().map(view).collect()
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuorumView {
    pub(super) need: usize,
    pub(super) grace_seconds: f64,
    /// The quorum is reached; the others have until then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) until: Option<Timestamp>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdvisorView {
    /// The seat's number, from 1.
    id: u8,
    /// `generalist`, where it has a role of its own.
    role: RoleName,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    own_role: Option<OwnRoleView>,
    /// The name on this board: `Critic`, or `Critic 2` where two share a role.
    name: String,
    colour: String,
    /// Two letters that no other role on the board has.
    initials: String,
    /// Absent where a person sits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// Absent where a model sits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    person: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reply_by: Option<Timestamp>,
    /// Given when it replaces the role's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    system_prompt: Option<String>,
    /// The stored agent that sits there: a copy of it as it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent: Option<SeatedAgentView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    temperature: Option<f64>,
    /// Tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u32>,
    /// Answers that it is asked for at once; absent where it is one. All but the last are
    /// among `earlier`, also while they are under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tries: Option<u32>,
    /// The try that was picked of its answers to the last question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    picked: Option<u32>,
    /// What the seat may spend.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<AllowanceView>,
    /// The call that brings, or brought, its text; `delta` frames carry it.
    call_id: String,
    /// The round in which it was asked, from 1.
    round: u32,
    /// Which try in that round this is, from 1.
    r#try: u32,
    /// What it said each time that it was asked before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    earlier: Vec<ContributionView>,
    #[serde(flatten)]
    said: Said,
}

/// A stored agent in a seat.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatedAgentView {
    id: String,
    name: String,
    persona: String,
}

/// What came of it when an advisor was asked once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContributionView {
    round: u32,
    /// Which try in that round, from 1.
    r#try: u32,
    /// Absent where a person sat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// Absent where a model sat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    person: Option<String>,
    call_id: String,
    #[serde(flatten)]
    said: Said,
}

/// Names one contribution.
#[derive(Serialize, ToSchema)]
pub struct ContributionName {
    /// The seat's number.
    advisor: u8,
    round: u32,
    r#try: u32,
}

impl From<ContributionId> for ContributionName {
    fn from(id: ContributionId) -> Self {
        ContributionName { advisor: id.seat.0, round: id.round, r#try: id.asked }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SynthesisView {
    number: u32,
    /// The round whose answers it is made from.
    round: u32,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    instruction: Option<String>,
    /// The advisors that it is made from.
    basis: Vec<u8>,
    /// Of those, which answers.
    contributions: Vec<ContributionName>,
    /// Those that it had to do without, and why.
    absent: Vec<AbsentView>,
    /// The same, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    degraded: Option<String>,
    /// Tries before this one: of models that failed, and of the same one when its text did
    /// not have the four headings.
    failed_before: Vec<FailedTryView>,
    /// Whether the four headings came as asked. Where they are missing, the text stands as
    /// the model wrote it, which was asked for them once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    headings: Option<HeadingsView>,
    #[serde(flatten)]
    ballot: BallotView,
    /// The text cut at the four headings, unless they are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sections: Option<SectionsView>,
    call_id: String,
    #[serde(flatten)]
    said: Said,
}

mirror! {
    #[serde(rename_all = "camelCase")]
    HeadingsView = Headings { AsAsked, Repaired, Missing, NotAsked }
}

#[derive(Serialize, ToSchema)]
pub struct AbsentView {
    advisor: u8,
    name: String,
    why: String,
}

#[derive(Serialize, ToSchema)]
pub struct FailedTryView {
    model: String,
    error: FailureView,
    /// What it had written.
    text: String,
    usage: UsageView,
    /// By the operator's price, or as the provider says; absent where neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
}

/// What an advisor or a synthesizer has said, and how that went.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    status: SaidStatus,
    /// The whole text, the text so far, or the partial text of a failed or
    /// stopped one.
    text: String,
    /// What it says is not shown to whoever looks before they have answered. Absent where
    /// it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    hidden: bool,
    /// It reached a limit on its length. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    cut: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schema(required = false)]
    reasoning: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    latency_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_text_ms: Option<u64>,
    /// Of all attempts of the last try.
    usage: UsageView,
    #[serde(skip)]
    used: Usage,
    /// By the operator's price, or as the provider says; absent where neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// When it was asked, the last time. Absent in a record from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    started_at: Option<Timestamp>,
    /// Absent while it is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ended_at: Option<Timestamp>,
    /// Requests that it took, or the one under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    attempts: Option<u32>,
    /// The request has failed and is made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retrying: Option<RetryingView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<FailureView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum SaidStatus {
    /// A model is answering.
    Answering,
    /// A person's reply is awaited.
    Waiting,
    Done,
    Failed,
    Stopped,
}

pub fn view(
    id: SessionId,
    version: u64,
    state: &boardroom::State,
    beside: &Beside<'_>,
) -> BoardroomView {
    let until = match &state.stage {
        Stage::Answering(Wait::Grace(until)) => Some(*until),
        Stage::Answering(Wait::All | Wait::Quorum(_))
        | Stage::Synthesizing
        | Stage::Balloting
        | Stage::Closed
        | Stage::Stopped
        | Stage::Failed(_) => None,
    };
    let (status, failure) = match &state.stage {
        Stage::Answering(_) => (BoardStatus::Answering, None),
        Stage::Synthesizing => (BoardStatus::Synthesizing, None),
        Stage::Balloting => (BoardStatus::Balloting, None),
        Stage::Closed => (BoardStatus::Closed, None),
        Stage::Stopped => (BoardStatus::Stopped, None),
        Stage::Failed(reason) => (BoardStatus::Failed, Some(reason.clone())),
    };
    let advisors: Vec<AdvisorView> =
        state.advisors.iter().map(|a| advisor(state, a, beside)).collect();
    let syntheses: Vec<SynthesisView> =
        state.syntheses.iter().map(|s| synthesis(state, s, beside)).collect();
    let (cost, currency) = spent(beside.clerk, &state.ledger);
    BoardroomView {
        id: id.0,
        version,
        title: state.title.clone(),
        prompt: state.prompt.to_string(),
        board: state.terms.board.clone(),
        language: state.terms.language.clone(),
        status,
        failure,
        allowed: state.allowed(),
        context: context(&state.context),
        images: images(state.brief(1)),
        advisors,
        quorum: state.quorum.map(|quorum| QuorumView {
            need: quorum.need,
            grace_seconds: quorum.grace_ms as f64 / 1000.0,
            until,
        }),
        ballot: state.ballot,
        open_answers: state.open_answers,
        synthesizers: state.synthesizers.iter().map(|model| model.0.clone()).collect(),
        rounds: rounds(state),
        syntheses,
        usage: usage(state.ledger.total()),
        budget: BudgetView::of(&state.ledger).map(|budget| budget.keeping(beside.reserved)),
        cost,
        currency,
        convened_at: state.convened_at,
        imported: state.imported.is_some(),
        imported_at: state.imported.map(|imported| imported.at),
        imported_from: state.imported.and_then(|imported| imported.from).map(|id| id.0),
    }
}

fn context(files: &[ContextFile]) -> Vec<ContextView> {
    let view = |file: &ContextFile| ContextView { name: file.name.clone(), bytes: file.text.len() };
    files.iter().map(view).collect()
}

fn rounds(state: &boardroom::State) -> Vec<RoundView> {
    let first = RoundView {
        number: 1,
        prompt: state.prompt.to_string(),
        advisors: state.advisors.iter().map(|advisor| advisor.seat.id.0).collect(),
        context: vec![],
        images: vec![],
        asked_at: state.convened_at,
    };
    let further = state.follow_ups.iter().map(|follow_up| RoundView {
        number: follow_up.round,
        prompt: follow_up.prompt.to_string(),
        advisors: follow_up.seats.iter().map(|seat| seat.0).collect(),
        context: context(&state.brief(follow_up.round).files),
        images: images(state.brief(follow_up.round)),
        asked_at: follow_up.at,
    });
    [first].into_iter().chain(further).collect()
}

fn advisor(state: &boardroom::State, advisor: &Advisor, beside: &Beside<'_>) -> AdvisorView {
    let seat = &advisor.seat;
    let call = advisor.call_id();
    let (model, person) = who(&seat.sitter);
    let reply_by = match &seat.sitter {
        Sitter::Model(_) => None,
        Sitter::Person { reply_by, .. } => *reply_by,
    };
    let said = Said::of(&seat.sitter, &advisor.standing, &call, beside).timed(advisor.span);
    let said = Said { hidden: state.is_veiled(seat.id), ..said };
    AdvisorView {
        id: seat.id.0,
        role: seat.role.into(),
        own_role: seat.own.as_ref().map(OwnRoleView::new),
        name: state.label(seat.id),
        colour: seat.colour().to_owned(),
        initials: seat.part().initials().to_owned(),
        model,
        person,
        reply_by,
        system_prompt: seat.system_prompt.clone(),
        agent: seat.seated.agent.as_ref().map(|id| SeatedAgentView {
            id: id.0.clone(),
            name: seat.seated.name.clone(),
            persona: seat.seated.persona.to_string(),
        }),
        temperature: seat.seated.temperature,
        output_tokens: seat.seated.output_tokens,
        tries: Some(seat.tries).filter(|tries| *tries > 1),
        picked: advisor.picked_in(advisor.round).map(|picked| picked.asked),
        budget: AllowanceView::of(seat.budget),
        call_id: call.0,
        round: advisor.round,
        r#try: advisor.asked,
        earlier: advisor.earlier.iter().map(|one| contribution(one, beside)).collect(),
        said,
    }
}

/// The model or the person that sits there.
fn who(sitter: &Sitter) -> (Option<String>, Option<String>) {
    match sitter {
        Sitter::Model(model) => (Some(model.0.clone()), None),
        Sitter::Person { name, .. } => (None, Some(name.clone())),
    }
}

fn contribution(one: &Contribution, beside: &Beside<'_>) -> ContributionView {
    let (model, person) = who(&one.sitter);
    let call = one.id.call();
    let said = Said::of(&one.sitter, &one.standing, &call, beside).timed(one.span);
    let (round, r#try) = (one.id.round, one.id.asked);
    ContributionView { round, r#try, model, person, call_id: call.0, said }
}

fn synthesis(
    state: &boardroom::State,
    synthesis: &Synthesis,
    beside: &Beside<'_>,
) -> SynthesisView {
    let call = synthesis.call_id();
    let mut sections = None;
    let (mut said, headings) = match &synthesis.standing {
        SynthesisStanding::Asked => (Said::underway((beside.running)(&call)), None),
        SynthesisStanding::Done(Written { verdict, answer }) => {
            sections = SectionsView::of(verdict);
            (Said::done(answer, &verdict.text), Some(verdict.headings.into()))
        }
        SynthesisStanding::Failed { failure, partial } => (Said::failed(failure, partial), None),
        SynthesisStanding::Stopped { partial, usage, .. } => {
            (Said::stopped(partial.as_deref(), *usage), None)
        }
    };
    said.cost = beside.cost(&synthesis.model, said.used);
    let said = said.timed(synthesis.span);
    let name = |seat: SeatId| state.label(seat);
    SynthesisView {
        number: synthesis.number,
        round: synthesis.round,
        model: synthesis.model.0.clone(),
        instruction: synthesis.instruction.clone(),
        basis: synthesis.seats().into_iter().map(|seat| seat.0).collect(),
        contributions: synthesis.basis.iter().copied().map(ContributionName::from).collect(),
        absent: synthesis
            .absent
            .iter()
            .map(|a| AbsentView { advisor: a.seat.0, name: name(a.seat), why: a.why.clone() })
            .collect(),
        degraded: state.degraded(synthesis),
        failed_before: synthesis.failed.iter().map(|f| failed_try(f, beside)).collect(),
        headings,
        ballot: ballots::view(state, synthesis, beside),
        sections,
        call_id: call.0,
        said,
    }
}

fn failed_try(failed: &FailedTry, beside: &Beside<'_>) -> FailedTryView {
    FailedTryView {
        model: failed.model.0.clone(),
        error: failure_view(&failed.failure),
        text: failed.text.clone(),
        usage: usage(failed.failure.usage),
        cost: beside.cost(&failed.model, failed.failure.usage),
    }
}

impl Said {
    fn bare(status: SaidStatus, text: String) -> Self {
        Said {
            status,
            text,
            hidden: false,
            cut: false,
            reasoning: String::new(),
            latency_ms: None,
            first_text_ms: None,
            usage: UsageView::default(),
            used: Usage::default(),
            cost: None,
            started_at: None,
            ended_at: None,
            attempts: None,
            retrying: None,
            error: None,
        }
    }

    /// `None`: it has not begun here, or is about to.
    fn underway(call: Option<Underway>) -> Self {
        let Some(call) = call else { return Said::bare(SaidStatus::Answering, String::new()) };
        Said {
            reasoning: call.reasoning,
            attempts: Some(call.attempt),
            retrying: call.retrying.as_deref().map(RetryingView::from),
            ..Said::bare(SaidStatus::Answering, call.text)
        }
    }

    /// What an advisor has said.
    fn of(sitter: &Sitter, standing: &Standing, call: &CallId, beside: &Beside<'_>) -> Self {
        let said = match (standing, sitter) {
            (Standing::Asked, Sitter::Person { .. }) => {
                Said::bare(SaidStatus::Waiting, String::new())
            }
            (Standing::Asked, Sitter::Model(_)) => Said::underway((beside.running)(call)),
            (Standing::Done(answer), _) => Said::done(answer, &answer.text),
            (Standing::Failed { failure, partial }, _) => Said::failed(failure, partial),
            (Standing::Stopped { partial, usage, .. }, _) => {
                Said::stopped(partial.as_deref(), *usage)
            }
        };
        let cost = match sitter {
            Sitter::Model(model) => beside.cost(model, said.used),
            Sitter::Person { .. } => None,
        };
        Said { cost, ..said }
    }

    fn timed(self, span: Option<Span>) -> Self {
        let (started_at, ended_at) =
            (span.map(|span| span.started_at), span.and_then(|span| span.ended_at));
        Said { started_at, ended_at, ..self }
    }

    fn done(answer: &Answer, text: &str) -> Self {
        Said {
            cut: answer.cut,
            reasoning: answer.reasoning.clone(),
            latency_ms: (answer.timing.latency_ms > 0).then_some(answer.timing.latency_ms),
            first_text_ms: answer.timing.first_text_ms,
            attempts: Some(answer.attempts),
            ..Said::bare(SaidStatus::Done, text.to_owned()).taking(answer.usage)
        }
    }

    fn stopped(partial: Option<&str>, used: Usage) -> Self {
        Said::bare(SaidStatus::Stopped, partial.unwrap_or_default().to_owned()).taking(used)
    }

    fn taking(self, used: Usage) -> Self {
        Said { usage: usage(used), used, ..self }
    }

    fn failed(failure: &Failure, partial: &str) -> Self {
        Said {
            attempts: Some(failure.attempts),
            error: Some(failure_view(failure)),
            ..Said::bare(SaidStatus::Failed, partial.to_owned()).taking(failure.usage)
        }
    }
}
