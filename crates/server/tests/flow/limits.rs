//! What a form is told beforehand is what counts afterwards.

use plenary_domain::limits;
use serde_json::json;

use crate::support::{TestApp, canned};

#[tokio::test(flavor = "multi_thread")]
async fn a_form_knows_the_limits_before_it_is_sent() {
    let app = TestApp::start(canned()).await;
    let (status, told) = app.get("/api/limits").await;
    assert_eq!(status, 200, "{told}");
    let data = &told["data"];
    assert_eq!(
        data["discussion"]["rounds"],
        json!({ "name": "Rounds", "unit": "count", "least": 1, "most": limits::ROUNDS_MOST,
            "usual": limits::ROUNDS })
    );
    assert_eq!(
        data["boardroom"]["prompt"],
        json!({ "name": "Question", "unit": "bytes", "least": 1, "most": limits::PROMPT_BYTES })
    );
    let count = limits::told::TOLD.len();
    let shown = data.as_object().unwrap().values().map(|of| of.as_object().unwrap().len());
    assert_eq!(shown.sum::<usize>(), count, "each one is shown");

    // One more than is told is refused, and that is not.
    let most = data["boardroom"]["prompt"]["most"].as_u64().unwrap() as usize;
    for (bytes, expected) in [(most, 201), (most + 1, 422)] {
        let body = json!({ "prompt": "x".repeat(bytes), "models": ["ollama/a"] });
        assert_eq!(app.post("/api/boardrooms", &body).await.0, expected);
    }
}

/// The document writes its numbers by itself; they must be the same ones.
#[tokio::test(flavor = "multi_thread")]
async fn the_document_has_the_same_limits() {
    let app = TestApp::start(canned()).await;
    let (_, document) = app.get("/api/openapi.json").await;
    let (_, told) = app.get("/api/limits").await;
    for (schema, field, kind, limit) in [
        ("NewBoardroom", "prompt", "maxLength", "boardroom/prompt"),
        ("NewBoardroom", "advisors", "maxItems", "boardroom/advisors"),
        ("NewBoardroom", "context", "maxItems", "context/files"),
        ("NewAdvisor", "systemPrompt", "maxLength", "boardroom/systemPrompt"),
        ("NewSynthesis", "instruction", "maxLength", "boardroom/instruction"),
        ("Answer", "text", "maxLength", "boardroom/reply"),
        ("NewDiscussion", "topic", "maxLength", "discussion/topic"),
        ("NewDiscussion", "name", "maxLength", "discussion/name"),
        ("NewDiscussion", "participants", "maxItems", "discussion/participants"),
        ("NewDiscussion", "maxRounds", "maximum", "discussion/rounds"),
        ("NewDiscussion", "project", "maxLength", "discussion/project"),
        ("NewDiscussion", "context", "maxItems", "context/files"),
        ("NewDiscussionSeat", "name", "maxLength", "discussion/seatName"),
        ("NewDiscussionSeat", "persona", "maxLength", "discussion/persona"),
        ("Interjection", "text", "maxLength", "discussion/interjection"),
    ] {
        let pointer = format!("/components/schemas/{schema}/properties/{field}/{kind}");
        let documented = document.pointer(&pointer).unwrap_or_else(|| panic!("no {pointer}"));
        let most = told.pointer(&format!("/data/{limit}/most")).unwrap();
        assert_eq!(documented, most, "{pointer}");
    }
}
