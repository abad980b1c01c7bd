//! One request over HTTP, from the first byte out to the last piece in.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::stream::{self, Stream};
use hyper::Method;
use plenary_domain::{Ask, limits};
use plenary_engine::ports::{Ending, ModelError, Piece};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::client::{Answer, Asked, Client};
use crate::config::{Kind, ProviderConfig, Secret};
use crate::facts::Listed;
use crate::lines::{Frames, Framing, Stop};
use crate::{anthropic, failure, gemini, images, ollama, openai, wait};

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
    /// What comes together is one piece.
    pub(crate) fn text(&mut self, text: Option<String>) {
        match (self.pieces.back_mut(), text.filter(|text| !text.is_empty())) {
            (Some(Piece::Text(before)), Some(text)) => before.push_str(&text),
            (_, Some(text)) => self.pieces.push_back(Piece::Text(text)),
            (_, None) => {}
        }
    }

    pub(crate) fn reasoning(&mut self, text: Option<String>) {
        match (self.pieces.back_mut(), text.filter(|text| !text.is_empty())) {
            (Some(Piece::Reasoning(before)), Some(text)) => before.push_str(&text),
            (_, Some(text)) => self.pieces.push_back(Piece::Reasoning(text)),
            (_, None) => {}
        }
    }

    /// More would have to be held for whoever takes the pieces.
    fn is_full(&self) -> bool {
        self.pieces.iter().map(bytes_of).sum::<usize>() > limits::DELTA_BYTES
    }
}

fn bytes_of(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) | Piece::Reasoning(text) => text.len(),
        Piece::Usage(_)
        | Piece::Waiting { .. }
        | Piece::Retrying { .. }
        | Piece::Busy
        | Piece::End(_) => 0,
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
    /// Models that reason take none, or only their own.
    pub temperature: bool,
    /// Images; they are told of in words then.
    pub images: bool,
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
        if !self.temperature && ask.temperature.is_some() && has(&["temperature"]) {
            self.temperature = true;
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
        let looks = ["image", "vision", "multimodal", "multi-modal", "modality", "mmproj"];
        if !self.images && images::has_any(ask) && has(&looks) {
            self.images = true;
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

/// The clients, made when they are first needed. HTTP/1.1 has one connection per stream: a
/// dropped stream then ends its request at once, and no server's limit of streams per
/// connection makes others wait. Nobody follows a redirect: a key must not go to another
/// host with it.
#[derive(Default)]
pub(crate) struct Http {
    near: OnceLock<Client>,
    far: OnceLock<Client>,
}

impl Http {
    fn client(&self, config: &ProviderConfig) -> &Client {
        match is_loopback(&config.url) {
            true => self.near.get_or_init(|| Client::new(false)),
            false => self.far.get_or_init(|| Client::new(true)),
        }
    }

    /// A request as this provider wants it.
    fn asked(
        config: &ProviderConfig,
        wire: &dyn Wire,
        url: String,
        body: Option<&serde_json::Value>,
    ) -> Result<Asked, ModelError> {
        let mut headers = HeaderMap::new();
        for (name, value) in wire.headers(config.key.as_ref()) {
            let Ok(mut value) = HeaderValue::from_str(&value) else {
                let place = config.key_env.as_deref().unwrap_or("the configuration");
                let message =
                    format!("The key in {place} contains characters that no key has; check it.");
                return Err(failure::last(plenary_domain::FailureKind::Misconfigured, message));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let body = body.map(|body| Bytes::from(body.to_string()));
        Ok(Asked { method, url, headers, body })
    }

    async fn send(&self, config: &ProviderConfig, asked: &Asked) -> Result<Answer, ModelError> {
        let answer = self.client(config).send(asked).await;
        answer.map_err(|lost| failure::transport(config, &lost))
    }

    /// A provider's models.
    pub(crate) async fn models(
        &self,
        config: &ProviderConfig,
        wire: &dyn Wire,
    ) -> Result<Vec<Listed>, ModelError> {
        let asked = Http::asked(config, wire, wire.models_url(config), None)?;
        let answer = self.send(config, &asked).await?;
        let code = answer.status;
        let body = bounded(answer, limits::WIRE_LINE_BYTES).await;
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
        let asked = Http::asked(config, wire, url.to_owned(), body).ok()?;
        let answer = self.send(config, &asked).await.ok()?;
        let is_well = answer.status.is_success();
        let body = bounded(answer, limits::WIRE_LINE_BYTES).await;
        serde_json::from_slice(&body).ok().filter(|_| is_well)
    }
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
    Reading(Box<Reading>),
    /// All pieces are there; the error comes after them.
    Failed(ModelError),
    Over,
}

struct Reading {
    answer: Answer,
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
                    Ok(reading) => self.phase = Phase::Reading(Box::new(reading)),
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
            let mut asked = Http::asked(config, self.wire, url, Some(&body))?;
            if let Ok(id) = HeaderValue::from_str(&self.request_id) {
                asked.headers.insert("x-client-request-id", id);
            }
            let answer = self.http.send(config, &asked).await?;
            let code = answer.status;
            if code.is_success() {
                return self.accept(answer);
            }
            let after = wanted_wait(&answer.headers);
            let body = bounded(answer, limits::ERROR_BODY_BYTES).await;
            // Some fail where others refuse what a model cannot look at.
            let is_refusal = matches!(code.as_u16(), 400 | 422)
                || matches!(code.as_u16(), 404 | 500 | 501) && images::has_any(&self.ask);
            if is_refusal && without.learn(&body, &self.ask) {
                if without.images {
                    self.ask = images::described(self.ask.clone());
                }
                continue;
            }
            return Err(failure::status(config, self.model(), code.as_u16(), after, &body));
        }
    }

    /// A success is a stream, unless the server is no model server.
    fn accept(&self, answer: Answer) -> Result<Reading, ModelError> {
        let kind = answer.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/html") {
            return Err(failure::not_this_wire(&self.config));
        }
        Ok(Reading {
            answer,
            frames: Frames::new(self.wire.framing()),
            decoder: self.wire.decoder(),
            head: Vec::new(),
        })
    }

    /// Reads until there is a piece, and then whatever else has come already.
    async fn read(&mut self, mut reading: Box<Reading>) {
        let result = loop {
            let chunk = match self.out.pieces.is_empty() {
                true => reading.answer.chunk().await,
                false => match poll_once(|cx| reading.answer.poll_chunk(cx)).await {
                    Poll::Ready(chunk) => chunk,
                    Poll::Pending => break Ok(()),
                },
            };
            let at_end = matches!(chunk, Ok(None));
            let decoded = match chunk {
                Ok(chunk) => self.decode(&mut reading, chunk),
                Err(_) => Err(failure::cut(&self.config)),
            };
            if decoded.is_err() || at_end || self.out.over.is_some() || self.out.is_full() {
                break decoded;
            }
        };
        self.phase = match result {
            Err(error) => Phase::Failed(error),
            Ok(()) => match self.out.over {
                Some(ending) => {
                    self.out.pieces.push_back(Piece::End(ending));
                    reading.answer.drain();
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

/// What comes of one look, without waiting.
async fn poll_once<T>(mut look: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
    poll_fn(|cx| Poll::Ready(look(cx))).await
}

fn wanted_wait(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let millis = header("retry-after-ms").and_then(|text| text.parse().ok());
    let wait = header("retry-after").and_then(|text| wait::retry_after(text, SystemTime::now()));
    millis.map(Duration::from_millis).or(wait)
}

/// The start of a body. What cannot be read is left out: the status says enough.
async fn bounded(mut answer: Answer, limit: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit {
            break;
        }
    }
    body
}
