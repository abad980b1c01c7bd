//! Frames as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, future, stream};
use plenary_domain::boardroom::{self, SeatId};
use plenary_domain::view::Lens;
use plenary_domain::{CallId, Event, SessionId, Viewer, limits, whiteboard};
use plenary_engine::ports::StoredEvent;
use plenary_engine::{Delta, Engine, Frame};
use serde::Serialize;
use tokio::time::{Instant, Sleep, sleep};

use crate::error::{Code, Problem};

/// Where a reader left off: `Last-Event-ID`, or `?after=`.
pub fn after(headers: &HeaderMap, query: Option<u64>) -> Result<Option<u64>, Problem> {
    let Some(header) = headers.get("last-event-id") else { return Ok(query) };
    let after = header.to_str().ok().and_then(|text| text.trim().parse().ok());
    after.map(Some).ok_or_else(|| {
        Problem::new(Code::InvalidHeader, "Last-Event-ID must be the id of an earlier event.")
    })
}

/// A frame in pieces, so that no reader has a copy of an event's payload.
pub type Pieces = Vec<Bytes>;

/// `None` for an event that has no place among those of all sessions.
pub fn any_event(event: Arc<StoredEvent>) -> Option<Pieces> {
    Some(pieces(event.position?, event))
}

fn pieces(id: u64, event: Arc<StoredEvent>) -> Pieces {
    // The payload is JSON already; so are the other parts, being plain names.
    let head = format!(
        "id: {id}\nevent: {}\ndata: {{\"sessionId\":\"{}\",\"kind\":\"{}\",\"at\":\"{}\",\
         \"actor\":{},\"event\":",
        event.name,
        event.session,
        event.kind,
        event.at,
        serde_json::Value::from(event.actor.as_str()),
    );
    let payload = Bytes::from_owner(Payload(event));
    vec![Bytes::from(head), payload, Bytes::from_static(b"}\n\n")]
}

struct Payload(Arc<StoredEvent>);

impl AsRef<[u8]> for Payload {
    fn as_ref(&self) -> &[u8] {
        self.0.payload.as_bytes()
    }
}

/// What one viewer sees of a session's frames after the `after`th, numbered as that
/// viewer counts. The frames begin with the session's first event. What is held back
/// is known by its version, and read again when it may be seen; the stream ends when
/// that fails, and a client that comes back goes on from there.
/// They end when the viewer's token, which had been made anew so many times, is made
/// anew once more.
pub fn seen(
    engine: Arc<Engine>,
    frames: impl Stream<Item = Frame> + Send + 'static,
    (viewer, renewals): (Viewer, u32),
    after: u64,
) -> impl Stream<Item = Pieces> + Send + 'static {
    let mut lens = Lens::new(viewer.clone());
    let frames =
        frames.take_while(move |frame| future::ready(!is_renewal(frame, &viewer, renewals)));
    let told = frames.flat_map(move |frame| match frame {
        Frame::Event(event) => {
            // One that cannot be read is not shown rather than shown to anybody.
            let decoded = Event::decode(&event.kind, &event.payload);
            let seen = decoded.map(|decoded| lens.pass(decoded, event.version));
            let new =
                seen.unwrap_or_default().into_iter().filter(move |(number, _)| *number > after);
            stream::iter(new.map(|told| Told::Event(event.clone(), told)).collect::<Vec<_>>())
        }
        // What a seat is about to say is nobody's before it is said.
        Frame::Delta(_) | Frame::Retrying(_) | Frame::Waiting(_) => stream::iter(vec![]),
        Frame::Removed => stream::iter(vec![Told::Live(self::frame(frame))]),
    });
    let pieces = told.then(move |told| {
        let engine = engine.clone();
        async move {
            match told {
                Told::Live(pieces) => Some(pieces),
                Told::Event(event, (number, version)) if event.version == version => {
                    Some(pieces(number, event))
                }
                Told::Event(event, (number, version)) => {
                    let held = engine.event(event.session, version).await.ok()?;
                    Some(pieces(number, held))
                }
            }
        }
    });
    pieces.take_while(|pieces| future::ready(pieces.is_some())).filter_map(future::ready)
}

/// A board's frames as they are told to a seat. As long as its reply is awaited, the words
/// of the others are left out; who has answered is told the rest by the board itself.
pub fn from_seat(
    engine: Arc<Engine>,
    board: SessionId,
    seat: SeatId,
    frames: impl Stream<Item = Frame> + Send + 'static,
) -> impl Stream<Item = Pieces> + Send + 'static {
    let told = frames.then(move |frame| {
        let engine = engine.clone();
        async move {
            if matches!(frame, Frame::Removed) {
                return Some(self::frame(frame));
            }
            let room = engine.get(board).await.ok()?.room;
            let seen = room.boardroom()?.seen_from(seat);
            match frame {
                Frame::Event(event) => {
                    let event = as_seen(&seen, Arc::unwrap_or_clone(event));
                    Some(pieces(event.version, Arc::new(event)))
                }
                Frame::Delta(_) if seen.veiled_for().is_some() => Some(vec![]),
                Frame::Delta(_) | Frame::Retrying(_) | Frame::Waiting(_) | Frame::Removed => {
                    Some(self::frame(frame))
                }
            }
        }
    });
    told.take_while(|pieces| future::ready(pieces.is_some())).filter_map(future::ready)
}

/// An event as it may be told to whoever has this picture of a board. One that cannot be
/// read is told without its words.
pub fn as_seen(seen: &boardroom::State, event: StoredEvent) -> StoredEvent {
    let Some(seat) = seen.veiled_for() else { return event };
    let told = match Event::decode(&event.kind, &event.payload) {
        Ok(Event::Boardroom(told)) => Event::Boardroom(told.veiled_for(seat)).encode().ok(),
        Ok(_) | Err(_) => None,
    };
    StoredEvent { payload: told.unwrap_or_else(|| "{}".to_owned()), ..event }
}

/// The event that has just happened, with the number and the version of one that is
/// seen now; or a frame that is not in the log.
enum Told {
    Event(Arc<StoredEvent>, (u64, u64)),
    Live(Pieces),
}

fn is_renewal(frame: &Frame, viewer: &Viewer, renewals: u32) -> bool {
    let (Frame::Event(event), Viewer::Agent(viewer)) = (frame, viewer) else { return false };
    if event.name != "tokenRenewed" {
        return false;
    }
    match Event::decode(&event.kind, &event.payload) {
        Ok(Event::Whiteboard(whiteboard::Event::TokenRenewed { agent, generation, .. })) => {
            agent == *viewer && generation > renewals
        }
        Ok(_) | Err(_) => false,
    }
}

pub fn frame(frame: Frame) -> Pieces {
    let frame = match frame {
        Frame::Event(event) => return pieces(event.version, event),
        Frame::Delta(delta) => {
            let name = if delta.reasoning { "reasoning" } else { "delta" };
            let Delta { call, attempt, offset, text, .. } = &*delta;
            live(name, &DeltaView { call_id: call, attempt: *attempt, offset: *offset, text })
        }
        Frame::Retrying(retrying) => live(
            "retrying",
            &serde_json::json!({
                "callId": retrying.call, "attempt": retrying.attempt,
                "waitMs": retrying.wait_ms, "message": retrying.message,
            }),
        ),
        Frame::Waiting(waiting) => live(
            "waiting",
            &serde_json::json!({
                "callId": waiting.call, "attempt": waiting.attempt, "place": waiting.place,
            }),
        ),
        Frame::Removed => Bytes::from_static(b"event: removed\ndata: {}\n\n"),
    };
    vec![frame]
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeltaView<'a> {
    call_id: &'a CallId,
    attempt: u32,
    offset: usize,
    text: &'a str,
}

/// A frame that is not in the log, written straight into its one buffer.
fn live(name: &str, data: &impl Serialize) -> Bytes {
    let mut frame = format!("event: {name}\ndata: ").into_bytes();
    // Only a map whose keys are no strings could fail, or a disk.
    if let Err(error) = serde_json::to_writer(&mut frame, data) {
        tracing::error!(%error, "a live frame could not be written as JSON");
    }
    frame.extend_from_slice(b"\n\n");
    Bytes::from(frame)
}

struct Open<S> {
    frames: Pin<Box<S>>,
    wrote: Instant,
    alarm: Pin<Box<Sleep>>,
}

/// A response that goes on until its stream ends.
pub fn respond(frames: impl Stream<Item = Pieces> + Send + 'static) -> Response {
    let quiet = Duration::from_millis(limits::KEEP_ALIVE_MS);
    let body = Body::from_stream(kept_alive(frames, quiet).map(Ok::<_, Infallible>));
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// What goes out: something at once, so that a client knows it is connected, and a comment
/// whenever nothing came for so long, which keeps proxies and clients from giving up on a
/// quiet stream, and shows a dead client.
fn kept_alive(
    frames: impl Stream<Item = Pieces> + Send + 'static,
    quiet: Duration,
) -> impl Stream<Item = Bytes> + Send {
    let frames = frames.flat_map(stream::iter);
    let open =
        Open { frames: Box::pin(frames), wrote: Instant::now(), alarm: Box::pin(sleep(quiet)) };
    let body = stream::unfold(open, move |mut open| async move {
        let piece = loop {
            tokio::select! {
                biased;
                piece = open.frames.next() => break piece?,
                // One sleep at a time: a frame does not move it.
                () = &mut open.alarm => match open.wrote + quiet {
                    due if due > Instant::now() => open.alarm.as_mut().reset(due),
                    _ => break Bytes::from_static(b": still here\n\n"),
                },
            }
        };
        open.wrote = Instant::now();
        Some((piece, open))
    });
    stream::once(async { Bytes::from_static(b": plenary\n\n") }).chain(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Models may think for minutes before the first word.
    #[tokio::test]
    async fn a_quiet_stream_says_at_once_and_again_that_it_is_there() {
        let pieces = stream::iter([vec![Bytes::from_static(b"data: 1\n\n")]]);
        let frames = pieces.chain(stream::pending());
        let sent = kept_alive(frames, Duration::from_millis(1)).take(4);
        let sent: Vec<Bytes> = sent.collect().await;
        assert_eq!(sent, [": plenary\n\n", "data: 1\n\n", ": still here\n\n", ": still here\n\n"]);
    }
}
