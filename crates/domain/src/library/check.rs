//! What a stored agent must be like. Every wrong field is named at once.

use std::fmt::Display;
use std::sync::Arc;

use super::{Given, State};
use crate::agent::{Agent, AgentId, Bounds, ModelChoice};
use crate::call::Workspace;
use crate::limits;
use crate::names::{are_same, check_model_name, check_name, slug};
use crate::reject::{Wrong, line, size, text};
use crate::seated;

const EMPTY: &str = "must not be empty";

/// The agent that every new one begins as.
pub fn blank() -> Agent {
    Agent {
        id: AgentId(String::new()),
        name: String::new(),
        description: String::new(),
        persona: Arc::from(""),
        model: ModelChoice::Any,
        facilitator: false,
        built_in: false,
        formats: vec![],
        bounds: Bounds::default(),
        workspace: None,
    }
}

/// The agent with what was given in place of what it had.
pub fn onto(wrong: &mut Vec<Wrong>, base: Agent, given: Given) -> Agent {
    let model = model(wrong, &base.model, &given);
    let workspace = base.workspace.unwrap_or_default();
    let workspace = Workspace {
        folder: given.folder.unwrap_or(workspace.folder),
        tools: given.tools.unwrap_or(workspace.tools),
    };
    let mut formats = given.formats.unwrap_or(base.formats);
    formats.sort();
    formats.dedup();
    Agent {
        id: base.id,
        name: given.name.map_or(base.name, |name| name.trim().to_owned()),
        description: given.description.map_or(base.description, |text| text.trim().to_owned()),
        persona: given.persona.map_or(base.persona, Arc::from),
        model,
        facilitator: given.facilitator.unwrap_or(base.facilitator),
        built_in: base.built_in,
        formats,
        bounds: Bounds {
            turn_ms: given.turn_ms.unwrap_or(base.bounds.turn_ms),
            output_tokens: given.output_tokens.unwrap_or(base.bounds.output_tokens),
            temperature: given.temperature.unwrap_or(base.bounds.temperature),
            budget_tokens: given.budget_tokens.unwrap_or(base.bounds.budget_tokens),
            budget_cost: given.budget_cost.unwrap_or(base.bounds.budget_cost),
            budget_ms: given.budget_ms.unwrap_or(base.bounds.budget_ms),
        },
        workspace: Some(workspace).filter(|workspace| *workspace != Workspace::default()),
    }
}

/// A model and a tier take each other's place; clearing the one that it has leaves
/// an agent that takes any model.
fn model(wrong: &mut Vec<Wrong>, had: &ModelChoice, given: &Given) -> ModelChoice {
    match (&given.model, given.tier) {
        (Some(Some(model)), Some(Some(_))) => {
            wrong.push(Wrong::new("tier", "give either a model or a tier, not both"));
            ModelChoice::Model(model.clone())
        }
        (Some(Some(model)), None | Some(None)) => ModelChoice::Model(model.clone()),
        (None | Some(None), Some(Some(tier))) => ModelChoice::Tier(tier),
        (no_model, no_tier) => match had {
            ModelChoice::Model(_) if no_model.is_some() => ModelChoice::Any,
            ModelChoice::Tier(_) if no_tier.is_some() => ModelChoice::Any,
            ModelChoice::Any | ModelChoice::Model(_) | ModelChoice::Tier(_) => had.clone(),
        },
    }
}

/// Whether an agent is as it must be, among all others.
pub fn agent(wrong: &mut Vec<Wrong>, agent: &Agent, all: &[Arc<Agent>]) {
    name(wrong, agent, all);
    line(wrong, "description", &agent.description);
    size(wrong, "description", &agent.description, limits::DESCRIPTION_BYTES);
    text(wrong, "persona", &agent.persona, limits::STORED_PERSONA_BYTES);
    if let ModelChoice::Model(model) = &agent.model
        && let Err(problem) = check_model_name(model)
    {
        wrong.push(Wrong::new("model", problem));
    }
    let Bounds { turn_ms, output_tokens, temperature, budget_tokens, budget_cost, budget_ms } =
        agent.bounds;
    seated::check_settings(wrong, str::to_owned, temperature, None);
    let turn = turn_ms.map(|ms| ms as f64 / 1000.0);
    let seconds = [limits::TURN_LEAST_MS, limits::TURN_MOST_MS].map(|ms| ms as f64 / 1000.0);
    within(wrong, "turnSeconds", turn, seconds, "seconds");
    let tokens = [limits::OUTPUT_TOKENS_LEAST, limits::OUTPUT_TOKENS_MOST];
    within(wrong, "outputTokens", output_tokens, tokens, "tokens");
    let tokens = [limits::BUDGET_TOKENS_LEAST, limits::BUDGET_TOKENS_MOST];
    within(wrong, "budgetTokens", budget_tokens, tokens, "tokens");
    if budget_cost.is_some_and(|cost| !(cost > 0.0 && cost <= limits::BUDGET_COST_MOST)) {
        let problem = format!("must be more than 0 and at most {}", limits::BUDGET_COST_MOST);
        wrong.push(Wrong::new("budgetCost", problem));
    }
    let time = budget_ms.map(|ms| ms / 1000);
    let seconds = [limits::BUDGET_TIME_LEAST_MS, limits::BUDGET_TIME_MOST_MS].map(|ms| ms / 1000);
    within(wrong, "budgetSeconds", time, seconds, "seconds");
    if let Some(place) = &agent.workspace {
        workspace(wrong, place);
    }
}

/// Whether only a copy's values would mend it.
pub fn is_missing(wrong: &Wrong, agent: &Agent) -> bool {
    let empty = match wrong.field.as_str() {
        "name" => agent.name.is_empty(),
        "persona" => agent.persona.is_empty(),
        _ => false,
    };
    empty && wrong.problem == EMPTY
}

fn name(wrong: &mut Vec<Wrong>, agent: &Agent, all: &[Arc<Agent>]) {
    let name = agent.name.as_str();
    if name.is_empty() {
        wrong.push(Wrong::new("name", EMPTY));
        return;
    }
    let (length, most) = (name.chars().count(), limits::STORED_NAME_CHARS);
    if length > most {
        let problem = format!("is {length} characters long; at most {most} are allowed");
        wrong.push(Wrong::new("name", problem));
    }
    wrong.extend(check_name(name).err().map(|problem| Wrong::new("name", problem)));
    // Agents are found by their ids too, so a name must not be another one's id.
    let others = || all.iter().filter(|other| other.id != agent.id);
    if let Some(other) = others().find(|other| are_same(&other.name, name)) {
        let problem = match other.name == name {
            true => "is taken: another agent has this name".to_owned(),
            false => format!("there is already an agent {:?}", other.name),
        };
        wrong.push(Wrong::new("name", problem));
    } else if let Some(other) = others().find(|other| are_same(&other.id.0, name)) {
        wrong.push(Wrong::new("name", format!("is the id of the agent {:?}", other.name)));
    }
}

fn workspace(wrong: &mut Vec<Wrong>, Workspace { folder, tools }: &Workspace) {
    if let Some(folder) = folder {
        size(wrong, "workspace.folder", folder, limits::FOLDER_BYTES);
        line(wrong, "workspace.folder", folder);
        if !folder.starts_with('/') && !folder.starts_with("~/") {
            let problem = "must be a full path, such as `/srv/work` or `~/work`";
            wrong.push(Wrong::new("workspace.folder", problem));
        }
    }
    if tools.len() > limits::TOOLS {
        let (count, most) = (tools.len(), limits::TOOLS);
        let problem = format!("has {count} tools; at most {most} are allowed");
        wrong.push(Wrong::new("workspace.tools", problem));
    }
    for (place, tool) in tools.iter().enumerate().take(limits::WRONG_FIELDS) {
        let field = format!("workspace.tools[{place}]");
        text(wrong, &field, tool, limits::TOOL_BYTES);
        line(wrong, &field, tool);
    }
}

fn within<T: PartialOrd + Display>(
    wrong: &mut Vec<Wrong>,
    field: &str,
    given: Option<T>,
    [least, most]: [T; 2],
    unit: &str,
) {
    if given.is_some_and(|given| given < least || given > most) {
        wrong.push(Wrong::new(field, format!("must be from {least} to {most} {unit}")));
    }
}

/// `The Socratic (copy)`, then `The Socratic (copy 2)`.
pub fn copy_name(of: &str, all: &[Arc<Agent>]) -> String {
    let base = original(of);
    let copy = |nth: usize| {
        let end = if nth == 1 { " (copy)".to_owned() } else { format!(" (copy {nth})") };
        let room = limits::STORED_NAME_CHARS - end.chars().count();
        let short: String = base.chars().take(room).collect();
        format!("{}{end}", short.trim_end())
    };
    // One more name than there are agents: one of them is free.
    let mut copies = (1..=all.len() + 1).map(copy);
    copies.find(|name| !all.iter().any(|agent| are_same(&agent.name, name))).unwrap_or_default()
}

/// A copy of a copy is one more copy of the first.
fn original(name: &str) -> &str {
    let Some((base, end)) = name.rsplit_once(" (copy") else { return name };
    let Some(number) = end.strip_suffix(')') else { return name };
    let counts = number.strip_prefix(' ').is_some_and(|n| n.parse::<u32>().is_ok());
    if (number.is_empty() || counts) && !base.is_empty() { base } else { name }
}

/// An id that no agent has, had, or could be taken for by its name.
pub fn new_id(name: &str, all: &[Arc<Agent>], state: Option<&State>) -> AgentId {
    let slug = slug(name);
    let id = |nth: usize| match nth {
        1 => AgentId(slug.clone()),
        nth => AgentId(format!("{slug}-{nth}")),
    };
    let is_taken = |id: &AgentId| {
        all.iter().any(|agent| agent.id == *id || are_same(&agent.name, &id.0))
            || state.is_some_and(|state| state.removed.contains(id))
    };
    let names = all.len() * 2 + state.map_or(0, |state| state.removed.len());
    (1..=names + 1).map(id).find(|id| !is_taken(id)).unwrap_or_else(|| AgentId(slug.clone()))
}
