//! A bound on guessing: how many wrong tokens may be typed.
//!
//! It counts for each address, so that nobody is kept out by somebody elsewhere who
//! guesses. For all addresses together there is a much larger bound, beyond which every
//! answer takes longer and none is refused. It stands where people type a token, and
//! nowhere else: whoever has proved itself, or sends a token with each request, does not
//! pass here.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use plenary_domain::limits;

use crate::error::{Code, Problem};
use crate::listen::Peer;

/// What counts as one address: of IPv6 the network, because whoever has one address of
/// it has all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Source(IpAddr);

impl Source {
    /// Where a request comes from. The address before the last comes from a header that
    /// anybody can write, so it is believed of known proxies and of this machine only.
    pub fn of(peer: Option<&Peer>, proxies: &[IpAddr], headers: &HeaderMap) -> Source {
        let Some(peer) = peer else { return Source(Ipv4Addr::LOCALHOST.into()) };
        let near = peer.address.to_canonical();
        let is_proxy = near.is_loopback() || proxies.contains(&near);
        Source::network(forwarded(headers).filter(|_| is_proxy).unwrap_or(near))
    }

    fn network(address: IpAddr) -> Source {
        match address.to_canonical() {
            IpAddr::V4(address) => Source(address.into()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Source(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
        }
    }
}

/// The last one is what the proxy itself has seen.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").into_iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

/// The wrong tokens that still count, by the time when the last of them is forgiven.
#[derive(Default)]
pub struct Tries(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    by_address: BTreeMap<Source, u64>,
    all_forgiven_ms: u64,
}

impl Tries {
    /// How long to wait before a token is compared.
    pub fn pause(&self, now_ms: u64) -> Duration {
        let row = u64::from(limits::WRONG_TOKENS_ALL - 1) * limits::WRONG_TOKEN_ALL_MS;
        let over_ms = self.lock().all_forgiven_ms.saturating_sub(now_ms + row);
        Duration::from_millis(over_ms.min(limits::WRONG_TOKEN_WAIT_MS))
    }

    /// Compares a token, if that may be done now.
    pub fn take<T>(
        &self,
        from: Source,
        now_ms: u64,
        compare: impl FnOnce() -> Option<T>,
    ) -> Result<T, Problem> {
        let mut counted = self.lock();
        let forgiven_ms = counted.by_address.get(&from).copied().unwrap_or_default();
        let row_ms = u64::from(limits::WRONG_TOKENS - 1) * limits::WRONG_TOKEN_MS;
        let over_ms = forgiven_ms.saturating_sub(now_ms + row_ms);
        if over_ms > 0 {
            let seconds = over_ms.div_ceil(1_000);
            let problem = "Too many wrong tokens from this address.";
            return Err(Problem::new(Code::TooManyTries, problem)
                .hint(format!("Try again in {seconds} seconds."))
                .retry_after(seconds));
        }
        if let Some(found) = compare() {
            counted.by_address.remove(&from);
            return Ok(found);
        }
        counted.remember(from, forgiven_ms.max(now_ms) + limits::WRONG_TOKEN_MS, now_ms);
        Err(Problem::new(Code::Unauthorized, "That is not this server's access token.")
            .hint("It is the value of PLENARY_TOKEN, set by the person who runs the server."))
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn remember(&mut self, from: Source, forgiven_ms: u64, now_ms: u64) {
        self.all_forgiven_ms = self.all_forgiven_ms.max(now_ms) + limits::WRONG_TOKEN_ALL_MS;
        let known = &mut self.by_address;
        if known.len() >= limits::WRONG_TOKEN_ADDRESSES && !known.contains_key(&from) {
            known.retain(|_, until_ms| *until_ms > now_ms);
        }
        if known.len() >= limits::WRONG_TOKEN_ADDRESSES && !known.contains_key(&from) {
            // The one who would be forgiven first.
            let first = known.iter().min_by_key(|(_, until_ms)| **until_ms);
            if let Some(first) = first.map(|(from, _)| *from) {
                known.remove(&first);
            }
        }
        known.insert(from, forgiven_ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<(), Problem>) -> Result<(), String> {
        result.map_err(|problem| problem.to_string().split(':').next().unwrap().to_owned())
    }

    fn at(address: &str) -> Source {
        Source::network(address.parse().unwrap())
    }

    #[test]
    fn wrong_tokens_are_bounded_and_forgiven() {
        let tries = Tries::default();
        let here = at("192.0.2.1");
        let wrong = |now_ms| code(tries.take(here, now_ms, || None));
        let right = |now_ms| code(tries.take(here, now_ms, || Some(())));
        for _ in 0..limits::WRONG_TOKENS {
            assert_eq!(wrong(5), Err("unauthorized".into()));
        }
        // Not even the right one is compared now.
        let soon = 5 + limits::WRONG_TOKEN_MS;
        for now_ms in [5, soon - 1] {
            assert_eq!(wrong(now_ms), Err("too-many-tries".into()));
            assert_eq!(right(now_ms), Err("too-many-tries".into()));
        }
        // Elsewhere it is.
        assert_eq!(code(tries.take(at("192.0.2.2"), 5, || Some(()))), Ok(()));
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

    #[test]
    fn guesses_from_everywhere_slow_all_down_and_keep_nobody_out() {
        let tries = Tries::default();
        let guess = |number: u32| {
            let address = Source::network(Ipv4Addr::from_bits(number).into());
            code(tries.take(address, 0, || None))
        };
        for number in 0..limits::WRONG_TOKENS_ALL {
            assert_eq!(tries.pause(0), Duration::ZERO, "{number}");
            assert_eq!(guess(number), Err("unauthorized".into()));
        }
        assert_eq!(tries.pause(0), Duration::from_millis(limits::WRONG_TOKEN_ALL_MS));
        for number in 0..2 * limits::WRONG_TOKEN_ADDRESSES as u32 {
            assert_eq!(guess(limits::WRONG_TOKENS_ALL + number), Err("unauthorized".into()));
        }
        assert_eq!(tries.lock().by_address.len(), limits::WRONG_TOKEN_ADDRESSES);
        let most = Duration::from_millis(limits::WRONG_TOKEN_WAIT_MS);
        assert_eq!(tries.pause(0), most);
        assert_eq!(code(tries.take(at("192.0.2.1"), 0, || Some(()))), Ok(()));
        let all_ms = 10_000 * limits::WRONG_TOKEN_ALL_MS;
        assert_eq!(tries.pause(all_ms), Duration::ZERO);
    }

    #[test]
    fn a_network_counts_as_one_address() {
        for (one, other, same) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ] {
            assert_eq!(at(one) == at(other), same, "{one} {other}");
        }
    }

    #[test]
    fn a_header_is_believed_of_proxies_only() {
        let proxies = ["10.0.0.7".parse().unwrap()];
        for (near, told, expected) in [
            ("198.51.100.1", &["192.0.2.9"][..], "198.51.100.1"),
            ("127.0.0.1", &["192.0.2.9"], "192.0.2.9"),
            ("10.0.0.7", &["192.0.2.9"], "192.0.2.9"),
            ("::ffff:10.0.0.7", &["192.0.2.9"], "192.0.2.9"),
            // What a client made up comes before what the proxy adds.
            ("10.0.0.7", &["1.1.1.1, 192.0.2.9"], "192.0.2.9"),
            ("10.0.0.7", &["1.1.1.1", "192.0.2.9"], "192.0.2.9"),
            ("10.0.0.7", &["nonsense"], "10.0.0.7"),
            ("10.0.0.7", &[], "10.0.0.7"),
        ] {
            let told = told.iter().map(|value| ("x-forwarded-for".parse().unwrap(), *value));
            let headers =
                HeaderMap::from_iter(told.map(|(name, value)| (name, value.parse().unwrap())));
            let peer = Peer::unplaced(near.parse().unwrap());
            assert_eq!(Source::of(Some(&peer), &proxies, &headers), at(expected), "{near}");
        }
    }
}
