//! Whatever a model writes, nobody is named who may not speak; and a decision
//! that was wrapped up is the one that is unwrapped.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;

use super::*;

fn quick(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// What must hold of every answer.
fn check(answer: &str) {
    let opening = Choices { may_synthesize: false, ..CHOICES };
    if let Ok(read) = read(answer, &opening) {
        assert!(!matches!(read.decision, Decision::Synthesize { .. }), "{answer:?}");
    }
    let Ok(read) = read(answer, &CHOICES) else { return };
    if let Decision::Continue { next, question } = &read.decision {
        assert!(SPEAKERS.iter().any(|(id, _)| id == next), "{next:?} from {answer:?}");
        assert!(question.as_ref().is_none_or(|words| !words.is_empty()), "{answer:?}");
    }
    assert_eq!(read.how == How::Parsed, read.mended.is_empty(), "{answer:?}");
}

proptest! {
    #![proptest_config(quick(1_000))]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        check(&text);
    }

    /// Text made of the pieces that the reader looks for.
    #[test]
    fn any_pieces_are_read_or_refused(pieces in vec(pieces(), 0..40)) {
        check(&pieces.concat());
    }

    #[test]
    fn damage_names_nobody_else(
        said in said(), wrap in wrap(), damage in vec((any::<Index>(), pieces(), 0..3_u8), 1..6),
    ) {
        let mut text = wrapped(&said, wrap);
        for (place, piece, kind) in damage {
            let place = text.floor_char_boundary(place.index(text.len() + 1));
            let end = match kind {
                0 => place,
                _ => text.ceil_char_boundary((place + piece.len()).min(text.len())),
            };
            text.replace_range(place..end, if kind == 1 { "" } else { piece });
        }
        check(&text);
    }

    #[test]
    fn a_wrapped_decision_is_read_back(said in said(), wrap in wrap()) {
        let text = wrapped(&said, wrap);
        let read = read(&text, &CHOICES);
        let is = read.map(|read| (read.decision, read.reasoning, read.how));
        let how = if wrap == Wrap::Bare { How::Parsed } else { How::Repaired };
        prop_assert_eq!(is, Ok((said.decision(), said.reasoning.clone(), how)), "{}", text);
    }

    /// Cut at any place, an answer says what the whole one says, or nothing.
    #[test]
    fn a_cut_decision_is_never_another(said in said(), place in any::<Index>()) {
        let text = said.json().to_string();
        let cut = &text[..text.floor_char_boundary(place.index(text.len()))];
        if let Ok(read) = read(cut, &CHOICES) {
            let without = match said.decision() {
                Decision::Continue { next, .. } => Decision::Continue { next, question: None },
                synthesize @ Decision::Synthesize { .. } => synthesize,
            };
            prop_assert!(read.decision == said.decision() || read.decision == without, "{}", cut);
        }
    }
}

/// A lot of what makes a careless reader slow or deep.
#[test]
fn marks_without_end_are_read_or_refused() {
    let long = |piece: &str| piece.repeat((1 << 14) / piece.len());
    let pieces = [
        "{",
        "[",
        "[{",
        "{\"a\":",
        "{\"decision\":{",
        "\"",
        "{\"a\":\"",
        "{a:'",
        "//\"",
        "\"//",
        "{\"a\":\"\"//",
        "<think>",
        "</think>",
        "<next>",
        "<next><question>",
        "```",
        "{}",
        "{a:b}",
        "\\\"",
        "{\\\"",
        "decision: ",
        "decision: x\n",
        "next: ann, ",
        "{\"next\":\"ann\",",
        "/*",
        "{/*",
        "{#",
        " ",
        "{ ",
        "{\"decision\":\"",
        "{\"next\":[[",
        "“",
        "{“a”:“",
        "{'",
        "{'a':'b' ",
        "{response:x",
        "{\"next\":1}</think>",
        "\"next\":1,",
        "<next>1</next>",
    ];
    for piece in pieces {
        check(&long(piece));
        check(&format!("{{\"decision\":\"continue\",\"next\":\"{}", long(piece)));
        check(&format!("{{\"next\":\"{}\"}}", long(piece)));
        check(&format!("{{{}", long(piece)));
    }
    // Long enough to overflow the stack of whoever follows them down.
    for piece in ["{", "[", "{\"a\":", "{response:x", "{response:'", "[{\"response\":"] {
        check(&piece.repeat((1 << 17) / piece.len()));
    }
}

#[derive(Clone, Debug)]
struct Said {
    next: Option<usize>,
    question: String,
    reasoning: String,
}

impl Said {
    fn decision(&self) -> Decision {
        match self.next {
            Some(place) => Decision::Continue {
                next: SPEAKERS[place].0.into(),
                question: Some(self.question.clone()),
            },
            None => Decision::Synthesize { synthesis: None },
        }
    }

    fn json(&self) -> Value {
        json!({
            "decision": if self.next.is_some() { "continue" } else { "synthesize" },
            "nextParticipantId": self.next.map_or(NOBODY, |place| SPEAKERS[place].0),
            "question": self.question,
            "reasoning": self.reasoning,
        })
    }
}

fn said() -> impl Strategy<Value = Said> {
    let next = prop::option::weighted(0.8, 0..SPEAKERS.len());
    // Quotation marks, brackets and keys inside the words must not confuse it.
    let words = || vec(prop_oneof![Just("Why"), pieces()], 0..8);
    (next, words(), words()).prop_map(|(next, question, reasoning)| Said {
        next,
        question: format!("Why{}?", question.concat()),
        reasoning: format!("As{}.", reasoning.concat()),
    })
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Wrap {
    Bare,
    Fence,
    Prose,
    Thinking,
    Draft,
    TrailingComma,
    List,
    Response,
    Call,
    Text,
    OpenBrace,
    Comment,
}

fn wrap() -> impl Strategy<Value = Wrap> {
    use Wrap::*;
    select(vec![
        Bare,
        Fence,
        Prose,
        Thinking,
        Draft,
        TrailingComma,
        List,
        Response,
        Call,
        Text,
        OpenBrace,
        Comment,
    ])
}

fn wrapped(said: &Said, wrap: Wrap) -> String {
    let json = said.json();
    let open = json.to_string().trim_end_matches('}').to_owned();
    match wrap {
        Wrap::Bare => format!("\n {json}\n"),
        Wrap::Fence => format!("```json\n{json:#}\n```"),
        Wrap::Prose => format!("Here is {{my}} choice:\n\n{json}\n\nI hope [this] helps."),
        Wrap::Thinking => format!("<think>\nMaybe {{\"decision\": \"x\"}}?\n</think>\n{json}"),
        Wrap::Draft => format!("{{\"decision\": \"continue\", \"next\": \"zed\"}}\nNo:\n{json}"),
        Wrap::TrailingComma => format!("{open},}}"),
        Wrap::List => format!("[{json}]"),
        Wrap::Response => json!({ "response": json }).to_string(),
        Wrap::Call => json!({"name": "decide", "arguments": json.to_string()}).to_string(),
        Wrap::Text => Value::from(json.to_string()).to_string(),
        Wrap::OpenBrace => open,
        Wrap::Comment => format!("{{ // my choice\n{}", &json.to_string()[1..]),
    }
}

fn pieces() -> impl Strategy<Value = &'static str> {
    select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "“",
        "”",
        ",",
        ":",
        "\\",
        "\n",
        " ",
        "`",
        "```json\n",
        "//",
        "/*",
        "*/",
        "#",
        "<think>",
        "</think>",
        "<reasoning>",
        "decision",
        "\"decision\"",
        "nextParticipantId",
        "next",
        "\"question\": \"",
        "reasoning",
        "continue",
        "synthesize",
        "\"continue\"",
        "ann",
        "\"ann\"",
        "bob",
        "Ann",
        "olga",
        "Ann-Marie",
        "Dr. Lee",
        "2",
        "zed",
        "None",
        "null",
        "true",
        "ü",
        "继续",
        "\u{feff}",
        "\\u00e9",
        "\\ud83d",
        "=",
        "；",
        "，",
        "<next>",
        "</next>",
        "decision: ",
        "next: ",
        "question: ",
    ])
}
