//! Requests to real servers on this machine; only where names lead is made up.

use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

const SECRET: &str = "a/very\"secret-token-4711";
const HERE: &str = "127.0.0.1";
/// Another machine, as far as anybody can tell.
const THERE: &str = "127.0.0.2";

/// Takes one request after the other and answers each with these bytes.
struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What follows the bytes of an answer.
#[derive(Clone, Copy, PartialEq)]
enum Then {
    Closes,
    Waits,
}

impl Server {
    async fn at(address: &str, port: u16, answer: Vec<u8>, then: Then) -> Server {
        let listener = TcpListener::bind((address, port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(vec![]));
        let told = heard.clone();
        let task = tokio::spawn(async move {
            let mut open = vec![];
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (mut bytes, mut piece) = (vec![], [0; 4096]);
                while !is_whole(&bytes) {
                    match stream.read(&mut piece).await {
                        Ok(0) | Err(_) => break,
                        Ok(length) => bytes.extend_from_slice(&piece[..length]),
                    }
                }
                told.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
                // Whoever has heard enough hangs up.
                let _ = stream.write_all(&answer).await;
                match then {
                    Then::Closes => {}
                    Then::Waits => open.push(stream),
                }
            }
        });
        Server { port, heard, task }
    }

    async fn new(answer: &str) -> Server {
        Server::at(HERE, 0, answer.into(), Then::Closes).await
    }

    fn url(&self) -> String {
        format!("http://{HERE}:{}/hook", self.port)
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Headers and as much of a body as they promise, or the start of an encrypted connection.
fn is_whole(bytes: &[u8]) -> bool {
    if bytes.first() == Some(&0x16) {
        return true;
    }
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let promised = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= promised.map_or(0, |length| length.parse().unwrap())
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

/// Everything may be reached at these hosts, wherever they are; one secret is set.
fn config(private_hosts: &[String]) -> OutsideConfig {
    let secret = |value: Option<&str>| SecretConfig {
        variable: "HOOK_TOKEN".into(),
        value: value.map(Secret::new),
    };
    OutsideConfig {
        hosts: vec!["hooks.example".parse().unwrap()],
        private_hosts: private_hosts.iter().map(|host| host.parse().unwrap()).collect(),
        folders: vec![],
        secrets: [("HOOK", Some(SECRET)), ("SHORT", Some("pw-4711")), ("UNSET", None)]
            .map(|(name, value)| (name.to_owned(), secret(value)))
            .into(),
    }
}

fn gateway(private_hosts: &[String]) -> Gateway {
    Gateway::new(config(private_hosts)).with(leading(&[HERE]), Limits::default())
}

/// Reaches the server at its address.
fn to(server: &Server) -> Gateway {
    gateway(&[format!("{HERE}:{}", server.port)])
}

/// Every name leads to these, one after the other, and to the last from then on.
fn leading(places: &'static [&'static str]) -> Resolver {
    let asked = Mutex::new(0);
    Arc::new(move |_| {
        let mut asked = asked.lock().unwrap();
        let place = places.get(*asked).or(places.last());
        *asked += 1;
        let found: Vec<IpAddr> = place.iter().map(|place| place.parse().unwrap()).collect();
        Box::pin(async { Ok(found) })
    })
}

fn get(url: &str) -> Request {
    Request {
        method: "GET",
        url: url.to_owned(),
        headers: vec![],
        body: vec![],
        key: "run-1/deliver".into(),
    }
}

fn with_header(url: &str, name: &str, value: &str) -> Request {
    Request { headers: vec![(name.into(), value.into())], ..get(url) }
}

async fn fails(gateway: &Gateway, request: Request) -> (FailureKind, String) {
    let failure = gateway.send(request).await.unwrap_err();
    let failure = gateway.hidden(failure);
    assert!(failure.message.ends_with('.'), "{}", failure.message);
    (failure.kind, failure.message)
}

#[tokio::test]
async fn a_request_brings_an_answer_of_any_status() {
    for status in ["200 OK", "404 Not Found", "500 Oh"] {
        let server = Server::new(&answer(status, "content-type: text/plain\r\n", "heard")).await;
        let request = Request {
            method: "POST",
            url: server.url(),
            headers: vec![("X-Kind".into(), "adr".into()), ("x-kind".into(), "two".into())],
            body: b"decided".to_vec(),
            key: "run-1/deliver".into(),
        };
        let found = to(&server).send(request).await.unwrap();
        let expected = Response {
            status: status[..3].parse().unwrap(),
            content_type: Some("text/plain".into()),
            body: b"heard".to_vec(),
        };
        assert_eq!(found, expected);
        let version = env!("CARGO_PKG_VERSION");
        let mut lines: Vec<String> = server.heard()[0].split("\r\n").map(str::to_owned).collect();
        lines.sort();
        let mut expected = vec![
            "POST /hook HTTP/1.1".to_owned(),
            "x-kind: adr".into(),
            "x-kind: two".into(),
            "idempotency-key: run-1/deliver".into(),
            format!("user-agent: plenary/{version}"),
            "accept: */*".into(),
            format!("host: {HERE}:{}", server.port),
            "content-length: 7".into(),
            String::new(),
            "decided".into(),
        ];
        expected.sort();
        assert_eq!(lines, expected);
    }
}

#[tokio::test]
async fn a_host_that_is_not_named_is_never_reached() {
    let server = Server::new(&answer("200 OK", "", "")).await;
    let (kind, message) = fails(&gateway(&[]), get(&server.url())).await;
    let named = format!("add \"{HERE}:{}\" to `private_hosts`", server.port);
    assert_eq!(kind, FailureKind::Misconfigured);
    assert!(message.contains(&named), "{message}");
    assert_eq!(server.heard(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_unless_it_is_named_as_private() {
    let server = Server::new(&answer("200 OK", "", "inside")).await;
    let port = server.port;
    let mut allowed = config(&[]);
    allowed.hosts = vec![format!("ci.internal:{port}").parse().unwrap()];
    let url = format!("http://CI.internal.:{port}/");
    for place in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.7", "169.254.169.254"] {
        let places: &'static [&'static str] = Box::leak(Box::new([place]));
        let refused = Gateway::new(allowed.clone()).with(leading(places), Limits::default());
        let (kind, message) = fails(&refused, get(&url)).await;
        assert_eq!(kind, FailureKind::Misconfigured);
        let words = format!("ci.internal:{port} points to {place}, which is not on the public");
        assert!(message.starts_with(&words), "{message}");
    }
    assert_eq!(server.heard(), [""; 0]);
    let found = gateway(&[format!("ci.internal:{port}")]).send(get(&url)).await.unwrap();
    assert_eq!(found.body, b"inside");
    assert!(server.heard()[0].contains(&format!("host: ci.internal:{port}\r\n")));
}

#[tokio::test]
async fn a_name_is_asked_for_once_and_what_it_leads_to_then_is_reached() {
    let first = Server::new(&answer("200 OK", "", "first")).await;
    let second =
        Server::at(THERE, first.port, answer("200 OK", "", "second").into(), Then::Closes).await;
    let host = format!("rebound.example:{}", first.port);
    let asked = Arc::new(Mutex::new(0));
    let counts = asked.clone();
    let places = leading(&[HERE, THERE]);
    let resolver: Resolver = Arc::new(move |name| {
        *counts.lock().unwrap() += 1;
        places(name)
    });
    let gateway =
        Gateway::new(config(std::slice::from_ref(&host))).with(resolver, Limits::default());
    let found = gateway.send(get(&format!("http://{host}/"))).await.unwrap();
    assert_eq!((found.body.as_slice(), *asked.lock().unwrap()), (b"first".as_slice(), 1));
    assert_eq!(second.heard(), [""; 0]);
    // The next request asks anew, and keeps no connection from before.
    let found = gateway.send(get(&format!("http://{host}/"))).await.unwrap();
    assert_eq!((found.body.as_slice(), *asked.lock().unwrap()), (b"second".as_slice(), 2));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let other = Server::new(&answer("200 OK", "", "")).await;
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Same", "308 Same"] {
        let location = format!("location: {}\r\n", other.url());
        let server = Server::new(&answer(status, &location, "moved")).await;
        // Whether or not it leads to where requests may go.
        let both = [&server, &other].map(|one| format!("{HERE}:{}", one.port));
        for gateway in [to(&server), gateway(&both)] {
            let sent = with_header(&server.url(), "authorization", SECRET);
            let found = gateway.send(sent).await.unwrap();
            assert_eq!((found.status, found.body), (status[..3].parse().unwrap(), b"moved".into()));
        }
    }
    assert_eq!(other.heard(), [""; 0]);
}

#[tokio::test]
async fn headers_cannot_be_broken_out_of_or_taken_over() {
    let server = Server::new(&answer("200 OK", "", "")).await;
    let url = server.url();
    let gateway = to(&server);
    for (name, value, words) in [
        ("x-a", "b\r\nhost: evil", "contains a line break"),
        ("x-a", "b\nc", "contains a line break"),
        ("x-a", "b\0c", "contains a line break"),
        ("x-a\r\nhost", "evil", "is not a valid header name"),
        ("x a", "b", "is not a valid header name"),
        ("x-a:", "b", "is not a valid header name"),
        ("", "b", "is not a valid header name"),
        ("Host", "evil", "Plenary sets the header `Host` itself"),
        ("content-length", "0", "Plenary sets the header"),
        ("Idempotency-Key", "mine", "Plenary sets the header"),
        ("Transfer-Encoding", "chunked", "Plenary sets the header"),
        ("connection", "upgrade", "Plenary sets the header"),
    ] {
        let (kind, message) = fails(&gateway, with_header(&url, name, value)).await;
        assert_eq!(kind, FailureKind::Misconfigured, "{name:?}");
        assert!(message.contains(words), "{name:?}: {message}");
        assert!(!message.contains("evil"), "{name:?}: {message}");
    }
    let many = vec![("x-a".to_owned(), "b".to_owned()); 65];
    let (_, message) = fails(&gateway, Request { headers: many, ..get(&url) }).await;
    assert_eq!(message, "A request can have at most 64 headers, 32 KiB together.");
    let (_, message) = fails(&gateway, with_header(&url, "x-a", &"b".repeat(33 * 1024))).await;
    assert_eq!(message, "A request can have at most 64 headers, 32 KiB together.");
    let (kind, _) = fails(&gateway, Request { key: "a\r\nb: c".into(), ..get(&url) }).await;
    assert_eq!(kind, FailureKind::Internal);
    let (_, message) = fails(&gateway, Request { method: "CONNECT", ..get(&url) }).await;
    assert_eq!(message, "The method CONNECT is not supported.");
    assert_eq!(server.heard(), [""; 0]);
}

#[tokio::test]
async fn bodies_are_bounded_both_ways() {
    let most = plenary_domain::limits::HTTP_BYTES;
    let fits = Server::new(&answer("200 OK", "", &"x".repeat(most))).await;
    assert_eq!(to(&fits).send(get(&fits.url())).await.unwrap().body.len(), most);
    let large = "x".repeat(most + 1);
    let chunks =
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{large}", most + 1);
    for endless in [answer("200 OK", "", &large), chunks, format!("HTTP/1.1 200 OK\r\n\r\n{large}")]
    {
        let server = Server::at(HERE, 0, endless.into(), Then::Waits).await;
        let (kind, message) = fails(&to(&server), get(&server.url())).await;
        assert_eq!(kind, FailureKind::TooLong);
        assert_eq!(message, format!("{HERE}:{} answered with more than 256 KiB.", server.port));
    }
    let sent = Request { method: "POST", body: large.into(), ..get(&fits.url()) };
    let (kind, message) = fails(&to(&fits), sent).await;
    assert_eq!(
        (kind, message.as_str()),
        (FailureKind::TooLong, "A request can send at most 256 KiB.")
    );
}

#[tokio::test]
async fn a_server_that_is_slow_runs_out_of_time() {
    let whole = Limits { whole: Duration::from_millis(200), ..Limits::default() };
    // It says nothing, begins its headers, or begins its body.
    for begun in
        ["", "HTTP/1.1 200 OK\r\nx-a: ", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"]
    {
        let server = Server::at(HERE, 0, begun.into(), Then::Waits).await;
        let slow = to(&server).with(leading(&[HERE]), whole);
        let (kind, message) = fails(&slow, get(&server.url())).await;
        assert_eq!(kind, FailureKind::TimedOut, "{begun:?}");
        assert!(message.contains("took longer than"), "{message}");
    }
    let connect = Limits { connect: Duration::from_millis(200), ..Limits::default() };
    // A connection that never becomes an encrypted one.
    let server = Server::at(HERE, 0, vec![], Then::Waits).await;
    let slow = to(&server).with(leading(&[HERE]), connect);
    let url = server.url().replace("http:", "https:");
    let (kind, message) = fails(&slow, get(&url)).await;
    assert_eq!(kind, FailureKind::TimedOut);
    assert!(message.contains("did not accept the connection"), "{message}");
    // A name that nobody answers for.
    let silent: Resolver = Arc::new(|_| Box::pin(std::future::pending()));
    let slow = gateway(&["ci.internal".into()]).with(silent, connect);
    let expected = (FailureKind::TimedOut, "Looking up ci.internal took too long.".to_owned());
    assert_eq!(fails(&slow, get("http://ci.internal/")).await, expected);
}

#[tokio::test]
async fn what_cannot_be_reached_may_be_tried_again() {
    let closed = Server::new("").await;
    let cut = Server::new("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await;
    let free = TcpListener::bind((HERE, 0)).await.unwrap().local_addr().unwrap();
    let check = async |at: SocketAddr, words: &str| {
        let gateway = gateway(&[at.to_string()]);
        let (kind, message) = fails(&gateway, get(&format!("http://{at}/"))).await;
        assert_eq!((kind, message), (FailureKind::Unreachable, format!("{words}.")));
    };
    let at = |server: &Server| SocketAddr::from(([127, 0, 0, 1], server.port));
    let (first, second) = (at(&closed), at(&cut));
    check(first, &format!("{first} closed the connection before it answered")).await;
    check(second, &format!("{second} broke off in the middle of its answer")).await;
    check(free, &format!("Could not connect to {free}; check that it is running, and the network"))
        .await;
    let lost: Resolver =
        Arc::new(|_| Box::pin(async { Err(std::io::Error::other("no such name")) }));
    for resolver in [lost, leading(&[])] {
        let unknown = gateway(&["ci.internal".into()]).with(resolver, Limits::default());
        let (kind, message) = fails(&unknown, get("http://ci.internal/")).await;
        assert_eq!(kind, FailureKind::Unreachable);
        assert!(message.starts_with("The host ci.internal was not found"), "{message}");
    }
}

#[tokio::test]
async fn a_server_without_encryption_is_a_mistake_and_not_bad_luck() {
    let server = Server::new("HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let url = server.url().replace("http:", "https:");
    let (kind, message) = fails(&to(&server), get(&url)).await;
    assert_eq!(kind, FailureKind::Misconfigured);
    assert!(message.contains("check whether the address should begin with"), "{message}");
}

#[tokio::test]
async fn a_secret_is_sent_and_never_comes_back() {
    let in_json = serde_json::json!({ "authorization": format!("Bearer {SECRET}") }).to_string();
    for (body, expected) in [
        (in_json.as_str(), r#"{"authorization":"Bearer [key]"}"#),
        (&in_json.replace('/', "\\/"), r#"{"authorization":"Bearer [key]"}"#),
        (&format!("{SECRET}{SECRET} and {SECRET}"), "[key] and [key]"),
        ("its end is secret-token-4711, I see", "its end is [key], I see"),
        ("nothing of it", "nothing of it"),
    ] {
        let kind = format!("content-type: text/{SECRET}\r\n");
        let server = Server::new(&answer("200 OK", &kind, body)).await;
        let gateway = to(&server);
        let token = format!("Bearer {}", gateway.secret("HOOK").unwrap());
        let sent = with_header(&server.url(), "authorization", &token);
        let found = gateway.send(sent).await.unwrap();
        assert_eq!(String::from_utf8(found.body).unwrap(), expected);
        assert_eq!(found.content_type.as_deref(), Some("text/[key]"));
        assert!(server.heard()[0].contains(&format!("authorization: Bearer {SECRET}\r\n")));
    }
    // Nor does what is no text hide one.
    let mut bytes = b"HTTP/1.1 200 OK\r\n\r\n\xff\xfe".to_vec();
    bytes.extend_from_slice(SECRET.as_bytes());
    bytes.push(0xff);
    let server = Server::at(HERE, 0, bytes, Then::Closes).await;
    let found = to(&server).send(get(&server.url())).await.unwrap();
    assert_eq!(found.body, b"\xff\xfe[key]\xff");
}

#[tokio::test]
async fn no_failure_shows_a_secret() {
    let gateway = gateway(&[]);
    let odd = format!("http://hooks.example/{SECRET}\n{SECRET}:{SECRET}@x");
    for request in [
        get(&format!("http://{SECRET}.example/")),
        get(&format!("{SECRET}://hooks.example/")),
        get(&odd),
        with_header("http://hooks.example/", SECRET, "x"),
        with_header("http://hooks.example/", "x-a", &format!("{SECRET}\n")),
    ] {
        let (_, message) = fails(&gateway, request).await;
        assert!(!message.contains(SECRET), "{message}");
    }
    let with = json!({ "path": format!("/{SECRET}"), "text": "" });
    let write = Errand::Write { with: with.as_object().unwrap().clone(), key: "key".into() };
    let failure = gateway.run(write).await.unwrap_err();
    assert!(failure.message.contains("[key]"), "{}", failure.message);
    let shown = format!("{:?}", config(&[]));
    assert!(!shown.contains(SECRET), "{shown}");
}

#[test]
fn a_secret_that_is_not_there_says_what_to_set() {
    let gateway = gateway(&[]);
    assert_eq!(gateway.secret("HOOK").unwrap(), SECRET);
    for (name, words) in [
        ("OTHER", "name its environment variable in `secrets` under [workflows]"),
        ("UNSET", "comes from HOOK_TOKEN, which was not set"),
        ("SHORT", "needs 8 characters or more"),
    ] {
        assert_eq!(gateway.secret(name), None);
        let failure = gateway.known(name).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Misconfigured);
        assert!(failure.message.contains(words), "{}", failure.message);
        assert!(!failure.message.contains("pw-4711"), "{}", failure.message);
    }
}

#[tokio::test]
async fn errands_are_carried_out_through_the_port() {
    let folder = tempfile::tempdir().unwrap();
    let json = format!("{{\"echo\":\"Bearer {}\"}}", SECRET.replace('"', "\\\""));
    let server =
        Server::new(&answer("201 Created", "content-type: application/json\r\n", &json)).await;
    let private = [format!("{HERE}:{}", server.port)];
    let config = OutsideConfig { folders: vec![folder.path().to_owned()], ..config(&private) };
    let gateway = Gateway::new(config);
    let fields = |value: Value| value.as_object().unwrap().clone();
    let key = || "run-1/deliver".to_owned();

    let token = json!({ "secret": "HOOK", "before": "Bearer ", "after": "" });
    let with = json!({ "post": server.url(), "json": {}, "headers": { "authorization": token } });
    let sent = gateway.run(Errand::Request { with: fields(with), key: key() }).await;
    let body = r#"{"echo":"Bearer [key]"}"#;
    let expected = json!({ "status": 201, "body": body, "json": { "echo": "Bearer [key]" } });
    assert_eq!(sent, Ok(expected));
    let heard = server.heard();
    for line in [&format!("authorization: Bearer {SECRET}"), "idempotency-key: run-1/deliver"] {
        assert!(heard[0].contains(&format!("{line}\r\n")), "{heard:?}");
    }

    let with = json!({ "path": "a/b.md", "text": "abc" });
    let written = gateway.run(Errand::Write { with: fields(with), key: key() }).await;
    let expected = json!({
        "path": folder.path().join("a/b.md"),
        "bytes": 3,
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    });
    assert_eq!(written, Ok(expected));
    assert_eq!(std::fs::read(folder.path().join("a/b.md")).unwrap(), b"abc");

    let other = gateway.run(Errand::Stop { session: "s".into() }).await.unwrap_err();
    assert_eq!(other.kind, FailureKind::Internal);
}
