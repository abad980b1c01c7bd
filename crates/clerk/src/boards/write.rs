//! From what somebody gave of a board to what is kept of it.

use std::sync::Arc;

use plenary_domain::agent::{ModelChoice, Tier};
use plenary_domain::board::{Board, Seat, Synthesis};
use plenary_domain::boards::{Command, Given};
use plenary_domain::{ModelName, Wrong, limits, room};
use plenary_engine::By;

use super::{NewBoardSynthesis, of_boards, quorum, standing, submit, written};
use crate::agents::TierName;
use crate::boardrooms::{NewAdvisor, NewQuorum, role};
use crate::budgets::{self, NewBudget};
use crate::models::Meant;
use crate::sitters::Sitters;
use crate::{Clerk, Result};

/// What somebody gave, with the models as they were written.
pub(super) struct Said {
    pub title: Option<Option<String>>,
    pub description: Option<Option<String>>,
    pub seats: Option<Vec<NewAdvisor>>,
    pub synthesis: Option<Option<NewBoardSynthesis>>,
    pub quorum: Option<Option<NewQuorum>>,
    pub ballot: Option<bool>,
    pub open_answers: Option<bool>,
    pub budget: Option<Option<NewBudget>>,
    pub language: Option<Option<String>>,
}

/// Adds or edits, and gives the board that came of it.
pub(super) async fn write(
    clerk: &Clerk,
    by: By,
    said: Said,
    command: impl FnOnce(Given) -> Command,
) -> Result<Arc<Board>> {
    // What it names may have gone since the first request.
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return written(&earlier);
    }
    let mut wrong = vec![];
    let command = command(understood(clerk, &mut wrong, said).await);
    if !wrong.is_empty() {
        let now = standing(clerk).await?;
        let room = now.as_ref().map(|now| &*now.room);
        return Err(of_boards(clerk.refused(wrong, room, room::Command::Boards(command))));
    }
    written(&submit(clerk, by, command).await?)
}

async fn understood(clerk: &Clerk, wrong: &mut Vec<Wrong>, said: Said) -> Given {
    let prices = clerk.prices.now();
    let here = &prices.currency;
    let mut sitters = Sitters::new(clerk, vec![]);
    let mut seats = None;
    if let Some(given) = said.seats {
        let mut all = vec![];
        // One more than there may be is enough for the rules to refuse them.
        for (place, new) in given.into_iter().take(limits::ADVISORS + 1).enumerate() {
            all.push(seat(clerk, &mut sitters, wrong, place, new).await);
        }
        seats = Some(all);
    }
    let synthesis = match said.synthesis {
        None => None,
        Some(None) => Some(Synthesis::default()),
        Some(Some(new)) => {
            let field = |name: &str| format!("synthesis.{name}");
            Some(Synthesis {
                model: model(&mut sitters, wrong, field, new.model, new.tier).await,
                prompt: new.prompt,
                temperature: new.temperature,
                output_tokens: new.output_tokens,
            })
        }
    };
    let budget = said.budget.map(|new| budgets::budget(here, wrong, new));
    // Money means the currency of who said it.
    let currency = budget.map(|budget| budget.filter(|one| one.most.cost.is_some()));
    let currency = currency.map(|budget| budget.map(|_| here.clone()));
    Given {
        title: said.title.map(Option::unwrap_or_default),
        description: said.description.map(Option::unwrap_or_default),
        seats,
        synthesis,
        quorum: said.quorum.map(|new| new.map(|new| quorum(wrong, &new))),
        ballot: said.ballot,
        open_answers: said.open_answers,
        budget,
        currency,
        language: said.language.map(|language| language.filter(|one| !one.trim().is_empty())),
    }
}

async fn seat(
    clerk: &Clerk,
    sitters: &mut Sitters<'_>,
    wrong: &mut Vec<Wrong>,
    place: usize,
    new: NewAdvisor,
) -> Seat {
    let field = |name: &str| format!("seats[{place}].{name}");
    let (role, own) = role(wrong, &new, field);
    let mut agent = new.agent;
    let mut written = new.model;
    if let Some(called) = written.as_deref().and_then(|model| model.trim().strip_prefix('@')) {
        agent = agent.or(Some(called.to_owned()));
        written = None;
    }
    // It is kept by its id, which stays.
    if let Some(written) = &mut agent {
        match sitters.agent(written).await {
            Ok(found) => *written = found.id.0.clone(),
            Err(problem) => wrong.push(Wrong::new(field("agent"), problem)),
        }
    }
    let (prices, budget) = (clerk.prices.now(), new.budget);
    let here = &prices.currency;
    let budget = budgets::allowance(here, wrong, &field("budget"), budget).unwrap_or_default();
    Seat {
        own,
        model: model(sitters, wrong, field, written, new.tier).await,
        agent,
        person: new.person,
        reply_within_seconds: new.reply_within_seconds,
        prompt: new.system_prompt,
        temperature: new.temperature,
        output_tokens: new.output_tokens,
        tries: new.tries,
        budget,
        ..Seat::of(role)
    }
}

/// A full name is kept as it is: the board may be for another place.
async fn model(
    sitters: &mut Sitters<'_>,
    wrong: &mut Vec<Wrong>,
    field: impl Fn(&str) -> String,
    written: Option<String>,
    tier: Option<TierName>,
) -> ModelChoice {
    if written.is_some() && tier.is_some() {
        wrong.push(Wrong::new(field("tier"), "give either a model or a tier, not both"));
    }
    match (written, tier) {
        (Some(written), _) => match sitters.names.meant(&written).await {
            Ok(Meant::Model(model)) => ModelChoice::Model(model),
            Ok(Meant::Tier(tier)) => ModelChoice::Tier(tier),
            Err(_) if written.contains('/') => ModelChoice::Model(ModelName(written)),
            Err(problem) => {
                wrong.push(Wrong::new(field("model"), problem));
                ModelChoice::Any
            }
        },
        (None, Some(tier)) => ModelChoice::Tier(Tier::from(tier)),
        (None, None) => ModelChoice::Any,
    }
}
