//! Answers as models write them, and what is read from them. They stand in
//! `tests/decisions`, a file for each family, the answer and its outcome together.
//! After a wanted change `INSTA_UPDATE=always` writes the outcomes anew.

mod properties;

use std::path::Path;

use super::*;

const SPEAKERS: [(&str, &str); 4] =
    [("ann", "Ann"), ("bob", "Bob"), ("dr-lee", "Dr. Lee"), ("7f3a", "Grace Hopper")];
const OTHERS: [(&str, &str); 3] = [("olga", "Olga"), ("fay", "Fay"), ("ann-marie", "Ann-Marie")];
const CHOICES: Choices<'static> =
    Choices { speakers: &SPEAKERS, others: &OTHERS, may_synthesize: true };
/// Ends the name of a case that happens before anybody has spoken.
const OPENING: &str = ", at the opening";

#[test]
fn answers_are_read_as_the_corpus_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/discussion/tests/decisions");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 10, "the corpus is in {}", folder.display());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let (about, cases) = text.split_once("\n=== ").unwrap();
        let is: Vec<String> = cases.split("\n=== ").map(told).collect();
        let is = format!("{about}\n=== {}", is.join("\n=== "));
        if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
            std::fs::write(&file, &is).unwrap();
        } else {
            assert_eq!(text, is, "{}", file.display());
        }
    }
}

/// A case with the outcome that it has.
fn told(case: &str) -> String {
    let (name, rest) = case.split_once('\n').unwrap();
    let answer = rest.split_once("\n--- ").map_or(rest, |(answer, _)| answer);
    let answer = answer.trim_end_matches('\n');
    // Marks that no editor shows or that make a file hard to read are spelt out.
    let given = answer.replace("␣", " ").replace("␉", "\t").replace("␀", "\0");
    let may_synthesize = !name.ends_with(OPENING);
    let outcome = match read(&given, &Choices { may_synthesize, ..CHOICES }) {
        Ok(read) => shown_read(&read),
        Err(why) => format!("refused\n{why}"),
    };
    format!("{name}\n{answer}\n--- {outcome}\n")
}

fn shown_read(read: &Read) -> String {
    let mut lines = vec![format!("{:?}", read.how).to_lowercase()];
    match &read.decision {
        Decision::Continue { next, question } => {
            lines.push(format!("continue with {next}"));
            lines.extend(question.iter().map(|question| format!("question: {question:?}")));
        }
        Decision::Synthesize { synthesis } => {
            lines.push("synthesize".into());
            lines.extend(synthesis.iter().map(|text| format!("synthesis: {text:?}")));
        }
    }
    if !read.reasoning.is_empty() {
        lines.push(format!("reasoning: {:?}", read.reasoning));
    }
    lines.extend(read.mended.iter().map(|what| format!("- {what}")));
    lines.join("\n")
}

#[test]
fn long_words_are_cut_and_it_is_said() {
    let answer = json!({
        "decision": "continue", "nextParticipantId": "ann",
        "question": "ü".repeat(4_000), "reasoning": "x".repeat(9_000),
    });
    let cut = |words: &str, times: usize| format!("{}…", words.repeat(times));
    let expected = Read {
        decision: Decision::Continue { next: "ann".into(), question: Some(cut("ü", 2_046)) },
        reasoning: cut("x", 8_189),
        how: How::Repaired,
        mended: vec!["cut the question to 4 KiB".into(), "cut the reasoning to 8 KiB".into()],
    };
    assert_eq!(read(&answer.to_string(), &CHOICES), Ok(expected));
}

#[test]
fn the_schema_is_strict_and_offers_only_what_may_be_chosen() {
    let speakers = &SPEAKERS[..2];
    let is = |may_synthesize| schema(&Choices { speakers, others: &OTHERS, may_synthesize });
    let expected = |decisions: Value, ids: Value| {
        json!({
            "type": "object",
            "properties": {
                "decision": {"type": "string", "enum": decisions},
                "nextParticipantId": {"type": "string", "enum": ids},
                "question": {"type": "string"},
                "reasoning": {"type": "string"},
            },
            "required": ["decision", "nextParticipantId", "question", "reasoning"],
            "additionalProperties": false,
        })
    };
    let mut later = expected(json!(["continue", "synthesize"]), json!(["ann", "bob", "none"]));
    later["properties"]["synthesis"] = json!({"type": "string"});
    later["required"].as_array_mut().unwrap().push(json!("synthesis"));
    assert_eq!(is(true), later);
    assert_eq!(is(false), expected(json!(["continue"]), json!(["ann", "bob"])));
}

#[test]
fn how_it_was_read_has_a_name_in_the_log() {
    let names = serde_json::to_value([How::Parsed, How::Repaired]).unwrap();
    assert_eq!(names, json!(["parsed", "repaired"]));
}

/// What a model says that is held to the schema: nothing is an empty text.
#[test]
fn an_empty_synthesis_is_none_and_a_written_one_is_the_conclusion() {
    for (synthesis, expected) in [("", None), ("Tea it is.", Some("Tea it is.".to_owned()))] {
        let answer = json!({
            "decision": "synthesize", "nextParticipantId": "none", "question": "",
            "reasoning": "Enough.", "synthesis": synthesis,
        });
        let decision = Decision::Synthesize { synthesis: expected };
        let read = read(&answer.to_string(), &CHOICES).unwrap();
        assert_eq!((read.decision, read.how), (decision, How::Parsed));
    }
}
