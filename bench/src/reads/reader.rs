//! A client that takes as little of the processor as it can, because it shares the
//! machine with the server that is measured.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Outcome;

pub struct Reader {
    stream: TcpStream,
    request: Vec<u8>,
    held: Vec<u8>,
}

pub struct Read {
    pub waits: Vec<Duration>,
    /// Of all bodies.
    pub bytes: usize,
}

impl Reader {
    pub async fn connect(address: SocketAddr, path: &str) -> Outcome<Reader> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes();
        Ok(Reader { stream, request, held: vec![] })
    }

    /// One request after the other.
    pub async fn read(mut self, until: Instant) -> Outcome<Read> {
        let mut read = Read { waits: vec![], bytes: 0 };
        while Instant::now() < until {
            let start = Instant::now();
            read.bytes += self.once().await?;
            read.waits.push(start.elapsed());
        }
        Ok(read)
    }

    async fn once(&mut self) -> Outcome<usize> {
        self.stream.write_all(&self.request).await?;
        self.held.clear();
        let body = loop {
            if self.stream.read_buf(&mut self.held).await? == 0 {
                return Err("a server ended the connection".into());
            }
            if let Some(end) = self.held.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let head = std::str::from_utf8(&self.held[..body])?;
        if !head.starts_with("HTTP/1.1 200") {
            return Err(format!("a read was refused: {head}").into());
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.ok_or("an answer of unknown length")?.parse()?;
        while self.held.len() < body + length {
            if self.stream.read_buf(&mut self.held).await? == 0 {
                return Err("an answer was cut".into());
            }
        }
        Ok(length)
    }
}
