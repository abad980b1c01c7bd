//! What a discussion is for, and how each of its participants engages.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Brainstorm,
    Review,
    Deliberation,
}

impl Format {
    pub const ALL: [Format; 3] = [Format::Brainstorm, Format::Review, Format::Deliberation];

    pub fn name(self) -> &'static str {
        match self {
            Format::Brainstorm => "brainstorm",
            Format::Review => "review",
            Format::Deliberation => "deliberation",
        }
    }

    /// The built-in agent that leads when nobody is named.
    pub fn usual_facilitator(self) -> &'static str {
        match self {
            Format::Brainstorm => "the-spark",
            Format::Review => "the-examiner",
            Format::Deliberation => "the-impartial-chair",
        }
    }

    /// The built-in agents that take part when nobody is named.
    pub fn usual_participants(self) -> [(&'static str, Role); 3] {
        use Role::{DevilAdvocate, Participant};
        match self {
            Format::Brainstorm => [
                ("product-thinker", Participant),
                ("users-voice", Participant),
                ("engineer", Participant),
            ],
            Format::Review => {
                [("engineer", Participant), ("operator", Participant), ("skeptic", DevilAdvocate)]
            }
            Format::Deliberation => [
                ("engineer", Participant),
                ("product-thinker", Participant),
                ("skeptic", DevilAdvocate),
            ],
        }
    }

    /// What the one who leads is told about it: nothing that is for those who take part.
    pub fn purpose(self) -> &'static str {
        match self {
            Format::Brainstorm => {
                "This is a brainstorm: the group looks for many different ideas, including \
                 unusual ones, and saves judgement for later."
            }
            Format::Review => {
                "This is a review: the group judges what is there, how much each strength and \
                 weakness matters, and how to fix what is weak."
            }
            Format::Deliberation => {
                "This is a deliberation: the group weighs the arguments and their evidence."
            }
        }
    }

    /// What everybody is told about it who takes part.
    pub fn instruction(self) -> &'static str {
        match self {
            Format::Brainstorm => {
                "This is a brainstorm: look for many different ideas, including unusual ones. Build \
                 on what others propose, and save judgement for later."
            }
            Format::Review => {
                "This is a review: judge what is there. Name strengths and weaknesses, say how \
                 much each one matters, and how to fix what is weak."
            }
            Format::Deliberation => {
                "This is a deliberation: weigh the arguments and their evidence, say what would \
                 change your mind, and work towards a position that can be defended."
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Participant,
    /// Listens and never speaks.
    Observer,
    DevilAdvocate,
}

impl Role {
    pub const ALL: [Role; 3] = [Role::Participant, Role::Observer, Role::DevilAdvocate];

    pub fn name(self) -> &'static str {
        match self {
            Role::Participant => "participant",
            Role::Observer => "observer",
            Role::DevilAdvocate => "devil_advocate",
        }
    }

    pub fn speaks(self) -> bool {
        match self {
            Role::Participant | Role::DevilAdvocate => true,
            Role::Observer => false,
        }
    }

    pub fn instruction(self) -> &'static str {
        match self {
            Role::Participant => {
                "Your role: participant. Say clearly what you think, and build on what the others \
                 have said."
            }
            Role::Observer => "Your role: observer. You listen and stay neutral.",
            Role::DevilAdvocate => {
                "Your role: devil's advocate. Question what the others agree on, bring hidden \
                 assumptions into the open, and look for where the arguments break."
            }
        }
    }
}
