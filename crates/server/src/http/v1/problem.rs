//! Errors as OpenAI tells them. The only file with status codes of errors on `/v1`.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_domain::FailureKind;
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

use crate::error::{Code, Problem};

/// Whatever went wrong on the way to `/v1`, in its shape.
pub async fn in_shape(request: Request, next: impl AsyncFnOnce(Request) -> Response) -> Response {
    let is_here = request.uri().path().starts_with("/v1/");
    let response = next(request).await;
    let problem = response.extensions().get::<Problem>().filter(|_| is_here);
    let Some(fault) = problem.map(Fault::from) else { return response };
    let mut told = fault.into_response();
    // Who may read it was said of the first answer.
    for (name, value) in response.headers() {
        let is_own = matches!(*name, header::CONTENT_LENGTH | header::CONTENT_TYPE);
        if !is_own && !told.headers().contains_key(name) {
            told.headers_mut().append(name, value.clone());
        }
    }
    told
}

#[derive(Serialize, ToSchema)]
#[schema(as = OpenAiErrorBody)]
pub struct FaultBody {
    error: FaultView,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = OpenAiError)]
pub struct FaultView {
    message: String,
    r#type: &'static str,
    /// The parameter that is wrong.
    param: Option<String>,
    code: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Fault {
    status: StatusCode,
    view: FaultView,
    /// Whether a client should try again by itself. A board that has failed costs what it
    /// cost once more.
    again: bool,
    retry_after_s: Option<u64>,
}

const INVALID: &str = "invalid_request_error";
const SERVER: &str = "server_error";

impl Fault {
    fn new(status: StatusCode, kind: &'static str, code: &str, message: String) -> Self {
        let view = FaultView { message, r#type: kind, param: None, code: Some(code.to_owned()) };
        Fault { status, view, again: false, retry_after_s: None }
    }

    /// The board has come to no verdict.
    pub fn failed(kind: Option<FailureKind>, message: String) -> Self {
        match kind {
            Some(FailureKind::OutOfBudget | FailureKind::OutOfCredit) => {
                let quota = "insufficient_quota";
                Fault::new(StatusCode::TOO_MANY_REQUESTS, quota, quota, message)
            }
            Some(FailureKind::RateLimited) => {
                let code = "rate_limit_exceeded";
                Fault::new(StatusCode::TOO_MANY_REQUESTS, "requests", code, message)
            }
            Some(FailureKind::PromptTooLong) => {
                let code = "context_length_exceeded";
                Fault::new(StatusCode::BAD_REQUEST, INVALID, code, message)
            }
            Some(_) | None => Fault::new(StatusCode::BAD_GATEWAY, SERVER, "board_failed", message),
        }
    }

    pub fn stopped() -> Self {
        let message = "The board was stopped before it reached a verdict.".to_owned();
        Fault::new(StatusCode::CONFLICT, SERVER, "board_stopped", message)
    }

    pub fn lost() -> Self {
        let message = "The connection to the board was lost.".to_owned();
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, SERVER, "internal", message)
    }

    pub fn view(&self) -> &FaultView {
        &self.view
    }
}

impl FaultView {
    pub fn code(&self) -> &str {
        self.code.as_deref().unwrap_or(SERVER)
    }

    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<&Problem> for Fault {
    fn from(problem: &Problem) -> Self {
        let said = problem.said();
        let (status, kind, code) = match said.code {
            Code::InvalidJson
            | Code::InvalidQuery
            | Code::InvalidHeader
            | Code::InvalidInput
            | Code::IdempotencyKeyReused => (StatusCode::BAD_REQUEST, INVALID, None),
            Code::Unauthorized => (StatusCode::UNAUTHORIZED, INVALID, Some("invalid_api_key")),
            Code::ForbiddenHost
            | Code::ForbiddenOrigin
            | Code::Forbidden
            | Code::NotYourAgent
            | Code::NotYours
            | Code::NotInvited => (StatusCode::FORBIDDEN, INVALID, None),
            Code::NotFound if said.fields.iter().any(|(field, _)| *field == "model") => {
                (StatusCode::NOT_FOUND, INVALID, Some("model_not_found"))
            }
            Code::NotFound => (StatusCode::NOT_FOUND, INVALID, None),
            Code::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, INVALID, None),
            Code::NotNow | Code::Taken => (StatusCode::CONFLICT, INVALID, None),
            Code::NoModel => (StatusCode::SERVICE_UNAVAILABLE, SERVER, None),
            Code::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, INVALID, None),
            Code::TooSlow => (StatusCode::REQUEST_TIMEOUT, INVALID, None),
            Code::UnsupportedMediaType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID, None),
            Code::Busy | Code::TooManyTries => {
                (StatusCode::TOO_MANY_REQUESTS, "requests", Some("rate_limit_exceeded"))
            }
            Code::Internal => (StatusCode::INTERNAL_SERVER_ERROR, SERVER, None),
            Code::StoreFailed | Code::Draining => (StatusCode::SERVICE_UNAVAILABLE, SERVER, None),
        };
        let param = said.fields.first().map(|(field, _)| (*field).to_owned());
        let code = code.map_or_else(|| said.code.name().replace('-', "_"), str::to_owned);
        let view = FaultView { message: message(problem), r#type: kind, param, code: Some(code) };
        let again = matches!(
            said.code,
            Code::Busy | Code::TooManyTries | Code::StoreFailed | Code::Draining | Code::TooSlow
        );
        Fault { status, view, again, retry_after_s: said.retry_after_s }
    }
}

/// Hints name routes of another interface, so only some are told here.
fn message(problem: &Problem) -> String {
    let said = problem.said();
    let wrong: Vec<String> =
        said.fields.iter().map(|(field, problem)| format!("{field}: {problem}")).collect();
    match (said.code, said.hint) {
        (Code::InvalidInput, _) if !wrong.is_empty() => wrong.join("; "),
        (Code::Unauthorized, _) => {
            // Some clients know a wrong key by OpenAI's words.
            "Incorrect API key provided. The API key is the access token of this server.".to_owned()
        }
        (
            Code::NoModel | Code::ForbiddenHost | Code::ForbiddenOrigin | Code::TooSlow,
            Some(hint),
        ) => {
            format!("{} {hint}", said.message)
        }
        (_, _) => said.message.to_owned(),
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let Fault { status, view, again, retry_after_s } = self;
        let mut response = (status, Json(FaultBody { error: view })).into_response();
        let headers = response.headers_mut();
        // The official clients heed it.
        let should = HeaderValue::from_static(if again { "true" } else { "false" });
        headers.insert("x-should-retry", should);
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// What a request may be answered instead of what it asked for.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "the variants stand in the OpenAPI document only")]
pub enum Faults {
    /// The body is no JSON, or a parameter is wrong or not supported.
    #[response(status = 400)]
    Invalid(FaultBody),
    /// The API key is missing or wrong.
    #[response(status = 401)]
    Unauthorized(FaultBody),
    /// This host or this web page may not use the server.
    #[response(status = 403)]
    Forbidden(FaultBody),
    /// There is no such model or session.
    #[response(status = 404)]
    NotFound(FaultBody),
    /// The body arrived too slowly.
    #[response(status = 408)]
    TooSlow(FaultBody),
    /// The session cannot go on now, or was stopped.
    #[response(status = 409)]
    NotNow(FaultBody),
    /// The body is too large.
    #[response(status = 413)]
    TooLarge(FaultBody),
    /// The body must be `application/json`.
    #[response(status = 415)]
    MediaType(FaultBody),
    /// Too much at once, or the budget is spent.
    #[response(status = 429)]
    Busy(FaultBody),
    /// The board has come to no verdict.
    #[response(status = 502)]
    Failed(FaultBody),
    /// No model can be reached, or the store failed.
    #[response(status = 503)]
    Unavailable(FaultBody),
}
