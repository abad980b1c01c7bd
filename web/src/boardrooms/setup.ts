// How a board is set up: the form's own state, and what is sent of it. A seat without a
// model takes the next one that is available, in turn; nothing that has gone is remembered.

import type { Schemas } from "../api/client";
import { allowanceOf, budgetOf, type Allowance } from "../ui/Budget";
import { contextOf, type AttachedFile } from "../ui/files";
import type { NewBoardroom } from "./commands";
import type { RoleName } from "./board";

export type SavedBoard = Schemas["SavedBoardView"];
type SavedSeat = Schemas["SavedSeatView"];
type NewSeat = Schemas["NewAdvisor"];

export const GRACE_SECONDS = 20;

/** As it is filled in; what is empty the server makes up. */
export interface OwnRole {
  name: string;
  colour: string;
  glyph: string;
  initials: string;
}

export interface Seat {
  /** Tells rows apart while they are moved. */
  key: number;
  role: RoleName;
  /** In place of the role. */
  own?: OwnRole | undefined;
  kind: "model" | "agent" | "person";
  /** A model, or `tier:strong`; empty: the next one in turn, or the agent's own. */
  model: string;
  /** A stored agent's id. */
  agent?: string;
  person: string;
  /** Minutes that a person has; empty: for as long as it takes. */
  minutes: string;
  /** Empty: the role's own. */
  systemPrompt: string;
  temperature?: string;
  outputTokens?: string;
  /** How many answers it gives at once; empty: one. */
  tries?: string;
  /** What a saved board gives it, which no form shows. */
  budget?: Schemas["AllowanceView"];
}

export interface Setup {
  seats: Seat[];
  /** A model, or `tier:strong`. Empty: the fourth available model, else the first. */
  synthesizer: string;
  /** How many answers suffice; empty: all. */
  quorum: string;
  graceSeconds: string;
  ballot: boolean;
  allowance?: Allowance;
  whenSpent?: "stop";
  language?: string;
  openAnswers?: boolean;
  /** Said to whoever writes the verdict. Only a saved board has this. */
  instruction?: string;
  /** The saved board that it began with. */
  board?: string;
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

/** A saved board as the form shows it. */
export function setupFrom(board: SavedBoard): Setup {
  const { quorum, budget, synthesis, language } = board;
  const text = (number: number | undefined) => (number === undefined ? "" : String(number));
  return {
    seats: board.seats.map((seat, place) => seatFrom(seat, place + 1)),
    synthesizer: modelOf(synthesis ?? {}),
    quorum: text(quorum?.need),
    graceSeconds: quorum && quorum.graceSeconds !== GRACE_SECONDS ? text(quorum.graceSeconds) : "",
    ballot: board.ballot,
    ...(budget && {
      allowance: allowanceOf(budget),
      ...(budget.whenSpent === "stop" && { whenSpent: "stop" }),
    }),
    ...(language !== undefined && { language }),
    ...(board.openAnswers && { openAnswers: true }),
    ...(synthesis?.prompt !== undefined && { instruction: synthesis.prompt }),
    board: board.name,
  };
}

function seatFrom(seat: SavedSeat, key: number): Seat {
  const { ownRole, person, agent, replyWithinSeconds, temperature, outputTokens, tries } = seat;
  return {
    ...newSeat(seat.role, []),
    key,
    ...(ownRole && { own: { ...ownRole, glyph: ownRole.glyph ?? "" } }),
    kind: person !== undefined ? "person" : agent !== undefined ? "agent" : "model",
    model: modelOf(seat),
    ...(agent !== undefined && { agent }),
    person: person ?? "",
    minutes: replyWithinSeconds === undefined ? "" : String(replyWithinSeconds / 60),
    systemPrompt: seat.systemPrompt ?? "",
    ...(temperature !== undefined && { temperature: String(temperature) }),
    ...(outputTokens !== undefined && { outputTokens: String(outputTokens) }),
    ...(tries !== undefined && tries > 1 && { tries: String(tries) }),
    ...(seat.budget && { budget: seat.budget }),
  };
}

const TIER = "tier:";

function modelOf({ model, tier }: { model?: string; tier?: string }): string {
  return model ?? (tier === undefined ? "" : TIER + tier);
}

/** What is sent of a choice between models and tiers. */
function chosen(model: string): Pick<NewSeat, "model" | "tier"> {
  if (model === "") return {};
  if (!model.startsWith(TIER)) return { model };
  return { tier: model.slice(TIER.length) as Schemas["TierName"] };
}

/** The remembered set-up without models that have gone. */
export function settled(setup: Setup, models: readonly string[]): Setup {
  // While none is known, none can be said to have gone.
  if (models.length === 0) return setup;
  const there = (model: string) => (models.includes(model) || model.startsWith(TIER) ? model : "");
  return {
    ...setup,
    synthesizer: there(setup.synthesizer),
    seats: setup.seats.map((seat) => ({ ...seat, model: there(seat.model) })),
  };
}

/** The model that a seat gets, as the server seats it; `inTurn` are those that it seats. */
export function modelAt(setup: Setup, place: number, inTurn: readonly string[]): string {
  const chosen = setup.seats[place]?.model;
  if (chosen) return chosen;
  return inTurn.length === 0 ? "" : (inTurn[place % inTurn.length] ?? "");
}

export function synthesizerOf(setup: Setup, inTurn: readonly string[]): string {
  return setup.synthesizer || (inTurn[3] ?? inTurn[0] ?? "");
}

/** The saved board that seats the same: the one that it began with, else the first. */
export function boardOf(setup: Setup, boards: readonly SavedBoard[]): SavedBoard | undefined {
  const wanted = JSON.stringify(setup.seats.map(advisor));
  const seatsSame = (board: SavedBoard) =>
    JSON.stringify(setupFrom(board).seats.map(advisor)) === wanted;
  const first = boards.filter(({ name }) => name === setup.board);
  return [...first, ...boards].find(seatsSame);
}

/** What counts for the board as a whole; what is not there is left to the server. */
function terms(setup: Setup) {
  const need = Number.parseInt(setup.quorum, 10);
  const grace = Number.parseFloat(setup.graceSeconds);
  const budget = budgetOf(setup.allowance);
  return {
    ...(Number.isFinite(need) && {
      quorum: { need, graceSeconds: Number.isFinite(grace) ? grace : GRACE_SECONDS },
    }),
    ...(setup.ballot && { ballot: true }),
    ...(budget && {
      budget: { ...budget, ...(setup.whenSpent && { whenSpent: setup.whenSpent }) },
    }),
    ...(setup.language && { language: setup.language }),
    ...(setup.openAnswers && { openAnswers: true }),
  };
}

/** Who writes the synthesis, and what they are told besides. */
function synthesisOf({ synthesizer, instruction }: Setup) {
  const prompt = instruction?.trim() ?? "";
  return {
    ...(synthesizer !== "" && { synthesizer }),
    ...(prompt !== "" && { synthesisPrompt: prompt }),
  };
}

/** What is sent to convene this board. */
export function request(
  prompt: string,
  setup: Setup,
  files: readonly AttachedFile[],
  boards: readonly SavedBoard[] = [],
  tiers: readonly Schemas["TierView"][] = [],
): NewBoardroom {
  const own = { ...terms(setup), ...synthesisOf(setup) };
  const board = boardOf(setup, boards);
  const begun = board && setupFrom(board);
  const said: object = begun ? { ...terms(begun), ...synthesisOf(begun) } : {};
  // What a board says can be replaced, but not taken away.
  const isByName = begun && Object.keys(said).every((part) => part in own);
  const differs = ([part, value]: [string, unknown]) =>
    !isByName || JSON.stringify(value) !== JSON.stringify((said as Record<string, unknown>)[part]);
  const sent: Partial<NewBoardroom> = Object.fromEntries(Object.entries(own).filter(differs));
  if (sent.synthesizer?.startsWith(TIER)) {
    const tier = sent.synthesizer.slice(TIER.length);
    const model = tiers.find((one) => one.tier === tier)?.model;
    if (model === undefined) delete sent.synthesizer;
    else sent.synthesizer = model;
  }
  return {
    prompt,
    ...(isByName ? { board: board.name } : { advisors: setup.seats.map(advisor) }),
    ...sent,
    ...(files.length > 0 && { context: contextOf(files) }),
  };
}

export interface About {
  title: string;
  description: string;
}

/** What is sent to save it; what is empty is cleared. */
export function saved(setup: Setup, { title, description }: About): Schemas["BoardChanges"] {
  const { quorum, budget, language } = terms(setup);
  const prompt = setup.instruction?.trim() ?? "";
  const synthesis = { ...chosen(setup.synthesizer), ...(prompt !== "" && { prompt }) };
  return {
    title: title.trim() || null,
    description: description.trim() || null,
    seats: setup.seats.map(advisor),
    synthesis: Object.keys(synthesis).length > 0 ? synthesis : null,
    quorum: quorum ?? null,
    ballot: setup.ballot,
    openAnswers: setup.openAnswers ?? false,
    budget: budget ?? null,
    language: language?.trim() || null,
  };
}

function advisor(seat: Seat): NewSeat {
  const { own, kind } = seat;
  const number = (name: "temperature" | "outputTokens" | "tries") => {
    const value = Number.parseFloat(seat[name] ?? "");
    return Number.isFinite(value) ? { [name]: value } : {};
  };
  const role = {
    role: own?.name.trim() ?? seat.role,
    ...(own?.colour && { colour: own.colour }),
    ...(own?.glyph.trim() && { glyph: own.glyph.trim() }),
    ...(own?.initials.trim() && { initials: own.initials.trim() }),
  };
  const told = seat.systemPrompt.trim() === "" ? {} : { systemPrompt: seat.systemPrompt };
  if (kind === "person") {
    const minutes = Number.parseFloat(seat.minutes);
    return {
      ...role,
      person: seat.person.trim(),
      ...(Number.isFinite(minutes) && { replyWithinSeconds: Math.round(minutes * 60) }),
      ...told,
    };
  }
  return {
    ...role,
    ...(kind === "agent" && { agent: seat.agent ?? "" }),
    ...chosen(seat.model),
    ...told,
    ...number("temperature"),
    ...number("outputTokens"),
    ...number("tries"),
    ...(seat.budget && { budget: seat.budget }),
  };
}
