//! All saved boards of one store. It is a room of the common shape in which nothing is ever
//! due, like the library of agents.
//!
//! Boards that ship with the program stand in no log; the rules count them in.

mod event;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

pub use event::Event;

use crate::board::{self, Board};
use crate::call::{Call, Outcome};
use crate::form::{Form, Moment, Progress, Report, Ruling};
use crate::ids::CallId;
use crate::limits;
use crate::reject::{Reject, Wrong, settled};
use crate::room::no_session;

/// There is one such room in a store, of this kind and with this name.
pub const KIND: &str = State::KIND;
pub const NAME: &str = "boards";

// ---------------------------------------------------------------------------
// State

#[derive(Clone, PartialEq, Debug, Default)]
pub struct State {
    pub boards: BTreeMap<String, Arc<Board>>,
}

/// Every board: those that ship with the program first, then the others by name.
pub fn all(state: Option<&State>) -> Vec<Arc<Board>> {
    let saved = state.into_iter().flat_map(|state| state.boards.values().cloned());
    board::built_in().iter().cloned().chain(saved).collect()
}

// ---------------------------------------------------------------------------
// Command

#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    Add {
        /// The board whose values it begins with, by its name.
        copy_of: Option<String>,
        name: Option<String>,
        given: Box<Given>,
    },
    Edit {
        board: String,
        given: Box<Given>,
    },
    /// A whole board, in place of one of that name where that is wanted.
    Put {
        board: Box<Board>,
        replace: bool,
    },
    Remove {
        board: String,
    },
}

/// Fields of a board as somebody gave them: `None` where nothing was said, and
/// `Some(None)` where the field is to be cleared.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Given {
    pub title: Option<String>,
    pub description: Option<String>,
    pub seats: Option<Vec<board::Seat>>,
    pub synthesis: Option<board::Synthesis>,
    pub quorum: Option<Option<crate::boardroom::Quorum>>,
    pub ballot: Option<bool>,
    pub open_answers: Option<bool>,
    pub budget: Option<Option<crate::budget::Budget>>,
    pub currency: Option<Option<String>>,
    pub language: Option<Option<String>>,
}

// ---------------------------------------------------------------------------
// The rules

impl Form for State {
    const KIND: &'static str = "boards";
    const STATUSES: &'static [&'static str] = &["open"];
    type Command = Command;
    type Event = Event;

    /// What is not there yet is empty: the first board opens it.
    fn decide(state: Option<&Self>, command: Command, _: &Moment) -> Ruling<Event> {
        let all = all(state);
        match command {
            Command::Add { copy_of, name, given } => {
                add(state, &all, copy_of.as_deref(), name, *given)
            }
            Command::Edit { board, given } => {
                let before = own(&all, &board)?;
                let after = onto((*before).clone(), *given);
                checked(&after, &all)?;
                Ok(vec![Event::BoardEdited { board: Arc::new(after.filled()) }])
            }
            Command::Put { board, replace } => put(state, &all, *board, replace),
            Command::Remove { board } => {
                let gone = own(&all, &board)?;
                Ok(vec![Event::BoardRemoved { name: gone.name.clone() }])
            }
        }
    }

    fn settle(&self, _: &CallId, _: Outcome, _: &Moment) -> Ruling<Event> {
        Err(Reject::Stale)
    }

    fn stop(&self, _: &Moment) -> Ruling<Event> {
        Err(no_session())
    }

    fn open(event: &Event, at: Timestamp) -> Option<State> {
        State::apply(Some(State::default()), event, at)
    }

    fn take(&mut self, event: &Event, _: Timestamp) {
        match event {
            Event::BoardAdded { board } | Event::BoardEdited { board } => {
                self.boards.insert(board.name.clone(), board.clone());
            }
            Event::BoardRemoved { name } => {
                self.boards.remove(name);
            }
        }
    }

    fn due(&self) -> Vec<Call> {
        vec![]
    }

    /// Prompts are found among the boards and nowhere else.
    fn is_listed(&self, _: &Event) -> bool {
        false
    }
}

/// It is no session, so there is nothing to tell.
impl Report for State {
    fn status(&self) -> &'static str {
        "open"
    }

    fn title(&self) -> String {
        String::new()
    }

    fn called(&self) -> Option<&str> {
        Some(NAME)
    }

    fn is_over(&self) -> bool {
        true
    }

    fn progress(&self) -> Progress {
        Progress { done: 0, total: 0, message: String::new() }
    }

    fn report(&self, _: bool) -> String {
        String::new()
    }

    fn next(&self) -> Vec<String> {
        vec![]
    }
}

fn add(
    state: Option<&State>,
    all: &[Arc<Board>],
    copy_of: Option<&str>,
    name: Option<String>,
    given: Given,
) -> Ruling<Event> {
    let mut wrong = vec![];
    let model = copy_of.map(|written| board::find(all, written)).transpose();
    let model = model.unwrap_or_else(|problem| {
        wrong.push(Wrong::new("copyOf", problem));
        None
    });
    let name = name.map(|name| name.trim().to_owned());
    let base = match &model {
        Some(model) => {
            let name = name.unwrap_or_else(|| copy_name(&model.name, all));
            // What ships says who sits on it, which a copy may change.
            let description = match model.built_in {
                true => String::new(),
                false => model.description.clone(),
            };
            let title = String::new();
            Board { name, title, description, built_in: false, ..(**model).clone() }
        }
        None => Board::blank(&name.unwrap_or_default()),
    };
    let board = onto(base, given);
    taken(&mut wrong, &board.name, all);
    board::check(&mut wrong, &board, all);
    // What a copy would have brought is not missing besides.
    if copy_of.is_some() && model.is_none() {
        wrong.retain(|wrong| {
            let missing = (wrong.field == "seats" && board.seats.is_empty())
                || (wrong.field == "name" && board.name.is_empty());
            !missing
        });
    }
    free(wrong, &board.name)?;
    room_for(state)?;
    Ok(vec![Event::BoardAdded { board: Arc::new(board.filled()) }])
}

fn put(state: Option<&State>, all: &[Arc<Board>], board: Board, replace: bool) -> Ruling<Event> {
    let mut wrong = vec![];
    let before = all.iter().find(|other| other.name == board.name);
    let replaces = replace && before.is_some_and(|before| !before.built_in);
    if !replaces {
        taken(&mut wrong, &board.name, all);
    }
    board::check(&mut wrong, &board, all);
    free(wrong, &board.name)?;
    let board = Arc::new(Board { built_in: false, ..board.filled() });
    if replaces {
        return Ok(vec![Event::BoardEdited { board }]);
    }
    room_for(state)?;
    Ok(vec![Event::BoardAdded { board }])
}

fn taken(wrong: &mut Vec<Wrong>, name: &str, all: &[Arc<Board>]) {
    if let Some(other) = all.iter().find(|other| other.name == name) {
        let problem = match other.built_in {
            true => "is the name of a built-in board",
            false => ANOTHER,
        };
        wrong.push(Wrong::new("name", problem));
    }
}

const ANOTHER: &str = "is the name of another board";

/// Nothing is wrong. Where it is the name alone, which another board has that could be
/// replaced, that is said apart.
fn free(wrong: Vec<Wrong>, name: &str) -> Result<(), Reject> {
    match wrong.as_slice() {
        [one] if one.field == "name" && one.problem == ANOTHER => {
            Err(Reject::Taken(format!("There is another board called {name}.")))
        }
        _ => settled(wrong),
    }
}

fn checked(board: &Board, all: &[Arc<Board>]) -> Result<(), Reject> {
    let mut wrong = vec![];
    board::check(&mut wrong, board, all);
    settled(wrong)
}

fn room_for(state: Option<&State>) -> Result<(), Reject> {
    let most = limits::SAVED_BOARDS;
    if state.is_some_and(|state| state.boards.len() >= most) {
        return Err(Reject::NotNow {
            state: "full",
            message: format!("There are {most} boards, the maximum."),
            allowed: vec!["edit", "remove"],
        });
    }
    Ok(())
}

/// The board with what was given in place of what it had. Agents that came with it and
/// have no seat any more go.
fn onto(base: Board, given: Given) -> Board {
    let mut board = Board {
        title: given.title.map_or(base.title, |title| title.trim().to_owned()),
        description: given.description.map_or(base.description, |text| text.trim().to_owned()),
        seats: given.seats.unwrap_or(base.seats),
        synthesis: given.synthesis.unwrap_or(base.synthesis),
        quorum: given.quorum.unwrap_or(base.quorum),
        ballot: given.ballot.unwrap_or(base.ballot),
        open_answers: given.open_answers.unwrap_or(base.open_answers),
        budget: given.budget.unwrap_or(base.budget),
        currency: given.currency.unwrap_or(base.currency),
        language: given.language.unwrap_or(base.language),
        ..base
    };
    let seated: Vec<String> = board.wants_agents().map(str::to_owned).collect();
    board.agents.retain(|agent| seated.contains(&agent.id.0));
    board
}

/// `mine` → `mine-copy`, then `mine-copy-2`.
fn copy_name(name: &str, all: &[Arc<Board>]) -> String {
    let base = name.split_once("-copy").map_or(name, |(base, rest)| {
        let is_copy = rest.is_empty() || rest[1..].parse::<u32>().is_ok();
        if is_copy { base } else { name }
    });
    let numbered = (2..).map(|number| format!("-copy-{number}"));
    let mut ends = ["-copy".to_owned()].into_iter().chain(numbered);
    let free = |end: &String| {
        let room = limits::ROOM_NAME_BYTES.saturating_sub(end.len());
        let name = format!("{}{end}", &base[..base.len().min(room)]);
        (!all.iter().any(|board| board.name == name)).then_some(name)
    };
    ends.find_map(|end| free(&end)).unwrap_or_default()
}

/// A board that may be changed.
fn own(all: &[Arc<Board>], written: &str) -> Result<Arc<Board>, Reject> {
    let board = board::find(all, written).map_err(|problem| {
        let end = if problem.ends_with('?') { "" } else { "." };
        Reject::Unknown(problem.replacen("there", "There", 1) + end)
    })?;
    match board.built_in {
        false => Ok(board),
        true => Err(Reject::NotNow {
            state: "built in",
            message: format!(
                "{} is built in and cannot be changed or removed. Make a copy to edit.",
                board.called()
            ),
            allowed: vec!["copy"],
        }),
    }
}
