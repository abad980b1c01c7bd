//! Waiting for a session, with signs of life.

use plenary_domain::limits;
use rmcp::RoleServer;
use rmcp::model::{JsonObject, ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::call::{Answer, Caller};
use super::{Entry, Server};
use crate::views;

/// Asks the route in slices, until the session is over, something has happened that is
/// waited for, or the time is over. The client hears of each change, and of none at
/// least once a slice, so that a time limit which progress resets does not end the wait.
pub async fn wait(
    server: &Server,
    entry: &Entry,
    arguments: JsonObject,
    caller: &Caller<'_>,
    context: &RequestContext<RoleServer>,
) -> Answer {
    let door = &server.shared.door;
    let began = door.ticks();
    let seconds = match arguments.get("seconds").filter(|seconds| !seconds.is_null()) {
        None => u64::from(limits::MCP_WAIT_SECONDS),
        // What is no number from 0 to 600 goes to the route, which refuses it.
        Some(seconds) => match seconds.as_u64() {
            Some(seconds) if seconds <= u64::from(limits::WAIT_MOST_SECONDS) => seconds,
            _ => return server.once(entry, &arguments, caller).await,
        },
    };
    let mut progress = Told { token: context.meta.get_progress_token(), last: -1.0 };
    let mut asked = arguments.clone();
    // What had happened when the caller looked last, or else before this call.
    let mut known = asked.remove("seen").filter(|seen| !seen.is_null());
    let mut slice = 0;
    loop {
        asked.insert("seconds".into(), json!(slice));
        let asking = server.once(entry, &asked, caller);
        let mut view = tokio::select! {
            view = asking => view?,
            () = context.ct.cancelled() => return Err(given_up()),
        };
        progress.tell(&view["progress"], context).await;
        let left = seconds.saturating_sub(door.ticks().saturating_sub(began) / 1000);
        let seen = view["seen"].take();
        let known = known.get_or_insert_with(|| seen.clone());
        let happened = views::has_happened(text(known), text(&seen));
        asked.insert("seen".into(), seen.clone());
        view["seen"] = seen;
        if view["over"] == true || happened || left == 0 {
            return Ok(view);
        }
        slice = left.min(u64::from(limits::MCP_SLICE_SECONDS));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn given_up() -> Value {
    json!({ "code": "cancelled", "message": "The wait was cancelled; the session continues." })
}

struct Told {
    token: Option<ProgressToken>,
    last: f64,
}

impl Told {
    async fn tell(&mut self, progress: &Value, context: &RequestContext<RoleServer>) {
        let Some(token) = self.token.clone() else { return };
        // Each notification must tell of more progress than the one before, also
        // one that is but a sign of life, or after a step was taken back.
        let done = progress["done"].as_f64().unwrap_or(0.0);
        self.last = done.max(self.last + 0.001);
        let told = ProgressNotificationParam::new(token, self.last)
            .with_total(progress["total"].as_f64().unwrap_or(1.0))
            .with_message(progress["message"].as_str().unwrap_or_default());
        // A client that has gone away is noticed by the transport.
        let _ = context.peer.notify_progress(told).await;
    }
}
