//! One answer on its way out: tokens at their times, and the fault at its place.

use std::future::pending;
use std::io;
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, Stream};
use tokio::time::{Instant, sleep, sleep_until};

use crate::canned;
use crate::record::{Open, micros};
use crate::script::{Fault, Reply};
use crate::wires::{About, Call, Ending, Voice, Wire};

const HUGE_LINE_BYTES: usize = 100 * 1024 * 1024;
const HUGE_PIECE_BYTES: usize = 64 * 1024;
/// Time for bytes to leave before their connection is broken.
const FLUSH: Duration = Duration::from_millis(10);
/// Stands where the fault's own bytes go; no token contains it.
const HERE: &str = "@HERE@";

pub(crate) fn answer(
    wire: &'static dyn Wire,
    about: About,
    reply: Reply,
    words: Words,
    call: Option<Call>,
    open: Open,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let speaking = Speaking {
        wire,
        about,
        words,
        call,
        reply,
        open,
        sent: 0,
        gated: false,
        started: Instant::now(),
        waiting: BytesMut::new(),
        phase: Phase::Opening,
    };
    stream::unfold(speaking, |mut speaking| async move {
        let piece = speaking.next().await?;
        Some((piece, speaking))
    })
}

/// The tokens of an answer.
pub(crate) enum Words {
    Given(Vec<(Voice, String)>),
    Filler(usize),
}

impl Words {
    pub(crate) fn of(reply: &Reply, text: &str) -> Self {
        if matches!(reply.fault, Some(Fault::Empty | Fault::Refusal)) {
            return Words::Filler(0);
        }
        if let Some(tokens) = reply.tokens {
            return Words::Filler(tokens);
        }
        let thought = reply.reasoning.as_deref().unwrap_or_default();
        let tokens = |voice: Voice, text: &str| {
            let words = text.split_inclusive(' ');
            words.map(|word| (voice, word.to_owned())).collect::<Vec<_>>()
        };
        let mut given = tokens(Voice::Reasoning, thought);
        given.extend(tokens(Voice::Text, text));
        Words::Given(given)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Words::Given(words) => words.len(),
            Words::Filler(count) => *count,
        }
    }

    /// What they say aloud, in one piece.
    pub(crate) fn aloud(&self) -> String {
        match self {
            Words::Given(words) => {
                let aloud = words.iter().filter(|(voice, _)| *voice == Voice::Text);
                aloud.map(|(_, word)| word.as_str()).collect()
            }
            Words::Filler(count) => (0..*count).map(canned::filler).collect(),
        }
    }
}

enum Phase {
    Opening,
    Talking,
    Flooding { left: usize },
    Cut,
    Closed,
}

struct Speaking {
    wire: &'static dyn Wire,
    about: About,
    words: Words,
    /// The tool that is called in the end.
    call: Option<Call>,
    reply: Reply,
    open: Open,
    sent: usize,
    gated: bool,
    started: Instant,
    /// Bytes that are made and not yet sent.
    waiting: BytesMut,
    phase: Phase,
}

impl Speaking {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            if !self.waiting.is_empty() {
                let size = self.reply.split.unwrap_or(usize::MAX);
                let size = size.min(self.waiting.len());
                return Some(Ok(self.waiting.split_to(size).freeze()));
            }
            match self.phase {
                Phase::Opening => {
                    let mut out = String::new();
                    self.wire.open(&mut out, &self.about);
                    self.waiting.extend_from_slice(out.as_bytes());
                    self.phase = Phase::Talking;
                }
                Phase::Talking => self.talk().await,
                Phase::Flooding { left: 0 } => self.phase = Phase::Cut,
                Phase::Flooding { left } => {
                    self.phase = Phase::Flooding { left: left - 1 };
                    return Some(Ok(Bytes::from(vec![b'a'; HUGE_PIECE_BYTES])));
                }
                Phase::Cut => {
                    // What was said before is sent first: the pause lets it out.
                    sleep(FLUSH).await;
                    // The peer is not at fault for a connection that we break.
                    self.open.complete = true;
                    self.phase = Phase::Closed;
                    return Some(Err(io::ErrorKind::ConnectionAborted.into()));
                }
                Phase::Closed => {
                    self.open.complete = true;
                    return None;
                }
            }
        }
    }

    /// Sends the tokens whose time has come, up to the next gate or fault.
    async fn talk(&mut self) {
        let end = self.fault_at().unwrap_or(usize::MAX).min(self.words.len());
        if let Some((at, gate)) = &self.reply.gate
            && !self.gated
            && self.sent >= (*at).min(end)
        {
            gate.clone().pass().await;
            self.gated = true;
            self.started = Instant::now();
        }
        if self.sent >= end {
            return self.finish().await;
        }
        sleep_until(self.due(self.sent)).await;
        let now = Instant::now();
        let stop = match &self.reply.gate {
            Some((at, _)) if !self.gated => end.min(*at),
            _ => end,
        };
        let mut out = String::new();
        // A late server catches up: all that is due goes out in one piece.
        loop {
            self.token(&mut out);
            let paced = self.reply.pace.is_some_and(|rate| rate > 0);
            if self.sent >= stop || !paced || self.due(self.sent) > now {
                break;
            }
        }
        self.waiting.extend_from_slice(out.as_bytes());
    }

    fn due(&self, token: usize) -> Instant {
        self.started + self.reply.due(token)
    }

    fn token(&mut self, out: &mut String) {
        let stamp;
        let (voice, text) = match &self.words {
            Words::Given(words) => (words[self.sent].0, words[self.sent].1.as_str()),
            Words::Filler(_) => (Voice::Text, canned::filler(self.sent)),
        };
        let text = if self.reply.stamp && voice == Voice::Text {
            stamp = format!("t{} ", micros(SystemTime::now()));
            &stamp
        } else {
            text
        };
        self.wire.token(out, &mut self.about, voice, text);
        self.sent += 1;
    }

    fn fault_at(&self) -> Option<usize> {
        match self.reply.fault.as_ref()? {
            Fault::ErrorAfter { tokens }
            | Fault::OverloadedAfter { tokens }
            | Fault::CutAfter { tokens }
            | Fault::EndAfter { tokens }
            | Fault::StallAfter { tokens }
            | Fault::BadUtf8After { tokens }
            | Fault::HugeLineAfter { tokens }
            | Fault::FilteredAfter { tokens } => Some(*tokens),
            Fault::Status { .. }
            | Fault::Unauthorized
            | Fault::NoSuchModel
            | Fault::ContextOverflow
            | Fault::RateLimited { .. }
            | Fault::OutOfQuota
            | Fault::Overloaded
            | Fault::ServerError
            | Fault::WebPage
            | Fault::Silent
            | Fault::Empty
            | Fault::Length
            | Fault::Refusal => None,
        }
    }

    /// The end, or the fault that comes in its place.
    async fn finish(&mut self) {
        let mut out = String::new();
        self.phase = Phase::Closed;
        match self.reply.fault {
            Some(Fault::ErrorAfter { .. }) => self.wire.error(&mut out, false),
            Some(Fault::OverloadedAfter { .. }) => self.wire.error(&mut out, true),
            Some(Fault::EndAfter { .. }) => {}
            Some(Fault::StallAfter { .. }) => pending().await,
            Some(Fault::CutAfter { .. }) => {
                self.wire.token(&mut out, &mut self.about, Voice::Text, HERE);
                out.truncate(out.find(HERE).unwrap_or_default());
                self.phase = Phase::Cut;
            }
            Some(Fault::HugeLineAfter { .. }) => {
                self.wire.token(&mut out, &mut self.about, Voice::Text, HERE);
                out.truncate(out.find(HERE).unwrap_or_default());
                let left = HUGE_LINE_BYTES / HUGE_PIECE_BYTES;
                self.phase = Phase::Flooding { left };
            }
            Some(Fault::BadUtf8After { .. }) => {
                self.wire.token(&mut out, &mut self.about, Voice::Text, HERE);
                let (before, after) = out.split_once(HERE).unwrap_or_default();
                self.waiting.extend_from_slice(before.as_bytes());
                self.waiting.extend_from_slice(b"\xff\xfe");
                self.waiting.extend_from_slice(after.as_bytes());
                out.clear();
            }
            Some(Fault::Length) => self.close(&mut out, Ending::Length),
            Some(Fault::Refusal) => self.close(&mut out, Ending::Refusal),
            Some(Fault::FilteredAfter { .. }) => self.close(&mut out, Ending::Filtered),
            Some(
                Fault::Empty
                | Fault::Status { .. }
                | Fault::Unauthorized
                | Fault::NoSuchModel
                | Fault::ContextOverflow
                | Fault::RateLimited { .. }
                | Fault::OutOfQuota
                | Fault::Overloaded
                | Fault::ServerError
                | Fault::WebPage
                | Fault::Silent,
            )
            | None => match self.call.take() {
                Some(call) => {
                    self.wire.call(&mut out, &mut self.about, &call);
                    self.close(&mut out, Ending::Called);
                }
                None => self.close(&mut out, Ending::Stop),
            },
        }
        self.waiting.extend_from_slice(out.as_bytes());
    }

    fn close(&mut self, out: &mut String, ending: Ending) {
        self.wire.close(out, &mut self.about, ending);
        // All that was promised is on its way; a client that leaves now has it.
        self.open.complete = true;
    }
}
