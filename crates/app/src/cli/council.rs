//! `plenary council`

mod thread;

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use self::thread::{Thread, Until};
use super::budget::Limit;
use super::list::Listing;
use super::me::{self, Found, Me};
use super::{exit, given, print_json, text, time, usage};
use crate::api::{Api, ApiError, encode};
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::terminal::{self, clean};
use crate::tokens::{Kept, Place};

pub const KIND: &str = "council";

#[derive(Args)]
pub struct Council {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Open a council
    Open(Open),
    /// List councils, newest first
    List(Listing),
    /// Post; members with a model answer when a post addresses them
    Post(Post),
    /// Read the thread
    Read(Read),
    /// Change the charter or the members of a council
    Edit(Edit),
    /// Close a council; it stays readable
    Close {
        #[command(flatten)]
        which: Which,
        /// The outcome
        #[arg(long, value_name = "TEXT")]
        summary: Option<String>,
        /// The token returned on opening it, if you did not open it
        #[arg(long, value_name = "TOKEN")]
        token: Option<String>,
    },
    /// Replace a sender's lost token (for the operator of the server); earlier ones stop working
    Token {
        #[command(flatten)]
        which: Which,
        /// Whose token was lost
        #[arg(long = "for", value_name = "NAME")]
        sender: String,
    },
}

#[derive(Args)]
struct Which {
    /// The council's name
    #[arg(value_name = "COUNCIL")]
    name: String,
    /// Print only JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Open {
    #[command(flatten)]
    which: Which,
    /// What it is for, and how its members should talk; `-` reads it from standard input
    #[arg(value_name = "CHARTER")]
    charter: String,
    /// A member; one with a model answers automatically (repeatable)
    #[arg(long = "member", value_name = "NAME[=MODEL]")]
    members: Vec<String>,
    /// A member's persona, sent to its model (repeatable)
    #[arg(long = "persona", value_name = "NAME=TEXT")]
    personas: Vec<String>,
    /// The project it belongs to
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    #[command(flatten)]
    limit: Limit,
}

#[derive(Args)]
struct Edit {
    #[command(flatten)]
    which: Which,
    /// A new charter; `-` reads it from standard input
    #[arg(long, value_name = "CHARTER")]
    charter: Option<String>,
    /// A new member; one with a model answers automatically (repeatable)
    #[arg(long = "add", value_name = "NAME[=MODEL]")]
    members: Vec<String>,
    /// A new member's persona, sent to its model (repeatable)
    #[arg(long = "persona", value_name = "NAME=TEXT")]
    personas: Vec<String>,
    /// Remove a member; an answer in progress is dropped (repeatable)
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,
    /// The token returned on opening it, if you did not open it
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
}

#[derive(Args)]
struct Post {
    #[command(flatten)]
    which: Which,
    /// `@name` asks one member; no name, or `@all`, asks everyone; `-` reads standard input
    #[arg(value_name = "TEXT")]
    body: String,
    #[command(flatten)]
    me: Me,
    /// The number of the post you reply to
    #[arg(long, value_name = "N")]
    reply_to: Option<u64>,
    /// Wait for the members' answers and print them as they arrive
    #[arg(long)]
    wait: bool,
}

#[derive(Args)]
struct Read {
    #[command(flatten)]
    which: Which,
    /// Only posts after this one
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    since: u64,
    /// How long to wait for a new post: 30s, 5m
    #[arg(long, value_name = "TIME", conflicts_with = "follow")]
    wait: Option<String>,
    /// Keep reading until the council is closed
    #[arg(long)]
    follow: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted {
    sequence: u64,
    sender: String,
    agent_token: String,
    addressed: Vec<String>,
    #[serde(default)]
    left_out: Vec<String>,
}

impl Council {
    pub async fn run(self, config: Config) -> Result<u8, ApiError> {
        if let Command::Read(Read { which, since, follow: true, .. }) = &self.command {
            return thread::follow(&config, &which.path(""), *since, which.json).await;
        }
        let kept = Kept::new(&config);
        let reach = Reach::open(&config, "plenary council").await?;
        let result = self.command.run(&reach, &kept).await;
        reach.close().await;
        result
    }
}

impl Command {
    async fn run(self, reach: &Reach, kept: &Kept) -> Result<u8, ApiError> {
        let api = &reach.api;
        match self {
            Command::Open(open) => open.run(api).await,
            Command::List(list) => {
                let empty = "No councils yet. Open one: plenary council open NAME \"CHARTER\"";
                list.named(api, KIND, empty).await
            }
            Command::Post(post) => post.run(reach, kept).await,
            Command::Edit(edit) => edit.run(api).await,
            Command::Read(read) => read.run(api).await,
            Command::Token { which, sender } => {
                let path = which.path(&format!("/agents/{}/token", encode(&sender)));
                let reply: Value = api.post(&path, &json!({})).await?;
                me::renewed(&reply, kept, which.place(), &sender, which.json)?;
                Ok(exit::DONE)
            }
            Command::Close { which, summary, token } => {
                let api = api.with_agent(token);
                let body = given([("summary", json!(summary))]);
                let reply: Value = api.post(&which.path("/close"), &body).await?;
                which.print(&reply, &format!("Closed {}.", which.name));
                Ok(exit::DONE)
            }
        }
    }
}

impl Open {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        let body = given([
            ("name", json!(self.which.name)),
            ("charter", json!(text(&self.charter)?)),
            ("members", json!(self.members()?)),
            ("budget", json!(self.limit.body()?)),
            ("project", json!(self.project)),
        ]);
        let reply: Value = api.post("/api/councils", &body).await?;
        let name = &self.which.name;
        self.which.print(&reply, &format!("Opened {name}{}.", with(&reply)));
        if !self.which.json {
            terminal::note(&format!("  → plenary council post {name} --as YOU \"…\" --wait"));
        }
        Ok(exit::DONE)
    }

    fn members(&self) -> Result<Vec<Value>, ApiError> {
        let mut members = members(&self.members, &self.personas)?;
        self.limit.sit(&mut members, |member, name| member["name"] == name)?;
        Ok(members)
    }
}

/// Members as they are written: `NAME[=MODEL]`, and who they are.
fn members(members: &[String], personas: &[String]) -> Result<Vec<Value>, ApiError> {
    let member = |written: &String| match written.split_once('=') {
        Some((name, model)) => json!({ "name": name, "model": model }),
        None => json!({ "name": written }),
    };
    let mut members: Vec<Value> = members.iter().map(member).collect();
    for written in personas {
        let (name, persona) = written
            .split_once('=')
            .ok_or_else(|| usage(format!("--persona {written}: write NAME=TEXT")))?;
        let member = members.iter_mut().find(|member| member["name"] == name);
        let unknown = || usage(format!("--persona {name}=…: there is no member {name}"));
        member.ok_or_else(unknown)?["persona"] = json!(persona);
    }
    Ok(members)
}

/// Who belongs to a council, after its name.
fn with(council: &Value) -> String {
    let member = |member: &Value| {
        let part = |key: &str| clean(member[key].as_str().unwrap_or_default());
        match part("model") {
            model if model.is_empty() => part("name"),
            model => format!("{} ({model})", part("name")),
        }
    };
    let members: Vec<String> =
        council["members"].as_array().into_iter().flatten().map(member).collect();
    if members.is_empty() { String::new() } else { format!(", with {}", members.join(", ")) }
}

impl Edit {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        let charter = self.charter.as_deref().map(text).transpose()?;
        let add = members(&self.members, &self.personas)?;
        if charter.is_none() && add.is_empty() && self.remove.is_empty() {
            return Err(usage("say what to change: --charter, --add or --remove"));
        }
        let body = given([
            ("charter", json!(charter)),
            ("addMembers", json!(add)),
            ("removeMembers", json!(self.remove)),
        ]);
        let api = api.with_agent(self.token);
        let reply: Value = api.patch(&self.which.path(""), &body).await?;
        let name = &self.which.name;
        self.which.print(&reply, &format!("Changed {name}{}.", with(&reply)));
        Ok(exit::DONE)
    }
}

impl Post {
    async fn run(self, reach: &Reach, kept: &Kept) -> Result<u8, ApiError> {
        let mut interrupt = Interrupt::listen()?;
        let Found { name, token } = match self.me.find(kept, self.which.place())? {
            Some(found) => found,
            None => return Err(usage("say who you are: --as NAME")),
        };
        let api = reach.api.with_agent(token);
        let body = given([
            ("sender", json!(name)),
            ("body", json!(text(&self.body)?)),
            ("replyTo", json!(self.reply_to)),
        ]);
        let reply: Value = api.post(&self.which.path("/posts"), &body).await?;
        let posted = Posted::deserialize(&reply)
            .map_err(|error| ApiError::new("unreachable", error.to_string()))?;
        let place = self.which.place();
        kept.keep(place, &posted.sender, &posted.agent_token)?;
        // Where no server goes on with the council, the answers come now or never.
        let waits = !posted.addressed.is_empty() && (self.wait || reach.is_here());
        if self.which.json && !waits {
            print_json(&reply);
            return Ok(exit::DONE);
        }
        if !self.which.json {
            posted.tell(&self.which.name, waits);
        }
        if !waits {
            return Ok(exit::DONE);
        }
        let mut thread = Thread::new(self.which.path(""), posted.sequence, self.which.json);
        let ended = tokio::select! {
            ended = thread.read_along(&api, Until::Rest) => ended,
            () = interrupt.recv() => Ok(exit::INTERRUPTED),
        };
        let (name, since) = (&self.which.name, posted.sequence);
        let ended = ended.map_err(|error| ApiError {
            hint: Some(format!(
                "Your post was sent. Read on: plenary council read {name} --since {since}"
            )),
            ..error
        });
        if ended.as_ref().is_ok_and(|code| *code == exit::INTERRUPTED) {
            self.interrupted(&api, reach.is_here()).await?;
        }
        if self.which.json {
            let mut whole = reply;
            whole["answers"] = json!(thread.printed);
            print_json(&whole);
        }
        ended
    }

    /// What runs here ends with this process, so it is stopped properly; a server
    /// goes on.
    async fn interrupted(&self, api: &Api, here: bool) -> Result<(), ApiError> {
        let name = &self.which.name;
        if here {
            let council: Value = api.get(&self.which.path("")).await?;
            let id = council["sessionId"].as_str().unwrap_or_default();
            match api.post::<Value>(&format!("/api/sessions/{id}/stop"), &json!({})).await {
                // The answer came in the same moment.
                Err(error) if error.code == "not-now" => {}
                other => drop(other?),
            }
            terminal::note("Stopped; post again to ask again.");
        } else {
            terminal::note(&format!("The members continue: plenary council read {name} --follow"));
        }
        Ok(())
    }
}

impl Posted {
    fn tell(&self, council: &str, waits: bool) {
        let number = self.sequence;
        let will = self.addressed.join(", ");
        let will =
            if will.is_empty() { String::new() } else { format!("; {} will answer", clean(&will)) };
        terminal::say(&format!("Posted as {number}{will}."));
        if !self.left_out.is_empty() {
            let left_out = clean(&self.left_out.join(", "));
            terminal::note(&format!(
                "One post can ask at most five members; not asked: {left_out}"
            ));
        }
        if !self.addressed.is_empty() && !waits {
            let read = format!("plenary council read {council} --since {number} --wait 2m");
            terminal::note(&format!("  → {read}"));
        }
        if waits {
            terminal::say("");
        }
    }
}

impl Read {
    async fn run(self, api: &Api) -> Result<u8, ApiError> {
        let mut thread = Thread::new(self.which.path(""), self.since, self.which.json);
        let wait = self.wait.as_deref().map(time::whole_seconds).transpose()?.unwrap_or(0);
        let page = thread.fetch(api, wait).await?;
        if self.which.json {
            print_json(&page);
        } else if thread.is_empty() {
            terminal::note("No new posts.");
        }
        if let Some(member) = page["answering"].as_str().filter(|_| !self.which.json) {
            terminal::note(&format!("{} is answering.", clean(member)));
        }
        if page["status"] == "closed" && !self.which.json {
            terminal::note("The council is closed.");
        }
        Ok(exit::DONE)
    }
}

impl Which {
    fn place(&self) -> Place<'_> {
        Place { kind: KIND, room: &self.name }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/councils/{}{rest}", encode(&self.name))
    }

    fn print(&self, reply: &Value, line: &str) {
        if self.json {
            print_json(reply);
        } else {
            terminal::say(line);
        }
    }
}
