//! Reads a write-ahead log that a process left behind, before SQLite does.
//!
//! SQLite takes a log up to the last transaction whose checksums are right and drops
//! the rest without a word. That is right for a transaction that was being written when
//! the process ended, and it hides the loss of others. What is dropped is told apart so:
//!
//! - The next transaction is written only after the one before it is on the disk, so a
//!   crash can cut one transaction at most: the last. Its last frame is the only one
//!   that is marked as a commit.
//! - So where frames of this log stand *behind* such a mark that SQLite will not
//!   accept, a transaction was lost that had been acknowledged: the log is damaged.
//! - A single transaction that is marked as whole and is not may be either. A process
//!   that is killed has to be hit between two writes for that.
//! - Frames with other salts are left from before the log was begun anew. So that no
//!   others are left from an earlier crash, the log is emptied when a store is opened.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// Without its lowest bit, which says how checksums are to be read.
const MAGIC: u32 = 0x377f_0682;
const PAGE_LEAST: u32 = 512;
const PAGE_MOST: u32 = 65_536;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Log {
    /// There is none, or all of it can be read, but for what was never finished.
    Whole,
    /// The last transaction is marked as whole and cannot be read.
    Cut,
    /// Transactions that had been acknowledged cannot be read.
    Damaged(Damage),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    /// The beginning, and with it everything.
    Header,
    /// From this frame on (counted from 1), so many transactions.
    Frames { from: u64, transactions: u64 },
}

pub(super) fn read(file: &Path) -> io::Result<Log> {
    match File::open(file) {
        Ok(log) => examine(BufReader::new(log)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Log::Whole),
        Err(error) => Err(error),
    }
}

fn examine(mut log: impl Read) -> io::Result<Log> {
    let header = fill(&mut log, HEADER_BYTES)?;
    let Some(header) = Header::parse(&header) else {
        // One that is shorter has no frames yet.
        let frames = !fill(&mut log, FRAME_HEADER_BYTES)?.is_empty();
        return Ok(if frames { Log::Damaged(Damage::Header) } else { Log::Whole });
    };
    let mut running = Some(header.checksum);
    let mut behind = Behind::default();
    for number in 1.. {
        let frame = fill(&mut log, FRAME_HEADER_BYTES)?;
        if frame.len() < FRAME_HEADER_BYTES {
            break;
        }
        let page = fill(&mut log, header.page_bytes)?;
        let frame = Frame::parse(&frame);
        running = running.filter(|_| frame.salts == header.salts && frame.page > 0);
        running = running.map(|sum| header.sum(header.sum(sum, &frame.summed), &page));
        running = running.filter(|sum| page.len() == header.page_bytes && *sum == frame.checksum);
        match running {
            Some(_) if frame.commits => behind = Behind::default(),
            Some(_) => {}
            None if frame.salts == header.salts => behind.note(number, frame.commits),
            None => {}
        }
    }
    Ok(behind.log())
}

/// Frames of this log behind the last transaction that can be read.
#[derive(Default)]
struct Behind {
    from: Option<u64>,
    transactions: u64,
    /// Something stands behind a transaction that is marked as whole.
    more: bool,
}

impl Behind {
    fn note(&mut self, number: u64, commits: bool) {
        self.from = self.from.or(Some(number));
        self.more |= self.transactions > 0;
        self.transactions += u64::from(commits);
    }

    fn log(self) -> Log {
        match (self.from, self.transactions, self.more) {
            (None, _, _) | (Some(_), 0, _) => Log::Whole,
            (Some(_), _, false) => Log::Cut,
            (Some(from), transactions, true) => Log::Damaged(Damage::Frames { from, transactions }),
        }
    }
}

type Sum = (u32, u32);

struct Header {
    big_endian: bool,
    page_bytes: usize,
    salts: [u8; 8],
    checksum: Sum,
}

impl Header {
    /// `None`: SQLite will not take it.
    fn parse(bytes: &[u8]) -> Option<Header> {
        let word = |at: usize| number(bytes.get(at..at + 4)?);
        let magic = word(0)?;
        let page = word(8)?;
        let sound = magic & !1 == MAGIC
            && (PAGE_LEAST..=PAGE_MOST).contains(&page)
            && page.is_power_of_two();
        if !sound {
            return None;
        }
        let header = Header {
            big_endian: magic & 1 == 1,
            page_bytes: usize::try_from(page).ok()?,
            salts: bytes.get(16..24)?.try_into().ok()?,
            checksum: (word(24)?, word(28)?),
        };
        (header.sum((0, 0), bytes.get(..24)?) == header.checksum).then_some(header)
    }

    /// SQLite's checksum, carried on over these bytes.
    fn sum(&self, (mut one, mut two): Sum, bytes: &[u8]) -> Sum {
        let word = |bytes: [u8; 4]| match self.big_endian {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        };
        for &[a, b, c, d, e, f, g, h] in bytes.as_chunks().0 {
            one = one.wrapping_add(word([a, b, c, d])).wrapping_add(two);
            two = two.wrapping_add(word([e, f, g, h])).wrapping_add(one);
        }
        (one, two)
    }
}

struct Frame {
    page: u32,
    commits: bool,
    salts: [u8; 8],
    checksum: Sum,
    /// What goes into the checksum besides the page.
    summed: [u8; 8],
}

impl Frame {
    fn parse(bytes: &[u8]) -> Frame {
        let word = |at: usize| bytes.get(at..at + 4).and_then(number).unwrap_or(0);
        let eight = |at: usize| {
            let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
            eight.unwrap_or([0; 8])
        };
        Frame {
            page: word(0),
            commits: word(4) > 0,
            salts: eight(8),
            checksum: (word(16), word(20)),
            summed: eight(0),
        }
    }
}

fn number(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

/// So many bytes, or what is left.
fn fill(from: &mut impl Read, bytes: usize) -> io::Result<Vec<u8>> {
    let mut filled = Vec::with_capacity(bytes);
    from.take(bytes as u64).read_to_end(&mut filled)?;
    Ok(filled)
}
