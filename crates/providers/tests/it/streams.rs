//! Whole answers, however their bytes are cut, and streams that are dropped.

use futures::StreamExt as _;
use plenary_domain::Usage;
use plenary_engine::ports::{Models as _, Piece};
use plenary_providers::Kind;
use plenary_scripted::{Fault, Gate, Reply};

use crate::support::{Heard, WIRES, ask, hear, serve};

const TEXT: &str = "Zürich – ja 😀😀 \"quoted\" \\ \n\nand 数学 ends.";
const THOUGHT: &str = "Hmm, 考える…";

#[tokio::test]
async fn any_cut_of_the_bytes_gives_the_same_answer() {
    let expected = Heard {
        text: TEXT.to_owned(),
        reasoning: THOUGHT.to_owned(),
        usage: Usage { input_tokens: Some(17), output_tokens: Some(9), ..Usage::default() },
        cut: false,
        end: Ok(()),
    };
    for kind in WIRES {
        let reply = Reply::text(TEXT).reasoning(THOUGHT).usage(17, 9);
        for size in [1, 2, 3, 5, 7, 16, 61, 1000] {
            let (_server, providers) = serve(kind, reply.clone().split(size)).await;
            let heard = hear(&providers, ask(kind.word(), "m1")).await;
            assert_eq!(heard, expected, "{kind:?} {size}");
        }
        let (_server, providers) = serve(kind, reply).await;
        assert_eq!(hear(&providers, ask(kind.word(), "m1")).await, expected, "{kind:?}");
    }
}

#[tokio::test]
async fn pieces_arrive_while_the_model_still_speaks() {
    for kind in WIRES {
        let gate = Gate::new();
        let (_server, providers) = serve(kind, Reply::text("one two").gate(1, &gate)).await;
        let mut stream = providers.ask(ask(kind.word(), "m1"), "r".to_owned());
        let first = loop {
            match stream.next().await {
                Some(Ok(Piece::Usage(_))) => {}
                other => break other,
            }
        };
        assert_eq!(first, Some(Ok(Piece::Text("one ".to_owned()))));
        gate.release();
        assert_eq!(stream.next().await, Some(Ok(Piece::Text("two".to_owned()))));
    }
}

#[tokio::test]
async fn a_dropped_stream_ends_the_request_at_once() {
    for kind in WIRES {
        let gate = Gate::new();
        let (server, providers) = serve(kind, Reply::text("one two").gate(1, &gate)).await;
        let mut stream = providers.ask(ask(kind.word(), "m1"), "r".to_owned());
        let _ = stream.next().await;
        gate.reached(1).await;
        assert_eq!(server.in_flight(), 1);
        drop(stream);
        let requests = server.wait_for_ended(1).await;
        assert_eq!(requests.iter().filter(|one| one.dropped).count(), 1, "{kind:?}");
        assert_eq!(server.in_flight(), 0);
    }
}

#[tokio::test]
async fn a_request_that_was_never_answered_is_dropped_too() {
    for kind in WIRES {
        let (server, providers) = serve(kind, Reply::fault(Fault::Silent)).await;
        let stream = providers.ask(ask(kind.word(), "m1"), "r".to_owned());
        let waiting = tokio::spawn(stream.collect::<Vec<_>>());
        server.wait_for_requests(1).await;
        waiting.abort();
        let requests = server.wait_for_ended(1).await;
        assert!(requests[0].dropped, "{kind:?}");
    }
}

#[tokio::test]
async fn a_stalled_stream_does_not_hold_up_another() {
    for kind in WIRES {
        let stalled = Fault::StallAfter { tokens: 1 };
        let (server, providers) =
            serve(kind, Reply::text("one two").with_fault(stalled).first(1)).await;
        let mut stream = providers.ask(ask(kind.word(), "m1"), "r".to_owned());
        let _ = stream.next().await;
        let heard = hear(&providers, ask(kind.word(), "m1")).await;
        assert_eq!((heard.text.as_str(), heard.end), ("one two", Ok(())));
        assert_eq!(server.in_flight_most(), 2);
    }
}

#[tokio::test]
async fn a_finished_answer_is_not_seen_as_dropped() {
    for kind in WIRES {
        let (server, providers) = serve(kind, Reply::text("one two")).await;
        for _ in 0..3 {
            let heard = hear(&providers, ask(kind.word(), "m1")).await;
            assert_eq!(heard.end, Ok(()));
        }
        let requests = server.wait_for_ended(3).await;
        assert_eq!(requests.iter().filter(|one| one.dropped).count(), 0, "{kind:?}");
    }
}

#[tokio::test]
async fn many_streams_run_side_by_side() {
    let gate = Gate::new();
    let (server, providers) = serve(Kind::OpenAi, Reply::text("one two").gate(1, &gate)).await;
    let asks = (0..300).map(|_| hear(&providers, ask("openai", "m1")));
    let opened = async {
        gate.reached(300).await;
        gate.release();
    };
    let (heard, ()) = futures::join!(futures::future::join_all(asks), opened);
    assert!(heard.iter().all(|one| one.text == "one two" && one.end == Ok(())));
    assert_eq!(server.in_flight_most(), 300);
}
