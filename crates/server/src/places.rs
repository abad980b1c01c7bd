//! Places, of which there are only so many: connections, clients of Socket.IO, sessions
//! of MCP.
//!
//! Somebody gives way to whoever comes: first those who have not shown a token, then
//! those who ask for nothing just now, and of these the one for whom that has been so
//! for longest. So places are neither used up by strangers nor held by the silent. Some
//! are kept for newcomers, because one has to get in before one can show anything.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plenary_domain::limits;

/// How many this server holds at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    pub connections: usize,
    pub socket_clients: usize,
    pub mcp_sessions: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        Capacity {
            connections: limits::CONNECTIONS,
            socket_clients: limits::SOCKETS,
            mcp_sessions: limits::MCP_SESSIONS,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Has not shown that it may come in.
    Stranger,
    /// Has, and asks for nothing just now.
    Idle,
    Busy,
}

/// Whoever holds a place.
pub trait Holder: Send {
    /// Its place is somebody else's already.
    fn give_way(self);
}

/// Everybody is busy who is here.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

pub struct Places<T> {
    most: usize,
    most_strangers: usize,
    kept_for_newcomers: usize,
    rows: Mutex<Rows<T>>,
}

/// By standing, in the order in which it was taken up.
struct Rows<T> {
    next: u64,
    strangers: BTreeMap<u64, T>,
    idle: BTreeMap<u64, T>,
    busy: BTreeMap<u64, T>,
}

/// One place. Dropping it frees it.
pub struct Place<T: Holder> {
    places: Arc<Places<T>>,
    at: Mutex<(Standing, u64)>,
}

impl<T: Holder> Places<T> {
    /// Where some come as strangers.
    pub fn new(most: usize) -> Arc<Self> {
        let newcomers = (most / limits::NEWCOMERS_PART).clamp(1, limits::NEWCOMERS);
        let strangers = (most / limits::STRANGERS_PART).clamp(newcomers, limits::STRANGERS);
        Self::with(most, strangers, newcomers)
    }

    /// Where everybody has shown a token before.
    pub fn without_strangers(most: usize) -> Arc<Self> {
        Self::with(most, 0, 0)
    }

    fn with(most: usize, most_strangers: usize, kept_for_newcomers: usize) -> Arc<Self> {
        let (strangers, idle, busy) = Default::default();
        let rows = Mutex::new(Rows { next: 0, strangers, idle, busy });
        Arc::new(Places { most, most_strangers, kept_for_newcomers, rows })
    }

    pub fn take(self: &Arc<Self>, standing: Standing, holder: T) -> Result<Place<T>, Full> {
        let mut rows = self.lock();
        let gone = self.make_room(&mut rows, standing)?;
        let at = rows.add(standing, holder);
        drop(rows);
        give_way(gone);
        Ok(Place { places: self.clone(), at: Mutex::new((standing, at)) })
    }

    /// When something else than places is short: the next one gives way, if any can.
    pub fn free_one(&self) {
        let mut rows = self.lock();
        let gone = rows.strangers.pop_first().or_else(|| rows.idle.pop_first());
        drop(rows);
        give_way(gone.map(|(_, holder)| holder));
    }

    /// Takes out whoever has to go for one more of this standing.
    fn make_room(&self, rows: &mut Rows<T>, standing: Standing) -> Result<Option<T>, Full> {
        let known = rows.idle.len() + rows.busy.len();
        let all_taken = known + rows.strangers.len() >= self.most;
        let row = match standing {
            Standing::Stranger if all_taken || rows.strangers.len() >= self.most_strangers => {
                &mut rows.strangers
            }
            Standing::Idle | Standing::Busy if known + self.kept_for_newcomers >= self.most => {
                &mut rows.idle
            }
            Standing::Idle | Standing::Busy if all_taken => &mut rows.strangers,
            Standing::Stranger | Standing::Idle | Standing::Busy => return Ok(None),
        };
        row.pop_first().map(|(_, holder)| Some(holder)).ok_or(Full)
    }

    fn lock(&self) -> MutexGuard<'_, Rows<T>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Rows<T> {
    fn of(&mut self, standing: Standing) -> &mut BTreeMap<u64, T> {
        match standing {
            Standing::Stranger => &mut self.strangers,
            Standing::Idle => &mut self.idle,
            Standing::Busy => &mut self.busy,
        }
    }

    fn add(&mut self, standing: Standing, holder: T) -> u64 {
        self.next += 1;
        let at = self.next;
        self.of(standing).insert(at, holder);
        at
    }
}

impl<T: Holder> Place<T> {
    /// Takes up another standing, or the same one anew. Where that is not possible, the
    /// old one stays. One that has given way has none any more.
    pub fn change(&self, to: Standing) -> Result<(), Full> {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = self.places.lock();
        let (from, number) = *at;
        let holder = rows.of(from).remove(&number).ok_or(Full)?;
        // Idle and busy are the same to whoever counts.
        let moves = from == Standing::Stranger || to == Standing::Stranger;
        let room = if moves { self.places.make_room(&mut rows, to) } else { Ok(None) };
        let gone = match room {
            Ok(gone) => gone,
            Err(full) => {
                rows.of(from).insert(number, holder);
                return Err(full);
            }
        };
        *at = (to, rows.add(to, holder));
        drop(rows);
        give_way(gone);
        Ok(())
    }

    /// What was asked for is done.
    pub fn rest(&self) {
        let is_busy = self.at.lock().unwrap_or_else(PoisonError::into_inner).0 == Standing::Busy;
        if is_busy {
            // One that has given way meanwhile needs nothing any more.
            let _ = self.change(Standing::Idle);
        }
    }
}

impl<T: Holder> Drop for Place<T> {
    fn drop(&mut self) {
        let (standing, number) = *self.at.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.places.lock().of(standing).remove(&number);
    }
}

/// Never under the lock: whoever goes may drop its place at once.
fn give_way<T: Holder>(gone: Option<T>) {
    if let Some(holder) = gone {
        holder.give_way();
    }
}

#[cfg(test)]
mod tests {
    use super::Standing::{Busy, Stranger};
    use super::*;

    type Gone = Arc<Mutex<Vec<&'static str>>>;

    struct Named(&'static str, Gone);

    impl Holder for Named {
        fn give_way(self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    struct Case {
        places: Arc<Places<Named>>,
        gone: Gone,
    }

    fn case(places: Arc<Places<Named>>) -> Case {
        Case { places, gone: Arc::default() }
    }

    impl Case {
        fn take(&self, standing: Standing, name: &'static str) -> Result<Place<Named>, Full> {
            self.places.take(standing, Named(name, self.gone.clone()))
        }

        /// Who gave way since this was last asked.
        fn gone(&self) -> Vec<&'static str> {
            std::mem::take(&mut self.gone.lock().unwrap())
        }
    }

    #[test]
    fn the_oldest_stranger_gives_way() {
        // 16 places: 4 for strangers, of whom one can always come.
        let case = case(Places::new(16));
        let strangers = ["a", "b", "c", "d"].map(|name| case.take(Stranger, name).unwrap());
        assert!(case.gone().is_empty());
        // What one asks for anew makes it the last to go.
        strangers[0].change(Stranger).unwrap();
        assert_eq!(case.gone(), [""; 0]);
        let e = case.take(Stranger, "e").unwrap();
        assert_eq!(case.gone(), ["b"]);
        assert_eq!(strangers[1].change(Busy), Err(Full), "its place is gone");
        // Whoever has shown a token is out of reach of strangers.
        e.change(Busy).unwrap();
        for name in ["f", "g", "h", "i"] {
            std::mem::forget(case.take(Stranger, name).unwrap());
        }
        assert_eq!(case.gone(), ["c", "d", "a"]);
        e.rest();
        std::mem::forget(case.take(Stranger, "j").unwrap());
        assert_eq!(case.gone(), ["f"]);
    }

    #[test]
    fn the_longest_idle_gives_way_to_the_known_and_one_place_stays_for_newcomers() {
        let case = case(Places::new(16));
        let known: Vec<_> = (0..15).map(|_| case.take(Busy, "known").unwrap()).collect();
        let comes = case.take(Stranger, "comes").unwrap();
        assert_eq!(comes.change(Busy), Err(Full));
        assert!(case.gone().is_empty());
        known[3].rest();
        known[1].rest();
        known[3].change(Busy).unwrap();
        comes.change(Busy).unwrap();
        assert_eq!(case.gone(), ["known"]);
        assert_eq!(known[1].change(Busy), Err(Full), "it was the idle one");
        let again = case.take(Stranger, "again").unwrap();
        assert_eq!(again.change(Busy), Err(Full));
        drop(known);
        again.change(Busy).unwrap();
        assert!(case.gone().is_empty());
    }

    #[test]
    fn sessions_of_the_known_are_all_that_there_is() {
        let case = case(Places::without_strangers(2));
        let one = case.take(Busy, "one").unwrap();
        let _two = case.take(Busy, "two").unwrap();
        assert!(case.take(Busy, "three").is_err());
        one.rest();
        let _three = case.take(Busy, "three").unwrap();
        assert_eq!(case.gone(), ["one"]);
        case.places.free_one();
        assert!(case.gone().is_empty(), "nobody is idle");
    }
}
