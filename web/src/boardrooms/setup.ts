// How a board is set up: the form's own state, and what is sent of it. A seat without a
// model takes the next one that is available, in turn; nothing that has gone is remembered.

import { budgetOf, type Allowance } from "../ui/Budget";
import { contextOf, type AttachedFile } from "../ui/files";
import type { NewBoardroom } from "./commands";
import type { Presets, RoleName } from "./board";

export const GRACE_SECONDS = 20;

export interface Seat {
  /** Tells rows apart while they are moved. */
  key: number;
  role: RoleName;
  kind: "model" | "person";
  /** Empty: the next one in turn. */
  model: string;
  person: string;
  /** Minutes that a person has; empty: for as long as it takes. */
  minutes: string;
  /** Empty: the role's own. */
  systemPrompt: string;
}

export interface Setup {
  seats: Seat[];
  /** Empty: the fourth available model, else the first. */
  synthesizer: string;
  /** How many answers suffice; empty: all. */
  quorum: string;
  graceSeconds: string;
  ballot: boolean;
  allowance?: Allowance;
}

export function newSeat(role: RoleName, seats: readonly Seat[]): Seat {
  const key = 1 + Math.max(0, ...seats.map((seat) => seat.key));
  return { key, role, kind: "model", model: "", person: "", minutes: "", systemPrompt: "" };
}

export function setupOf(roles: readonly RoleName[]): Setup {
  const seats: Seat[] = [];
  for (const role of roles) seats.push(newSeat(role, seats));
  return { seats, synthesizer: "", quorum: "", graceSeconds: "", ballot: false };
}

/** The remembered set-up without models that have gone. */
export function settled(setup: Setup, models: readonly string[]): Setup {
  // While none is known, none can be said to have gone.
  if (models.length === 0) return setup;
  const there = (model: string) => (models.includes(model) ? model : "");
  return {
    ...setup,
    synthesizer: there(setup.synthesizer),
    seats: setup.seats.map((seat) => ({ ...seat, model: there(seat.model) })),
  };
}

/** The model that a seat gets, as the server seats it. */
export function modelAt(setup: Setup, place: number, models: readonly string[]): string {
  const chosen = setup.seats[place]?.model;
  if (chosen) return chosen;
  return models.length === 0 ? "" : (models[place % models.length] ?? "");
}

export function synthesizerOf(setup: Setup, models: readonly string[]): string {
  return setup.synthesizer || (models[3] ?? models[0] ?? "");
}

export function isPlain(seat: Seat): boolean {
  return seat.kind === "model" && seat.model === "" && seat.systemPrompt.trim() === "";
}

/** What is sent to convene this board. */
export function request(
  prompt: string,
  setup: Setup,
  files: readonly AttachedFile[],
  presets?: Presets,
): NewBoardroom {
  const roles = setup.seats.map((seat) => seat.role);
  const preset = presets?.boards.find((board) => board.roles.join() === roles.join());
  const need = Number.parseInt(setup.quorum, 10);
  const grace = Number.parseFloat(setup.graceSeconds);
  const budget = budgetOf(setup.allowance);
  return {
    prompt,
    ...(preset && setup.seats.every(isPlain)
      ? { board: preset.id as NonNullable<NewBoardroom["board"]> }
      : { advisors: setup.seats.map(advisor) }),
    ...(setup.synthesizer !== "" && { synthesizer: setup.synthesizer }),
    ...(Number.isFinite(need) && {
      quorum: { need, graceSeconds: Number.isFinite(grace) ? grace : GRACE_SECONDS },
    }),
    ...(setup.ballot && { ballot: true }),
    ...(budget && { budget }),
    ...(files.length > 0 && { context: contextOf(files) }),
  };
}

function advisor(seat: Seat): NonNullable<NewBoardroom["advisors"]>[number] {
  const own = seat.systemPrompt.trim() === "" ? {} : { systemPrompt: seat.systemPrompt };
  if (seat.kind === "person") {
    const minutes = Number.parseFloat(seat.minutes);
    return {
      role: seat.role,
      person: seat.person.trim(),
      ...(Number.isFinite(minutes) && { replyWithinSeconds: Math.round(minutes * 60) }),
      ...own,
    };
  }
  return { role: seat.role, ...(seat.model !== "" && { model: seat.model }), ...own };
}
