//! What a session may take, as it is foreseen.

use serde::Deserialize;

use super::render::Paper;
use crate::rounded;
use crate::terminal::clean;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    calls: Range,
    input_tokens: Range,
    output_tokens: Range,
    seconds: Option<Range>,
    cost: Option<Range>,
    currency: Option<String>,
    notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Range {
    low: f64,
    high: f64,
}

impl Estimate {
    pub fn calls(&self) -> String {
        rounded::counts(self.calls.low, self.calls.high)
    }

    pub fn input_tokens(&self) -> String {
        rounded::counts(self.input_tokens.low, self.input_tokens.high)
    }

    pub fn output_tokens(&self) -> String {
        rounded::counts(self.output_tokens.low, self.output_tokens.high)
    }

    pub fn time(&self) -> Option<String> {
        self.seconds.map(|seconds| rounded::times(seconds.low, seconds.high))
    }

    pub fn cost(&self) -> Option<String> {
        let currency = self.currency.as_deref();
        self.cost.map(|cost| rounded::moneys(cost.low, cost.high, currency))
    }

    /// `About 4 to 11 calls, 900 to 5,200 tokens in, 200 to 1,900 out, 20 s to 2 min.`, and
    /// what is not known.
    fn said(&self) -> String {
        let mut parts = vec![
            match self.calls().as_str() {
                "1" => "1 call".to_owned(),
                calls => format!("{calls} calls"),
            },
            format!("{} tokens in", self.input_tokens()),
            format!("{} out", self.output_tokens()),
        ];
        parts.extend(self.time());
        parts.extend(self.cost());
        let notes: String = self.notes.iter().map(|note| format!(" {}", clean(note))).collect();
        format!("About {}.{notes}", parts.join(", "))
    }
}

impl Paper {
    pub fn estimate(self, foreseen: &Estimate) -> String {
        self.ink.dim(&self.wrapped(&foreseen.said()))
    }
}
