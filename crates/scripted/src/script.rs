//! What the server is told to do.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

use crate::rules::Rules;
use crate::steps::Step;

/// Which request gets which reply. The first rule that fits wins.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(crate) rules: Vec<(When, Reply)>,
    pub(crate) written: Rules,
    pub(crate) otherwise: Reply,
    pub(crate) models: Vec<String>,
    pub(crate) about: BTreeMap<String, Value>,
    pub(crate) pages: BTreeMap<String, Value>,
    pub(crate) listing: Option<(Fault, usize)>,
    pub(crate) key: Option<String>,
}

impl Script {
    /// Every request gets this reply, unless a rule says otherwise.
    pub fn new(otherwise: Reply) -> Self {
        Script { otherwise, models: vec!["scripted".to_owned()], ..Script::default() }
    }

    #[must_use]
    pub fn when(mut self, when: When, reply: Reply) -> Self {
        self.rules.push((when, reply));
        self
    }

    /// Rules that were written down. They come after those of [`Script::when`].
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.written = rules;
        self
    }

    /// The models that the server lists. It answers for any name, listed or not.
    #[must_use]
    pub fn models(mut self, names: &[&str]) -> Self {
        self.models = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// What the list says of a model beside its name, as that wire has it. Ollama says it
    /// when it is asked for the model.
    #[must_use]
    pub fn about(mut self, model: &str, says: Value) -> Self {
        self.about.insert(model.to_owned(), says);
        self
    }

    /// What stands at a further address.
    #[must_use]
    pub fn page(mut self, path: &str, says: Value) -> Self {
        self.pages.insert(path.to_owned(), says);
        self
    }

    /// What goes wrong when the models are listed: a fault with a status, or
    /// `Fault::Silent`.
    #[must_use]
    pub fn listing(mut self, fault: Fault) -> Self {
        self.listing = Some((fault, usize::MAX));
        self
    }

    /// The same, for so many listings at first.
    #[must_use]
    pub fn first_listings(mut self, listings: usize, fault: Fault) -> Self {
        self.listing = Some((fault, listings));
        self
    }

    /// Requests without this key are refused, as that wire refuses them.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }
}

/// The requests that a rule is for. Everything that is set must fit.
#[derive(Clone, Debug, Default)]
pub struct When {
    pub(crate) model: Option<String>,
    pub(crate) nth: Option<u64>,
    pub(crate) says: Vec<String>,
}

impl When {
    pub fn model(name: &str) -> Self {
        When { model: Some(name.to_owned()), ..When::default() }
    }

    /// The text occurs in the system prompt or in a message.
    pub fn says(text: &str) -> Self {
        When { says: vec![text.to_owned()], ..When::default() }
    }

    #[must_use]
    pub fn and_says(mut self, text: &str) -> Self {
        self.says.push(text.to_owned());
        self
    }

    /// The nth request to its model, counted from 1.
    #[must_use]
    pub fn nth(mut self, nth: u64) -> Self {
        self.nth = Some(nth);
        self
    }

    pub(crate) fn fits(&self, model: &str, nth: u64, prompt: &str) -> bool {
        self.model.as_ref().is_none_or(|name| name == model)
            && self.nth.is_none_or(|wanted| wanted == nth)
            && self.says.iter().all(|text| prompt.contains(text))
    }
}

/// One answer, and what goes wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    pub(crate) text: Option<String>,
    /// One per request, in place of `text`; the last one again and again.
    pub(crate) texts: Vec<String>,
    /// Tools to call before the text, one per answer.
    pub(crate) steps: Vec<Step>,
    pub(crate) reasoning: Option<String>,
    pub(crate) tokens: Option<usize>,
    /// Tokens per second.
    pub(crate) pace: Option<u32>,
    pub(crate) first_token: Option<Duration>,
    pub(crate) usage: Option<(u64, u64)>,
    pub(crate) split: Option<usize>,
    pub(crate) gate: Option<(usize, Gate)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) faults: Option<u64>,
    pub(crate) stamp: bool,
}

impl Reply {
    /// A canned text that fits what the prompt asks for.
    pub fn canned() -> Self {
        Reply::default()
    }

    pub fn text(text: &str) -> Self {
        Reply { text: Some(text.to_owned()), ..Reply::default() }
    }

    pub fn fault(fault: Fault) -> Self {
        Reply::default().with_fault(fault)
    }

    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Only the first requests that this reply is for meet its fault; later ones
    /// are answered.
    #[must_use]
    pub fn first(mut self, requests: u64) -> Self {
        self.faults = Some(requests);
        self
    }

    #[must_use]
    pub fn reasoning(mut self, text: &str) -> Self {
        self.reasoning = Some(text.to_owned());
        self
    }

    /// So many tokens of filler in place of a text.
    #[must_use]
    pub fn tokens(mut self, tokens: usize) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// 0 is as fast as possible.
    #[must_use]
    pub fn tokens_per_second(mut self, tokens: u32) -> Self {
        self.pace = Some(tokens);
        self
    }

    #[must_use]
    pub fn first_token(mut self, time: Duration) -> Self {
        self.first_token = Some(time);
        self
    }

    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// The bytes go out in pieces of this size, wherever that cuts them.
    #[must_use]
    pub fn split(mut self, bytes: usize) -> Self {
        self.split = Some(bytes.max(1));
        self
    }

    /// After so many tokens the answer waits for the gate.
    #[must_use]
    pub fn gate(mut self, tokens: usize, gate: &Gate) -> Self {
        self.gate = Some((tokens, gate.clone()));
        self
    }

    /// What is said before the nth step's call, counted from 0. The reply's own gate is
    /// for the text after all steps.
    pub(crate) fn before_call(&mut self, nth: usize) -> String {
        let step = self.steps.get(nth).cloned().unwrap_or_default();
        self.gate = step.gate.map(|gate| (0, gate));
        self.tokens = None;
        step.text
    }

    /// How long after the request a token is due, counted from 0.
    pub(crate) fn due(&self, token: usize) -> Duration {
        let pace = match u64::from(self.pace.unwrap_or_default()) {
            0 => 0,
            rate => token as u64 * 1_000_000 / rate,
        };
        self.first_token.unwrap_or_default() + Duration::from_micros(pace)
    }

    /// Each token of text is `t<microseconds since 1970> `, taken when it is sent.
    #[must_use]
    pub fn stamp(mut self) -> Self {
        self.stamp = true;
        self
    }
}

/// What goes wrong. Bodies and frames are those of the wire that was asked.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Fault {
    Status {
        code: u16,
        #[serde(default)]
        body: String,
        retry_after: Option<String>,
    },
    /// The key is wrong.
    Unauthorized,
    NoSuchModel,
    ContextOverflow,
    RateLimited {
        retry_after: Option<u64>,
    },
    OutOfQuota,
    /// 529 on Anthropic's wire, 503 on the others.
    Overloaded,
    ServerError,
    /// A web page, with status 200.
    WebPage,
    /// The connection stays open and nothing comes, not even a status.
    Silent,
    /// Status 200, then an error object in place of the next token.
    ErrorAfter {
        tokens: usize,
    },
    /// The same, and the error says that the provider is overloaded.
    OverloadedAfter {
        tokens: usize,
    },
    /// The connection is closed in the middle of a frame.
    CutAfter {
        tokens: usize,
    },
    /// The response ends as HTTP wants it, without the end that the wire wants.
    EndAfter {
        tokens: usize,
    },
    StallAfter {
        tokens: usize,
    },
    BadUtf8After {
        tokens: usize,
    },
    /// One line of 100 MB.
    HugeLineAfter {
        tokens: usize,
    },
    /// A proper end without a word.
    Empty,
    /// A proper end, because of the output limit.
    Length,
    /// The model declines.
    Refusal,
    /// The provider's filter stops the answer after so many tokens.
    FilteredAfter {
        tokens: usize,
    },
}

/// Holds answers until a test lets them go.
#[derive(Clone, Debug)]
pub struct Gate {
    open: watch::Sender<bool>,
    waiting: watch::Sender<usize>,
}

impl Default for Gate {
    fn default() -> Self {
        Gate::new()
    }
}

impl Gate {
    pub fn new() -> Self {
        Gate { open: watch::Sender::new(false), waiting: watch::Sender::new(0) }
    }

    /// Lets all go, now and later.
    pub fn release(&self) {
        self.open.send_replace(true);
    }

    /// Returns when so many answers have come to the gate, counted from the start.
    pub async fn reached(&self, answers: usize) {
        let mut waiting = self.waiting.subscribe();
        let _ = waiting.wait_for(|count| *count >= answers).await;
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.open.borrow()
    }

    pub(crate) async fn pass(&self) {
        self.waiting.send_modify(|count| *count += 1);
        let mut open = self.open.subscribe();
        let _ = open.wait_for(|open| *open).await;
    }
}
