//! One request over HTTP, from the first byte out to the last piece in.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::stream::{self, Stream};
use plenary_domain::{Ask, limits};
use plenary_engine::ports::{Ending, ModelError, Piece};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response};

use crate::config::{Kind, ProviderConfig, Secret};
use crate::facts::Listed;
use crate::lines::{Frames, Framing, Stop};
use crate::tls::client_builder;
use crate::{anthropic, failure, gemini, ollama, openai, wait};

/// Idle connections that are kept to one host: a whole house of streams.
const IDLE_CONNECTIONS: usize = 2_048;
/// After the end of an answer the connection is worth waiting for this long, so
/// that the next request can use it.
const DRAIN: Duration = Duration::from_secs(1);

/// One vendor's way of saying things.
pub(crate) trait Wire: Sync {
    fn framing(&self) -> Framing;

    /// The address and body of a request.
    fn request(
        &self,
        config: &ProviderConfig,
        ask: &Ask,
        without: Without,
    ) -> (String, serde_json::Value);

    /// What goes into the header of every request.
    fn headers(&self, key: Option<&Secret>) -> Vec<(HeaderName, String)>;

    fn decoder(&self) -> Box<dyn Decode>;

    /// Where the models are listed, and how the list is read.
    fn models_url(&self, config: &ProviderConfig) -> String;
    fn models(&self, body: &[u8]) -> serde_json::Result<Vec<Listed>>;
}

pub(crate) fn wire(kind: Kind) -> Option<&'static dyn Wire> {
    match kind {
        Kind::Ollama => Some(&ollama::Ollama),
        Kind::OpenAi => Some(&openai::OpenAi),
        Kind::Anthropic => Some(&anthropic::Anthropic),
        Kind::Gemini => Some(&gemini::Gemini),
        Kind::Command | Kind::Local => None,
    }
}

/// Turns frames into pieces.
pub(crate) trait Decode: Send {
    fn frame(&mut self, data: &[u8], out: &mut Out) -> Result<(), Wrong>;

    /// How the model had finished, if the stream is over without the wire's end.
    fn finished(&mut self) -> Result<Option<Ending>, Wrong> {
        Ok(None)
    }
}

/// Where a decoder puts what it finds.
#[derive(Default)]
pub(crate) struct Out {
    pub pieces: VecDeque<Piece>,
    /// The wire has said that the answer is over, and how.
    pub over: Option<Ending>,
}

impl Out {
    pub(crate) fn text(&mut self, text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.pieces.push_back(Piece::Text(text));
        }
    }

    pub(crate) fn reasoning(&mut self, text: Option<String>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.pieces.push_back(Piece::Reasoning(text));
        }
    }
}

/// What a decoder may find wrong; `failure` makes a sentence of it.
pub(crate) enum Wrong {
    /// Not the JSON that the wire has, or only the start of it.
    Garbled {
        incomplete: bool,
    },
    /// The frame is an error object.
    Reported,
    Refused(String),
}

impl From<serde_json::Error> for Wrong {
    fn from(error: serde_json::Error) -> Self {
        Wrong::Garbled { incomplete: error.is_eof() }
    }
}

/// What a server has turned down and is asked without.
#[derive(Clone, Copy, Default)]
pub(crate) struct Without {
    pub usage: bool,
    /// The schema then goes into the prompt, in words.
    pub schema: bool,
    /// OpenAI's older name for the cap on an answer; the newer one is used then.
    pub old_cap: bool,
    /// The cap on an answer as it was, so many times; a quarter of it is asked for.
    pub quarters: u32,
}

/// Times that a smaller cap is tried.
const QUARTERS: u32 = 3;

impl Without {
    /// Whether the words name something that can be left out.
    fn learn(&mut self, body: &[u8], ask: &Ask) -> bool {
        let words = String::from_utf8_lossy(body).to_lowercase();
        let has = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        if !self.usage && has(&["stream_options", "include_usage"]) {
            self.usage = true;
            return true;
        }
        let wants_new = has(&["max_completion_tokens"]) && has(&["max_tokens"]);
        if !self.old_cap && wants_new {
            self.old_cap = true;
            return true;
        }
        let cap =
            has(&["max_tokens", "max_completion_tokens", "maxoutputtokens", "in the completion"]);
        let too_large = ["too large", "at most", "maximum allowed", "maximum context"];
        if self.quarters < QUARTERS && cap && has(&too_large) {
            self.quarters += 1;
            return true;
        }
        let signs = [
            "schema",
            "response_format",
            "output_config",
            "output_format",
            "structured",
            "grammar",
        ];
        if !self.schema && ask.schema().is_some() && has(&signs) {
            self.schema = true;
            return true;
        }
        false
    }
}

/// The clients, made when they are first needed.
pub(crate) struct Http {
    near: OnceLock<Result<Client, String>>,
    far: OnceLock<Result<Client, String>>,
}

impl Http {
    pub(crate) fn new() -> Self {
        Http { near: OnceLock::new(), far: OnceLock::new() }
    }

    fn client(&self, config: &ProviderConfig) -> Result<&Client, ModelError> {
        let near = is_loopback(&config.url);
        let (cell, proxies) = if near { (&self.near, false) } else { (&self.far, true) };
        cell.get_or_init(|| make_client(proxies)).as_ref().map_err(|problem| {
            let message = format!("No connections can be made from here: {problem}.");
            failure::last(plenary_domain::FailureKind::Misconfigured, message)
        })
    }

    fn request(
        &self,
        config: &ProviderConfig,
        wire: &dyn Wire,
        make: impl FnOnce(&Client) -> RequestBuilder,
    ) -> Result<RequestBuilder, ModelError> {
        let mut headers = HeaderMap::new();
        for (name, value) in wire.headers(config.key.as_ref()) {
            let Ok(mut value) = HeaderValue::from_str(&value) else {
                let place = config.key_env.as_deref().unwrap_or("the configuration");
                let message =
                    format!("The key in {place} has characters that no key has; check it.");
                return Err(failure::last(plenary_domain::FailureKind::Misconfigured, message));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(make(self.client(config)?).headers(headers))
    }

    /// A provider's models.
    pub(crate) async fn models(
        &self,
        config: &ProviderConfig,
        wire: &dyn Wire,
    ) -> Result<Vec<Listed>, ModelError> {
        let url = wire.models_url(config);
        let request = self.request(config, wire, |client| client.get(url))?;
        let response = request.send().await.map_err(|error| failure::transport(config, &error))?;
        let code = response.status();
        let body = bounded(response, limits::WIRE_LINE_BYTES).await;
        if !code.is_success() {
            return Err(failure::status(config, "", code.as_u16(), None, &body));
        }
        wire.models(&body).map_err(|_| failure::not_this_wire(config))
    }

    /// What a server says beside its list, where it says anything.
    pub(crate) async fn told(
        &self,
        config: &ProviderConfig,
        wire: &dyn Wire,
        url: &str,
        body: Option<&serde_json::Value>,
    ) -> Option<serde_json::Value> {
        let make = |client: &Client| match body {
            Some(body) => client.post(url).json(body),
            None => client.get(url),
        };
        let response = self.request(config, wire, make).ok()?.send().await.ok()?;
        let is_well = response.status().is_success();
        let body = bounded(response, limits::WIRE_LINE_BYTES).await;
        serde_json::from_slice(&body).ok().filter(|_| is_well)
    }
}

fn make_client(proxies: bool) -> Result<Client, String> {
    // HTTP/1.1 has one connection per stream: a dropped stream then ends its request at
    // once, and no server's limit of streams per connection makes others wait.
    let mut builder = client_builder()
        .connect_timeout(Duration::from_millis(limits::CONNECT_MS))
        // A key must not follow a redirect to another host.
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .pool_max_idle_per_host(IDLE_CONNECTIONS);
    if !proxies {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.to_string())
}

fn is_loopback(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_matches(['[', ']']);
    let address = bare.parse::<std::net::IpAddr>();
    host == "localhost"
        || host.ends_with(".localhost")
        || address.is_ok_and(|one| one.is_loopback())
}

/// Asks; the request goes out when the stream is first polled and is dropped with it.
pub(crate) fn ask(
    http: Arc<Http>,
    wire: &'static dyn Wire,
    config: Arc<ProviderConfig>,
    ask: Ask,
    request_id: String,
) -> impl Stream<Item = Result<Piece, ModelError>> + Send + 'static {
    let call = Box::new(Call {
        http,
        wire,
        config,
        ask,
        request_id,
        out: Out::default(),
        phase: Phase::Asking,
    });
    stream::unfold(call, |mut call| async move {
        let item = call.next().await?;
        Some((item, call))
    })
}

struct Call {
    http: Arc<Http>,
    wire: &'static dyn Wire,
    config: Arc<ProviderConfig>,
    ask: Ask,
    request_id: String,
    out: Out,
    phase: Phase,
}

enum Phase {
    Asking,
    Reading(Reading),
    /// All pieces are there; the error comes after them.
    Failed(ModelError),
    Over,
}

struct Reading {
    response: Response,
    frames: Frames,
    decoder: Box<dyn Decode>,
    /// What has come before the first frame: perhaps not a stream but an error.
    head: Vec<u8>,
}

impl Call {
    async fn next(&mut self) -> Option<Result<Piece, ModelError>> {
        loop {
            if let Some(piece) = self.out.pieces.pop_front() {
                return Some(Ok(piece));
            }
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Asking => match self.send().await {
                    Ok(reading) => self.phase = Phase::Reading(reading),
                    Err(error) => self.phase = Phase::Failed(error),
                },
                Phase::Reading(reading) => self.read(reading).await,
                Phase::Failed(error) => return Some(Err(error)),
                Phase::Over => return None,
            }
        }
    }

    async fn send(&mut self) -> Result<Reading, ModelError> {
        let config = &*self.config;
        let mut without = Without::default();
        loop {
            let (url, body) = self.wire.request(config, &self.ask, without);
            let request = self.http.request(config, self.wire, |client| client.post(url))?;
            let request = request.header("x-client-request-id", &self.request_id).json(&body);
            let response =
                request.send().await.map_err(|error| failure::transport(config, &error))?;
            let code = response.status();
            if code.is_success() {
                return self.accept(response);
            }
            let after = wanted_wait(&response);
            let body = bounded(response, limits::ERROR_BODY_BYTES).await;
            if matches!(code.as_u16(), 400 | 422) && without.learn(&body, &self.ask) {
                continue;
            }
            return Err(failure::status(config, self.model(), code.as_u16(), after, &body));
        }
    }

    /// A success is a stream, unless the server is no model server.
    fn accept(&self, response: Response) -> Result<Reading, ModelError> {
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/html") {
            return Err(failure::not_this_wire(&self.config));
        }
        Ok(Reading {
            response,
            frames: Frames::new(self.wire.framing()),
            decoder: self.wire.decoder(),
            head: Vec::new(),
        })
    }

    async fn read(&mut self, mut reading: Reading) {
        let chunk = reading.response.chunk().await;
        let result = match chunk {
            Ok(Some(chunk)) => self.decode(&mut reading, Some(chunk)),
            Ok(None) => self.decode(&mut reading, None),
            Err(_) => Err(failure::cut(&self.config)),
        };
        self.phase = match result {
            Err(error) => Phase::Failed(error),
            Ok(()) => match self.out.over {
                Some(ending) => {
                    self.out.pieces.push_back(Piece::End(ending));
                    drain(reading.response);
                    Phase::Over
                }
                None => Phase::Reading(reading),
            },
        };
    }

    /// Decodes a chunk, or with `None` the end of the stream.
    fn decode(&mut self, reading: &mut Reading, chunk: Option<Bytes>) -> Result<(), ModelError> {
        let Reading { frames, decoder, head, .. } = reading;
        if let Some(chunk) = chunk.as_ref().filter(|_| !frames.frames_seen) {
            let room = limits::ERROR_BODY_BYTES - head.len();
            head.extend_from_slice(&chunk[..chunk.len().min(room)]);
        }
        let out = &mut self.out;
        let mut bad = Vec::new();
        let mut take = |frame: &[u8]| {
            if out.over.is_some() {
                return Ok(());
            }
            decoder.frame(frame, out).inspect_err(|_| bad = frame.to_vec())
        };
        let at_end = chunk.is_none();
        let began = frames.frames_seen;
        let result = match chunk {
            Some(chunk) => frames.push(&chunk, &mut take),
            None => frames.finish(&mut take),
        };
        match result {
            Ok(()) => {}
            Err(Stop::TooLong) => return Err(failure::frame_too_long(&self.config)),
            // Half a frame at the end is a cut, not another language.
            Err(Stop::Taker(Wrong::Garbled { incomplete: true })) if at_end => {
                return Err(failure::cut(&self.config));
            }
            Err(Stop::Taker(Wrong::Garbled { .. }))
                if began && std::str::from_utf8(&bad).is_ok() =>
            {
                return Err(failure::garbled(&self.config));
            }
            Err(Stop::Taker(wrong)) => return Err(self.sentence(wrong, &bad)),
        }
        if at_end && self.out.over.is_none() {
            match reading.decoder.finished() {
                Ok(Some(ending)) => self.out.over = Some(ending),
                Ok(None) => return Err(self.ended_early(reading)),
                Err(wrong) => return Err(self.sentence(wrong, b"")),
            }
        }
        Ok(())
    }

    fn ended_early(&self, reading: &Reading) -> ModelError {
        let config = &self.config;
        if reading.frames.frames_seen {
            return failure::cut(config);
        }
        if !reading.frames.bytes_seen {
            return failure::cut_before_the_start(config);
        }
        let head = serde_json::from_slice::<serde_json::Value>(&reading.head);
        match head.is_ok_and(|value| value.get("error").is_some()) {
            true => failure::reported(config, self.model(), &reading.head),
            false => failure::not_this_wire(config),
        }
    }

    fn sentence(&self, wrong: Wrong, frame: &[u8]) -> ModelError {
        let config = &self.config;
        match wrong {
            Wrong::Garbled { .. } => match std::str::from_utf8(frame) {
                Ok(_) => failure::not_this_wire(config),
                Err(_) => failure::not_text(config),
            },
            Wrong::Reported => failure::reported(config, self.model(), frame),
            Wrong::Refused(why) => failure::refused(config, self.model(), &why),
        }
    }

    fn model(&self) -> &str {
        self.ask.model.parts().1
    }
}

fn wanted_wait(response: &Response) -> Option<Duration> {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let millis = header("retry-after-ms").and_then(|text| text.parse().ok());
    let wait = header("retry-after").and_then(|text| wait::retry_after(text, SystemTime::now()));
    millis.map(Duration::from_millis).or(wait)
}

/// The start of a body. What cannot be read is left out: the status says enough.
async fn bounded(mut response: Response, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    body
}

/// Reads what little follows the end of an answer, so that the connection can
/// serve the next request.
fn drain(mut response: Response) {
    if let Some(Ok(None)) = response.chunk().now_or_never() {
        return;
    }
    let rest = async move { while let Ok(Some(_)) = response.chunk().await {} };
    tokio::spawn(tokio::time::timeout(DRAIN, rest));
}
