//! Pages: what is here, and the API's documentation. Nothing is loaded from
//! elsewhere, and no script runs.

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::App;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:3rem auto;\
    padding:0 1rem;color:#1c1c1a;background:#f7f7f5}code{background:#ecece8;padding:.1em .3em;\
    border-radius:4px}h2{margin-top:2.5rem}dt{margin-top:1rem}dd{margin-left:1.5rem}\
    @media(prefers-color-scheme:dark){body{color:#e8e8e4;background:#0e1013}code{background:#23262b}\
    a{color:#9fb4ff}}";

pub fn routes(document: Arc<OpenApi>) -> Router<App> {
    let docs = Arc::new(docs_page(&serde_json::to_value(&*document).unwrap_or_default()));
    let json = Arc::new(document.to_json().unwrap_or_default());
    Router::new()
        .route("/", get(async || page("Plenary", HOME)))
        .route(
            "/api/openapi.json",
            get(async move || {
                ([(header::CONTENT_TYPE, "application/json")], json.as_str().to_owned())
            }),
        )
        .route("/docs", get(async move || page("Plenary API", &docs)))
}

fn page(title: &str, body: &str) -> Response {
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>{STYLE}</style><body>{body}</body></html>"
    );
    let mut response = Html(html).into_response();
    let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

const HOME: &str = "<h1>Plenary</h1>
<p>Models, agents and people deliberate here, and the record is kept.</p>
<p>Convene a board:</p>
<pre><code>curl -s -X POST localhost:7171/api/boardrooms \\
  -H 'content-type: application/json' -d '{\"prompt\": \"Should we rewrite it in Rust?\"}'</code></pre>
<ul>
<li><a href=\"/docs\">What the API offers</a>, and the same as <a href=\"/api/openapi.json\">OpenAPI</a></li>
<li><a href=\"/api/sessions\">Sessions</a>, <a href=\"/api/models\">models</a>, <a href=\"/api/providers\">providers</a></li>
<li><a href=\"/healthz\">health</a>, <a href=\"/metrics\">metrics</a></li>
</ul>
<p>In a terminal: <code>plenary ask \"…\"</code>. The web interface comes later.</p>";

fn docs_page(document: &Value) -> String {
    let mut html = String::from(
        "<h1>Plenary API</h1><p>The whole contract is <a href=\"/api/openapi.json\">\
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
    html.push_str("</dl>");
    html
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
