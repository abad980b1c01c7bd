//! Syntheses as models write them, and what is read from them.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::super::verdict::{HEADINGS, Headings, Verdict, read};
use super::FOUR;
use Headings::{AsAsked, Missing, Repaired};

#[track_caller]
fn check(name: &str, input: &str, headings: Headings, text: &str) {
    let verdict = read(input);
    assert_eq!(verdict.sections().is_some(), headings != Missing, "{name}");
    assert_eq!(verdict, Verdict { text: text.into(), headings }, "{name}");
}

/// The four with these bodies.
fn four(bodies: [&str; 4]) -> String {
    let section = |(heading, body): (&&str, &str)| format!("## {heading}\n{body}");
    HEADINGS.iter().zip(bodies).map(section).collect::<Vec<_>>().join("\n\n")
}

const PLAIN: [&str; 4] = ["A.", "B.", "C.", "D."];

#[test]
fn headings_as_asked_for_leave_the_text_alone() {
    let spaced = FOUR.replace(".\n", ".  \n\n");
    let crlf = FOUR.replace('\n', "\r\n");
    let tight = FOUR.replace("\n\n", "\n");
    let bold = four(["A.", "**Agreement:** all.\n\nRecommendation\n\n- Consensus", "C.", "D."]);
    let lower = four(["A.", "B.\n### Agreement\nall.", "C.", "### Recommendation\nD."]);
    let code = four(["A.", "B.", "```\n## Consensus\n# No\n```\nC.", "~~~\n```\n~~~\nD."]);
    let nested = four(["````\n```\n## Recommendation\n````\nA.", "B.", "C.", "D."]);
    let inline = four(["```a``` is code.\nA.", "B.", "C.", "D."]);
    let rows: [(&str, &str); 9] = [
        ("as asked", FOUR),
        ("blank lines and trailing spaces", &spaced),
        ("CRLF", &crlf),
        ("no blank lines", &tight),
        ("the words in bold or alone in a section", &bold),
        ("the words as lower headings", &lower),
        ("headings in code", &code),
        ("a fence within a longer fence", &nested),
        ("backticks within a line", &inline),
    ];
    for (name, input) in rows {
        check(name, input, AsAsked, input);
        check(name, &format!("\n\n{input}\n \n"), AsAsked, input);
    }
}

#[test]
fn a_synthesis_is_cut_at_its_headings() {
    let sections = |text: &str| read(text).sections();
    assert_eq!(sections(FOUR), Some(PLAIN.map(str::to_owned)));
    assert_eq!(sections(&FOUR.replace("## ", "# ")), Some(PLAIN.map(str::to_owned)));
    let bodies = ["A.\n\n- one\n- two", "B.", "```\n## Recommendation\n```", "D."];
    assert_eq!(sections(&four(bodies)), Some(bodies.map(str::to_owned)));
    assert_eq!(sections("## Consensus\nA."), None);
}

#[test]
fn small_misses_are_put_right() {
    let hashes = FOUR.replace("## ", "### ");
    let titles = FOUR.replace("## ", "# ");
    let closed = "# Consensus #\nA.\n## Points of Agreement ##\nB.\n## Points of Divergence\nC.\n## Recommendation\nD.";
    let indented = FOUR.replace("## ", " ## ");
    let wrapped = format!("```markdown\n{FOUR}\n```");
    let wrapped_tildes = format!("~~~\n{FOUR}\n~~~");
    let thinking = format!("<think>\n## Consensus\nHm.\n</think>\n\n{FOUR}");
    let other = thinking.replace("think>", "reasoning>");
    let preamble = format!("Here is the synthesis:\n\n{FOUR}");
    let rows: Vec<(&str, &str, [&str; 4])> = vec![
        ("###", &hashes, PLAIN),
        ("#", &titles, PLAIN),
        ("closed hashes", closed, PLAIN),
        ("indented", &indented, PLAIN),
        ("wrapped in a code block", &wrapped, PLAIN),
        ("wrapped in tildes", &wrapped_tildes, PLAIN),
        ("thinking aloud", &thinking, PLAIN),
        ("thinking in another tag", &other, PLAIN),
        ("preamble", &preamble, PLAIN),
        (
            "bold",
            "**Consensus**\nA.\n\n**Points of Agreement**\nB.\n\n**Points of Divergence**\nC.\n\n**Recommendation**\nD.",
            PLAIN,
        ),
        (
            "underlined",
            "__Consensus__\nA.\n__Points of Agreement__\nB.\n__Points of Divergence__\nC.\n__Recommendation__\nD.",
            PLAIN,
        ),
        (
            "bold inside hashes",
            "## **Consensus**\nA.\n## **Points of Agreement**\nB.\n## **Points of Divergence:**\nC.\n## **Recommendation**\nD.",
            PLAIN,
        ),
        (
            "numbered",
            "1. Consensus\nA.\n2. Points of Agreement\nB.\n3. Points of Divergence\nC.\n4. Recommendation\nD.",
            PLAIN,
        ),
        (
            "numbered hashes",
            "## 1. Consensus\nA.\n## 2) Points of Agreement\nB.\n## 3 Points of Divergence\nC.\n## 4. Recommendation\nD.",
            PLAIN,
        ),
        (
            "text on the line of a bold heading",
            "**Consensus:** A.\n**Points of Agreement:** B.\n**Points of Divergence**: C.\n**Recommendation** D.",
            PLAIN,
        ),
        (
            "numbered and bold with text on the line",
            "1. **Consensus**: A.\n2. **Points of Agreement**: B.\n3. **Points of Divergence**: C.\n4. **Recommendation**: D.",
            PLAIN,
        ),
        (
            "a list of bold headings",
            "- **Consensus:** A.\n- **Points of Agreement:** B.\n* **Points of Divergence:** C.\n* **Recommendation:** D.",
            PLAIN,
        ),
        (
            "text on the line of a heading",
            "## Consensus: A.\n## Points of Agreement: B.\n## Points of Divergence: C.\n## Recommendation: D.",
            PLAIN,
        ),
        (
            "lower case",
            "## consensus\nA.\n## points of agreement\nB.\n## points of divergence\nC.\n## recommendation\nD.",
            PLAIN,
        ),
        (
            "upper case without marks",
            "CONSENSUS\nA.\n\nPOINTS OF AGREEMENT:\nB.\n\nPOINTS OF DIVERGENCE\nC.\n\nRECOMMENDATION:\nD.",
            PLAIN,
        ),
        (
            "emoji",
            "## ✅ Consensus\nA.\n## 🤝 Points of Agreement\nB.\n## ⚡ Points of Divergence\nC.\n## 🎯 Recommendation\nD.",
            PLAIN,
        ),
        (
            "other words",
            "## Overall Consensus\nA.\n## Areas of Agreement\nB.\n## Disagreements\nC.\n## Final Recommendation\nD.",
            PLAIN,
        ),
        (
            "wrong order",
            "## Recommendation\nD.\n## Consensus\nA.\n## Points of Divergence\nC.\n## Points of Agreement\nB.",
            PLAIN,
        ),
        (
            "wrong order, with code left open at the end",
            "## Recommendation\nD.\n## Consensus\nA.\n## Points of Agreement\nB.\n## Points of Divergence\nC.\n```sh\nls",
            ["A.", "B.", "C.\n```sh\nls\n```", "D."],
        ),
        (
            "a heading twice",
            "## Consensus\nA.\n## Points of Agreement\nB.\n## Points of Divergence\nC.\n## Recommendation\nD.\n## Consensus\nAnd A.",
            ["A.\n\nAnd A.", "B.", "C.", "D."],
        ),
        (
            "headings of its own",
            "# Synthesis\n## Consensus\nA.\n## Costs\nHigh.\n # Time\nLong.\n##\n## Points of Agreement\nB.\n## Points of Divergence\nC.\n## Recommendation\nD.\n## Agreement\nOf all.",
            [
                "A.\n### Costs\nHigh.\n### Time\nLong.\n###",
                "B.",
                "C.",
                "D.\n### Agreement\nOf all.",
            ],
        ),
        (
            "a fence on the line of a heading",
            "**Consensus:** ```\n## Recommendation\n```\nA.\n**Agreement:** B.\n**Divergence:** C.\n**Recommendation:** D.",
            ["```\n## Recommendation\n```\nA.", "B.", "C.", "D."],
        ),
    ];
    for (name, input, bodies) in rows {
        check(name, input, Repaired, &four(bodies));
    }
}

#[test]
fn large_misses_are_said_aloud_and_the_text_stands() {
    let in_code = format!("Thus:\n```\n{FOUR}\n```\nThat is all.");
    let three = FOUR.replace("\n\n## Recommendation\nD.", "");
    let empty = FOUR.replace("\nC.", "");
    let ruled = FOUR.replace("\nC.", "\n\n---\n");
    let swallowed = FOUR.replace("A.", "```\nA.");
    let only_thought = format!("<think>\n{FOUR}\n</think>\nNo.");
    let rows = [
        ("nothing", ""),
        ("prose", "They agree on the whole."),
        ("one heading missing", &*three),
        ("one heading without text", &*empty),
        ("one heading with a rule only", &*ruled),
        ("headings in a code block within the text", &*in_code),
        ("code left open before the headings", &*swallowed),
        ("the four only thought of", &*only_thought),
        (
            "another language",
            "## Konsens\nA.\n## Gemeinsamkeiten\nB.\n## Unterschiede\nC.\n## Empfehlung\nD.",
        ),
        (
            "sentences that begin with the words",
            "Consensus is rare.\nAgreement: none.\nDivergence was wide.\nRecommendation: wait.",
        ),
        (
            "the words as list items",
            "- Consensus\nA.\n- Agreement\nB.\n- Divergence\nC.\n- Recommendation\nD.",
        ),
        (
            "a heading that holds the next one",
            "## Consensus: Points of Agreement\nB.\n## Points of Divergence\nC.\n## Recommendation\nD.",
        ),
    ];
    for (name, input) in rows {
        check(name, input, Missing, input);
    }
}

#[test]
fn a_line_of_a_million_headings_is_read_in_no_time_and_on_a_small_stack() {
    let line = "**Consensus:** ".repeat(70_000);
    assert_eq!(read(&line).headings, Missing);
}

/// Lines that a model might write, close to the edges of the form.
fn lines() -> impl Strategy<Value = String> {
    let mark = prop_oneof![
        Just(""),
        Just("## "),
        Just("### "),
        Just("# "),
        Just("**"),
        Just("1. **"),
        Just("- **"),
        Just(" ## "),
        Just("##"),
        Just("__"),
        Just("## ✅ "),
        Just("* "),
        Just("    ## "),
    ];
    let name = prop_oneof![
        3 => Just("Consensus"), 3 => Just("Points of Agreement"),
        3 => Just("Points of Divergence"), 3 => Just("Recommendation"),
        1 => Just("agreement"), 1 => Just("DISAGREEMENT"), 1 => Just("Costs"), 1 => Just(""),
    ];
    let end = prop_oneof![
        4 => Just(""), 1 => Just(":"), 1 => Just(":** so"), 1 => Just("**"), 1 => Just(": ```"),
        1 => Just(" ##"), 1 => Just("  "), 1 => Just("\r"), 1 => Just(":** ## Consensus"),
        1 => Just(": **Recommendation:** x"),
    ];
    let other = prop_oneof![
        4 => Just("Text."), 1 => Just(""), 1 => Just("```"), 1 => Just("````md"), 1 => Just("~~~"),
        1 => Just("```a```"), 1 => Just("---"), 1 => Just("<think>"), 1 => Just("</think>"),
        1 => Just("  ```"), 1 => Just("=== "),
    ];
    prop_oneof![
        2 => (mark, name, end).prop_map(|(mark, name, end)| format!("{mark}{name}{end}")),
        1 => other.prop_map(str::to_owned),
    ]
}

/// The four in some order, so that most texts are not merely missing something.
fn nearly() -> impl Strategy<Value = String> {
    let order = Just(HEADINGS.to_vec()).prop_shuffle();
    (order, vec(lines(), 4..16)).prop_map(|(order, lines)| {
        let mut text = vec![];
        for (place, line) in lines.into_iter().enumerate() {
            if let Some(heading) = order.get(place / 2).filter(|_| place % 2 == 0) {
                text.push(format!("## {heading}"));
            }
            text.push(line);
        }
        text.join("\n")
    })
}

fn check_form(input: &str) {
    let verdict = read(input);
    let again = read(&verdict.text);
    assert_eq!(again.text, verdict.text, "read twice: {input:?}");
    if verdict.headings == Missing {
        assert_eq!((again.headings, &*verdict.text), (Missing, input.trim()));
        return;
    }
    assert_eq!(again.headings, AsAsked, "{input:?} gave {:?}", verdict.text);
    let (mut names, mut bodies): (Vec<&str>, Vec<String>) = (vec![], vec![]);
    let mut code: Option<&str> = None;
    for line in verdict.text.lines() {
        let marks = line.trim_start();
        let run = &marks[..marks.len() - marks.trim_start_matches(['`', '~']).len()];
        match code {
            Some(open) if run.starts_with(open) && marks.trim_end() == run => code = None,
            Some(_) => {}
            None if run.len() >= 3 && !marks[run.len()..].contains('`') => code = Some(run),
            None if line.starts_with("## ") => {
                names.push(line[3..].trim_end());
                bodies.push(String::new());
                continue;
            }
            None => assert!(!line.starts_with("# "), "{input:?} gave {:?}", verdict.text),
        }
        bodies.last_mut().expect("nothing stands before the first heading").push_str(line);
    }
    assert_eq!(names, HEADINGS, "{input:?} gave {:?}", verdict.text);
    assert!(bodies.iter().all(|body| !body.trim().is_empty()), "{input:?}");
    assert_eq!(code, None, "code is left open: {input:?} gave {:?}", verdict.text);
}

proptest! {
    #![proptest_config(Config { cases: 512, failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_has_headings_has_the_four_and_stays_as_it_is(text in nearly()) {
        check_form(&text);
    }

    #[test]
    fn the_same_for_lines_of_any_kind(text in vec(lines(), 0..24)) {
        check_form(&text.join("\n"));
    }

    #[test]
    fn the_same_for_any_text(text in "(?s).{0,200}") {
        check_form(&text);
    }
}
