//! `plenary whiteboard`

mod show;
mod view;
mod watch;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use self::view::{Archived, Conflict, Registered, Seat, Summary, Written};
use super::budget::Limit;
use super::list::Listing;
use super::me::{self, Me};
use super::{ask, exit, given, print_json, text, time, usage};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::terminal::{self, Ink, clean};
use crate::tokens::{Kept, Place};

pub const KIND: &str = "whiteboard";
/// Rows of the largest page.
const PAGE: usize = 200;

const PHASES: [&str; 6] = ["blind", "read", "validate", "debate", "resolve", "archived"];

#[derive(Args)]
pub struct Whiteboard {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open a whiteboard, with you as its facilitator
    Open(Open),
    /// Join a whiteboard
    Register {
        #[command(flatten)]
        on: On,
        /// Facilitators and operators can also move the board on
        #[arg(long, default_value = "specialist",
            value_parser = ["specialist", "facilitator", "operator"])]
        role: String,
        /// Your expertise
        #[arg(long, value_name = "TEXT")]
        domain: Option<String>,
        /// The code you were given, if the board needs one
        #[arg(long, value_name = "CODE")]
        invitation: Option<String>,
    },
    /// Invite someone to a whiteboard, or renew its invitation
    Invite {
        #[command(flatten)]
        on: On,
        /// Who is invited; without it, the board's own invitation is renewed
        #[arg(long = "for", value_name = "NAME")]
        invite: Option<String>,
        /// Their role; specialist by default
        #[arg(long, requires = "invite",
            value_parser = ["specialist", "facilitator", "operator"])]
        role: Option<String>,
    },
    /// Replace an agent's lost token (for the operator of the server); earlier ones stop working
    Token {
        /// The board's name
        #[arg(value_name = "BOARD")]
        board: String,
        /// Whose token was lost
        #[arg(long = "for", value_name = "NAME")]
        name: String,
        /// Print only JSON
        #[arg(long)]
        json: bool,
    },
    /// Seat a model or an agent as a specialist that takes part automatically
    Seat {
        #[command(flatten)]
        on: On,
        /// Its name, and a model or @AGENT; any model by default
        #[arg(value_name = "NAME[=MODEL|@AGENT]")]
        seat: String,
        /// Its expertise
        #[arg(long, value_name = "TEXT")]
        domain: Option<String>,
    },
    /// Stop the models that are answering; they continue in the next phase
    Stop {
        #[command(flatten)]
        on: On,
    },
    /// Post what you think; others see it after the blind phase
    Post(Post),
    /// Validate, challenge or corroborate a post, or answer for your own
    Annotate(Annotate),
    /// Vote on someone else's post
    Vote {
        #[command(flatten)]
        on: On,
        /// The post, such as ann/1
        post: String,
        #[arg(value_name = "VOTE", value_parser = ["accept", "reject", "defer"])]
        vote: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Move a whiteboard on to its next phase
    Transition {
        #[command(flatten)]
        on: On,
        #[arg(value_name = "PHASE", value_parser = PHASES)]
        phase: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// Show conflicts between posts
    Conflicts {
        #[command(flatten)]
        on: On,
    },
    /// Show a whiteboard as you see it
    State {
        #[command(flatten)]
        on: On,
        /// Include the full text of posts
        #[arg(long)]
        full: bool,
    },
    /// Summarize a whiteboard: votes, posts not refuted, open challenges
    Summarize {
        #[command(flatten)]
        on: On,
    },
    /// Archive a whiteboard that is in resolve, and print its decision record
    Archive {
        #[command(flatten)]
        on: On,
        /// A note for the decision record
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
        /// Write the record to a file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List whiteboards, newest first
    List(Listing),
    /// Follow a whiteboard until it is archived, one line per event
    Watch {
        #[command(flatten)]
        on: On,
    },
}

/// A board, and who does something there.
#[derive(Args)]
struct On {
    /// The board's name
    #[arg(value_name = "BOARD")]
    board: String,
    #[command(flatten)]
    me: Me,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Open {
    #[command(flatten)]
    on: On,
    /// The question to be decided; `-` reads it from standard input
    #[arg(value_name = "TOPIC")]
    topic: String,
    /// The project it belongs to
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// How long a phase lasts before the board moves on: blind=30m (repeatable)
    #[arg(long = "deadline", value_name = "PHASE=TIME")]
    deadlines: Vec<String>,
    /// Who can join: anyone, or by invitation (to lead, or to join late)
    #[arg(long, value_parser = ["open", "invited"])]
    admission: Option<String>,
    /// How much of the debate on others' posts you see
    #[arg(long, value_parser = ["full", "own-and-related"])]
    debate: Option<String>,
    /// A model or an agent that takes part automatically as a specialist (repeatable)
    #[arg(long = "seat", value_name = "NAME[=MODEL|@AGENT]")]
    seats: Vec<String>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Args)]
struct Post {
    #[command(flatten)]
    on: On,
    /// The reasons; `-` reads them from standard input
    #[arg(value_name = "TEXT")]
    body: String,
    #[arg(long = "type", value_name = "TYPE",
        value_parser = ["proposal", "claim", "concern", "informational"])]
    kind: String,
    /// The point in one line
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// The file it is about …
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// … and where in it: lines (12-40) or a symbol
    #[arg(long, value_name = "PLACE", requires = "file")]
    at: Option<String>,
    #[arg(long, value_parser = ["critical", "high", "medium", "low"])]
    severity: Option<String>,
    /// A finding that several posts can refer to (repeatable)
    #[arg(long = "finding", value_name = "NAME")]
    findings: Vec<String>,
    /// Another file it affects (repeatable)
    #[arg(long = "cascade", value_name = "PATH")]
    cascades: Vec<String>,
}

#[derive(Args)]
struct Annotate {
    #[command(flatten)]
    on: On,
    /// The post, such as ann/1
    post: String,
    /// What you say about it; `-` reads it from standard input
    #[arg(value_name = "TEXT", default_value = "", hide_default_value = true)]
    body: String,
    /// Validations are for validate, resolutions for debate and resolve, the rest for debate
    #[arg(long = "type", value_name = "TYPE",
        value_parser = ["validation", "challenge", "corroboration", "rebuttal", "withdrawal", "resolution"])]
    kind: String,
    /// The result of a validation
    #[arg(long, value_parser = ["confirmed", "refuted", "inconclusive"])]
    result: Option<String>,
    /// The challenge to answer, settle or withdraw, such as bob/a1
    #[arg(long, value_name = "ID")]
    challenge: Option<String>,
}

impl Whiteboard {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if let Command::Watch { on: On { board, me, json } } = self.command {
            return watch::run(&config, &board, &me, json).await;
        }
        let kept = Kept::new(&config);
        let reach = Reach::open(&config, "plenary whiteboard").await?;
        let result = self.command.run(&reach, &kept).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, reach: &Reach, kept: &Kept) -> Result<u8, ApiError> {
        let api = &reach.api;
        match self {
            Command::Open(open) => {
                let goes_on = match (open.seats.is_empty(), open.deadlines.is_empty()) {
                    (true, true) => None,
                    (true, false) => Some("Deadlines apply only"),
                    (false, true) => Some("Models take part only"),
                    (false, false) => Some("Models take part and deadlines apply only"),
                };
                open.run(api, kept).await?;
                note_goes_on(goes_on.filter(|_| reach.is_here()));
            }
            Command::Register { on, role, domain, invitation } => {
                let name = on.me.named()?.to_owned();
                let token = on.me.find(kept, on.place())?.and_then(|found| found.token);
                let api = api.with_agent(token);
                let body = given([
                    ("agentName", json!(name)),
                    ("role", json!(role)),
                    ("domain", json!(domain)),
                    ("invitation", json!(invitation)),
                ]);
                let reply: Value = api.post(&on.path("/agents"), &body).await?;
                on.registered(&reply, kept)?;
            }
            Command::Invite { on, invite, role } => {
                let api = on.me.acting(api, kept, on.place()).await?;
                let body = given([("invite", json!(invite)), ("role", json!(role))]);
                let reply: Value = api.post(&on.path("/invitations"), &body).await?;
                on.invited(&reply, invite.as_deref(), role.as_deref());
            }
            Command::Token { board, name, json } => {
                let (room, agent) = (encode(&board), encode(&name));
                let path = format!("/api/whiteboards/{room}/agents/{agent}/token");
                let reply: Value = api.post(&path, &json!({})).await?;
                me::renewed(&reply, kept, Place { kind: KIND, room: &board }, &name, json)?;
            }
            Command::Seat { on, seat, domain } => {
                let api = on.me.acting(api, kept, on.place()).await?;
                let mut body = self::seat(&seat);
                if let Some(domain) = domain {
                    body["domain"] = json!(domain);
                }
                let reply: Value = api.post(&on.path("/seats"), &body).await?;
                on.print(&reply, |seat: &Seat, ink| show::seat(seat, ink))?;
                note_goes_on(reach.is_here().then_some("Models take part only"));
            }
            Command::Stop { on } => {
                let api = on.me.acting(api, kept, on.place()).await?;
                let board: Value = api.get(&on.path("?limit=1")).await?;
                let id = board["sessionId"].as_str().unwrap_or_default();
                let path = format!("/api/sessions/{}/stop", encode(id));
                let reply: Value = api.post(&path, &json!({})).await?;
                on.print(&reply, |_: &Value, _| "Stopped.".to_owned())?;
            }
            Command::Post(post) => post.run(api, kept).await?,
            Command::Annotate(annotate) => annotate.run(api, kept).await?,
            Command::Vote { on, post, vote, reason } => {
                let body = given([
                    ("postId", json!(post)),
                    ("vote", json!(vote)),
                    ("reason", json!(reason)),
                ]);
                on.write(api, kept, "/votes", &body).await?;
            }
            Command::Transition { on, phase, note } => {
                let api = on.me.acting(api, kept, on.place()).await?;
                let body = given([("targetPhase", json!(phase)), ("note", json!(note))]);
                let reply: Value = api.post(&on.path("/transition"), &body).await?;
                let shown = |summary: &Summary, ink| show::summary(summary, ink);
                let summary: Summary = on.print(&reply, shown)?;
                on.next(&summary.next);
            }
            Command::Conflicts { on } => on.conflicts(api, kept).await?,
            Command::State { on, full } => {
                let api = api.with_agent(on.me.looking(kept, on.place())?);
                let state = on.whole_state(&api, full).await?;
                let shown = |board: &view::Whiteboard, ink| show::board(board, time::now(), ink);
                let board: view::Whiteboard = on.print(&state, shown)?;
                match board.allowed.iter().any(|allowed| allowed == "register") {
                    true => on.next(&[on.joining("To join")]),
                    false => on.next(&board.next),
                }
            }
            Command::Summarize { on } => {
                let api = api.with_agent(on.me.looking(kept, on.place())?);
                let reply: Value = api.get(&on.path("/summary")).await?;
                on.print(&reply, |summary: &Summary, ink| show::summary(summary, ink))?;
            }
            Command::Archive { on, note, output } => {
                let api = on.me.acting(api, kept, on.place()).await?;
                let reply: Value =
                    api.post(&on.path("/archive"), &given([("note", json!(note))])).await?;
                on.archived(&reply, output)?;
            }
            Command::List(list) => {
                let empty =
                    "No whiteboards yet. Open one: plenary whiteboard open NAME \"TOPIC\" --as YOU";
                return list.named(api, KIND, empty).await;
            }
            // It opens the folder in a way of its own.
            Command::Watch { .. } => {}
        }
        Ok(exit::DONE)
    }
}

/// A seat as it is written: `NAME`, `NAME=MODEL`, `NAME=TIER` or `NAME=@AGENT`.
fn seat(written: &str) -> Value {
    match written.split_once('=') {
        Some((name, tier @ ("fast" | "balanced" | "strong"))) => {
            json!({ "name": name, "tier": tier })
        }
        Some((name, model)) => json!({ "name": name, "model": model }),
        None => json!({ "name": written }),
    }
}

/// What only goes on while somebody serves the folder.
fn note_goes_on(what: Option<&str>) {
    if let Some(what) = what {
        terminal::note(&format!(
            "({what} while `plenary serve` or `plenary whiteboard watch` is running.)"
        ));
    }
}

impl Open {
    async fn run(self, api: &Api, kept: &Kept) -> Result<(), ApiError> {
        let mut deadlines = Map::new();
        for written in &self.deadlines {
            let (phase, limit) = written.split_once('=').unwrap_or((written, ""));
            if !PHASES[..5].contains(&phase) || limit.is_empty() {
                let phases = PHASES[..5].join(", ");
                let message = format!("--deadline {written}: write PHASE=TIME, such as blind=30m");
                let hint = Some(format!("The phases are {phases}."));
                return Err(ApiError { hint, ..usage(message) });
            }
            let seconds = json!(time::whole_seconds(limit)?);
            if deadlines.insert(format!("{phase}Seconds"), seconds).is_some() {
                return Err(usage(format!("--deadline {phase}=… is given twice")));
            }
        }
        let mut seats: Vec<Value> = self.seats.iter().map(|written| seat(written)).collect();
        self.limit.sit(&mut seats, |seat, name| seat["name"] == name)?;
        let body = given([
            ("boardId", json!(self.on.board)),
            ("topic", json!(text(&self.topic)?)),
            ("openedBy", json!(self.on.me.named()?)),
            ("project", json!(self.project)),
            ("admission", json!(self.admission)),
            ("debateVisibility", json!(self.debate)),
            ("deadlines", if deadlines.is_empty() { Value::Null } else { json!(deadlines) }),
            ("seats", if seats.is_empty() { Value::Null } else { json!(seats) }),
            ("budget", json!(self.limit.body()?)),
        ]);
        let reply: Value = api.post("/api/whiteboards", &body).await?;
        let you = self.on.registered(&reply, kept)?;
        self.on.next(&[self.on.joining("For others to join")]);
        if let Some(invitation) = you.invitation {
            let board = &self.on.board;
            self.on.next(&[format!(
                "To lead with you: plenary whiteboard register {board} --as NAME --role \
                 facilitator --invitation {invitation}"
            )]);
        }
        Ok(())
    }
}

impl Post {
    async fn run(self, api: &Api, kept: &Kept) -> Result<(), ApiError> {
        let body = given([
            ("type", json!(self.kind)),
            ("title", json!(self.title)),
            ("body", json!(text(&self.body)?)),
            ("targetFile", json!(self.file)),
            ("targetLocation", json!(self.at)),
            ("severity", json!(self.severity)),
            ("findingRefs", json!(self.findings)),
            ("cascadeTargets", json!(self.cascades)),
        ]);
        self.on.write(api, kept, "/posts", &body).await
    }
}

impl Annotate {
    async fn run(self, api: &Api, kept: &Kept) -> Result<(), ApiError> {
        let body = given([
            ("postId", json!(self.post)),
            ("type", json!(self.kind)),
            ("body", json!(text(&self.body)?)),
            ("result", json!(self.result)),
            ("challengeId", json!(self.challenge)),
        ]);
        self.on.write(api, kept, "/annotations", &body).await
    }
}

impl On {
    fn place(&self) -> Place<'_> {
        Place { kind: KIND, room: &self.board }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/whiteboards/{}{rest}", encode(&self.board))
    }

    fn joining(&self, who: &str) -> String {
        format!("{who}: plenary whiteboard register {} --as NAME --domain \"…\"", self.board)
    }

    /// Posts, annotates or votes.
    async fn write(&self, api: &Api, kept: &Kept, to: &str, body: &Value) -> Result<(), ApiError> {
        let api = self.me.acting(api, kept, self.place()).await?;
        let reply: Value = api.post(&self.path(to), body).await?;
        self.print(&reply, |written: &Written, ink| show::written(written, ink))?;
        Ok(())
    }

    /// Keeps the token of an agent, and says what it can do now.
    fn registered(&self, reply: &Value, kept: &Kept) -> Result<Registered, ApiError> {
        let shown = |you: &Registered, ink: Ink| {
            let (board, name) = (ink.bold(&clean(&you.board_id)), clean(&you.agent_name));
            let phase = show::phase(&you.phase, ink);
            format!("{board} · {phase} · you are {name}, {}", you.role)
        };
        let you: Registered = self.print(reply, shown)?;
        let place = Place { kind: KIND, room: &you.board_id };
        kept.keep(place, &you.agent_name, &you.agent_token)?;
        self.next(&you.next);
        Ok(you)
    }

    /// Shows a code, and how it is used.
    fn invited(&self, reply: &Value, name: Option<&str>, role: Option<&str>) {
        if self.json {
            return print_json(reply);
        }
        let code = clean(reply["invitation"].as_str().unwrap_or_default());
        terminal::say(&code);
        let (asked, role) = match name {
            Some(name) => (name, role.unwrap_or("specialist")),
            None => ("NAME", "facilitator"),
        };
        let over = format!(
            "They join with: plenary whiteboard register {} --as {asked} --role {role} \
             --invitation {code}",
            self.board
        );
        let renewed =
            "The board's earlier invitation no longer works. To invite one person, add --for NAME."
                .to_owned();
        self.next(&if name.is_some() { vec![over] } else { vec![over, renewed] });
    }

    /// The board with all its pages.
    async fn whole_state(&self, api: &Api, full: bool) -> Result<Value, ApiError> {
        let detail = if full { "full" } else { "brief" };
        let path = self.path(&format!("?detail={detail}&limit={PAGE}"));
        let mut state: Value = api.get(&path).await?;
        while let Some(cursor) = state["nextCursor"].as_str() {
            let mut page: Value = api.get(&format!("{path}&cursor={cursor}")).await?;
            let posts = page["posts"].as_array_mut().map(std::mem::take).unwrap_or_default();
            if posts.is_empty() {
                break;
            }
            if let Some(all) = state["posts"].as_array_mut() {
                all.extend(posts);
            }
            match page.get("nextCursor").cloned() {
                Some(cursor) => state["nextCursor"] = cursor,
                None => drop(state.as_object_mut().and_then(|state| state.remove("nextCursor"))),
            }
        }
        Ok(state)
    }

    async fn conflicts(&self, api: &Api, kept: &Kept) -> Result<(), ApiError> {
        let api = api.with_agent(self.me.looking(kept, self.place())?);
        let page = api.page(&self.path(&format!("/conflicts?limit={PAGE}"))).await?;
        let shown = |found: &Vec<Conflict>, ink| {
            let lines: Vec<String> = found.iter().map(|one| show::conflict(one, ink)).collect();
            if lines.is_empty() { "No conflicts.".to_owned() } else { lines.join("\n") }
        };
        let found: Vec<Conflict> = self.print(&page["data"], shown)?;
        let total = page["meta"]["total"].as_u64().unwrap_or(0);
        if total > found.len() as u64 {
            terminal::note(&format!("{} of {total}", found.len()));
        }
        Ok(())
    }

    fn archived(&self, reply: &Value, output: Option<PathBuf>) -> Result<(), ApiError> {
        let archived: Archived = read(reply)?;
        let record = match self.json {
            true => serde_json::to_string_pretty(reply).unwrap_or_default(),
            false => clean(archived.record.trim_end()),
        };
        match output {
            Some(file) => {
                terminal::note(&format!("Archived {}.", self.board));
                ask::write_file(&file, &record)?;
            }
            None => terminal::say_document(&record),
        }
        Ok(())
    }

    /// Prints a reply as JSON, or as it is shown.
    fn print<T: DeserializeOwned>(
        &self,
        reply: &Value,
        shown: impl FnOnce(&T, Ink) -> String,
    ) -> Result<T, ApiError> {
        let value: T = read(reply)?;
        if self.json {
            print_json(reply);
        } else {
            terminal::say_styled(&shown(&value, Ink::of(&std::io::stdout())));
        }
        Ok(value)
    }

    fn next(&self, steps: &[String]) {
        if !self.json {
            let ink = Ink::of(&std::io::stderr());
            steps
                .iter()
                .for_each(|step| terminal::note_styled(&ink.dim(&format!("  → {}", clean(step)))));
        }
    }
}

fn read<T: DeserializeOwned>(reply: &Value) -> Result<T, ApiError> {
    T::deserialize(reply).map_err(|error| {
        ApiError::new("unreachable", format!("cannot read the server's response: {error}"))
    })
}
