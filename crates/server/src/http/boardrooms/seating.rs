//! Who sits where: from what a person asked for to a whole board.

use std::time::Duration;

use plenary_domain::boardroom::{
    self, ContextFile, Convene, Quorum, Seat, SeatId, Sitter, Standing, preset,
};
use plenary_domain::{ModelName, Nonce, Reject, Report, council, limits, room};
use plenary_engine::Snapshot;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::App;
use crate::error::Problem;
use crate::http::models::Names;
use crate::views::RoleName;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBoardroom {
    /// The question.
    #[schema(min_length = 1, max_length = 65536)]
    prompt: String,
    /// A preset board; `classic-triad` when neither this nor `advisors` is given.
    #[serde(default)]
    board: Option<BoardName>,
    /// The advisors, in place of a preset board.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 16)]
    advisors: Option<Vec<NewAdvisor>>,
    /// Models to seat round-robin where none is named; those available, if there is none.
    #[serde(default)]
    models: Option<Vec<String>>,
    /// Who writes the synthesis.
    #[serde(default)]
    synthesizer: Option<String>,
    #[serde(default)]
    quorum: Option<NewQuorum>,
    /// The advisors vote on each point of the synthesis; off when absent.
    #[serde(default)]
    ballot: Option<bool>,
    /// Files that belong to the question.
    #[serde(default)]
    #[schema(max_items = 16)]
    context: Option<Vec<NewContext>>,
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
    role: RoleName,
    /// `provider/model`, or a bare name that one provider has.
    #[serde(default)]
    model: Option<String>,
    /// A person's name, in place of a model.
    #[serde(default)]
    person: Option<String>,
    /// How long the person has; without it the board waits.
    #[serde(default)]
    #[schema(minimum = 1)]
    reply_within_seconds: Option<u32>,
    /// In place of the role's own; an empty one means the role's own.
    #[serde(default)]
    #[schema(max_length = 8192)]
    system_prompt: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewQuorum {
    /// How many answers suffice.
    #[schema(minimum = 1, maximum = 16)]
    need: usize,
    /// How long the others still have; 20 when absent.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 3600)]
    grace_seconds: Option<f64>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewContext {
    pub name: String,
    pub text: String,
}

/// Fills in what was left open. Providers are only asked for their models when
/// that is needed: a board whose models are all named in full starts at once.
pub async fn seat(app: &App, new: NewBoardroom) -> Result<Convene, Problem> {
    let mut wrong: Vec<(String, String)> = vec![];
    if new.board.is_some() && new.advisors.is_some() {
        let problem = "give either a preset board or the advisors, not both";
        wrong.push(("board".to_owned(), problem.to_owned()));
    }
    let advisors = new.advisors.unwrap_or_else(|| preset_advisors(new.board));
    let mut names = Names::new(app);
    let mut pool = vec![];
    for (place, written) in new.models.iter().flatten().enumerate() {
        match names.find(written).await {
            Ok(model) => pool.push(model),
            Err(problem) => wrong.push((format!("models[{place}]"), problem)),
        }
    }
    let mut seats = vec![];
    // One more than there may be is enough for the rules to refuse them.
    for (place, advisor) in advisors.iter().take(limits::ADVISORS + 1).enumerate() {
        let sitter = match sitter(&mut names, app, advisor, place, &pool).await {
            Ok(sitter) => sitter,
            Err(Trouble::Field(field, problem)) => {
                wrong.push((format!("advisors[{place}].{field}"), problem));
                Sitter::Model(unknown_model())
            }
            Err(Trouble::Whole(problem)) if wrong.is_empty() => return Err(problem),
            Err(Trouble::Whole(_)) => Sitter::Model(unknown_model()),
        };
        seats.push(Seat {
            id: SeatId(u8::try_from(place + 1).unwrap_or(u8::MAX)),
            role: advisor.role.into(),
            sitter,
            system_prompt: advisor.system_prompt.clone(),
        });
    }
    let chosen = match &new.synthesizer {
        Some(written) => match names.find(written).await {
            Ok(model) => Some(model),
            Err(problem) => {
                wrong.push(("synthesizer".to_owned(), problem));
                Some(unknown_model())
            }
        },
        None => None,
    };
    let synthesizers = synthesizers(&mut names, chosen, &pool, &seats).await?;
    let grace_seconds = new.quorum.as_ref().and_then(|quorum| quorum.grace_seconds);
    if grace_seconds.is_some_and(|seconds| seconds < 0.0) {
        wrong.push(("quorum.graceSeconds".to_owned(), "must not be negative".to_owned()));
    }
    let grace = |seconds: f64| (seconds.max(0.0) * 1000.0) as u64;
    let convene = Convene {
        prompt: new.prompt,
        context: new
            .context
            .unwrap_or_default()
            .into_iter()
            .map(|file| ContextFile { name: file.name, text: file.text })
            .collect(),
        seats,
        synthesizers,
        quorum: new.quorum.map(|quorum| Quorum {
            need: quorum.need,
            grace_ms: quorum.grace_seconds.map_or(limits::GRACE_MS, grace),
        }),
        ballot: new.ballot.unwrap_or(false),
    };
    if wrong.is_empty() {
        return Ok(convene);
    }
    // The rules are asked as well, so that one answer names all that is wrong.
    let command = room::Command::Boardroom(boardroom::Command::Convene(convene));
    wrong.extend(against_the_rules(app, command));
    Err(Problem::invalid(wrong))
}

/// The council with the models of its members, by the names that were given.
pub async fn seat_council(
    app: &App,
    mut open: council::Open,
    models: Vec<Option<String>>,
) -> Result<council::Open, Problem> {
    let mut names = Names::new(app);
    let mut wrong: Vec<(String, String)> = vec![];
    // One more than there may be is enough for the rules to refuse them.
    open.members.truncate(limits::COUNCIL_MEMBERS + 1);
    for (place, (member, written)) in open.members.iter_mut().zip(models).enumerate() {
        let Some(written) = written else { continue };
        let found = names.find(&written).await;
        member.model = Some(found.unwrap_or_else(|problem| {
            wrong.push((format!("members[{place}].model"), problem));
            unknown_model()
        }));
    }
    if wrong.is_empty() {
        return Ok(open);
    }
    wrong.extend(against_the_rules(app, room::Command::Council(council::Command::Open(open))));
    Err(Problem::invalid(wrong))
}

/// Stands in where a name could not be found. Nothing is opened with it.
fn unknown_model() -> ModelName {
    ModelName::new("unknown", "unknown")
}

pub fn against_the_rules(app: &App, command: room::Command) -> Vec<(String, String)> {
    let (at, nonce) = (app.engine.clock().now(), Nonce(String::new()));
    match room::decide(None, room::Input { at, nonce, actor: String::new(), command }) {
        Err(Reject::Invalid(wrong)) => {
            wrong.into_iter().map(|wrong| (wrong.field, wrong.problem)).collect()
        }
        Err(
            Reject::NotNow { .. }
            | Reject::Unknown(_)
            | Reject::Forbidden(_)
            | Reject::NotInvited(_)
            | Reject::Stale,
        )
        | Ok(_) => vec![],
    }
}

fn preset_advisors(board: Option<BoardName>) -> Vec<NewAdvisor> {
    let id = match board.unwrap_or(BoardName::ClassicTriad) {
        BoardName::ClassicTriad => "classic-triad",
        BoardName::DevilsCourt => "devils-court",
        BoardName::FullBoard => "full-board",
        BoardName::PeerReview => "peer-review",
    };
    let roles = preset::board(id).map(|board| board.roles).unwrap_or_default();
    let advisor = |role: &_| NewAdvisor {
        role: RoleName::from(*role),
        model: None,
        person: None,
        reply_within_seconds: None,
        system_prompt: None,
    };
    roles.iter().map(advisor).collect()
}

/// The chosen synthesizer, then the board's other models, which take over in
/// turn when it fails.
async fn synthesizers(
    names: &mut Names<'_>,
    chosen: Option<ModelName>,
    pool: &[ModelName],
    seats: &[Seat],
) -> Result<Vec<ModelName>, Problem> {
    let seated = seats.iter().filter_map(|seat| match &seat.sitter {
        Sitter::Model(model) => Some(model.clone()),
        Sitter::Person { .. } => None,
    });
    let mut all: Vec<ModelName> = vec![];
    match chosen {
        Some(model) => all.push(model),
        None if !pool.is_empty() => all.extend(preset::synthesizer(pool).cloned()),
        None if names.listed() => {
            all.extend(preset::synthesizer(names.available().await?).cloned())
        }
        None => {}
    }
    all.extend(pool.iter().cloned().chain(seated));
    if all.is_empty() {
        all.extend(preset::synthesizer(names.available().await?).cloned());
    }
    let mut unique: Vec<ModelName> = vec![];
    for model in all {
        if !unique.contains(&model) && unique.len() < limits::SYNTHESIZERS {
            unique.push(model);
        }
    }
    Ok(unique)
}

enum Trouble {
    Field(&'static str, String),
    Whole(Problem),
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Trouble::Whole(problem)
    }
}

async fn sitter(
    names: &mut Names<'_>,
    app: &App,
    advisor: &NewAdvisor,
    place: usize,
    pool: &[ModelName],
) -> Result<Sitter, Trouble> {
    match (&advisor.person, &advisor.model) {
        (Some(_), Some(_)) => {
            Err(Trouble::Field("person", "give either a person or a model, not both".into()))
        }
        (Some(name), None) => {
            let wait = advisor.reply_within_seconds.map(|s| Duration::from_secs(s.into()));
            let reply_by = wait.map(|wait| app.engine.clock().now() + wait);
            Ok(Sitter::Person { name: name.clone(), reply_by })
        }
        (None, _) if advisor.reply_within_seconds.is_some() => {
            Err(Trouble::Field("replyWithinSeconds", "belongs to a person's seat".into()))
        }
        (None, Some(written)) => {
            let found = names.find(written).await;
            found.map(Sitter::Model).map_err(|problem| Trouble::Field("model", problem))
        }
        (None, None) if pool.is_empty() => Ok(Sitter::Model(names.any(place).await?)),
        (None, None) => Ok(Sitter::Model(pool[place % pool.len()].clone())),
    }
}

/// A model that a person named, in full.
pub async fn named(app: &App, written: Option<String>) -> Result<Option<ModelName>, Problem> {
    match written {
        Some(written) => Names::new(app).one("model", &written).await.map(Some),
        None => Ok(None),
    }
}

/// The one seat that waits for a person's votes.
pub fn voters_seat(snapshot: &Snapshot) -> Result<SeatId, Problem> {
    let state = super::board(snapshot)?;
    the_one(state, &state.awaited_voters(), "No votes are awaited on this board.")
}

/// The one seat that waits for a person.
pub fn persons_seat(snapshot: &Snapshot) -> Result<SeatId, Problem> {
    let state = super::board(snapshot)?;
    let waiting: Vec<SeatId> = state
        .advisors
        .iter()
        .filter(|advisor| matches!(advisor.seat.sitter, Sitter::Person { .. }))
        .filter(|advisor| advisor.standing == Standing::Asked)
        .map(|advisor| advisor.seat.id)
        .collect();
    the_one(state, &waiting, "No reply is awaited on this board.")
}

fn the_one(state: &boardroom::State, waiting: &[SeatId], none: &str) -> Result<SeatId, Problem> {
    match waiting {
        [one] => Ok(*one),
        [] => Err(Problem::from(Reject::NotNow {
            state: state.status(),
            message: none.into(),
            allowed: state.allowed(),
        })),
        many => {
            let seats: Vec<String> = many.iter().map(|seat| seat.0.to_string()).collect();
            let problem = format!("say for which seat: {}", seats.join(", "));
            Err(Problem::invalid([("advisor".to_owned(), problem)]))
        }
    }
}
