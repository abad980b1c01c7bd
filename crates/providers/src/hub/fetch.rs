//! Requests to the hub, and one file on its way.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

use reqwest::header::{AUTHORIZATION, CONTENT_RANGE, LINK, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use ring::digest::{Context, SHA256};

use super::wanted::Listed;
use super::{Hub, HubError, Progress};
use crate::wait;

/// Requests that are made for one file or list before it is given up. What came before a
/// cut is kept, and one that brought something does not count.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);
/// The longest wait that the hub may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
const REDIRECTS: usize = 8;
const LIST_BYTES: usize = 16 << 20;
const MAGIC: &[u8] = b"GGUF";
/// By which the hub says what exactly is wrong.
const ERROR_CODE: &str = "x-error-code";

/// What became of one request.
enum Failed {
    /// It may go better next time, after so long.
    Again(String, Option<Duration>),
    Final(HubError),
}

impl From<HubError> for Failed {
    fn from(error: HubError) -> Self {
        Failed::Final(error)
    }
}

impl Hub {
    /// What the hub says at an address, page by page.
    pub(super) async fn pages(&self, first: Url) -> Result<Vec<serde_json::Value>, HubError> {
        let (mut pages, mut next) = (vec![], Some(first));
        while let Some(url) = next {
            let (page, later) = self.tried(|| self.page(url.clone())).await?;
            pages.push(page);
            next = later;
        }
        Ok(pages)
    }

    async fn page(&self, url: Url) -> Result<(serde_json::Value, Option<Url>), Failed> {
        let mut response = self.send(url.clone(), |request| request).await?;
        let next = response.headers().get(LINK).and_then(|link| next_page(link.to_str().ok()?));
        let next = next.and_then(|next| url.join(&next).ok());
        let mut body = vec![];
        while let Some(chunk) = response.chunk().await.map_err(cut)? {
            body.extend_from_slice(&chunk);
            if body.len() > LIST_BYTES {
                return Err(HubError::Wrong("the list of files is too long".into()).into());
            }
        }
        let page = serde_json::from_slice(&body)
            .map_err(|_| HubError::Wrong(format!("{} is not a model hub", self.endpoint)))?;
        // Only the hub itself says where a list goes on.
        Ok((page, next.filter(|next| next.origin() == self.endpoint.origin())))
    }

    /// Brings a file to this place, from where an earlier try ended, and checks it.
    pub(super) async fn download(
        &self,
        url: Url,
        file: &Listed,
        place: &Path,
        progress: &mut Progress<'_>,
    ) -> Result<(), HubError> {
        let mut part = Part::open(place, file)?;
        progress.at(part.bytes);
        let mut left = TRIES;
        while part.bytes < file.bytes {
            let before = part.bytes;
            let Err(failed) = self.stretch(url.clone(), &mut part, progress).await else {
                continue;
            };
            let (why, wait) = match failed {
                Failed::Final(error) => return Err(error),
                Failed::Again(why, wait) => (why, wait),
            };
            left = if part.bytes > before { TRIES } else { left - 1 };
            if left == 0 {
                return Err(HubError::Unreachable(why));
            }
            self.pause(TRIES - left, wait).await?;
        }
        part.check(file)
    }

    /// One request, as far as it goes.
    async fn stretch(
        &self,
        url: Url,
        part: &mut Part,
        progress: &mut Progress<'_>,
    ) -> Result<(), Failed> {
        let from = part.bytes;
        let ranged = |request: RequestBuilder| match from {
            0 => request,
            from => request.header(RANGE, format!("bytes={from}-")),
        };
        let mut response = match self.send(url, ranged).await {
            // The server has less than is here: what is here is something else.
            Err(Failed::Final(HubError::Refused(416))) => {
                part.begin_anew()?;
                return Ok(());
            }
            other => other?,
        };
        let begins = format!("bytes {from}-");
        let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
        if from > 0 && !range.is_some_and(|range| range.starts_with(&begins)) {
            part.begin_anew()?;
        }
        loop {
            let chunk = tokio::time::timeout(self.silence, response.chunk());
            let chunk =
                chunk.await.map_err(|_| Failed::Again("no more data arrived".into(), None))?;
            let Some(chunk) = chunk.map_err(cut)? else { break };
            part.take(&chunk)?;
            progress.at(part.bytes);
        }
        match part.bytes < part.wanted {
            true => Err(Failed::Again("it broke off".into(), None)),
            false => Ok(()),
        }
    }

    /// Follows redirects by hand: the token is for the hub and for nobody else.
    async fn send(
        &self,
        url: Url,
        with: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<Response, Failed> {
        let mut url = url;
        for _ in 0..REDIRECTS {
            let mut request = with(self.client.get(url.clone()));
            if let Some(token) =
                self.token.as_ref().filter(|_| url.origin() == self.endpoint.origin())
            {
                request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose()));
            }
            let response = request.send().await.map_err(cut)?;
            if !response.status().is_redirection() {
                return self.answered(response, &url);
            }
            let next = response.headers().get(LOCATION).and_then(|next| next.to_str().ok());
            let next = next
                .and_then(|next| url.join(next).ok())
                .ok_or_else(|| HubError::Wrong("the hub redirects without an address".into()))?;
            if url.scheme() == "https" && next.scheme() != "https" {
                return Err(
                    HubError::Wrong("the hub redirects to an unencrypted address".into()).into()
                );
            }
            url = next;
        }
        Err(HubError::Wrong("the hub redirects in a loop".into()).into())
    }

    fn answered(&self, response: Response, url: &Url) -> Result<Response, Failed> {
        let code = response.status();
        if code.is_success() {
            return Ok(response);
        }
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let wait = header(RETRY_AFTER.as_str())
            .and_then(|text| wait::retry_after(text, SystemTime::now()));
        let is_hub = url.origin() == self.endpoint.origin();
        Err(match (code, header(ERROR_CODE)) {
            (_, Some("GatedRepo")) => HubError::Gated.into(),
            (_, Some("RevisionNotFound")) => HubError::NoRevision.into(),
            (_, Some("RepoNotFound" | "EntryNotFound")) => HubError::Missing.into(),
            // A model with terms says so by its code; a token may lack other rights.
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _)
                if is_hub && self.token.is_some() =>
            {
                HubError::Token.into()
            }
            // Without a token the hub does not tell private ones from missing ones.
            (StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND, _) if is_hub => {
                HubError::Missing.into()
            }
            (StatusCode::FORBIDDEN, _) if is_hub => HubError::Gated.into(),
            // Where the hub leads to, an address is good for a while; the hub gives another.
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND, _) => {
                Failed::Again(format!("{code}"), None)
            }
            (StatusCode::TOO_MANY_REQUESTS, _) => {
                Failed::Again("it received too many requests".into(), wait)
            }
            (code, _) if code.is_server_error() => Failed::Again(format!("{code}"), wait),
            (code, _) => HubError::Refused(code.as_u16()).into(),
        })
    }

    async fn tried<T, F: Future<Output = Result<T, Failed>>>(
        &self,
        act: impl Fn() -> F,
    ) -> Result<T, HubError> {
        let mut tried = 0;
        loop {
            tried += 1;
            match act().await {
                Ok(done) => return Ok(done),
                Err(Failed::Final(error)) => return Err(error),
                Err(Failed::Again(why, _)) if tried == TRIES => {
                    return Err(HubError::Unreachable(why));
                }
                Err(Failed::Again(_, wait)) => self.pause(tried, wait).await?,
            }
        }
    }

    async fn pause(&self, tried: u32, wait: Option<Duration>) -> Result<(), HubError> {
        let wait = wait.unwrap_or(self.pause * 2u32.pow(tried.saturating_sub(1).min(6)));
        if wait > LONGEST_WAIT {
            let seconds = wait.as_secs();
            return Err(HubError::Unreachable(format!("it asks to retry in {seconds} s")));
        }
        tokio::time::sleep(wait).await;
        Ok(())
    }
}

pub(super) fn usual_pause() -> Duration {
    PAUSE
}

pub(super) fn client() -> Result<Client, HubError> {
    let client = crate::tls::client_builder()
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none());
    client.build().map_err(|error| HubError::Unreachable(error.to_string()))
}

fn cut(error: reqwest::Error) -> Failed {
    // Not the address: a signed one is a key.
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        words = inner.to_string();
        source = inner.source();
    }
    Failed::Again(words, None)
}

/// The address behind `rel="next"`.
fn next_page(link: &str) -> Option<String> {
    link.split(',').find_map(|part| {
        let (address, rel) = part.split_once(';')?;
        let address = address.trim().strip_prefix('<')?.strip_suffix('>')?;
        rel.contains("rel=\"next\"").then(|| address.to_owned())
    })
}

/// A file as far as it has come, and the hash of that.
struct Part {
    file: std::fs::File,
    bytes: u64,
    wanted: u64,
    hash: Context,
    magic: Vec<u8>,
}

impl Part {
    fn open(place: &Path, listed: &Listed) -> Result<Part, HubError> {
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(place)?;
        let (hash, magic) = (Context::new(&SHA256), vec![]);
        let mut part = Part { file, bytes: 0, wanted: listed.bytes, hash, magic };
        let mut buffer = vec![0; 1 << 20];
        loop {
            let read = part.file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            part.note(&buffer[..read]);
        }
        if part.bytes > part.wanted {
            part.begin_anew()?;
        }
        Ok(part)
    }

    fn note(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        let room = MAGIC.len() - self.magic.len();
        self.magic.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), HubError> {
        if self.bytes + bytes.len() as u64 > self.wanted {
            self.begin_anew()?;
            return Err(HubError::Wrong("more data arrived than the file has".into()));
        }
        self.file.write_all(bytes)?;
        self.note(bytes);
        let is_model = MAGIC.starts_with(&self.magic[..]);
        match is_model {
            true => Ok(()),
            false => {
                self.begin_anew()?;
                Err(HubError::Wrong("what arrived is not a GGUF file".into()))
            }
        }
    }

    fn begin_anew(&mut self) -> Result<(), HubError> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.bytes = 0;
        self.hash = Context::new(&SHA256);
        self.magic.clear();
        Ok(())
    }

    /// What is wrong is not kept: the next try would go on from it.
    fn check(mut self, listed: &Listed) -> Result<(), HubError> {
        let found: String =
            self.hash.clone().finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        if self.magic != MAGIC || found != listed.sha256 {
            self.begin_anew()?;
            let wrong = format!("its SHA-256 is {found} instead of {}", listed.sha256);
            return Err(HubError::Wrong(wrong));
        }
        Ok(self.file.sync_all()?)
    }
}
