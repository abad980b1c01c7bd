//! One client: carries out what it says, and tells it what happens.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::StreamExt;
use plenary_domain::{SessionId, limits};
use plenary_engine::ports::StoredEvent;
use serde_json::{Value, json};
use socketioxide::SendError;
use socketioxide::SocketError::InternalChannelFull;
use socketioxide::socket::Socket;
use tokio::sync::mpsc;

use super::Hall;
use super::command::{Command, Said};
use super::handshake::{Scope, within_limit};
use super::news::News;
use crate::auth::Principal;
use crate::error::{Code, Problem};
use crate::mcp::Request;

pub struct Session {
    pub hall: Arc<Hall>,
    /// Not held: what the client says comes from it, and ends with it.
    pub socket: Weak<Socket>,
    pub caller: Principal,
    pub scope: Scope,
    /// Whether it was connected at some time: the events of others may come first.
    pub met: bool,
}

/// The client has left.
struct Gone;

impl Session {
    /// Ends when the client has left.
    pub async fn run(mut self, after: u64, mut said: mpsc::Receiver<Said>) {
        let mut events = std::pin::pin!(self.hall.engine.watch_all(after));
        loop {
            tokio::select! {
                said = said.recv() => match said {
                    Some(said) => self.hear(said).await,
                    None => return,
                },
                event = events.next() => {
                    // The log cannot be read any more: a client that connects again
                    // is told so.
                    let Some(event) = event else { return self.send_off() };
                    if let Err(Gone) = self.tell(event).await {
                        return;
                    }
                }
            }
        }
    }

    async fn hear(&mut self, mut said: Said) {
        self.met = true;
        let envelope = match self.carry_out(&said).await {
            Ok(envelope) => envelope,
            Err(problem) => json!(problem.body()),
        };
        while said.answer(&envelope).is_err() {
            pause().await;
        }
    }

    async fn carry_out(&mut self, said: &Said) -> Result<Value, Problem> {
        let (command, id) = said.command()?;
        match command {
            Command::Do(verb) => Ok(self.ask("POST", format!("/{verb}"), id).await),
            Command::Watch => {
                let found = self.ask("GET", String::new(), id).await;
                if found["success"] != true {
                    return Ok(found);
                }
                self.watch(id)
            }
            Command::Unwatch => self.unwatch(id),
        }
    }

    /// REST's answer.
    async fn ask(&self, method: &'static str, verb: String, id: SessionId) -> Value {
        let request = Request {
            method,
            path: format!("/api/discussions/{id}{verb}"),
            body: None,
            agent_token: None,
            idempotency_key: None,
            caller: self.caller.0.clone(),
        };
        match self.hall.door.call(request).await {
            Ok((_, envelope)) => envelope,
            Err(error) => json!({ "success": false, "error": error }),
        }
    }

    fn watch(&mut self, id: SessionId) -> Result<Value, Problem> {
        match &mut self.scope {
            Scope::All => self.scope = Scope::These(BTreeSet::from([id])),
            Scope::These(tables) => {
                within_limit(tables.len() + usize::from(!tables.contains(&id)))?;
                tables.insert(id);
            }
        }
        Ok(self.watching())
    }

    fn unwatch(&mut self, id: SessionId) -> Result<Value, Problem> {
        match &mut self.scope {
            Scope::All => Err(Problem::new(Code::NotNow, "This client follows all discussions.")
                .hint("To follow only some, send discussion:watch.")),
            Scope::These(tables) => {
                tables.remove(&id);
                Ok(self.watching())
            }
        }
    }

    fn watching(&self) -> Value {
        json!({ "success": true, "data": { "watching": self.scope.words() } })
    }

    async fn tell(&mut self, event: Arc<StoredEvent>) -> Result<(), Gone> {
        if !News::is_any(&event) || !self.scope.has(event.session) {
            return Ok(());
        }
        let told = self.hall.news.of(&self.hall.engine, &event).await;
        for (name, data) in told.iter() {
            self.emit(name, data).await?;
        }
        Ok(())
    }

    /// Waits as long as the client has not read what was sent. If that takes too long
    /// it is disconnected, because it does not show that it lives.
    async fn emit(&mut self, name: &str, data: &Value) -> Result<(), Gone> {
        loop {
            let socket = self.socket.upgrade().ok_or(Gone)?;
            self.met |= socket.connected();
            match socket.emit(name, data) {
                Ok(()) => return Ok(()),
                Err(SendError::Socket(InternalChannelFull)) => {}
                Err(_) if self.met => return Err(Gone),
                Err(_) => {}
            }
            drop(socket);
            pause().await;
        }
    }

    fn send_off(&self) {
        if let Some(socket) = self.socket.upgrade() {
            let _ = socket.disconnect();
        }
    }
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(limits::SOCKET_PAUSE_MS)).await;
}
