// What somebody fills in to open a council.

import type { Schemas } from "../api/client";
import { budgetOf, type Allowance } from "../ui/Budget";
import { roomName } from "../whiteboards/names";

export interface NewMember {
  name: string;
  model: string;
  persona: string;
}

export interface NewCouncil {
  name: string;
  charter: string;
  project: string;
  members: NewMember[];
  allowance?: Allowance;
}

export const BLANK: NewCouncil = { name: "", charter: "", project: "", members: [] };
export const NOBODY: NewMember = { name: "", model: "", persona: "" };

export const NAME_RULE =
  "Short, such as “API redesign”. It is the council’s address and cannot be changed.";

/** Something to begin with. */
export const SAMPLE: Pick<NewCouncil, "name" | "charter"> = {
  name: "release-watch",
  charter: [
    "Watch over our next release: what is ready, what is not, and what we put off.",
    "",
    "- Speak in a few sentences. Name the evidence.",
    "- Say plainly when something should wait.",
    "- Ask a member by @name when you need what they know.",
  ].join("\n"),
};

/** `The User’s Voice` → `The-Users-Voice`: a name that can stand after an @. */
export function memberName(name: string): string {
  const plain = name.normalize("NFKD").replace(/['’\p{M}]/gu, "");
  return plain.replace(/[^A-Za-z0-9._@-]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "");
}

/** The model by which a stored agent speaks here: its own, its tier's, or any. */
export function modelOf(
  agent: Schemas["StoredAgent"],
  tiers: readonly Schemas["TierView"][],
  models: readonly Schemas["ModelView"][],
): string {
  const ofTier = tiers.find((one) => one.tier === agent.tier)?.model;
  return agent.model ?? ofTier ?? models.find(({ automatic }) => automatic)?.name ?? "";
}

function memberOf(member: NewMember) {
  return {
    name: member.name.trim(),
    model: member.model || null,
    persona: member.persona.trim() || null,
  };
}

/** What somebody wants to change in a council. The charter is there once it was edited. */
export interface Edit {
  charter?: string;
  remove: string[];
  add: NewMember[];
}

export const NO_EDIT: Edit = { remove: [], add: [] };

/** What is different from what stands, or nothing. */
export function changeOf(
  edit: Edit,
  council: Pick<Schemas["CouncilView"], "charter" | "members">,
): Schemas["CouncilChange"] | undefined {
  const charter = edit.charter === council.charter ? undefined : edit.charter;
  const removeMembers = edit.remove.filter((name) =>
    council.members.some((member) => member.name === name),
  );
  if (charter === undefined && removeMembers.length + edit.add.length === 0) return undefined;
  return { charter: charter ?? null, removeMembers, addMembers: edit.add.map(memberOf) };
}

/** As the server takes it; what was left empty is left out. */
export function requestOf(council: NewCouncil): Schemas["NewCouncil"] {
  return {
    name: roomName(council.name),
    charter: council.charter,
    project: council.project.trim() || null,
    members: council.members.map(memberOf),
    budget: budgetOf(council.allowance) ?? null,
  };
}
