//! The pages: what is served, with which headers, and what is not.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use plenary_server::Access;
use reqwest::{Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Setup, TestApp, answer, canned};

async fn get(app: &TestApp, path: &str, headers: &[(&str, &str)]) -> Response {
    let mut request = app.http.get(format!("{}{path}", app.url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// Files below a folder, with their names.
fn files(folder: &Path, prefix: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let read = |entry: std::fs::DirEntry| {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        match entry.path().is_dir() {
            true => files(&entry.path(), &format!("{name}/")),
            false => vec![(name, std::fs::read(entry.path()).unwrap())],
        }
    };
    entries.flat_map(read).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_binary_serves_what_was_built() {
    let app = TestApp::start(canned()).await;
    let built = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("ui"), "");
    assert!(!built.is_empty());
    for (name, bytes) in &built {
        let path = format!("/{name}");
        let plain = get(&app, &path, &[]).await;
        assert_eq!(plain.status(), 200, "{name}");
        assert_eq!(header(&plain, "content-encoding"), "");
        let kept = if name.starts_with("assets/") {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        assert_eq!(header(&plain, "cache-control"), kept, "{name}");
        assert_ne!(header(&plain, "content-type"), "application/octet-stream", "{name}");
        assert_eq!(&plain.bytes().await.unwrap()[..], bytes, "{name}");
        let packed = get(&app, &path, &[("accept-encoding", "br, gzip")]).await;
        if header(&packed, "content-encoding") == "gzip" {
            assert_eq!(header(&packed, "vary"), "accept-encoding");
            let (mut found, sent) = (vec![], packed.bytes().await.unwrap());
            GzDecoder::new(&sent[..]).read_to_end(&mut found).unwrap();
            assert_eq!(&found, bytes, "{name}");
        } else {
            assert_eq!(&packed.bytes().await.unwrap()[..], bytes, "{name}");
        }
    }
    let index = get(&app, "/", &[("accept-encoding", "gzip")]).await;
    assert_eq!(header(&index, "content-encoding"), "gzip");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_the_page_and_it_is_held_to_its_own_files() {
    let app = TestApp::start(canned()).await;
    let index = get(&app, "/", &[]).await.text().await.unwrap();
    for path in
        ["/boardrooms/01890000-0000-7000-8000-000000000000", "/settings", "/whiteboards/b?d=e"]
    {
        let page = get(&app, path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        let policy = header(&page, "content-security-policy");
        for rule in ["default-src 'none'", "script-src 'self'", "style-src 'self'"] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.ends_with("require-trusted-types-for 'script'; trusted-types 'none'"));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(header(&page, name), value, "{path}");
        }
        assert!(header(&page, "permissions-policy").contains("clipboard-write=(self)"));
        assert_eq!(page.text().await.unwrap(), index, "{path}");
    }
    // A whiteboard's name may have a dot, which a picture's has as well.
    let html = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    let dotted = "/whiteboards/plan.v2";
    assert_eq!(get(&app, dotted, &html).await.status(), 200);
    assert_eq!(get(&app, dotted, &[("accept", "image/*")]).await.status(), 404);
    let head = app.http.head(format!("{}/settings", app.url)).send().await.unwrap();
    assert_eq!((head.status(), header(&head, "cache-control")), (StatusCode::OK, "no-cache"));
    assert_eq!(header(&head, "content-length"), index.len().to_string());
    assert_eq!(head.text().await.unwrap(), "");
    // What programs look for is said in JSON to be nowhere, whatever they accept.
    for (path, accept) in [
        ("/.well-known/oauth-protected-resource/mcp", "application/json"),
        ("/.well-known/oauth-authorization-server", "*/*"),
        ("/.well-known/openid-configuration", "text/html"),
        ("/nowhere", "application/json"),
        ("/register", "*/*"),
    ] {
        let request = app.http.get(format!("{}{path}", app.url)).header("accept", accept);
        let (status, body) = answer(request).await;
        assert_eq!((status, &body["error"]["code"]), (404, &"not-found".into()), "{path}");
    }
    let browser = [("accept", "text/html,application/xhtml+xml")];
    assert_eq!(get(&app, "/nowhere", &browser).await.status(), 200);
    for path in ["/assets/none-1.js", "/assets", "/api", "/api/none", "/docs/none"] {
        let (status, body) = answer(app.http.get(format!("{}{path}", app.url))).await;
        assert_eq!((status, &body["error"]["code"]), (404, &"not-found".into()), "{path}");
    }
    let (status, _) = app.post("/settings", &serde_json::json!({})).await;
    assert_eq!(status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_known_is_not_sent_again() {
    let app = TestApp::start(canned()).await;
    let first = get(&app, "/", &[]).await;
    let tag = header(&first, "etag").to_owned();
    assert!(tag.starts_with("W/\""), "{tag}");
    let again = get(&app, "/boardrooms", &[("if-none-match", &tag)]).await;
    assert_eq!((again.status(), header(&again, "etag")), (StatusCode::NOT_MODIFIED, &tag[..]));
    assert!(header(&again, "content-security-policy").contains("default-src 'none'"));
    assert_eq!(again.bytes().await.unwrap().len(), 0);
    let other = get(&app, "/", &[("if-none-match", "W/\"other\"")]).await;
    assert_eq!(other.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_interface_needs_no_token_and_holds_no_data() {
    let access = Access { tokens: vec!["one".into()], ..Access::default() };
    let app = TestApp::with_access(canned(), access).await;
    for (path, expected) in [
        ("/", 200),
        ("/boardrooms/x", 200),
        ("/.well-known/oauth-protected-resource", 404),
        ("/assets/none.js", 404),
        ("/api/access", 200),
        ("/api/sessions", 401),
        ("/api/none", 401),
        ("/docs", 401),
        ("/metrics", 401),
    ] {
        assert_eq!(get(&app, path, &[]).await.status(), expected, "{path}");
    }
    // Where a page of elsewhere may not go, it gets no interface either.
    let elsewhere = [("origin", "https://evil.example")];
    assert_eq!(get(&app, "/", &elsewhere).await.status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_documentation_is_a_book_without_scripts() {
    let app = TestApp::start(canned()).await;
    for (path, says) in [
        ("/docs", "<a href=\"/docs/boardroom\">Boardroom</a>"),
        ("/docs/whiteboard", "<a href=\"/docs/security#who-may-do-what\">"),
        ("/docs/recipes/adr", "<a href=\"/docs/whiteboard\">"),
        ("/docs/errors", "<h1 id=\"errors\">"),
        ("/docs/many-nodes", "<a href=\"/docs/rights.sql\">"),
        ("/docs/rights.sql", "plenary_node"),
        ("/docs/reference/rest", "<h3 id=\"post-apiboardrooms\">POST /api/boardrooms</h3>"),
    ] {
        let page = get(&app, path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        let kind = if path.ends_with(".sql") { "plain" } else { "html" };
        assert_eq!(header(&page, "content-type"), format!("text/{kind}; charset=utf-8"));
        assert_eq!(header(&page, "x-content-type-options"), "nosniff");
        let policy = header(&page, "content-security-policy").to_owned();
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; base-uri"), "{policy}");
        let text = page.text().await.unwrap();
        assert!(text.contains(says), "{path}: {text}");
        for harmful in ["<script", "<style", "style=", "<img", "onclick", "javascript:"] {
            assert!(!text.contains(harmful), "{path} has {harmful}");
        }
    }
    let style = get(&app, "/docs/style.css", &[]).await;
    assert_eq!(header(&style, "content-type"), "text/css; charset=utf-8");
    for (path, leads) in [
        ("/docs/", "/docs"),
        ("/docs/README.md", "/docs"),
        ("/docs/boardroom.md", "/docs/boardroom"),
        ("/docs/errors/", "/docs/errors"),
        ("/docs/errors/README.md", "/docs/errors"),
    ] {
        let (status, location) = redirected(&app, path).await;
        assert_eq!((status, &location[..]), (308, leads), "{path}");
    }
    for path in ["/docs/none", "/docs/none.md", "/docs/../Cargo.toml", "/docs/recipes"] {
        let (status, body) = answer(app.http.get(format!("{}{path}", app.url))).await;
        assert_eq!((status, &body["error"]["code"]), (404, &"not-found".into()), "{path}");
    }
}

/// Every link of the book to a page of it has one.
#[tokio::test(flavor = "multi_thread")]
async fn the_book_links_to_pages_that_are_there() {
    let app = TestApp::start(canned()).await;
    let (mut seen, mut waiting) = (std::collections::BTreeSet::new(), vec!["/docs".to_owned()]);
    while let Some(path) = waiting.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = get(&app, &path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        let text = page.text().await.unwrap();
        for part in text.split("href=\"/docs/").skip(1) {
            let name = part.split(['"', '#']).next().unwrap();
            waiting.push(format!("/docs/{name}"));
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

async fn redirected(app: &TestApp, path: &str) -> (u16, String) {
    let still = reqwest::redirect::Policy::none();
    let http = reqwest::Client::builder().redirect(still).build().unwrap();
    let page = http.get(format!("{}{path}", app.url)).send().await.unwrap();
    (page.status().as_u16(), header(&page, "location").to_owned())
}

/// A request whose address no client library would send as it is.
async fn raw(app: &TestApp, target: &str) -> String {
    let host = app.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_stands_in_for_the_binary_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let web = folder.path().join("web");
    std::fs::create_dir_all(web.join("assets")).unwrap();
    std::fs::write(web.join("index.html"), "the page").unwrap();
    std::fs::write(web.join("assets/app-1.js"), "the script").unwrap();
    std::fs::write(web.join("assets/inter-1.woff2"), "the font").unwrap();
    std::fs::write(web.join(".hidden"), "SECRET").unwrap();
    std::fs::write(folder.path().join("beside"), "SECRET").unwrap();
    std::os::unix::fs::symlink("../../beside", web.join("assets/leads-out.js")).unwrap();
    let web_folder = Some(web.as_path().into());
    let app = Setup { web_folder, ..Setup::default() }.start(canned()).await;
    for (path, kind, expected) in [
        ("/", "text/html; charset=utf-8", "the page"),
        ("/councils/x", "text/html; charset=utf-8", "the page"),
        ("/assets/app-1.js", "text/javascript; charset=utf-8", "the script"),
        ("/assets/inter-1.woff2", "font/woff2", "the font"),
    ] {
        let found = get(&app, path, &[]).await;
        assert_eq!(header(&found, "content-type"), kind, "{path}");
        assert_eq!(found.text().await.unwrap(), expected, "{path}");
    }
    for target in [
        "/../beside",
        "/..%2fbeside",
        "/%2e%2e/beside",
        "/assets/../../beside",
        "/assets/leads-out.js",
        "/.hidden",
        "/%2ehidden",
        "//beside",
        "/./../beside",
        "/..\\beside",
        "/assets/%00",
    ] {
        let found = raw(&app, target).await;
        assert!(found.starts_with("HTTP/1.1 "), "{target}: {found}");
        assert!(!found.contains("SECRET"), "{target}: {found}");
    }
    // What was built anew is served without another start.
    std::fs::write(web.join("index.html"), "another page").unwrap();
    assert_eq!(get(&app, "/", &[]).await.text().await.unwrap(), "another page");
}
