//! Names that were looked up, with their sessions: whoever comes with a name
//! comes with it again.
//!
//! A name never means another session, so a pair that is known is right. A lookup
//! that a removal overtakes may leave its pair behind; the session then answers
//! that it is not there.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use plenary_domain::{SessionId, limits};

#[derive(Default)]
pub(crate) struct Names {
    /// By kind and name.
    known: Mutex<HashMap<(String, String), SessionId>>,
}

impl Names {
    pub fn get(&self, kind: &str, name: &str) -> Option<SessionId> {
        self.lock().get(&(kind.to_owned(), name.to_owned())).copied()
    }

    pub fn keep(&self, kind: &str, name: &str, id: SessionId) {
        let mut known = self.lock();
        // Rare, and cheaper than to know which one was used last.
        if known.len() >= limits::NAMES_KNOWN {
            known.clear();
        }
        known.insert((kind.to_owned(), name.to_owned()), id);
    }

    pub fn forget(&self, id: SessionId) {
        self.lock().retain(|_, known| *known != id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), SessionId>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> SessionId {
        SessionId(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn what_is_kept_is_known_until_it_is_removed() {
        let names = Names::default();
        names.keep("one kind", "plan", id(1));
        names.keep("another", "plan", id(2));
        assert_eq!(names.get("one kind", "plan"), Some(id(1)));
        assert_eq!(names.get("another", "plan"), Some(id(2)));
        assert_eq!(names.get("another", "Plan"), None);
        names.forget(id(1));
        assert_eq!(names.get("one kind", "plan"), None);
        assert_eq!(names.get("another", "plan"), Some(id(2)));
    }

    #[test]
    fn no_more_names_are_kept_than_the_limit() {
        let names = Names::default();
        for number in 0..=limits::NAMES_KNOWN {
            names.keep("one kind", &number.to_string(), id(number as u128));
            assert!(names.lock().len() <= limits::NAMES_KNOWN);
        }
        let last = limits::NAMES_KNOWN;
        assert_eq!(names.get("one kind", &last.to_string()), Some(id(last as u128)));
    }
}
