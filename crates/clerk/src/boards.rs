//! Saved boards: which one is meant, add, copy, edit, remove, export, import, and what one
//! lacks here.

mod write;

use std::sync::Arc;

use plenary_domain::agent::{ModelChoice, Tier};
use plenary_domain::board::{self, Board, Seat, file};
use plenary_domain::boardroom::Quorum;
use plenary_domain::boards::{self as shelf, Command, Event};
use plenary_domain::{Allowance, Reject, Wrong, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::agents::{TierName, given};
use crate::boardrooms::{NewAdvisor, NewQuorum};
use crate::budgets::{NewAllowance, NewBudget};
use crate::models::NoModel;
use crate::sitters::{Sitters, Wanted};
use crate::{Clerk, ClerkError, Result};

/// A body of requests that write. Serde cannot share fields between bodies and refuse
/// unknown ones too, so those that adding and editing have in common stand here.
macro_rules! body {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        #[derive(Default, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $($own)*
            /// What people read; the name, where none is given.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, max_length = 80)]
            pub title: Option<Option<String>>,
            /// One line for lists.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, max_length = 300)]
            pub description: Option<Option<String>>,
            /// Who sits on it.
            #[schema(min_items = 1, max_items = 16, nullable = false)]
            pub seats: Option<Vec<NewAdvisor>>,
            /// Who writes the synthesis, and how it is asked.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<NewBoardSynthesis>)]
            pub synthesis: Option<Option<NewBoardSynthesis>>,
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<NewQuorum>)]
            pub quorum: Option<Option<NewQuorum>>,
            /// The advisors vote on each point of the synthesis.
            #[schema(nullable = false)]
            pub ballot: Option<bool>,
            /// People see what the others say before they have answered themselves.
            #[schema(nullable = false)]
            pub open_answers: Option<bool>,
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<NewBudget>)]
            pub budget: Option<Option<NewBudget>>,
            /// The language that all answer in; that of the question, where none is given.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, max_length = 60)]
            pub language: Option<Option<String>>,
        }

        impl $name {
            fn said(self) -> write::Said {
                write::Said {
                    title: self.title,
                    description: self.description,
                    seats: self.seats,
                    synthesis: self.synthesis,
                    quorum: self.quorum,
                    ballot: self.ballot,
                    open_answers: self.open_answers,
                    budget: self.budget,
                    language: self.language,
                }
            }
        }
    };
}

body! {
    pub struct NewSavedBoard {
        /// A board whose values the new one begins with, by its name. What else is given
        /// takes their place.
        pub copy_of: Option<String>,
        /// By which it is asked for. A copy that is given none is called `…-copy`.
        #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
        pub name: Option<String>,
    }
}

body! {
    pub struct BoardChanges {}
}

#[derive(Clone, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewBoardSynthesis {
    /// `provider/model`, or a bare name that one provider has.
    pub model: Option<String>,
    /// How able the model should be, in place of a model.
    pub tier: Option<TierName>,
    /// Said before what every synthesis is told.
    #[schema(max_length = 8192)]
    pub prompt: Option<String>,
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Tokens of the synthesis.
    #[schema(minimum = 16, maximum = 65536)]
    pub output_tokens: Option<u32>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BoardImport {
    /// The text of the file, TOML or JSON.
    #[schema(min_length = 1)]
    pub file: String,
    /// Another name than the file says; its title is not taken over then.
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
    pub name: Option<String>,
    /// Replace a board with the same name; off by default.
    pub replace: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFormat {
    Toml,
    Json,
}

/// Every board: those that ship with the program first, then the others by name.
pub async fn all(clerk: &Clerk) -> Result<Vec<Arc<Board>>> {
    let standing = standing(clerk).await?;
    Ok(shelf::all(standing.as_ref().map(saved).transpose()?))
}

/// The board that somebody means, by its name or title.
pub async fn find(clerk: &Clerk, written: &str) -> Result<Arc<Board>> {
    meant(clerk, written).await?.map_err(|problem| {
        let end = if problem.ends_with('?') { "" } else { "." };
        ClerkError::Boards(Reject::Unknown(problem.replacen("there", "There", 1) + end))
    })
}

/// The same; the inner error says which ones are near.
pub(crate) async fn meant(clerk: &Clerk, written: &str) -> Result<Result<Arc<Board>, String>> {
    // What ships with the program needs no look at the store.
    if let Some(board) = board::built_in().iter().find(|board| board.name == written) {
        return Ok(Ok(board.clone()));
    }
    Ok(board::find(&all(clerk).await?, written))
}

/// The board of whoever names none.
pub(crate) fn usual() -> Option<Arc<Board>> {
    board::built_in().first().cloned()
}

/// Adds a board, or a copy of one.
pub async fn add(clerk: &Clerk, by: By, new: NewSavedBoard) -> Result<Arc<Board>> {
    let (copy_of, name) = (new.copy_of.clone(), new.name.clone());
    let command = |given| Command::Add { copy_of, name, given: Box::new(given) };
    write::write(clerk, by, new.said(), command).await
}

/// Changes what is given and nothing else.
pub async fn edit(clerk: &Clerk, board: String, by: By, new: BoardChanges) -> Result<Arc<Board>> {
    let command = |given| Command::Edit { board, given: Box::new(given) };
    write::write(clerk, by, new.said(), command).await
}

/// Removes a board. Sessions that were convened from it keep what it said.
pub async fn remove(clerk: &Clerk, board: String, by: By) -> Result<()> {
    submit(clerk, by, Command::Remove { board }).await.map(|_| ())
}

/// Takes a board in from its file.
pub async fn import(clerk: &Clerk, by: By, new: BoardImport) -> Result<Arc<Board>> {
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return written(&earlier);
    }
    let mut board = read(&new.file, "file")?;
    // A title stays with the board that has it, as it does where one is copied.
    if let Some(name) = new.name.filter(|name| *name != board.name) {
        (board.name, board.title) = (name, String::new());
    }
    let replace = new.replace.unwrap_or(false);
    let command = Command::Put { board: Box::new(board), replace };
    written(&submit(clerk, by, command).await?)
}

/// A board as a file, with the agents that sit on it, so that it says the same elsewhere.
pub async fn export(clerk: &Clerk, written: &str, format: FileFormat) -> Result<(String, String)> {
    let board = find(clerk, written).await?;
    let mut whole = (*board).clone();
    let mut sitters = Sitters::new(clerk, board.agents.clone());
    whole.agents = vec![];
    for seat in &mut whole.seats {
        let Some(written) = &seat.agent else { continue };
        let agent = sitters.agent(written).await.map_err(|problem| {
            let problem = format!("cannot be written out: {}: {problem}", seat.part().name());
            ClerkError::Boards(Reject::Invalid(vec![Wrong::new("name", problem)]))
        })?;
        seat.agent = Some(agent.id.0.clone());
        if !whole.agents.iter().any(|other| other.id == agent.id) {
            let mut agent = (*agent).clone();
            agent.workspace = None;
            whole.agents.push(Arc::new(agent));
        }
    }
    let text = match format {
        FileFormat::Toml => board::toml(&whole),
        FileFormat::Json => board::json(&whole),
    };
    Ok((board.name.clone(), text))
}

/// The board that a file holds; every fault is told under the field that brought the file.
pub(crate) fn read(text: &str, field: &str) -> Result<Board> {
    file::read(text).map_err(|wrong| {
        let told = |one: Wrong| match one.field.as_str() {
            "file" => Wrong::new(field, one.problem),
            inner => Wrong::new(format!("{field}: {inner}"), one.problem),
        };
        ClerkError::Boards(Reject::Invalid(wrong.into_iter().map(told).collect()))
    })
}

/// What a board needs that is not here, in words.
pub async fn missing(clerk: &Clerk, board: &Board) -> Result<Vec<String>> {
    // What providers have is known when they have been asked; a full name alone asks nobody.
    clerk.engine.models().catalog().await;
    let mut sitters = Sitters::new(clerk, board.agents.clone());
    let mut missing = vec![];
    let synthesis = board.synthesis.model != ModelChoice::Any;
    let seats = board.seats.iter().enumerate().filter(|(_, seat)| seat.person.is_none());
    let seats = seats.map(|(place, seat)| {
        let name = format!("Seat {}, {}", place + 1, seat.part().name());
        (name, place, NewAdvisor::from(seat))
    });
    let (model, tier) = choice(&board.synthesis.model);
    let writer = NewAdvisor { model, tier: tier.map(TierName::from), ..NewAdvisor::default() };
    let writer = synthesis.then(|| ("The verdict".to_owned(), 0, writer));
    for (name, place, seat) in seats.chain(writer) {
        let problem = match sitters.find(Wanted::from(&seat), place, &[]).await {
            Ok(Ok(_)) => continue,
            Ok(Err((_, problem))) => problem,
            Err(_) => lacks_model(clerk, seat.tier.map(Tier::from)),
        };
        missing.push(format!("{name}: {problem}"));
    }
    Ok(missing)
}

/// There is no model at all: what the board would have needed is told beside it.
pub(crate) async fn lacking(clerk: &Clerk, board: &Board, none: NoModel) -> ClerkError {
    let missing = missing(clerk, board).await.unwrap_or_default();
    let told = missing.iter().map(|one| format!(" {one}."));
    let problem = format!("{}{}", none.problem, told.collect::<String>());
    ClerkError::NoModel(NoModel { problem, ..none })
}

fn lacks_model(clerk: &Clerk, tier: Option<Tier>) -> String {
    let Some(tier) = tier else { return "needs a model; none is available".to_owned() };
    let (name, tiers) = (tier.name(), clerk.tiers.now());
    match tiers.of(tier) {
        None => format!("needs a model of tier {name}; none is set"),
        Some(model) => {
            format!(
                "needs a model of tier {name}; the tier is set to {model}, which is not \
                     available"
            )
        }
    }
}

/// A model or a tier, apart.
pub(crate) fn choice(choice: &ModelChoice) -> (Option<String>, Option<Tier>) {
    match choice {
        ModelChoice::Any => (None, None),
        ModelChoice::Tier(tier) => (None, Some(*tier)),
        ModelChoice::Model(model) => (Some(model.0.clone()), None),
    }
}

pub(crate) fn quorum(wrong: &mut Vec<Wrong>, new: &NewQuorum) -> Quorum {
    if new.grace_seconds.is_some_and(|seconds| seconds < 0.0) {
        wrong.push(Wrong::new("quorum.graceSeconds", "must not be negative"));
    }
    let grace = |seconds: f64| (seconds.max(0.0) * 1000.0) as u64;
    Quorum { need: new.need, grace_ms: new.grace_seconds.map_or(limits::GRACE_MS, grace) }
}

/// What is wrong with advisors that nobody has written here is wrong with their board.
pub(crate) fn about(refused: ClerkError, board: &Board) -> ClerkError {
    let ClerkError::Refused(Reject::Invalid(wrong)) = refused else { return refused };
    let told = |one: Wrong| {
        let Some((place, field)) =
            one.field.strip_prefix("advisors[").and_then(|rest| rest.split_once("]."))
        else {
            return one;
        };
        let seat = place.parse::<usize>().ok().and_then(|place| board.seats.get(place));
        let name = seat.map(|seat| seat.part().name()).unwrap_or_default();
        Wrong::new("board", format!("{}, {name}, {field}: {}", board.name, one.problem))
    };
    ClerkError::Refused(Reject::Invalid(wrong.into_iter().map(told).collect()))
}

impl From<&Seat> for NewAdvisor {
    fn from(seat: &Seat) -> Self {
        let (model, tier) = choice(&seat.model);
        let own = seat.own.as_ref();
        let drawn = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        NewAdvisor {
            role: own.map_or_else(|| seat.role.id().to_owned(), |own| own.name.clone()),
            initials: own.and_then(|own| drawn(&own.initials)),
            colour: own.and_then(|own| drawn(&own.colour)),
            glyph: own.and_then(|own| drawn(&own.glyph)),
            model,
            tier: tier.map(TierName::from),
            agent: seat.agent.clone(),
            person: seat.person.clone(),
            reply_within_seconds: seat.reply_within_seconds,
            system_prompt: seat.prompt.clone(),
            temperature: seat.temperature,
            output_tokens: seat.output_tokens,
            tries: seat.tries,
            budget: Some(seat.budget).filter(|budget| !budget.is_none()).map(allowed),
        }
    }
}

fn allowed(Allowance { tokens, cost, time_ms }: Allowance) -> NewAllowance {
    NewAllowance { tokens, cost, currency: None, seconds: time_ms.map(|ms| ms / 1000) }
}

impl<'a> From<&'a NewAdvisor> for Wanted<'a> {
    fn from(advisor: &'a NewAdvisor) -> Self {
        Wanted {
            model: advisor.model.as_deref(),
            tier: advisor.tier.map(Tier::from),
            agent: advisor.agent.as_deref(),
            temperature: advisor.temperature,
            output_tokens: advisor.output_tokens,
        }
    }
}

/// Gives a command to the boards. The first one that is accepted opens their room.
async fn submit(clerk: &Clerk, by: By, command: Command) -> Result {
    for _ in 0..limits::DECISIONS {
        let command = room::Command::Boards(command.clone());
        match clerk.engine.named(shelf::KIND, shelf::NAME).await {
            Ok(id) => return clerk.engine.submit(id, by, command).await.map_err(of_boards),
            Err(EngineError::Unnamed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match clerk.engine.open(by.clone(), command).await {
            // Somebody else has opened it in the same moment, and what they added counts.
            Err(EngineError::Taken(_)) => {}
            opened => return opened.map_err(of_boards),
        }
    }
    Err(EngineError::Contended.into())
}

/// What the rules of the boards refuse is about boards.
fn of_boards(error: impl Into<ClerkError>) -> ClerkError {
    match error.into() {
        ClerkError::Refused(reject) => ClerkError::Boards(reject),
        error => error,
    }
}

/// The room of the boards as it stands, when there is one.
async fn standing(clerk: &Clerk) -> Result<Option<Snapshot>> {
    match clerk.engine.named(shelf::KIND, shelf::NAME).await {
        Ok(id) => Ok(Some(clerk.engine.get(id).await?)),
        Err(EngineError::Unnamed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn saved(snapshot: &Snapshot) -> Result<&shelf::State> {
    let boards = snapshot.room.boards();
    boards.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}

/// The board that a request wrote, as it stands now; one that was removed since, as it was
/// then.
fn written(snapshot: &Snapshot) -> Result<Arc<Board>> {
    let last = snapshot.recorded.last().map(|last| &last.event);
    let Some(room::Event::Boards(Event::BoardAdded { board } | Event::BoardEdited { board })) =
        last
    else {
        return Err(ClerkError::Unreadable("board"));
    };
    Ok(saved(snapshot)?.boards.get(&board.name).unwrap_or(board).clone())
}
