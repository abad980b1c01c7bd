//! Models that run inside this process, from GGUF files, by llama.cpp.
//!
//! One thread owns the model. Answers that run at the same time are sequences of
//! one batch; further ones wait in order and are told their place.

mod decoder;
mod grammar;
mod loaded;
mod sequence;
mod template;
#[cfg(test)]
mod tests;
mod threads;
#[cfg(test)]
mod tiny;
mod worker;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};

use futures::stream::{self, BoxStream, StreamExt as _};
use plenary_domain::{Ask, FailureKind};
use plenary_engine::ports::{ModelError, Piece};
use tokio::sync::mpsc as pieces;

use crate::config::LocalModel;
use crate::failure::last;

/// Asks the thread that owns the model. It is started when it is first needed.
#[derive(Default)]
pub(crate) struct Local {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
}

/// One answer that is wanted.
pub(crate) struct Job {
    pub path: PathBuf,
    pub ask: Ask,
    /// Closed when nobody waits for the answer any more.
    pub pieces: pieces::UnboundedSender<Result<Piece, ModelError>>,
}

impl Local {
    pub(crate) fn ask(
        &self,
        model: Option<&LocalModel>,
        ask: Ask,
    ) -> BoxStream<'static, Result<Piece, ModelError>> {
        let result = model.ok_or_else(|| {
            let message = format!("There is no local model `{}`.", ask.model.parts().1);
            last(FailureKind::Misconfigured, message)
        });
        match result.and_then(|model| self.send(model, ask)) {
            Ok(pieces) => stream::unfold(pieces, |mut pieces| async move {
                let piece = pieces.recv().await?;
                Some((piece, pieces))
            })
            .boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    /// The channel needs no bound of its own: an answer has a limit in tokens.
    fn send(
        &self,
        model: &LocalModel,
        ask: Ask,
    ) -> Result<pieces::UnboundedReceiver<Result<Piece, ModelError>>, ModelError> {
        let (send, receive) = pieces::unbounded_channel();
        let job = Job { path: model.path.clone(), ask, pieces: send };
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let unsent = match jobs.as_ref() {
            Some(worker) => worker.send(job).err().map(|unsent| unsent.0),
            None => Some(job),
        };
        // The first time, or the thread has ended: a new one.
        if let Some(job) = unsent {
            let worker = worker::start().map_err(|error| {
                let message = format!("The local model's thread could not be started: {error}.");
                last(FailureKind::Misconfigured, message)
            })?;
            let _ = worker.send(job);
            *jobs = Some(worker);
        }
        Ok(receive)
    }
}

/// Whether this processor can run what was built.
pub(crate) fn processor_fits() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("fma")
            && std::arch::is_x86_feature_detected!("f16c")
            && std::arch::is_x86_feature_detected!("bmi2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        true
    }
}
