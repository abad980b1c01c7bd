//! Errors on the wire. The only file with status codes of errors.

use std::fmt;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_clerk::ClerkError;
use plenary_domain::reject::told;
use plenary_domain::{Reject, Wrong};
use plenary_engine::EngineError;
use plenary_engine::ports::StoreError;
use serde::Serialize;
use utoipa::{IntoResponses, ToSchema};

/// A stable name for each thing that can be wrong. Each has a page in
/// `docs/errors/`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    InvalidJson,
    InvalidQuery,
    InvalidHeader,
    Unauthorized,
    ForbiddenHost,
    ForbiddenOrigin,
    Forbidden,
    NotYourAgent,
    NotYours,
    NotInvited,
    NotFound,
    MethodNotAllowed,
    NotNow,
    Taken,
    NoModel,
    TooLarge,
    TooSlow,
    UnsupportedMediaType,
    InvalidInput,
    IdempotencyKeyReused,
    Busy,
    TooManyTries,
    Internal,
    StoreFailed,
    Draining,
}

impl Code {
    pub const ALL: [Code; 25] = [
        Code::InvalidJson,
        Code::InvalidQuery,
        Code::InvalidHeader,
        Code::Unauthorized,
        Code::ForbiddenHost,
        Code::ForbiddenOrigin,
        Code::Forbidden,
        Code::NotYourAgent,
        Code::NotYours,
        Code::NotInvited,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::NotNow,
        Code::Taken,
        Code::NoModel,
        Code::TooLarge,
        Code::TooSlow,
        Code::UnsupportedMediaType,
        Code::InvalidInput,
        Code::IdempotencyKeyReused,
        Code::Busy,
        Code::TooManyTries,
        Code::Internal,
        Code::StoreFailed,
        Code::Draining,
    ];

    pub fn status(self) -> StatusCode {
        match self {
            Code::InvalidJson | Code::InvalidQuery | Code::InvalidHeader => StatusCode::BAD_REQUEST,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::ForbiddenHost
            | Code::ForbiddenOrigin
            | Code::Forbidden
            | Code::NotYourAgent
            | Code::NotYours
            | Code::NotInvited => StatusCode::FORBIDDEN,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::NotNow | Code::Taken | Code::NoModel => StatusCode::CONFLICT,
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Code::InvalidInput | Code::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Code::Busy | Code::TooManyTries => StatusCode::TOO_MANY_REQUESTS,
            Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Code::StoreFailed | Code::Draining => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The name on the wire.
    pub fn name(self) -> String {
        let name = serde_json::to_value(self).ok();
        name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// An error that is about to be sent.
#[derive(Clone, Debug)]
pub struct Problem(Box<ErrorBody>);

/// What a problem says, for whoever tells it in another shape.
pub struct Said<'a> {
    pub code: Code,
    pub message: &'a str,
    pub hint: Option<&'a str>,
    pub fields: Vec<(&'a str, &'a str)>,
    pub retry_after_s: Option<u64>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// Always false.
    success: bool,
    error: ErrorBody,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErrorBody {
    code: Code,
    /// What was wrong, in a sentence.
    message: String,
    /// What would be right, or what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hint: Option<String>,
    /// Every wrong field, up to a limit; `message` says how many there are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    fields: Vec<FieldBody>,
    /// With `not-now`: the state that the session is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    state: Option<&'static str>,
    /// With `not-now`: what can be done in this state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    allowed: Vec<&'static str>,
    #[serde(skip)]
    retry_after_s: Option<u64>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldBody {
    field: String,
    problem: String,
}

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Problem(Box::new(ErrorBody {
            code,
            message: message.into(),
            hint: None,
            fields: vec![],
            state: None,
            allowed: vec![],
            retry_after_s: None,
        }))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What the header `Retry-After` says.
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }

    pub fn field(mut self, field: impl Into<String>, problem: impl Into<String>) -> Self {
        self.0.fields.push(FieldBody { field: field.into(), problem: problem.into() });
        self
    }

    /// Wrong input, with every wrong field.
    pub fn invalid(fields: impl IntoIterator<Item = (String, String)>) -> Self {
        let wrong = fields.into_iter().map(|(field, problem)| Wrong { field, problem });
        let (message, wrong) = told(wrong);
        let problem = Problem::new(Code::InvalidInput, message);
        wrong.into_iter().fold(problem, |problem, wrong| problem.field(wrong.field, wrong.problem))
    }

    /// The same about a query.
    pub fn in_query(reject: Reject) -> Self {
        let mut problem = Problem::from(reject);
        if problem.0.code == Code::InvalidInput {
            problem.0.code = Code::InvalidQuery;
        }
        problem
    }

    pub fn said(&self) -> Said<'_> {
        let body = &*self.0;
        Said {
            code: body.code,
            message: &body.message,
            hint: body.hint.as_deref(),
            fields: body
                .fields
                .iter()
                .map(|field| (field.field.as_str(), field.problem.as_str()))
                .collect(),
            retry_after_s: body.retry_after_s,
        }
    }

    /// As it stands in a body.
    pub fn body(self) -> ProblemBody {
        ProblemBody { success: false, error: *self.0 }
    }

    /// A refusal about stored agents, with what to do about it.
    fn about_agents(reject: Reject) -> Self {
        let hint = match &reject {
            Reject::Unknown(_) => "List them with GET /api/agents.",
            Reject::NotNow { allowed, .. } if allowed.contains(&"copy") => {
                "Copy it with POST /api/agents and its id as `copyOf`."
            }
            Reject::NotNow { .. } => "Make room with DELETE /api/agents/{id}.",
            Reject::Invalid(_)
            | Reject::Forbidden(_)
            | Reject::NotInvited(_)
            | Reject::Taken(_)
            | Reject::Stale => {
                return reject.into();
            }
        };
        Problem::from(reject).hint(hint)
    }

    /// The same about saved boards.
    fn about_boards(reject: Reject) -> Self {
        let hint = match &reject {
            Reject::Unknown(_) => "List them with GET /api/boards.",
            Reject::NotNow { allowed, .. } if allowed.contains(&"copy") => {
                "Copy it with POST /api/boards and its name as `copyOf`."
            }
            Reject::NotNow { .. } => "Make room with DELETE /api/boards/{name}.",
            Reject::Taken(_) => {
                "Choose another name, or replace that board: with `replace` for a file, otherwise \
                 with PATCH /api/boards/{name}."
            }
            Reject::Invalid(_) | Reject::Forbidden(_) | Reject::NotInvited(_) | Reject::Stale => {
                return reject.into();
            }
        };
        Problem::from(reject).hint(hint)
    }

    pub fn internal() -> Self {
        Problem::new(Code::Internal, "Plenary hit an internal error.")
            .hint("Please report it with the server's log. A change may have been made anyway.")
    }

    pub fn no_such_session(id: impl std::fmt::Display) -> Self {
        Problem::new(Code::NotFound, format!("There is no session {id}."))
            .hint("List them with GET /api/sessions.")
    }
}

impl From<ClerkError> for Problem {
    fn from(error: ClerkError) -> Self {
        let not_yours = |message: String| Problem::new(Code::NotYours, message);
        let not_your_agent = |message: String| Problem::new(Code::NotYourAgent, message);
        match error {
            ClerkError::Refused(reject) => reject.into(),
            ClerkError::Agents(reject) => Problem::about_agents(reject),
            ClerkError::Boards(reject) => Problem::about_boards(reject),
            ClerkError::NoModel(none) => {
                Problem::new(Code::NoModel, none.problem).hint(none.remedy)
            }
            ClerkError::WrongToken => {
                not_your_agent("This agent token does not belong to this session.".into()).hint(
                    "A token works only on the whiteboard or council that issued it, and only the \
                     latest one. The operator of this server can replace a lost one.",
                )
            }
            ClerkError::NoAgent => {
                not_your_agent("This needs the token of an agent that has joined here.".into())
                    .hint(
                        "Join first, then send the returned `agentToken` as the header \
                         `Agent-Token`. The operator of this server can replace a lost one.",
                    )
            }
            ClerkError::NotYourAgent { agent, proven: Some(proven) } => {
                not_your_agent(format!("The token is {proven}'s, not {agent}'s."))
            }
            ClerkError::NotYourAgent { agent, proven: None } => {
                not_your_agent(format!("{agent} is someone else's name here.")).hint(
                    "Send the token you got on joining as the header `Agent-Token` (over MCP as \
                     `agent_token`), or choose another name.",
                )
            }
            ClerkError::NotYours { kind, verb, by_token } => not_yours(format!(
                "Only the person who opened this {kind}, or the operator of this server, can \
                 {verb} it."
            ))
            .hint(match by_token {
                true => {
                    "Send the `agentToken` you got on opening it as the header `Agent-Token` (over \
                     MCP as `agent_token`), or use the access token it was opened with."
                }
                false => "Use the access token it was opened with, or the operator's.",
            }),
            ClerkError::NotYourSeat => not_yours(
                "Only that person, the person who opened this session, and the operator of this \
                 server can answer for this seat."
                    .into(),
            )
            .hint(
                "Send the person's `seatToken`, which the person who opened the session has, as \
                 the header `Agent-Token`.",
            ),
            ClerkError::OtherSeat(own) => not_yours(format!("The token is for {own}.")),
            ClerkError::NotOperator(what) => {
                not_yours(format!("Only the operator of this server can {what}.")).hint(
                    "The operator uses the first of the server's access tokens, or works on the \
                     machine itself, and not as an agent.",
                )
            }
            ClerkError::NotKept(problem) => Problem::new(Code::StoreFailed, problem),
            ClerkError::Unreadable(what) => {
                let message = format!("The {what} was saved but cannot be read back.");
                Problem::new(Code::Internal, message)
            }
            ClerkError::Engine(error) => error.into(),
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Rejected(reject) => reject.into(),
            EngineError::NotFound(id) => Problem::no_such_session(id),
            EngineError::Unnamed { kind, name } => {
                Problem::new(Code::NotFound, format!("There is no {kind} called {name}."))
                    .hint(format!("List them with GET /api/{kind}s."))
            }
            EngineError::Taken(name) => {
                Problem::new(Code::Taken, format!("The name {name} is taken.")).hint(
                    "Choose another name, or continue the session that has this one. Names are \
                     never reused, even after a session is removed.",
                )
            }
            EngineError::KeyReused => Problem::new(
                Code::IdempotencyKeyReused,
                "This Idempotency-Key was used for another request.",
            )
            .hint("Use a new key for each request; reuse a key only to repeat the same request."),
            EngineError::Busy => Problem::new(Code::Busy, "Too many sessions are running at once.")
                .hint("Try again when some have ended."),
            EngineError::Contended => {
                Problem::new(Code::Busy, "Others are changing this session right now.")
                    .hint("Try again.")
            }
            // The log of the program has the words.
            EngineError::Broken(_) => Problem::internal(),
            EngineError::Store(error) => error.into(),
        }
    }
}

impl From<Reject> for Problem {
    fn from(reject: Reject) -> Self {
        match reject {
            Reject::Invalid(wrong) => {
                Problem::invalid(wrong.into_iter().map(|wrong| (wrong.field, wrong.problem)))
            }
            Reject::NotNow { state, message, allowed } => {
                let mut problem = Problem::new(Code::NotNow, message)
                    .hint(format!("It is {state}; possible now: {}.", allowed.join(", ")));
                problem.0.state = Some(state);
                problem.0.allowed = allowed;
                problem
            }
            Reject::Unknown(message) => Problem::new(Code::NotFound, message),
            Reject::Forbidden(message) => Problem::new(Code::Forbidden, message),
            Reject::Taken(message) => Problem::new(Code::Taken, message),
            Reject::NotInvited(message) => Problem::new(Code::NotInvited, message)
                .hint("Send the code you were given as `invitation`."),
            Reject::Stale => Problem::new(Code::NotNow, "This call has already ended."),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        let problem = Problem::new(Code::StoreFailed, "The store could not be read or written.");
        match error {
            StoreError::Unreadable(_) => Problem::new(
                Code::StoreFailed,
                "This version of Plenary cannot read the stored data.",
            )
            .hint(
                "A newer version may have written it: update this server, or use an updated one. \
                 `plenary store check` says which session it is.",
            ),
            // A request writes once, so this is all of it.
            StoreError::NotWritten(_) => problem
                .hint("Nothing was changed. `plenary doctor` says what is wrong; then try again."),
            // It may have been a read after the write.
            StoreError::Failed(_)
            | StoreError::Damaged(_)
            | StoreError::InUse(_)
            | StoreError::Fenced => problem.hint(
                "`plenary doctor` says what is wrong. A change may have been made anyway: repeat \
                 it with the same Idempotency-Key, so that nothing is done twice.",
            ),
        }
    }
}

/// In one line, where there is room for nothing else.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.name(), self.0.message)?;
        self.0.hint.as_ref().map_or(Ok(()), |hint| write!(f, " {hint}"))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (code, status) = (self.0.code, self.0.code.status());
        let retry_after_s = self.0.retry_after_s.unwrap_or(2);
        let problem = self.clone();
        let body = Json(self.body());
        let mut response = (status, body).into_response();
        // Whoever answers in another shape finds it here.
        response.extensions_mut().insert(problem);
        let headers = response.headers_mut();
        match code {
            Code::Busy | Code::TooManyTries | Code::StoreFailed => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
            }
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

pub async fn not_found() -> Problem {
    Problem::new(Code::NotFound, "There is nothing at this address.")
        .hint("GET /api/openapi.json lists every route; /docs shows it.")
}

pub async fn method_not_allowed() -> Problem {
    Problem::new(Code::MethodNotAllowed, "This address does not support this method.")
        .hint("GET /api/openapi.json lists every route; /docs shows it.")
}

pub fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    Problem::internal().into_response()
}

/// What any request may be answered instead of what it asked for.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "the variants stand in the OpenAPI document only")]
pub enum ReadProblems {
    /// The query or a header is wrong.
    #[response(status = 400)]
    Query(ProblemBody),
    /// A token is missing or wrong.
    #[response(status = 401)]
    Unauthorized(ProblemBody),
    /// This host or this web page may not use the server.
    #[response(status = 403)]
    Forbidden(ProblemBody),
    /// There is no such thing.
    #[response(status = 404)]
    NotFound(ProblemBody),
    /// Too much at once; `Retry-After` says when to try again.
    #[response(status = 429)]
    Busy(ProblemBody),
    /// The store failed.
    #[response(status = 503)]
    StoreFailed(ProblemBody),
}

/// What a request that changes something may be answered besides.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "the variants stand in the OpenAPI document only")]
pub enum WriteProblems {
    /// The body is no JSON, or a header is wrong.
    #[response(status = 400)]
    Json(ProblemBody),
    /// A token is missing or wrong.
    #[response(status = 401)]
    Unauthorized(ProblemBody),
    /// This host or this web page may not use the server.
    #[response(status = 403)]
    Forbidden(ProblemBody),
    /// There is no such thing.
    #[response(status = 404)]
    NotFound(ProblemBody),
    /// The body arrived too slowly.
    #[response(status = 408)]
    TooSlow(ProblemBody),
    /// Not in this state; the answer names the state and what is possible.
    #[response(status = 409)]
    NotNow(ProblemBody),
    /// The body is too large.
    #[response(status = 413)]
    TooLarge(ProblemBody),
    /// The body must be `application/json`.
    #[response(status = 415)]
    MediaType(ProblemBody),
    /// Fields are wrong; each is named.
    #[response(status = 422)]
    Invalid(ProblemBody),
    /// Too much at once; `Retry-After` says when to try again.
    #[response(status = 429)]
    Busy(ProblemBody),
    /// The store failed; the hint says whether something may have been changed.
    #[response(status = 503)]
    StoreFailed(ProblemBody),
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use axum::http::StatusCode;
    use plenary_engine::EngineError;
    use plenary_engine::ports::StoreError;

    use super::{Code, Problem};

    fn check(error: EngineError, code: Code, message: &str, hint: &str) {
        let Problem(told) = error.into();
        assert_eq!((told.code, told.message.as_str()), (code, message));
        assert_eq!(told.hint.as_deref(), Some(hint));
    }

    #[test]
    fn names_are_told_with_what_to_do() {
        let unnamed =
            |kind: &str| EngineError::Unnamed { kind: kind.into(), name: "the plan".into() };
        check(
            unnamed("whiteboard"),
            Code::NotFound,
            "There is no whiteboard called the plan.",
            "List them with GET /api/whiteboards.",
        );
        check(
            unnamed("council"),
            Code::NotFound,
            "There is no council called the plan.",
            "List them with GET /api/councils.",
        );
        check(
            EngineError::Taken("the plan".into()),
            Code::Taken,
            "The name the plan is taken.",
            "Choose another name, or continue the session that has this one. Names are never \
             reused, even after a session is removed.",
        );
        assert_eq!(Code::Taken.status(), StatusCode::CONFLICT);
    }

    #[test]
    fn nothing_is_said_to_be_unchanged_that_may_have_changed() {
        let message = "The store could not be read or written.";
        check(
            StoreError::NotWritten("the disk is full".into()).into(),
            Code::StoreFailed,
            message,
            "Nothing was changed. `plenary doctor` says what is wrong; then try again.",
        );
        check(
            StoreError::Failed("the disk is full".into()).into(),
            Code::StoreFailed,
            message,
            "`plenary doctor` says what is wrong. A change may have been made anyway: repeat it \
             with the same Idempotency-Key, so that nothing is done twice.",
        );
    }

    #[test]
    fn every_code_has_a_page() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
        for code in Code::ALL {
            let page = folder.join(format!("{}.md", code.name()));
            let text = std::fs::read_to_string(&page).unwrap_or_default();
            let title = format!("# `{}` ({})", code.name(), code.status().as_u16());
            assert!(text.starts_with(&title), "{} should begin with {title:?}", page.display());
        }
    }
}
