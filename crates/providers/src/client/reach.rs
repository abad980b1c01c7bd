//! How a server is reached: by its name, through a proxy where the environment names one,
//! encrypted where its address says so.

use std::error::Error;
use std::fmt;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use hyper::Uri;
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use hyper::rt::{Read, Write};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use tower::{Service, ServiceExt as _};

use crate::tls;

pub(super) trait Stream: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Stream for T {}

type Wrong = Box<dyn Error + Send + Sync>;

pub(super) struct Reach {
    connector: HttpsConnector<HttpConnector<Names>>,
    proxies: Option<Matcher>,
}

impl Reach {
    pub(super) fn new(proxies: Option<Matcher>) -> Self {
        let mut plain = HttpConnector::new_with_resolver(Names(GaiResolver::new()));
        plain.enforce_http(false);
        // Requests are small; waiting to fill a packet would be felt.
        plain.set_nodelay(true);
        let connector = HttpsConnector::from((plain, tls::client_config()));
        Reach { connector, proxies }
    }

    pub(super) async fn open(&self, uri: &Uri) -> Result<Box<dyn Stream>, Wrong> {
        let connector = self.connector.clone();
        let Some(proxy) = self.proxy(uri) else {
            return Ok(Box::new(connector.oneshot(uri.clone()).await?));
        };
        if is_plain(uri) {
            return Ok(Box::new(connector.oneshot(proxy.uri().clone()).await?));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), connector);
        if let Some(word) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(word.clone());
        }
        let encrypted = HttpsConnector::from((tunnel, tls::client_config()));
        Ok(Box::new(encrypted.oneshot(uri.clone()).await?))
    }

    /// What a request must say to a proxy that passes it on; `None` if none does.
    pub(super) fn forwarding(&self, uri: &Uri) -> Option<HeaderMap> {
        let proxy = self.proxy(uri).filter(|_| is_plain(uri))?;
        let word = proxy.basic_auth().cloned();
        Some(word.into_iter().map(|word| (PROXY_AUTHORIZATION, word)).collect())
    }

    fn proxy(&self, uri: &Uri) -> Option<Intercept> {
        self.proxies.as_ref()?.intercept(uri)
    }
}

/// A proxy sees such requests itself, and makes them in our place.
fn is_plain(uri: &Uri) -> bool {
    uri.scheme_str() == Some("http")
}

/// No address is known for a name.
#[derive(Debug)]
pub(crate) struct NoHost(std::io::Error);

impl fmt::Display for NoHost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "no address is known: {}", self.0)
    }
}

impl Error for NoHost {}

/// The system's names, with a failure that can be told from others.
#[derive(Clone)]
struct Names(GaiResolver);

impl Service<Name> for Names {
    type Response = GaiAddrs;
    type Error = NoHost;
    type Future = BoxFuture<'static, Result<GaiAddrs, NoHost>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), NoHost>> {
        Service::poll_ready(&mut self.0, cx).map_err(NoHost)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let found = Service::call(&mut self.0, name);
        Box::pin(async move { found.await.map_err(NoHost) })
    }
}
