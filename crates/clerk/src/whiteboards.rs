//! Whiteboards: open, register, invite, post, annotate, vote, move on.

use plenary_domain::whiteboard::{
    Admission, AnnotationId, Choice, Command, Content, Deadline, Event, Finding, NewSeat, Note,
    Open, Phase, PostId, PostKind, Role, Seat, Severity, Shown, State, Visibility,
};
use plenary_domain::{AgentName, Reject, SessionId, Viewer, Wrong, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::agents::TierName;
use crate::budgets::{self, NewAllowance, NewBudget};
use crate::identity::{self, Caller, Standing};
use crate::sitters::{Found, Sitters, Wanted};
use crate::{Clerk, ClerkError, Result, mirror};

pub const KIND: &str = "whiteboard";

mirror! {
    #[serde(rename_all = "lowercase")]
    PhaseName = Phase { Blind, Read, Validate, Debate, Resolve, Archived }
    #[serde(rename_all = "lowercase")]
    BoardRole = Role { Specialist, Facilitator, Operator }
    #[serde(rename_all = "lowercase")]
    PostType = PostKind { Proposal, Claim, Concern, Informational }
    #[serde(rename_all = "lowercase")]
    SeverityName = Severity { Critical, High, Medium, Low }
    #[serde(rename_all = "lowercase")]
    FindingName = Finding { Confirmed, Refuted, Inconclusive }
    #[serde(rename_all = "lowercase")]
    VoteName = Choice { Accept, Reject, Defer }
    #[serde(rename_all = "lowercase")]
    AdmissionName = Admission { Open, Invited }
    #[serde(rename_all = "kebab-case")]
    VisibilityName = Visibility { Full, OwnAndRelated }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnnotationType {
    Validation,
    Challenge,
    Corroboration,
    Rebuttal,
    Withdrawal,
    Resolution,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWhiteboard {
    /// The board's permanent name: lowercase letters, digits, dots, dashes, underscores.
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
    pub board_id: String,
    /// The question to be decided.
    #[schema(min_length = 1, max_length = 4096)]
    pub topic: String,
    /// Your name here. You are registered as facilitator.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub opened_by: String,
    /// The project that it belongs to; lists filter by it.
    #[schema(max_length = 200)]
    pub project: Option<String>,
    /// With `invited`, whoever wants to lead needs the invitation that comes back, and
    /// after the blind phase everybody a personal one; `open` lets anybody register.
    pub admission: Option<AdmissionName>,
    /// `own-and-related` hides, while the debate goes on, annotations and votes on
    /// posts that one has neither written nor acted on.
    pub debate_visibility: Option<VisibilityName>,
    /// At the end of a phase's time the board goes on by itself.
    pub deadlines: Option<Deadlines>,
    /// Models and saved agents that take part as specialists.
    #[serde(default)]
    #[schema(max_items = 12)]
    pub seats: Vec<NewBoardSeat>,
    pub budget: Option<NewBudget>,
}

/// A model or a stored agent that takes part by itself: it posts in blind, validates, and
/// in debate challenges, answers challenges and votes.
#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBoardSeat {
    /// Its name on this board.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub name: String,
    /// Whichever is there when absent; `@name` means a stored agent.
    #[schema(min_length = 1)]
    pub model: Option<String>,
    /// In place of a model.
    pub tier: Option<TierName>,
    /// A stored agent, by id or name: its persona and limits apply, and its model, where
    /// none is given here.
    #[schema(min_length = 1)]
    pub agent: Option<String>,
    /// What it knows about.
    #[schema(max_length = 300)]
    pub domain: Option<String>,
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Tokens of one answer.
    #[schema(minimum = 16, maximum = 65536)]
    pub output_tokens: Option<u32>,
    pub budget: Option<NewAllowance>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deadlines {
    /// Seconds that the phase lasts at most.
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub blind_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub read_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub validate_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub debate_seconds: Option<u32>,
    #[schema(minimum = 1, maximum = 7_776_000)]
    pub resolve_seconds: Option<u32>,
}

impl Deadlines {
    fn list(&self) -> Vec<Deadline> {
        let given = [
            (Phase::Blind, self.blind_seconds),
            (Phase::Read, self.read_seconds),
            (Phase::Validate, self.validate_seconds),
            (Phase::Debate, self.debate_seconds),
            (Phase::Resolve, self.resolve_seconds),
        ];
        given
            .into_iter()
            .filter_map(|(phase, seconds)| {
                let after_ms = u64::from(seconds?) * 1000;
                Some(Deadline { phase, after_ms })
            })
            .collect()
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAgent {
    /// Your name on this board.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub agent_name: String,
    /// `facilitator` and `operator` may also move the board from phase to phase.
    pub role: BoardRole,
    /// What you know about.
    #[schema(max_length = 300)]
    pub domain: Option<String>,
    /// On a board that needs an invitation: the code you were given. Specialists need
    /// none in the blind phase.
    #[schema(max_length = 200)]
    pub invitation: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewInvitation {
    /// Who is to register, by the name that they will have. Without one the board's own
    /// invitation is renewed, and earlier ones are refused.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub invite: Option<String>,
    /// The role in which they are to register: `specialist` when absent.
    pub role: Option<BoardRole>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewPost {
    /// What kind of post.
    #[serde(rename = "type")]
    pub kind: PostType,
    /// The point in one line.
    #[schema(min_length = 1, max_length = 300)]
    pub title: String,
    /// The reasons, with evidence.
    #[schema(min_length = 1, max_length = 65536)]
    pub body: String,
    /// The file that this is about.
    #[schema(max_length = 500)]
    pub target_file: Option<String>,
    /// Lines (`12-40`) or a symbol of that file.
    #[schema(max_length = 500)]
    pub target_location: Option<String>,
    /// How bad it is, where that applies.
    pub severity: Option<SeverityName>,
    /// Findings that several posts may speak of.
    #[serde(default)]
    #[schema(max_items = 64)]
    pub finding_refs: Vec<String>,
    /// Files that would have to change too.
    #[serde(default)]
    #[schema(max_items = 64)]
    pub cascade_targets: Vec<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewAnnotation {
    /// The post, as `author/number`.
    pub post_id: String,
    /// `validation` in validate; `challenge`, `corroboration`, `rebuttal` (by the
    /// author) and `withdrawal` in debate; `resolution` in debate and resolve.
    #[serde(rename = "type")]
    pub kind: AnnotationType,
    /// May be empty in a withdrawal.
    #[serde(default)]
    #[schema(max_length = 65536)]
    pub body: String,
    /// Of a validation.
    pub result: Option<FindingName>,
    /// The challenge that a resolution settles, a rebuttal answers, or its challenger
    /// withdraws.
    pub challenge_id: Option<String>,
}

impl NewAnnotation {
    fn note(&self) -> Result<Note> {
        let challenge = self.challenge_id.clone().map(AnnotationId);
        let only = "is only for a validation";
        if self.result.is_some() && self.kind != AnnotationType::Validation {
            return Err(ClerkError::wrong("result", only));
        }
        let note = match (self.kind, challenge) {
            (AnnotationType::Validation, None) => {
                let missing = "a validation needs a result: confirmed, refuted or inconclusive";
                let result = self.result.ok_or_else(|| ClerkError::wrong("result", missing))?;
                Note::Validation { result: result.into() }
            }
            (AnnotationType::Challenge, None) => Note::Challenge,
            (AnnotationType::Corroboration, None) => Note::Corroboration,
            (AnnotationType::Rebuttal, challenge) => Note::Rebuttal { challenge },
            (AnnotationType::Withdrawal, challenge) => Note::Withdrawal { challenge },
            (AnnotationType::Resolution, Some(challenge)) => Note::Resolution { challenge },
            (AnnotationType::Resolution, None) => {
                return Err(ClerkError::wrong(
                    "challengeId",
                    "a resolution must name the challenge it settles",
                ));
            }
            (
                AnnotationType::Validation
                | AnnotationType::Challenge
                | AnnotationType::Corroboration,
                Some(_),
            ) => {
                let problem = "is only for a rebuttal, a withdrawal or a resolution";
                return Err(ClerkError::wrong("challengeId", problem));
            }
        };
        Ok(note)
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewVote {
    /// The post, as `author/number`.
    pub post_id: String,
    /// Your choice.
    pub vote: VoteName,
    /// Why, for the record.
    #[schema(max_length = 65536)]
    pub reason: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Move {
    /// blind → read → validate → debate → resolve → archived; read → debate and
    /// validate → resolve may be skipped to.
    pub target_phase: PhaseName,
    /// Why, for the record.
    #[schema(max_length = 65536)]
    pub note: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardClosing {
    /// What you want the record to say about the decision.
    #[schema(max_length = 65536)]
    pub note: Option<String>,
}

/// Opens a board in its blind phase.
pub async fn open(
    clerk: &Clerk,
    id: Option<SessionId>,
    (by, standing): (By, &Standing),
    new: NewWhiteboard,
) -> Result {
    let opener = AgentName(new.opened_by);
    let by = identity::opened(by, &opener);
    if let Some(earlier) = clerk.opened(id, &by).await? {
        return Ok(earlier);
    }
    let (mut sitters, mut wrong, mut seats) = (Sitters::new(clerk, vec![]), vec![], vec![]);
    // One more than there may be is enough for the rules to refuse them.
    for (place, seat) in new.seats.into_iter().take(limits::BOARD_SEATS + 1).enumerate() {
        let at = |field: &str| format!("seats[{place}].{field}");
        seats.push(sit(&mut sitters, &mut wrong, place, seat, at).await?);
    }
    let prices = clerk.noted(seats.iter().map(|new| &new.seat.model));
    let budget = budgets::budget(&clerk.prices.now().currency, &mut wrong, new.budget);
    let open = Open {
        name: new.board_id,
        topic: new.topic,
        project: new.project,
        by: opener.clone(),
        principal: standing.principal().map(str::to_owned),
        admission: new.admission.unwrap_or(AdmissionName::Open).into(),
        debate: new.debate_visibility.unwrap_or(VisibilityName::Full).into(),
        deadlines: new.deadlines.map(|deadlines| deadlines.list()).unwrap_or_default(),
        seats,
        prices,
        budget,
    };
    let command = room::Command::Whiteboard(Command::Open(open));
    match wrong.is_empty() {
        true => clerk.open(id, by, command).await,
        false => Err(clerk.refused(wrong, None, command)),
    }
}

/// Who is meant to sit there, and by which model.
async fn sit(
    sitters: &mut Sitters<'_>,
    wrong: &mut Vec<Wrong>,
    place: usize,
    new: NewBoardSeat,
    at: impl Fn(&str) -> String,
) -> Result<NewSeat> {
    let wanted = Wanted {
        model: new.model.as_deref(),
        tier: new.tier.map(Into::into),
        agent: new.agent.as_deref(),
        temperature: new.temperature,
        output_tokens: new.output_tokens,
    };
    let found = match sitters.find(wanted, place, &[]).await? {
        Ok(found) => found,
        Err((field, problem)) => {
            wrong.push(Wrong::new(at(field), problem));
            Found::nobody()
        }
    };
    let here = sitters.clerk().prices.now().currency.clone();
    let budget = budgets::allowance(&here, wrong, &at("budget"), new.budget);
    let Found { model, seated, budget: own } = found;
    let seat = Seat { model, seated, budget: budget.unwrap_or(own) };
    Ok(NewSeat { name: AgentName(new.name), domain: new.domain, seat })
}

/// Seats a model or a stored agent, for those who lead.
pub async fn seat(clerk: &Clerk, caller: Caller, new: NewBoardSeat) -> Result<(Snapshot, Viewer)> {
    // Whoever may not do it is told so before anybody is looked up.
    leads(&caller, &clerk.engine.get(caller.session).await?)?;
    let (mut sitters, mut wrong) = (Sitters::new(clerk, vec![]), vec![]);
    let new = sit(&mut sitters, &mut wrong, 0, new, str::to_owned).await?;
    if !wrong.is_empty() {
        return Err(Reject::Invalid(wrong).into());
    }
    let prices = clerk.noted([&new.seat.model]);
    act(clerk, caller, |agent| Command::Seat { agent, new, prices }).await
}

/// Makes sure that the caller is one of those who lead the board. What runs there is
/// nobody else's to know, also not from a refusal.
pub(crate) fn leads(caller: &Caller, snapshot: &Snapshot) -> Result<()> {
    Ok(board(snapshot)?.is_led_by(&caller.proven.agent()?)?)
}

/// Registers an agent that has shown this.
pub async fn register(clerk: &Clerk, caller: Caller, shown: Shown, new: NewAgent) -> Result {
    let (id, agent, role) = (caller.session, AgentName(new.agent_name), new.role.into());
    let by = identity::claimed(caller.by, id, &agent);
    // Whoever repeats their own request comes without the answer, so without a token.
    let repeated = clerk.engine.repeated(&by).await?.is_some();
    if !repeated {
        let now = clerk.engine.get(id).await?;
        let state = board(&now)?;
        // Whoever may not come in is not told who is in.
        state.admit(&agent, role, shown)?;
        if state.member(&agent).is_some() {
            caller.proven.prove(&agent)?;
        }
    }
    let command = Command::Register { agent: agent.clone(), role, domain: new.domain, shown };
    let snapshot = submit(clerk, id, by, command).await?;
    // Two that come at once: the log says who was first.
    if !repeated && snapshot.written.is_none() {
        caller.proven.prove(&agent)?;
    }
    Ok(snapshot)
}

/// Invites the one who is named, or renews the board's own invitation.
pub async fn invite(
    clerk: &Clerk,
    caller: Caller,
    new: NewInvitation,
) -> Result<(Snapshot, Option<(AgentName, Role)>)> {
    if new.invite.is_none() && new.role.is_some() {
        return Err(ClerkError::wrong("role", "needs the name you `invite`"));
    }
    let role = new.role.map_or(Role::Specialist, Role::from);
    let newcomer = new.invite.map(|invite| (AgentName(invite), role));
    let invited = newcomer.clone();
    let command = |agent| Command::Invite { agent, newcomer };
    let (snapshot, _) = act(clerk, caller, command).await?;
    Ok((snapshot, invited))
}

/// What was written: on which post, and which annotation.
pub struct Written {
    pub snapshot: Snapshot,
    /// Who wrote it.
    pub viewer: Viewer,
    pub post: PostId,
    pub annotation: Option<AnnotationId>,
}

/// Posts.
pub async fn post(clerk: &Clerk, caller: Caller, new: NewPost) -> Result<Written> {
    let content = Content {
        kind: new.kind.into(),
        title: new.title,
        body: new.body,
        target_file: new.target_file,
        target_location: new.target_location,
        severity: new.severity.map(Into::into),
        finding_refs: new.finding_refs,
        cascade_targets: new.cascade_targets,
    };
    write(clerk, caller, |agent| Command::Post { agent, content }, None).await
}

/// Annotates a post.
pub async fn annotate(clerk: &Clerk, caller: Caller, new: NewAnnotation) -> Result<Written> {
    let note = new.note()?;
    let post = PostId(new.post_id);
    let (on, body) = (post.clone(), new.body);
    let command = |agent| Command::Annotate { agent, post: on, note, body };
    write(clerk, caller, command, Some(post)).await
}

/// Votes on a post.
pub async fn vote(clerk: &Clerk, caller: Caller, new: NewVote) -> Result<Written> {
    let post = PostId(new.post_id);
    let (on, choice, reason) = (post.clone(), new.vote.into(), new.reason);
    let command = |agent| Command::Vote { agent, post: on, choice, reason };
    write(clerk, caller, command, Some(post)).await
}

/// Moves the board on, or archives it.
pub async fn transition(clerk: &Clerk, caller: Caller, new: Move) -> Result<(Snapshot, Viewer)> {
    let (to, note) = (new.target_phase.into(), new.note);
    act(clerk, caller, |agent| Command::Transition { agent, to, note }).await
}

/// Adds to a post, or makes one.
async fn write(
    clerk: &Clerk,
    caller: Caller,
    command: impl FnOnce(AgentName) -> Command,
    post: Option<PostId>,
) -> Result<Written> {
    let (snapshot, viewer) = act(clerk, caller, command).await?;
    // The event itself says what was written, also by an earlier request with the same key.
    let (written, annotation) = match snapshot.recorded.last().map(|last| &last.event) {
        Some(room::Event::Whiteboard(event)) => written(event),
        Some(_) | None => (None, None),
    };
    let post = written.or(post).ok_or_else(no_such_post)?;
    Ok(Written { snapshot, viewer, post, annotation })
}

pub fn no_such_post() -> ClerkError {
    Reject::Unknown("There is no such post.".to_owned()).into()
}

fn written(event: &Event) -> (Option<PostId>, Option<AnnotationId>) {
    match event {
        Event::Posted { id, .. } => (Some(id.clone()), None),
        Event::Annotated { id, post, .. } => (Some(post.clone()), Some(id.clone())),
        Event::Voted { post, .. } => (Some(post.clone()), None),
        Event::Opened { .. }
        | Event::Registered { .. }
        | Event::InvitationRenewed { .. }
        | Event::Invited { .. }
        | Event::TokenRenewed { .. }
        | Event::Seated { .. }
        | Event::Priced(_)
        | Event::Budgeted(_)
        | Event::TimeOver { .. }
        | Event::Answered { .. }
        | Event::AnswerFailed { .. }
        | Event::AnswerStopped { .. }
        | Event::Stopped { .. }
        | Event::Transitioned { .. } => (None, None),
    }
}

/// A command of the agent that the caller has proven to be, who then looks.
async fn act(
    clerk: &Clerk,
    caller: Caller,
    command: impl FnOnce(AgentName) -> Command,
) -> Result<(Snapshot, Viewer)> {
    let (id, agent) = (caller.session, caller.proven.agent()?);
    let by = identity::by(caller.by, id, &agent);
    Ok((submit(clerk, id, by, command(agent.clone())).await?, Viewer::Agent(agent)))
}

/// What needs nothing to be found out.
pub async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Whiteboard(command)).await?)
}

/// Whether a board is blind, by its name or its id. One that is not there hides nothing.
pub(crate) async fn is_blind(clerk: &Clerk, written: &str) -> Result<bool> {
    let id = match written.parse::<SessionId>() {
        Ok(id) => Ok(id),
        Err(_) => clerk.engine.named(KIND, written).await,
    };
    let room = match id {
        Ok(id) => clerk.engine.get(id).await.map(|snapshot| snapshot.room),
        Err(error) => Err(error),
    };
    match room {
        Ok(room) => Ok(room.whiteboard().is_some_and(|board| board.phase() == Phase::Blind)),
        Err(EngineError::NotFound(_) | EngineError::Unnamed { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A session of another form is no whiteboard.
pub fn board(snapshot: &Snapshot) -> Result<&State> {
    let board = snapshot.room.whiteboard();
    board.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}
