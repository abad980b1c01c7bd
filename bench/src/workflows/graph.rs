//! The workflows that are run, and what the models in them say.
//!
//! An answer depends on how far a run is, and that is read from the answers in the prompt
//! alone: only whoever hands on what was said comes to the right conclusion.

use std::fmt::Write as _;

use clap::Args;
use plenary_scripted::{Reply, Script, When};

pub const MEMBER: &str = "member";
pub const JOINER: &str = "joiner";
/// Of a run of 20 steps: three members side by side, and one who joins what they say.
pub const STAGES: usize = 5;
pub const MEMBERS: [&str; 3] = ["a", "b", "c"];
/// Of the long run, with eight steps each and the one around them: 1,993 steps.
pub const ITEMS: usize = 249;
/// Items at once.
pub const PARALLEL: usize = 16;

#[derive(Clone, Copy)]
pub enum Shape {
    Many,
    Long,
}

impl Shape {
    pub fn words(self) -> &'static str {
        match self {
            Shape::Many => "runs of 20 steps, a question each",
            Shape::Long => "one run of 1,993 steps: 249 items of two questions and six values",
        }
    }

    pub fn calls(self) -> usize {
        match self {
            Shape::Many => STAGES * (MEMBERS.len() + 1),
            Shape::Long => 2 * ITEMS,
        }
    }

    pub fn conclusion(self) -> &'static str {
        match self {
            Shape::Many => "(stage 5)",
            Shape::Long => "All 249 items are done.",
        }
    }

    /// The file that Plenary runs.
    pub fn source(self) -> String {
        match self {
            Shape::Many => many(),
            Shape::Long => long(),
        }
    }
}

fn many() -> String {
    let mut file = "name: many\nsteps:\n".to_owned();
    for stage in 1..=STAGES {
        let before = match stage {
            1 => String::new(),
            _ => format!("{{{{ steps.d{}.text }}}}", stage - 1),
        };
        for member in MEMBERS {
            let prompt = format!("What does {member} say? {before}");
            let _ = writeln!(file, "  {member}{stage}: {}", ask(MEMBER, &prompt));
        }
        let said = MEMBERS.map(|member| format!("{{{{ steps.{member}{stage}.text }}}}"));
        let prompt = format!("Join this: {}", said.join(" "));
        let _ = writeln!(file, "  d{stage}: {}", ask(JOINER, &prompt));
    }
    file + "outputs:\n  conclusion: \"{{ steps.d5.text }}\"\n"
}

fn long() -> String {
    let items: Vec<String> = (0..ITEMS).map(|item| item.to_string()).collect();
    let mut file = format!(
        "name: long\nsteps:\n  each:\n    foreach: {{ in: [{}], as: item, parallel: {PARALLEL} }}\n    \
         steps:\n",
        items.join(", ")
    );
    let _ = writeln!(file, "      first: {}", ask(MEMBER, "What of {{ item }}?"));
    let mut before = "first".to_owned();
    let value = |file: &mut String, name: String, before: &str| {
        let _ = writeln!(
            file,
            "      {name}: {{ set: {{ text: \"{{{{ steps.{before}.text }}}}\" }} }}"
        );
        name
    };
    for nth in 1..=3 {
        before = value(&mut file, format!("value{nth}"), &before);
    }
    let prompt = format!("Join this: {{{{ steps.{before}.text }}}}");
    let _ = writeln!(file, "      second: {}", ask(JOINER, &prompt));
    before = "second".to_owned();
    for nth in 4..=6 {
        before = value(&mut file, format!("value{nth}"), &before);
    }
    file + "outputs:\n  conclusion: \"All {{ steps.each | length }} items are done.\"\n"
}

fn ask(model: &str, prompt: &str) -> String {
    format!("{{ ask: {{ model: bench/{model}, prompt: \"{prompt}\" }} }}")
}

#[derive(Args, Clone, Copy)]
pub struct Graph {
    #[arg(long)]
    pub tokens_per_second: u32,
    /// Tokens of each answer
    #[arg(long)]
    pub tokens: usize,
}

impl Graph {
    pub fn arguments(self) -> Vec<String> {
        vec![
            "graph".to_owned(),
            format!("--tokens-per-second={}", self.tokens_per_second),
            format!("--tokens={}", self.tokens),
        ]
    }

    pub fn script(self) -> Script {
        let mut script = Script::new(self.reply(&point(1))).models(&[MEMBER, JOINER]);
        for stage in 1..=STAGES {
            let (heard, next) = (self::stage(stage), self.reply(&point(stage + 1)));
            script = script
                .when(When::model(JOINER).and_says(&point(stage)), self.reply(&heard))
                .when(When::model(MEMBER).and_says(&heard), next);
        }
        script
    }

    fn reply(self, text: &str) -> Reply {
        let more = self.tokens.saturating_sub(text.split(' ').count());
        let text = format!("{text}{}", " more".repeat(more));
        Reply::text(&text).tokens_per_second(self.tokens_per_second)
    }
}

fn point(stage: usize) -> String {
    format!("(point {stage})")
}

fn stage(stage: usize) -> String {
    format!("(stage {stage})")
}
