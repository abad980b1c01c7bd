//! Pages: the interface, and the API's documentation. Nothing is loaded from elsewhere.

mod docs;
mod files;

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::{App, error};

pub use docs::routes;
use files::File;

/// Addresses that are no pages. What is not found there is said in JSON.
const APART: [&str; 9] =
    ["api", "mcp", "node", "socket.io", "docs", "metrics", "healthz", "readyz", "v1"];
/// Vite names these by their contents, so that they never change.
const ASSETS: &str = "assets";
/// What programs look up about a server. It is no page, whoever asks.
const WELL_KNOWN: &str = ".well-known";
/// Where the interface has pages, by the first part of the address.
const PLACES: [&str; 10] = [
    "",
    "boardrooms",
    "discussions",
    "whiteboards",
    "councils",
    "runs",
    "workflows",
    "history",
    "library",
    "settings",
];
const INDEX: &str = "index.html";

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; \
     img-src 'self' data:; connect-src 'self'; manifest-src 'self'; form-action 'self'; \
     base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'",
);

/// What every page is held to.
const GUARDS: [(HeaderName, HeaderValue); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "accelerometer=(), autoplay=(), camera=(), clipboard-read=(), \
             clipboard-write=(self), display-capture=(), encrypted-media=(), fullscreen=(), \
             geolocation=(), gyroscope=(), hid=(), idle-detection=(), magnetometer=(), \
             microphone=(), midi=(), payment=(), picture-in-picture=(), \
             publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=(), \
             xr-spatial-tracking=()",
        ),
    ),
];

/// Whatever no route takes: a file of the interface, one of its pages, or nothing.
pub async fn fallback(State(app): State<App>, request: Request) -> Response {
    let (method, path) = (request.method(), request.uri().path());
    if is_page(method, path)
        && let Some(response) = page(&app, path, request.headers()).await
    {
        return response;
    }
    error::not_found().await.into_response()
}

/// Whether this asks for the interface itself, which holds no data.
pub fn is_page(method: &Method, path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    matches!(*method, Method::GET | Method::HEAD) && !APART.contains(&first)
}

async fn page(app: &App, path: &str, headers: &HeaderMap) -> Option<Response> {
    let folder = app.web_folder.as_deref();
    let name = path.trim_start_matches('/');
    if let Some(file) = files::find(folder, name).await {
        return Some(answer(name, file, headers));
    }
    if !navigates(name, headers) {
        return None;
    }
    // The page knows its own addresses, such as `/boardrooms/ID`.
    let index = files::find(folder, INDEX).await?;
    Some(answer(INDEX, index, headers))
}

/// A browser that opens an address says that it wants HTML, and the page itself says
/// when there is nothing. Without that word an address is a page where pages are; what
/// looks like a file is meant as one, though the name of a whiteboard may have a dot.
fn navigates(name: &str, headers: &HeaderMap) -> bool {
    let first = name.split('/').next().unwrap_or_default();
    if [ASSETS, WELL_KNOWN].contains(&first) {
        return false;
    }
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_page = PLACES.contains(&first) && !last.contains('.');
    is_page || text(headers, header::ACCEPT).contains("text/html")
}

fn answer(name: &str, file: File, headers: &HeaderMap) -> Response {
    let mut found = HeaderMap::new();
    found.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    found.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    if file.packed.is_some() {
        found.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if name.split('/').next() == Some(ASSETS) {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        found.insert(header::CACHE_CONTROL, forever);
    } else {
        found.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let tag = tag(&file.plain);
        let is_known = text(headers, header::IF_NONE_MATCH).contains(&tag);
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            found.insert(header::ETAG, tag);
        }
        if is_known {
            return guard((StatusCode::NOT_MODIFIED, found).into_response());
        }
    }
    let Some(packed) = file.packed else { return guard((found, file.plain).into_response()) };
    if !takes_gzip(headers) {
        return guard((found, file.plain).into_response());
    }
    found.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    guard((found, packed).into_response())
}

/// Weak, because the packed form is another sequence of the same bytes.
fn tag(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("W/\"{:016x}\"", hasher.finish())
}

pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    text(headers, header::ACCEPT_ENCODING).split(',').any(|offer| {
        let (name, quality) = offer.split_once(';').unwrap_or((offer, ""));
        let quality = quality.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case("gzip") && quality.parse().unwrap_or(1.0) > 0.0
    })
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "txt" | "sql" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

fn guard(mut response: Response) -> Response {
    response.headers_mut().extend(GUARDS);
    response
}

/// What we call JSON or Markdown must not be taken for a page, and what a session says
/// must not stay in the store of a browser or of a proxy.
pub fn as_told(mut response: Response) -> Response {
    let (name, value) = GUARDS[0].clone();
    response.headers_mut().insert(name, value);
    let stored = response.headers_mut().entry(header::CACHE_CONTROL);
    stored.or_insert(HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Method, header};

    use super::{PLACES, is_page, navigates, takes_gzip};

    #[test]
    fn pages_stand_beside_the_interfaces() {
        for path in ["/", "/boardrooms/1", "/assets/a.js", "/apiary", "/documents", "//x", "/v1x"] {
            assert!(is_page(&Method::GET, path), "{path}");
            assert!(!is_page(&Method::POST, path), "{path}");
        }
        for path in ["/api", "/api/x", "/mcp", "/socket.io/", "/docs/x", "/metrics", "/v1/models"] {
            assert!(!is_page(&Method::GET, path), "{path}");
        }
    }

    #[test]
    fn a_browser_may_open_any_address_and_a_program_only_pages() {
        let mut headers = HeaderMap::new();
        let never = ["assets/x.js", ".well-known/oauth-authorization-server"];
        let by_browsers = ["whiteboards/plan.v2", "nowhere", "register", "favicon.ico"];
        let check = |names: &[&str], headers: &HeaderMap, expected: bool| {
            for name in names {
                assert_eq!(navigates(name, headers), expected, "{name}");
            }
        };
        for accept in ["", "*/*", "application/json", "text/event-stream"] {
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            check(&["", "settings", "whiteboards/plan"], &headers, true);
            check(&by_browsers, &headers, false);
            check(&never, &headers, false);
        }
        headers.insert(header::ACCEPT, "text/html,*/*;q=0.8".parse().unwrap());
        check(&by_browsers, &headers, true);
        check(&never, &headers, false);
    }

    #[test]
    fn the_places_are_those_of_the_interface() {
        let named = |file: &str, before: &[&str]| -> Vec<String> {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/src/");
            let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
            let lines = text.lines().map(str::trim);
            let named = lines.filter_map(|line| {
                before.iter().find_map(|before| line.strip_prefix(before)?.split('"').next())
            });
            named.map(str::to_owned).collect()
        };
        let mut places = named("session/kinds.ts", &["place: \"", "list: \""]);
        let apart = named("shell/places.ts", &["{ href: \"/"]);
        places.splice(..0, apart[..1].to_vec());
        places.extend(apart[1..].to_vec());
        assert_eq!(places, PLACES);
    }

    #[test]
    fn gzip_is_sent_to_whoever_takes_it() {
        for (given, expected) in [
            ("gzip", true),
            ("br, gzip;q=0.5", true),
            ("deflate, GZIP", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, given.parse().unwrap())]);
            assert_eq!(takes_gzip(&headers), expected, "{given}");
        }
    }
}
