//! What somebody observes, and how two of them compare.

use std::fmt::{Debug, Write};

use super::World;
use crate::support::SAFETY;

/// Everything that was observed on one server, in order.
pub struct Record {
    entries: Vec<(String, String)>,
    streams: Vec<(String, Follow)>,
    known: Vec<(String, &'static str)>,
}

impl Record {
    pub fn new(world: &World) -> Record {
        let known = vec![
            // Sessions have random ids; which of them is meant is kept.
            (world.board.clone(), "<board>"),
            (world.council.clone(), "<council>"),
            // Servers listen on a free port.
            (world.app.scripted.url(), "<models>"),
            (world.app.url.clone(), "<server>"),
        ];
        Record { entries: vec![], streams: vec![], known }
    }

    pub fn add(&mut self, label: &str, text: &str) {
        let plain = |text: &str| {
            let known = |text: String, (from, to): &(String, &str)| text.replace(from, to);
            plain(&self.known.iter().fold(text.to_owned(), known))
        };
        self.entries.push((plain(label), plain(text)));
    }

    pub fn follow(&mut self, label: &str, stream: Follow) {
        self.streams.push((label.to_owned(), stream));
    }

    /// Reads every stream to its end, which has happened, and hands them on.
    pub async fn end_streams(&mut self) -> Vec<(String, Follow)> {
        let mut streams = std::mem::take(&mut self.streams);
        for (label, stream) in &mut streams {
            let text = stream.rest().await;
            self.add(label, &text);
        }
        streams
    }

    /// Reads on what comes after the board went to read, up to a post.
    pub async fn end_streams_at(&mut self, post: &str) {
        let mut streams = std::mem::take(&mut self.streams);
        for (label, stream) in &mut streams {
            if label.contains(": live /api/whiteboards") {
                stream.until = format!("\"id\":\"{post}\"");
                let text = stream.rest().await;
                self.add(label, &text);
            }
        }
    }

    pub fn text(&self, label: &str) -> &str {
        let found = self.entries.iter().find(|(known, _)| known == label);
        &found.unwrap_or_else(|| panic!("{label} was not observed: {:#?}", self.labels())).1
    }

    fn labels(&self) -> Vec<&String> {
        self.entries.iter().map(|(label, _)| label).collect()
    }
}

/// Fails when the two records differ in what is to be compared.
pub fn same(expected: &Record, found: &Record, bob: impl Debug, of: impl Fn(&str) -> bool) {
    let chosen = |record: &Record| -> Vec<(String, String)> {
        record.entries.iter().filter(|(label, _)| of(label)).cloned().collect()
    };
    let (expected, found) = (chosen(expected), chosen(found));
    assert!(!expected.is_empty());
    for ((label, before), (other, after)) in expected.iter().zip(&found) {
        assert_eq!(label, other, "something else was observed when Bob {bob:?}");
        assert_eq!(before, after, "{label} tells that Bob {bob:?}");
    }
    assert_eq!(expected.len(), found.len());
}

/// Status, headers and body.
pub async fn whole(request: reqwest::RequestBuilder) -> String {
    let response = tokio::time::timeout(SAFETY, request.send()).await.unwrap().unwrap();
    let head = head(&response);
    let tag = response.headers().get("etag").cloned().filter(|_| is_view(&response));
    let body = tokio::time::timeout(SAFETY, response.text()).await.unwrap().unwrap();
    // It tells as much as the body and nothing else.
    let made = &ring::digest::digest(&ring::digest::SHA256, body.as_bytes());
    let made =
        made.as_ref()[..16].iter().fold(String::new(), |all, byte| format!("{all}{byte:02x}"));
    assert!(tag.is_none_or(|tag| tag == format!("\"{made}\"")), "{head}{body}");
    format!("{head}{body}")
}

/// Of a session, and no file of the page.
fn is_view(response: &reqwest::Response) -> bool {
    response.url().path().starts_with("/api/")
}

fn head(response: &reqwest::Response) -> String {
    let mut head = format!("{}\n", response.status());
    // A cookie is named by the port, which is another one each time.
    let port = format!("plenary-{}=", response.url().port().unwrap());
    for (name, value) in response.headers() {
        // The day and time of the machine, which nobody can set; and what is made from the
        // body, which holds random ids.
        if name != "date" && (name != "etag" || !is_view(response)) {
            let value = value.to_str().unwrap().replace(&port, "plenary-PORT=");
            let _ = writeln!(head, "{name}: {value}");
        }
    }
    head
}

/// A stream of events up to one of a name. It stays open, so that what comes late
/// is not missed.
pub struct Follow {
    response: reqwest::Response,
    text: String,
    until: String,
}

impl Follow {
    /// What is no stream is an answer like any other.
    pub async fn new(response: reqwest::Response, until: &str) -> Result<Follow, String> {
        let head = head(&response);
        if !head.contains("text/event-stream") {
            return Err(format!("{head}{}", response.text().await.unwrap()));
        }
        Ok(Follow { response, text: head, until: format!("event: {until}\n") })
    }

    /// Everything since the last time, with the event that ends it.
    pub async fn rest(&mut self) -> String {
        let read = tokio::time::timeout(SAFETY, self.read()).await;
        let end = read.unwrap_or_else(|_| panic!("no {:?} came: {}", self.until, self.text));
        // Comes every few seconds of real time to a stream that is quiet.
        self.text.drain(..end).collect::<String>().replace(": still here\n\n", "")
    }

    async fn read(&mut self) -> usize {
        loop {
            let found = self.text.find(&self.until);
            if let Some(end) = found.and_then(|at| Some(at + self.text[at..].find("\n\n")? + 2)) {
                return end;
            }
            let chunk = self.response.chunk().await.unwrap().expect("the stream goes on");
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

/// Without what is random by nature.
fn plain(text: &str) -> String {
    // Ids of sessions that observers open, and of MCP's sessions.
    let text = replace(text, 36, "<id>", |at, byte| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    // The code around quotations in prompts.
    let text = codes(&text, "\"nonce\":\"", 12);
    let text = codes(&text, "\"nonce\": \"", 12);
    // Leases of nodes go by the machine's own clock, whatever a test's clock says.
    let text = values(&text, "\"here\":true,\"state\":");
    let text = values(&text, "\"state\":<value>,\"since\":");
    let text = values(&text, "\"leaseLeftMs\":");
    // Connections to a database come and go.
    let text = figures(&text, "\nplenary_database_");
    // In how many pieces a text is told goes by how soon its readers take it.
    let text = figures(&text, "\nplenary_deltas_total ");
    // How many digits such a figure has changes the length.
    let text = match text.contains("<value>") {
        true => figures(&text, "\ncontent-length:"),
        false => text,
    };
    // The code in an agent's token is made from a secret of the store.
    replace(&text, 40, "<code>", |_, byte| byte.is_ascii_hexdigit())
}

/// Without the codes of this length that stand after this.
fn codes(text: &str, after: &str, len: usize) -> String {
    let mut parts = text.split(after);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| format!("{out}{after}<nonce>{}", &part[len..]))
}

/// Without what stands after this, up to the next field.
fn values(text: &str, after: &str) -> String {
    let mut parts = text.split(after);
    let first = parts.next().unwrap_or_default().to_owned();
    let end = |part: &str| part.find([',', '}']).unwrap_or(part.len());
    parts.fold(first, |out, part| format!("{out}{after}<value>{}", &part[end(part)..]))
}

/// Without the numbers of these lines.
fn figures(text: &str, begins: &str) -> String {
    let mut parts = text.split(begins);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let end = part.find('\n').unwrap_or(part.len());
        let name = part[..end].rsplit_once(' ').map_or("", |(name, _)| name);
        format!("{out}{begins}{name} <value>{}", &part[end..])
    })
}

fn replace(text: &str, len: usize, with: &str, fits: impl Fn(usize, u8) -> bool) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while at + len <= bytes.len() {
        if bytes[at..at + len].iter().enumerate().all(|(place, byte)| fits(place, *byte)) {
            out.push_str(&text[from..at]);
            out.push_str(with);
            at += len;
            from = at;
        } else {
            at += 1;
        }
    }
    out.push_str(&text[from..]);
    out
}
