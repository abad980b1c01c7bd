use std::collections::BTreeMap;

use super::*;

fn check(written: &str, expected: Result<&str, &str>) {
    let found = find(built_in(), written).map(|agent| agent.id.0.clone());
    assert_eq!(found, expected.map(str::to_owned).map_err(str::to_owned), "{written:?}");
}

#[test]
fn an_agent_is_found_by_id_or_name_or_near_ones_are_told() {
    check("the-socratic", Ok("the-socratic"));
    check(" The Socratic ", Ok("the-socratic"));
    check("THE BRIDGE-BUILDER", Ok("the-bridge-builder"));
    check("user's voice", Ok("users-voice"));
    check("socratic", Err("there is no agent \"socratic\"; did you mean the-socratic?"));
    check("socrates", Err("there is no agent \"socrates\"; did you mean the-socratic?"));
    check("enginer", Err("there is no agent \"enginer\"; did you mean engineer?"));
    check("er", Err("there is no agent \"er\""));
    check("zebra", Err("there is no agent \"zebra\""));
    check("", Err("there is no agent \"\""));
}

/// The personas that ship with the program, also that of whoever has none.
fn personas() -> impl Iterator<Item = (String, bool, Arc<str>)> {
    let named = built_in().iter();
    let named = named.map(|agent| (agent.id.0.clone(), agent.facilitator, agent.persona.clone()));
    named.chain([("facilitator".to_owned(), true, usual_persona(""))])
}

#[test]
fn no_two_personas_share_a_sentence() {
    let mut whose: BTreeMap<String, String> = BTreeMap::new();
    for (id, _, persona) in personas() {
        let sentences = persona.split(['.', '?', ':', ';', '\n']).map(str::trim);
        // The headings of those who lead are the same; what follows them is not.
        let told = sentences.filter(|words| words.split_whitespace().count() > 4);
        assert!(told.clone().count() > 4, "{id} says little");
        for sentence in told {
            let other = whose.insert(sentence.to_lowercase(), id.clone());
            assert_eq!(other, None, "{id} says it too: {sentence}");
        }
    }
}

#[test]
fn every_persona_is_long_enough_to_tell_and_short_enough_to_be_kept_to() {
    for (id, leads, persona) in personas() {
        let words = persona.split_whitespace().count();
        let right = if leads { 120..=250 } else { 60..=140 };
        assert!(right.contains(&words), "{id} has {words} words");
    }
}

#[test]
fn those_who_lead_and_those_who_take_part_are_there() {
    let told: Vec<String> = built_in()
        .iter()
        .map(|agent| {
            let formats: Vec<&str> = agent.formats.iter().map(|format| format.name()).collect();
            let model = match &agent.model {
                ModelChoice::Any => "any",
                ModelChoice::Tier(tier) => tier.name(),
                ModelChoice::Model(model) => &model.0,
            };
            let leads = if agent.facilitator { "leads" } else { "takes part" };
            format!("{}: {leads}, {model}, {}", agent.id, formats.join(" "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "the-socratic: leads, balanced, review deliberation",
            "the-contrarian: leads, strong, review deliberation",
            "the-bridge-builder: leads, balanced, review deliberation",
            "the-spark: leads, balanced, brainstorm",
            "the-examiner: leads, strong, review",
            "the-impartial-chair: leads, balanced, brainstorm review deliberation",
            "the-closer: leads, fast, deliberation",
            "the-equalizer: leads, balanced, brainstorm deliberation",
            "engineer: takes part, any, ",
            "product-thinker: takes part, any, ",
            "skeptic: takes part, any, ",
            "researcher: takes part, any, ",
            "operator: takes part, any, ",
            "users-voice: takes part, any, ",
        ]
    );
}
