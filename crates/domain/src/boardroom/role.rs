//! The six perspectives that an advisor can take.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    Advocate,
    Critic,
    Analyst,
    DevilsAdvocate,
    Expert,
    Generalist,
}

impl Role {
    pub const ALL: [Role; 6] = [
        Role::Advocate,
        Role::Critic,
        Role::Analyst,
        Role::DevilsAdvocate,
        Role::Expert,
        Role::Generalist,
    ];

    pub const IDS: [&'static str; 6] =
        ["advocate", "critic", "analyst", "devils-advocate", "expert", "generalist"];

    /// The name in JSON and on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Role::Advocate => Role::IDS[0],
            Role::Critic => Role::IDS[1],
            Role::Analyst => Role::IDS[2],
            Role::DevilsAdvocate => Role::IDS[3],
            Role::Expert => Role::IDS[4],
            Role::Generalist => Role::IDS[5],
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Role::Advocate => "Advocate",
            Role::Critic => "Critic",
            Role::Analyst => "Analyst",
            Role::DevilsAdvocate => "Devil's Advocate",
            Role::Expert => "Expert",
            Role::Generalist => "Generalist",
        }
    }

    pub fn colour(self) -> &'static str {
        match self {
            Role::Advocate => "#4caf50",
            Role::Critic => "#f44336",
            Role::Analyst => "#2196f3",
            Role::DevilsAdvocate => "#ff9800",
            Role::Expert => "#9c27b0",
            Role::Generalist => "#607d8b",
        }
    }

    /// Two letters, by which it is told apart where there is no room for its name.
    pub fn initials(self) -> &'static str {
        match self {
            Role::Advocate => "AD",
            Role::Critic => "CR",
            Role::Analyst => "AN",
            Role::DevilsAdvocate => "DA",
            Role::Expert => "EX",
            Role::Generalist => "GE",
        }
    }

    /// What a person choosing a role needs to know.
    pub fn perspective(self) -> &'static str {
        match self {
            Role::Advocate => "The strongest case in favour: benefits and opportunities.",
            Role::Critic => "Weaknesses, risks and flaws; questions assumptions.",
            Role::Analyst => "Evidence and numbers; weighs the trade-offs without a side.",
            Role::DevilsAdvocate => "Argues the opposite case on purpose, to see what holds up.",
            Role::Expert => "Knows the field: accuracy, detail and edge cases.",
            Role::Generalist => "Connects fields; plain language and practical advice.",
        }
    }

    pub fn system_prompt(self) -> &'static str {
        match self {
            Role::Advocate => include_str!("prompts/advocate.md"),
            Role::Critic => include_str!("prompts/critic.md"),
            Role::Analyst => include_str!("prompts/analyst.md"),
            Role::DevilsAdvocate => include_str!("prompts/devils-advocate.md"),
            Role::Expert => include_str!("prompts/expert.md"),
            Role::Generalist => include_str!("prompts/generalist.md"),
        }
    }

    /// Reads a role as people write it: `devils-advocate`, `Devil's Advocate`.
    pub fn parse(text: &str) -> Option<Role> {
        let letters = |text: &str| -> String {
            text.chars().filter(|c| c.is_ascii_alphabetic()).collect::<String>().to_lowercase()
        };
        let wanted = letters(text);
        Role::ALL.into_iter().find(|role| letters(role.id()) == wanted)
    }
}
