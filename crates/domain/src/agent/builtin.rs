//! Agents that ship with the program: eight who lead discussions, each in a way of
//! its own, and six who take part, so that a discussion needs no preparation.

use std::sync::{Arc, LazyLock};

use super::{Agent, AgentId, Bounds, ModelChoice, Tier};
use crate::discussion::Format::{self, Brainstorm, Deliberation, Review};

/// In the order of lists: those who lead come first.
pub fn built_in() -> &'static [Arc<Agent>] {
    &BUILT_IN
}

/// How somebody leads of whom nothing is known but a name and a line about them.
pub fn usual_persona(description: &str) -> Arc<str> {
    let usual = include_str!("personas/facilitator.md").trim();
    match description.trim() {
        "" => Arc::from(usual),
        about => Arc::from(format!("{usual}\n\nWhat you are known for: {about}")),
    }
}

static BUILT_IN: LazyLock<Vec<Arc<Agent>>> =
    LazyLock::new(|| facilitators().into_iter().chain(participants()).map(Arc::new).collect());

macro_rules! persona {
    ($id:literal) => {
        ($id, include_str!(concat!("personas/", $id, ".md")))
    };
}

fn facilitators() -> [Agent; 8] {
    [
        facilitator(
            persona!("the-socratic"),
            "The Socratic",
            "Asks questions only: surfaces assumptions and follows one thread to the end",
            &[Review, Deliberation],
            Tier::Balanced,
        ),
        facilitator(
            persona!("the-contrarian"),
            "The Contrarian",
            "Distrusts quick agreement: a conclusion has to survive its strongest objections",
            &[Review, Deliberation],
            Tier::Strong,
        ),
        facilitator(
            persona!("the-bridge-builder"),
            "The Bridge-Builder",
            "Looks for common ground and brings every view into one position",
            &[Review, Deliberation],
            Tier::Balanced,
        ),
        facilitator(
            persona!("the-spark"),
            "The Spark",
            "Many ideas first, no judging; crosses them with each other and names the clusters",
            &[Brainstorm],
            Tier::Balanced,
        ),
        facilitator(
            persona!("the-examiner"),
            "The Examiner",
            "Reviews by criteria: findings with evidence, severity and remedy, then a verdict",
            &[Review],
            Tier::Strong,
        ),
        facilitator(
            persona!("the-impartial-chair"),
            "The Impartial Chair",
            "Neutral and brief: gives everyone a fair turn and reports every view",
            &[Brainstorm, Review, Deliberation],
            Tier::Balanced,
        ),
        facilitator(
            persona!("the-closer"),
            "The Closer",
            "Short of time: drives to a decision that can be acted on",
            &[Deliberation],
            Tier::Fast,
        ),
        facilitator(
            persona!("the-equalizer"),
            "The Equalizer",
            "Gives every voice its share, keeps the room safe and credits by name",
            &[Brainstorm, Deliberation],
            Tier::Balanced,
        ),
    ]
}

fn participants() -> [Agent; 6] {
    [
        participant(
            persona!("engineer"),
            "Engineer",
            "How it works, what it depends on, how it fails",
        ),
        participant(
            persona!("product-thinker"),
            "Product Thinker",
            "Whose problem it is, what it is worth, what to do first",
        ),
        participant(
            persona!("skeptic"),
            "Skeptic",
            "Where the reasons are thin, and what would settle the doubt",
        ),
        participant(
            persona!("researcher"),
            "Researcher",
            "What is known, from where, and how good the evidence is",
        ),
        participant(persona!("operator"), "Operator", "What it takes to run it, day after day"),
        participant(
            persona!("users-voice"),
            "User's Voice",
            "What the people who live with it would do and feel",
        ),
    ]
}

type Persona = (&'static str, &'static str);

fn facilitator(
    persona: Persona,
    name: &str,
    description: &str,
    formats: &[Format],
    tier: Tier,
) -> Agent {
    Agent {
        model: ModelChoice::Tier(tier),
        facilitator: true,
        formats: formats.to_vec(),
        ..participant(persona, name, description)
    }
}

fn participant((id, persona): Persona, name: &str, description: &str) -> Agent {
    Agent {
        id: AgentId(id.to_owned()),
        name: name.to_owned(),
        description: description.to_owned(),
        persona: Arc::from(persona.trim()),
        model: ModelChoice::Any,
        facilitator: false,
        built_in: true,
        formats: vec![],
        bounds: Bounds::default(),
        workspace: None,
    }
}
