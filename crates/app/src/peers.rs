//! The way to other nodes on the same database, and where they reach this one.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt as _};
use plenary_domain::{SessionId, limits};
use plenary_engine::SystemClock;
use plenary_engine::ports::{Clock as _, Peers, Said};
use plenary_server::node;

use crate::config::Config;

const CONNECT: Duration = Duration::from_secs(2);

pub struct Ways {
    secret: [u8; 32],
    /// Nodes reach each other directly, whatever proxies there are for the world outside.
    http: Option<reqwest::Client>,
}

impl Ways {
    pub fn new(secret: [u8; 32]) -> Ways {
        plenary_providers::install_tls();
        let http = reqwest::Client::builder().no_proxy().connect_timeout(CONNECT).build();
        if let Err(error) = &http {
            tracing::warn!(%error, "other nodes cannot be asked what is said there");
        }
        Ways { secret, http: http.ok() }
    }
}

impl Peers for Ways {
    fn words(&self, address: &str, id: SessionId) -> BoxStream<'static, Said> {
        let Some(http) = &self.http else { return futures::stream::empty().boxed() };
        let until_ms = SystemClock::default().now().as_millisecond() + limits::NODE_PROOF_MS;
        let proof = node::proof(&self.secret, id, until_ms);
        let asked = http.get(node::place(address, id)).header(node::HEADER, proof);
        let place = address.to_owned();
        let response = async move {
            match asked.send().await.and_then(reqwest::Response::error_for_status) {
                Ok(response) => Some(Lines { response, carry: vec![] }),
                Err(error) => {
                    // Without its own words: these name the session.
                    tracing::debug!(node = place, error = %error.without_url(), "no words");
                    None
                }
            }
        };
        futures::stream::once(response)
            .filter_map(std::future::ready)
            .flat_map(|lines| futures::stream::unfold(lines, Lines::next))
            // What a newer node says in a way that this one does not know.
            .filter_map(|line| std::future::ready(serde_json::from_slice(&line).ok()))
            .boxed()
    }
}

struct Lines {
    response: reqwest::Response,
    carry: Vec<u8>,
}

impl Lines {
    async fn next(mut self) -> Option<(Vec<u8>, Lines)> {
        loop {
            if let Some(end) = self.carry.iter().position(|byte| *byte == b'\n') {
                let rest = self.carry.split_off(end + 1);
                let line = std::mem::replace(&mut self.carry, rest);
                return Some((line, self));
            }
            if self.carry.len() > limits::WIRE_LINE_BYTES {
                return None;
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.carry.extend_from_slice(&chunk);
        }
    }
}

/// Where other nodes reach this one: as the operator says, else where it listens. One that
/// listens everywhere is reached where the database sees it; one that listens to its own
/// machine alone only by nodes that share it.
pub fn address(config: &Config, listens: SocketAddr) -> Option<String> {
    if let Some(address) = &config.serving.address {
        return Some(address.clone());
    }
    let database = config.database.as_ref()?.place();
    let towards = database.and_then(|(host, port)| towards(host, port));
    let is_near = towards.is_none_or(|ip| ip.is_loopback());
    let ip = match listens.ip() {
        ip if ip.is_unspecified() => towards.unwrap_or(IpAddr::from([127, 0, 0, 1])),
        ip if ip.is_loopback() && !is_near => return None,
        ip => ip,
    };
    Some(format!("http://{}", SocketAddr::new(ip, listens.port())))
}

/// The address of this machine on the way to another one. Nothing is sent.
fn towards(host: &str, port: u16) -> Option<IpAddr> {
    ["0.0.0.0:0", "[::]:0"].into_iter().find_map(|any| {
        let socket = UdpSocket::bind(any).ok()?;
        socket.connect((host, port)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    })
}
