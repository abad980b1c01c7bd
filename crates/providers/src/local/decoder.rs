//! Decodes several answers at once: one batch, one sequence per answer.
//!
//! What has been read once is not read again: a sequence that has ended stays in memory until
//! its place is wanted, and a prompt that begins as one of the others does takes that beginning
//! over, also from one that runs beside it.

use std::num::NonZeroU32;

use llama_cpp_2::DecodeError;
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use plenary_domain::{FailureKind, limits};

use super::Job;
use super::loaded::Loaded;
use super::sequence::{self, Sequence, Went};
use crate::failure::last;

/// Tokens of prompts that are read in one step.
const BATCH: usize = 256;
/// The same while others answer, whose streams would stand still meanwhile.
const BESIDE: usize = 64;
/// A shorter beginning is not worth waiting for.
const SHARED_LEAST: usize = 16;

/// How a decoder works.
pub struct Manner {
    pub threads: usize,
    /// Whether prompts share their beginnings.
    pub shares: bool,
    pub sampler: fn(&Loaded<'_>, Option<f64>) -> LlamaSampler,
}

impl Manner {
    pub fn usual(threads: usize) -> Manner {
        Manner { threads, shares: true, sampler: sequence::sampler }
    }
}

pub struct Decoder<'a> {
    loaded: &'a Loaded<'a>,
    context: LlamaContext<'a>,
    batch: LlamaBatch<'a>,
    manner: Manner,
    /// One per sequence of the context.
    places: Vec<Place>,
    /// The next one to come in, while there is no room for it.
    held: Option<Sequence>,
    /// Counts sequences that were taken in.
    tickets: u64,
    /// Tokens that were read, and those that were taken over instead.
    pub read: usize,
    pub shared: usize,
}

struct Place {
    state: State,
    /// Which sequence is or was here.
    ticket: u64,
    /// Cells that belong to this sequence alone, and those that it shares with another.
    own: usize,
    lent: Option<(u64, usize)>,
}

enum State {
    Free,
    Busy(Box<Sequence>),
    /// It waits until the sequence in another place has read what both begin with.
    Following(Box<Sequence>, Source),
    /// It is over; these tokens are still in memory.
    Kept(Vec<LlamaToken>),
}

/// Where the beginning of a prompt can be had.
#[derive(Clone, Copy)]
struct Source {
    place: usize,
    ticket: u64,
    tokens: usize,
}

impl<'a> Decoder<'a> {
    pub fn new(loaded: &'a Loaded<'a>, manner: Manner) -> Result<Self, String> {
        let places = limits::LOCAL_SEQUENCES + limits::LOCAL_KEPT;
        let threads = manner.threads as i32;
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(loaded.room.cells as u32))
            .with_n_seq_max(places as u32)
            .with_n_batch(BATCH as u32)
            .with_n_ubatch(BATCH as u32)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            // One memory for all, so that a short answer leaves room to a long one, and
            // a beginning is shared without a copy.
            .with_kv_unified(true)
            // Layers that look back only a little would forget beginnings otherwise.
            .with_swa_full(true)
            .with_no_perf(true);
        let context = loaded
            .model
            .new_context(loaded.backend, parameters)
            .map_err(|error| format!("There is not enough memory for this model: {error}."))?;
        let free = || Place { state: State::Free, ticket: 0, own: 0, lent: None };
        Ok(Decoder {
            loaded,
            context,
            batch: LlamaBatch::new(BATCH, 1),
            manner: Manner { shares: manner.shares && loaded.can_share(), ..manner },
            places: (0..places).map(|_| free()).collect(),
            held: None,
            tickets: 0,
            read: 0,
            shared: 0,
        })
    }

    pub fn is_idle(&self) -> bool {
        self.held.is_none() && self.running() == 0
    }

    pub fn has_room(&self) -> bool {
        self.held.is_none() && self.running() < limits::LOCAL_SEQUENCES
    }

    /// Who waits for memory.
    pub fn held(&self) -> Option<&Sequence> {
        self.held.as_ref()
    }

    fn running(&self) -> usize {
        self.places.iter().filter(|place| place.sequence().is_some()).count()
    }

    /// Takes a job in, or tells it at once why not.
    pub fn admit(&mut self, job: Job) {
        let pieces = job.pieces.clone();
        let sampler = (self.manner.sampler)(self.loaded, job.ask.temperature);
        match Sequence::new(self.loaded, job, sampler) {
            Ok(sequence) => self.seat(sequence),
            Err(error) => drop(pieces.send(Err(error))),
        }
    }

    /// Gives a sequence a place, once there is memory for all that it may come to.
    fn seat(&mut self, sequence: Sequence) {
        let source = self.source(&sequence);
        let lent = source.map(|source| (source.ticket, source.tokens));
        let own = sequence.need() - lent.map_or(0, |(_, tokens)| tokens);
        while self.used() + own > self.loaded.room.cells {
            let oldest = self.oldest_kept(source.map(|source| source.ticket));
            // The last one to go is the one that would have been of use.
            match oldest.or_else(|| self.oldest_kept(None)) {
                Some(place) => self.free(place),
                None => {
                    self.held = Some(sequence);
                    return;
                }
            }
        }
        let source = source.filter(|source| self.places[source.place].ticket == source.ticket);
        let is_free = |place: &Place| matches!(place.state, State::Free);
        let place = self.places.iter().position(is_free).or_else(|| {
            self.oldest_kept(source.map(|source| source.ticket)).inspect(|place| self.free(*place))
        });
        let Some(place) = place else {
            self.held = Some(sequence);
            return;
        };
        self.tickets += 1;
        let (own, lent) = match source {
            Some(_) => (own, lent),
            None => (sequence.need(), None),
        };
        let sequence = Box::new(sequence);
        let state = match source {
            Some(source) => State::Following(sequence, source),
            None => State::Busy(sequence),
        };
        self.places[place] = Place { state, ticket: self.tickets, own, lent };
    }

    /// The place whose sequence begins as this prompt does, for as long as possible. The last
    /// token of a prompt has to be read in any case: it is what the answer begins from.
    fn source(&self, sequence: &Sequence) -> Option<Source> {
        let prompt = sequence.prompt();
        let prompt = &prompt[..prompt.len() - 1];
        let source = |(place, one): (usize, &Place)| {
            let tokens = match &one.state {
                State::Free => return None,
                State::Kept(tokens) => tokens,
                State::Busy(other) | State::Following(other, _) => other.known().0,
            };
            let same = tokens.iter().zip(prompt).take_while(|(one, other)| one == other).count();
            Some(Source { place, ticket: one.ticket, tokens: same })
        };
        let all = self.places.iter().enumerate().filter_map(source);
        let best = all.max_by_key(|source| source.tokens).filter(|_| self.manner.shares);
        best.filter(|source| source.tokens >= SHARED_LEAST)
    }

    fn used(&self) -> usize {
        self.places.iter().map(|place| place.own).sum()
    }

    fn oldest_kept(&self, but: Option<u64>) -> Option<usize> {
        let kept = self.places.iter().enumerate().filter(|(_, place)| {
            matches!(place.state, State::Kept(_)) && Some(place.ticket) != but
        });
        kept.min_by_key(|(_, place)| place.ticket).map(|(place, _)| place)
    }

    /// One step: a token more for every answer that runs, and as much of waiting
    /// prompts as fits beside them.
    pub fn step(&mut self) {
        self.drop_abandoned();
        if let Some(sequence) = self.held.take() {
            self.seat(sequence);
        }
        self.take_over();
        self.batch.clear();
        let answering = |place: &Place| matches!(&place.state, State::Busy(s) if !s.is_reading());
        let mut room = BATCH;
        // Those that answer already come first; nobody's stream stands still.
        for reading in [false, true] {
            if reading && self.places.iter().any(answering) {
                room = room.min(BESIDE);
            }
            for (id, place) in self.places.iter_mut().enumerate() {
                if let State::Busy(sequence) = &mut place.state
                    && sequence.is_reading() == reading
                {
                    let filled = sequence.fill(&mut self.batch, id as i32, room);
                    room -= filled;
                    self.read += if reading { filled } else { 0 };
                }
            }
        }
        if self.batch.n_tokens() == 0 {
            return;
        }
        if let Err(error) = self.decode() {
            self.fail_all(&format!("The local model failed: {error}."));
            return;
        }
        for id in 0..self.places.len() {
            let State::Busy(sequence) = &mut self.places[id].state else { continue };
            match sequence.advance(self.loaded, &self.context) {
                Went::On => {}
                Went::Over => self.keep(id),
            }
        }
    }

    /// What is kept gives way where the memory is full after all.
    fn decode(&mut self) -> Result<(), DecodeError> {
        loop {
            match self.context.decode(&mut self.batch) {
                Err(DecodeError::NoKvCacheSlot) if self.oldest_kept(None).is_some() => {
                    let oldest = self.oldest_kept(None);
                    oldest.into_iter().for_each(|place| self.free(place));
                }
                other => return other,
            }
        }
    }

    /// Beginnings that others have read by now.
    fn take_over(&mut self) {
        for id in 0..self.places.len() {
            let State::Following(_, source) = &self.places[id].state else { continue };
            let source = *source;
            let ready = match &self.places[source.place] {
                place if place.ticket != source.ticket => None,
                Place { state: State::Kept(tokens), .. } => Some(tokens.len()),
                Place { state: State::Busy(other) | State::Following(other, _), .. } => {
                    let (_, read) = other.known();
                    if read < source.tokens && !other.is_abandoned() {
                        continue;
                    }
                    Some(read)
                }
                Place { state: State::Free, .. } => None,
            };
            // Where the other one is gone, or has not come so far, the rest is read.
            let tokens = ready.map_or(0, |read| read.min(source.tokens));
            let (from, end) = (source.place as i32, Some(tokens as u32));
            let copied =
                tokens > 0 && self.context.copy_kv_cache_seq(from, id as i32, Some(0), end).is_ok();
            let place = &mut self.places[id];
            let State::Following(mut sequence, _) =
                std::mem::replace(&mut place.state, State::Free)
            else {
                continue;
            };
            let tokens = if copied { tokens } else { 0 };
            sequence.skip(tokens);
            self.shared += tokens;
            place.own = sequence.need() - tokens;
            place.lent = copied.then_some((source.ticket, tokens));
            place.state = State::Busy(sequence);
        }
    }

    /// Nobody waits for these any more: decoding them stops here.
    fn drop_abandoned(&mut self) {
        self.held = self.held.take().filter(|sequence| !sequence.is_abandoned());
        for id in 0..self.places.len() {
            if self.places[id].sequence().is_some_and(Sequence::is_abandoned) {
                self.keep(id);
            }
        }
    }

    fn fail_all(&mut self, message: &str) {
        for id in 0..self.places.len() {
            if let Some(sequence) = self.places[id].sequence() {
                sequence.fail(last(FailureKind::Unreachable, message.to_owned()));
            }
            self.free(id);
        }
    }

    /// What it has read stays for others, as long as there is room.
    fn keep(&mut self, id: usize) {
        let place = &mut self.places[id];
        let tokens = match std::mem::replace(&mut place.state, State::Free) {
            State::Busy(sequence) if self.manner.shares => sequence.into_known(),
            State::Busy(_) | State::Following(..) | State::Kept(_) | State::Free => {
                return self.free(id);
            }
        };
        place.own = tokens.len() - place.lent.map_or(0, |(_, lent)| lent.min(tokens.len()));
        place.state = State::Kept(tokens);
    }

    fn free(&mut self, id: usize) {
        let ticket = self.places[id].ticket;
        self.places[id] = Place { state: State::Free, ticket: 0, own: 0, lent: None };
        let _ = self.context.clear_kv_cache_seq(Some(id as u32), None, None);
        // What others had from it is theirs now.
        for place in &mut self.places {
            if let Some((_, tokens)) = place.lent.take_if(|(lender, _)| *lender == ticket) {
                place.own += tokens;
            }
        }
    }
}

impl Place {
    fn sequence(&self) -> Option<&Sequence> {
        match &self.state {
            State::Busy(sequence) | State::Following(sequence, _) => Some(sequence),
            State::Free | State::Kept(_) => None,
        }
    }
}
