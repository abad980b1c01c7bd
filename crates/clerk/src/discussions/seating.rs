//! Who leads and who takes part: from what a person asked for to whole seats.

use std::sync::Arc;

use plenary_domain::agent::{self, Agent, Bounds, ModelChoice, Tier};
use plenary_domain::discussion::{
    Command, Create, Format, Participant, Role, Seat, SeatId, Sitter, State,
};
use plenary_domain::names::slug;
use plenary_domain::{ModelName, Reject, Wrong, limits, room};

use super::{NewDiscussion, NewModerator, NewSeat, RoleName};
use crate::attachments::{self, Files};
use crate::budgets::{self, NewBudget};
use crate::models::{self, Names};
use crate::{Clerk, ClerkError, Result, agents};

/// Everybody with a whole seat. Every wrong field is named at once.
pub(super) async fn seat(clerk: &Clerk, new: NewDiscussion) -> Result<Create> {
    let format = new.format.map_or(Format::Deliberation, Format::from);
    let mut seats = Seats::new(clerk, new.model.clone());
    seats.check_model().await;
    let leader = leader(&mut seats.wrong, new.moderator_id, new.facilitator)
        .unwrap_or_else(|| Leader::Agent(format.usual_facilitator().to_owned()));
    let facilitator = seats.leader(leader).await?;
    let usual = || {
        let usual = format.usual_participants();
        usual.into_iter().map(|(id, role)| of_agent(id, Some(role))).collect()
    };
    let mut participants = vec![];
    // One more than there may be is enough for the rules to refuse them.
    let given = new.participants.unwrap_or_else(usual).into_iter().take(limits::PARTICIPANTS + 1);
    for (place, new) in given.enumerate() {
        let role = new.role.map_or(Role::Participant, Role::from);
        let seat = seats.seat(&format!("participants[{place}]"), new).await?;
        participants.push(Participant { seat: Arc::new(seat), role });
    }
    let tokens = |tokens| NewBudget { tokens: Some(tokens), ..NewBudget::default() };
    let budget = new.budget.or(new.budget_tokens.map(tokens));
    let mut files = Files::default();
    attachments::read(clerk, &mut seats.wrong, &mut files, new.context.unwrap_or_default()).await;
    if !files.images.is_empty() {
        let problem = "images can be attached to a question to a board, not to a discussion";
        seats.wrong.push(Wrong::new("context", problem));
    }
    let create = Create {
        name: new.name.unwrap_or_default(),
        topic: new.topic,
        format,
        context: files.texts,
        facilitator,
        participants,
        max_rounds: new.max_rounds.unwrap_or(limits::ROUNDS),
        budget: budgets::budget(&clerk.prices.now().currency, &mut seats.wrong, budget),
        project: new.project,
        start: None,
    };
    if seats.wrong.is_empty() {
        return Ok(create);
    }
    let command = room::Command::Discussion(Command::Create(Box::new(create)));
    Err(clerk.refused(seats.wrong, None, command))
}

pub(super) async fn moderator(clerk: &Clerk, new: NewModerator, state: &State) -> Result<Seat> {
    let mut seats = Seats::beside(clerk, state.participants.iter().map(|p| p.seat.as_ref()));
    let Some(leader) = leader(&mut seats.wrong, new.moderator_id, new.facilitator) else {
        return Err(ClerkError::wrong(MODERATOR, "say who leads: an agent's id"));
    };
    let seat = seats.leader(leader).await?;
    if seats.wrong.is_empty() { Ok(seat) } else { Err(Reject::Invalid(seats.wrong).into()) }
}

pub(super) async fn participant(clerk: &Clerk, new: NewSeat, state: &State) -> Result<Participant> {
    let taken = state.participants.iter().map(|p| p.seat.as_ref());
    let mut seats = Seats::beside(clerk, taken.chain([state.facilitator.as_ref()]));
    let role = new.role.map_or(Role::Participant, Role::from);
    let seat = Arc::new(seats.seat("", new).await?);
    let participant = Participant { seat, role };
    if seats.wrong.is_empty() { Ok(participant) } else { Err(Reject::Invalid(seats.wrong).into()) }
}

/// The field that names an agent to lead.
const MODERATOR: &str = "moderatorId";
/// The field that seats somebody to lead.
const FACILITATOR: &str = "facilitator";

fn of_agent(id: &str, role: Option<Role>) -> NewSeat {
    let role = role.map(RoleName::from);
    NewSeat { agent_id: Some(id.to_owned()), role, ..NewSeat::default() }
}

/// Whoever leads, by `moderatorId` or by `facilitator`.
enum Leader {
    Agent(String),
    Seat(Box<NewSeat>),
}

fn leader(wrong: &mut Vec<Wrong>, id: Option<String>, seat: Option<NewSeat>) -> Option<Leader> {
    if id.is_some() && seat.is_some() {
        let problem = "give either `moderatorId` or `facilitator`, not both";
        wrong.push(Wrong::new(MODERATOR, problem));
    }
    if seat.as_ref().is_some_and(|seat| seat.role.is_some()) {
        let problem = "the facilitator has no role; roles are for participants";
        wrong.push(Wrong::new("facilitator.role", problem));
    }
    id.map(Leader::Agent).or(seat.map(|seat| Leader::Seat(Box::new(seat))))
}

/// Makes seats one after the other, and gathers what is wrong with them.
struct Seats<'a> {
    clerk: &'a Clerk,
    names: Names<'a>,
    /// The model of whoever names none.
    model: Option<String>,
    taken: Vec<String>,
    /// Seats that may have any model so far.
    spread: usize,
    wrong: Vec<Wrong>,
}

/// Who sits there, before it is known by which model they speak.
struct Sketch {
    agent: Option<Arc<Agent>>,
    name: String,
    persona: Arc<str>,
    choice: ModelChoice,
}

impl<'a> Seats<'a> {
    fn new(clerk: &'a Clerk, model: Option<String>) -> Self {
        let names = Names::new(clerk);
        Seats { clerk, names, model, taken: vec![], spread: 0, wrong: vec![] }
    }

    fn beside<'s>(clerk: &'a Clerk, seats: impl Iterator<Item = &'s Seat>) -> Self {
        let taken: Vec<String> = seats.map(|seat| seat.id.0.clone()).collect();
        let spread = taken.len();
        Seats { taken, spread, ..Seats::new(clerk, None) }
    }

    fn wrong(&mut self, at: &str, field: &str, problem: impl Into<String>) {
        let field = match (at, field) {
            ("", field) => field.to_owned(),
            (at, "") => at.to_owned(),
            (at, field) => format!("{at}.{field}"),
        };
        self.wrong.push(Wrong::new(field, problem));
    }

    /// The model for all, looked up once.
    async fn check_model(&mut self) {
        if let Some(written) = self.model.take() {
            match self.names.find(&written).await {
                Ok(model) => self.model = Some(model.0),
                Err(problem) => self.wrong("", "model", problem),
            }
        }
    }

    /// The facilitator's seat. What is wrong with it is told of the field that names it.
    async fn leader(&mut self, new: Leader) -> Result<Seat> {
        match new {
            Leader::Agent(id) => self.seat(MODERATOR, of_agent(&id, None)).await,
            Leader::Seat(seat) => self.seat(FACILITATOR, *seat).await,
        }
    }

    async fn seat(&mut self, at: &str, new: NewSeat) -> Result<Seat> {
        self.check_kinds(at, &new);
        if let Some(person) = &new.person {
            return Ok(self.person(person, new.reply_within_seconds));
        }
        let sketch = self.sketch(at, &new).await?;
        let model = self.model(at, &new, &sketch.choice).await?;
        // The same agent twice is told apart by the rules, which refuse it.
        let id = match &sketch.agent {
            Some(agent) => agent.id.0.clone(),
            None => self.free_id(&sketch.name),
        };
        self.taken.push(id.clone());
        let agent = sketch.agent.as_ref();
        let bounds = agent.map_or_else(Bounds::default, |agent| agent.bounds);
        let field = if at.is_empty() { "budget".into() } else { format!("{at}.budget") };
        let prices = self.clerk.prices.now();
        let here = &prices.currency;
        let bounds = match budgets::allowance(here, &mut self.wrong, &field, new.budget) {
            Some(own) => {
                own.check(&mut self.wrong, &field);
                bounds.with_budget(own)
            }
            None => bounds,
        };
        let window_tokens = self.clerk.engine.models().window_tokens(&model);
        Ok(Seat {
            id: SeatId(id),
            agent: agent.map(|agent| agent.id.clone()),
            name: sketch.name,
            description: agent.map(|agent| agent.description.clone()).unwrap_or_default(),
            persona: sketch.persona,
            sitter: Sitter::Model {
                model,
                window_tokens,
                bounds,
                workspace: agent.and_then(|agent| agent.workspace.clone()),
            },
        })
    }

    fn check_kinds(&mut self, at: &str, new: &NewSeat) {
        let kinds = [new.agent_id.is_some(), new.person.is_some(), new.name.is_some()];
        if kinds.iter().filter(|given| **given).count() != 1 {
            let problem = "give one of `agentId`, `person` and `name`";
            self.wrong(at, "", problem);
        }
        if new.person.is_none() && new.reply_within_seconds.is_some() {
            self.wrong(at, "replyWithinSeconds", "is only for a person's seat");
        }
        if new.person.is_some() && new.budget.is_some() {
            self.wrong(at, "budget", "a person has no budget; leave it out");
        }
        if new.person.is_some() && (new.model.is_some() || new.tier.is_some()) {
            self.wrong(at, "person", "give either a person or a model, not both");
        }
        if new.name.is_none() && new.persona.is_some() {
            let problem = "is only for a seat with a `name`; a saved agent has its own";
            self.wrong(at, "persona", problem);
        }
        if new.model.is_some() && new.tier.is_some() {
            self.wrong(at, "tier", "give either a model or a tier, not both");
        }
    }

    fn person(&mut self, name: &str, reply_within_seconds: Option<u32>) -> Seat {
        let id = self.free_id(name);
        self.taken.push(id.clone());
        Seat {
            id: SeatId(id),
            agent: None,
            name: name.trim().to_owned(),
            description: String::new(),
            persona: Arc::from(""),
            sitter: Sitter::Person {
                reply_within_ms: reply_within_seconds.map(|seconds| u64::from(seconds) * 1000),
            },
        }
    }

    async fn sketch(&mut self, at: &str, new: &NewSeat) -> Result<Sketch> {
        if let Some(written) = &new.agent_id {
            let all = agents::all(self.clerk).await?;
            match agent::find(&all, written) {
                Ok(agent) => {
                    return Ok(Sketch {
                        name: agent.name.clone(),
                        persona: agent.persona.clone(),
                        choice: agent.model.clone(),
                        agent: Some(agent),
                    });
                }
                Err(problem) if at == MODERATOR => self.wrong(at, "", problem),
                Err(problem) => self.wrong(at, "agentId", problem),
            }
        }
        let name = new.name.clone().or_else(|| new.agent_id.clone()).unwrap_or_default();
        let own = new.persona.as_deref().filter(|persona| !persona.trim().is_empty());
        let persona = match own {
            Some(own) => Arc::from(own),
            // Whoever leads needs to know how; whoever takes part has the topic and a role.
            None if at == FACILITATOR => agent::usual_persona(""),
            None => Arc::from(""),
        };
        Ok(Sketch { agent: None, name: name.trim().to_owned(), persona, choice: ModelChoice::Any })
    }

    /// The seat's own model goes before the one for all, and that before the agent's.
    async fn model(&mut self, at: &str, new: &NewSeat, choice: &ModelChoice) -> Result<ModelName> {
        if let Some(written) = &new.model {
            return Ok(match self.names.find(written).await {
                Ok(model) => model,
                Err(problem) => {
                    self.wrong(at, "model", problem);
                    models::unknown()
                }
            });
        }
        if let Some(tier) = new.tier {
            return Ok(self.names.tier(Tier::from(tier)).await?);
        }
        if let Some(model) = &self.model {
            return Ok(ModelName(model.clone()));
        }
        match choice {
            ModelChoice::Model(model) => Ok(model.clone()),
            ModelChoice::Tier(tier) => Ok(self.names.tier(*tier).await?),
            ModelChoice::Any => {
                self.spread += 1;
                Ok(self.names.any(self.spread - 1).await?)
            }
        }
    }

    /// Made from the name; `-2`, `-3` and so on when somebody has it.
    fn free_id(&self, name: &str) -> String {
        let id = slug(name);
        let numbered = (2..).map(|number| format!("{id}-{number}"));
        let mut ids = [id.clone()].into_iter().chain(numbered);
        ids.find(|id| !self.taken.contains(id)).unwrap_or_default()
    }
}
