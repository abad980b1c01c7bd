//! What a client says: a command, or which discussions it wants to hear of.

use std::sync::Arc;

use plenary_domain::SessionId;
use serde_json::{Value, json};
use socketioxide::SendError;
use socketioxide::SocketError::InternalChannelFull;
use socketioxide::adapter::LocalAdapter;
use socketioxide::extract::AckSender;
use socketioxide::handler::{self, FromMessageParts, MessageHandler};
use socketioxide::socket::Socket;
use tokio::sync::mpsc;

use crate::error::{Code, Problem};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Command {
    /// A request to the route of this name.
    Do(&'static str),
    Watch,
    Unwatch,
}

const COMMANDS: [(&str, Command); 7] = [
    ("discussion:start", Command::Do("start")),
    ("discussion:pause", Command::Do("pause")),
    ("discussion:resume", Command::Do("resume")),
    ("discussion:stop", Command::Do("stop")),
    ("discussion:conclude", Command::Do("conclude")),
    ("discussion:watch", Command::Watch),
    ("discussion:unwatch", Command::Unwatch),
];

/// One event of a client, and the way back to it.
pub struct Said {
    socket: Arc<Socket>,
    /// The event's name and its arguments.
    words: Vec<Value>,
    ack: Option<i64>,
    /// It has heard of its error by the first of two names.
    is_told: bool,
}

impl Said {
    pub fn command(&self) -> Result<(Command, SessionId), Problem> {
        let event = self.words.first().and_then(Value::as_str).unwrap_or_default();
        let Some((_, command)) = COMMANDS.into_iter().find(|(name, _)| *name == event) else {
            let names = COMMANDS.map(|(name, _)| name).join(", ");
            return Err(Problem::new(Code::NotFound, format!("There is no event `{event}`."))
                .hint(format!("Available: {names}.")));
        };
        Ok((command, table(&self.given()["tableId"])?))
    }

    fn given(&self) -> &Value {
        self.words.get(1).unwrap_or(&Value::Null)
    }

    /// Answers with an envelope like REST's: whoever wants it gets it, and others hear
    /// of errors only. Gives itself back while the client has not read what waits.
    pub fn answer(&mut self, envelope: &Value) -> Result<(), Full> {
        let sent = match self.ack {
            Some(_) => self.sender().map_or(Ok(()), |sender| sender.send(envelope)),
            None if envelope["success"] == true => Ok(()),
            None => self.tell(envelope),
        };
        match sent {
            Err(SendError::Socket(InternalChannelFull)) => Err(Full),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Some clients listen for errors of discussions where they listen for those of agents.
    fn tell(&mut self, envelope: &Value) -> Result<(), SendError> {
        if !self.is_told {
            self.socket.emit("discussion:error", &self.error(envelope))?;
            self.is_told = true;
        }
        let (error, table) = (&envelope["error"], &self.given()["tableId"]);
        let data = agent_error(table, &error["message"], &error["code"]);
        self.socket.emit(AGENT_ERROR, &data)
    }

    fn sender(&self) -> Option<AckSender> {
        let mut nothing = handler::Value::Bytes(Default::default());
        AckSender::from_message_parts(&self.socket, &mut nothing, &self.ack).ok()
    }

    fn error(&self, envelope: &Value) -> Value {
        let mut error = envelope["error"].clone();
        error["command"] = self.words.first().cloned().unwrap_or_default();
        error["tableId"] = self.given()["tableId"].clone();
        error
    }
}

pub const AGENT_ERROR: &str = "agent:error";

/// What is wrong with a discussion, as it is told of agents.
pub fn agent_error(table: &Value, error: &Value, kind: &Value) -> Value {
    json!({ "agentId": table, "sessionId": table, "error": error, "type": kind })
}

/// The client has too much to read already.
pub struct Full;

/// The id of a discussion. Whether there is one is for the route to say.
pub fn table(given: &Value) -> Result<SessionId, Problem> {
    let problem = match given {
        Value::Null => "is missing; it is the id of a discussion",
        Value::String(text) => match text.parse() {
            Ok(id) => return Ok(id),
            Err(_) => "must be the id of a discussion, which is a UUID",
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            "must be a string: the id of a discussion"
        }
    };
    Err(Problem::invalid([("tableId".to_owned(), problem.to_owned())])
        .hint("Send one object: { tableId: \"…\" }. GET /api/discussions lists the ids."))
}

/// Takes what a client says in the order in which it was said.
#[derive(Clone)]
pub struct Ear(pub mpsc::Sender<Said>);

impl MessageHandler<LocalAdapter, ()> for Ear {
    fn call(&self, socket: Arc<Socket>, value: handler::Value, ack: Option<i64>) {
        let words = value.as_str().and_then(|words| serde_json::from_str(words).ok());
        let said = Said { socket, words: words.unwrap_or_default(), ack, is_told: false };
        if let Err(mpsc::error::TrySendError::Full(mut said)) = self.0.try_send(said) {
            let busy = Problem::new(Code::Busy, "Too many of this client's commands are waiting.")
                .hint("Wait for the answer to one before you send the next.");
            let _ = said.answer(&json!(busy.body()));
        }
    }
}
