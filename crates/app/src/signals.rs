//! The signals by which this process is told to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::api::ApiError;

/// Ctrl-C, a request to end, and a terminal that is gone: all mean the same.
pub struct Interrupt(Vec<Signal>);

impl Interrupt {
    /// From now on. Listened for before a session is opened, so that one which comes
    /// in the first moments stops the session and not only this program.
    pub fn listen() -> Result<Interrupt, ApiError> {
        let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
        if !hang_up_is_ignored() {
            kinds.push(SignalKind::hangup());
        }
        let signals: Result<Vec<Signal>, _> = kinds.into_iter().map(signal).collect();
        signals.map(Interrupt).map_err(|error| {
            ApiError::new("internal", format!("Ctrl-C cannot be listened for: {error}"))
        })
    }

    /// Resolves with the next one. One that comes while nobody waits is kept.
    pub async fn recv(&mut self) {
        let next = self.0.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures::future::select_all(next).await;
    }
}

/// Whoever started this process by `nohup` wants it to outlive the terminal.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let hang_up = 1 << (SignalKind::hangup().as_raw_value() - 1);
    ignored.is_some_and(|mask| mask & hang_up != 0)
}
