//! Many live readers with nothing to read: what each costs, and how long an event takes
//! to reach all of them. Beside a server that only writes the same bytes to as many.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::time::timeout;

use crate::Outcome;
use crate::figures::{Samples, megabytes};
use crate::plenary::{MODEL, Place};
use crate::process::{Process, machine_cpu};

#[derive(Args)]
pub struct Idle {
    /// Live readers at once
    #[arg(long, default_value_t = 10_000)]
    readers: usize,
    /// Events that are sent to all
    #[arg(long, default_value_t = 5)]
    rounds: usize,
}

/// A server that writes the same bytes to all who have connected, and does nothing else.
#[derive(Args)]
pub struct Writer {}

/// What one of both took.
struct Found {
    connected: Duration,
    kilobytes_each: f64,
    megabytes: f64,
    /// Until an event had come to half of the readers, to 99 of 100 and to all.
    half: Samples,
    most: Samples,
    all: Samples,
}

/// Patience with readers that do not hear what they should.
const SAFETY: Duration = Duration::from_secs(120);
const AT_ONCE: usize = 256;

impl Idle {
    pub async fn run(self) -> Outcome<()> {
        raise_files()?;
        let before = (Instant::now(), machine_cpu()?);
        let writer = self.writer().await?;
        let plenary = self.plenary().await?;
        println!("{} live readers of all sessions, {} events", self.readers, self.rounds);
        println!("                      connected, s  KB each     MB  ms to half  to 99 %  to all");
        for (name, found) in [("only writes the same", &writer), ("Plenary", &plenary)] {
            println!(
                "  {name:20}  {:12.1}  {:7.1}  {:5.0}  {:10.1}  {:7.1}  {:6.1}",
                found.connected.as_secs_f64(),
                found.kilobytes_each,
                found.megabytes,
                found.half.median(),
                found.most.median(),
                found.all.median(),
            );
        }
        println!(
            "  ratio                               ×{:<6.1}                      ×{:.1}",
            plenary.kilobytes_each / writer.kilobytes_each,
            plenary.all.median() / writer.all.median(),
        );
        let busy = (machine_cpu()? - before.1).as_secs_f64() / before.0.elapsed().as_secs_f64();
        println!("  cores in use on the whole machine: {busy:.2}");
        Ok(())
    }

    async fn plenary(&self) -> Outcome<Found> {
        // The models are never asked.
        let place = Place::new("http://127.0.0.1:9")?;
        let plenary = place.serve()?;
        let api = &plenary.api;
        let address = api.url.trim_start_matches("http://").parse()?;
        self.measure(&plenary.process, address, "/api/events", async |round: usize| {
            let members = json!([{ "name": "one", "model": format!("bench/{MODEL}") }]);
            let council =
                json!({ "name": format!("c{round}"), "charter": "Be kind.", "members": members });
            let request = api.client.post(format!("{}/api/councils", api.url)).json(&council);
            request.send().await?.error_for_status()?;
            Ok(())
        })
        .await
    }

    async fn writer(&self) -> Outcome<Found> {
        let (process, url) =
            Process::start_server(Command::new(std::env::current_exe()?).arg("writer"))?;
        let address: SocketAddr = url.trim_start_matches("http://").parse()?;
        self.measure(&process, address, "/", async |_| {
            TcpStream::connect(address).await?.write_all(GO).await?;
            Ok(())
        })
        .await
    }

    async fn measure(
        &self,
        process: &Process,
        address: SocketAddr,
        path: &str,
        cause: impl AsyncFn(usize) -> Outcome<()>,
    ) -> Outcome<Found> {
        let empty_kb = process.memory()?.now_kb;
        let start = Instant::now();
        let mut heard = self.connect(address, path).await?;
        let connected = start.elapsed();
        let full_kb = process.memory()?.now_kb;
        let (mut half, mut most, mut all) = (vec![], vec![], vec![]);
        for round in 0..self.rounds {
            let start = Instant::now();
            cause(round).await?;
            let mut times = vec![];
            while times.len() < self.readers {
                let at = timeout(SAFETY, heard.recv()).await.map_err(|_| {
                    format!("only {} of {} readers heard of it", times.len(), self.readers)
                })?;
                times.push(at.ok_or("all readers are gone")??.saturating_duration_since(start));
            }
            let times = Samples::of_millis(&times);
            half.push(times.median());
            most.push(times.at(0.99));
            all.push(times.at(1.0));
        }
        Ok(Found {
            connected,
            kilobytes_each: full_kb.saturating_sub(empty_kb) as f64 / self.readers as f64,
            megabytes: megabytes(full_kb),
            half: Samples::new(half),
            most: Samples::new(most),
            all: Samples::new(all),
        })
    }

    /// Connects all readers. Whenever one hears of an event, it tells the time.
    async fn connect(
        &self,
        address: SocketAddr,
        path: &str,
    ) -> Outcome<mpsc::UnboundedReceiver<Outcome<Instant>>> {
        let (tell, heard) = mpsc::unbounded_channel();
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        let (ready, mut are_ready) = mpsc::channel(AT_ONCE);
        for _ in 0..self.readers {
            let turn = at_once.clone().acquire_owned().await?;
            let (tell, ready, path) = (tell.clone(), ready.clone(), path.to_owned());
            tokio::spawn(async move {
                match begin(address, &path).await {
                    Ok(stream) => {
                        drop(turn);
                        let _ = ready.send(Ok(())).await;
                        drop(ready);
                        read(stream, &tell).await;
                    }
                    Err(problem) => {
                        let _ = ready.send(Err(problem)).await;
                    }
                }
            });
            while let Ok(one) = are_ready.try_recv() {
                one?;
            }
        }
        drop(ready);
        while let Some(one) = timeout(SAFETY, are_ready.recv()).await? {
            one?;
        }
        Ok(heard)
    }
}

/// A reader that has got the first bytes of its stream.
pub async fn begin(address: SocketAddr, path: &str) -> Outcome<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = vec![];
    while !head.windows(2).any(|two| two == b"\n\n") {
        if timeout(SAFETY, stream.read_buf(&mut head)).await?? == 0 || head.len() > 4096 {
            return Err(format!("no stream: {}", String::from_utf8_lossy(&head)).into());
        }
    }
    Ok(stream)
}

async fn read(mut stream: TcpStream, tell: &mpsc::UnboundedSender<Outcome<Instant>>) {
    let mut bytes = [0; 2048];
    loop {
        let at = match stream.read(&mut bytes).await {
            Ok(read) if bytes[..read].windows(7).any(|seven| seven == b"event: ") => {
                Ok(Instant::now())
            }
            Ok(0) | Err(_) => Err("a reader was disconnected".into()),
            Ok(_) => continue,
        };
        let ends = at.is_err();
        let _ = tell.send(at);
        if ends {
            return;
        }
    }
}

pub fn raise_files() -> Outcome<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

const GO: &[u8] = b"GO\r\n\r\n";
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n";

impl Writer {
    pub async fn run(self) -> Outcome<()> {
        raise_files()?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listens on http://{}", listener.local_addr()?);
        // As long as an event of Plenary's.
        let event: Arc<[u8]> =
            format!("id: 1\nevent: opened\ndata: {}\n\n", "x".repeat(400)).into_bytes().into();
        let (go, _) = broadcast::channel::<()>(16);
        loop {
            let (mut stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let (go, event) = (go.clone(), event.clone());
            tokio::spawn(async move {
                let mut head = vec![0; 512];
                if matches!(stream.read(&mut head).await, Ok(read) if head[..read] == *GO) {
                    let _ = go.send(());
                    return Ok(());
                }
                let mut told = go.subscribe();
                stream.write_all(HEAD).await?;
                while told.recv().await.is_ok() {
                    stream.write_all(&event).await?;
                }
                Outcome::Ok(())
            });
        }
    }
}
