//! Councils: open, post, change, close.

use std::sync::Arc;

use plenary_domain::council::{Changing, Command, Event, Member, Open, Post, State};
use plenary_domain::{AgentName, SessionId, Wrong, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::budgets::{self, NewAllowance, NewBudget};
use crate::identity::{self, Caller, Proven};
use crate::sitters::{Found, Sitters, Wanted};
use crate::{Clerk, ClerkError, Result};

pub const KIND: &str = "council";

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCouncil {
    /// The council's permanent name: lowercase letters, digits, dots, dashes, underscores.
    #[schema(pattern = "^[a-z0-9][a-z0-9._-]{0,79}$")]
    pub name: String,
    /// What it is for, and how its members should talk.
    #[schema(min_length = 1, max_length = 8192)]
    pub charter: String,
    /// Its members. Others may post too.
    #[serde(default)]
    #[schema(max_items = 16)]
    pub members: Vec<NewMember>,
    /// The project that it belongs to; lists filter by it.
    #[schema(max_length = 200)]
    pub project: Option<String>,
    pub budget: Option<NewBudget>,
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMember {
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub name: String,
    /// A member with a model answers by itself when a post is addressed to it.
    #[schema(min_length = 1)]
    pub model: Option<String>,
    /// A stored agent, by id or name: its persona and limits apply, and its model, where
    /// none is given here. It answers by itself as a model does.
    #[schema(min_length = 1)]
    pub agent: Option<String>,
    /// Who this member is, for the model; beside the agent's own, where one sits there.
    #[schema(max_length = 8192)]
    pub persona: Option<String>,
    #[schema(minimum = 0, maximum = 2)]
    pub temperature: Option<f64>,
    /// Tokens of one answer.
    #[schema(minimum = 16, maximum = 65536)]
    pub output_tokens: Option<u32>,
    pub budget: Option<NewAllowance>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCouncilPost {
    /// Your name here. The first post under a name claims it; later ones need the
    /// token that came back with the first.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$")]
    pub sender: String,
    /// `@name` asks one member; a post that names no one, or `@all`, asks everyone.
    #[schema(min_length = 1, max_length = 65536)]
    pub body: String,
    /// The sequence of an earlier post.
    #[schema(minimum = 1)]
    pub reply_to: Option<u64>,
}

/// What is to be changed in a council. Whoever is removed goes before whoever is added
/// comes: to change a member, do both.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CouncilChange {
    /// What it is for from now on.
    #[schema(min_length = 1, max_length = 8192)]
    pub charter: Option<String>,
    /// New members.
    #[serde(default)]
    #[schema(max_items = 16)]
    pub add_members: Vec<NewMember>,
    /// Members to remove, by name. An answer of theirs in progress is dropped.
    #[serde(default)]
    #[schema(max_items = 16)]
    pub remove_members: Vec<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CouncilClosing {
    /// What came of it.
    #[schema(max_length = 65536)]
    pub summary: Option<String>,
}

/// Opens a council.
pub async fn open(clerk: &Clerk, id: Option<SessionId>, by: By, new: NewCouncil) -> Result {
    if let Some(earlier) = clerk.opened(id, &by).await? {
        return Ok(earlier);
    }
    let open = seat(clerk, new).await?;
    clerk.open(id, by, room::Command::Council(Command::Open(open))).await
}

/// The council with the models of its members, by the names that were given.
async fn seat(clerk: &Clerk, new: NewCouncil) -> Result<Open> {
    let mut wrong = vec![];
    let members = seated(clerk, &mut wrong, "members", new.members).await?;
    let (name, charter, project) = (new.name, new.charter, new.project);
    let prices = clerk.noted(members.iter().filter_map(|member| member.model.as_ref()));
    let budget = budgets::budget(&clerk.prices.now().currency, &mut wrong, new.budget);
    let open = Open { name, charter, members, project, by: None, prices, budget };
    match wrong.is_empty() {
        true => Ok(open),
        false => Err(clerk.refused(wrong, None, room::Command::Council(Command::Open(open)))),
    }
}

/// Members with their models, by the names that were given in this list.
async fn seated(
    clerk: &Clerk,
    wrong: &mut Vec<Wrong>,
    list: &str,
    new: Vec<NewMember>,
) -> Result<Vec<Member>> {
    let mut sitters = Sitters::new(clerk, vec![]);
    let mut members = vec![];
    // One more than there may be is enough for the rules to refuse them.
    for (place, new) in new.into_iter().take(limits::COUNCIL_MEMBERS + 1).enumerate() {
        let wanted = Wanted {
            model: new.model.as_deref(),
            agent: new.agent.as_deref(),
            temperature: new.temperature,
            output_tokens: new.output_tokens,
            ..Wanted::default()
        };
        let found = match wanted.model.is_some() || wanted.agent.is_some() {
            false => None,
            true => match sitters.find(wanted, place, &[]).await? {
                Ok(found) => Some(found),
                Err((field, problem)) => {
                    wrong.push(Wrong::new(format!("{list}[{place}].{field}"), problem));
                    Some(Found::nobody())
                }
            },
        };
        if found.is_none() && (wanted.temperature.is_some() || wanted.output_tokens.is_some()) {
            let field = if wanted.temperature.is_some() { "temperature" } else { "outputTokens" };
            let problem = "is only for members with a model";
            wrong.push(Wrong::new(format!("{list}[{place}].{field}"), problem));
        }
        let (prices, field) = (clerk.prices.now(), format!("{list}[{place}].budget"));
        let here = &prices.currency;
        let budget = budgets::allowance(here, wrong, &field, new.budget);
        let (model, seated, own) = match found {
            Some(Found { model, seated, budget }) => (Some(model), seated, budget),
            None => Default::default(),
        };
        let budget = budget.unwrap_or(own);
        members.push(Member { name: new.name, model, persona: new.persona, budget, seated });
    }
    Ok(members)
}

/// Changes charter and members, for whoever opened the council and the operator.
pub async fn change(clerk: &Clerk, caller: Caller, new: CouncilChange) -> Result {
    if let Some(earlier) = clerk.engine.repeated(&caller.by).await? {
        return Ok(earlier);
    }
    let now = clerk.engine.get(caller.session).await?;
    council(&now)?;
    caller.owns(&now, "change")?;
    let mut wrong = vec![];
    let add = seated(clerk, &mut wrong, "addMembers", new.add_members).await?;
    let prices = clerk.noted(add.iter().filter_map(|member| member.model.as_ref()));
    let changing = Changing { charter: new.charter, add, remove: new.remove_members, prices };
    let command = Command::Change(changing);
    match wrong.is_empty() {
        true => submit(clerk, caller.session, caller.by, command).await,
        false => Err(clerk.refused(wrong, Some(&now.room), room::Command::Council(command))),
    }
}

/// What was posted, and by whom.
pub struct Posted {
    pub snapshot: Snapshot,
    pub post: Arc<Post>,
    pub sender: AgentName,
    /// Whether the sender had proven to be that one.
    pub proven: bool,
}

/// Posts. The first post under a name claims it.
pub async fn post(clerk: &Clerk, caller: Caller, new: NewCouncilPost) -> Result<Posted> {
    let (id, sender) = (caller.session, AgentName(new.sender.clone()));
    let by = identity::by(caller.by, id, &sender);
    let proven = match &caller.proven {
        // Whoever opened the council may send along what proves that, and is no sender by it.
        Proven::Nothing | Proven::Opener => false,
        Proven::Agent(_) | Proven::Stranger | Proven::Seat(_) => {
            caller.proven.prove(&sender).map(|()| true)?
        }
    };
    // Whoever repeats their own request comes without the answer, so without a token.
    let repeated = clerk.engine.repeated(&by).await?.is_some();
    if !proven && !repeated && council(&clerk.engine.get(id).await?)?.is_claimed(&new.sender) {
        return Err(ClerkError::NotYourAgent { agent: sender, proven: None });
    }
    let (body, reply_to) = (new.body, new.reply_to);
    let command = Command::Post { sender: new.sender, proved: proven, body, reply_to };
    let snapshot = submit(clerk, id, by, command).await?;
    let post = posted(&snapshot)?;
    Ok(Posted { snapshot, post, sender, proven })
}

/// The post that a request wrote, also when an earlier one with the same key did.
fn posted(snapshot: &Snapshot) -> Result<Arc<Post>> {
    // A turn may have begun with it, in the same write.
    let sequence = snapshot.recorded.iter().rev().find_map(|recorded| {
        let room::Event::Council(Event::Posted { sequence, .. }) = &recorded.event else {
            return None;
        };
        Some(*sequence)
    });
    let gone = || ClerkError::Unreadable("post");
    let before = sequence.ok_or_else(gone)?.saturating_sub(1);
    council(snapshot)?.posts_after(before, 1).first().cloned().ok_or_else(gone)
}

/// Closes a council, for whoever opened it and the operator.
pub async fn close(clerk: &Clerk, caller: Caller, new: CouncilClosing) -> Result {
    caller.owns(&clerk.engine.get(caller.session).await?, "close")?;
    let command = Command::Close { summary: new.summary, by: None };
    submit(clerk, caller.session, caller.by, command).await
}

/// What needs nothing to be found out.
pub async fn submit(clerk: &Clerk, id: SessionId, by: By, command: Command) -> Result {
    Ok(clerk.engine.submit(id, by, room::Command::Council(command)).await?)
}

/// A session of another form is no council.
pub fn council(snapshot: &Snapshot) -> Result<&State> {
    let council = snapshot.room.council();
    council.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}
