//! A council in a few words: what goes on, what was said, what can be done now.

use super::{Stage, State, markdown};
use crate::form::{Happened, Progress, Report};
use crate::ids::{AgentName, ModelName};
use crate::ledger::Ledger;
use crate::record::{Document, Words, line};
use crate::room::title;

/// Posts that a short report shows.
const LAST_POSTS: usize = 10;

impl Report for State {
    fn status(&self) -> &'static str {
        match self.stage {
            Stage::Open { .. } => "open",
            Stage::Closed { .. } => "closed",
        }
    }

    fn title(&self) -> String {
        title(&self.charter)
    }

    fn called(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Nobody answers, or owes an answer. An open council goes on when somebody posts.
    fn is_over(&self) -> bool {
        match &self.stage {
            Stage::Open { turn, owed } => turn.is_none() && owed.is_empty(),
            Stage::Closed { .. } => true,
        }
    }

    /// Posts that are there, of those and the answers that are to come.
    fn progress(&self) -> Progress {
        let done = self.posts.len();
        let to_come = self.owing().len();
        let message = match (&self.stage, self.answering()) {
            (Stage::Closed { .. }, _) => "The council is closed.".to_owned(),
            (Stage::Open { .. }, Some(member)) => format!("{done} posts; {member} is answering."),
            (Stage::Open { .. }, None) => format!("{done} posts; no one is answering."),
        };
        Progress { done: done as u32, total: (done + to_come) as u32, message }
    }

    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    fn seated(&self) -> Vec<ModelName> {
        self.members.iter().filter_map(|member| member.model.clone()).collect()
    }

    /// The last posts; with `full` everything.
    fn report(&self, full: bool) -> String {
        if full {
            return markdown(self);
        }
        let mut out = Document::default();
        let first = self.posts.len().saturating_sub(LAST_POSTS);
        for post in &self.posts[first..] {
            out.paragraph(line!("**{}. {}**", post.sequence, Words(&post.sender)));
            out.answer(&post.body, post.cut);
        }
        match &self.stage {
            Stage::Closed { summary: Some(summary), .. } => {
                out.paragraph(line!("**Summary**"));
                out.quote(summary);
            }
            Stage::Closed { summary: None, .. } | Stage::Open { .. } => {}
        }
        out.brief()
    }

    fn next(&self) -> Vec<String> {
        let mut next = vec![];
        match &self.stage {
            Stage::Closed { .. } => {
                next.push("The council is closed: read it, or export it.".into())
            }
            Stage::Open { .. } => {
                let models: Vec<String> = self
                    .members
                    .iter()
                    .filter(|member| member.model.is_some())
                    .map(|member| format!("@{}", member.name))
                    .collect();
                if models.is_empty() {
                    next.push("Post, and read what others post.".to_owned());
                } else {
                    next.push(format!(
                        "Post: {} answer when you name them; a post that names no one, or @all, \
                         asks all of them.",
                        models.join(", ")
                    ));
                }
                if let Some(member) = self.answering() {
                    next.push(format!(
                        "{member} is answering: read with a wait to get the answer."
                    ));
                }
                next.push("Close it with a summary when the matter is settled.".to_owned());
            }
        }
        next
    }

    fn happened(&self) -> Happened {
        let said = (self.posts.len() + self.silences.len()) as u64;
        Happened { status: self.status(), said, waits_for: vec![] }
    }

    fn renewals(&self, agent: &AgentName) -> u32 {
        self.renewals(&agent.0)
    }
}
