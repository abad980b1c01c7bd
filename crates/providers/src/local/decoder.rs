//! Decodes several answers at once: one batch, one sequence per answer.

use std::num::NonZeroU32;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use plenary_domain::{FailureKind, limits};

use super::Job;
use super::loaded::Loaded;
use super::sequence::{Sequence, Went};
use crate::failure::last;

/// Tokens of prompts that are read in one step. Smaller steps let answers that
/// are already running go on in between.
const BATCH: usize = 256;

pub struct Decoder<'a> {
    loaded: &'a Loaded<'a>,
    context: LlamaContext<'a>,
    batch: LlamaBatch<'a>,
    /// A place per sequence of the context.
    places: Vec<Option<Sequence>>,
    /// Tokens that one sequence may have, prompt and answer together.
    window: usize,
}

impl<'a> Decoder<'a> {
    pub fn new(loaded: &'a Loaded<'a>) -> Result<Self, String> {
        let window = (loaded.model.n_ctx_train() as usize).min(limits::LOCAL_WINDOW_TOKENS);
        // A larger model remembers more per token, so fewer answers run at once.
        let fit = limits::LOCAL_MEMORY_BYTES / (window * loaded.token_bytes()).max(1);
        let sequences = fit.clamp(1, limits::LOCAL_SEQUENCES);
        let threads = threads();
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new((window * sequences) as u32))
            .with_n_seq_max(sequences as u32)
            .with_n_batch(BATCH as u32)
            .with_n_ubatch(BATCH as u32)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_kv_unified(false)
            .with_no_perf(true);
        let context = loaded
            .model
            .new_context(loaded.backend, parameters)
            .map_err(|error| format!("There is not enough memory for this model: {error}."))?;
        Ok(Decoder {
            loaded,
            context,
            batch: LlamaBatch::new(BATCH, 1),
            places: (0..sequences).map(|_| None).collect(),
            window,
        })
    }

    pub fn is_idle(&self) -> bool {
        self.places.iter().all(Option::is_none)
    }

    pub fn has_room(&self) -> bool {
        self.places.iter().any(Option::is_none)
    }

    /// Takes a job in, or tells it at once why not.
    pub fn admit(&mut self, job: Job) {
        match Sequence::new(self.loaded, job.ask, job.pieces.clone(), self.window) {
            Ok(sequence) => {
                if let Some(place) = self.places.iter_mut().find(|place| place.is_none()) {
                    *place = Some(sequence);
                }
            }
            Err(error) => drop(job.pieces.send(Err(error))),
        }
    }

    /// One step: a token more for every answer that runs, and as much of waiting
    /// prompts as fits beside them.
    pub fn step(&mut self) {
        self.drop_abandoned();
        self.batch.clear();
        let mut room = BATCH;
        // Those that answer already come first; nobody's stream stands still.
        for reading in [false, true] {
            for (id, place) in self.places.iter_mut().enumerate() {
                if let Some(sequence) = place.as_mut().filter(|s| s.is_reading() == reading) {
                    room -= sequence.fill(&mut self.batch, id as i32, room);
                }
            }
        }
        if self.batch.n_tokens() == 0 {
            return;
        }
        if let Err(error) = self.context.decode(&mut self.batch) {
            self.fail_all(&format!("The local model failed: {error}."));
            return;
        }
        for id in 0..self.places.len() {
            let Some(sequence) = self.places[id].as_mut() else { continue };
            match sequence.advance(self.loaded, &self.context) {
                Went::On => {}
                Went::Over => self.free(id),
            }
        }
    }

    /// Nobody waits for these any more: decoding them stops here.
    fn drop_abandoned(&mut self) {
        for id in 0..self.places.len() {
            if self.places[id].as_ref().is_some_and(Sequence::is_abandoned) {
                self.free(id);
            }
        }
    }

    fn fail_all(&mut self, message: &str) {
        for id in 0..self.places.len() {
            if let Some(sequence) = &self.places[id] {
                sequence.fail(last(FailureKind::Unreachable, message.to_owned()));
            }
            self.free(id);
        }
    }

    fn free(&mut self, id: usize) {
        self.places[id] = None;
        let _ = self.context.clear_kv_cache_seq(Some(id as u32), None, None);
    }
}

/// One core is left to others: the engine's threads wait for each other by
/// spinning, and one that has lost its core holds all of them up.
fn threads() -> i32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = std::env::var("PLENARY_LOCAL_THREADS").ok().and_then(|n| n.parse().ok());
    wanted.unwrap_or(cores.saturating_sub(1).clamp(1, 16)) as i32
}
