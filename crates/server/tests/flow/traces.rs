//! What is traced of a session.

use std::sync::{Arc, Mutex};

use plenary_domain::FailureKind;
use plenary_engine::{CallEnding, Span, Spanned, TraceCounts, Traces};
use plenary_scripted::{Fault, Gate, Reply, When};
use serde_json::json;

use crate::support::{SAFETY, TestApp, canned};

#[derive(Default)]
struct Kept(Mutex<Vec<Span>>);

impl Traces for Kept {
    fn note(&self, span: Span) {
        self.0.lock().unwrap().push(span);
    }

    fn counts(&self) -> TraceCounts {
        TraceCounts { exported: 4, dropped: 2 }
    }
}

/// Call, model, tokens and end of each; nothing of these for the session itself.
type Told = (String, String, Option<u64>, Option<CallEnding>);

fn told(span: &Span) -> Told {
    match &span.what {
        Spanned::Opened { kind } => ((*kind).to_owned(), String::new(), None, None),
        Spanned::Call { call, model, usage, ending, .. } => {
            (call.0.clone(), model.0.clone(), usage.output_tokens, Some(*ending))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_call_is_told_of_once_however_it_ends() {
    let gate = Gate::new();
    let script = canned()
        .when(When::model("a"), Reply::canned().usage(11, 22))
        .when(When::model("b"), Reply::fault(Fault::Unauthorized))
        .when(When::model("c"), Reply::canned().gate(1, &gate));
    let app = TestApp::start(script).await;
    let kept = Arc::new(Kept::default());
    app.engine.trace(kept.clone());
    let board = app.triad("Traced?").await;
    gate.reached(1).await;
    app.until(&board, |view| {
        view["advisors"][0]["status"] == "done" && view["advisors"][1]["status"] == "failed"
    })
    .await;
    app.command(&board, "stop", json!({})).await;
    let all = async {
        while kept.0.lock().unwrap().len() < 4 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(SAFETY, all).await.unwrap();
    let spans = kept.0.lock().unwrap().clone();
    assert!(spans.iter().all(|span| span.session == board.session() && span.began <= span.ended));
    let mut found: Vec<Told> = spans.iter().map(told).collect();
    found.sort_by(|one, other| one.1.cmp(&other.1));
    let ends = found.iter().map(|(_, _, tokens, end)| (*tokens, *end));
    let failed = CallEnding::Failed(FailureKind::Misconfigured);
    assert_eq!(found[0].0, "boardroom");
    assert_eq!(
        ends.collect::<Vec<_>>(),
        [
            (None, None),
            (Some(22), Some(CallEnding::Answered)),
            (None, Some(failed)),
            (None, Some(CallEnding::Dropped)),
        ],
        "{found:?}"
    );
    assert_eq!(app.metric("plenary_spans_exported_total").await, 4);
    assert_eq!(app.metric("plenary_spans_dropped_total").await, 2);
}
