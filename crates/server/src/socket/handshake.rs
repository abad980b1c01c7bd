//! What a client says about itself when it connects.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::Query;
use plenary_domain::{SessionId, limits};
use serde_json::Value;
use socketioxide::adapter::LocalAdapter;
use socketioxide::extract::TryData;
use socketioxide::handler::{self, FromConnectParts};
use socketioxide::socket::Socket;

use super::command::table;
use crate::auth::{self, Access, Principal};
use crate::error::{Code, Problem};

pub struct Handshake {
    pub socket: Arc<Socket>,
    auth: Value,
}

/// The discussions that a client hears of.
#[derive(Debug, PartialEq)]
pub enum Scope {
    All,
    These(BTreeSet<SessionId>),
}

impl FromConnectParts<LocalAdapter> for Handshake {
    type Error = Infallible;

    fn from_connect_parts(
        socket: &Arc<Socket>,
        auth: &Option<handler::Value>,
    ) -> Result<Self, Infallible> {
        let TryData(given) = TryData::from_connect_parts(socket, auth)?;
        Ok(Handshake { socket: socket.clone(), auth: given.unwrap_or_default() })
    }
}

impl Handshake {
    /// Who this is. A browser can send no header with a websocket, so a token may come
    /// in the packet; it never comes in the address, which ends up in logs.
    pub fn caller(&self, access: &Access) -> Result<Principal, Problem> {
        let given = self.auth["token"].as_str();
        let header = auth::bearer(&self.socket.req_parts().headers);
        access.prove(given.or(header)).map_err(|problem| {
            problem.hint(
                "Connect with `auth: { token }`, or with the header `Authorization: Bearer …`; \
                 it is the value of PLENARY_TOKEN.",
            )
        })
    }

    /// The discussions that it names, in the packet or in the address; without any, all.
    pub fn scope(&self) -> Result<Scope, Problem> {
        let uri = &self.socket.req_parts().uri;
        let query = Query::<Vec<(String, String)>>::try_from_uri(uri);
        let query = query.map(|query| query.0).unwrap_or_default();
        scope(&self.auth["tableId"], &query)
    }
}

fn scope(given: &Value, query: &[(String, String)]) -> Result<Scope, Problem> {
    let named = match given {
        Value::Null => vec![],
        Value::Array(many) => many.clone(),
        one => vec![one.clone()],
    };
    // The client library joins several values of one name by commas.
    let asked = query.iter().filter(|(name, _)| name == "tableId");
    let asked = asked.flat_map(|(_, value)| value.split(',').map(Value::from));
    let tables: BTreeSet<SessionId> =
        named.into_iter().chain(asked).map(|id| table(&id)).collect::<Result<_, _>>()?;
    within_limit(tables.len())?;
    Ok(if tables.is_empty() { Scope::All } else { Scope::These(tables) })
}

pub fn within_limit(tables: usize) -> Result<(), Problem> {
    let most = limits::SOCKET_TABLES;
    if tables <= most {
        return Ok(());
    }
    Err(Problem::new(Code::InvalidInput, format!("A client can name at most {most} discussions."))
        .hint("Name none to follow all of them."))
}

impl Scope {
    pub fn has(&self, id: SessionId) -> bool {
        match self {
            Scope::All => true,
            Scope::These(tables) => tables.contains(&id),
        }
    }

    /// The names in it, as the answer to a command tells them.
    pub fn words(&self) -> Value {
        match self {
            Scope::All => Value::from("all"),
            Scope::These(tables) => tables.iter().map(ToString::to_string).collect(),
        }
    }
}
