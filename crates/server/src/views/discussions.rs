//! Discussions as they go out.

use plenary_clerk::discussions::{ChoiceName, FormatName, RoleName};
use plenary_clerk::{Clerk, mirror};
use plenary_domain::discussion::{
    self, Decided, Entry, Estimate, How, Participant, Range, Said, Seat, SeatId, Sitter, Spoken,
    Stage, State, Step, What,
};
use plenary_domain::{Answer, Failure, ModelName, Report, SessionId, Timestamp, Timing, Usage};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::agents::WorkspaceView;
use super::budgets::{AllowanceView, BudgetView};
use super::{FailureView, RetryingView, Running, UsageView, failure_view, spent, usage};

mirror! {
    /// `parsed`: the model's answer was as asked for. `repaired`: it could be read after
    /// mending. `fallback`: it could not, or there was none, so the next in turn speaks.
    /// `person`: a person decided. `rule`: no round or no budget was left.
    #[serde(rename_all = "camelCase")]
    #[schema(as = DecisionSource)]
    HowName = How { Parsed, Repaired, Fallback, Person, Rule }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscussionView {
    id: Uuid,
    /// The number of the last event: give it as `after` to read on.
    version: u64,
    name: String,
    topic: String,
    format: FormatName,
    status: DiscussionStatus,
    /// The stored agent that leads, or the seat's own id.
    moderator_id: String,
    moderator: SeatView,
    participants: Vec<SeatView>,
    /// The round under way, from 1; 0 in a draft.
    round: u32,
    max_rounds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<BudgetView>,
    /// `tokens` of the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<String>,
    /// Names of the files that belong to the topic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    context: Vec<String>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    started_at: Option<Timestamp>,
    /// When the last thing happened.
    changed_at: Timestamp,
    /// What is under way, or what it will go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    step: Option<StepView>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conclusion: Option<String>,
    /// What writing the conclusion took, where that was a call of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conclusion_usage: Option<UsageView>,
    /// By the price that the discussion has noted, or as the provider says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conclusion_cost: Option<f64>,
    /// Who has edited the conclusion, and last.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    conclusion_edited_by: Option<String>,
    /// What the conclusion does without.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    degraded: Option<String>,
    /// Entries of the transcript.
    entries: usize,
    /// What it was thought to take when it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    estimate: Option<EstimateView>,
    /// What it took so far.
    actual: ActualView,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiscussionStatus {
    Draft,
    Active,
    /// It rests after the step under way.
    Pausing,
    Paused,
    Stopped,
    Failed,
    Concluded,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionSeat)]
pub struct SeatView {
    id: String,
    /// The stored agent that this is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent_id: Option<String>,
    name: String,
    /// Absent for the facilitator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<RoleName>,
    description: String,
    persona: String,
    /// A person sits here.
    person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    window_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    turn_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget_tokens: Option<u64>,
    /// What it may spend in this discussion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<AllowanceView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    workspace: Option<WorkspaceView>,
    /// How long a person has for a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reply_within_seconds: Option<u64>,
    /// What this seat has taken so far.
    calls: u32,
    usage: UsageView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionStep)]
pub struct StepView {
    kind: StepName,
    /// Names the call in the live events.
    call_id: String,
    /// Whose step it is.
    participant_id: String,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    question: Option<String>,
    /// A person is awaited: `reply`, or `decide` when it is the facilitator's to choose.
    waits_for_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reply_by: Option<Timestamp>,
    /// The text so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    text: Option<String>,
    /// The request has failed and is made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retrying: Option<RetryingView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionStepKind)]
pub enum StepName {
    Opening,
    Turn,
    Evaluation,
    Synthesis,
}

impl From<&What> for StepName {
    fn from(what: &What) -> Self {
        match what {
            What::Opening => StepName::Opening,
            What::Turn { .. } => StepName::Turn,
            What::Evaluation { .. } => StepName::Evaluation,
            What::Synthesis { .. } => StepName::Synthesis,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = EstimateRange)]
pub struct RangeView {
    low: f64,
    high: f64,
}

impl From<Range> for RangeView {
    fn from(range: Range) -> Self {
        RangeView { low: range.low, high: range.high }
    }
}

/// `low`: the facilitator ends after the first turn. `high`: all rounds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Estimate)]
pub struct EstimateView {
    calls: RangeView,
    input_tokens: RangeView,
    output_tokens: RangeView,
    /// Absent until every model has answered here before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    seconds: Option<RangeView>,
    /// Absent unless the price of every model is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<RangeView>,
    /// Of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    /// What the numbers do not say.
    notes: Vec<String>,
}

impl EstimateView {
    pub fn new(estimate: &Estimate, currency: &str) -> Self {
        EstimateView {
            calls: estimate.calls.into(),
            input_tokens: estimate.input_tokens.into(),
            output_tokens: estimate.output_tokens.into(),
            seconds: estimate.seconds.map(RangeView::from),
            cost: estimate.cost.map(RangeView::from),
            currency: estimate.cost.map(|_| currency.to_owned()),
            notes: estimate.notes.clone(),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DiscussionActual)]
pub struct ActualView {
    calls: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    input_tokens: Option<u64>,
    /// Of those, the ones that the provider had in its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cached_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    output_tokens: Option<u64>,
    /// Of those, the ones of thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reasoning_tokens: Option<u64>,
    /// The time that models took, all calls together.
    model_seconds: f64,
    /// From the start to what happened last.
    elapsed_seconds: f64,
    /// By the operator's prices, or as the providers say. Absent unless all of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// Of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
}

impl DiscussionView {
    pub fn new(
        (id, version): (SessionId, u64),
        state: &State,
        running: Running,
        clerk: &Clerk,
    ) -> Self {
        let (status, problem) = DiscussionStatus::of(state);
        let leader = &state.facilitator;
        let revision = state.conclusion().and_then(|conclusion| conclusion.revision.as_ref());
        let actual = state.actual();
        let (cost, of_cost) = spent(clerk, &state.ledger);
        let currency = clerk.currency(&state.ledger);
        let ended = state.conclusion().filter(|ended| !ended.answer.usage.is_unknown());
        let conclusion_cost = ended.and_then(|ended| {
            let model = state.seat(&ended.by)?.model()?;
            clerk.cost(&state.ledger, model, ended.answer.usage)
        });
        DiscussionView {
            id: id.0,
            version,
            name: state.name.clone(),
            topic: state.topic_told().to_owned(),
            format: state.format_told().into(),
            status,
            moderator_id: moderator_id(state),
            moderator: seat(state, leader, None),
            participants: state.participants.iter().map(|p| participant(state, p)).collect(),
            round: state.round(),
            max_rounds: state.max_rounds,
            budget: BudgetView::of(&state.ledger),
            budget_tokens: state.ledger.budget().and_then(|budget| budget.most.tokens),
            project: state.project.clone(),
            context: state.context.iter().map(|file| file.name.clone()).collect(),
            created_at: state.created_at,
            started_at: state.started_at,
            changed_at: state.changed_at,
            step: state.step().map(|step| step_view(state, step, running)),
            problem,
            conclusion: state.conclusion().map(|conclusion| conclusion.text().to_owned()),
            conclusion_usage: ended.map(|ended| usage(ended.answer.usage)),
            conclusion_cost,
            conclusion_edited_by: revision.map(|revision| revision.by.clone()),
            degraded: state.degraded(),
            entries: state.transcript.len(),
            estimate: state
                .estimate
                .as_ref()
                .map(|estimate| EstimateView::new(estimate, &currency)),
            actual: ActualView {
                calls: actual.calls,
                input_tokens: actual.usage.input_tokens,
                cached_tokens: actual.usage.cached_tokens,
                output_tokens: actual.usage.output_tokens,
                reasoning_tokens: actual.usage.reasoning_tokens,
                model_seconds: actual.model_ms as f64 / 1000.0,
                elapsed_seconds: actual.elapsed_ms as f64 / 1000.0,
                cost,
                currency: of_cost,
            },
            allowed: state.allowed(),
            next: state.next(),
        }
    }
}

impl DiscussionStatus {
    /// And why it failed.
    pub fn of(state: &State) -> (Self, Option<String>) {
        match &state.stage {
            Stage::Draft => (DiscussionStatus::Draft, None),
            Stage::Active(_) => (DiscussionStatus::Active, None),
            Stage::Pausing(_) => (DiscussionStatus::Pausing, None),
            Stage::Paused(_) => (DiscussionStatus::Paused, None),
            Stage::Stopped(_) => (DiscussionStatus::Stopped, None),
            Stage::Failed { why, .. } => (DiscussionStatus::Failed, Some(why.clone())),
            Stage::Concluded(_) => (DiscussionStatus::Concluded, None),
        }
    }
}

/// The stored agent that leads, or the seat's own id.
pub fn moderator_id(state: &State) -> String {
    let leader = &state.facilitator;
    leader.agent.as_ref().map_or(&leader.id.0, |agent| &agent.0).clone()
}

fn participant(state: &State, participant: &Participant) -> SeatView {
    seat(state, &participant.seat, Some(participant.role.into()))
}

fn seat(state: &State, seat: &Seat, role: Option<RoleName>) -> SeatView {
    let used = state.used.get(&seat.id).copied().unwrap_or_default();
    let mut view = SeatView {
        id: seat.id.0.clone(),
        agent_id: seat.agent.as_ref().map(|agent| agent.0.clone()),
        name: seat.name.clone(),
        role,
        description: seat.description.clone(),
        persona: seat.persona.to_string(),
        person: seat.is_person(),
        model: None,
        window_tokens: None,
        turn_seconds: None,
        output_tokens: None,
        budget_tokens: None,
        budget: AllowanceView::of(seat.budget()),
        workspace: None,
        reply_within_seconds: None,
        calls: used.calls,
        usage: usage(used.usage),
    };
    match &seat.sitter {
        Sitter::Model { model, window_tokens, bounds, workspace } => {
            view.model = Some(model.0.clone());
            view.window_tokens = Some(*window_tokens);
            view.turn_seconds = bounds.turn_ms.map(|ms| ms / 1000);
            view.output_tokens = bounds.output_tokens;
            view.budget_tokens = bounds.budget_tokens;
            view.workspace = workspace.as_ref().map(WorkspaceView::new);
        }
        Sitter::Person { reply_within_ms } => {
            view.reply_within_seconds = reply_within_ms.map(|ms| ms / 1000);
        }
    }
    view
}

fn step_view(state: &State, step: &Step, running: Running) -> StepView {
    let seat = state.seat_of(step);
    let question = match &step.what {
        What::Turn { question, .. } => Some(question.clone()),
        What::Opening | What::Evaluation { .. } | What::Synthesis { .. } => None,
    };
    let call = running(&step.call_id());
    StepView {
        kind: StepName::from(&step.what),
        call_id: step.call_id().0,
        participant_id: seat.map(|seat| seat.id.0.clone()).unwrap_or_default(),
        name: seat.map(|seat| seat.name.clone()).unwrap_or_default(),
        question,
        waits_for_person: state.awaited().is_some(),
        reply_by: step.reply_by,
        retrying: call.as_ref().and_then(|call| call.retrying.as_deref()).map(RetryingView::from),
        text: call.map(|call| call.text).filter(|text| !text.is_empty()),
    }
}

/// One piece of the transcript.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TranscriptEntry)]
pub struct EntryView {
    /// From 1, without a gap.
    number: u32,
    /// When it was said to its end.
    at: Timestamp,
    kind: EntryName,
    status: EntryStatus,
    /// The seat's id; absent for a person who interjects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    participant_id: Option<String>,
    agent_name: String,
    /// `participant`, `observer`, `devil_advocate`, `moderator` or `person`.
    role: &'static str,
    /// The turn that it is, or that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    round: Option<u32>,
    /// What was asked, or will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    question: Option<String>,
    /// What was said; of a failed or stopped step the part that had arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content: Option<String>,
    /// It reached a limit on its length. Absent where it is false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    cut: bool,
    /// The model's thinking, where there is some.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    thinking: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<FailureView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    decision: Option<DecisionView>,
    /// Earlier pieces that were shown in short, to fit the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    condensed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
    #[serde(skip)]
    used: Usage,
    /// By the price that the session has noted, or as the provider says; absent where
    /// neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// The step began so long before `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    latency_ms: Option<u64>,
    /// From the beginning of the step to the first text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    first_text_ms: Option<u64>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TranscriptEntryKind)]
pub enum EntryName {
    Decision,
    Turn,
    Interjection,
    /// A try at the conclusion that failed, or was broken off.
    Synthesis,
    /// The opening, broken off.
    Opening,
    /// An evaluation, broken off.
    Evaluation,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TranscriptEntryStatus)]
pub enum EntryStatus {
    Done,
    Failed,
    Stopped,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    decision: ChoiceName,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_participant_id: Option<String>,
    reasoning: String,
    how: HowName,
    /// What was mended, or why the choice fell to the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<String>,
    /// The answer as it came, unless it was as asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    raw: Option<String>,
}

impl EntryView {
    pub fn new(state: &State, entry: &Entry, clerk: &Clerk) -> Self {
        let view = EntryView::of(state, entry);
        let model = view.model.clone().map(ModelName);
        let cost = model.and_then(|model| clerk.cost(&state.ledger, &model, view.used));
        EntryView { cost, ..view }
    }

    fn of(state: &State, entry: &Entry) -> Self {
        match &entry.said {
            Said::Decision(decided) => EntryView::decision(state, entry, decided),
            Said::Turn { turn, speaker, question, spoken, condensed } => {
                let mut view = EntryView::by(state, entry, EntryName::Turn, speaker);
                view.round = Some(*turn);
                view.question = Some(question.clone());
                view.condensed = (*condensed > 0).then_some(*condensed);
                match spoken {
                    Spoken::Words(answer) => view.say(answer),
                    Spoken::Failed { failure, partial } => {
                        view.fail(failure, partial);
                    }
                }
                view
            }
            Said::Interjection { by, text } => EntryView {
                participant_id: None,
                agent_name: by.clone(),
                role: "person",
                content: Some(text.clone()),
                model: None,
                ..EntryView::by(state, entry, EntryName::Interjection, &state.facilitator.id)
            },
            Said::Cut { what, partial, usage, .. } => {
                let mut view = EntryView::cut(state, entry, what, partial);
                view.spend(*usage);
                view
            }
            Said::SynthesisFailed { by, failure, partial } => {
                let mut view = EntryView::by(state, entry, EntryName::Synthesis, by);
                view.fail(failure, partial);
                view
            }
        }
    }

    fn by(state: &State, entry: &Entry, kind: EntryName, id: &SeatId) -> Self {
        let seat = state.seat(id);
        EntryView {
            number: entry.number,
            at: entry.at,
            kind,
            status: EntryStatus::Done,
            participant_id: Some(id.0.clone()),
            agent_name: seat.map_or_else(|| id.0.clone(), |seat| seat.name.clone()),
            role: role(state, id),
            round: None,
            question: None,
            content: None,
            cut: false,
            thinking: None,
            error: None,
            decision: None,
            condensed: None,
            model: seat.and_then(|seat| seat.model()).map(|model| model.0.clone()),
            usage: None,
            used: Usage::default(),
            cost: None,
            latency_ms: None,
            first_text_ms: None,
        }
    }

    fn say(&mut self, answer: &Answer) {
        self.content = Some(answer.text.clone());
        self.cut = answer.cut;
        self.thinking = said(&answer.reasoning);
        self.measure(answer.usage, answer.timing);
    }

    fn fail(&mut self, failure: &Failure, partial: &str) {
        self.status = EntryStatus::Failed;
        self.error = Some(failure_view(failure));
        self.content = said(partial);
        self.spend(failure.usage);
    }

    /// What a call took that brought no answer, if anything is known of that.
    fn spend(&mut self, used: Usage) {
        self.usage = (!used.is_unknown()).then(|| usage(used));
        self.used = used;
    }

    fn measure(&mut self, used: Usage, timing: Timing) {
        if self.model.is_some() {
            self.usage = Some(usage(used));
            self.used = used;
            self.latency_ms = Some(timing.latency_ms);
            self.first_text_ms = timing.first_text_ms;
        }
    }

    fn decision(state: &State, entry: &Entry, decided: &Decided) -> Self {
        let mut view = EntryView::by(state, entry, EntryName::Decision, &state.facilitator.id);
        view.round = Some(decided.turn);
        view.question = decided.question.clone();
        view.condensed = (decided.condensed > 0).then_some(decided.condensed);
        match decided.how {
            How::Parsed | How::Repaired | How::Fallback => {
                view.measure(decided.usage, decided.timing);
            }
            How::Person | How::Rule => view.model = None,
        }
        view.decision = Some(DecisionView {
            decision: decided.decision.into(),
            next_participant_id: decided.next.as_ref().map(|next| next.0.clone()),
            reasoning: decided.reasoning.clone(),
            how: decided.how.into(),
            note: decided.note.clone(),
            raw: decided.raw.clone(),
        });
        view
    }

    fn cut(state: &State, entry: &Entry, what: &What, partial: &Option<String>) -> Self {
        let (kind, id) = match what {
            What::Opening => (EntryName::Opening, &state.facilitator.id),
            What::Evaluation { .. } => (EntryName::Evaluation, &state.facilitator.id),
            What::Turn { speaker, .. } => (EntryName::Turn, speaker),
            What::Synthesis { by, .. } => (EntryName::Synthesis, by),
        };
        let mut view = EntryView::by(state, entry, kind, id);
        view.status = EntryStatus::Stopped;
        view.content = partial.as_deref().and_then(said);
        match what {
            What::Turn { turn, question, .. } => {
                view.round = Some(*turn);
                view.question = Some(question.clone());
            }
            What::Evaluation { turn } => view.round = Some(*turn),
            What::Opening | What::Synthesis { .. } => {}
        }
        view
    }
}

/// As the clients of live events know it too.
pub fn role(state: &discussion::State, id: &SeatId) -> &'static str {
    state.role(id).map_or("moderator", |role| role.name())
}

fn said(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}
