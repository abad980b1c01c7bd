//! A client of HTTP/1.1 whose connection is driven by whoever reads the answer.
//!
//! Usual clients give each connection a task of its own, which reads ahead: every piece
//! of a stream then wakes two tasks, and nobody can leave it to the system to gather what
//! comes. Here a request and its connection are one task, so that nothing is read of a
//! stream while nobody asks for more of it, and a dropped one closes its connection at
//! once.

mod idle;
mod reach;

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::FutureExt as _;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use plenary_domain::limits;
use reqwest::Url;

use idle::{Idle, Place};
use reach::Reach;

pub(crate) use reach::NoHost;

/// After the end of an answer the connection is worth waiting for this long, so
/// that the next request can use it.
const DRAIN: Duration = Duration::from_secs(1);

pub(crate) struct Client {
    reach: Reach,
    idle: Idle,
}

/// Why there is no answer, or no more of it.
#[derive(Debug)]
pub(crate) enum Lost {
    /// Nothing can be asked at this address.
    Address,
    /// There was no connection.
    Connect(Box<dyn Error + Send + Sync>),
    /// No connection within the time that there is for one.
    Slow,
    /// The connection ended too early.
    Cut,
}

/// One that can be made again on another connection.
#[derive(Clone)]
pub(crate) struct Asked {
    pub method: Method,
    pub url: String,
    pub headers: HeaderMap,
    /// JSON, if there is any.
    pub body: Option<Bytes>,
}

/// An open connection that is asked nothing.
struct Line {
    send: SendRequest<Full<Bytes>>,
    drive: Drive,
}

/// Reads and writes on a connection as long as it is polled.
struct Drive {
    /// `None` when it is over.
    connection: Option<Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>>,
}

impl Drive {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(connection) = &mut self.connection else { return Poll::Ready(()) };
        match connection.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            // What went wrong is told to whoever waits for an answer.
            Poll::Ready(_) => {
                self.connection = None;
                Poll::Ready(())
            }
        }
    }
}

impl Client {
    /// With `proxies`, those that the environment names.
    pub(crate) fn new(proxies: bool) -> Self {
        Client::reaching(Reach::new(proxies.then(Matcher::from_env)))
    }

    fn reaching(reach: Reach) -> Self {
        Client { reach, idle: Idle::default() }
    }

    /// Returns when the head of an answer has come.
    pub(crate) async fn send(&self, asked: &Asked) -> Result<Answer, Lost> {
        let url = Url::parse(&asked.url).map_err(|_| Lost::Address)?;
        let mut bare = url.clone();
        let _ = (bare.set_username(""), bare.set_password(None), bare.set_fragment(None));
        let uri: Uri = bare.as_str().parse().map_err(|_| Lost::Address)?;
        let place = Place::of(&uri).ok_or(Lost::Address)?;
        loop {
            let kept = self.idle.take(&place).await;
            let is_kept = kept.is_some();
            let mut line = match kept {
                Some(line) => line,
                None => self.connect(&uri).await?,
            };
            match line.ask(self.request(asked, &url, &uri)?).await {
                Ok(response) => {
                    let (head, body) = response.into_parts();
                    let (status, headers) = (head.status, head.headers);
                    let kept = Some((line, self.idle.clone(), place));
                    return Ok(Answer { status, headers, body, kept });
                }
                // It was closed meanwhile, and the request has not gone out.
                Err(true) if is_kept => {}
                Err(_) => return Err(Lost::Cut),
            }
        }
    }

    async fn connect(&self, uri: &Uri) -> Result<Line, Lost> {
        let open = async {
            let stream = self.reach.open(uri).await.map_err(Lost::Connect)?;
            let (send, connection) =
                Builder::new().handshake(stream).await.map_err(|_| Lost::Cut)?;
            Ok(Line { send, drive: Drive { connection: Some(Box::pin(connection)) } })
        };
        let time = Duration::from_millis(limits::CONNECT_MS);
        tokio::time::timeout(time, open).await.map_err(|_| Lost::Slow)?
    }

    fn request(&self, asked: &Asked, url: &Url, uri: &Uri) -> Result<Request<Full<Bytes>>, Lost> {
        let forwarded = self.reach.forwarding(uri);
        let target = match forwarded.is_some() {
            true => uri.clone(),
            false => uri
                .path_and_query()
                .map_or("/", |path| path.as_str())
                .parse::<Uri>()
                .map_err(|_| Lost::Address)?,
        };
        let authority = uri.authority().ok_or(Lost::Address)?.as_str();
        let mut request = Request::new(Full::new(asked.body.clone().unwrap_or_default()));
        *request.method_mut() = asked.method.clone();
        *request.uri_mut() = target;
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_str(authority).map_err(|_| Lost::Address)?);
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        if asked.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            headers.insert(AUTHORIZATION, basic(url).ok_or(Lost::Address)?);
        }
        headers.extend(forwarded.into_iter().flatten());
        headers.extend(asked.headers.clone());
        Ok(request)
    }
}

/// The name and password in an address, as servers want them.
fn basic(url: &Url) -> Option<HeaderValue> {
    let plain = |text: &str| {
        // A query knows how to take `%` off again; a plus stands for itself here.
        let pair = format!("x:?_={}", text.replace('+', "%2B"));
        let pairs = Url::parse(&pair).ok()?;
        pairs.query_pairs().map(|(_, value)| value.into_owned()).next()
    };
    let (name, password) = (plain(url.username())?, plain(url.password().unwrap_or_default())?);
    let word = STANDARD.encode(format!("{name}:{password}"));
    let mut value = HeaderValue::from_str(&format!("Basic {word}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl Line {
    /// The head of the answer; or whether the request has not gone out at all.
    async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<hyper::Response<Incoming>, bool> {
        let Line { send, drive } = self;
        let mut answer = pin!(send.try_send_request(request));
        poll_fn(|cx| {
            for _ in 0..2 {
                if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                    return Poll::Ready(answer.map_err(|mut error| error.take_message().is_some()));
                }
                let _ = drive.poll(cx);
            }
            // What ends a connection is told through the answer.
            answer.as_mut().poll(cx).map_err(|mut error| error.take_message().is_some())
        })
        .await
    }
}

/// The head of an answer, and its body as it comes.
pub(crate) struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: Incoming,
    /// The connection, where it goes when the body has ended, and under which name.
    kept: Option<(Line, Idle, Place)>,
}

impl Answer {
    /// The next bytes of the body; `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Lost> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    pub(crate) fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Lost>> {
        loop {
            let mut frame = Pin::new(&mut self.body).poll_frame(cx);
            if frame.is_pending() {
                if let Some((line, ..)) = &mut self.kept {
                    let _ = line.drive.poll(cx);
                }
                frame = Pin::new(&mut self.body).poll_frame(cx);
            }
            return match frame {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if data.is_empty() => continue,
                    Ok(data) => Poll::Ready(Ok(Some(data))),
                    // Trailers.
                    Err(_) => continue,
                },
                Poll::Ready(Some(Err(_))) => Poll::Ready(Err(Lost::Cut)),
                Poll::Ready(None) => {
                    self.leave();
                    Poll::Ready(Ok(None))
                }
            };
        }
    }

    /// Reads what little follows the end of an answer, so that the connection can
    /// serve the next request.
    pub(crate) fn drain(mut self) {
        if let Some(Ok(None)) = self.chunk().now_or_never() {
            return;
        }
        let rest = async move { while let Ok(Some(_)) = self.chunk().await {} };
        tokio::spawn(tokio::time::timeout(DRAIN, rest));
    }

    /// Hands the connection on, if it can be used again.
    fn leave(&mut self) {
        let Some((mut line, idle, place)) = self.kept.take() else { return };
        // It learns only now that the body has been taken to its end.
        let _ = line.drive.poll(&mut Context::from_waker(std::task::Waker::noop()));
        if line.send.is_ready() {
            idle.keep(place, line);
        }
    }
}

#[cfg(test)]
mod tests;
