//! Sessions as resources: `plenary://boardroom/{id}`.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};

use super::call::encode;
use super::{Request, Server};

const MARKDOWN: &str = "text/markdown";

pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("plenary://{kind}/{id}", "session")
            .with_title("A session's record")
            .with_description(
                "The whole record, as Markdown. Kinds: boardroom, whiteboard, council, discussion.",
            )
            .with_mime_type(MARKDOWN),
    ]
}

/// The record of the whiteboard that an answer is about.
pub fn link(answer: &Value) -> Option<Resource> {
    let id = answer["session_id"].as_str()?;
    let name = answer["board_id"].as_str().unwrap_or(id);
    let link = Resource::new(format!("plenary://whiteboard/{id}"), name)
        .with_title(format!("The record of {name}"))
        .with_mime_type(MARKDOWN);
    Some(link)
}

/// Recent sessions, newest first.
pub async fn list(
    server: &Server,
    caller: String,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = cursor.map(|cursor| format!("?cursor={}", encode(cursor))).unwrap_or_default();
    let page = fetch(server, caller, format!("/api/sessions{cursor}")).await?;
    let rows = page["data"].as_array().into_iter().flatten();
    let resource = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let words = format!("{}, {}, begun {}", text("kind"), text("status"), text("createdAt"));
        Resource::new(format!("plenary://{}/{}", text("kind"), text("id")), text("id"))
            .with_title(text("title"))
            .with_description(words)
            .with_mime_type(MARKDOWN)
    };
    let mut found = ListResourcesResult::with_all_items(rows.map(resource).collect());
    found.next_cursor = page["meta"]["next"].as_str().map(str::to_owned);
    Ok(found)
}

pub async fn read(
    server: &Server,
    caller: String,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let unknown = || {
        let words = "There is no such resource; they are called plenary://{kind}/{id}.";
        ErrorData::resource_not_found(words, Some(json!({ "uri": uri })))
    };
    let parts = uri.strip_prefix("plenary://").and_then(|rest| rest.split_once('/'));
    let (kind, id) = parts.ok_or_else(unknown)?;
    let route = format!("/api/sessions/{}?detail=full", encode(id));
    let session = fetch(server, caller, route).await.map_err(|error| {
        if error.code == rmcp::model::ErrorCode::RESOURCE_NOT_FOUND { unknown() } else { error }
    })?;
    if session["data"]["kind"] != kind {
        return Err(unknown());
    }
    let text = session["data"]["result"].as_str().unwrap_or_default();
    let contents = ResourceContents::text(text, uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![contents]))
}

async fn fetch(server: &Server, caller: String, path: String) -> Result<Value, ErrorData> {
    let request = Request {
        method: "GET",
        path,
        body: None,
        agent_token: None,
        idempotency_key: None,
        caller,
    };
    // What the route says besides is about routes.
    let failed = |error: &Value| {
        let message = error["message"].as_str().unwrap_or("The request failed.");
        (message.replace("`meta.next`", "`nextCursor`"), Some(json!({ "code": error["code"] })))
    };
    match server.shared.door.call(request).await {
        Err(error) => {
            let (message, data) = failed(&error);
            Err(ErrorData::internal_error(message, data))
        }
        Ok((404, reply)) => {
            let (message, data) = failed(&reply["error"]);
            Err(ErrorData::resource_not_found(message, data))
        }
        Ok((status, reply)) if status >= 400 => {
            let (message, data) = failed(&reply["error"]);
            Err(ErrorData::invalid_params(message, data))
        }
        Ok((_, reply)) => Ok(reply),
    }
}
