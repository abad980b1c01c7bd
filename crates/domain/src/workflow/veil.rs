//! What a run knows before everybody may: what its seats have posted on blind boards, and
//! whatever was made from that. Until such a board is opened, whoever does not own the run
//! sees that it goes on, and nothing else.

use std::collections::BTreeSet;

use serde_json::Value;

use super::definition::{Definition, Kind};
use super::event::{Ending, Event};
use super::kinds::Act;
use super::{Stage, State};
use crate::form::Report;
use crate::ledger::Ledger;

impl Definition {
    fn has(&self, wanted: Act) -> bool {
        let is_wanted = |kind: &Kind| matches!(kind, Kind::Act { act, .. } if *act == wanted);
        self.all_steps().into_iter().any(|step| is_wanted(&step.kind))
    }
}

impl State {
    /// Whether it may know something of a board that is still blind, as far as it can tell
    /// itself. What the results of other runs are made from it cannot tell.
    fn keeps_secrets(&self) -> bool {
        let posts = self.definition.has(Act::WhiteboardPost);
        let is_unopened = || self.boards().is_empty() || !self.unopened_boards().is_empty();
        posts && is_unopened() || self.deeds().any(|(act, _)| act == Act::Workflow.name())
    }

    /// The boards on which it acts and which it has not itself led out of the blind phase,
    /// as its steps name them.
    pub fn unopened_boards(&self) -> Vec<&str> {
        let done = self.deeds().filter(|(act, _)| *act == Act::WhiteboardTransition.name());
        let opened: BTreeSet<&str> =
            done.filter_map(|(_, with)| with.get("board").and_then(Value::as_str)).collect();
        self.boards().into_iter().filter(|board| !opened.contains(board)).collect()
    }

    /// Whether nobody can tell yet on which board it will post.
    pub fn has_yet_to_post(&self) -> bool {
        self.definition.has(Act::WhiteboardPost) && self.boards().is_empty() && !self.is_over()
    }

    /// The boards on which its steps act.
    fn boards(&self) -> BTreeSet<&str> {
        let acts = self.acts().filter(|(_, act, ..)| act.starts_with("whiteboard."));
        acts.filter_map(|(_, _, with, _)| with.get("board").and_then(Value::as_str)).collect()
    }

    /// The runs that it has opened.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let opened = self.acts().filter(|(_, act, ..)| *act == Act::Workflow.name());
        opened.filter_map(|(step, ..)| step.session.as_deref())
    }

    /// The same run as whoever does not own it sees it while it keeps a secret: what it is,
    /// and whether it has ended.
    pub fn veiled(&self) -> State {
        let stage = match &self.stage {
            Stage::Running | Stage::Finally { .. } => Stage::Running,
            Stage::Ended { ending, at } => {
                let (reason, outputs) = Default::default();
                Stage::Ended { ending: Ending { reason, outputs, ..ending.clone() }, at: *at }
            }
        };
        State {
            steps: Default::default(),
            cancel: None,
            opened: Default::default(),
            stopping: Default::default(),
            called_off: Default::default(),
            granted: Default::default(),
            counted: Default::default(),
            cut: Default::default(),
            ledger: Ledger::default(),
            changed_at: self.began_at,
            is_veiled: true,
            stage,
            ..self.clone()
        }
    }

    /// Whether everybody may know of an event: of one that may tell what was posted, only
    /// whoever follows the run itself.
    pub(super) fn is_open_about(&self, event: &Event) -> bool {
        let tells_nothing = matches!(event, Event::Begun { forked: None, .. });
        tells_nothing || !self.keeps_secrets()
    }
}
