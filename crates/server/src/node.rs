//! What the nodes of one store ask of each other.
//!
//! Nobody else has a use for it, so it stands in no document. A node shows that it is one by
//! a code made from the store's secret, for one session and for a minute: whoever has
//! overheard it can hear that session for so long, and do nothing else.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::StreamExt as _;
use plenary_domain::{SessionId, limits};
use plenary_engine::ports::Said;
use ring::hmac;

use crate::App;
use crate::error::{Code, Problem};
use crate::listen::Peer;

pub const HEADER: &str = "plenary-node";
const PLACE: &str = "/node/words/";

/// Whether a request is one of these, which need no token: they prove themselves.
pub fn is_between_nodes(path: &str) -> bool {
    path.starts_with(PLACE)
}

/// Where a node tells what the calls of a session say.
pub fn place(address: &str, id: SessionId) -> String {
    format!("{}{PLACE}{id}", address.trim_end_matches('/'))
}

/// What a node shows to another one, which takes it until then.
pub fn proof(secret: &[u8; 32], id: SessionId, until_ms: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let code = hmac::sign(&key, format!("node/{id}/{until_ms}").as_bytes());
    let code: String = code.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{until_ms}.{code}")
}

fn is_proven(secret: &[u8; 32], id: SessionId, given: &str, now_ms: i64) -> bool {
    let until_ms = given.split_once('.').and_then(|(until, _)| until.parse::<i64>().ok());
    // The clocks of nodes may differ a little.
    let near = now_ms..=now_ms + 2 * limits::NODE_PROOF_MS;
    until_ms
        .filter(|until_ms| near.contains(until_ms))
        .is_some_and(|until_ms| crate::auth::same(given, &proof(secret, id, until_ms)))
}

pub fn routes() -> Router<App> {
    Router::new().route("/node/words/{id}", get(words))
}

async fn words(
    State(app): State<App>,
    Path(id): Path<String>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: SessionId = id.parse().map_err(|_| Problem::no_such_session(&id))?;
    let secret = app.engine.secret().await?;
    let now_ms = app.engine.clock().now().as_millisecond();
    let given = headers.get(HEADER).and_then(|given| given.to_str().ok()).unwrap_or_default();
    if !is_proven(&secret, id, given, now_ms) {
        return Err(Problem::new(Code::Unauthorized, "Only nodes of this store can ask for this."));
    }
    if let Some(Extension(peer)) = peer {
        peer.prove()?;
    }
    let words = app.engine.words(id).await?;
    let lines = words.map(|said| line(&said));
    Ok(Body::from_stream(lines).into_response())
}

fn line(said: &Said) -> Result<Bytes, serde_json::Error> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    Ok(line.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_for_one_session_one_store_and_a_short_time() {
        let (secret, id) = ([7; 32], SessionId(uuid::Uuid::from_u128(1)));
        let shown = proof(&secret, id, 1_000_000);
        let check = |secret: &[u8; 32], id, shown: &str, now, expected| {
            assert_eq!(is_proven(secret, id, shown, now), expected, "{shown} at {now}");
        };
        check(&secret, id, &shown, 1_000_000 - limits::NODE_PROOF_MS, true);
        check(&secret, id, &shown, 1_000_000, true);
        check(&secret, id, &shown, 1_000_001, false);
        check(&secret, id, &shown, 1_000_000 - 3 * limits::NODE_PROOF_MS, false);
        check(&[8; 32], id, &shown, 1_000_000, false);
        check(&secret, SessionId(uuid::Uuid::from_u128(2)), &shown, 1_000_000, false);
        check(&secret, id, &shown.replace("1000000", "1000001"), 1_000_000, false);
        check(&secret, id, "", 1_000_000, false);
    }
}
