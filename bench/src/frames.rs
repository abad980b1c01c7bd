//! Server-sent events out of a response, and the stamps in them.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Response;

use crate::Outcome;

/// Frames of a response as they come, without the empty line at their end.
pub struct Frames {
    response: Response,
    held: Vec<u8>,
    /// Where in `held` the next frame begins.
    start: usize,
}

impl Frames {
    pub fn new(response: Response) -> Outcome<Self> {
        let response = response.error_for_status()?;
        Ok(Frames { response, held: vec![], start: 0 })
    }

    /// Hands over every frame until `take` says that it was the last one, or the
    /// stream ends; false means that it ended.
    pub async fn each(&mut self, mut take: impl FnMut(&str) -> bool) -> Outcome<bool> {
        loop {
            while let Some(length) = end_of_frame(&self.held[self.start..]) {
                let frame = &self.held[self.start..self.start + length];
                self.start += length + 2;
                if take(std::str::from_utf8(frame)?) {
                    return Ok(true);
                }
            }
            self.held.drain(..self.start);
            self.start = 0;
            match self.response.chunk().await? {
                Some(chunk) => self.held.extend_from_slice(&chunk),
                None => return Ok(false),
            }
        }
    }
}

fn end_of_frame(bytes: &[u8]) -> Option<usize> {
    bytes.windows(2).position(|pair| pair == b"\n\n")
}

/// The name of an event frame.
pub fn name(frame: &str) -> Option<&str> {
    frame.lines().find_map(|line| line.strip_prefix("event: "))
}

/// The data of a frame, which is one line on both wires that are read here.
pub fn data(frame: &str) -> Option<&str> {
    frame.lines().find_map(|line| line.strip_prefix("data: "))
}

/// The stamps in a text: microseconds since 1970, when each token was sent.
pub fn stamps(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(' ').filter_map(|word| word.strip_prefix('t')?.parse().ok())
}

pub fn micros_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
