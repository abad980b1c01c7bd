//! Who sits where: from what a person asked for to a whole board.

use std::time::Duration;

use plenary_domain::boardroom::{
    Command, ContextFile, Convene, Quorum, Seat, SeatId, Sitter, preset,
};
use plenary_domain::{ModelName, Wrong, limits, room};

use super::{BoardName, NewAdvisor, NewBoardroom, RoleName};
use crate::models::{self, Names, NoModel};
use crate::{Clerk, Result, budgets};

/// Fills in what was left open. Providers are only asked for their models when
/// that is needed: a board whose models are all named in full starts at once.
pub(super) async fn seat(clerk: &Clerk, new: NewBoardroom) -> Result<Convene> {
    let mut wrong: Vec<Wrong> = vec![];
    if new.board.is_some() && new.advisors.is_some() {
        let problem = "give either a preset board or the advisors, not both";
        wrong.push(Wrong::new("board", problem));
    }
    let advisors = new.advisors.unwrap_or_else(|| preset_advisors(new.board));
    let mut names = Names::new(clerk);
    let mut pool = vec![];
    for (place, written) in new.models.iter().flatten().enumerate() {
        match names.find(written).await {
            Ok(model) => pool.push(model),
            Err(problem) => wrong.push(Wrong::new(format!("models[{place}]"), problem)),
        }
    }
    let mut seats = vec![];
    // One more than there may be is enough for the rules to refuse them.
    for (place, advisor) in advisors.iter().take(limits::ADVISORS + 1).enumerate() {
        let sitter = match sitter(&mut names, clerk, advisor, place, &pool).await {
            Ok(Ok(sitter)) => sitter,
            Ok(Err((field, problem))) => {
                wrong.push(Wrong::new(format!("advisors[{place}].{field}"), problem));
                Sitter::Model(models::unknown())
            }
            Err(none) if wrong.is_empty() => return Err(none.into()),
            Err(_) => Sitter::Model(models::unknown()),
        };
        let (here, field) = (&clerk.prices.currency, format!("advisors[{place}].budget"));
        let budget = budgets::allowance(here, &mut wrong, &field, advisor.budget.clone());
        seats.push(Seat {
            id: SeatId(u8::try_from(place + 1).unwrap_or(u8::MAX)),
            role: advisor.role.into(),
            sitter,
            system_prompt: advisor.system_prompt.clone(),
            budget: budget.unwrap_or_default(),
        });
    }
    let chosen = match &new.synthesizer {
        Some(written) => match names.find(written).await {
            Ok(model) => Some(model),
            Err(problem) => {
                wrong.push(Wrong::new("synthesizer", problem));
                Some(models::unknown())
            }
        },
        None => None,
    };
    let synthesizers = synthesizers(&mut names, chosen, &pool, &seats).await?;
    let grace_seconds = new.quorum.as_ref().and_then(|quorum| quorum.grace_seconds);
    if grace_seconds.is_some_and(|seconds| seconds < 0.0) {
        wrong.push(Wrong::new("quorum.graceSeconds", "must not be negative"));
    }
    let grace = |seconds: f64| (seconds.max(0.0) * 1000.0) as u64;
    let seated = seats.iter().filter_map(|seat| match &seat.sitter {
        Sitter::Model(model) => Some(model),
        Sitter::Person { .. } => None,
    });
    let prices = clerk.noted(seated.chain(&synthesizers));
    let convene = Convene {
        prompt: new.prompt,
        context: new
            .context
            .unwrap_or_default()
            .into_iter()
            .map(|file| ContextFile { name: file.name, text: file.text })
            .collect(),
        seats,
        synthesizers,
        quorum: new.quorum.map(|quorum| Quorum {
            need: quorum.need,
            grace_ms: quorum.grace_seconds.map_or(limits::GRACE_MS, grace),
        }),
        ballot: new.ballot.unwrap_or(false),
        prices,
        budget: budgets::budget(&clerk.prices.currency, &mut wrong, new.budget),
        open_answers: new.open_answers.unwrap_or(false),
    };
    if wrong.is_empty() {
        return Ok(convene);
    }
    Err(clerk.refused(wrong, None, room::Command::Boardroom(Command::Convene(convene))))
}

fn preset_advisors(board: Option<BoardName>) -> Vec<NewAdvisor> {
    let id = match board.unwrap_or(BoardName::ClassicTriad) {
        BoardName::ClassicTriad => "classic-triad",
        BoardName::DevilsCourt => "devils-court",
        BoardName::FullBoard => "full-board",
        BoardName::PeerReview => "peer-review",
    };
    let roles = preset::board(id).map(|board| board.roles).unwrap_or_default();
    let advisor = |role: &_| NewAdvisor {
        role: RoleName::from(*role),
        model: None,
        person: None,
        reply_within_seconds: None,
        system_prompt: None,
        budget: None,
    };
    roles.iter().map(advisor).collect()
}

/// The chosen synthesizer, then the board's other models, which take over in
/// turn when it fails.
async fn synthesizers(
    names: &mut Names<'_>,
    chosen: Option<ModelName>,
    pool: &[ModelName],
    seats: &[Seat],
) -> Result<Vec<ModelName>, NoModel> {
    let seated = seats.iter().filter_map(|seat| match &seat.sitter {
        Sitter::Model(model) => Some(model.clone()),
        Sitter::Person { .. } => None,
    });
    let mut all: Vec<ModelName> = vec![];
    match chosen {
        Some(model) => all.push(model),
        None if !pool.is_empty() => all.extend(preset::synthesizer(pool).cloned()),
        None if names.listed() => {
            all.extend(preset::synthesizer(names.available().await?).cloned())
        }
        None => {}
    }
    all.extend(pool.iter().cloned().chain(seated));
    if all.is_empty() {
        all.extend(preset::synthesizer(names.available().await?).cloned());
    }
    let mut unique: Vec<ModelName> = vec![];
    for model in all {
        if !unique.contains(&model) && unique.len() < limits::SYNTHESIZERS {
            unique.push(model);
        }
    }
    Ok(unique)
}

/// Who sits there, or which of the advisor's fields is wrong.
async fn sitter(
    names: &mut Names<'_>,
    clerk: &Clerk,
    advisor: &NewAdvisor,
    place: usize,
    pool: &[ModelName],
) -> Result<Result<Sitter, (&'static str, String)>, NoModel> {
    Ok(match (&advisor.person, &advisor.model) {
        (Some(_), Some(_)) => Err(("person", "give either a person or a model, not both".into())),
        (Some(name), None) => {
            let wait = advisor.reply_within_seconds.map(|s| Duration::from_secs(s.into()));
            let reply_by = wait.map(|wait| clerk.engine.clock().now() + wait);
            Ok(Sitter::Person { name: name.clone(), reply_by })
        }
        (None, _) if advisor.reply_within_seconds.is_some() => {
            Err(("replyWithinSeconds", "belongs to a person's seat".into()))
        }
        (None, Some(written)) => {
            names.find(written).await.map(Sitter::Model).map_err(|problem| ("model", problem))
        }
        (None, None) if pool.is_empty() => Ok(Sitter::Model(names.any(place).await?)),
        (None, None) => Ok(Sitter::Model(pool[place % pool.len()].clone())),
    })
}
