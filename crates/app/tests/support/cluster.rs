//! A real PostgreSQL that may be crashed, a way to it that may be cut, and nodes on it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Home, SAFETY, Serving};

/// A server of its own, which may be crashed.
pub struct Server {
    folder: tempfile::TempDir,
    pub url: String,
}

fn script() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres")
}

impl Server {
    pub async fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let url = run(&["start"], &folder.path().join("server")).await;
        Server { folder, url: url.trim().to_owned() }
    }

    pub async fn crash(&self) {
        run(&["restart"], &self.folder.path().join("server")).await;
    }

    pub async fn stop(&self) {
        run(&["stop"], &self.folder.path().join("server")).await;
    }

    pub fn place(&self) -> &str {
        self.url.rsplit('@').next().unwrap().split('/').next().unwrap()
    }
}

async fn run(arguments: &[&str], folder: &Path) -> String {
    let mut command = tokio::process::Command::new(script());
    let ran = command.args(arguments).arg(folder).stderr(Stdio::inherit());
    let output = ran.output().await.unwrap();
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A way to the database that can be cut: what is sent then waits, and nobody is told.
pub async fn cable(to: String) -> (String, Arc<AtomicBool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = is_cut.clone();
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let (to, cut) = (to.clone(), cut.clone());
            tokio::spawn(async move {
                let Ok(far) = TcpStream::connect(to).await else { return };
                let (near_read, near_write) = near.into_split();
                let (far_read, far_write) = far.into_split();
                tokio::select! {
                    () = carry(near_read, far_write, &cut) => {}
                    () = carry(far_read, near_write, &cut) => {}
                }
            });
        }
    });
    (place, is_cut)
}

async fn carry(
    mut from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    cut: &AtomicBool,
) {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut buffer).await else { return };
        while cut.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

pub struct Nodes {
    pub home: Home,
    /// The database, as each node reaches it.
    pub urls: Vec<String>,
    pub running: Vec<Option<Serving>>,
}

impl Nodes {
    pub fn new(home: Home, urls: Vec<String>) -> Nodes {
        let running = urls.iter().map(|_| None).collect();
        Nodes { home, urls, running }
    }

    pub async fn start_all(&mut self) {
        for number in 0..self.urls.len() {
            self.start(number).await;
        }
    }

    pub async fn start(&mut self, number: usize) {
        let mut command = self.home.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("PLENARY_DATABASE_URL", &self.urls[number]);
        if number == 0 {
            // This one hears nothing, and goes by what it looks up.
            command.env("PLENARY_DATABASE_LISTEN_URL", "postgres://nobody@127.0.0.1:1/nothing");
        }
        self.running[number] = Some(self.home.serving(command).await);
    }

    pub fn at(&self, number: usize) -> String {
        self.running[number % self.running.len()].as_ref().unwrap().url.clone()
    }

    pub fn signal(&self, number: usize, signal: Signal) {
        let pid = self.running[number].as_ref().unwrap().pid();
        kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), signal).unwrap();
    }
}

/// What a node answered; `None` if it died, could not reach the store, or the state forbids
/// it.
pub async fn answer(request: reqwest::RequestBuilder) -> Option<Value> {
    let response = request.timeout(SAFETY).send().await.ok()?;
    let status = response.status().as_u16();
    let mut body: Value = response.json().await.ok()?;
    match status {
        200 | 201 => Some(body["data"].take()),
        409 | 429 | 500..=599 => None,
        other => panic!("{other}: {body}"),
    }
}

/// Asks one node after the other until one answers.
pub async fn answered(nodes: &Nodes, request: impl Fn(&str) -> reqwest::RequestBuilder) -> Value {
    let asking = async {
        for number in 0.. {
            if let Some(answer) = answer(request(&nodes.at(number))).await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        unreachable!("nodes are asked for ever");
    };
    tokio::time::timeout(SAFETY, asking).await.expect("a node that lives answers")
}
