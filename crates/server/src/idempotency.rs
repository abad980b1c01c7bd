//! A request that may arrive twice, and its body.

use std::hash::{Hash, Hasher};

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, Method, header, request::Parts};
use plenary_domain::limits;
use plenary_engine::By;
use plenary_engine::ports::Idempotency;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value, json};
use utoipa::IntoParams;

use crate::App;
use crate::auth::Principal;
use crate::error::{self, Code, Problem};
use crate::pace::too_large;

/// The header that makes a request safe to repeat, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub struct Key {
    /// A second request with the same key changes nothing and returns the session as it is now.
    #[param(
        rename = "Idempotency-Key",
        nullable = false,
        min_length = 1,
        max_length = 200,
        pattern = "^[!-~]+$"
    )]
    key: Option<String>,
}

/// Who changes something, with what, and under which key.
pub struct Change<T> {
    pub by: By,
    pub body: T,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Change<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let key = key(&parts.headers)?;
        let principal = principal(&parts);
        let address = format!("{} {}", parts.method, parts.uri.path());
        let (headers, method) = (parts.headers.clone(), parts.method.clone());
        let bytes = Bytes::from_request(Request::from_parts(parts, body), state);
        let bytes = bytes.await.map_err(|rejection| {
            if rejection.status() == Code::TooLarge.status() {
                too_large(limits::BODY_BYTES)
            } else {
                Problem::new(Code::InvalidJson, "The body broke off before its end.")
            }
        })?;
        // What stands in place of all that was there before must be said.
        if method == Method::PUT && bytes.is_empty() {
            return Err(Problem::new(Code::InvalidJson, "The body is missing."));
        }
        let body = parse(&headers, &bytes)?;
        let idempotency = key.map(|key| Idempotency {
            principal: principal.clone(),
            key,
            request_hash: hash(&address, &bytes),
            lasting: false,
        });
        Ok(Change { by: By { actor: principal, idempotency }, body })
    }
}

/// A change of what a path names.
pub struct On<T, P = String> {
    pub app: App,
    pub at: P,
    pub by: By,
    pub body: T,
}

impl<T: DeserializeOwned, P: DeserializeOwned + Send> FromRequest<App> for On<T, P> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Path(at) = Path::from_request_parts(&mut parts, app).await?;
        let request = Request::from_parts(parts, body);
        let Change { by, body } = Change::from_request(request, app).await?;
        Ok(On { app: app.clone(), at, by, body })
    }
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Problem> {
    // A command without arguments may come without a body.
    let bytes = if bytes.is_empty() { b"{}".as_slice() } else { bytes };
    if bytes != b"{}" {
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(
                Code::UnsupportedMediaType,
                "The body must be JSON, with `Content-Type: application/json`.",
            ));
        }
    }
    // Serde would take an array for the fields in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let problem = match serde_json::from_slice::<IgnoredAny>(bytes) {
            Ok(_) => "The body must be a JSON object.".to_owned(),
            Err(error) => format!("The body is not JSON: {error}."),
        };
        return Err(Problem::new(Code::InvalidJson, problem));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        if !error.inner().is_data() {
            let problem = format!("The body is not JSON: {}.", error.inner());
            return Problem::new(Code::InvalidJson, problem);
        }
        let all = wrong_fields::<T>(bytes);
        // Nothing more may be found: a field that is given twice stands there once.
        Problem::invalid(if all.is_empty() { vec![wrong_field(&error)] } else { all })
    })?;
    json.end().map_err(|error| {
        Problem::new(Code::InvalidJson, format!("The body is not JSON: {error}."))
    })?;
    Ok(parsed)
}

/// Every wrong field. What is wrong is taken out, or where it
/// is required something that fits is put in its place, and the rest is read again.
fn wrong_fields<T: DeserializeOwned>(bytes: &[u8]) -> Vec<(String, String)> {
    let mut rest: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let mut wrong: Vec<(String, String)> = vec![];
    while wrong.len() < limits::WRONG_FIELDS
        && let Err(error) = serde_path_to_error::deserialize::<_, T>(&rest)
    {
        let (field, problem) = wrong_field(&error);
        let is_missing = problem.starts_with("missing field");
        let is_known = wrong.iter().any(|(known, _)| *known == field);
        // One that was taken out because it was wrong may be required.
        if is_known && !is_missing {
            break;
        }
        let mended = match is_missing {
            true => stand_in::<T>(&mut rest, &field),
            false => place(&mut rest, &field).is_some_and(|(of, name)| of.remove(name).is_some()),
        };
        if !is_known {
            wrong.push((field, if is_missing { "is required".to_owned() } else { problem }));
        }
        if !mended {
            break;
        }
    }
    wrong
}

/// The object that a field is in, and its name there.
fn place<'a>(body: &'a mut Value, field: &'a str) -> Option<(&'a mut Map<String, Value>, &'a str)> {
    let (parent, name) = field.rsplit_once('.').unwrap_or(("", field));
    let pointer = match parent {
        "" => String::new(),
        parent => format!("/{}", parent.replace(['[', '.'], "/").replace(']', "")),
    };
    Some((body.pointer_mut(&pointer)?.as_object_mut()?, name))
}

/// Puts something into a required field that it takes, whatever its type: of a list of
/// words the error itself names one.
fn stand_in<T: DeserializeOwned>(body: &mut Value, field: &str) -> bool {
    let mut candidates = vec![json!({}), json!([]), json!(false), json!(1), json!("a")];
    while let Some(candidate) = candidates.pop() {
        let Some((of, name)) = place(body, field) else { return false };
        of.insert(name.to_owned(), candidate);
        let Err(error) = serde_path_to_error::deserialize::<_, T>(&*body) else { return true };
        let (wrong, problem) = wrong_field(&error);
        if !wrong.starts_with(field) || problem.starts_with("missing field") {
            return true;
        }
        if let Some((_, expected)) = problem.split_once("unknown variant `a`, expected ") {
            candidates.extend(expected.split('`').nth(1).map(|word| json!(word)));
        }
    }
    false
}

fn wrong_field(error: &serde_path_to_error::Error<serde_json::Error>) -> (String, String) {
    // A missing field is reported at the object that lacks it.
    let path = Some(error.path().to_string()).filter(|path| path != ".").unwrap_or_default();
    let problem = error.inner().to_string();
    let problem = problem.split(" at line ").next().unwrap_or_default().to_owned();
    (named(&path, &problem), problem)
}

/// Serde names a missing or unknown field in its sentence, not in its path.
fn named(path: &str, problem: &str) -> String {
    let quoted = problem.split('`').nth(1).unwrap_or_default();
    let names_field = problem.starts_with("missing field") || problem.starts_with("unknown field");
    match (path.is_empty(), names_field) {
        (_, false) => path.to_owned(),
        (true, true) => quoted.to_owned(),
        (false, true) if path.ends_with(quoted) => path.to_owned(),
        (false, true) => format!("{path}.{quoted}"),
    }
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let fits = |key: &&str| {
        (1..=limits::IDEMPOTENCY_KEY_BYTES).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let key = value.to_str().ok().filter(fits).ok_or_else(|| {
        let most = limits::IDEMPOTENCY_KEY_BYTES;
        Problem::new(
            Code::InvalidHeader,
            format!(
                "An Idempotency-Key must have 1 to {most} printable ASCII characters and no \
                     spaces."
            ),
        )
    })?;
    Ok(Some(key.to_owned()))
}

fn principal(parts: &Parts) -> String {
    parts.extensions.get::<Principal>().map_or_else(String::new, |who| who.0.clone())
}

/// Tells a repeated request from another one with the same key. The hash is
/// compared with hashes of this program only, and keys live for days.
fn hash(address: &str, body: &[u8]) -> String {
    let mut hasher = std::hash::DefaultHasher::new();
    address.hash(&mut hasher);
    body.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Parts of a path. What cannot be read names nothing that is here.
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(path) => Ok(Path(path.0)),
            Err(_) => Err(error::not_found().await),
        }
    }
}

/// A query string, with our own words when it is wrong.
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        query.map(|query| Query(query.0)).map_err(|rejection| {
            let told = rejection.body_text();
            let told = told.rsplit_once("query string: ").map_or(told.as_str(), |(_, told)| told);
            let (path, problem) = told.split_once(": ").unwrap_or(("", told));
            match named(path, problem) {
                field if field.is_empty() => {
                    Problem::new(Code::InvalidQuery, format!("The query is wrong: {problem}."))
                }
                field => Problem::new(Code::InvalidQuery, format!("`{field}`: {problem}"))
                    .field(field, problem),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::wrong_fields;

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Colour {
        Red,
        Blue,
    }

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Body {
        first_name: String,
        colour: Colour,
        parts: Vec<Part>,
        size: u32,
        #[serde(default)]
        note: Option<String>,
        inner: Part,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read")]
    struct Part {
        name: String,
        deep: bool,
    }

    fn check(body: &str, expected: &[&str]) {
        let wrong = wrong_fields::<Body>(body.as_bytes());
        let fields: Vec<&str> = wrong.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, expected, "{body}: {wrong:?}");
    }

    #[test]
    fn every_wrong_or_missing_field_is_named() {
        // What is missing is named with what it needs itself.
        let all = ["firstName", "colour", "parts", "size", "inner", "inner.name", "inner.deep"];
        check("{}", &all);
        check(
            r#"{"firstName":7,"colour":"green","parts":[],"size":-1,"note":1,"inner":{}}"#,
            &["colour", "firstName", "inner.name", "inner.deep", "note", "size"],
        );
        let part = r#"{"name":"n","deep":true}"#;
        let rest = format!(r#""firstName":"a","colour":"red","size":1,"inner":{part}"#);
        check(
            &format!("{{{rest},\"parts\":[{{}},{part},{{\"nam\":1}}]}}"),
            &["parts[0].name", "parts[0].deep", "parts[2].nam", "parts[2].name", "parts[2].deep"],
        );
        check(&format!("{{{rest},\"parts\":[1]}}"), &["parts[0]"]);
    }
}
