//! What a step says, as a request or a file, and what came of it, as the step gives it.

use plenary_domain::{Failure, FailureKind};
use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use super::failure;
use super::send::{Request, Response};
use crate::failure::presentable;

/// Characters of an answer that an error repeats.
const SAID: usize = 200;

const METHODS: [(&str, &str); 5] =
    [("get", "GET"), ("post", "POST"), ("put", "PUT"), ("patch", "PATCH"), ("delete", "DELETE")];

/// The request of an `http` step. Only now are secrets put in where it names them.
pub(super) fn request(
    with: &Map<String, Value>,
    key: String,
    secret: &dyn Fn(&str) -> Result<String, Failure>,
) -> Result<Request, Failure> {
    let named = METHODS.iter().find_map(|(field, method)| {
        let url = with.get(*field)?.as_str()?;
        Some((*method, url.to_owned()))
    });
    let (method, url) = named.ok_or_else(|| wrong("A request needs an address.".into()))?;
    let mut headers = vec![];
    for (name, value) in with.get("headers").and_then(Value::as_object).into_iter().flatten() {
        if let Some(value) = header(name, value, secret)? {
            headers.push((name.clone(), value));
        }
    }
    let (kind, body) = match (with.get("json"), with.get("body").and_then(Value::as_str)) {
        (Some(value), _) => (Some("application/json"), value.to_string()),
        (None, Some(text)) => (Some("text/plain; charset=utf-8"), text.to_owned()),
        (None, None) => (None, String::new()),
    };
    let is_kind = |(name, _): &(String, String)| name.eq_ignore_ascii_case("content-type");
    if let Some(kind) = kind.filter(|_| !headers.iter().any(is_kind)) {
        headers.push(("content-type".into(), kind.into()));
    }
    Ok(Request { method, url, headers, body: body.into_bytes(), key })
}

/// One that comes to nothing is left out.
fn header(
    name: &str,
    value: &Value,
    secret: &dyn Fn(&str) -> Result<String, Failure>,
) -> Result<Option<String>, Failure> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Bool(_) | Value::Number(_) => Ok(Some(value.to_string())),
        Value::Object(parts) => {
            let part = |part: &str| parts.get(part).and_then(Value::as_str);
            let named = part("secret").ok_or_else(|| no_text(name))?;
            let (before, after) = (part("before"), part("after"));
            let secret = secret(named)?;
            Ok(Some([before.unwrap_or(""), &secret, after.unwrap_or("")].concat()))
        }
        Value::Array(_) => Err(no_text(name)),
    }
}

fn no_text(header: &str) -> Failure {
    wrong(format!("The header `{}` must evaluate to a string.", presentable(header)))
}

/// What an `http` step gives. What is no text is shown as far as it is one. A server that
/// did not take the request has failed the step; whether it may later is in the status.
pub(super) fn answered(response: &Response) -> Result<Value, Failure> {
    let Response { status, content_type, body } = response;
    let kind = match status {
        ..400 => None,
        408 => Some(FailureKind::TimedOut),
        429 => Some(FailureKind::RateLimited),
        500.. => Some(FailureKind::ProviderError),
        400..500 => Some(FailureKind::Refused),
    };
    if let Some(kind) = kind {
        let text: String = String::from_utf8_lossy(body).chars().take(SAID).collect();
        let said = match presentable(text.trim()) {
            said if said.is_empty() => ".".to_owned(),
            said => format!(": {said}"),
        };
        return Err(failure(kind, format!("The server answered with status {status}{said}")));
    }
    let kind = content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    let is_json = kind.trim().to_ascii_lowercase().ends_with("json");
    let read = is_json.then(|| serde_json::from_slice::<Value>(body).ok()).flatten();
    Ok(json!({ "status": status, "body": String::from_utf8_lossy(body), "json": read }))
}

/// Where a `write` step writes, and what.
pub(super) fn file(with: &Map<String, Value>) -> Result<(String, Vec<u8>), Failure> {
    let text = |field: &str| with.get(field).and_then(Value::as_str);
    let path = text("path").ok_or_else(|| wrong("A file needs a path.".into()))?;
    let contents = match (text("text"), with.get("json")) {
        (Some(text), _) => text.to_owned(),
        (None, Some(value)) => format!("{value:#}\n"),
        (None, None) => return Err(wrong("A file needs `text` or `json`.".into())),
    };
    Ok((path.to_owned(), contents.into_bytes()))
}

pub(super) fn hash(bytes: &[u8]) -> String {
    digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn wrong(message: String) -> Failure {
    failure(FailureKind::Misconfigured, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn known(name: &str) -> Result<String, Failure> {
        match name {
            "HOOK" => Ok("the-token".into()),
            other => Err(wrong(format!("There is no secret `{other}`."))),
        }
    }

    #[test]
    fn a_step_becomes_a_request() {
        let check = |with: Value, method, headers: &[(&str, &str)], body: &str| {
            let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let expected = Request {
                method,
                url: "https://hooks.example/a".into(),
                headers: headers.collect(),
                body: body.into(),
                key: "run/deliver".into(),
            };
            assert_eq!(request(&fields(with), "run/deliver".into(), &known), Ok(expected));
        };
        let url = "https://hooks.example/a";
        check(json!({ "get": url }), "GET", &[], "");
        check(
            json!({ "post": url, "json": { "b": [1, null] }, "headers": {
                "authorization": { "secret": "HOOK", "before": "Bearer ", "after": "" },
                "x-count": 3, "x-flag": true, "x-nothing": null,
            } }),
            "POST",
            &[
                ("authorization", "Bearer the-token"),
                ("x-count", "3"),
                ("x-flag", "true"),
                ("content-type", "application/json"),
            ],
            r#"{"b":[1,null]}"#,
        );
        check(
            json!({ "put": url, "body": "text" }),
            "PUT",
            &[("content-type", "text/plain; charset=utf-8")],
            "text",
        );
        check(
            json!({ "patch": url, "body": "a: b", "headers": { "Content-Type": "text/yaml" } }),
            "PATCH",
            &[("Content-Type", "text/yaml")],
            "a: b",
        );
        check(
            json!({ "delete": url, "json": null }),
            "DELETE",
            &[("content-type", "application/json")],
            "null",
        );
    }

    #[test]
    fn a_step_that_becomes_none_says_why() {
        let check = |with: Value, expected: &str| {
            let failure = request(&fields(with), "key".into(), &known).unwrap_err();
            assert_eq!(
                (failure.kind, failure.message.as_str()),
                (FailureKind::Misconfigured, expected)
            );
        };
        check(json!({}), "A request needs an address.");
        let header = |value: Value| json!({ "get": "https://a", "headers": { "x-a": value } });
        check(header(json!(["a"])), "The header `x-a` must evaluate to a string.");
        check(header(json!({ "a": 1 })), "The header `x-a` must evaluate to a string.");
        check(header(json!({ "secret": "OTHER" })), "There is no secret `OTHER`.");
    }

    #[test]
    fn a_server_that_does_not_take_a_request_fails_the_step() {
        let check = |status: u16, body: &str, expected: (FailureKind, &str)| {
            let body = body.as_bytes().to_vec();
            let failure = answered(&Response { status, content_type: None, body }).unwrap_err();
            assert_eq!((failure.kind, failure.message.as_str()), expected);
        };
        let busy = "The server answered with status 503: busy";
        check(503, " busy ", (FailureKind::ProviderError, busy));
        check(429, "", (FailureKind::RateLimited, "The server answered with status 429."));
        check(404, "", (FailureKind::Refused, "The server answered with status 404."));
        check(408, "", (FailureKind::TimedOut, "The server answered with status 408."));
    }

    #[test]
    fn an_answer_is_given_as_text_and_as_json_where_it_is_that() {
        let check = |kind: Option<&str>, body: &[u8], expected: Value| {
            let content_type = kind.map(str::to_owned);
            let response = Response { status: 201, content_type, body: body.to_vec() };
            assert_eq!(answered(&response).ok(), Some(expected));
        };
        let given = |body: &str, read: Value| json!({ "status": 201, "body": body, "json": read });
        check(Some("application/json"), b"{\"a\":1}", given("{\"a\":1}", json!({ "a": 1 })));
        check(Some("Application/Problem+JSON; charset=utf-8"), b"[]", given("[]", json!([])));
        check(Some("application/json"), b"{", given("{", Value::Null));
        check(Some("text/plain"), b"{}", given("{}", Value::Null));
        check(None, b"a\xffb", given("a\u{fffd}b", Value::Null));
    }

    #[test]
    fn a_step_becomes_a_file() {
        let check = |with: Value, expected: Option<&str>| {
            let found = file(&fields(with)).ok();
            let expected = expected.map(|text| ("a.md".to_owned(), text.as_bytes().to_vec()));
            assert_eq!(found, expected);
        };
        check(json!({ "path": "a.md", "text": "# A\n" }), Some("# A\n"));
        check(json!({ "path": "a.md", "json": { "b": 1 } }), Some("{\n  \"b\": 1\n}\n"));
        check(json!({ "path": "a.md" }), None);
        check(json!({ "text": "a" }), None);
    }
}
