//! Stored agents: which one is meant, add, copy, edit, remove.

use std::sync::Arc;

use plenary_domain::agent::{self, Agent, Tier};
use plenary_domain::discussion::Format;
use plenary_domain::library::{self, Command, Event, Given};
use plenary_domain::{Reject, Wrong, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::models::{self, Meant, Names};
use crate::{Clerk, ClerkError, Result, mirror};

mirror! {
    #[serde(rename_all = "lowercase")]
    TierName = Tier { Fast, Balanced, Strong }
    #[serde(rename_all = "lowercase")]
    DiscussionFormat = Format { Brainstorm, Review, Deliberation }
}

/// A body of requests that write. Serde cannot share fields between bodies and refuse
/// unknown ones too, so those that adding and editing have in common stand here.
macro_rules! body {
    ($(#[$meta:meta])* pub struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        pub struct $name {
            $($own)*
            /// One line for lists.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, max_length = 300)]
            pub description: Option<Option<String>>,
            /// `provider/model`, or a bare name that one provider has; `haiku`, `sonnet` and
            /// `opus` mean a tier where no model is called that. Give either this or a tier;
            /// with neither the agent takes any model.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, min_length = 1)]
            pub model: Option<Option<String>>,
            /// How able its model should be, where no model is named.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<TierName>)]
            pub tier: Option<Option<TierName>>,
            /// Made to lead discussions.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<bool>)]
            pub is_facilitator: Option<Option<bool>>,
            /// Formats of discussions that it suits best; it may take part in any.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<Vec<DiscussionFormat>>)]
            pub formats: Option<Option<Vec<DiscussionFormat>>>,
            /// Time for one turn.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u32>, minimum = 5, maximum = 3600)]
            pub turn_seconds: Option<Option<u32>>,
            /// Tokens of one answer.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u32>, minimum = 16, maximum = 65536)]
            pub output_tokens: Option<Option<u32>>,
            /// How freely its model chooses its words. Some models take no such setting, and
            /// are asked without it.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<f64>, minimum = 0, maximum = 2)]
            pub temperature: Option<Option<f64>>,
            /// Tokens that it may use in one session, those that it reads included.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u64>, minimum = 1000, maximum = 1_000_000_000_000_u64)]
            pub budget_tokens: Option<Option<u64>>,
            /// Money that it may spend in one session, in the currency of the prices here.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<f64>, exclusive_minimum = 0)]
            pub budget_cost: Option<Option<f64>>,
            /// Time for all its answers in one session.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u64>, minimum = 1, maximum = 7_776_000)]
            pub budget_seconds: Option<Option<u64>>,
            /// For command-line agents.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<NewWorkspace>)]
            pub workspace: Option<Option<NewWorkspace>>,
        }

        impl $name {
            fn said(self) -> Said {
                let (folder, tools) = match self.workspace {
                    None => (None, None),
                    Some(None) => (Some(None), Some(vec![])),
                    Some(Some(place)) => (place.folder, place.tools.map(Option::unwrap_or_default)),
                };
                let formats = self.formats.map(Option::unwrap_or_default);
                let given = Given {
                    name: self.name,
                    description: self.description.map(Option::unwrap_or_default),
                    persona: self.persona,
                    model: None,
                    tier: self.tier.map(|tier| tier.map(Tier::from)),
                    facilitator: self.is_facilitator.map(Option::unwrap_or_default),
                    formats: formats.map(|all| all.into_iter().map(Format::from).collect()),
                    turn_ms: self.turn_seconds.map(|turn| turn.map(|s| u64::from(s) * 1000)),
                    output_tokens: self.output_tokens,
                    temperature: self.temperature,
                    budget_tokens: self.budget_tokens,
                    budget_cost: self.budget_cost,
                    budget_ms: self.budget_seconds.map(|time| time.map(|s| s.saturating_mul(1000))),
                    folder,
                    tools,
                };
                Said { model: self.model, given }
            }
        }
    };
}

body! {
    #[derive(Deserialize, ToSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct NewStoredAgent {
        /// An agent whose values the new one begins with, by id or name. What else is
        /// given takes their place.
        pub copy_of: Option<String>,
        /// A copy that is given none is called `… (copy)`.
        #[schema(min_length = 1, max_length = 80)]
        pub name: Option<String>,
        /// Who the agent is, sent to the model as its system prompt. A facilitator without one
        /// leads in a neutral way.
        #[schema(min_length = 1, max_length = 16384)]
        pub persona: Option<String>,
    }
}

body! {
    #[derive(Deserialize, ToSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct AgentChanges {
        #[serde(default, deserialize_with = "not_null")]
        #[schema(min_length = 1, max_length = 80, nullable = false)]
        pub name: Option<String>,
        /// Who the agent is, said to the model: its system prompt.
        #[serde(default, deserialize_with = "not_null")]
        #[schema(min_length = 1, max_length = 16384, nullable = false)]
        pub persona: Option<String>,
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorkspace {
    /// The folder that it runs in: a whole path, or one from `~/` on.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, pattern = "^(/|~/)", max_length = 4096)]
    pub folder: Option<Option<String>>,
    /// Tools that it may use, by the names that its program knows.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>, max_items = 64)]
    pub tools: Option<Option<Vec<String>>>,
}

/// `null` clears a field; one that is left out stays as it is.
pub(crate) fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// What an agent cannot be without is not cleared.
pub(crate) fn not_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Every agent: those that ship with the program first, then the others by name.
pub async fn all(clerk: &Clerk) -> Result<Vec<Arc<Agent>>> {
    let standing = standing(clerk).await?;
    Ok(library::all(standing.as_ref().map(|snapshot| stored(snapshot)).transpose()?))
}

/// The agent that somebody means, by id or by name.
pub async fn find(clerk: &Clerk, written: &str) -> Result<Arc<Agent>> {
    agent::find(&all(clerk).await?, written).map_err(|problem| {
        let end = if problem.ends_with('?') { "" } else { "." };
        ClerkError::Agents(Reject::Unknown(problem.replacen("there", "There", 1) + end))
    })
}

/// Adds an agent, or a copy of one.
pub async fn add(clerk: &Clerk, by: By, new: NewStoredAgent) -> Result<Arc<Agent>> {
    let copy_of = new.copy_of.clone();
    write(clerk, by, new.said(), |given| Command::Add { copy_of, given }).await
}

/// Changes what is given and nothing else.
pub async fn edit(clerk: &Clerk, agent: String, by: By, new: AgentChanges) -> Result<Arc<Agent>> {
    write(clerk, by, new.said(), |given| Command::Edit { agent, given }).await
}

/// Removes an agent. Sessions that it took part in keep their copy of it.
pub async fn remove(clerk: &Clerk, agent: String, by: By) -> Result<()> {
    submit(clerk, by, Command::Remove { agent }).await.map(|_| ())
}

/// What somebody gave, with the model as it was written.
struct Said {
    model: Option<Option<String>>,
    given: Given,
}

/// Adds or edits, and gives the agent that came of it.
async fn write(
    clerk: &Clerk,
    by: By,
    Said { model, given }: Said,
    command: impl FnOnce(Given) -> Command,
) -> Result<Arc<Agent>> {
    // The model may have gone since the first request.
    if let Some(earlier) = clerk.engine.repeated(&by).await? {
        return written(&earlier);
    }
    let mut wrong = vec![];
    let given = match model {
        None => given,
        Some(None) => Given { model: Some(None), ..given },
        Some(Some(name)) => match Names::new(clerk).meant(&name).await {
            Ok(Meant::Model(model)) => Given { model: Some(Some(model)), ..given },
            Ok(Meant::Tier(tier)) => {
                if given.tier.is_some_and(|given| given.is_some()) {
                    wrong.push(Wrong::new("tier", "give either a model or a tier, not both"));
                }
                Given { tier: Some(Some(tier)), ..given }
            }
            Err(problem) => {
                wrong.push(Wrong::new("model", problem));
                Given { model: Some(Some(models::unknown())), ..given }
            }
        },
    };
    let command = command(given);
    if !wrong.is_empty() {
        let now = standing(clerk).await?;
        let room = now.as_ref().map(|now| &*now.room);
        return Err(of_agents(clerk.refused(wrong, room, room::Command::Library(command))));
    }
    written(&submit(clerk, by, command).await?)
}

/// Gives a command to the library. The first one that is accepted opens it.
async fn submit(clerk: &Clerk, by: By, command: Command) -> Result {
    for _ in 0..limits::DECISIONS {
        let command = room::Command::Library(command.clone());
        match clerk.engine.named(library::KIND, library::NAME).await {
            Ok(id) => return clerk.engine.submit(id, by, command).await.map_err(of_agents),
            Err(EngineError::Unnamed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match clerk.engine.open(by.clone(), command).await {
            // Somebody else has opened it in the same moment, and what they added counts.
            Err(EngineError::Taken(_)) => {}
            opened => return opened.map_err(of_agents),
        }
    }
    Err(EngineError::Contended.into())
}

/// What the rules of the library refuse is about agents.
fn of_agents(error: impl Into<ClerkError>) -> ClerkError {
    match error.into() {
        ClerkError::Refused(reject) => ClerkError::Agents(reject),
        error => error,
    }
}

/// The library as it stands, when there is one.
async fn standing(clerk: &Clerk) -> Result<Option<Snapshot>> {
    match clerk.engine.named(library::KIND, library::NAME).await {
        Ok(id) => Ok(Some(clerk.engine.get(id).await?)),
        Err(EngineError::Unnamed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn stored(snapshot: &Snapshot) -> Result<&library::State> {
    let library = snapshot.room.library();
    library.ok_or(ClerkError::Engine(EngineError::NotFound(snapshot.id)))
}

/// The agent that a request wrote, as it stands now; one that was removed since, as
/// it was then.
fn written(snapshot: &Snapshot) -> Result<Arc<Agent>> {
    let last = snapshot.recorded.last().map(|last| &last.event);
    let Some(room::Event::Library(Event::AgentAdded { agent } | Event::AgentEdited { agent })) =
        last
    else {
        return Err(ClerkError::Unreadable("agent"));
    };
    Ok(stored(snapshot)?.agents.get(&agent.id).unwrap_or(agent).clone())
}
