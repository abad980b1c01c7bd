//! What a run of a workflow would take: calls, tokens and money, typically and at most.

use plenary_domain::agent::{ModelChoice, Tier};
use plenary_domain::workflow::{self, Asks, Whom};
use plenary_domain::{ModelName, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::models::Names;
use crate::{Clerk, ClerkError, Result, agents, runs, shelves};

#[derive(Clone, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewForesight {
    /// A saved workflow, by name.
    #[schema(min_length = 1, max_length = 80)]
    pub workflow: Option<String>,
    /// A file in place of a saved one, as YAML or JSON.
    #[schema(min_length = 1, max_length = 262_144)]
    pub source: Option<String>,
    /// Values for the inputs that the file names, as far as they are known.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub inputs: Map<String, Value>,
}

#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Foresight {
    pub calls: Range,
    pub input_tokens: Range,
    pub output_tokens: Range,
    /// Where the price of every model is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cost: Option<MoneyRange>,
    pub currency: String,
    /// Sessions that are opened.
    pub rooms: Range,
    /// Requests to hosts.
    pub requests: Range,
    pub files: Range,
    /// Decisions that people are asked for.
    pub people: Range,
    /// Sleeps, and waits for signals.
    pub waits: Range,
    /// What the numbers do not say.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Default, Serialize, ToSchema)]
pub struct Range {
    pub typical: u64,
    pub most: u64,
}

#[derive(Clone, Copy, Default, Serialize, ToSchema)]
pub struct MoneyRange {
    pub typical: f64,
    pub most: f64,
}

impl From<workflow::Span> for Range {
    fn from(span: workflow::Span) -> Self {
        Range { typical: span.typical, most: span.most }
    }
}

/// What a run would take. Nothing is asked of any model.
pub async fn foresee(clerk: &Clerk, new: NewForesight) -> Result<Foresight> {
    let source = match (new.workflow, new.source) {
        (Some(name), None) => shelves::source(clerk, &name, None).await?.to_string(),
        (None, Some(source)) => source,
        (None, None) | (Some(_), Some(_)) => {
            let problem = "give the name of a saved workflow, or a file as `source`";
            return Err(ClerkError::wrong("workflow", problem));
        }
    };
    let definition = workflow::sound(&source)?;
    let mut inputs = new.inputs;
    for input in &definition.inputs {
        if let Some(usual) = &input.default {
            inputs.entry(input.name.clone()).or_insert_with(|| usual.clone());
        }
    }
    let foreseen = workflow::foresee(&definition, &inputs);
    let unwritable = runs::unwritable(clerk, &definition).into_iter();
    let unwritable =
        unwritable.map(|(step, problem)| format!("`{}` would fail: {problem}", step.id));
    let mut names = Names::new(clerk);
    let (mut input, mut output) = (Range::default(), Range::default());
    let (mut cost, mut notes) = (Some(MoneyRange::default()), foreseen.notes);
    notes.extend(unwritable);
    for asks in foreseen.steps.iter().flat_map(|step| &step.asks) {
        input.add(asks.calls, asks.input_tokens);
        output.add(asks.calls, asks.output_tokens);
        let model = meant(clerk, &mut names, asks).await;
        let price = model.as_ref().and_then(|model| clerk.price(model));
        let of = |calls: u64, input: u64, output: u64| {
            let tokens = |each: u64| Some(calls.saturating_mul(each));
            let (input_tokens, output_tokens) = (tokens(input), tokens(output));
            price?.cost(Usage { input_tokens, output_tokens, ..Usage::default() })
        };
        let (input, output) = (asks.input_tokens, asks.output_tokens);
        let typical = of(asks.calls.typical, input.typical, output.typical);
        let most = of(asks.calls.most, input.most, output.most);
        cost = cost.zip(typical.zip(most)).map(|(sum, (typical, most))| MoneyRange {
            typical: sum.typical + typical,
            most: sum.most + most,
        });
        if let (None, Some(model)) = (price, model) {
            let note = format!("The price of {model} is unknown.");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    let total = foreseen.total;
    Ok(Foresight {
        calls: total.calls.into(),
        input_tokens: input,
        output_tokens: output,
        cost,
        currency: clerk.prices.now().currency.clone(),
        rooms: total.rooms.into(),
        requests: total.requests.into(),
        files: total.files.into(),
        people: total.people.into(),
        waits: total.waits.into(),
        notes,
    })
}

impl Range {
    fn add(&mut self, calls: workflow::Span, each: workflow::Span) {
        self.typical = self.typical.saturating_add(calls.typical.saturating_mul(each.typical));
        self.most = self.most.saturating_add(calls.most.saturating_mul(each.most));
    }
}

/// The model that would be asked, as far as that can be told.
async fn meant(clerk: &Clerk, names: &mut Names<'_>, asks: &Asks) -> Option<ModelName> {
    match &asks.whom {
        Some(Whom::Model(written)) => names.find(written).await.ok(),
        Some(Whom::Tier(name)) => {
            let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name)?;
            names.tier(tier).await.ok()
        }
        Some(Whom::Agent(name)) => match &agents::find(clerk, name).await.ok()?.model {
            ModelChoice::Model(model) => Some(model.clone()),
            ModelChoice::Tier(tier) => names.tier(*tier).await.ok(),
            ModelChoice::Any => names.any(0).await.ok(),
        },
        None => names.any(0).await.ok(),
    }
}
