// What somebody fills in to add or change an agent, as text fields hold it.

import type { Schemas } from "../api/client";
import type { Agent } from "./useAgents";

export type Format = Schemas["DiscussionFormat"];
type Tier = Schemas["TierName"];

export const FORMATS: readonly Format[] = ["brainstorm", "review", "deliberation"];
export const TIERS: readonly Tier[] = ["fast", "balanced", "strong"];

export interface AgentDraft {
  name: string;
  description: string;
  persona: string;
  /** `tier:fast`, `model:ollama/qwen3`, or empty for any model. */
  speaksBy: string;
  formats: Format[];
  turnSeconds: string;
  outputTokens: string;
  budgetTokens: string;
  folder: string;
  /** One in a line. */
  tools: string;
}

export const BLANK: AgentDraft = {
  name: "",
  description: "",
  persona: "",
  speaksBy: "",
  formats: [],
  turnSeconds: "",
  outputTokens: "",
  budgetTokens: "",
  folder: "",
  tools: "",
};

/** Nothing has been written that could be lost. */
export function isBlank(draft: AgentDraft): boolean {
  return draft.name === "" && draft.description === "" && draft.persona === "";
}

export function draftOf(agent: Agent): AgentDraft {
  return {
    name: agent.name,
    description: agent.description,
    persona: agent.persona ?? "",
    speaksBy: agent.model ? `model:${agent.model}` : agent.tier ? `tier:${agent.tier}` : "",
    formats: agent.formats,
    turnSeconds: agent.turnSeconds?.toString() ?? "",
    outputTokens: agent.outputTokens?.toString() ?? "",
    budgetTokens: agent.budgetTokens?.toString() ?? "",
    folder: agent.workspace?.folder ?? "",
    tools: agent.workspace?.tools.join("\n") ?? "",
  };
}

/** `The Socratic (copy)`, and a number when that is taken too. */
export function copyName(name: string, taken: readonly string[]): string {
  const base = name.replace(/ \(copy(?: \d+)?\)$/, "");
  const isTaken = (one: string) => taken.some((other) => other.toLowerCase() === one.toLowerCase());
  let copy = `${base} (copy)`;
  for (let nth = 2; isTaken(copy); nth += 1) copy = `${base} (copy ${nth})`;
  return copy;
}

type Fields = Omit<Schemas["AgentChanges"], "name" | "persona"> & { name: string; persona: string };

/** As the server takes it. What is empty is said to be none, so that it clears what was there. */
export function fieldsOf(draft: AgentDraft): Fields {
  const [kind, ...rest] = draft.speaksBy.split(":");
  const chosen = rest.join(":");
  const tools = draft.tools
    .split("\n")
    .map((tool) => tool.trim())
    .filter(Boolean);
  const folder = draft.folder.trim();
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    persona: draft.persona,
    model: kind === "model" ? chosen : null,
    tier: TIERS.find((tier) => kind === "tier" && tier === chosen) ?? null,
    formats: draft.formats,
    turnSeconds: number(draft.turnSeconds),
    outputTokens: number(draft.outputTokens),
    budgetTokens: number(draft.budgetTokens),
    workspace: folder === "" && tools.length === 0 ? null : { folder: folder || null, tools },
  };
}

function number(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}
