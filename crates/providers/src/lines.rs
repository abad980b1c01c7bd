//! Frames out of bytes that arrive in any pieces: lines, or server-sent events.

use plenary_domain::limits;

/// How a wire marks the end of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    /// Each line is a frame.
    Lines,
    /// The `data` of each server-sent event is a frame. Names and ids of events
    /// are ignored, because the wires that we speak repeat them in the data.
    Events,
}

/// Why no more frames are taken.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Stop<E> {
    TooLong,
    /// The taker of frames wants no more.
    Taker(E),
}

/// Cuts bytes into frames. It holds at most one frame, never more than the limit.
pub(crate) struct Frames {
    framing: Framing,
    limit: usize,
    /// The start of a line whose end has not arrived.
    carry: Vec<u8>,
    /// The data of an event whose end has not arrived.
    data: Vec<u8>,
    has_data: bool,
    started: bool,
    /// Whether any byte, and any frame, has come.
    pub bytes_seen: bool,
    pub frames_seen: bool,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Frames::with_limit(framing, limits::WIRE_LINE_BYTES)
    }

    fn with_limit(framing: Framing, limit: usize) -> Self {
        Frames {
            framing,
            limit,
            carry: Vec::new(),
            data: Vec::new(),
            has_data: false,
            started: false,
            bytes_seen: false,
            frames_seen: false,
        }
    }

    /// Takes bytes as they arrive and hands over each frame that they complete.
    pub(crate) fn push<E>(
        &mut self,
        mut chunk: &[u8],
        take: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        self.bytes_seen |= !chunk.is_empty();
        while let Some(at) = chunk.iter().position(|byte| *byte == b'\n') {
            let (head, rest) = (&chunk[..at], &chunk[at + 1..]);
            chunk = rest;
            self.room(head.len())?;
            if self.carry.is_empty() {
                self.line(head, take)?;
            } else {
                // The buffer is put back afterwards, so that it is made once.
                let mut line = std::mem::take(&mut self.carry);
                line.extend_from_slice(head);
                self.line(&line, take)?;
                line.clear();
                self.carry = line;
            }
        }
        self.room(chunk.len())?;
        self.carry.extend_from_slice(chunk);
        Ok(())
    }

    /// Hands over what stands at the end of the stream without a line end: some
    /// servers leave it out.
    pub(crate) fn finish<E>(
        &mut self,
        take: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        let line = std::mem::take(&mut self.carry);
        if !line.is_empty() {
            self.line(&line, take)?;
        }
        match self.framing {
            Framing::Lines => Ok(()),
            Framing::Events => self.line(b"", take),
        }
    }

    fn room<E>(&self, more: usize) -> Result<(), Stop<E>> {
        match self.carry.len() + more > self.limit {
            true => Err(Stop::TooLong),
            false => Ok(()),
        }
    }

    fn line<E>(
        &mut self,
        line: &[u8],
        take: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        let mut line = line.strip_suffix(b"\r").unwrap_or(line);
        if !self.started {
            self.started = true;
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        match self.framing {
            Framing::Lines if line.iter().all(u8::is_ascii_whitespace) => Ok(()),
            Framing::Lines => {
                self.frames_seen = true;
                take(line).map_err(Stop::Taker)
            }
            Framing::Events => self.event_line(line, take),
        }
    }

    fn event_line<E>(
        &mut self,
        line: &[u8],
        take: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stop<E>> {
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                self.frames_seen = true;
                take(&self.data).map_err(Stop::Taker)?;
                self.data.clear();
            }
            return Ok(());
        }
        let Some(value) = line.strip_prefix(b"data") else {
            return Ok(());
        };
        let value = match value.strip_prefix(b":") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if value.is_empty() => value,
            None => return Ok(()),
        };
        if self.data.len() + value.len() > self.limit {
            return Err(Stop::TooLong);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to cut the input in two, and every fixed size of piece, gives the
    /// same frames.
    fn check(framing: Framing, input: &str, expected: &[&str]) {
        let bytes = input.as_bytes();
        let halves = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]);
        let pieces = (1..=bytes.len()).map(|size| bytes.chunks(size).collect());
        for cut in halves.chain(pieces) {
            let mut frames = Frames::new(framing);
            let mut found = Vec::new();
            let mut take = |frame: &[u8]| {
                found.push(String::from_utf8(frame.to_vec()).unwrap());
                Ok::<(), ()>(())
            };
            for piece in cut {
                frames.push(piece, &mut take).unwrap();
            }
            frames.finish(&mut take).unwrap();
            assert_eq!(found, expected, "{input:?}");
        }
    }

    #[test]
    fn lines_are_frames() {
        check(
            Framing::Lines,
            "{\"a\":\"é😀\"}\r\n\n {} \nlast",
            &["{\"a\":\"é😀\"}", " {} ", "last"],
        );
    }

    #[test]
    fn events_are_frames() {
        check(
            Framing::Events,
            "\u{feff}: hello\nevent: x\r\nid: 1\r\ndata: {\"é\"}\r\n\r\n\ndata:one\ndata: two\ndata\n\nretry: 5\ndataset: no\n\n\ndata: [DONE]",
            &["{\"é\"}", "one\ntwo\n", "[DONE]"],
        );
    }

    #[test]
    fn a_line_over_the_limit_is_refused_before_it_is_held() {
        for framing in [Framing::Lines, Framing::Events] {
            let mut frames = Frames::with_limit(framing, 10);
            let mut take = |_: &[u8]| Ok::<(), ()>(());
            assert_eq!(frames.push(b"data: 123", &mut take), Ok(()));
            assert_eq!(frames.push(b"45", &mut take), Err(Stop::TooLong));
            assert!(frames.carry.len() <= 10);
        }
    }

    #[test]
    fn an_event_of_many_lines_has_the_same_limit() {
        let mut frames = Frames::with_limit(Framing::Events, 10);
        let mut take = |_: &[u8]| Ok::<(), ()>(());
        assert_eq!(frames.push(b"data:1234\ndata:5678\n", &mut take), Ok(()));
        assert_eq!(frames.push(b"data:90123\n", &mut take), Err(Stop::TooLong));
    }

    #[test]
    fn the_taker_can_stop() {
        let mut frames = Frames::new(Framing::Lines);
        let mut take = |_: &[u8]| Err("enough");
        assert_eq!(frames.push(b"{}\n{}\n", &mut take), Err(Stop::Taker("enough")));
    }
}
