//! What the server was asked, and how each request ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::sync::watch;

/// Requests that are remembered; older ones are forgotten first come, last kept.
const RECORDS: usize = 100_000;
/// A larger body is not kept.
const BODY_BYTES: usize = 1024 * 1024;
/// Characters of a prompt in the JSON for other processes.
const PROMPT_CHARS: usize = 200;

/// One chat request.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub path: String,
    pub headers: Vec<(String, String)>,
    /// Null when it was too large to keep.
    pub body: Value,
    pub model: String,
    /// All text of the request: the system prompt and the messages.
    pub prompt: String,
    /// What the last tool said that was called.
    pub result: Option<Value>,
    /// The header `x-client-request-id`.
    pub request_id: Option<String>,
    pub received_at: SystemTime,
    pub ended_at: Option<SystemTime>,
    /// The client went away before the answer was complete.
    pub dropped: bool,
}

impl Recorded {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn brief(&self) -> Value {
        json!({
            "requestId": self.request_id,
            "model": self.model,
            "path": self.path,
            "prompt": self.prompt.chars().take(PROMPT_CHARS).collect::<String>(),
            "result": self.result,
            "receivedMicros": micros(self.received_at),
            "endedMicros": self.ended_at.map(micros),
            "ended": self.ended_at.is_some(),
            "dropped": self.dropped,
        })
    }
}

pub(crate) fn micros(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

#[derive(Default)]
struct Book {
    records: Vec<Recorded>,
    count: usize,
    in_flight: usize,
    in_flight_most: usize,
    listings: usize,
}

/// The records, shared by all requests.
#[derive(Clone)]
pub(crate) struct Log {
    book: Arc<Mutex<Book>>,
    changed: watch::Sender<u64>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Log { book: Arc::default(), changed: watch::Sender::new(0) }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    pub(crate) fn begin(&self, mut record: Recorded, body_bytes: usize) -> Open {
        if body_bytes > BODY_BYTES {
            record.body = Value::Null;
        }
        let mut book = self.book();
        let index = (book.records.len() < RECORDS).then_some(book.records.len());
        if index.is_some() {
            book.records.push(record);
        }
        book.count += 1;
        book.in_flight += 1;
        book.in_flight_most = book.in_flight_most.max(book.in_flight);
        drop(book);
        self.tell();
        Open { log: self.clone(), index, complete: false }
    }

    /// Which listing it is, from 1.
    pub(crate) fn listed(&self) -> usize {
        let mut book = self.book();
        book.listings += 1;
        let number = book.listings;
        drop(book);
        self.tell();
        number
    }

    pub(crate) fn records(&self) -> Vec<Recorded> {
        self.book().records.clone()
    }

    pub(crate) fn briefs(&self) -> Value {
        self.book().records.iter().map(Recorded::brief).collect()
    }

    /// The requests as they came.
    pub(crate) fn bodies(&self) -> Value {
        self.book().records.iter().map(|record| record.body.clone()).collect()
    }

    pub(crate) fn stats(&self) -> Stats {
        let book = self.book();
        Stats {
            count: book.count,
            in_flight: book.in_flight,
            in_flight_most: book.in_flight_most,
            listings: book.listings,
        }
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }
}

pub(crate) struct Stats {
    pub count: usize,
    pub in_flight: usize,
    pub in_flight_most: usize,
    pub listings: usize,
}

/// A request in flight. Dropping it before it is complete means that the client
/// went away.
pub(crate) struct Open {
    log: Log,
    index: Option<usize>,
    pub complete: bool,
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut book = self.log.book();
        book.in_flight -= 1;
        if let Some(record) = self.index.and_then(|index| book.records.get_mut(index)) {
            record.ended_at = Some(SystemTime::now());
            record.dropped = !self.complete;
        }
        drop(book);
        self.log.tell();
    }
}
