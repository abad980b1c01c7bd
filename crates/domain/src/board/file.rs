//! A board as a file that a team keeps and reviews: TOML or JSON, with the same keys. It
//! names models, tiers, agents and people, and can name no program, address or key.
//!
//! Reading goes on after whatever is wrong, so that all faults are told at once, each with
//! its place where the format gives one.

mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Board, Seat, Synthesis, check};
use crate::agent::{Agent, AgentId, Bounds, ModelChoice, Tier};
use crate::boardroom::own::{Named, named};
use crate::boardroom::{OwnRole, Quorum, Role};
use crate::budget::{Allowance, Budget, WhenSpent};
use crate::call::Workspace;
use crate::ids::ModelName;
use crate::limits;
use crate::reject::Wrong;
use tree::{At, Data, Key, Node};

/// The version of the format, under this key.
pub const FORMAT: &str = "plenary_board";
pub const VERSION: i64 = 1;

/// Words of settings that say where keys go or which programs run.
const FORBIDDEN: [&str; 22] = [
    "command",
    "cmd",
    "program",
    "exec",
    "run",
    "shell",
    "script",
    "args",
    "env",
    "environment",
    "url",
    "uri",
    "base_url",
    "endpoint",
    "host",
    "address",
    "key",
    "api_key",
    "key_env",
    "token",
    "secret",
    "providers",
];

/// The board that a file holds, or every fault of it.
pub fn read(text: &str) -> Result<Board, Vec<Wrong>> {
    let (root, mut wrong) = tree::parse(text);
    let Some(root) = root else { return Err(wrong) };
    let mut reader = Reader { wrong: vec![], places: BTreeMap::new() };
    let board = reader.board(&root);
    let read = reader.wrong.iter().map(|one| one.field.clone()).collect::<Vec<_>>();
    let mut ruled = vec![];
    check(&mut ruled, &board, &[]);
    for one in ruled {
        let field = snake(&one.field).replace("system_prompt", "prompt");
        // What could not be read was told of already.
        let is_told = |told: &String| {
            let below = field.strip_prefix(told.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        if !read.iter().any(is_told) {
            reader.fault(&field, one.problem);
        }
    }
    wrong.extend(reader.placed());
    if wrong.is_empty() { Ok(board.filled()) } else { Err(wrong) }
}

/// `seats[0].outputTokens` → `seats[0].output_tokens`.
fn snake(field: &str) -> String {
    let mut out = String::with_capacity(field.len() + 4);
    for c in field.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

struct Reader {
    wrong: Vec<Wrong>,
    /// Where each field stands.
    places: BTreeMap<String, At>,
}

/// A map of a file whose keys are taken out one by one; what is left is unknown.
struct Fields<'a> {
    path: String,
    entries: Vec<(&'a Key, &'a Node)>,
}

impl Fields<'_> {
    fn field(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }
}

impl Reader {
    fn fault(&mut self, field: &str, problem: impl Into<String>) {
        self.wrong.push(Wrong::new(field, problem));
    }

    /// What is wrong, in the order of the file, with its places.
    fn placed(self) -> Vec<Wrong> {
        let Reader { wrong, places } = self;
        let at = |field: &str| {
            let mut field = field;
            loop {
                if let Some(at) = places.get(field) {
                    return Some(*at);
                }
                field = &field[..field.rfind(['.', '['])?];
            }
        };
        let mut placed: Vec<(Option<At>, Wrong)> = wrong
            .into_iter()
            .map(|one| {
                let at = at(&one.field);
                let problem = match at {
                    Some(at) => format!("{} ({at})", one.problem),
                    None => one.problem,
                };
                (at, Wrong::new(one.field, problem))
            })
            .collect();
        placed.sort_by_key(|(at, _)| *at);
        placed.into_iter().map(|(_, wrong)| wrong).collect()
    }

    fn fields<'a>(&mut self, path: &str, node: &'a Node) -> Option<Fields<'a>> {
        let Data::Map(entries) = &node.data else {
            self.fault(path, format!("must be a table, not {}", node.kind()));
            return None;
        };
        let mut fields = Fields { path: path.to_owned(), entries: vec![] };
        for (key, value) in entries {
            let name = fields.field(&key.name);
            if fields.entries.iter().any(|(other, _)| other.name == key.name) {
                self.fault(&name, "is given twice");
                continue;
            }
            self.places.extend(key.at.map(|at| (name, at)));
            fields.entries.push((key, value));
        }
        Some(fields)
    }

    fn take<'a>(&mut self, fields: &mut Fields<'a>, name: &str) -> Option<&'a Node> {
        let place = fields.entries.iter().position(|(key, _)| key.name == name)?;
        Some(fields.entries.remove(place).1)
    }

    fn text(&mut self, fields: &mut Fields<'_>, name: &str) -> Option<String> {
        let node = self.take(fields, name)?;
        match &node.data {
            Data::Text(text) => Some(text.clone()),
            _ => {
                let problem = format!("must be a string, not {}", node.kind());
                self.fault(&fields.field(name), problem);
                None
            }
        }
    }

    fn flag(&mut self, fields: &mut Fields<'_>, name: &str) -> bool {
        let Some(node) = self.take(fields, name) else { return false };
        match &node.data {
            Data::Bool(is) => *is,
            _ => {
                let problem = format!("must be true or false, not {}", node.kind());
                self.fault(&fields.field(name), problem);
                false
            }
        }
    }

    fn number(&mut self, fields: &mut Fields<'_>, name: &str) -> Option<f64> {
        let node = self.take(fields, name)?;
        match &node.data {
            Data::Whole(number) => Some(*number as f64),
            Data::Number(number) => Some(*number),
            _ => {
                let problem = format!("must be a number, not {}", node.kind());
                self.fault(&fields.field(name), problem);
                None
            }
        }
    }

    fn whole<T: TryFrom<i64>>(&mut self, fields: &mut Fields<'_>, name: &str) -> Option<T> {
        let node = self.take(fields, name)?;
        let found = match &node.data {
            Data::Whole(number) => T::try_from(*number).ok(),
            _ => None,
        };
        if found.is_none() {
            let problem = match &node.data {
                Data::Whole(_) => "is out of range".to_owned(),
                _ => format!("must be a whole number, not {}", node.kind()),
            };
            self.fault(&fields.field(name), problem);
        }
        found
    }

    fn list<'a>(&mut self, fields: &mut Fields<'a>, name: &str) -> &'a [Node] {
        let Some(node) = self.take(fields, name) else { return &[] };
        match &node.data {
            Data::List(items) => items,
            _ => {
                let problem = format!("must be a list, not {}", node.kind());
                self.fault(&fields.field(name), problem);
                &[]
            }
        }
    }

    /// What is left of a map means nothing here.
    fn end(&mut self, fields: Fields<'_>, known: &[&str]) {
        for (key, _) in &fields.entries {
            let name = key.name.as_str();
            let near = known
                .iter()
                .find(|known| name.len() < 40 && crate::models::distance(name, known) <= 2);
            let problem = match (FORBIDDEN.contains(&name.to_lowercase().as_str()), near) {
                (true, _) => {
                    "a board cannot name programs, addresses or keys; set them in plenary.toml"
                        .to_owned()
                }
                (false, Some(near)) => format!("is not known; did you mean `{near}`?"),
                (false, None) => format!("is not known; available: {}", known.join(", ")),
            };
            let shown: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
            let field = fields.field(&shown);
            self.places.extend(key.at.map(|at| (field.clone(), at)));
            self.fault(&field, problem);
        }
    }

    fn board(&mut self, root: &Node) -> Board {
        const KNOWN: [&str; 12] = [
            FORMAT,
            "name",
            "title",
            "description",
            "language",
            "ballot",
            "open_answers",
            "quorum",
            "budget",
            "synthesis",
            "seats",
            "agents",
        ];
        let Some(mut top) = self.fields("", root) else { return Board::blank("") };
        match self.take(&mut top, FORMAT).map(|node| &node.data) {
            Some(Data::Whole(VERSION)) => {}
            Some(_) => self
                .fault(FORMAT, format!("must be {VERSION}, the only version this program reads")),
            None => self.fault(FORMAT, format!("is missing; a board file needs `{FORMAT} = 1`")),
        }
        let name = self.text(&mut top, "name").unwrap_or_default();
        let mut board = Board::blank(&name);
        board.title = self.text(&mut top, "title").unwrap_or_default();
        board.description = self.text(&mut top, "description").unwrap_or_default();
        board.language = self.text(&mut top, "language");
        board.ballot = self.flag(&mut top, "ballot");
        board.open_answers = self.flag(&mut top, "open_answers");
        board.quorum = self.quorum(&mut top);
        (board.budget, board.currency) = self.budget(&mut top);
        board.synthesis = self.synthesis(&mut top);
        for (place, node) in self.list(&mut top, "seats").iter().enumerate() {
            let path = format!("seats[{place}]");
            self.places.extend(node.at.map(|at| (path.clone(), at)));
            board.seats.extend(self.seat(&path, node));
        }
        for (place, node) in self.list(&mut top, "agents").iter().enumerate() {
            let path = format!("agents[{place}]");
            self.places.extend(node.at.map(|at| (path.clone(), at)));
            board.agents.extend(self.agent(&path, node).map(Arc::new));
        }
        self.end(top, &KNOWN);
        board
    }

    fn quorum(&mut self, top: &mut Fields<'_>) -> Option<Quorum> {
        let node = self.take(top, "quorum")?;
        let mut fields = self.fields("quorum", node)?;
        let need = self.whole(&mut fields, "need");
        let grace = self.number(&mut fields, "grace_seconds");
        if grace.is_some_and(|grace| grace.is_nan() || grace < 0.0) {
            self.fault("quorum.grace_seconds", "must not be negative");
        }
        self.end(fields, &["need", "grace_seconds"]);
        if need.is_none() && !self.wrong.iter().any(|one| one.field == "quorum.need") {
            self.fault("quorum.need", "is missing: the minimum number of answers");
        }
        let grace_ms = grace.map_or(limits::GRACE_MS, |grace| (grace.max(0.0) * 1000.0) as u64);
        Some(Quorum { need: need?, grace_ms })
    }

    fn budget(&mut self, top: &mut Fields<'_>) -> (Option<Budget>, Option<String>) {
        let Some(node) = self.take(top, "budget") else { return (None, None) };
        let Some(mut fields) = self.fields("budget", node) else { return (None, None) };
        let most = self.allowance(&mut fields);
        let currency = self.text(&mut fields, "currency");
        let when_spent = match self.text(&mut fields, "when_spent").as_deref() {
            None | Some("conclude") => WhenSpent::Conclude,
            Some("stop") => WhenSpent::Stop,
            Some(_) => {
                self.fault("budget.when_spent", "must be `conclude` or `stop`");
                WhenSpent::Conclude
            }
        };
        self.end(fields, &["tokens", "cost", "currency", "seconds", "when_spent"]);
        (Some(Budget { most, when_spent }), currency)
    }

    fn allowance(&mut self, fields: &mut Fields<'_>) -> Allowance {
        let seconds: Option<u64> = self.whole(fields, "seconds");
        Allowance {
            tokens: self.whole(fields, "tokens"),
            cost: self.number(fields, "cost"),
            time_ms: seconds.map(|seconds| seconds.saturating_mul(1000)),
        }
    }

    fn synthesis(&mut self, top: &mut Fields<'_>) -> Synthesis {
        let Some(node) = self.take(top, "synthesis") else { return Synthesis::default() };
        let Some(mut fields) = self.fields("synthesis", node) else { return Synthesis::default() };
        let synthesis = Synthesis {
            model: self.model(&mut fields),
            prompt: self.text(&mut fields, "prompt"),
            temperature: self.number(&mut fields, "temperature"),
            output_tokens: self.whole(&mut fields, "output_tokens"),
        };
        self.end(fields, &["model", "tier", "prompt", "temperature", "output_tokens"]);
        synthesis
    }

    fn model(&mut self, fields: &mut Fields<'_>) -> ModelChoice {
        let model = self.text(fields, "model");
        let tier = self.text(fields, "tier");
        if model.is_some() && tier.is_some() {
            self.fault(&fields.field("tier"), "give either a model or a tier, not both");
        }
        let known = |tier: &String| Tier::ALL.into_iter().find(|known| known.name() == tier);
        match (model, tier) {
            (Some(model), _) => ModelChoice::Model(ModelName(model)),
            (None, Some(tier)) => match known(&tier) {
                Some(tier) => ModelChoice::Tier(tier),
                None => {
                    let names = Tier::ALL.map(Tier::name).join(", ");
                    self.fault(&fields.field("tier"), format!("must be one of {names}"));
                    ModelChoice::Any
                }
            },
            (None, None) => ModelChoice::Any,
        }
    }

    fn seat(&mut self, path: &str, node: &Node) -> Option<Seat> {
        let mut fields = self.fields(path, node)?;
        let (role, own) = self.role(&mut fields);
        let mut seat = Seat { own, model: self.model(&mut fields), ..Seat::of(role) };
        seat.agent = self.text(&mut fields, "agent");
        seat.person = self.text(&mut fields, "person");
        seat.reply_within_seconds = self.whole(&mut fields, "reply_within_seconds");
        seat.prompt = self.text(&mut fields, "prompt");
        seat.temperature = self.number(&mut fields, "temperature");
        seat.output_tokens = self.whole(&mut fields, "output_tokens");
        seat.tries = self.whole(&mut fields, "tries");
        if let Some(node) = self.take(&mut fields, "budget")
            && let Some(mut inner) = self.fields(&fields.field("budget"), node)
        {
            seat.budget = self.allowance(&mut inner);
            self.end(inner, &["tokens", "cost", "seconds"]);
        }
        self.end(
            fields,
            &[
                "role",
                "initials",
                "colour",
                "glyph",
                "model",
                "tier",
                "agent",
                "person",
                "reply_within_seconds",
                "prompt",
                "temperature",
                "output_tokens",
                "tries",
                "budget",
            ],
        );
        Some(seat)
    }

    fn role(&mut self, fields: &mut Fields<'_>) -> (Role, Option<OwnRole>) {
        let written = self.text(fields, "role");
        let field = fields.field("role");
        let drawn = [
            ("initials", self.text(fields, "initials")),
            ("colour", self.text(fields, "colour")),
            ("glyph", self.text(fields, "glyph")),
        ];
        let own = match written.as_deref().map(named) {
            None => {
                if !self.wrong.iter().any(|one| one.field == field) {
                    self.fault(&field, "is missing");
                }
                return (Role::Generalist, None);
            }
            Some(Ok(Named::Standard(role))) => {
                for (name, _) in drawn.iter().filter(|(_, given)| given.is_some()) {
                    let problem = "is only for custom roles; this role is built in";
                    self.fault(&fields.field(name), problem);
                }
                return (role, None);
            }
            Some(Ok(Named::Own(name))) => name,
            // It is told of where the board is looked at as a whole.
            Some(Err(_)) => written.unwrap_or_default(),
        };
        let [initials, colour, glyph] = drawn.map(|(_, given)| given.unwrap_or_default());
        (Role::Generalist, Some(OwnRole { name: own, initials, colour, glyph }))
    }

    fn agent(&mut self, path: &str, node: &Node) -> Option<Agent> {
        let mut fields = self.fields(path, node)?;
        let seconds: Option<u64> = self.whole(&mut fields, "turn_seconds");
        let agent = Agent {
            id: AgentId(self.text(&mut fields, "id").unwrap_or_default()),
            name: self.text(&mut fields, "name").unwrap_or_default(),
            description: self.text(&mut fields, "description").unwrap_or_default(),
            persona: Arc::from(self.text(&mut fields, "persona").unwrap_or_default()),
            model: self.model(&mut fields),
            facilitator: false,
            built_in: false,
            formats: vec![],
            bounds: Bounds {
                turn_ms: seconds.map(|seconds| seconds.saturating_mul(1000)),
                output_tokens: self.whole(&mut fields, "output_tokens"),
                temperature: self.number(&mut fields, "temperature"),
                ..Bounds::default()
            },
            workspace: self.workspace(&mut fields),
        };
        self.end(
            fields,
            &[
                "id",
                "name",
                "description",
                "persona",
                "model",
                "tier",
                "turn_seconds",
                "output_tokens",
                "temperature",
            ],
        );
        Some(agent)
    }

    /// It is read only to be refused in words of its own.
    fn workspace(&mut self, fields: &mut Fields<'_>) -> Option<Workspace> {
        let given = ["workspace", "folder", "tools"].map(|name| self.take(fields, name).is_some());
        given.contains(&true).then(Workspace::default)
    }
}
