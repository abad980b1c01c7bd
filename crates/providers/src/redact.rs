//! Keeps secrets of the configuration out of everything that providers say.
//!
//! A secret is recognised whole and in long parts: vendors repeat a wrong key with
//! a letter missing, programs print theirs between quotes or cut off. Twelve
//! characters in common are a part. That many do not come together by chance, and
//! fewer help nobody who does not have the rest.
//!
//! Answers are held to it as well, because a model may repeat what it has found in
//! its prompt or an agent in its environment, and an answer is kept for ever. Only
//! secrets of sixteen characters and more count there: what is shorter may be a
//! word, as in `OPENAI_API_KEY=ollama`.
//!
//! Which variables hold secrets is told by their names, and by the user: one that is
//! listed by its own name, and not by a pattern, is taken to hold a key if its value
//! can be one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt as _};
use plenary_domain::names::check_line;
use plenary_engine::ports::{ModelError, Piece, ProviderReport, ProviderState};

use crate::config::{CommandConfig, ProviderConfig};
use crate::start;

const HIDDEN: &str = "[key]";
/// A common run of this length is a part of a secret.
const RUN: usize = 12;
/// Shorter secrets are looked for in messages only.
const LONG: usize = 16;
/// Shorter ones are left alone: no key is as short, and hiding them would hide words.
pub(crate) const SHORT: usize = 8;
/// The start of a run that is held back until it is known how it goes on.
const START: usize = 4;

/// What no message and no answer may show.
#[derive(Default)]
pub(crate) struct Redactor {
    /// All of them, the longest first.
    whole: Vec<String>,
    /// All runs of long secrets.
    runs: HashSet<Vec<u8>>,
    /// All their parts from `START` up to a run.
    parts: HashSet<Vec<u8>>,
}

impl Redactor {
    /// Of the keys, what stands in addresses, and what programs get to see.
    pub(crate) fn of<'a>(configs: impl Iterator<Item = &'a ProviderConfig>) -> Self {
        let mut secrets = HashSet::new();
        for config in configs {
            secrets.extend(config.key.as_ref().map(|key| key.expose().to_owned()));
            secrets.extend(in_address(&config.url));
            secrets.extend(config.command.iter().flat_map(seen_by));
        }
        Redactor::knowing(secrets)
    }

    pub(crate) fn knowing(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut redactor = Redactor::default();
        for secret in secrets {
            let bytes = secret.as_bytes();
            // A run of ASCII begins and ends where letters do, whatever is around it.
            if bytes.len() >= LONG && secret.is_ascii() {
                redactor.runs.extend(bytes.windows(RUN).map(<[u8]>::to_vec));
                for length in START..RUN {
                    redactor.parts.extend(bytes.windows(length).map(<[u8]>::to_vec));
                }
            }
            if bytes.len() >= SHORT {
                redactor.whole.push(secret);
            }
        }
        redactor.whole.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        redactor
    }

    /// A sentence for a person, without any of them.
    pub(crate) fn message(&self, text: &str) -> String {
        let text = self.long_parts(text);
        self.whole.iter().fold(text, |text, secret| {
            // One letter may be missing, at either end.
            let short = if secret.len() > SHORT && secret.is_ascii() {
                [&secret[1..], &secret[..secret.len() - 1]]
            } else {
                [secret.as_str(); 2]
            };
            let text = text.replace(secret.as_str(), HIDDEN);
            text.replace(short[0], HIDDEN).replace(short[1], HIDDEN)
        })
    }

    /// Whatever has come, without any of them. Whoever set these meant them as secrets, so
    /// short ones are looked for too.
    pub(crate) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut found = self.runs_in(&bytes);
        for secret in &self.whole {
            let windows = bytes.windows(secret.len()).enumerate();
            let places = windows.filter(|(_, window)| *window == secret.as_bytes());
            found.extend(places.map(|(at, _)| (at, at + secret.len())));
        }
        if found.is_empty() {
            return bytes;
        }
        found.sort_unstable();
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for (from, to) in found {
            if from >= at && (from > at || out.is_empty()) {
                out.extend_from_slice(&bytes[at..from]);
                out.extend_from_slice(HIDDEN.as_bytes());
            }
            at = at.max(to);
        }
        out.extend_from_slice(&bytes[at..]);
        out
    }

    pub(crate) fn error(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Retry { kind, message, after } => {
                ModelError::Retry { kind, message: self.message(&message), after }
            }
            ModelError::Final { kind, message } => {
                ModelError::Final { kind, message: self.message(&message) }
            }
        }
    }

    pub(crate) fn report(&self, mut report: ProviderReport) -> ProviderReport {
        report.place = self.message(&report.place);
        match &mut report.state {
            ProviderState::Unusable { problem, hint, .. } => {
                (*problem, *hint) = (self.message(problem), self.message(hint));
            }
            // A server calls its models what it likes, and the names are kept: one that
            // shows a secret, or hides what it holds, is none. Short secrets may be words
            // in it, as in answers.
            ProviderState::Ready { models } => {
                models.retain(|name| check_line(name).is_ok() && self.long_parts(name) == *name);
            }
        }
        report
    }

    /// The text with every run of a long secret hidden.
    fn long_parts(&self, text: &str) -> String {
        let mut passing = Passing { held: text.to_owned(), ..Passing::default() };
        passing.finish(self)
    }

    /// Where runs stand, as ranges that do not touch.
    fn runs_in(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        if self.runs.is_empty() {
            return found;
        }
        for (at, window) in bytes.windows(RUN).enumerate() {
            if !self.runs.contains(window) {
                continue;
            }
            match found.last_mut() {
                Some((_, end)) if at <= *end => *end = at + RUN,
                _ => found.push((at, at + RUN)),
            }
        }
        found
    }

    /// How many of the last bytes may be the start of a run.
    fn start_at_the_end(&self, bytes: &[u8]) -> usize {
        let most = bytes.len().min(RUN - 1);
        let is_part = |length: &usize| self.parts.contains(&bytes[bytes.len() - length..]);
        (START..=most).rev().find(is_part).unwrap_or(0)
    }
}

/// Hides secrets in a text that comes in pieces. What may be the start of one waits
/// until it is known how it goes on.
#[derive(Default)]
pub(crate) struct Passing {
    /// The end of what has been passed on or hidden: a secret may have begun in it.
    past: String,
    held: String,
    /// The last of it was hidden.
    hiding: bool,
}

impl Passing {
    pub(crate) fn push(&mut self, redactor: &Redactor, piece: String) -> String {
        if redactor.runs.is_empty() {
            return piece;
        }
        self.held.push_str(&piece);
        self.pass(redactor, false)
    }

    /// All that is still held.
    pub(crate) fn finish(&mut self, redactor: &Redactor) -> String {
        self.pass(redactor, true)
    }

    fn pass(&mut self, redactor: &Redactor, at_end: bool) -> String {
        let all = format!("{}{}", self.past, self.held);
        let mut at = self.past.len();
        let keep = if at_end { 0 } else { redactor.start_at_the_end(all.as_bytes()) };
        let end = (all.len() - keep).max(at);
        let mut out = String::new();
        for (from, to) in redactor.runs_in(all.as_bytes()) {
            let (from, to) = (from.clamp(at, end), to.clamp(at, end));
            self.tell(&all[at..from], &mut out);
            if from < to && !std::mem::replace(&mut self.hiding, true) {
                out.push_str(HIDDEN);
            }
            at = to;
        }
        self.tell(&all[at..end], &mut out);
        let past = (end.saturating_sub(RUN - 1)..=end).find(|from| all.is_char_boundary(*from));
        self.past = all[past.unwrap_or(end)..end].to_owned();
        self.held = all[end..].to_owned();
        out
    }

    fn tell(&mut self, text: &str, out: &mut String) {
        self.hiding &= text.is_empty();
        out.push_str(text);
    }
}

/// The secrets among the variables that a program gets.
fn seen_by(command: &CommandConfig) -> Vec<String> {
    let mut secrets = vec![];
    for (name, value) in start::environment(command) {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        // The place of a file is no secret, what is in it is.
        if is_secret(&name) && !Path::new(&*value).exists() {
            secrets.push(value.into_owned());
            continue;
        }
        secrets.extend(in_address(&value));
        if command.env.iter().any(|listed| *listed == name) {
            secrets.extend(keys_in(&value));
        }
    }
    secrets
}

/// What in a value can be a key: long words, as in `Bearer …`, that say of no place
/// where it is.
fn keys_in(value: &str) -> Vec<String> {
    let is_key = |word: &&str| word.len() >= LONG && !is_path(word) && !is_address(word);
    value.split_whitespace().filter(is_key).map(str::to_owned).collect()
}

/// A path, or several as in `PATH`. A key in base64 may begin with a slash too, but
/// then there is no such folder.
fn is_path(text: &str) -> bool {
    let is_place = |path: PathBuf| {
        let top: PathBuf = path.components().take(2).collect();
        let relative = path.starts_with(".") || path.starts_with("~");
        relative || path.exists() || (top.is_absolute() && top.exists())
    };
    std::env::split_paths(text).all(is_place)
}

/// An address, or a host with its port. What opens it is found by `in_address`.
fn is_address(text: &str) -> bool {
    let parsed = |text: &str| reqwest::Url::parse(text).ok().filter(reqwest::Url::has_host);
    let with_port = |url: reqwest::Url| url.port().is_some() && url.username().is_empty();
    parsed(text).is_some() || parsed(&format!("host://{text}")).is_some_and(with_port)
}

/// Passwords, and values that are called keys, in an address.
fn in_address(text: &str) -> Vec<String> {
    let Ok(url) = reqwest::Url::parse(text) else {
        return Vec::new();
    };
    let password = url.password().map(str::to_owned);
    // Some put the key in place of the name.
    let alone = Some(url.username()).filter(|name| password.is_none() && name.len() >= LONG);
    let written = password.into_iter().chain(alone.map(str::to_owned));
    let plain = written.flat_map(|one| [decoded(&one), one]);
    let values = url.query_pairs().filter(|(name, _)| is_secret(name));
    plain.chain(values.map(|(_, value)| value.into_owned())).collect()
}

fn decoded(text: &str) -> String {
    let pair = format!("x={}", text.replace('+', "%2B"));
    let url = reqwest::Url::parse(&format!("x:?{pair}"));
    let value = url.ok().and_then(|url| Some(url.query_pairs().next()?.1.into_owned()));
    value.unwrap_or_else(|| text.to_owned())
}

/// Whether something of this name holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    let signs = ["key", "token", "secret", "password", "passwd", "credential", "auth", "signature"];
    let words = ["sig", "pass", "pw", "pwd", "pin", "pat", "jwt", "cookie", "code"];
    signs.iter().any(|sign| name.contains(sign))
        || name.split(['_', '-', '.']).any(|word| words.contains(&word))
}

/// An address as it may be shown: without a name and a password, and without the
/// values of keys.
pub fn address(url: &str) -> String {
    let (rest, fragment) = url.split_once('#').map_or((url, None), |(a, b)| (a, Some(b)));
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    // In what is no address a password may hold a slash itself.
    let is_address = reqwest::Url::parse(url).is_ok();
    let begins = rest.rfind('@').filter(|_| !is_address).unwrap_or(0);
    let slash = rest[begins..].find('/').map_or(rest.len(), |slash| begins + slash);
    let (authority, path) = rest.split_at(slash);
    let mut shown = String::new();
    if !scheme.is_empty() {
        shown.push_str(&format!("{scheme}://"));
    }
    match authority.rsplit_once('@') {
        Some((_, host)) => shown.push_str(&format!("[hidden]@{host}")),
        None => shown.push_str(authority),
    }
    shown.push_str(path);
    if let Some(query) = query {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}=[hidden]"),
            Some(_) | None => pair.to_owned(),
        });
        shown.push_str(&format!("?{}", pairs.collect::<Vec<_>>().join("&")));
    }
    fragment.map_or(shown.clone(), |fragment| format!("{shown}#{fragment}"))
}

/// What a provider says, without secrets.
pub(crate) fn stream(
    redactor: Arc<Redactor>,
    pieces: BoxStream<'static, Result<Piece, ModelError>>,
) -> BoxStream<'static, Result<Piece, ModelError>> {
    let mut text = Passing::default();
    let mut reasoning = Passing::default();
    let mut pass = move |piece| -> Vec<Result<Piece, ModelError>> {
        let last = match piece {
            Ok(Piece::Text(more)) => return said(Piece::Text, text.push(&redactor, more)),
            Ok(Piece::Reasoning(more)) => {
                return said(Piece::Reasoning, reasoning.push(&redactor, more));
            }
            Ok(Piece::Retrying { reason, wait }) => {
                return vec![Ok(Piece::Retrying { reason: redactor.message(&reason), wait })];
            }
            Ok(piece @ (Piece::Usage(_) | Piece::Waiting { .. } | Piece::Busy)) => {
                return vec![Ok(piece)];
            }
            Ok(Piece::End(ending)) => Ok(Piece::End(ending)),
            Err(error) => Err(redactor.error(error)),
        };
        let mut all = said(Piece::Reasoning, reasoning.finish(&redactor));
        all.extend(said(Piece::Text, text.finish(&redactor)));
        all.push(last);
        all
    };
    pieces.flat_map(move |piece| stream::iter(pass(piece))).boxed()
}

fn said(kind: fn(String) -> Piece, text: String) -> Vec<Result<Piece, ModelError>> {
    (!text.is_empty()).then(|| Ok(kind(text))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-live-4f9Qz7Lw2Xb8Rt6Y";

    fn redactor() -> Redactor {
        Redactor::knowing([KEY.to_owned(), "swordfish".to_owned(), "abc".to_owned()])
    }

    #[test]
    fn messages_show_no_secret_whole_or_in_long_parts() {
        for (text, expected) in [
            ("the key sk-live-4f9Qz7Lw2Xb8Rt6Y, is wrong", "the key [key], is wrong"),
            ("'sk-live-4f9Qz7Lw2Xb8Rt6' is short", "'[key]' is short"),
            ("…9Qz7Lw2Xb8Rt6Y", "…[key]"),
            ("é9Qz7Lw2Xb8Rté", "é[key]é"),
            ("Xb8Rt6Y is too little", "Xb8Rt6Y is too little"),
            ("sk-live-4f9Qz7LwXXXX", "[key]XXXX"),
            (
                "twice sk-live-4f9Qz7Lw2Xb8Rt6Ysk-live-4f9Qz7Lw2Xb8Rt6Y, thrice 4f9Qz7Lw2Xb8Rt6Y",
                "twice [key], thrice [key]",
            ),
            ("the swordfish, swordfis and wordfish", "the [key], [key] and [key]"),
            ("abc is no secret", "abc is no secret"),
        ] {
            assert_eq!(redactor().message(text), expected);
        }
    }

    #[test]
    fn an_answer_shows_no_long_secret_however_it_is_cut() {
        let redactor = redactor();
        let text = format!("My key is “{KEY}”, and a swordfish is a fish. {KEY}{}", &KEY[..15]);
        for size in 1..=text.chars().count() {
            let mut passing = Passing::default();
            let letters: Vec<char> = text.chars().collect();
            let mut heard = String::new();
            for piece in letters.chunks(size) {
                heard += &passing.push(&redactor, piece.iter().collect());
            }
            heard += &passing.finish(&redactor);
            // Up to three letters may have been passed on before more came.
            let starts = ["sk-[key]", "sk[key]", "s[key]", "[key][key]"];
            let shown = starts.iter().fold(heard, |text, start| text.replace(start, HIDDEN));
            let expected = "My key is “[key]”, and a swordfish is a fish. [key]";
            assert_eq!(shown, expected, "pieces of {size}");
        }
    }

    #[test]
    fn what_cannot_become_a_secret_is_passed_on_at_once() {
        let redactor = redactor();
        let mut passing = Passing::default();
        assert_eq!(passing.push(&redactor, "one two sk-".to_owned()), "one two sk-");
        assert_eq!(passing.push(&redactor, "live".to_owned()), "");
        assert_eq!(passing.push(&redactor, "ly".to_owned()), "lively");
        assert_eq!(Passing::default().push(&Redactor::default(), KEY.to_owned()), KEY);
    }

    #[test]
    fn addresses_are_shown_without_what_opens_them() {
        for (url, expected) in [
            ("https://api.openai.com/v1", "https://api.openai.com/v1"),
            ("http://ann:pa%40ss@box:8000/v1", "http://[hidden]@box:8000/v1"),
            ("http://token@box", "http://[hidden]@box"),
            (
                "https://x.test/v1?api-version=2&api-key=k1&sig=s#top",
                "https://x.test/v1?api-version=2&api-key=[hidden]&sig=[hidden]#top",
            ),
            ("no url", "no url"),
            ("https://x.test/v1/@cf/meta", "https://x.test/v1/@cf/meta"),
            ("//a:b@c@d/e", "[hidden]@d/e"),
        ] {
            assert_eq!(address(url), expected);
        }
        let mut found = in_address("http://ann:pa%40ss@box/?key=k1&v=2");
        found.sort();
        assert_eq!(found, ["k1", "pa%40ss", "pa@ss"]);
    }

    #[test]
    fn a_model_whose_name_shows_a_secret_is_none() {
        let secrets = ["sk-lab-0123456789abcdef", "lm-studio"];
        let redactor = Redactor::knowing(secrets.map(str::to_owned));
        let models = ["lm-studio-7b", "m-sk-lab-0123456789abcdef", "m\u{202e}2", "m\n3"];
        let report = ProviderReport {
            name: "lab".into(),
            place: "here".into(),
            state: ProviderState::Ready { models: models.map(str::to_owned).into() },
            kind: "openai",
            note: None,
        };
        let expected = ProviderState::Ready { models: vec!["lm-studio-7b".to_owned()] };
        assert_eq!(redactor.report(report).state, expected);
    }

    #[test]
    fn what_can_be_a_key_is_told_from_places() {
        for (value, expected) in [
            ("4f9Qz7Lw2Xb8Rt6Y", &["4f9Qz7Lw2Xb8Rt6Y"][..]),
            ("/Zz4f9Qz7Lw2/b8Rt6Y+A==", &["/Zz4f9Qz7Lw2/b8Rt6Y+A=="]),
            ("X-Auth: Bearer 4f9Qz7Lw2Xb8Rt6Y", &["4f9Qz7Lw2Xb8Rt6Y"]),
            ("ann:4f9Qz7Lw2Xb8@box:8080", &["ann:4f9Qz7Lw2Xb8@box:8080"]),
            ("4f9Qz7Lw2Xb8Rt6", &[]),
            ("Answer in plain words, please.", &[]),
            ("/usr/bin:/usr/local/bin", &[]),
            ("/usr/share/not/there/yet", &[]),
            ("~/agents/settings.json", &[]),
            ("https://models.example.com/v1", &[]),
            ("proxy.example.com:8080", &[]),
        ] {
            assert_eq!(keys_in(value), expected, "{value}");
        }
    }

    #[test]
    fn what_holds_a_secret_is_known_by_its_name() {
        for name in ["MY_API_KEY", "MY_PASS", "GH_PAT", "MY_JWT", "DB_PW", "session-cookie", "pwd"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["PATH", "COMPASS", "PATTERN", "SPIN", "LANG", "OPINION"] {
            assert!(!is_secret(name), "{name}");
        }
        let odd = "http://user:pa ss/w0rd@host/v1";
        assert_eq!(address(odd), "http://[hidden]@host/v1");
    }
}
