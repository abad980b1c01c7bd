//! Who sits where: from what a person asked for to a whole board.

use std::sync::Arc;
use std::time::Duration;

use plenary_domain::board::Board;
use plenary_domain::boardroom::own::{Named, named};
use plenary_domain::boardroom::{
    Command, Convene, OwnRole, Quorum, Role, Seat, SeatId, Sitter, Terms, preset,
};
use plenary_domain::{Budget, ModelName, Seated, Wrong, limits, room};

use super::{NewAdvisor, NewBoardroom};
use crate::models::{self, Names, NoModel};
use crate::sitters::{Fault, Found, Sitters, Wanted};
use crate::{Clerk, ClerkError, Result, attachments, boards, budgets};

/// Fills in what was left open. Providers are only asked for their models when
/// that is needed: a board whose models are all named in full starts at once.
pub(super) async fn seat(clerk: &Clerk, mut new: NewBoardroom) -> Result<Convene> {
    let mut wrong: Vec<Wrong> = vec![];
    let board = chosen(clerk, &mut wrong, &mut new).await?;
    match fill(clerk, new, board.clone(), wrong).await {
        Err(ClerkError::NoModel(none)) => Err(match &board {
            Some(board) => boards::lacking(clerk, board, none).await,
            None => none.into(),
        }),
        filled => filled,
    }
}

async fn fill(
    clerk: &Clerk,
    mut new: NewBoardroom,
    board: Option<Arc<Board>>,
    mut wrong: Vec<Wrong>,
) -> Result<Convene> {
    let advisors = match (&board, new.advisors.take()) {
        (_, Some(advisors)) => advisors,
        (Some(board), None) => board.seats.iter().map(NewAdvisor::from).collect(),
        (None, None) => vec![],
    };
    let brought = board.as_ref().map(|board| board.agents.clone()).unwrap_or_default();
    let mut sitters = Sitters::new(clerk, brought);
    let mut pool = vec![];
    for (place, written) in new.models.iter().flatten().enumerate() {
        match sitters.names.find(written).await {
            Ok(model) => pool.push(model),
            Err(problem) => wrong.push(Wrong::new(format!("models[{place}]"), problem)),
        }
    }
    let mut seats = vec![];
    // One more than there may be is enough for the rules to refuse them.
    for (place, advisor) in advisors.iter().take(limits::ADVISORS + 1).enumerate() {
        let field = |name: &str| format!("advisors[{place}].{name}");
        let advisor = with_usual(advisor.clone(), &new);
        let (sitter, seated, own) = match sitter(&mut sitters, &advisor, place, &pool).await {
            Ok(Ok(found)) => found,
            Ok(Err((name, problem))) => {
                wrong.push(Wrong::new(field(name), problem));
                (Sitter::Model(models::unknown()), Seated::default(), Default::default())
            }
            Err(none) if wrong.is_empty() => return Err(none.into()),
            Err(_) => (Sitter::Model(models::unknown()), Seated::default(), Default::default()),
        };
        let prices = clerk.prices.now();
        let here = &prices.currency;
        let budget = budgets::allowance(here, &mut wrong, &field("budget"), advisor.budget.clone());
        let (role, own_role) = role(&mut wrong, &advisor, field);
        seats.push(Seat {
            id: SeatId(u8::try_from(place + 1).unwrap_or(u8::MAX)),
            role,
            own: own_role,
            sitter,
            system_prompt: advisor.system_prompt,
            budget: budget.unwrap_or(own),
            tries: advisor.tries.unwrap_or(1),
            seated,
        });
    }
    let (chosen, synthesizer) =
        synthesizer(&mut sitters, &mut wrong, &new, board.as_deref()).await?;
    let synthesizers = synthesizers(&mut sitters.names, chosen, &pool, &seats).await?;
    let seated = seats.iter().filter_map(|seat| match &seat.sitter {
        Sitter::Model(model) => Some(model),
        Sitter::Person { .. } => None,
    });
    let prices = clerk.noted(seated.chain(&synthesizers));
    let quorum = quorum(&mut wrong, &new, board.as_deref());
    let budget = budget(clerk, &mut wrong, &mut new, board.as_deref());
    let mut files = attachments::Files::default();
    attachments::read(clerk, &mut wrong, &mut files, new.context.unwrap_or_default()).await;
    let mut brief = new.brief;
    brief.images.extend(files.images);
    let convene = Convene {
        prompt: new.prompt,
        context: files.texts,
        seats,
        synthesizers,
        quorum,
        ballot: new.ballot.unwrap_or(board.as_ref().is_some_and(|board| board.ballot)),
        prices,
        budget,
        open_answers: new
            .open_answers
            .unwrap_or(board.as_ref().is_some_and(|board| board.open_answers)),
        terms: Terms {
            board: board.as_ref().map(|board| board.name.clone()),
            language: new.language.or(board.as_ref().and_then(|board| board.language.clone())),
            synthesizer,
        },
        brief,
    };
    if wrong.is_empty() {
        return Ok(convene);
    }
    let refused = clerk.refused(wrong, None, room::Command::Boardroom(Command::Convene(convene)));
    Err(match board {
        Some(board) => boards::about(refused, &board),
        None => refused,
    })
}

/// The board that is meant: a saved one, one in a file, or the usual one.
async fn chosen(
    clerk: &Clerk,
    wrong: &mut Vec<Wrong>,
    new: &mut NewBoardroom,
) -> Result<Option<Arc<Board>>> {
    if (new.board.is_some() || new.board_file.is_some()) && new.advisors.is_some() {
        wrong.push(Wrong::new("board", "give either a board or the advisors, not both"));
        return Ok(None);
    }
    match (new.board.take(), new.board_file.take()) {
        (Some(_), Some(_)) => {
            wrong.push(Wrong::new("board", "give either a board or a board's file, not both"));
            Ok(None)
        }
        (Some(written), None) => match boards::meant(clerk, &written).await? {
            Ok(board) => Ok(Some(board)),
            Err(problem) => {
                wrong.push(Wrong::new("board", problem));
                // Whatever else is wrong is told beside it.
                Ok(boards::usual())
            }
        },
        (None, Some(file)) => Ok(Some(Arc::new(boards::read(&file, "boardFile")?))),
        (None, None) if new.advisors.is_some() => Ok(None),
        // Nobody has asked for it by name, so that nothing is said of it either.
        (None, None) => {
            new.advisors =
                boards::usual().map(|board| board.seats.iter().map(NewAdvisor::from).collect());
            Ok(None)
        }
    }
}

/// What holds for all models of the board, where a seat says nothing of its own.
fn with_usual(advisor: NewAdvisor, new: &NewBoardroom) -> NewAdvisor {
    if advisor.person.is_some() {
        return advisor;
    }
    NewAdvisor {
        temperature: advisor.temperature.or(new.temperature),
        output_tokens: advisor.output_tokens.or(new.output_tokens),
        tries: advisor.tries.or(new.tries),
        ..advisor
    }
}

/// The role that was written, one of the six or one's own.
pub(crate) fn role(
    wrong: &mut Vec<Wrong>,
    advisor: &NewAdvisor,
    field: impl Fn(&str) -> String,
) -> (Role, Option<OwnRole>) {
    let drawn =
        [("initials", &advisor.initials), ("colour", &advisor.colour), ("glyph", &advisor.glyph)];
    match named(&advisor.role) {
        Ok(Named::Standard(role)) => {
            for (name, _) in drawn.into_iter().filter(|(_, given)| given.is_some()) {
                let problem = "is only for custom roles; this role is built in";
                wrong.push(Wrong::new(field(name), problem));
            }
            (role, None)
        }
        // One that could be taken for another is refused by the rules.
        Ok(Named::Own(_)) | Err(_) => {
            let [initials, colour, glyph] =
                drawn.map(|(_, given)| given.clone().unwrap_or_default());
            let name = advisor.role.trim().to_owned();
            (Role::Generalist, Some(OwnRole { name, initials, colour, glyph }))
        }
    }
}

/// Who writes the synthesis: whoever was named, else whom the board names.
async fn synthesizer(
    sitters: &mut Sitters<'_>,
    wrong: &mut Vec<Wrong>,
    new: &NewBoardroom,
    board: Option<&Board>,
) -> Result<(Option<ModelName>, Seated)> {
    let synthesis = board.map(|board| board.synthesis.clone()).unwrap_or_default();
    let written = new.synthesizer.as_deref();
    let (model, tier) = boards::choice(&synthesis.model);
    let wanted = Wanted {
        model: written.or(model.as_deref()),
        tier: tier.filter(|_| written.is_none()),
        temperature: synthesis.temperature,
        output_tokens: synthesis.output_tokens,
        ..Wanted::default()
    };
    let prompt = new.synthesis_prompt.clone().or(synthesis.prompt).unwrap_or_default();
    if prompt.len() > limits::INSTRUCTION_BYTES {
        let (len, most) = (prompt.len(), limits::INSTRUCTION_BYTES);
        let problem = format!("is {len} bytes long; at most {most} are allowed");
        wrong.push(Wrong::new("synthesisPrompt", problem));
    }
    let own = |seated: Seated| Seated { persona: Arc::from(seated.system(&prompt)), ..seated };
    if wanted.model.is_none() && wanted.tier.is_none() {
        let seated = Seated::default().with(synthesis.temperature, synthesis.output_tokens);
        return Ok((None, own(seated)));
    }
    match sitters.find(wanted, 0, &[]).await? {
        Ok(Found { model, seated, .. }) => Ok((Some(model), own(seated))),
        Err((_, problem)) => {
            wrong.push(Wrong::new("synthesizer", problem));
            Ok((Some(models::unknown()), Seated::default()))
        }
    }
}

fn quorum(wrong: &mut Vec<Wrong>, new: &NewBoardroom, board: Option<&Board>) -> Option<Quorum> {
    let Some(quorum) = &new.quorum else { return board.and_then(|board| board.quorum) };
    Some(boards::quorum(wrong, quorum))
}

fn budget(
    clerk: &Clerk,
    wrong: &mut Vec<Wrong>,
    new: &mut NewBoardroom,
    board: Option<&Board>,
) -> Option<Budget> {
    let prices = clerk.prices.now();
    let here = &prices.currency;
    if let Some(own) = budgets::budget(here, wrong, new.budget.take()) {
        return Some(own);
    }
    let board = board?;
    let other = board.currency.as_ref().filter(|other| !other.eq_ignore_ascii_case(here));
    if let Some(other) = other.filter(|_| board.spends_money()) {
        let problem = format!("its budget is in {other}, and prices here are in {here}");
        wrong.push(Wrong::new("board", problem));
    }
    board.budget
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
            all.extend(preset::synthesizer(&names.available().await?).cloned())
        }
        None => {}
    }
    all.extend(pool.iter().cloned().chain(seated));
    if all.is_empty() {
        all.extend(preset::synthesizer(&names.available().await?).cloned());
    }
    let mut unique: Vec<ModelName> = vec![];
    for model in all {
        if !unique.contains(&model) && unique.len() < limits::SYNTHESIZERS {
            unique.push(model);
        }
    }
    Ok(unique)
}

type Sits = (Sitter, Seated, plenary_domain::Allowance);

/// Who sits there, or which of the advisor's fields is wrong.
async fn sitter(
    sitters: &mut Sitters<'_>,
    advisor: &NewAdvisor,
    place: usize,
    pool: &[ModelName],
) -> Result<Result<Sits, Fault>, NoModel> {
    if let Some(name) = &advisor.person {
        if advisor.model.is_some() || advisor.tier.is_some() || advisor.agent.is_some() {
            return Ok(Err(("person", "give either a person or a model, not both".into())));
        }
        let wait = advisor.reply_within_seconds.map(|s| Duration::from_secs(s.into()));
        let reply_by = wait.map(|wait| sitters.clerk().engine.clock().now() + wait);
        let sitter = Sitter::Person { name: name.clone(), reply_by };
        let seated = Seated::default().with(advisor.temperature, advisor.output_tokens);
        return Ok(Ok((sitter, seated, Default::default())));
    }
    if advisor.reply_within_seconds.is_some() {
        return Ok(Err(("replyWithinSeconds", "is only for a person's seat".into())));
    }
    let found = sitters.find(Wanted::from(advisor), place, pool).await?;
    Ok(found.map(|Found { model, seated, budget }| (Sitter::Model(model), seated, budget)))
}
