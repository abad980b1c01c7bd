//! Boards and prompts that are there from the start.

use super::role::Role;
use crate::ids::ModelName;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Board {
    pub id: &'static str,
    pub name: &'static str,
    pub roles: &'static [Role],
}

pub const BOARDS: [Board; 4] = [
    Board {
        id: "classic-triad",
        name: "Classic Triad",
        roles: &[Role::Advocate, Role::Critic, Role::Analyst],
    },
    Board {
        id: "devils-court",
        name: "Devil's Court",
        roles: &[Role::Advocate, Role::Analyst, Role::DevilsAdvocate],
    },
    Board { id: "full-board", name: "Full Board", roles: &Role::ALL },
    Board {
        id: "peer-review",
        name: "Peer Review",
        roles: &[Role::Expert, Role::Critic, Role::Generalist],
    },
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prompt {
    pub id: &'static str,
    pub name: &'static str,
    pub text: &'static str,
}

pub const PROMPTS: [Prompt; 5] = [
    Prompt {
        id: "microservices-vs-monolith",
        name: "Microservices vs monolith",
        text: "Our product is one deployable monolith, built by 12 engineers, and its traffic doubles every year. Should we split it into services now, later or never? Say what would have to be true for each, and what you would do in the next three months.",
    },
    Prompt {
        id: "ai-in-hiring",
        name: "AI in hiring",
        text: "We get 4,000 applications a month and four recruiters read them. Should a model do the first screening? Consider fairness to applicants, the law, what it would save, and how we would notice that it goes wrong.",
    },
    Prompt {
        id: "remote-first",
        name: "Remote-first policy",
        text: "A company of 150 people with two offices wants to become remote-first for good. What happens to its culture, its hiring and its output, and which rules would make it work?",
    },
    Prompt {
        id: "open-source-the-product",
        name: "Open source the product",
        text: "We sell a developer tool as closed source to 300 customers. Should we open-source its core? Weigh revenue, competitors, contributors and support, and name the licence you would choose.",
    },
    Prompt {
        id: "rewrite-in-rust",
        name: "Rewrite in Rust",
        text: "Our busiest service is 60,000 lines of Python and costs us $40,000 a month in machines. Should we rewrite it in Rust? Consider speed, the team's experience, the risk of a rewrite and what could be done instead.",
    },
];

pub fn board(id: &str) -> Option<&'static Board> {
    BOARDS.iter().find(|board| board.id == id)
}

/// Seats models round-robin: the first role gets the first model, and so on.
pub fn assign<'a>(roles: &[Role], models: &'a [ModelName]) -> Vec<(Role, &'a ModelName)> {
    roles.iter().copied().zip(models.iter().cycle()).collect()
}

/// Who synthesizes when nobody was named: the fourth model, else the first.
pub fn synthesizer(models: &[ModelName]) -> Option<&ModelName> {
    models.get(3).or(models.first())
}
