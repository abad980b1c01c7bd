//! A board in a few words, as anybody may know them.

use super::{Phase, State, madr};
use crate::form::{Happened, Progress, Report};
use crate::ids::{AgentName, ModelName};
use crate::ledger::Ledger;
use crate::room::title;
use crate::view::{self, Viewer};

impl Report for State {
    fn status(&self) -> &'static str {
        self.phase.name()
    }

    fn title(&self) -> String {
        title(&self.topic)
    }

    fn called(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Archived
    }

    /// Phases that are done; nothing of what is hidden.
    fn progress(&self) -> Progress {
        let (done, total) = (self.phase as u32, Phase::ALL.len() as u32 - 1);
        let message = match self.phase {
            Phase::Archived => "The board is archived.".to_owned(),
            phase => format!("The board is in its {} phase.", phase.name()),
        };
        Progress { done, total, message }
    }

    fn happened(&self) -> Happened {
        let seen = view::board(self, &Viewer::Outsider);
        Happened { status: seen.phase.name(), said: seen.told, waits_for: vec![] }
    }

    fn report(&self, _full: bool) -> String {
        madr(&view::board(self, &Viewer::Outsider))
    }

    fn next(&self) -> Vec<String> {
        view::glance(self, &Viewer::Outsider).next
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    /// What seats spend tells what they do.
    fn accounts(&self) -> Option<&Ledger> {
        view::accounts(self, &Viewer::Outsider)
    }

    fn seated(&self) -> Vec<ModelName> {
        self.sitters.iter().map(|sitter| sitter.seat.model.clone()).collect()
    }

    fn renewals(&self, agent: &AgentName) -> u32 {
        State::renewals(self, agent)
    }
}
