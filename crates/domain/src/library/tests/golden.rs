//! The JSON of every event. See `golden.rs` of this crate.

use super::*;
use crate::golden::{self, samples};

const GOLDEN: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/library-events.json"));

samples! {
    AgentAdded => [
        Event::AgentAdded { agent: Arc::new(plain()) },
        Event::AgentAdded { agent: Arc::new(tiered()) },
    ],
    AgentEdited => [Event::AgentEdited { agent: Arc::new(furnished()) }],
    AgentRemoved => [Event::AgentRemoved { id: AgentId("tea".into()) }],
}

fn plain() -> Agent {
    agent(told(vec![add(given("Tea"))]).as_ref(), "tea")
}

fn tiered() -> Agent {
    let workspace = Some(Workspace { folder: Some("~/tea".into()), tools: vec![] });
    Agent { model: ModelChoice::Tier(Tier::Balanced), workspace, ..plain() }
}

fn furnished() -> Agent {
    Agent {
        description: "Warm.".into(),
        model: ModelChoice::Model(ModelName("m/1".into())),
        facilitator: true,
        formats: vec![Format::Brainstorm, Format::Review, Format::Deliberation],
        bounds: Bounds {
            turn_ms: Some(90_000),
            output_tokens: Some(100),
            budget_tokens: Some(5_000),
            ..Bounds::default()
        },
        workspace: Some(Workspace {
            folder: Some("/srv/tea".into()),
            tools: vec!["Read".into(), "Bash(git log:*)".into()],
        }),
        ..plain()
    }
}

#[test]
fn every_event_is_written_and_read_as_the_golden_file_says() {
    golden::check(GOLDEN, &samples());
}

#[test]
fn the_name_of_an_event_is_its_tag_and_each_sample_stands_under_its_variant() {
    golden::check_names(&samples(), variant, Event::name);
}

/// What the first release may have left out, it may leave out for ever.
#[test]
fn fields_with_a_default_may_be_absent() {
    let line = r#"{"type":"agentAdded","agent":{"id":"tea","name":"Tea","description":"",
        "persona":"You love tea."}}"#;
    let read = serde_json::from_str::<Event>(line).ok();
    assert_eq!(read, Some(Event::AgentAdded { agent: Arc::new(plain()) }));
    assert!(serde_json::from_str::<Event>(r#"{"type":"agentCloned"}"#).is_err());
}
