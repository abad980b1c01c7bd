//! A saved board: who sits on it, in which roles, by which models, and on which terms. A
//! board that is convened takes a copy: what is edited later changes no session.

mod check;
pub mod file;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::agent::{Agent, ModelChoice};
use crate::boardroom::{OwnRole, Quorum, Role, own, preset};
use crate::budget::{Allowance, Budget};
use crate::limits;
use crate::models::distance;
use crate::names::are_same;

pub use check::check;
pub use write::{json, toml};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Board {
    /// By which it is asked for: small letters, digits, dots, dashes, underscores.
    pub name: String,
    /// What people read; the name where it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// One line for lists.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Ships with the program; it cannot be changed or removed, only copied.
    #[serde(default, skip_serializing_if = "is_off")]
    pub built_in: bool,
    pub seats: Vec<Seat>,
    #[serde(default, skip_serializing_if = "Synthesis::is_plain")]
    pub synthesis: Synthesis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<Quorum>,
    #[serde(default, skip_serializing_if = "is_off")]
    pub ballot: bool,
    #[serde(default, skip_serializing_if = "is_off")]
    pub open_answers: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Of the budgets' money; that of the prices where it is convened, if none is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The language that all answer in; that of the question, if none is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Agents that came with it from elsewhere. They go before stored ones of that name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Arc<Agent>>,
}

/// An advisor of a saved board. Who sits there is settled when it is convened.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Seat {
    /// `Generalist`, where it has a role of its own.
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnRole>,
    /// By which it speaks, in place of the agent's own where an agent sits there.
    #[serde(default, skip_serializing_if = "is_any")]
    pub model: ModelChoice,
    /// A stored agent, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// A person, in place of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_within_seconds: Option<u32>,
    /// What the advisor is told, in place of the role's own prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tries: Option<u32>,
    #[serde(default, skip_serializing_if = "Allowance::is_none")]
    pub budget: Allowance,
}

/// Who writes the synthesis, and how it is asked.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Synthesis {
    #[serde(default, skip_serializing_if = "is_any")]
    pub model: ModelChoice,
    /// Said before what every synthesis is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u32>,
}

fn is_off(is: &bool) -> bool {
    !is
}

fn is_any(model: &ModelChoice) -> bool {
    *model == ModelChoice::Any
}

impl Synthesis {
    pub fn is_plain(&self) -> bool {
        *self == Synthesis::default()
    }
}

impl Seat {
    /// An advisor in a standard role, of whichever model is there.
    pub fn of(role: Role) -> Self {
        Seat {
            role,
            own: None,
            model: ModelChoice::Any,
            agent: None,
            person: None,
            reply_within_seconds: None,
            prompt: None,
            temperature: None,
            output_tokens: None,
            tries: None,
            budget: Allowance::default(),
        }
    }

    pub fn part(&self) -> own::Part<'_> {
        own::Part { role: self.role, own: self.own.as_ref() }
    }
}

impl Board {
    /// A board with nobody on it.
    pub fn blank(name: &str) -> Self {
        Board {
            name: name.to_owned(),
            title: String::new(),
            description: String::new(),
            built_in: false,
            seats: vec![],
            synthesis: Synthesis::default(),
            quorum: None,
            ballot: false,
            open_answers: false,
            budget: None,
            currency: None,
            language: None,
            agents: vec![],
        }
    }

    /// What people read.
    pub fn called(&self) -> &str {
        if self.title.is_empty() { &self.name } else { &self.title }
    }

    /// Whether money is limited anywhere on it.
    pub fn spends_money(&self) -> bool {
        let seats = self.seats.iter().map(|seat| seat.budget);
        let own = self.budget.iter().map(|budget| budget.most);
        seats.chain(own).any(|most| most.cost.is_some())
    }

    /// The agents that its seats name, by the ids that they name them by.
    pub fn wants_agents(&self) -> impl Iterator<Item = &str> {
        self.seats.iter().filter_map(|seat| seat.agent.as_deref())
    }

    /// With what was left open about its own roles filled in, and nothing that is empty.
    #[must_use]
    pub(crate) fn filled(mut self) -> Self {
        let roles: Vec<_> = self.seats.iter().map(|seat| (seat.role, seat.own.clone())).collect();
        for (seat, own) in self.seats.iter_mut().zip(own::fill(&roles)) {
            seat.own = own;
            seat.prompt = seat.prompt.take().filter(|prompt| !prompt.trim().is_empty());
        }
        let prompt = &mut self.synthesis.prompt;
        *prompt = prompt.take().filter(|prompt| !prompt.trim().is_empty());
        self
    }
}

/// The boards that ship with the program.
pub fn built_in() -> &'static [Arc<Board>] {
    static BOARDS: LazyLock<Vec<Arc<Board>>> = LazyLock::new(|| {
        let board = |board: &preset::Board| {
            let roles: Vec<&str> = board.roles.iter().map(|role| role.name()).collect();
            Arc::new(Board {
                title: board.name.to_owned(),
                description: roles.join(", "),
                built_in: true,
                seats: board.roles.iter().copied().map(Seat::of).collect(),
                ..Board::blank(board.id)
            })
        };
        preset::BOARDS.iter().map(board).collect()
    });
    &BOARDS
}

/// The board that somebody means, by its name, or by its title whatever the case. The error
/// says which ones are near.
pub fn find(boards: &[Arc<Board>], written: &str) -> Result<Arc<Board>, String> {
    let wanted = written.trim().to_lowercase();
    let by_name = boards.iter().find(|board| board.name == wanted);
    let by_title = || boards.iter().find(|board| are_same(board.called(), written));
    by_name.or_else(by_title).cloned().ok_or_else(|| {
        let mut near: Vec<(usize, &str)> = boards
            .iter()
            .map(|board| (distance(&wanted, &board.name), board.name.as_str()))
            .filter(|(far, name)| *far <= 3.max(wanted.len() / 3) || name.contains(&wanted))
            .collect();
        near.sort_unstable();
        let near: Vec<&str> = near.into_iter().take(5).map(|(_, name)| name).collect();
        let shown: String = written.chars().take(limits::ROOM_NAME_BYTES).collect();
        match near.is_empty() {
            true => {
                let names = boards.iter().map(|board| board.name.as_str());
                let told = crate::names::told(&wanted, names);
                format!("there is no board {shown:?}{told}")
            }
            false => format!("there is no board {shown:?}; did you mean {}?", near.join(", ")),
        }
    })
}
