//! The Model Context Protocol: tools, resources and prompts for agents.
//!
//! Like the command line, MCP is a client of the REST interface and no second way
//! in: a tool is a row in a table over its routes (`row.rs`), and its schemas come
//! from the OpenAPI document (`schema.rs`).

mod agents;
mod boardrooms;
mod call;
mod councils;
mod discussions;
pub(crate) mod http;
mod models;
mod names;
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

use std::sync::Arc;

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
    let document = serde_json::to_value(crate::document()).unwrap_or_default();
    let server = Server::new(door, &document);
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
    entries: Vec<Entry>,
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
        .chain(sessions::ROWS)
        .chain(agents::ROWS)
        .chain(models::ROWS)
}

impl Server {
    fn new(door: Arc<dyn Door>, document: &Value) -> Server {
        Server::with_rows(door, document, rows())
    }

    fn with_rows(door: Arc<dyn Door>, document: &Value, rows: impl Iterator<Item = Row>) -> Server {
        let entry = |row: Row| {
            let shape = schema::shape(document, &row);
            if shape.is_none() {
                tracing::error!(tool = row.name, "the tool has no route");
            }
            Some(Entry { row, shape: shape? })
        };
        let entries = rows.filter_map(entry).collect();
        Server { shared: Arc::new(Shared { door, entries }), agents: Agents::default() }
    }

    /// The same tools, and none of this session's agents.
    fn for_another_session(&self) -> Server {
        Server { shared: self.shared.clone(), agents: Agents::default() }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.shared.entries.iter().find(|entry| entry.row.name == name)
    }

    /// One request. `more` is added to its query.
    async fn once(
        &self,
        entry: &Entry,
        arguments: &JsonObject,
        caller: &Caller<'_>,
        more: &str,
    ) -> Answer {
        let Entry { row, shape } = entry;
        let mut request = call::request(row, shape, arguments, caller)?;
        if !more.is_empty() {
            let start = if request.path.contains('?') { '&' } else { '?' };
            request.path.push_str(&format!("{start}{more}"));
        }
        let reply = self.shared.door.call(request).await?;
        call::answer(row, shape, arguments, caller, reply)
    }
}

impl Entry {
    fn tool(&self) -> Tool {
        let Entry { row, shape } = self;
        let annotations = ToolAnnotations::with_title(row.title)
            .read_only(row.effect.reads_only)
            .destructive(row.effect.destroys)
            .idempotent(row.effect.repeats)
            .open_world(row.effect.reaches_out);
        Tool::new(row.name, row.description, Arc::new(shape.input.clone()))
            .with_title(row.title)
            .with_raw_output_schema(Arc::new(shape.output.clone()))
            .with_annotations(annotations)
    }
}

/// Who came in by HTTP. On standard input it is whoever started the program.
fn caller(context: &RequestContext<RoleServer>) -> String {
    let parts = context.extensions.get::<Parts>();
    let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
    principal.map_or_else(|| "local".to_owned(), |principal| principal.0.clone())
}

const INSTRUCTIONS: &str = "\
Plenary lets several models deliberate and keeps the record. Use boardroom_convene for a question \
that deserves more than one view: advisors with different roles answer at the same time, and a \
synthesis says where they agree, where they do not, and what to do. It returns an id at once; then \
call session_wait with that id until `over` is true, and read `result`. session_get shows any \
session at any time, with `detail: full` every advisor's answer; session_stop ends one. models_list \
shows which models there are. An error names what was wrong and what would be right.";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let plenary = Implementation::new("plenary", env!("CARGO_PKG_VERSION"))
            .with_title("Plenary")
            .with_description("Models, agents and people deliberate; the record is kept.");
        let place = self.shared.door.place().map(|place| {
            format!("\n\nThe record is kept in {place}. Agents meet only where this is the same.")
        });
        let instructions = format!("{INSTRUCTIONS}{}", place.unwrap_or_default());
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
        let caller = Caller { name: caller(&context), agents: &self.agents };
        let answer = match entry.row.run {
            Run::Once => self.once(entry, &arguments, &caller, "").await,
            Run::Wait => wait::wait(self, entry, arguments, &caller, &context).await,
        };
        Ok(match answer {
            Ok(answer) => CallToolResult::structured(answer),
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
        resources::list(self, caller(&context), cursor.as_deref()).await
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
        Ok(resources::read(self, caller(&context), &request.uri).await?.into())
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
