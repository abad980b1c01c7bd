//! The Model Context Protocol: tools, resources and prompts for agents.
//!
//! Like the command line, MCP is a client of the REST interface and no second way
//! in: a tool is a row in a table over its routes (`row.rs`), and its schemas come
//! from the OpenAPI document (`schema.rs`).

mod agents;
mod boardrooms;
mod boards;
mod call;
mod councils;
mod discussions;
pub(crate) mod http;
mod models;
mod names;
mod place;
mod prompts;
mod resources;
mod row;
mod schema;
mod sessions;
#[cfg(test)]
mod tests;
mod tokens;
mod wait;
mod whiteboards;
mod words;
mod workflows;

use std::sync::{Arc, LazyLock};

use axum::http::request::Parts;
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, GetPromptRequestParams,
    GetPromptResponse, Implementation, JsonObject, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{QuitReason, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

use crate::auth::Principal;
use call::{Answer, Caller};
use row::{Row, Run};
use schema::Shape;
use tokens::Agents;

/// Leads to the REST interface: in this process, or on a server.
pub trait Door: Send + Sync {
    fn call(&self, request: Request) -> BoxFuture<'_, Reply>;

    /// Milliseconds from any beginning, for measuring.
    fn ticks(&self) -> u64;

    /// Where the record is kept, for agents that cannot tell by an address.
    fn place(&self) -> Option<String> {
        None
    }
}

/// Status and body, or an error in the shape of REST's when none came.
pub type Reply = Result<(u16, Value), Value>;

/// A request to the REST interface.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: &'static str,
    /// With the query.
    pub path: String,
    pub body: Option<Value>,
    pub agent_token: Option<String>,
    pub idempotency_key: Option<String>,
    /// Who came in, for a door that can vouch for it.
    pub caller: String,
}

impl Request {
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let token = self.agent_token.clone().map(|token| ("agent-token", token));
        let key = self.idempotency_key.clone().map(|key| ("idempotency-key", key));
        // Whoever runs the agent may be the operator of the server; the agent is not.
        let through = Some((crate::auth::THROUGH, "mcp".to_owned()));
        [token, key, through].into_iter().flatten().collect()
    }
}

/// Speaks the protocol on standard input and output until the input ends or `over`
/// resolves. Nothing else may be printed there.
pub async fn serve_stdio(door: Arc<dyn Door>, over: impl Future<Output = ()>) {
    let server = Server::new(door);
    let mut over = std::pin::pin!(over);
    let running = tokio::select! {
        running = server.serve(rmcp::transport::stdio()) => running,
        () = &mut over => return,
    };
    // The client left before it had said hello.
    let Ok(running) = running else { return };
    let token = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = &mut over => {
            token.cancel();
            waiting.await
        }
    };
    match ended {
        Ok(QuitReason::Closed | QuitReason::Cancelled) => {}
        Ok(other) => tracing::warn!(?other, "the protocol ended"),
        Err(error) => tracing::warn!(%error, "the protocol ended"),
    }
}

/// The handler of one MCP session.
struct Server {
    shared: Arc<Shared>,
    agents: Agents,
}

struct Shared {
    door: Arc<dyn Door>,
    /// Made by whoever first asks for a tool, because the document is long.
    entries: LazyLock<Vec<Entry>, Box<dyn FnOnce() -> Vec<Entry> + Send>>,
}

/// A row, with what the OpenAPI document says of its route.
struct Entry {
    row: Row,
    shape: Shape,
}

fn rows() -> impl Iterator<Item = Row> {
    boardrooms::ROWS
        .into_iter()
        .chain(whiteboards::ROWS)
        .chain(councils::ROWS)
        .chain(discussions::ROWS)
        .chain(workflows::ROWS)
        .chain(sessions::ROWS)
        .chain(agents::ROWS)
        .chain(boards::ROWS)
        .chain(models::ROWS)
}

fn entries(document: &Value, rows: impl Iterator<Item = Row>) -> Vec<Entry> {
    let entry = |row: Row| {
        let shape = schema::shape(document, &row);
        if shape.is_none() {
            tracing::error!(tool = row.name, "the tool has no route");
        }
        Some(Entry { row, shape: shape? })
    };
    rows.filter_map(entry).collect()
}

impl Server {
    fn new(door: Arc<dyn Door>) -> Server {
        Server::with_entries(door, || entries(&crate::document_value(), rows()))
    }

    fn with_entries(
        door: Arc<dyn Door>,
        entries: impl FnOnce() -> Vec<Entry> + Send + 'static,
    ) -> Server {
        let entries = LazyLock::new(Box::new(entries) as Box<_>);
        Server { shared: Arc::new(Shared { door, entries }), agents: Agents::default() }
    }

    /// The same tools, and none of this session's agents.
    fn for_another_session(&self) -> Server {
        Server { shared: self.shared.clone(), agents: Agents::default() }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.shared.entries.iter().find(|entry| entry.row.name == name)
    }

    /// One request.
    async fn once(&self, entry: &Entry, arguments: &JsonObject, caller: &Caller<'_>) -> Answer {
        let Entry { row, shape } = entry;
        let request = call::request(row, shape, arguments, caller)?;
        let told = |error: &Value| words::error(error, row, arguments, caller.keeps);
        let answer = match self.shared.door.call(request).await {
            Err(error) => Err(told(&error)),
            Ok((status, reply)) if status >= 400 => Err(told(&reply["error"])),
            Ok((_, reply)) => Ok(call::answer(row, shape, arguments, caller, reply)),
        };
        place::told(self.shared.door.place(), row, answer)
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        let Entry { row, shape } = self;
        let annotations = ToolAnnotations::new()
            .read_only(!row.method.changes())
            .destructive(row.effect.destroys)
            .idempotent(row.effect.repeats)
            .open_world(false);
        let tool = Tool::new(row.name, row.description, Arc::new(shape.input.clone()))
            .with_title(row.title)
            .with_annotations(annotations);
        match &shape.output {
            Some(output) => tool.with_raw_output_schema(Arc::new(output.clone())),
            None => tool,
        }
    }

    /// A good answer; where it is but part of a record, with a link to all of it.
    fn result(&self, answer: Value) -> CallToolResult {
        let link = self.row.links.then(|| resources::link(&answer)).flatten();
        let mut result = CallToolResult::structured(answer);
        result.content.extend(link.map(ContentBlock::resource_link));
        result
    }
}

/// Who came in by HTTP. On standard input it is whoever started the program.
fn principal(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
    principal.map_or_else(|| "local".to_owned(), |principal| principal.0.clone())
}

/// Whether this handler is there for the next call too. Over HTTP it is when the call
/// belongs to a session, which the newest protocol does not have; on standard input it
/// lasts as long as the process.
fn keeps(context: &RequestContext<RoleServer>) -> bool {
    let Some(parts) = context.extensions.get::<Parts>() else { return true };
    let stateless = context.protocol_version().is_some_and(|version| !version.has_initialize());
    parts.headers.contains_key("mcp-session-id") && !stateless
}

/// What an agent should know before it has read about any tool.
fn instructions() -> String {
    "Plenary lets models, agents and people deliberate, and keeps the record.\n- \
     boardroom_convene: several models answer one question at once; a verdict follows. \
     boardroom_follow_up continues it.\n- discussion_start: agents discuss a topic turn by turn; a \
     facilitator concludes.\n- whiteboard_*: one decision by several agents who first post blind, \
     then read, validate, debate, vote and resolve; it ends in a decision record. Open one, or \
     call whiteboard_register when you were told a board_id; whiteboard_state always says what you \
     can do now.\n- council_*: an ongoing thread, under a charter.\nBoardrooms and discussions \
     return an id at once: call session_wait until `over` is true, then read `result`. \
     sessions_list finds earlier ones. Answers say in `next` what to do; errors say what would be \
     right. Keep each agent_token: it proves who you are."
        .to_owned()
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let plenary = Implementation::new("plenary", env!("CARGO_PKG_VERSION"))
            .with_title("Plenary")
            .with_description("Models, agents and people deliberate, and the record is kept.");
        let place = self.shared.door.place().map(|place| {
            format!("\n\nThe record is kept in {place}. Agents meet only if they share it.")
        });
        let instructions = format!("{}{}", instructions(), place.unwrap_or_default());
        ServerConfig::new(capabilities).with_server_info(plenary).with_instructions(instructions)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.entries.iter().map(Entry::tool).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.entry(name).map(Entry::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.entry(&request.name) else {
            let known = self.shared.entries.iter().map(|entry| entry.row.name);
            let near = names::nearest(&request.name, known);
            let near = near.map(|near| format!(" Did you mean {near}?")).unwrap_or_default();
            let words = format!("Unknown tool: {}.{near}", request.name);
            return Err(ErrorData::invalid_params(words, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let keeps = keeps(&context);
        let caller = Caller { name: principal(&context), agents: &self.agents, keeps };
        let answer = match entry.row.run {
            Run::Once => self.once(entry, &arguments, &caller).await,
            Run::Wait => wait::wait(self, entry, arguments, &caller, &context).await,
        };
        Ok(match answer {
            Ok(answer) => entry.result(answer),
            // As text only: clients hold structured content against the schema of
            // a good answer.
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        }
        .into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resources::list(self, principal(&context), cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(self, principal(&context), &request.uri).await?.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Ok(prompts::get(&request.name, request.arguments.as_ref())?.into())
    }
}
