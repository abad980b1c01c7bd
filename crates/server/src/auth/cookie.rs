//! The cookie that a browser gets for a token.
//!
//! Its value is made from the token and says nothing about it. It can be made again and
//! compared, so nothing is stored, and it ends when the token changes.

use axum::http::{HeaderMap, HeaderValue, header};
use plenary_domain::limits;
use ring::hmac;

use super::same;

const LABEL: &[u8] = b"plenary access cookie 1";

/// The cookie for a token, to be sent as `Set-Cookie`.
pub fn give(token: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    set(headers, &value(token), limits::COOKIE_SECONDS)
}

/// The same header, which makes a browser forget the cookie.
pub fn forget(headers: &HeaderMap) -> Option<HeaderValue> {
    set(headers, "", 0)
}

/// For which of these tokens a browser has got its cookie.
pub fn place(tokens: &[String], headers: &HeaderMap) -> Option<usize> {
    let name = name(headers);
    let cookies = headers.get_all(header::COOKIE).into_iter();
    let pairs = cookies.filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(';'));
    let ours = pairs.filter_map(|pair| pair.trim().split_once('=')).filter(|(is, _)| *is == name);
    let mut given = ours.map(|(_, value)| value);
    // What is made from an empty token, anybody can make.
    let fits = |given: &str, token: &String| !token.is_empty() && same(given, &value(token));
    given.find_map(|given| tokens.iter().position(|token| fits(given, token)))
}

fn value(token: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
    hmac::sign(&key, LABEL).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn set(headers: &HeaderMap, value: &str, seconds: u64) -> Option<HeaderValue> {
    let forwarded = headers.get("x-forwarded-proto").and_then(|how| how.to_str().ok());
    let first = forwarded.and_then(|how| how.split(',').next()).unwrap_or_default();
    let secure = if first.trim().eq_ignore_ascii_case("https") { "; Secure" } else { "" };
    let name = name(headers);
    let text =
        format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).ok()
}

/// Cookies know hosts and no ports: two servers on one host must not share theirs.
fn name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    match port.parse::<u16>() {
        Ok(port) => format!("plenary-{port}"),
        Err(_) => "plenary".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_has_its_own_cookie() {
        for (host, expected) in [
            ("localhost:7171", "plenary-7171"),
            ("[::1]:80", "plenary-80"),
            ("[::1]", "plenary"),
            ("plenary.example", "plenary"),
            ("plenary.example:", "plenary"),
        ] {
            let headers = HeaderMap::from_iter([(header::HOST, host.parse().unwrap())]);
            assert_eq!(name(&headers), expected, "{host}");
        }
        assert_eq!(name(&HeaderMap::new()), "plenary");
    }
}
