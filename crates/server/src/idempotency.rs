//! A request that may arrive twice, and its body.

use std::hash::{Hash, Hasher};

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::{HeaderMap, header, request::Parts};
use plenary_domain::limits;
use plenary_engine::By;
use plenary_engine::ports::Idempotency;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use utoipa::IntoParams;

use crate::auth::Principal;
use crate::error::{self, Code, Problem};

/// The header that makes a request safe to repeat, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "it stands in the OpenAPI document only")]
pub struct Key {
    /// A second request with the same key changes nothing and answers with the
    /// session as it stands.
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
        let headers = parts.headers.clone();
        let bytes = Bytes::from_request(Request::from_parts(parts, body), state);
        let bytes = bytes.await.map_err(|rejection| {
            if rejection.status() == Code::TooLarge.status() {
                let most = limits::BODY_BYTES;
                Problem::new(Code::TooLarge, format!("A body may have {most} bytes."))
            } else {
                Problem::new(Code::InvalidJson, "The body could not be read to its end.")
            }
        })?;
        let body = parse(&headers, &bytes)?;
        let idempotency = key.map(|key| Idempotency {
            principal: principal.clone(),
            key,
            request_hash: hash(&address, &bytes),
        });
        Ok(Change { by: By { actor: principal, idempotency }, body })
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
            Err(error) => format!("The body is no JSON: {error}."),
        };
        return Err(Problem::new(Code::InvalidJson, problem));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        if !error.inner().is_data() {
            let problem = format!("The body is no JSON: {}.", error.inner());
            return Problem::new(Code::InvalidJson, problem);
        }
        let all = wrong_fields::<T>(bytes);
        // Nothing more may be found: a field that is given twice stands there once.
        Problem::invalid(if all.is_empty() { vec![wrong_field(&error)] } else { all })
    })?;
    json.end().map_err(|error| {
        Problem::new(Code::InvalidJson, format!("The body is no JSON: {error}."))
    })?;
    Ok(parsed)
}

/// Every wrong field, in the order of the body. What is wrong is taken out and the
/// rest is read again; a required field that is wrong ends it, as nothing can
/// stand in its place.
fn wrong_fields<T: DeserializeOwned>(bytes: &[u8]) -> Vec<(String, String)> {
    let mut rest: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let mut wrong: Vec<(String, String)> = vec![];
    while wrong.len() < limits::WRONG_FIELDS
        && let Err(error) = serde_path_to_error::deserialize::<_, T>(&rest)
    {
        let (field, problem) = wrong_field(&error);
        if wrong.iter().any(|(known, _)| *known == field) {
            break;
        }
        let taken_out = take_out(&mut rest, &field);
        wrong.push((field, problem));
        if !taken_out {
            break;
        }
    }
    wrong
}

fn take_out(from: &mut Value, field: &str) -> bool {
    let pointer = format!("/{}", field.replace(['[', '.'], "/").replace(']', ""));
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    match from.pointer_mut(parent) {
        Some(Value::Object(fields)) => fields.remove(name).is_some(),
        _ => false,
    }
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
            format!("An Idempotency-Key has 1 to {most} printable ASCII characters and no spaces."),
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
            Problem::new(
                Code::InvalidQuery,
                format!("The query is wrong: {}.", rejection.body_text()),
            )
        })
    }
}
