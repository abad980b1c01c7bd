//! What a failure means: the only place that reads status codes and the
//! providers' own words.

use std::error::Error;
use std::io;
use std::time::Duration;

use plenary_domain::FailureKind;
use plenary_engine::ports::ModelError;
use serde_json::Value;

use crate::client::{Lost, NoHost};
use crate::config::{Kind, ProviderConfig};
use crate::wait;

/// Characters of a provider's own words that a message repeats.
const SAID_CHARS: usize = 300;

pub(crate) fn retry(kind: FailureKind, message: String) -> ModelError {
    ModelError::Retry { kind, message, after: None }
}

pub(crate) fn last(kind: FailureKind, message: String) -> ModelError {
    ModelError::Final { kind, message }
}

/// An answer with a status that is no success.
pub(crate) fn status(
    config: &ProviderConfig,
    model: &str,
    code: u16,
    after: Option<Duration>,
    body: &[u8],
) -> ModelError {
    let mut said = Said::of(body);
    said.after = after.or(said.after);
    judge(config, model, Some(code), &said)
}

/// An error object where an answer was expected, after status 200.
pub(crate) fn reported(config: &ProviderConfig, model: &str, body: &[u8]) -> ModelError {
    let said = Said::of(body);
    judge(config, model, said.code, &said)
}

/// A failure that a command-line agent tells of in its own words.
pub(crate) fn told(
    config: &ProviderConfig,
    model: &str,
    words: &str,
    otherwise: FailureKind,
) -> ModelError {
    let said = Said { message: words.to_owned(), ..Said::default() };
    let code = status_within(words);
    if said.meaning(code) != Meaning::Unknown {
        return judge(config, model, code, &said);
    }
    let words = said.after_colon();
    last(otherwise, format!("{} failed{words}.", config.name))
}

/// The status of its vendor that a program repeats among its words, such as
/// `unexpected status 503`, `API Error: 500` or `{"code":429}`. Only those that say
/// by themselves what is wrong: the others depend on an address that is not ours.
fn status_within(words: &str) -> Option<u16> {
    let words = words.to_lowercase();
    let after = |mark: &'static str| words.match_indices(mark).map(|(at, mark)| at + mark.len());
    let places = ["status", "api error", "\"code\""].into_iter().flat_map(after);
    let mut codes = places.filter_map(|at| {
        let rest = words[at..].trim_start_matches([':', ' ']);
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    });
    codes.find(|code| matches!(code, 401 | 429 | 500..=599))
}

/// The program asks its own vendor again; `reason` are its words for why.
pub(crate) fn asks_again(config: &ProviderConfig, reason: &str) -> String {
    let said = Said { message: reason.to_owned(), ..Said::default() };
    format!("{} could not reach its model{}.", config.name, said.after_colon())
}

fn judge(config: &ProviderConfig, model: &str, code: Option<u16>, said: &Said) -> ModelError {
    let name = &config.name;
    let words = said.after_colon();
    let waiting = |message: String| ModelError::Retry {
        kind: FailureKind::RateLimited,
        message,
        after: said.after,
    };
    match said.meaning(code) {
        Meaning::TooLong => last(
            FailureKind::PromptTooLong,
            format!("The prompt is too long for `{model}` of {name}{words}."),
        ),
        Meaning::NoCredit => {
            last(FailureKind::OutOfCredit, format!("Your {name} account is out of credit{words}."))
        }
        Meaning::BadKey => last(FailureKind::Misconfigured, bad_key(config, &words)),
        Meaning::NoModel => last(FailureKind::Misconfigured, no_model(config, model, &words)),
        Meaning::NoAddress => last(
            FailureKind::Misconfigured,
            format!(
                "{name} found nothing at this address; check the URL {}{words}.",
                config.shown_url()
            ),
        ),
        Meaning::NoMemory => last(
            FailureKind::Misconfigured,
            format!("{name} has too little memory for `{model}`{words}. Use a smaller model."),
        ),
        Meaning::Refused => {
            last(FailureKind::Refused, format!("{name} declined to answer{words}."))
        }
        Meaning::RateLimited => waiting(format!("{name} is limiting requests{words}.")),
        Meaning::Overloaded => waiting(format!("{name} is overloaded{words}.")),
        Meaning::Redirected => last(
            FailureKind::Misconfigured,
            format!(
                "{name} redirects to another address, which is not followed; check the URL {}.",
                config.shown_url()
            ),
        ),
        Meaning::WrongRequest => {
            last(FailureKind::Misconfigured, format!("{name} rejected the request{words}."))
        }
        Meaning::Lost => {
            retry(FailureKind::Unreachable, format!("{name} lost its connection{words}."))
        }
        Meaning::Broken | Meaning::Unknown => ModelError::Retry {
            kind: FailureKind::ProviderError,
            message: format!("{name} returned an error{words}."),
            after: said.after,
        },
    }
}

fn bad_key(config: &ProviderConfig, words: &str) -> String {
    let name = &config.name;
    if let Some(command) = &config.command {
        let login = match command.login {
            Some(login) => login.to_owned(),
            None => format!(
                "Sign in with `{}` itself, or name the variable of its key in `env` of [providers.{name}]",
                command.program
            ),
        };
        return format!("{name} is not signed in, or its key was rejected{words}. {login}.");
    }
    let place = match &config.key_env {
        Some(variable) => variable.clone(),
        None => format!("the key of the provider `{name}` in plenary.toml"),
    };
    match config.key {
        Some(_) => format!("{name} rejected the key{words}. Check {place}."),
        None => format!("{name} needs a key{words}. Set {place}."),
    }
}

fn no_model(config: &ProviderConfig, model: &str, words: &str) -> String {
    let name = &config.name;
    match config.kind {
        Kind::Ollama => {
            format!("{name} has no model `{model}`. Get it with `ollama pull {model}`.")
        }
        Kind::OpenAi | Kind::Anthropic | Kind::Gemini | Kind::Command | Kind::Local => {
            format!("{name} has no model `{model}`{words}.")
        }
    }
}

/// A request that could not be sent, or an answer that could not be read.
pub(crate) fn transport(config: &ProviderConfig, lost: &Lost) -> ModelError {
    let (name, url) = (&config.name, config.shown_url());
    let error = match lost {
        Lost::Address => {
            let message = format!("The URL `{url}` of {name} cannot be used; check it.");
            return last(FailureKind::Misconfigured, message);
        }
        Lost::Cut => {
            let message = format!("{name} closed the connection before it answered.");
            return retry(FailureKind::Unreachable, message);
        }
        Lost::Slow => return unanswered(config),
        Lost::Connect(error) => &**error as &(dyn Error + 'static),
    };
    if within::<NoHost>(error).is_some() {
        let message =
            format!("The host of {name} was not found; check the URL {url} and the network.");
        return last(FailureKind::Unreachable, message);
    }
    if let Some(reason) = tls(error) {
        let message = format!(
            "Could not make a secure connection to {name} at {url} ({reason}); check whether the \
             URL should begin with http:// or https://, and the certificate."
        );
        return last(FailureKind::Unreachable, message);
    }
    let message = match within::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => {
            format!("Could not connect to {name} at {url}; check that it is running.")
        }
        Some(io::ErrorKind::TimedOut) => return unanswered(config),
        _ => format!("Could not connect to {name} at {url}; check the URL and the network."),
    };
    retry(FailureKind::Unreachable, message)
}

fn unanswered(config: &ProviderConfig) -> ModelError {
    let (name, url) = (&config.name, config.shown_url());
    let message = format!(
        "{name} at {url} did not accept the connection in time; check the URL and the network."
    );
    retry(FailureKind::Unreachable, message)
}

/// The stream ended before the answer did.
pub(crate) fn cut(config: &ProviderConfig) -> ModelError {
    retry(
        FailureKind::Unreachable,
        format!("{} broke off in the middle of the answer.", config.name),
    )
}

pub(crate) fn cut_before_the_start(config: &ProviderConfig) -> ModelError {
    retry(FailureKind::Unreachable, format!("{} closed the stream without an answer.", config.name))
}

pub(crate) fn frame_too_long(config: &ProviderConfig) -> ModelError {
    last(
        FailureKind::ProviderError,
        format!("{} sent a line that is too long to be an answer.", config.name),
    )
}

pub(crate) fn garbled(config: &ProviderConfig) -> ModelError {
    retry(
        FailureKind::ProviderError,
        format!("{} sent something unreadable in the middle of the answer.", config.name),
    )
}

/// Whoever sends broken text once does it again, so this is final.
pub(crate) fn not_text(config: &ProviderConfig) -> ModelError {
    last(FailureKind::ProviderError, format!("{} sent bytes that are not UTF-8 text.", config.name))
}

pub(crate) fn not_this_wire(config: &ProviderConfig) -> ModelError {
    let message = format!(
        "The server at {} does not use the {} API; check the URL of {}.",
        config.shown_url(),
        config.kind.word(),
        config.name
    );
    last(FailureKind::Misconfigured, message)
}

/// The model or its provider declined; `why` are its words, if it gave any.
pub(crate) fn refused(config: &ProviderConfig, model: &str, why: &str) -> ModelError {
    let said = Said { message: why.to_owned(), ..Said::default() };
    let words = said.after_colon();
    last(FailureKind::Refused, format!("`{model}` of {} declined to answer{words}.", config.name))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    TooLong,
    NoCredit,
    BadKey,
    NoModel,
    NoAddress,
    NoMemory,
    Refused,
    RateLimited,
    Overloaded,
    Redirected,
    WrongRequest,
    Lost,
    Broken,
    Unknown,
}

/// What a provider said about a failure.
#[derive(Default)]
struct Said {
    message: String,
    /// Its words for the kind of error, such as `invalid_request_error`.
    tags: String,
    code: Option<u16>,
    after: Option<Duration>,
}

impl Said {
    /// Reads the error objects of all wires, and plain text too.
    fn of(body: &[u8]) -> Said {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let text = String::from_utf8_lossy(body);
            let page = text.trim_start().starts_with('<');
            return Said {
                message: if page { String::new() } else { text.into_owned() },
                ..Said::default()
            };
        };
        // Gemini wraps its error into a list when the stream has not begun.
        let value = value.get(0).unwrap_or(&value);
        let error = value.get("error").unwrap_or(value);
        let message = [
            error,
            &error["message"],
            &value["message"],
            &value["detail"],
            &error["metadata"]["raw"],
        ];
        let tags = [&error["type"], &error["code"], &error["status"]];
        let tags: Vec<&str> = tags.into_iter().filter_map(Value::as_str).collect();
        Said {
            message: message.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned(),
            tags: tags.join(" "),
            code: error["code"].as_u64().and_then(|code| u16::try_from(code).ok()),
            after: wait::retry_delay(&error["details"]),
        }
    }

    fn meaning(&self, code: Option<u16>) -> Meaning {
        let all = format!("{} {}", self.tags, self.message).to_lowercase();
        let has = |signs: &[&str]| signs.iter().any(|sign| all.contains(sign));
        let code = code.unwrap_or(0);
        match code {
            401 => return Meaning::BadKey,
            402 => return Meaning::NoCredit,
            413 => return Meaning::TooLong,
            529 => return Meaning::Overloaded,
            300..=399 => return Meaning::Redirected,
            _ => {}
        }
        if code != 403 && code != 404 && has(TOO_LONG) {
            Meaning::TooLong
        } else if has(NO_CREDIT) {
            Meaning::NoCredit
        } else if code != 429 && has(REFUSED) {
            Meaning::Refused
        } else if code == 403 || has(BAD_KEY) {
            Meaning::BadKey
        } else if has(NO_MODEL) || (code == 404 && has(&["model"])) {
            Meaning::NoModel
        } else if code == 404 || code == 405 {
            Meaning::NoAddress
        } else if has(NO_MEMORY) {
            Meaning::NoMemory
        } else if code == 429 {
            Meaning::RateLimited
        } else if has(OVERLOADED) {
            Meaning::Overloaded
        } else if code == 0 && has(RATE_LIMITED) {
            Meaning::RateLimited
        } else if code == 0 && has(LOST) {
            Meaning::Lost
        } else if matches!(code, 408 | 409 | 425) || code >= 500 || (code == 0 && has(BROKEN)) {
            Meaning::Broken
        } else if code >= 400 {
            Meaning::WrongRequest
        } else {
            Meaning::Unknown
        }
    }

    /// `: what it said`, shortened, without a key and without a full stop; empty
    /// when it said nothing.
    fn after_colon(&self) -> String {
        let words = presentable(&self.message);
        let words = words.trim_end_matches('.');
        match words.is_empty() {
            true => String::new(),
            false => format!(": {words}"),
        }
    }
}

const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "maximum context length",
    "context length",
    "available context size",
    "context window",
    "prompt is too long",
    "prompt too long",
    "maximum number of tokens",
    "request_too_large",
    "request too large",
    "string_above_max_length",
];
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "credit balance is too low",
    "insufficient credits",
    "insufficient_credits",
    "usage limit",
    "billing_error",
];
const REFUSED: &[&str] = &[
    "content_filter",
    "content_policy",
    "content management policy",
    "responsible ai",
    "flagged",
    "prohibited_content",
];
const BAD_KEY: &[&str] = &[
    "authentication_error",
    "authentication_failed",
    "incorrect api key",
    "failed to authenticate",
    "permission_error",
    "invalid_api_key",
    "invalid api key",
    "api key not valid",
    "api_key_invalid",
    "api key not found",
    "unauthenticated",
    "not logged in",
    "please run /login",
    "unauthorized",
];
const NO_MODEL: &[&str] = &["model_not_found", "model not found", "no such model"];
const NO_MEMORY: &[&str] = &["requires more system memory", "out of memory"];
const OVERLOADED: &[&str] = &["overloaded", "server busy", "at capacity"];
const RATE_LIMITED: &[&str] =
    &["rate_limit", "rate limit", "too many requests", "resource_exhausted"];

const LOST: &[&str] = &["stream disconnected", "connection error", "error sending request"];
const BROKEN: &[&str] = &[
    "stream ended",
    "malformed response",
    "server had an error",
    "internal server error",
    "internal_server_error",
    "bad gateway",
    "service unavailable",
    "gateway timeout",
];

/// A provider's words as they may be shown: one line, bounded, without control
/// characters. Secrets of the configuration are taken out of whole messages; here
/// go the parts of keys that others have masked.
pub(crate) fn presentable(words: &str) -> String {
    let mut line = String::new();
    let clean = |letter: char| if letter.is_control() { ' ' } else { letter };
    let words: String = words.chars().map(clean).collect();
    for word in words.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        // Providers repeat parts of a wrong key, more or less masked.
        let bare = word.trim_start_matches(['"', '\'', '`', '(']);
        let key = bare.starts_with("sk-") || bare.starts_with("AIza");
        line.push_str(if key { "[key]" } else { word });
    }
    if line.chars().count() > SAID_CHARS {
        line = line.chars().take(SAID_CHARS).collect();
        line.push('…');
    }
    line
}

/// What is wrong with an encrypted connection, if that is what is wrong.
pub(crate) fn tls(error: &(dyn Error + 'static)) -> Option<String> {
    within::<rustls::Error>(error).map(ToString::to_string)
}

/// The cause of this type, if there is one. An I/O error hides what it was made
/// of from `source`, so that is looked into as well.
fn within<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    if let Some(found) = error.downcast_ref::<T>() {
        return Some(found);
    }
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let inner = inner.and_then(|inner| within(inner as &(dyn Error + 'static)));
    inner.or_else(|| error.source().and_then(within))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_without_keys_and_control_characters() {
        for (words, expected) in [
            ("the key,\n\x1b[31mis wrong", "the key, [31mis wrong"),
            ("Incorrect key: sk-abc***xyz1.", "Incorrect key: [key]"),
            ("", ""),
        ] {
            assert_eq!(presentable(words), expected);
        }
        let long = presentable(&"é".repeat(1000));
        assert_eq!(long.chars().count(), SAID_CHARS + 1);
    }

    #[test]
    fn a_status_is_found_among_words() {
        for (words, expected) in [
            ("unexpected status 401 Unauthorized: no, url: http://127.0.0.1:8500/v1", Some(401)),
            ("exceeded retry limit, last status: 429 Too Many Requests", Some(429)),
            ("exit code 1, API Error: 500 {\"type\":\"error\"}", Some(500)),
            ("[API Error: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\"}}]", Some(503)),
            ("unexpected status 404 Not Found", None),
            ("API Error: 5000 words are too many, in 500 lines", None),
            ("status", None),
        ] {
            assert_eq!(status_within(words), expected, "{words}");
        }
    }
}
