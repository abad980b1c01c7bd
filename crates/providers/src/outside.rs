//! What workflows reach beyond the program: servers, files and secrets that the operator
//! names, and no others.
//!
//! Addresses and paths come out of workflows, and through their templates out of what
//! models, people and other servers say. So nothing here is believed: what the
//! configuration does not name is refused, and what is checked is what is used.

mod hosts;
mod send;
mod step;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use plenary_domain::{Errand, Failure, FailureKind, Usage};
use plenary_engine::ports::Outside;
use serde_json::{Value, json};

use crate::config::Secret;
use crate::redact::{self, Redactor};

pub use hosts::AllowedHost;
use send::{Limits, Request, Resolver, Response};

/// The table `[workflows]` of the configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutsideConfig {
    /// Hosts that requests may go to, as long as they are out on the internet.
    pub hosts: Vec<AllowedHost>,
    /// Those that requests may go to wherever they are, on this machine too.
    pub private_hosts: Vec<AllowedHost>,
    /// Where files may be written, as whole paths. A relative path starts at the first.
    pub folders: Vec<PathBuf>,
    pub secrets: BTreeMap<String, SecretConfig>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretConfig {
    /// The variable that it comes from.
    pub variable: String,
    /// What that held when the program started.
    pub value: Option<Secret>,
}

/// The only way out.
#[derive(Clone)]
pub struct Gateway {
    config: Arc<OutsideConfig>,
    redactor: Arc<Redactor>,
    resolver: Resolver,
    limits: Limits,
}

impl Gateway {
    pub fn new(config: OutsideConfig) -> Self {
        let values = config.secrets.values().filter_map(|secret| secret.value.as_ref());
        let values = values.flat_map(|value| as_repeated(value.expose()));
        Gateway {
            redactor: Arc::new(Redactor::knowing(values)),
            config: Arc::new(config),
            resolver: send::by_the_system(),
            limits: Limits::default(),
        }
    }

    /// Asks somebody else where names lead, and waits for less.
    #[cfg(test)]
    fn with(self, resolver: Resolver, limits: Limits) -> Self {
        Gateway { resolver, limits, ..self }
    }
}

impl Outside for Gateway {
    fn run(&self, errand: Errand) -> BoxFuture<'static, Result<Value, Failure>> {
        let gateway = self.clone();
        Box::pin(async move {
            let done = gateway.carry_out(errand).await;
            done.map_err(|failure| gateway.hidden(failure))
        })
    }

    fn may_write(&self, path: &str) -> Result<(), Failure> {
        let allowed = write::may_write(&self.config.folders, path);
        allowed.map_err(|failure| self.hidden(failure))
    }

    fn secret(&self, name: &str) -> Option<String> {
        self.known(name).ok()
    }
}

impl Gateway {
    async fn carry_out(&self, errand: Errand) -> Result<Value, Failure> {
        match errand {
            Errand::Request { with, key } => {
                let request = step::request(&with, key, &|name| self.known(name))?;
                step::answered(&self.send(request).await?)
            }
            Errand::Write { with, .. } => {
                let (path, bytes) = step::file(&with)?;
                let (size, hash) = (bytes.len(), step::hash(&bytes));
                let path = self.write(path, bytes).await?;
                Ok(json!({ "path": path, "bytes": size, "sha256": hash }))
            }
            Errand::Look { .. }
            | Errand::Open { .. }
            | Errand::Tell { .. }
            | Errand::Watch { .. }
            | Errand::Await { .. }
            | Errand::Stop { .. } => {
                let message = "This is done inside the program, and not outside.";
                Err(failure(FailureKind::Internal, message.into()))
            }
        }
    }

    /// Sends one request, without following it elsewhere. An answer of any status is an
    /// answer.
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let sent = send::send(&self.config, &self.resolver, self.limits, request).await;
        sent.map(|Response { status, content_type, body }| Response {
            status,
            content_type: content_type.map(|text| self.redactor.message(&text)),
            body: self.redactor.bytes(body),
        })
    }

    /// Returns the whole path.
    async fn write(&self, path: String, bytes: Vec<u8>) -> Result<String, Failure> {
        let config = self.config.clone();
        let written =
            tokio::task::spawn_blocking(move || write::write(&config.folders, &path, &bytes));
        written.await.unwrap_or_else(|_| {
            Err(failure(FailureKind::Internal, "Writing the file broke off.".into()))
        })
    }

    /// A secret, or what has to be set.
    fn known(&self, name: &str) -> Result<String, Failure> {
        let wrong = |message| Err(failure(FailureKind::Misconfigured, message));
        let Some(secret) = self.config.secrets.get(name) else {
            return wrong(format!(
                "There is no secret `{name}`. To set it, name its environment variable in \
                 `secrets` under [workflows] in plenary.toml."
            ));
        };
        let variable = &secret.variable;
        match &secret.value {
            None => wrong(format!(
                "The secret `{name}` comes from {variable}, which was not set when Plenary \
                 started."
            )),
            // It would be found in words where it is none, so it could not be hidden.
            Some(value) if value.expose().len() < redact::SHORT => wrong(format!(
                "The secret `{name}` in {variable} is too short to be kept out of records: it \
                 needs {} characters or more.",
                redact::SHORT
            )),
            Some(value) => Ok(value.expose().to_owned()),
        }
    }

    fn hidden(&self, failure: Failure) -> Failure {
        Failure { message: self.redactor.message(&failure.message), ..failure }
    }
}

/// A secret as it is, and as it stands in the JSON of a server that repeats its headers.
fn as_repeated(secret: &str) -> Vec<String> {
    let written = serde_json::Value::from(secret).to_string();
    let written = written.trim_matches('"').to_owned();
    let mut all = vec![secret.to_owned(), written.replace('/', "\\/"), written];
    all.dedup();
    all
}

fn failure(kind: FailureKind, message: String) -> Failure {
    Failure { kind, message, attempts: 1, usage: Usage::default() }
}

#[cfg(test)]
mod tests;
