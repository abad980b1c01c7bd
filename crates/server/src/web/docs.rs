//! The book that `docs/` is written as, to be read by people, and the API's document, to be
//! read by programs. No script runs on these pages.

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use super::{answer, files, guard};
use crate::{App, error};

const STYLE: &str = include_str!("style.css");
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

// Made by whoever first asks.
static JSON: LazyLock<String> = LazyLock::new(|| crate::document().to_json().unwrap_or_default());

pub fn routes() -> Router<App> {
    let css = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    let json = [(header::CONTENT_TYPE, "application/json")];
    Router::new()
        .route("/docs", get(async |headers: HeaderMap| page("", &headers).await))
        .route("/docs/", get(async || Redirect::permanent("/docs")))
        .route("/docs/style.css", get(async move || guarded((css, STYLE).into_response())))
        .route("/docs/{*page}", get(read))
        .route("/api/openapi.json", get(async move || (json, JSON.as_str())))
}

async fn read(Path(name): Path<String>, headers: HeaderMap) -> Response {
    // As the file is called in the repository, and as folders are called.
    let plain = name.trim_end_matches('/').trim_end_matches(".md");
    let plain = plain.strip_suffix("README").unwrap_or(plain).trim_end_matches('/');
    if plain != name && files::page(plain).is_some() {
        let address = format!("/docs/{plain}");
        return Redirect::permanent(address.trim_end_matches('/')).into_response();
    }
    page(&name, &headers).await
}

async fn page(name: &str, headers: &HeaderMap) -> Response {
    match files::page(name) {
        Some(file) if name.contains('.') => guarded(answer(name, file, headers)),
        Some(file) => guarded(answer("page.html", file, headers)),
        None => error::not_found().await.into_response(),
    }
}

fn guarded(response: Response) -> Response {
    let mut response = guard(response);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, POLICY);
    response
}
