//! What the API offers, to be read by people. No script runs on this page.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;

use super::guard;
use crate::App;

const STYLE: &str = include_str!("style.css");
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

// Both are made by whoever first asks.
static PAGE: LazyLock<String> = LazyLock::new(|| page(&crate::document_value()));
static JSON: LazyLock<String> = LazyLock::new(|| crate::document().to_json().unwrap_or_default());

pub fn routes() -> Router<App> {
    let css = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    let json = [(header::CONTENT_TYPE, "application/json")];
    Router::new()
        .route("/docs", get(async || guarded(Html(PAGE.as_str()))))
        .route("/docs/style.css", get(async move || guarded((css, STYLE))))
        .route("/api/openapi.json", get(async move || (json, JSON.as_str())))
}

fn guarded(answer: impl IntoResponse) -> Response {
    let mut response = guard(answer.into_response());
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}

fn page(document: &Value) -> String {
    let mut html = String::from(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Plenary API</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\"><body>\
         <h1>Plenary API</h1><p>The whole contract is <a href=\"/api/openapi.json\">\
         /api/openapi.json</a>. Answers come as <code>{\"success\": true, \"data\": …}</code>, \
         errors as <code>{\"success\": false, \"error\": {\"code\", \"message\", \"hint\"}}</code>.</p><dl>",
    );
    let paths = document["paths"].as_object().into_iter().flatten();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let text = |key: &str| escape(operation[key].as_str().unwrap_or_default());
            let (summary, more) = (text("summary"), text("description"));
            let _ = write!(
                html,
                "<dt><code>{} {}</code></dt><dd>{summary} {more}</dd>",
                method.to_uppercase(),
                escape(path)
            );
        }
    }
    html.push_str("</dl></body></html>");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
