//! A bound on guessing: how many wrong tokens may be typed.
//!
//! It counts for the whole server and not for each address, which costs nothing to
//! change. It stands where people type a token, and nowhere else: whoever has proved
//! itself, or sends a token with each request, is not kept out by somebody who guesses.

use std::sync::{Mutex, PoisonError};

use plenary_domain::limits;

use crate::error::{Code, Problem};

/// The wrong tokens that still count, by the time when the last of them is forgiven.
#[derive(Default)]
pub struct Tries(Mutex<u64>);

impl Tries {
    /// Compares a token, if that may be done now.
    pub fn take<T>(&self, now_ms: u64, compare: impl FnOnce() -> Option<T>) -> Result<T, Problem> {
        let mut forgiven_ms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full_ms = u64::from(limits::WRONG_TOKENS - 1) * limits::WRONG_TOKEN_MS;
        let over_ms = forgiven_ms.saturating_sub(now_ms + full_ms);
        if over_ms > 0 {
            let seconds = over_ms.div_ceil(1_000);
            return Err(Problem::new(Code::TooManyTries, "Too many wrong tokens were tried.")
                .hint(format!("Try again in {seconds} seconds."))
                .retry_after(seconds));
        }
        let found = compare();
        *forgiven_ms = match found {
            Some(_) => 0,
            None => (*forgiven_ms).max(now_ms) + limits::WRONG_TOKEN_MS,
        };
        found.ok_or_else(|| {
            Problem::new(Code::Unauthorized, "This is not a token of this server.")
                .hint("It is the value of PLENARY_TOKEN, which whoever runs the server has set.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<(), Problem>) -> Result<(), String> {
        result.map_err(|problem| problem.to_string().split(':').next().unwrap().to_owned())
    }

    #[test]
    fn wrong_tokens_are_bounded_and_forgiven() {
        let tries = Tries::default();
        let wrong = |now_ms| code(tries.take(now_ms, || None));
        let right = |now_ms| code(tries.take(now_ms, || Some(())));
        for _ in 0..limits::WRONG_TOKENS {
            assert_eq!(wrong(5), Err("unauthorized".into()));
        }
        // Not even the right one is compared now.
        let soon = 5 + limits::WRONG_TOKEN_MS;
        for now_ms in [5, soon - 1] {
            assert_eq!(wrong(now_ms), Err("too-many-tries".into()));
            assert_eq!(right(now_ms), Err("too-many-tries".into()));
        }
        assert_eq!(wrong(soon), Err("unauthorized".into()));
        assert_eq!(wrong(soon), Err("too-many-tries".into()));
        let later = soon + limits::WRONG_TOKEN_MS;
        assert_eq!(right(later), Ok(()));
        // A right one ends the row.
        for _ in 0..limits::WRONG_TOKENS {
            assert_eq!(wrong(later), Err("unauthorized".into()));
        }
        assert_eq!(wrong(later), Err("too-many-tries".into()));
        // After a long time all are forgiven, and no more than all.
        let long = later + 100 * limits::WRONG_TOKEN_MS;
        for _ in 0..limits::WRONG_TOKENS {
            assert_eq!(wrong(long), Err("unauthorized".into()));
        }
        assert_eq!(wrong(long), Err("too-many-tries".into()));
    }
}
