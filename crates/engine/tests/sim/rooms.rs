//! Sessions that clients and runs open.

use std::sync::Arc;

use plenary_domain::boardroom::{self, Convene, Quorum, Role, Seat, SeatId, Sitter};
use plenary_domain::council::{self, Member, Open};
use plenary_domain::discussion::{self, Create};
use plenary_domain::room::Command;
use plenary_domain::{Allowance, Budget, ModelName, Noted, WhenSpent};

use super::world::{self, World};

fn chance(world: &World, most: usize) -> usize {
    world.lock().chance.below(most)
}

/// A session of any form in which models are asked.
pub fn opening(world: &World, number: u64) -> Command {
    match chance(world, 5) {
        0 => council(&format!("c{number}"), budget(world)),
        1 => discussion(budget(world)),
        _ => board(world),
    }
}

pub fn council(name: &str, budget: Option<Budget>) -> Command {
    let member = |name: &str| Member {
        name: name.into(),
        model: Some(ModelName::new("sim", "m")),
        persona: None,
        seated: Default::default(),
        budget: Default::default(),
    };
    Command::Council(council::Command::Open(Open {
        name: name.into(),
        charter: "Tea or coffee?".into(),
        members: vec![member("ann"), member("bob")],
        project: None,
        by: None,
        prices: Noted::default(),
        budget,
    }))
}

pub fn discussion(budget: Option<Budget>) -> Command {
    let seat = |name: &str| discussion::Seat {
        id: discussion::SeatId(name.into()),
        agent: None,
        name: name.into(),
        description: String::new(),
        persona: "".into(),
        sitter: discussion::Sitter::Model {
            model: ModelName::new("sim", name),
            window_tokens: 8_192,
            bounds: Default::default(),
            workspace: None,
        },
    };
    let role = discussion::Role::Participant;
    let participant = |name| discussion::Participant { seat: Arc::new(seat(name)), role };
    Command::Discussion(discussion::Command::Create(Box::new(Create {
        name: "Tea".into(),
        topic: "Tea or coffee?".into(),
        format: discussion::Format::Deliberation,
        context: vec![],
        facilitator: seat("lead"),
        participants: vec![participant("ann"), participant("bob")],
        max_rounds: 2,
        budget,
        project: None,
        start: Some(Default::default()),
    })))
}

/// Now and then one that is too small for all, or of little time.
fn budget(world: &World) -> Option<Budget> {
    let tokens = 2_000 + chance(world, 2_000) as u64;
    let (tokens, time_ms) = match chance(world, 6) {
        0 => (Some(tokens), None),
        1 => (None, Some(5_000)),
        _ => return None,
    };
    let when_spent = match chance(world, 2) {
        0 => WhenSpent::Conclude,
        _ => WhenSpent::Stop,
    };
    Some(Budget { most: Allowance { tokens, cost: None, time_ms }, when_spent })
}

fn board(world: &World) -> Command {
    let person = chance(world, 4) == 0;
    let reply_by = world::wall(world.lock().now_ms + 20_000);
    let sitter = |id: u8| match person && id == 1 {
        true => Sitter::Person { name: "Ada".into(), reply_by: Some(reply_by) },
        false => Sitter::Model(ModelName::new("sim", "m")),
    };
    let sitters = (1..=1 + chance(world, 4) as u8).map(sitter).collect();
    let quorum = (chance(world, 3) == 0).then_some(Quorum { need: 1, grace_ms: 3_000 });
    convene(sitters, quorum, chance(world, 4) == 0, budget(world))
}

/// The board of a run's step.
pub fn small_board() -> Command {
    convene(vec![Sitter::Model(ModelName::new("sim", "m")); 2], None, false, None)
}

fn convene(
    sitters: Vec<Sitter>,
    quorum: Option<Quorum>,
    ballot: bool,
    budget: Option<Budget>,
) -> Command {
    let seat = |(id, sitter)| Seat {
        id: SeatId(id),
        role: Role::Critic,
        sitter,
        system_prompt: None,
        own: None,
        tries: 1,
        seated: Default::default(),
        budget: Default::default(),
    };
    Command::Boardroom(boardroom::Command::Convene(Convene {
        prompt: "Which one?".into(),
        context: vec![],
        seats: (1..).zip(sitters).map(seat).collect(),
        synthesizers: vec![ModelName::new("sim", "m")],
        quorum,
        ballot,
        prices: Noted::default(),
        budget,
        open_answers: false,
        terms: Default::default(),
        brief: Default::default(),
    }))
}
