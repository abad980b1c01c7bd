//! Clients that connect to live events and never read: what they cost the boards
//! and the writer, measured without and with them in turn.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use futures::future::try_join_all;
use nix::sys::socket::{setsockopt, sockopt::TcpMaxSeg};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::Outcome;
use crate::figures::{Samples, megabytes};
use crate::plenary::{Api, Place, Plenary, is_synthesis};
use crate::scripted::{Pace, Scripted};

#[derive(Args)]
pub struct Readers {
    /// Clients that never read
    #[arg(long, default_value_t = 200)]
    stalled: usize,
    /// Boards at once
    #[arg(long, default_value_t = 20)]
    boards: usize,
    /// Times that everything is measured, without and with them
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds for each measurement of the writer
    #[arg(long, default_value_t = 4)]
    seconds: u64,
}

/// Long answers, so that what a client does not read fills its connection.
const TALK: Pace = Pace { tokens_per_second: 1000, tokens: 6000, first_ms: 100, stamped: true };
const RUSH: Pace = Pace { tokens_per_second: 0, tokens: 40, first_ms: 0, stamped: false };

impl Readers {
    pub async fn run(self) -> Outcome<()> {
        self.boards_take().await?;
        self.writer_writes().await
    }

    /// Wall time of boards whose own events are not read by most who asked for them.
    async fn boards_take(&self) -> Outcome<()> {
        let scripted = Scripted::start(TALK)?;
        let place = Place::new(&scripted.url)?;
        let plenary = place.serve()?;
        let (mut without, mut with) = (vec![], vec![]);
        let mut memory = vec![];
        let mut resyncs = 0;
        for _ in 0..self.rounds {
            without.extend(self.walls(&plenary.api, 0).await?.0);
            memory.push(megabytes(plenary.process.memory()?.now_kb));
            let (walls, stalled) = self.walls(&plenary.api, self.stalled).await?;
            with.extend(walls);
            memory.push(megabytes(plenary.process.memory()?.now_kb));
            let before = plenary.api.metric("resyncs_total").await?;
            wake(stalled).await;
            resyncs += plenary.api.metric("resyncs_total").await? - before;
        }
        let (without, with) = (Samples::new(without), Samples::new(with));
        println!(
            "{} boards at once, {} rounds: ms per board, median (p10 to p90)",
            self.boards, self.rounds
        );
        println!("  one reader each                      {without}");
        println!(
            "  and {} that never read, on all boards {with}  ×{:.3}",
            self.stalled,
            with.median() / without.median()
        );
        println!(
            "  of {} that never read, {resyncs} had fallen behind when they were woken",
            self.stalled * self.rounds
        );
        tell_memory(&memory);
        Ok(())
    }

    /// Boards at once, each with one reader, and so many that never read.
    async fn walls(&self, api: &Api, stalled: usize) -> Outcome<(Vec<f64>, Vec<TcpStream>)> {
        let start = Instant::now();
        let ids = try_join_all((0..self.boards).map(|_| api.convene(None))).await?;
        let connect = (0..stalled).map(|place| {
            let id = &ids[place % ids.len()];
            stall(api, format!("/api/boardrooms/{id}/events"))
        });
        let stalled = try_join_all(connect).await?;
        let follow = ids.iter().map(|id| async move {
            api.follow(id).await?.each(is_synthesis).await?;
            Outcome::Ok(start.elapsed().as_secs_f64() * 1000.0)
        });
        Ok((try_join_all(follow).await?, stalled))
    }

    /// Events per second when boards follow one another without pause.
    async fn writer_writes(&self) -> Outcome<()> {
        let scripted = Scripted::start(RUSH)?;
        let place = Place::new(&scripted.url)?;
        let plenary = place.serve()?;
        self.rate(&plenary).await?;
        let (mut without, mut with) = (vec![], vec![]);
        let mut memory = vec![];
        for _ in 0..self.rounds {
            without.push(self.rate(&plenary).await?);
            memory.push(megabytes(plenary.process.memory()?.now_kb));
            let connect = (0..self.stalled).map(|_| stall(&plenary.api, "/api/events".into()));
            let stalled = try_join_all(connect).await?;
            with.push(self.rate(&plenary).await?);
            memory.push(megabytes(plenary.process.memory()?.now_kb));
            drop(stalled);
        }
        let (without, with) = (Samples::new(without), Samples::new(with));
        println!(
            "{} callers convene boards without pause: events/s, median (p10 to p90)",
            self.boards
        );
        println!("  without others                       {without}");
        println!(
            "  and {} that never read all events     {with}  ×{:.3}",
            self.stalled,
            with.median() / without.median()
        );
        tell_memory(&memory);
        Ok(())
    }

    async fn rate(&self, plenary: &Plenary) -> Outcome<f64> {
        let start = Instant::now();
        let until = start + Duration::from_secs(self.seconds);
        let before = plenary.api.metric("events_total").await?;
        let callers = (0..self.boards).map(|_| async {
            while Instant::now() < until {
                plenary.api.board().await?;
            }
            Outcome::Ok(())
        });
        try_join_all(callers).await?;
        let events = plenary.api.metric("events_total").await? - before;
        Ok(events as f64 / start.elapsed().as_secs_f64())
    }
}

/// Memory after each measurement: without the clients, with them, and so on.
fn tell_memory(megabytes: &[f64]) {
    let told: Vec<String> = megabytes.iter().map(|megabytes| format!("{megabytes:.0}")).collect();
    println!("  memory of the server, MB, without and with in turn: {}", told.join(" "));
}

/// A client that asks for events and does not read them. Its connection has the
/// small segments of one over a network; the loopback's would swallow megabytes.
async fn stall(api: &Api, path: String) -> Outcome<TcpStream> {
    let address: SocketAddr = api.url.trim_start_matches("http://").parse()?;
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4096)?;
    setsockopt(&socket, TcpMaxSeg, &1400)?;
    let mut stream = socket.connect(address).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Lets the clients read for a while, all at once.
async fn wake(stalled: Vec<TcpStream>) {
    let reading = stalled.into_iter().map(|mut stream| async move {
        let mut bytes = vec![0; 16 * 1024];
        let read = async { while stream.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
        let _ = timeout(Duration::from_secs(2), read).await;
    });
    futures::future::join_all(reading).await;
}
