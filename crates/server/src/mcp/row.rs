//! A tool is a row in a table over the REST interface.

use rmcp::model::JsonObject;

/// What a tool is called, which route it stands for, and where they differ. All
/// else (arguments, schemas, errors) follows from the route's OpenAPI document.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub title: &'static str,
    /// When an agent should use it, and what follows.
    pub description: &'static str,
    pub method: Method,
    /// As the OpenAPI document has it: `/api/sessions/{id}`.
    pub path: &'static str,
    pub effect: Effect,
    /// Arguments whose name is not the route's in snake_case: route's name, then
    /// argument.
    pub renamed: &'static [(&'static str, &'static str)],
    /// Parts of the route, by their name there, that are no arguments; `seats.budget` is a
    /// part of each item of `seats`.
    pub hidden: &'static [&'static str],
    /// Fields of the body that every call sets, by their name there.
    pub sent: &'static [(&'static str, bool)],
    /// Arguments whose description is not the route's.
    pub described: &'static [(&'static str, &'static str)],
    /// Set when the caller acts as an agent.
    pub acts: Option<Acts>,
    /// Fields of the answer that are kept, by their name here; none means all.
    pub kept: &'static [&'static str],
    /// What a list is called in the answer; a tool answers with an object.
    pub items: &'static str,
    pub next: Next,
    /// The answer has an output schema. Clients hold an answer against it, and
    /// programs make types from it, so it is there where a program goes on with what
    /// it read: a handle, a token, how far something is. Models never see it.
    pub typed: bool,
    /// A long `result` can be asked for page by page.
    pub pages: bool,
    /// The answer links to the session's record.
    pub links: bool,
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Get,
    Post,
    Patch,
}

/// The hints that MCP has for what a tool does, as far as they differ. What reads only
/// follows from the method. No tool is open-world: those that ask models ask the ones
/// that the operator has set up, which is a closed list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// Something is lost by it. What only adds to a record, or ends something and keeps
    /// the record, destroys nothing.
    pub destroys: bool,
    /// The same arguments again change nothing more.
    pub repeats: bool,
}

/// Adds something each time.
pub const ADDS: Effect = Effect { destroys: false, repeats: false };
/// The same again leaves everything as it is.
pub const SETTLES: Effect = Effect { destroys: false, repeats: true };

/// What can be done after a call, in sentences.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// The route says so itself.
    Route,
    Words(&'static [&'static str]),
    /// Made from the answer.
    Made(fn(&JsonObject) -> Vec<String>),
}

/// Who acts. The session sends the agent's token along where it holds it.
#[derive(Clone, Copy, Debug)]
pub struct Acts {
    /// The argument that names the agent: `agent_name`, `sender`, `opened_by`. It is
    /// added where the route has none. Empty where a token alone says who acts.
    pub name: &'static str,
    /// The argument that says where the agent is known: `board_id`.
    pub place: &'static str,
    /// The tools whose answer has the agent's token, for sentences.
    pub given_by: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// One request.
    Once,
    /// Requests until the session is over, with progress in between.
    Wait,
}

impl Row {
    /// A tool that changes nothing.
    pub const fn get(name: &'static str, path: &'static str) -> Row {
        Row { effect: SETTLES, method: Method::Get, ..Row::post(name, path) }
    }

    /// A tool that changes something.
    pub const fn patch(name: &'static str, path: &'static str) -> Row {
        Row { effect: SETTLES, method: Method::Patch, ..Row::post(name, path) }
    }

    /// A tool that adds something.
    pub const fn post(name: &'static str, path: &'static str) -> Row {
        Row {
            name,
            title: "",
            description: "",
            method: Method::Post,
            path,
            effect: ADDS,
            renamed: &[],
            hidden: &[],
            sent: &[],
            described: &[],
            acts: None,
            kept: &[],
            items: "items",
            next: Next::Route,
            typed: false,
            pages: false,
            links: false,
            run: Run::Once,
        }
    }
}

impl Row {
    pub fn keeps(&self, field: &str) -> bool {
        self.kept.is_empty() || self.kept.contains(&field)
    }
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Patch => "PATCH",
        }
    }

    pub fn changes(self) -> bool {
        match self {
            Method::Get => false,
            Method::Post | Method::Patch => true,
        }
    }
}
