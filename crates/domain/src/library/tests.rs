//! The rules of stored agents, by example.

mod golden;

use super::*;
use crate::agent::{Bounds, ModelChoice, built_in};
use crate::call::Workspace;
use crate::form::story::apply;

fn given(name: &str) -> Given {
    Given {
        name: Some(name.into()).filter(|name: &String| !name.is_empty()),
        persona: Some("You love tea.".into()),
        ..Given::default()
    }
}

fn add(given: Given) -> Command {
    Command::Add { copy_of: None, given }
}

fn copy(of: &str, given: Given) -> Command {
    Command::Add { copy_of: Some(of.into()), given }
}

fn edit(agent: &str, given: Given) -> Command {
    Command::Edit { agent: agent.into(), given }
}

fn remove(agent: &str) -> Command {
    Command::Remove { agent: agent.into() }
}

fn nothing() -> Given {
    Given::default()
}

/// The library after commands that must all be accepted.
fn told(commands: Vec<Command>) -> Option<State> {
    let mut state = None;
    for command in commands {
        let shown = format!("{command:?}");
        let events = decide(state.as_ref(), command).unwrap_or_else(|e| panic!("{shown}: {e:?}"));
        assert_eq!(events.len(), 1, "{shown}");
        state = apply(state, &events[0]);
    }
    state
}

/// Id and name of every stored agent, in the order of lists.
fn names(state: Option<&State>) -> Vec<(String, String)> {
    let stored = all(state).into_iter().filter(|agent| !agent.built_in);
    stored.map(|agent| (agent.id.0.clone(), agent.name.clone())).collect()
}

fn decide(state: Option<&State>, command: Command) -> Result<Vec<Event>, Reject> {
    let (at, nonce) = (crate::Timestamp::UNIX_EPOCH, crate::Nonce(String::new()));
    State::decide(state, command, &Moment { at, nonce, actor: "operator".into() })
}

#[track_caller]
fn check(commands: Vec<Command>, expected: &[(&str, &str)]) {
    let state = told(commands);
    let expected: Vec<(String, String)> =
        expected.iter().map(|(id, name)| ((*id).to_owned(), (*name).to_owned())).collect();
    assert_eq!(names(state.as_ref()), expected);
}

/// The fields that are wrong, with what is.
#[track_caller]
fn check_wrong(before: Vec<Command>, command: Command, expected: &[(&str, &str)]) {
    let state = told(before);
    let wrong = match decide(state.as_ref(), command) {
        Err(Reject::Invalid(wrong)) => wrong,
        other => panic!("{other:?}"),
    };
    let wrong: Vec<(&str, &str)> =
        wrong.iter().map(|wrong| (wrong.field.as_str(), wrong.problem.as_str())).collect();
    assert_eq!(wrong, expected);
}

#[track_caller]
fn agent(state: Option<&State>, id: &str) -> Agent {
    (*agent::find(&all(state), id).expect("the agent is there")).clone()
}

#[test]
fn a_name_and_a_line_are_enough_to_lead() {
    let nora = |facilitator: bool| Given {
        name: Some("Nora".into()),
        description: Some(" Keeps it short ".into()),
        facilitator: Some(facilitator),
        ..nothing()
    };
    let state = told(vec![add(nora(true))]).expect("a library");
    let persona = &state.agents[&AgentId("nora".into())].persona;
    assert_eq!(*persona, agent::usual_persona("Keeps it short"));
    assert!(persona.ends_with("What you are known for: Keeps it short"), "{persona}");
    check_wrong(vec![], add(nora(false)), &[("persona", "must not be empty")]);
    let empty = Given { persona: Some(String::new()), ..nora(true) };
    check_wrong(vec![], add(empty), &[("persona", "must not be empty")]);
}

#[test]
fn the_first_agent_opens_the_library() {
    let state = told(vec![add(given(" Tea Lover "))]);
    let expected = Agent {
        id: AgentId("tea-lover".into()),
        name: "Tea Lover".into(),
        description: String::new(),
        persona: Arc::from("You love tea."),
        model: ModelChoice::Any,
        facilitator: false,
        built_in: false,
        formats: vec![],
        bounds: Bounds::default(),
        workspace: None,
    };
    assert_eq!(agent(state.as_ref(), "tea-lover"), expected);
}

#[test]
fn an_id_is_made_once_and_never_used_again() {
    check(vec![add(given("Tea")), edit("tea", given("Green Tea"))], &[("tea", "Green Tea")]);
    // The name is free again, the id is not.
    check(vec![add(given("Tea")), remove("tea"), add(given("Tea"))], &[("tea-2", "Tea")]);
    check(
        vec![add(given("Tea")), remove("TEA"), add(given("Tea")), remove("tea"), add(given("tea"))],
        &[("tea-3", "tea")],
    );
    check(
        vec![add(given("C")), add(given("C++")), add(given("c#"))],
        &[("c", "C"), ("c-3", "c#"), ("c-2", "C++")],
    );
    check(
        vec![add(given("¿Qué?")), add(given("東京")), add(given("O'Brien’s"))],
        &[("obriens", "O'Brien’s"), ("qu", "¿Qué?"), ("agent", "東京")],
    );
    // An id that another one's name would be taken for.
    check(
        vec![add(given("Foo")), edit("foo", given("my-tea")), add(given("My Tea"))],
        &[("my-tea-2", "My Tea"), ("foo", "my-tea")],
    );
}

#[test]
fn names_are_unique_whatever_the_case() {
    let tea = || vec![add(given("Tea"))];
    let other = "is taken: another agent has this name";
    check_wrong(tea(), add(given("Tea")), &[("name", other)]);
    let case = "there is already an agent \"Tea\"";
    check_wrong(tea(), add(given("tEA")), &[("name", case)]);
    check_wrong(vec![], add(given("The Spark")), &[("name", other)]);
    let case = "there is already an agent \"Skeptic\"";
    check_wrong(tea(), edit("tea", given("SKEPTIC")), &[("name", case)]);
    let id = "is the id of the agent \"The Spark\"";
    check_wrong(vec![], add(given("the-spark")), &[("name", id)]);
    // One may change the case of one's own.
    check(vec![add(given("Tea")), edit("tea", given("TEA"))], &[("tea", "TEA")]);
    check(
        vec![add(given("Green Tea")), edit("green tea", given("green-tea"))],
        &[("green-tea", "green-tea")],
    );
}

#[test]
fn every_wrong_field_is_named_at_once() {
    check_wrong(
        vec![],
        add(nothing()),
        &[("name", "must not be empty"), ("persona", "must not be empty")],
    );
    let all = Given {
        name: Some(format!("{}\u{200b}", "é".repeat(80))),
        description: Some("d\n".repeat(150) + "d"),
        persona: Some("p".repeat(16 * 1024 + 1)),
        model: Some(Some(ModelName("tea".into()))),
        tier: Some(Some(Tier::Fast)),
        turn_ms: Some(Some(4_999)),
        output_tokens: Some(Some(65_537)),
        budget_tokens: Some(Some(999)),
        folder: Some(Some("work\u{7}".into())),
        tools: Some(vec![String::new(), "x".repeat(201), "a\tb".into()]),
        ..nothing()
    };
    check_wrong(
        vec![],
        add(all),
        &[
            ("tier", "give either a model or a tier, not both"),
            ("name", "is 81 characters long; at most 80 are allowed"),
            ("name", "must not contain U+200B, which is invisible; it is character 81"),
            ("description", "must not contain U+000A, which ends a line; it is character 2"),
            ("description", "is 301 bytes long; at most 300 are allowed"),
            ("persona", "is 16385 bytes long; at most 16384 are allowed"),
            ("model", "a model is named provider/model"),
            ("turnSeconds", "must be from 5 to 3600 seconds"),
            ("outputTokens", "must be from 16 to 65536 tokens"),
            ("budgetTokens", "must be from 1000 to 1000000000000 tokens"),
            ("workspace.folder", "must not contain U+0007, a control character; it is character 5"),
            ("workspace.folder", "must be a full path, such as `/srv/work` or `~/work`"),
            ("workspace.tools[0]", "must not be empty"),
            ("workspace.tools[1]", "is 201 bytes long; at most 200 are allowed"),
            (
                "workspace.tools[2]",
                "must not contain U+0009, a control character; it is character 2",
            ),
        ],
    );
    let tools = Given { tools: Some(vec!["x".into(); 65]), ..given("Tea") };
    let many = "has 65 tools; at most 64 are allowed";
    check_wrong(vec![], add(tools), &[("workspace.tools", many)]);
    let empty = Given { name: Some(" ".into()), persona: Some("\n".into()), ..nothing() };
    let expected = [("name", "must not be empty"), ("persona", "must not be empty")];
    check_wrong(vec![add(given("Tea"))], edit("tea", empty), &expected);
}

#[test]
fn limits_themselves_are_allowed() {
    let most = Given {
        name: Some("é".repeat(80)),
        description: Some("d".repeat(300)),
        persona: Some("p".repeat(16 * 1024)),
        turn_ms: Some(Some(3_600_000)),
        output_tokens: Some(Some(65_536)),
        budget_tokens: Some(Some(1_000_000_000_000)),
        folder: Some(Some("~/work".into())),
        tools: Some(vec!["x".repeat(200); 64]),
        ..nothing()
    };
    let least = Given {
        turn_ms: Some(Some(5_000)),
        output_tokens: Some(Some(16)),
        budget_tokens: Some(Some(1_000)),
        folder: Some(Some("/".into())),
        ..given("a")
    };
    assert_eq!(names(told(vec![add(most), add(least)]).as_ref()).len(), 2);
}

#[test]
fn an_edit_changes_what_was_given_and_nothing_else() {
    let furnished = Given {
        description: Some("Warm.".into()),
        model: Some(Some(ModelName("m/1".into()))),
        facilitator: Some(true),
        formats: Some(vec![Format::Review, Format::Brainstorm, Format::Review]),
        turn_ms: Some(Some(90_000)),
        output_tokens: Some(Some(100)),
        budget_tokens: Some(Some(5_000)),
        folder: Some(Some("/srv".into())),
        tools: Some(vec!["Read".into()]),
        ..given("Tea")
    };
    let before = agent(told(vec![add(furnished.clone())]).as_ref(), "tea");
    assert_eq!(before.formats, [Format::Brainstorm, Format::Review]);
    let after = |change: Given| {
        agent(told(vec![add(furnished.clone()), edit("tea", change)]).as_ref(), "tea")
    };
    assert_eq!(after(nothing()), before);
    let cases = [
        (
            Given { persona: Some("No.".into()), ..nothing() },
            Agent { persona: "No.".into(), ..before.clone() },
        ),
        (
            Given { description: Some(String::new()), ..nothing() },
            Agent { description: String::new(), ..before.clone() },
        ),
        (
            Given { facilitator: Some(false), formats: Some(vec![]), ..nothing() },
            Agent { facilitator: false, formats: vec![], ..before.clone() },
        ),
        (
            Given { turn_ms: Some(None), ..nothing() },
            Agent { bounds: Bounds { turn_ms: None, ..before.bounds }, ..before.clone() },
        ),
        (
            Given { output_tokens: Some(None), budget_tokens: Some(Some(6_000)), ..nothing() },
            Agent {
                bounds: Bounds { output_tokens: None, budget_tokens: Some(6_000), ..before.bounds },
                ..before.clone()
            },
        ),
        (
            Given { folder: Some(None), ..nothing() },
            Agent {
                workspace: Some(Workspace { folder: None, tools: vec!["Read".into()] }),
                ..before.clone()
            },
        ),
        (
            Given { folder: Some(None), tools: Some(vec![]), ..nothing() },
            Agent { workspace: None, ..before.clone() },
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(after(change.clone()), expected, "{change:?}");
    }
}

#[test]
fn a_model_and_a_tier_take_each_others_place() {
    let (model, tier) = (Some(Some(ModelName("m/1".into()))), Some(Some(Tier::Strong)));
    let with =
        |model: &Option<Option<ModelName>>, tier| Given { model: model.clone(), tier, ..nothing() };
    let named = ModelChoice::Model(ModelName("m/1".into()));
    let strong = ModelChoice::Tier(Tier::Strong);
    for (steps, expected) in [
        (vec![with(&model, None)], named.clone()),
        (vec![with(&model, Some(None))], named.clone()),
        (vec![with(&model, None), with(&None, tier)], strong.clone()),
        (vec![with(&None, tier), with(&model, None)], named.clone()),
        (vec![with(&model, None), with(&Some(None), None)], ModelChoice::Any),
        (vec![with(&None, tier), with(&None, Some(None))], ModelChoice::Any),
        (vec![with(&None, tier), with(&Some(None), Some(None))], ModelChoice::Any),
        // What it has not cannot be cleared.
        (vec![with(&None, tier), with(&Some(None), None)], strong.clone()),
        (vec![with(&model, None), with(&None, Some(None))], named.clone()),
    ] {
        let edits = steps.iter().map(|step| edit("tea", step.clone()));
        let state = told([add(given("Tea"))].into_iter().chain(edits).collect());
        assert_eq!(agent(state.as_ref(), "tea").model, expected, "{steps:?}");
    }
}

#[test]
fn a_copy_has_all_values_but_the_name() {
    let state = told(vec![copy("The Socratic", nothing())]);
    let socratic = agent(None, "the-socratic");
    let expected = Agent {
        id: AgentId("the-socratic-copy".into()),
        name: "The Socratic (copy)".into(),
        built_in: false,
        ..socratic
    };
    assert_eq!(agent(state.as_ref(), "the-socratic-copy"), expected);
    check(
        vec![
            copy("the-spark", nothing()),
            copy("the-spark", nothing()),
            // A copy of a copy is one more copy of the first.
            copy("the-spark-copy-2", nothing()),
            copy("the-spark", given("Fire")),
            add(given("É (copy it)")),
            copy("É (copy it)", nothing()),
        ],
        &[
            ("fire", "Fire"),
            ("the-spark-copy-2", "The Spark (copy 2)"),
            ("the-spark-copy-3", "The Spark (copy 3)"),
            ("the-spark-copy", "The Spark (copy)"),
            ("copy-it", "É (copy it)"),
            ("copy-it-copy", "É (copy it) (copy)"),
        ],
    );
    let long = "x".repeat(80);
    let state = told(vec![add(given(&long)), copy(&long, nothing()), copy(&long, nothing())]);
    let lengths: Vec<usize> = names(state.as_ref()).iter().map(|(_, name)| name.len()).collect();
    assert_eq!(lengths, [80, 80, 80]);
    let none = "there is no agent \"sparc\"; did you mean the-spark?";
    check_wrong(vec![], copy("sparc", nothing()), &[("copyOf", none)]);
    let wrong = Given { turn_ms: Some(Some(1)), name: Some("\n".into()), ..nothing() };
    check_wrong(
        vec![],
        copy("zebra", wrong),
        &[
            ("copyOf", "there is no agent \"zebra\""),
            ("turnSeconds", "must be from 5 to 3600 seconds"),
        ],
    );
}

#[test]
fn what_ships_with_the_program_stays_as_it_is() {
    for command in [edit("the-spark", nothing()), remove("THE SPARK")] {
        let refused = decide(None, command);
        let expected = Reject::NotNow {
            state: "built in",
            message: "The Spark is built in and cannot be changed or removed. Make a copy to edit."
                .into(),
            allowed: vec!["copy"],
        };
        assert_eq!(refused, Err(expected));
    }
}

#[test]
fn an_agent_that_is_not_there_is_unknown() {
    for (command, words) in [
        (edit("tea", nothing()), "There is no agent \"tea\"."),
        (remove("the-sparc"), "There is no agent \"the-sparc\"; did you mean the-spark?"),
    ] {
        assert_eq!(decide(None, command), Err(Reject::Unknown(words.into())));
    }
}

#[test]
fn no_more_agents_are_kept_than_the_limit() {
    let added = (0..limits::AGENTS).map(|nth| add(given(&format!("a{nth}"))));
    let state = told(added.collect());
    let full = Reject::NotNow {
        state: "full",
        message: "There are 1000 agents, the maximum.".into(),
        allowed: vec!["edit", "remove"],
    };
    assert_eq!(decide(state.as_ref(), add(given("one more"))), Err(full));
    let removed = decide(state.as_ref(), remove("a7")).unwrap();
    let state = apply(state, &removed[0]);
    assert!(decide(state.as_ref(), add(given("one more"))).is_ok());
}

#[test]
fn what_ships_with_the_program_keeps_the_rules_itself() {
    let mut wrong = vec![];
    for agent in built_in() {
        check::agent(&mut wrong, agent, built_in());
        assert_eq!(check::new_id(&agent.name, &[], None), agent.id);
    }
    assert_eq!(wrong, vec![]);
}
