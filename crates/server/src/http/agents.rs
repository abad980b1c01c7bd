//! Stored agents: list, add, copy, edit, remove.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use plenary_domain::agent::{self, Agent, Tier};
use plenary_domain::discussion::Format;
use plenary_domain::library::{self, Command, Event, Given};
use plenary_domain::{ModelName, Nonce, Reject, limits, room};
use plenary_engine::{By, EngineError, Snapshot};
use serde::{Deserialize, Deserializer};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::models::Names;
use super::sessions::{DetailName, Empty};
use super::within;
use crate::App;
use crate::error::{Code, Problem, ReadProblems, WriteProblems};
use crate::idempotency::{Change, Key, Path, Query};
use crate::views::agents::{DiscussionFormat, StoredAgent, TierName};
use crate::views::{Nothing, Reply, page, reply};

pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(get, edit, remove))
}

/// Every agent: those that ship with the program first, then the others by name.
pub async fn all(app: &App) -> Result<Vec<Arc<Agent>>, Problem> {
    let standing = standing(app).await?;
    Ok(library::all(standing.as_ref().map(|snapshot| stored(snapshot)).transpose()?))
}

/// The agent that somebody means, by id or by name.
pub async fn find(app: &App, written: &str) -> Result<Arc<Agent>, Problem> {
    agent::find(&all(app).await?, written).map_err(|problem| {
        let end = if problem.ends_with('?') { "" } else { "." };
        no_such_agent(problem.replacen("there", "There", 1) + end)
    })
}

fn no_such_agent(message: String) -> Problem {
    Problem::new(Code::NotFound, message).hint("List them with GET /api/agents.")
}

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AgentFilter {
    /// Only those who lead discussions, or only the others.
    #[param(nullable = false)]
    facilitator: Option<bool>,
    /// Only those that ship with Plenary, or only the others.
    #[param(nullable = false)]
    built_in: Option<bool>,
    /// Words that must all occur in the name or the description.
    #[param(nullable = false)]
    q: Option<String>,
    /// `full` gives the personas too.
    #[param(nullable = false, inline)]
    detail: Option<DetailName>,
    /// Rows of a page.
    #[param(minimum = 1, maximum = 200, nullable = false)]
    limit: Option<u32>,
    /// `meta.next` of the page before.
    #[param(nullable = false)]
    cursor: Option<String>,
}

/// Agents that can be seated: those that ship with Plenary first, then by name.
#[utoipa::path(get, path = "/api/agents", tag = "agents", params(AgentFilter),
    responses((status = 200, body = Reply<Vec<StoredAgent>>), ReadProblems))]
async fn list(
    State(app): State<App>,
    Query(filter): Query<AgentFilter>,
) -> Result<impl IntoResponse, Problem> {
    let limit = within("limit", filter.limit.unwrap_or(limits::PAGE), 1, limits::PAGE_MOST)?;
    let agents = all(&app).await?;
    let fits: Vec<&Arc<Agent>> = agents.iter().filter(|agent| filter.fits(agent)).collect();
    let after = filter.cursor.as_deref().map(|cursor| place(&agents, cursor));
    let mut rest = fits
        .iter()
        .filter(|agent| after.as_ref().is_none_or(|after| place(&agents, &agent.name) > *after));
    let rows: Vec<&Arc<Agent>> = rest.by_ref().take(limit as usize).copied().collect();
    let next = rest.next().and(rows.last()).map(|agent| agent.name.to_lowercase());
    let full = filter.detail == Some(DetailName::Full);
    let views: Vec<StoredAgent> = rows.iter().map(|agent| StoredAgent::new(agent, full)).collect();
    Ok(page(views, fits.len() as u64, limit, next))
}

impl AgentFilter {
    fn fits(&self, agent: &Agent) -> bool {
        let text = format!("{} {} {}", agent.id, agent.name, agent.description).to_lowercase();
        let words = self.q.as_deref().unwrap_or_default().to_lowercase();
        self.facilitator.is_none_or(|is| is == agent.facilitator)
            && self.built_in.is_none_or(|is| is == agent.built_in)
            && words.split_whitespace().all(|word| text.contains(word))
    }
}

/// Where a name stands in lists. It need not be an agent's any more: a page goes on
/// although its last agent was removed meanwhile.
fn place(agents: &[Arc<Agent>], name: &str) -> (usize, String) {
    let name = name.to_lowercase();
    let built_in = agents.iter().take_while(|agent| agent.built_in);
    let count = built_in.clone().count();
    let nth = built_in.into_iter().position(|agent| agent.name.to_lowercase() == name);
    (nth.unwrap_or(count), name)
}

/// One agent, by its id or its name.
#[utoipa::path(get, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name.")),
    responses((status = 200, body = Reply<StoredAgent>), ReadProblems))]
async fn get(State(app): State<App>, Path(id): Path<String>) -> Result<impl IntoResponse, Problem> {
    Ok(reply(StoredAgent::new(&*find(&app, &id).await?, true)))
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
            description: Option<Option<String>>,
            /// `provider/model`, or a bare name that one provider has. Give either this
            /// or a tier; with neither the agent takes any model.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<String>, min_length = 1)]
            model: Option<Option<String>>,
            /// How able its model should be, where no model is named.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<TierName>)]
            tier: Option<Option<TierName>>,
            /// Made to lead discussions.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<bool>)]
            is_facilitator: Option<Option<bool>>,
            /// Formats of discussions that it suits best; it may take part in any.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<Vec<DiscussionFormat>>)]
            formats: Option<Option<Vec<DiscussionFormat>>>,
            /// Time for one turn.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u32>, minimum = 5, maximum = 3600)]
            turn_seconds: Option<Option<u32>>,
            /// Tokens of one answer.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u32>, minimum = 16, maximum = 65536)]
            output_tokens: Option<Option<u32>>,
            /// Tokens that it may use in one session, those that it reads included.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<u64>, minimum = 1000, maximum = 1_000_000_000_000_u64)]
            budget_tokens: Option<Option<u64>>,
            /// For command-line agents.
            #[serde(default, deserialize_with = "given")]
            #[schema(value_type = Option<NewWorkspace>)]
            workspace: Option<Option<NewWorkspace>>,
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
                    budget_tokens: self.budget_tokens,
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
        #[serde(default)]
        copy_of: Option<String>,
        /// A copy that is given none is called `… (copy)`.
        #[serde(default)]
        #[schema(min_length = 1, max_length = 80)]
        name: Option<String>,
        /// Who the agent is, said to the model: its system prompt.
        #[serde(default)]
        #[schema(min_length = 1, max_length = 16384)]
        persona: Option<String>,
    }
}

body! {
    #[derive(Deserialize, ToSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    pub struct AgentChanges {
        #[serde(default, deserialize_with = "not_null")]
        #[schema(min_length = 1, max_length = 80, nullable = false)]
        name: Option<String>,
        /// Who the agent is, said to the model: its system prompt.
        #[serde(default, deserialize_with = "not_null")]
        #[schema(min_length = 1, max_length = 16384, nullable = false)]
        persona: Option<String>,
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorkspace {
    /// The folder that it runs in: a whole path, or one from `~/` on.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, pattern = "^(/|~/)", max_length = 4096)]
    folder: Option<Option<String>>,
    /// Tools that it may use, by the names that its program knows.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>, max_items = 64)]
    tools: Option<Option<Vec<String>>>,
}

/// `null` clears a field; one that is left out stays as it is.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// What an agent cannot be without is not cleared.
fn not_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Adds an agent, or a copy of one.
#[utoipa::path(post, path = "/api/agents", tag = "agents", params(Key),
    request_body = NewStoredAgent,
    responses((status = 201, body = Reply<StoredAgent>), WriteProblems))]
async fn add(
    State(app): State<App>,
    Change { by, body }: Change<NewStoredAgent>,
) -> Result<impl IntoResponse, Problem> {
    let copy_of = body.copy_of.clone();
    let command = |given| Command::Add { copy_of: copy_of.clone(), given };
    let agent = write(&app, by, body.said(), command).await?;
    let place = [(header::LOCATION, format!("/api/agents/{}", agent.id))];
    Ok((StatusCode::CREATED, place, reply(StoredAgent::new(&agent, true))))
}

/// Changes what is given and nothing else; `null` clears a field. Agents that ship
/// with Plenary cannot be changed: make a copy.
#[utoipa::path(patch, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name."), Key),
    request_body = AgentChanges,
    responses((status = 200, body = Reply<StoredAgent>), WriteProblems))]
async fn edit(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body }: Change<AgentChanges>,
) -> Result<impl IntoResponse, Problem> {
    let command = |given| Command::Edit { agent: id.clone(), given };
    Ok(reply(StoredAgent::new(&*write(&app, by, body.said(), command).await?, true)))
}

/// Removes an agent. Sessions that it took part in keep their copy of it.
#[utoipa::path(delete, path = "/api/agents/{id}", tag = "agents",
    params(("id" = String, Path, description = "The agent's id or name."), Key),
    responses((status = 200, body = Reply<Nothing>), WriteProblems))]
async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    Change { by, body: Empty {} }: Change<Empty>,
) -> Result<impl IntoResponse, Problem> {
    submit(&app, by, Command::Remove { agent: id }).await?;
    Ok(reply(Nothing {}))
}

/// What somebody gave, with the model as it was written.
struct Said {
    model: Option<Option<String>>,
    given: Given,
}

/// Adds or edits, and gives the agent that came of it.
async fn write(
    app: &App,
    by: By,
    Said { model, given }: Said,
    command: impl Fn(Given) -> Command,
) -> Result<Arc<Agent>, Problem> {
    // The model may have gone since the first request.
    if let Some(earlier) = app.engine.repeated(&by).await? {
        return written(app, &earlier).await;
    }
    let model = match model {
        None => None,
        Some(None) => Some(None),
        Some(Some(name)) => match Names::new(app).find(&name).await {
            Ok(model) => Some(Some(model)),
            Err(problem) => return Err(wrong(app, problem, given, command).await),
        },
    };
    let snapshot = submit(app, by, command(Given { model, ..given })).await?;
    written(app, &snapshot).await
}

/// The rules are asked as well, so that one answer names all that is wrong.
async fn wrong(
    app: &App,
    problem: String,
    given: Given,
    command: impl Fn(Given) -> Command,
) -> Problem {
    let stand_in = Some(Some(ModelName::new("unknown", "unknown")));
    let command = room::Command::Library(command(Given { model: stand_in, ..given }));
    let snapshot = match standing(app).await {
        Ok(snapshot) => snapshot,
        Err(problem) => return problem,
    };
    let (at, nonce) = (app.engine.clock().now(), Nonce(String::new()));
    let input = room::Input { at, nonce, actor: String::new(), command };
    let mut fields = vec![("model".to_owned(), problem)];
    match room::decide(snapshot.as_ref().map(|snapshot| &*snapshot.room), input) {
        Ok(_) => {}
        Err(Reject::Invalid(all)) => {
            fields.extend(all.into_iter().map(|wrong| (wrong.field, wrong.problem)));
        }
        Err(
            reject @ (Reject::NotNow { .. }
            | Reject::Unknown(_)
            | Reject::Forbidden(_)
            | Reject::NotInvited(_)
            | Reject::Stale),
        ) => return refused(EngineError::Rejected(reject)),
    }
    Problem::invalid(fields)
}

/// Gives a command to the library. The first one that is accepted opens it.
async fn submit(app: &App, by: By, command: Command) -> Result<Snapshot, Problem> {
    for _ in 0..limits::DECISIONS {
        let command = room::Command::Library(command.clone());
        match app.engine.named(library::KIND, library::NAME).await {
            Ok(id) => return app.engine.submit(id, by, command).await.map_err(refused),
            Err(EngineError::Unnamed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        match app.engine.open(by.clone(), command).await {
            // Somebody else has opened it in the same moment, and what they added counts.
            Err(EngineError::Taken(_)) => {}
            opened => return opened.map_err(refused),
        }
    }
    Err(EngineError::Contended.into())
}

/// A refusal, with what to do about it.
fn refused(error: EngineError) -> Problem {
    match error {
        EngineError::Rejected(Reject::Unknown(message)) => no_such_agent(message),
        EngineError::Rejected(Reject::NotNow { state, message, allowed }) => {
            let hint = match allowed.contains(&"copy") {
                true => "Copy it with POST /api/agents and its id as `copyOf`.",
                false => "Make room with DELETE /api/agents/{id}.",
            };
            Problem::from(Reject::NotNow { state, message, allowed }).hint(hint)
        }
        error => error.into(),
    }
}

/// The library as it stands, when there is one.
async fn standing(app: &App) -> Result<Option<Snapshot>, Problem> {
    match app.engine.named(library::KIND, library::NAME).await {
        Ok(id) => Ok(Some(app.engine.get(id).await?)),
        Err(EngineError::Unnamed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn stored(snapshot: &Snapshot) -> Result<&library::State, Problem> {
    snapshot.room.library().ok_or_else(|| Problem::no_such_session(snapshot.id))
}

/// The agent that a request wrote, as it stands now; one that was removed since, as
/// it was then.
async fn written(app: &App, snapshot: &Snapshot) -> Result<Arc<Agent>, Problem> {
    let gone = || Problem::new(Code::Internal, "The agent was written and cannot be read.");
    let version = snapshot.written.ok_or_else(gone)?;
    let event = app.engine.event(snapshot.id, version).await?;
    match serde_json::from_str::<Event>(&event.payload) {
        Ok(Event::AgentAdded { agent } | Event::AgentEdited { agent }) => {
            Ok(stored(snapshot)?.agents.get(&agent.id).cloned().unwrap_or(agent))
        }
        Ok(Event::AgentRemoved { .. }) | Err(_) => Err(gone()),
    }
}
