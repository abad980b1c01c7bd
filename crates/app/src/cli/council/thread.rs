//! A council's thread: read once, or read along.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

use futures::StreamExt;
use ratatui::style::Color;
use serde_json::{Value, json};

use crate::api::{Api, ApiError};
use crate::cli::board::{CUT, Spent};
use crate::cli::exit;
use crate::cli::render::Paper;
use crate::config::Config;
use crate::reach::Reach;
use crate::signals::Interrupt;
use crate::sse::ServerEvent;
use crate::terminal::{self, clean};

/// Posts of the largest page.
const PAGE: u32 = 200;
/// The longest that a server lets one wait.
const WAIT_MOST_SECONDS: u64 = 600;
/// How often and how long a lost server is looked for.
const RETRY: Duration = Duration::from_millis(500);
const RETRIES: u32 = 240;

/// When reading along is over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Nobody answers, or owes an answer.
    Rest,
    Closed,
}

pub struct Thread {
    path: String,
    /// Posts up to this one are known already.
    since: u64,
    /// The last event that was taken in.
    seen: u64,
    show: Show,
    /// What was shown, as the interface has it.
    pub printed: Vec<Value>,
    /// Of what answers cost.
    currency: Option<String>,
    /// By which model each member answers.
    models: BTreeMap<String, Value>,
    answered: usize,
    failed: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Show {
    Text,
    /// One post a line, as JSON.
    Lines,
    Nothing,
}

/// `plenary council read --follow`. Where nobody serves the data folder this process
/// does, so that others can post meanwhile.
pub async fn follow(config: &Config, path: &str, since: u64, json: bool) -> Result<u8, ApiError> {
    let mut interrupt = Interrupt::listen()?;
    let mut thread = Thread::new(path.to_owned(), since, false);
    thread.show = if json { Show::Lines } else { Show::Text };
    let mut lost = 0;
    loop {
        let ended = match Reach::stay(config, "plenary council read").await {
            Err(error) => Err(error),
            Ok(reach) => {
                let ended = tokio::select! {
                    ended = thread.read_along(&reach.api, Until::Closed) => ended,
                    () = interrupt.recv() => Ok(exit::INTERRUPTED),
                };
                reach.close().await;
                ended
            }
        };
        let passes = |code: &str| {
            let lost = matches!(code, "unreachable" | "unauthorized" | "store-failed");
            code == "in-use" || (lost && thread.seen > 0)
        };
        match ended {
            Err(error) if passes(&error.code) && lost < RETRIES => lost += 1,
            other => return other,
        }
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = interrupt.recv() => return Ok(exit::INTERRUPTED),
        }
    }
}

impl Thread {
    pub fn new(path: String, since: u64, json: bool) -> Thread {
        let show = if json { Show::Nothing } else { Show::Text };
        Thread {
            path,
            since,
            seen: 0,
            show,
            printed: vec![],
            answered: 0,
            failed: 0,
            currency: None,
            models: BTreeMap::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.printed.is_empty() && self.failed == 0
    }

    /// Shows what there is, all pages of it; an empty thread is waited for.
    pub async fn fetch(&mut self, api: &Api, wait: u64) -> Result<Value, ApiError> {
        let wait = wait.min(WAIT_MOST_SECONDS);
        let at = |since: u64, wait: u64| {
            format!("{}/posts?since={since}&limit={PAGE}&waitSeconds={wait}", self.path)
        };
        let mut whole: Value = api.get(&at(self.since, wait)).await?;
        while whole["more"] == true {
            let since = whole["since"].as_u64().unwrap_or_default();
            let mut page: Value = api.get(&at(since, 0)).await?;
            let posts = page["posts"].as_array_mut().map(std::mem::take).unwrap_or_default();
            if let Some(all) = whole["posts"].as_array_mut() {
                all.extend(posts);
            }
            whole["since"] = page["since"].take();
            whole["more"] = page["more"].take();
        }
        self.currency = whole["currency"].as_str().map(clean);
        self.show_all(&whole);
        Ok(whole)
    }

    /// Posts, and between them the turns that ended without one.
    fn show_all(&mut self, whole: &Value) {
        let mut silences = whole["silences"].as_array().into_iter().flatten().peekable();
        let posts = whole["posts"].as_array().into_iter().flatten();
        for post in posts.map(Some).chain([None]) {
            let number = post.and_then(|post| post["sequence"].as_u64()).unwrap_or(u64::MAX);
            let before = |silence: &&Value| silence["upto"].as_u64() < Some(number);
            while let Some(silence) = silences.next_if(before) {
                let part = |key: &str| silence[key].as_str().unwrap_or_default();
                self.silence(part("member"), part("why"), part("text"));
            }
            if let Some(post) = post {
                self.post(post.clone());
            }
        }
    }

    /// Shows posts and silences as they come; one that is lost is taken up where it
    /// was by calling this again.
    pub async fn read_along(&mut self, api: &Api, until: Until) -> Result<u8, ApiError> {
        let mut events = api.events(&format!("{}/events", self.path), self.seen).await?;
        let mut ended = false;
        loop {
            let gone = || ApiError::new("unreachable", "the connection to the server was lost");
            let event = events.next().await.ok_or_else(gone)??;
            if event.name == "removed" {
                return Err(ApiError::new("removed", "the council was removed"));
            }
            let Some(number) = event.id.filter(|number| *number > self.seen) else { continue };
            self.seen = number;
            let closed = event.name == "closed";
            ended |= self.take_in(&event, until);
            if closed && until == Until::Closed && self.show == Show::Text {
                terminal::note("The council is closed.");
            }
            if closed || (ended && until == Until::Rest && self.rests(api).await?) {
                let failed = until == Until::Rest && self.failed > 0 && self.answered == 0;
                return Ok(if failed { exit::FAILED } else { exit::DONE });
            }
        }
    }

    /// Nobody answers any more, and all that was said has been shown: a member who is
    /// quick may have ended its turn before this reader has come to it.
    async fn rests(&self, api: &Api) -> Result<bool, ApiError> {
        let council: Value = api.get(&self.path).await?;
        Ok(council["answering"].is_null() && council["version"].as_u64() <= Some(self.seen))
    }

    /// Shows an event; true when it ends somebody's turn that is not known already.
    fn take_in(&mut self, event: &ServerEvent, until: Until) -> bool {
        let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
        let said = &data["event"];
        let text = |key: &str| said[key].as_str().unwrap_or_default();
        let is_new = said["sequence"].as_u64().is_some_and(|number| number > self.since);
        // A turn that took in the last known post, or later ones.
        let is_awaited = said["upto"].as_u64().is_some_and(|upto| upto >= self.since.max(1));
        match event.name.as_str() {
            "opened" => {
                self.seat(&said["members"]);
                false
            }
            "changed" => {
                self.seat(&said["added"]);
                false
            }
            "posted" if is_new => {
                self.post(post(said, text("sender"), text("body"), 0));
                false
            }
            "answered" if is_new => {
                let depth = said["depth"].as_u64().unwrap_or(1);
                let body = said["answer"]["text"].as_str().unwrap_or_default();
                let mut answer = post(said, text("member"), body, depth);
                if let Some(model) = self.models.get(text("member")) {
                    answer["model"] = model.clone();
                }
                self.post(answer);
                self.answered += 1;
                true
            }
            // Who follows is shown old turns too, and those are not news.
            "turnBegan" if is_awaited && until == Until::Rest => {
                self.writing(text("member"));
                false
            }
            "passed" if is_awaited => {
                self.silence(text("member"), "passed", text("text"));
                true
            }
            "answerFailed" if is_awaited => {
                let why = said["failure"]["message"].as_str().unwrap_or_default();
                self.silence(text("member"), "failed", why);
                true
            }
            "answerStopped" if is_awaited => {
                self.silence(text("member"), "stopped", text("partial"));
                true
            }
            "stopped" => true,
            _ => false,
        }
    }

    fn seat(&mut self, members: &Value) {
        let members = members.as_array().into_iter().flatten().cloned();
        let models = members.filter_map(|mut member| {
            let model = member["model"].take();
            Some((member["name"].as_str()?.to_owned(), model)).filter(|(_, model)| !model.is_null())
        });
        self.models.extend(models);
    }

    fn post(&mut self, post: Value) {
        match self.show {
            Show::Text => terminal::say_styled(&shown(&post, self.currency.as_deref())),
            Show::Lines => terminal::say_document(&post.to_string()),
            Show::Nothing => {}
        }
        self.printed.push(post);
    }

    /// A turn that ended without a post is told aloud.
    fn silence(&mut self, member: &str, why: &str, text: &str) {
        self.failed += usize::from(why == "failed");
        if self.show != Show::Text {
            return;
        }
        let (member, text) = (clean(member), terminal::line(text, 200));
        let told = match why {
            "passed" => format!("{member} passed."),
            "stopped" => format!("{member} was stopped."),
            _ => format!("{member} could not answer: {text}"),
        };
        terminal::say(&format!("({told})\n"));
    }

    fn writing(&self, member: &str) {
        if self.show == Show::Text && std::io::stderr().is_terminal() {
            let ink = terminal::Ink::of(&std::io::stderr());
            terminal::note_styled(&ink.dim(&format!("{} is writing …", clean(member))));
        }
    }
}

/// The post of an event, as the interface shows posts.
fn post(said: &Value, sender: &str, body: &str, depth: u64) -> Value {
    let mut post = json!({
        "sequence": said["sequence"],
        "sender": sender,
        "body": body,
        "depth": depth,
        "addressed": said["addressed"],
        "at": said["at"],
    });
    for key in ["replyTo", "leftOut"] {
        if let Some(value) = said.get(key) {
            post[key] = value.clone();
        }
    }
    let answer = &said["answer"];
    if answer["cut"] == true {
        post["cut"] = true.into();
    }
    if let Some(usage) = answer["usage"].as_object().filter(|usage| !usage.is_empty()) {
        let mut usage = usage.clone();
        if let Some(nanos) = usage.remove("costNanoUsd").and_then(|nanos| nanos.as_f64()) {
            usage.insert("costUsd".into(), (nanos / 1e9).into());
        }
        post["usage"] = usage.into();
    }
    post
}

fn shown(post: &Value, currency: Option<&str>) -> String {
    let text = |key: &str| clean(post[key].as_str().unwrap_or_default());
    let mut head = format!("{} · {}", post["sequence"], text("sender"));
    if let Some(earlier) = post["replyTo"].as_u64() {
        head.push_str(&format!(" to {earlier}"));
    }
    let when = text("at").get(..16).unwrap_or_default().replace('T', " ");
    head.push_str(&format!(" · {when}"));
    let spent: Spent = serde_json::from_value(post.clone()).unwrap_or_default();
    let head = spent.after(&head, currency);
    // A member's answer, or somebody's own post.
    let colour = if post["depth"].as_u64() == Some(0) { Color::Cyan } else { Color::Green };
    let mut body = text("body").trim().to_owned();
    if post["cut"] == true {
        body.push_str(&format!("\n\n{CUT}"));
    }
    Paper::of(&std::io::stdout()).section(&head, colour, &body)
}
