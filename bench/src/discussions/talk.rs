//! What the models of a discussion say, the same to everybody who holds one.
//!
//! An answer depends on how far the discussion is, and that is read from the
//! answers in the prompt alone: each turn makes the next point. So whoever carries
//! the transcript on gets all turns of those who take turns, and the conclusion;
//! whoever loses it does not.

use clap::Args;
use plenary_scripted::{Reply, Script, When};

use crate::scripted::HEADINGS;

pub const FACILITATOR: &str = "facilitator";
pub const PARTICIPANT: &str = "participant";
pub const TURNS: usize = 5;
/// A decision before each turn, the turns, and the synthesis.
pub const CALLS: usize = 2 * TURNS + 1;
/// Only a facilitator who has heard all turns says this.
pub const CONCLUSION: &str = "All five points were heard.";
/// Who speaks first and whenever the other has spoken.
pub const SPEAKERS: [&str; 2] = ["ann", "bob"];

#[derive(Args, Clone)]
pub struct Talk {
    #[arg(long)]
    pub tokens_per_second: u32,
    /// Tokens of each turn and of the synthesis
    #[arg(long)]
    pub tokens: usize,
    #[arg(long, default_value_t = TURNS)]
    pub turns: usize,
    /// Ids of those who take turns
    #[arg(long, value_delimiter = ',', default_values = SPEAKERS)]
    pub speakers: Vec<String>,
}

impl Talk {
    /// Five turns of two.
    pub fn usual(tokens_per_second: u32, tokens: usize) -> Talk {
        let speakers = SPEAKERS.map(str::to_owned).to_vec();
        Talk { tokens_per_second, tokens, turns: TURNS, speakers }
    }

    /// A decision before each turn, the turns, and the synthesis.
    pub fn calls(&self) -> usize {
        2 * self.turns + 1
    }

    pub fn arguments(&self) -> Vec<String> {
        vec![
            "talk".to_owned(),
            format!("--tokens-per-second={}", self.tokens_per_second),
            format!("--tokens={}", self.tokens),
        ]
    }

    pub fn script(&self) -> Script {
        let mut script = Script::new(self.reply(&self.turn(1))).models(&[FACILITATOR, PARTICIPANT]);
        // The first rule that fits wins, and a transcript keeps its earlier points.
        for turn in (1..=self.turns).rev() {
            let heard = |model: &str| When::model(model).and_says(&point(turn));
            let led = match turn == self.turns {
                true => self.synthesis(),
                false => self.decision(turn + 1),
            };
            script = script
                .when(heard(FACILITATOR), self.reply(&led))
                .when(heard(PARTICIPANT), self.reply(&self.turn(turn + 1)));
        }
        script.when(When::model(FACILITATOR), self.reply(&self.decision(1)))
    }

    /// Seconds of one discussion if nothing but the pace took time. The first token
    /// of an answer comes at once.
    pub fn paced_seconds(&self) -> f64 {
        let both = |turn| tokens(&self.turn(turn)) + tokens(&self.decision(turn)) - 2;
        let turns = (1..=self.turns).map(both);
        let all = turns.sum::<usize>() + tokens(&self.synthesis()) - 1;
        all as f64 / f64::from(self.tokens_per_second)
    }

    fn reply(&self, text: &str) -> Reply {
        Reply::text(text).tokens_per_second(self.tokens_per_second)
    }

    fn turn(&self, turn: usize) -> String {
        self.filled(&point(turn))
    }

    fn synthesis(&self) -> String {
        let headings = HEADINGS.map(|heading| format!("{heading}\n\nYes.")).join("\n\n");
        self.filled(&format!("{CONCLUSION}\n\n{headings}"))
    }

    fn filled(&self, text: &str) -> String {
        format!("{text}{}", " more".repeat(self.tokens.saturating_sub(tokens(text))))
    }

    /// Names one speaker once, so that it also serves whoever looks for a bare name.
    fn decision(&self, turn: usize) -> String {
        let speaker = &self.speakers[(turn - 1) % self.speakers.len()];
        format!(
            "{{\"decision\": \"continue\", \"nextParticipantId\": \"{speaker}\", \"question\": \"What \
             would have to be true for this to be the right thing to do, and how would we \
             know?\", \"reasoning\": \"Nobody has said yet what would be measured, and by whom.\"}}"
        )
    }
}

fn point(turn: usize) -> String {
    format!("(point {turn})")
}

/// The scripted server sends a text word by word.
fn tokens(text: &str) -> usize {
    text.split_inclusive(' ').count()
}
