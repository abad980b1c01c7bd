// A discussion that is being set up, before the server knows of it.

import type { Problem, Schemas } from "../api/client";
import { budgetOf, NO_LIMIT, type Allowance } from "../ui/Budget";
import {
  contextOf,
  fileLimits,
  sizeInWords,
  textBytes,
  type AttachedFile,
  type FileLimits,
} from "../ui/files";
import type { Agent } from "../library/useAgents";
import type { Format, Role, Tier } from "./words";

export type StepNumber = 1 | 2 | 3;

/** By which model somebody speaks: whatever is usual, a tier, or one model. */
export type Choice = "" | `tier:${Tier}` | `model:${string}`;

export interface SeatDraft {
  /** Tells rows apart. */
  key: string;
  kind: "agent" | "model" | "person";
  agentId?: string;
  /** Of a model or a person. */
  name: string;
  persona: string;
  choice: Choice;
  role: Role;
  replyWithinSeconds?: number;
}

export interface LeaderDraft {
  kind: "agent" | "person";
  agentId?: string;
  name: string;
  choice: Choice;
  replyWithinSeconds?: number;
}

export interface Draft {
  step: StepNumber;
  topic: string;
  name: string;
  format: Format;
  files: AttachedFile[];
  /** Absent: whoever usually leads this format. */
  leader?: LeaderDraft;
  /** Absent: those who usually take part in this format. */
  seats?: SeatDraft[];
  /** For every seat that names none. */
  choice: Choice;
  /** Empty: as many as the server allows for when nobody says. */
  rounds: string;
  isFixed: boolean;
  allowance: Allowance;
}

export const FRESH: Draft = {
  step: 1,
  topic: "",
  name: "",
  format: "deliberation",
  files: [],
  choice: "",
  rounds: "5",
  isFixed: false,
  allowance: NO_LIMIT,
};

/** The draft with everybody named. */
export interface Seated extends Draft {
  leader: LeaderDraft;
  seats: SeatDraft[];
}

type Presets = Schemas["DiscussionPresets"];

export function seated(draft: Draft, presets: Presets | undefined): Seated {
  const usual = presets?.formats.find((format) => format.id === draft.format);
  return {
    ...draft,
    leader: draft.leader ?? {
      kind: "agent",
      agentId: usual?.moderatorId ?? "",
      name: "",
      choice: "",
    },
    seats: draft.seats ?? usual?.participants.map((one) => agentSeat(one.agentId, one.role)) ?? [],
  };
}

export function agentSeat(agentId: string, role: Role = "participant"): SeatDraft {
  return {
    key: `agent:${agentId}`,
    kind: "agent",
    agentId,
    name: "",
    persona: "",
    choice: "",
    role,
  };
}

export function seatName(
  seat: Pick<SeatDraft, "kind" | "agentId" | "name">,
  agents: readonly Agent[],
): string {
  if (seat.kind !== "agent") return seat.name.trim();
  return agents.find((agent) => agent.id === seat.agentId)?.name ?? seat.agentId ?? "";
}

/** What the server takes. */
export interface Limits extends FileLimits {
  participants: number;
  roundsUsual: number;
  roundsMost: number;
  budgetLeast: number;
  topicBytes: number;
}

/** As told by the server; what is not known yet limits nothing here, and the server has the last word. */
export function limitsOf(told: Schemas["LimitsView"] | undefined): Limits {
  const most = (limit: Schemas["LimitView"] | undefined) => limit?.most ?? Infinity;
  return {
    participants: most(told?.discussion["participants"]),
    roundsUsual: told?.discussion["rounds"]?.usual ?? 5,
    roundsMost: most(told?.discussion["rounds"]),
    budgetLeast: told?.discussion["budget"]?.least ?? 1,
    topicBytes: most(told?.discussion["topic"]),
    ...fileLimits(told),
  };
}

/** Wrong fields, by the names that the server has for them. */
export type Wrongs = ReadonlyMap<string, string>;

/** What can be told to be wrong before anything is sent. */
export function wrongs(draft: Seated, agents: readonly Agent[], limits: Limits): Wrongs {
  const found = new Map<string, string>();
  if (draft.topic.trim() === "") found.set("topic", "Enter a topic.");
  else if (textBytes(draft.topic) > limits.topicBytes)
    found.set("topic", `At most ${sizeInWords(limits.topicBytes)}; put the rest into a file.`);
  seatWrongs(draft, agents, limits, found);
  if (draft.isFixed && !isWhole(draft.rounds, 1, limits.roundsMost))
    found.set("maxRounds", wholeFrom(1, limits.roundsMost));
  const { tokens } = draft.allowance;
  if (
    tokens.trim() !== "" &&
    !isWhole(tokens.replace(/[\s,]/g, ""), limits.budgetLeast, Number.MAX_SAFE_INTEGER)
  )
    found.set(
      "budget.tokens",
      `Enter a whole number of at least ${limits.budgetLeast}, or leave it empty.`,
    );
  return found;
}

function seatWrongs(
  draft: Seated,
  agents: readonly Agent[],
  limits: Limits,
  found: Map<string, string>,
): void {
  const leader = seatName(draft.leader, agents);
  if (leader === "")
    found.set(
      draft.leader.kind === "person" ? "facilitator.person" : "moderatorId",
      draft.leader.kind === "person" ? "Enter the facilitator’s name." : "Choose a facilitator.",
    );
  if (!draft.seats.some((seat) => seat.role !== "observer"))
    found.set("participants", "Add at least one participant or devil’s advocate.");
  else if (draft.seats.length > limits.participants)
    found.set("participants", `At most ${limits.participants} can take part.`);
  const taken = new Set<string>();
  draft.seats.forEach((seat, place) => {
    const name = seatName(seat, agents);
    const at = `participants[${place}]`;
    if (name === "") found.set(at, "Enter a name.");
    else if (name.toLowerCase() === leader.toLowerCase())
      found.set(at, `${name} leads the discussion and cannot take part too.`);
    else if (taken.has(name.toLowerCase())) found.set(at, `${name} is already taking part.`);
    taken.add(name.toLowerCase());
  });
}

function wholeFrom(least: number, most: number): string {
  return Number.isFinite(most)
    ? `Enter a whole number from ${least} to ${most}.`
    : `Enter a whole number of at least ${least}.`;
}

function isWhole(text: string, least: number, most: number): boolean {
  const trimmed = text.trim();
  return /^\d+$/.test(trimmed) && Number(trimmed) >= least && Number(trimmed) <= most;
}

/** Where a field stands in the wizard. */
export function stepOf(field: string): StepNumber {
  const root = field.split(/[.[]/)[0] ?? "";
  if (["topic", "name", "format", "context"].includes(root)) return 1;
  if (["maxRounds", "budget"].includes(root)) return 3;
  return 2;
}

/** The wrong fields of an answer; those that no form shows are left to the message. */
export function wrongsOf(problem: Problem): Wrongs {
  return new Map(problem.fields.map((one) => [one.field, sentence(one.problem)]));
}

function sentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}${/[.?!]$/.test(problem) ? "" : "."}`;
}

type Body = Schemas["NewDiscussion"];
type NewSeat = Schemas["NewDiscussionSeat"];

export function body(draft: Seated, start: boolean): Body {
  const model = parts(draft.choice).model;
  const budget = budgetOf(draft.allowance);
  return {
    topic: draft.topic,
    format: draft.format,
    ...leaderBody(draft.leader),
    participants: draft.seats.map(seatBody),
    ...(draft.name.trim() !== "" && { name: draft.name.trim() }),
    ...(draft.files.length > 0 && { context: contextOf(draft.files) }),
    ...(model !== undefined && { model }),
    ...(draft.isFixed && { maxRounds: Number(draft.rounds) }),
    ...(budget && { budget }),
    start,
  };
}

export function leaderBody(leader: LeaderDraft): Pick<Body, "moderatorId" | "facilitator"> {
  if (leader.kind === "person") return { facilitator: personBody(leader) };
  if (leader.choice === "") return { moderatorId: leader.agentId ?? "" };
  return { facilitator: { agentId: leader.agentId ?? "", ...parts(leader.choice) } };
}

export function seatBody(seat: SeatDraft): NewSeat {
  const { role } = seat;
  switch (seat.kind) {
    case "person":
      return { ...personBody(seat), role };
    case "agent":
      return { agentId: seat.agentId ?? "", role, ...parts(seat.choice) };
    case "model": {
      const persona = seat.persona.trim() === "" ? {} : { persona: seat.persona };
      return { name: seat.name.trim(), role, ...persona, ...parts(seat.choice) };
    }
  }
}

function personBody(seat: Pick<SeatDraft, "name" | "replyWithinSeconds">): NewSeat {
  const { replyWithinSeconds } = seat;
  return {
    person: seat.name.trim(),
    ...(replyWithinSeconds !== undefined && { replyWithinSeconds }),
  };
}

function parts(choice: Choice): { model?: string; tier?: Tier } {
  if (choice.startsWith("tier:")) return { tier: choice.slice("tier:".length) as Tier };
  if (choice.startsWith("model:")) return { model: choice.slice("model:".length) };
  return {};
}
