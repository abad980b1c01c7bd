//! A tool is a row in a table over the REST interface.

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
    /// Parts of the route, by their name there, that are no arguments.
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
    /// What can be done after it, where the route does not say so itself.
    pub next: &'static [&'static str],
    pub run: Run,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Get,
    Post,
}

/// The hints that MCP has for what a tool does.
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    pub reads_only: bool,
    pub destroys: bool,
    /// The same arguments again change nothing more.
    pub repeats: bool,
    /// It reaches beyond this program: models are asked.
    pub reaches_out: bool,
}

/// Who acts. The session sends the agent's token along where it holds it.
#[derive(Clone, Copy, Debug)]
pub struct Acts {
    /// The argument that names the agent: `agent_name`, `sender`, `opened_by`. It is
    /// added where the route has none. Empty where a token alone says who acts.
    pub name: &'static str,
    /// The argument that says where the agent is known: `board_id`.
    pub place: &'static str,
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
        let effect =
            Effect { reads_only: true, destroys: false, repeats: true, reaches_out: false };
        Row { effect, method: Method::Get, ..Row::post(name, path) }
    }

    /// A tool that adds something.
    pub const fn post(name: &'static str, path: &'static str) -> Row {
        Row {
            name,
            title: "",
            description: "",
            method: Method::Post,
            path,
            effect: Effect {
                reads_only: false,
                destroys: false,
                repeats: false,
                reaches_out: false,
            },
            renamed: &[],
            hidden: &[],
            sent: &[],
            described: &[],
            acts: None,
            kept: &[],
            items: "items",
            next: &[],
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
        }
    }

    pub fn changes(self) -> bool {
        match self {
            Method::Get => false,
            Method::Post => true,
        }
    }
}
