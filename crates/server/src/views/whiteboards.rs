//! Whiteboards on the wire, made from what a viewer may see.

use plenary_clerk::whiteboards::{
    AdmissionName, AnnotationType, BoardRole, FindingName, PhaseName, PostType, SeverityName,
    VisibilityName, VoteName,
};
use plenary_clerk::{Clerk, mirror};
use plenary_domain::view::{self, Board, SeatSeen, Seen};
use plenary_domain::whiteboard::conflict::Kind;
use plenary_domain::whiteboard::{
    self, Note, Outcome, Readiness, SeatStanding, Standing, conflict,
};
use plenary_domain::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::budgets::BudgetView;
use super::{FailureView, UsageView, failure_view, spent, usage};

mirror!(
    #[serde(rename_all = "lowercase")]
    StandingName = Standing { Surviving, Excluded, Withdrawn }
);

/// A whiteboard as the caller may see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhiteboardView {
    board_id: String,
    session_id: Uuid,
    /// The number of the last event that you have been told, as your live events count:
    /// give it as `after` to read on.
    version: u64,
    topic: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    project: Option<String>,
    phase: PhaseName,
    /// When this phase began.
    since: Timestamp,
    /// When the board moves on automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    deadline: Option<Timestamp>,
    opened_by: String,
    opened_at: Timestamp,
    admission: AdmissionName,
    debate_visibility: VisibilityName,
    /// As whom you see it; absent when you have shown no agent token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    you: Option<AgentView>,
    /// In the blind phase only yourself and who opened the board, unless you lead it.
    agents: Vec<AgentView>,
    /// In the blind phase, for facilitators and operators: who has posted, not what.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    has_posted: Option<Vec<String>>,
    /// One page of the posts that you may see; in the blind phase your own.
    posts: Vec<PostView>,
    /// `posts` are only those that have changed since this `version`. Absent where they are
    /// all, also though `since` was given: where something is hidden from you, or the board
    /// has moved on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    changed_since: Option<u64>,
    posts_total: usize,
    /// Give it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_cursor: Option<String>,
    /// The models and stored agents among the agents, where you see those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    seats: Vec<SeatView>,
    /// What they took; absent where it would tell what they do, and without seats.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    usage: Option<UsageView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost: Option<f64>,
    /// Of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    budget: Option<BudgetView>,
    steps: Vec<StepView>,
    /// Whether the phase has done its work. Advice only; for facilitators and operators
    /// only while something is hidden.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ready_to_advance: Option<bool>,
    why_not: Vec<String>,
    /// What you can do now.
    allowed: Vec<&'static str>,
    /// The same, in sentences.
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentView {
    agent_name: String,
    role: BoardRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    domain: Option<String>,
    since: Timestamp,
}

/// A model or a stored agent that takes part by itself.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeatView {
    agent_name: String,
    model: String,
    /// The stored agent that it is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    agent: Option<String>,
    /// How it stands in this phase; in blind for facilitators and operators only, and
    /// absent where it would tell what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    status: Option<SeatStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    failure: Option<FailureView>,
    /// What the board did not take of its answers, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    left_out: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeatStatus {
    /// Nothing is asked of it now.
    Waiting,
    Asked,
    Done,
    Failed,
    Stopped,
}

#[derive(Serialize, ToSchema)]
pub struct StepView {
    to: PhaseName,
    /// Absent: the clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    note: Option<String>,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostView {
    post_id: String,
    author: String,
    #[serde(rename = "type")]
    kind: PostType,
    title: String,
    /// With `detail=full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    body: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    target_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    target_location: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    severity: Option<SeverityName>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    finding_refs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    cascade_targets: Vec<String>,
    at: Timestamp,
    standing: StandingName,
    tally: TallyView,
    annotations: Vec<AnnotationView>,
    votes: Vec<VoteView>,
    /// True while the debate hides what is not yours or related to you.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    partly_hidden: bool,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AnnotationView {
    annotation_id: String,
    by: String,
    #[serde(rename = "type")]
    kind: AnnotationType,
    /// Of a validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    result: Option<FindingName>,
    /// The challenge that it answers, settles or withdraws.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    challenge_id: Option<String>,
    /// With `detail=full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    body: Option<String>,
    at: Timestamp,
    /// Of a challenge: nobody has settled it or taken it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    open: Option<bool>,
}

#[derive(Serialize, ToSchema)]
pub struct VoteView {
    by: String,
    vote: VoteName,
    /// With `detail=full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    at: Timestamp,
}

#[derive(Serialize, ToSchema)]
pub struct TallyView {
    accept: usize,
    reject: usize,
    defer: usize,
}

/// Where a board stands, without bodies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhiteboardSummary {
    board_id: String,
    topic: String,
    phase: PhaseName,
    agents: usize,
    /// In the blind phase, for facilitators and operators: their own, and one of each
    /// other agent who has posted; `lines` has one's own only.
    posts: usize,
    annotations: usize,
    votes: usize,
    lines: Vec<SummaryLine>,
    surviving: Vec<String>,
    /// Somebody has refuted them.
    excluded: Vec<String>,
    withdrawn: Vec<String>,
    unresolved_challenges: Vec<ChallengeView>,
    unvalidated_posts: Vec<String>,
    outcome: OutcomeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    ready_to_advance: Option<bool>,
    why_not: Vec<String>,
    allowed: Vec<&'static str>,
    next: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryLine {
    post_id: String,
    author: String,
    #[serde(rename = "type")]
    kind: PostType,
    title: String,
    standing: StandingName,
    tally: TallyView,
    confirmed: usize,
    refuted: usize,
    inconclusive: usize,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeView {
    post_id: String,
    annotation_id: String,
    by: String,
}

/// What the votes say: of the proposals that survive and have more accept than
/// reject, the one with the greatest lead.
#[derive(Serialize, ToSchema)]
pub struct OutcomeView {
    decision: DecisionName,
    /// The accepted proposal, or those that are tied.
    posts: Vec<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DecisionName {
    Accepted,
    Tied,
    Undecided,
}

#[derive(Serialize, ToSchema)]
pub struct ConflictView {
    kind: ConflictKind,
    /// Of a cascade collision the first one reaches the target of the second.
    posts: [String; 2],
    /// The place, file or finding that they meet in.
    over: String,
}

mirror!(
    #[serde(rename_all = "snake_case")]
    ConflictKind = Kind { DirectOverlap, CascadeCollision, SeverityDisagreement }
);

/// How much of a board is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    pub bodies: bool,
    pub from: usize,
    pub limit: usize,
    /// Only posts that have changed since the viewer had been told so much.
    pub since: Option<u64>,
}

pub fn whiteboard(clerk: &Clerk, id: SessionId, board: &Board<'_>, part: Part) -> WhiteboardView {
    let changed = part.since.and_then(|since| board.changed_since(since));
    let changed_since = part.since.filter(|_| changed.is_some());
    let posts = changed.unwrap_or_else(|| board.posts.iter().collect());
    let end = part.from.saturating_add(part.limit);
    let (ready_to_advance, why_not) = readiness(board.readiness.as_ref());
    let (cost, currency) = board.accounts.map(|ledger| spent(clerk, ledger)).unwrap_or_default();
    WhiteboardView {
        board_id: board.name.to_owned(),
        session_id: id.0,
        version: board.told,
        topic: board.topic.to_owned(),
        project: board.project.map(str::to_owned),
        phase: board.phase.into(),
        since: board.since,
        deadline: board.deadline,
        opened_by: board.opened_by.0.clone(),
        opened_at: board.opened_at,
        admission: board.admission.into(),
        debate_visibility: board.debate.into(),
        you: board.viewer.map(agent),
        agents: board.members.iter().map(|member| agent(member)).collect(),
        has_posted: board
            .has_posted
            .as_ref()
            .map(|names| names.iter().map(|n| n.0.clone()).collect()),
        next_cursor: (end < posts.len()).then(|| end.to_string()),
        posts: posts
            .into_iter()
            .skip(part.from)
            .take(part.limit)
            .map(|seen| post(seen, part.bodies))
            .collect(),
        changed_since,
        posts_total: board.posts.len(),
        seats: board.seats.iter().map(seat).collect(),
        usage: board.accounts.map(|ledger| usage(ledger.total())),
        cost,
        currency,
        budget: board.accounts.and_then(BudgetView::of),
        steps: board.steps.iter().map(step).collect(),
        ready_to_advance,
        why_not,
        allowed: board.allowed.clone(),
        next: board.next.clone(),
    }
}

fn readiness(readiness: Option<&Readiness>) -> (Option<bool>, Vec<String>) {
    readiness.map_or((None, vec![]), |readiness| (Some(readiness.ready), readiness.why_not.clone()))
}

pub fn agent(member: &whiteboard::Member) -> AgentView {
    AgentView {
        agent_name: member.name.0.clone(),
        role: member.role.into(),
        domain: member.domain.clone(),
        since: member.since,
    }
}

pub fn seat(seen: &SeatSeen<'_>) -> SeatView {
    let (sitter, standing) = (seen.sitter, seen.standing.as_ref());
    let status = standing.map(|standing| match standing {
        SeatStanding::Waiting => SeatStatus::Waiting,
        SeatStanding::Asked => SeatStatus::Asked,
        SeatStanding::Done { .. } => SeatStatus::Done,
        SeatStanding::Failed(_) => SeatStatus::Failed,
        SeatStanding::Stopped => SeatStatus::Stopped,
    });
    let (failure, left_out) = match standing {
        Some(SeatStanding::Failed(failure)) => (Some(failure_view(failure)), vec![]),
        Some(SeatStanding::Done { left_out }) => (None, left_out.clone()),
        Some(SeatStanding::Waiting | SeatStanding::Asked | SeatStanding::Stopped) | None => {
            (None, vec![])
        }
    };
    SeatView {
        agent_name: sitter.name.0.clone(),
        model: sitter.seat.model.0.clone(),
        agent: sitter.seat.seated.agent.as_ref().map(|agent| agent.0.clone()),
        status,
        failure,
        left_out,
    }
}

fn step(step: &whiteboard::Step) -> StepView {
    let by = step.by.as_ref().map(|by| by.0.clone());
    StepView { to: step.to.into(), by, note: step.note.clone(), at: step.at }
}

pub fn post(seen: &Seen<'_>, bodies: bool) -> PostView {
    let (post, content) = (seen.post, &seen.post.content);
    let line = view::line(seen);
    PostView {
        post_id: post.id.0.clone(),
        author: post.author.0.clone(),
        kind: content.kind.into(),
        title: content.title.clone(),
        body: bodies.then(|| content.body.clone()),
        target_file: content.target_file.clone(),
        target_location: content.target_location.clone(),
        severity: content.severity.map(SeverityName::from),
        finding_refs: content.finding_refs.clone(),
        cascade_targets: content.cascade_targets.clone(),
        at: post.at,
        standing: line.standing.into(),
        tally: tally(line.tally),
        annotations: seen.annotations.iter().map(|a| annotation(a, bodies)).collect(),
        votes: seen
            .votes
            .iter()
            .map(|vote| VoteView {
                by: vote.by.0.clone(),
                vote: vote.choice.into(),
                reason: vote.reason.clone().filter(|_| bodies),
                at: vote.at,
            })
            .collect(),
        partly_hidden: !seen.whole,
    }
}

fn tally(tally: whiteboard::Tally) -> TallyView {
    TallyView { accept: tally.accept, reject: tally.reject, defer: tally.defer }
}

fn annotation(annotation: &whiteboard::Annotation, bodies: bool) -> AnnotationView {
    let (kind, result, challenge) = match &annotation.note {
        Note::Validation { result } => (AnnotationType::Validation, Some((*result).into()), None),
        Note::Challenge => (AnnotationType::Challenge, None, None),
        Note::Corroboration => (AnnotationType::Corroboration, None, None),
        Note::Rebuttal { challenge } => (AnnotationType::Rebuttal, None, challenge.as_ref()),
        Note::Withdrawal { challenge } => (AnnotationType::Withdrawal, None, challenge.as_ref()),
        Note::Resolution { challenge } => (AnnotationType::Resolution, None, Some(challenge)),
    };
    AnnotationView {
        annotation_id: annotation.id.0.clone(),
        by: annotation.by.0.clone(),
        kind,
        result,
        challenge_id: challenge.map(|id| id.0.clone()),
        body: bodies.then(|| annotation.body.clone()),
        at: annotation.at,
        open: (kind == AnnotationType::Challenge).then(|| annotation.is_open_challenge()),
    }
}

pub fn summary(board: &Board<'_>) -> WhiteboardSummary {
    let summary = whiteboard::summarize(board);
    let of = |standing: Standing| {
        let lines = summary.lines.iter().filter(move |line| line.standing == standing);
        lines.map(|line| line.id.0.clone()).collect()
    };
    let (ready_to_advance, why_not) = readiness(board.readiness.as_ref());
    WhiteboardSummary {
        board_id: board.name.to_owned(),
        topic: board.topic.to_owned(),
        phase: board.phase.into(),
        agents: summary.agents,
        posts: summary.posts,
        annotations: summary.annotations,
        votes: summary.votes,
        surviving: of(Standing::Surviving),
        excluded: of(Standing::Excluded),
        withdrawn: of(Standing::Withdrawn),
        unresolved_challenges: summary
            .unresolved
            .iter()
            .map(|(post, challenge, by)| ChallengeView {
                post_id: post.0.clone(),
                annotation_id: challenge.0.clone(),
                by: by.0.clone(),
            })
            .collect(),
        unvalidated_posts: summary.unvalidated.iter().map(|id| id.0.clone()).collect(),
        outcome: outcome(&summary.outcome),
        lines: summary.lines.iter().map(line).collect(),
        ready_to_advance,
        why_not,
        allowed: board.allowed.clone(),
        next: board.next.clone(),
    }
}

fn line(line: &whiteboard::Line) -> SummaryLine {
    SummaryLine {
        post_id: line.id.0.clone(),
        author: line.author.0.clone(),
        kind: line.kind.into(),
        title: line.title.clone(),
        standing: line.standing.into(),
        tally: tally(line.tally),
        confirmed: line.confirmed,
        refuted: line.refuted,
        inconclusive: line.inconclusive,
    }
}

fn outcome(outcome: &Outcome) -> OutcomeView {
    let (decision, posts) = match outcome {
        Outcome::Accepted(post) => (DecisionName::Accepted, vec![post.0.clone()]),
        Outcome::Tied(posts) => {
            (DecisionName::Tied, posts.iter().map(|post| post.0.clone()).collect())
        }
        Outcome::Undecided => (DecisionName::Undecided, vec![]),
    };
    OutcomeView { decision, posts }
}

pub fn conflict(conflict: &conflict::Conflict) -> ConflictView {
    let posts = [conflict.first.0.clone(), conflict.second.0.clone()];
    ConflictView { kind: conflict.kind.into(), posts, over: conflict.over.clone() }
}
