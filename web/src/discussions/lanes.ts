// The map of a discussion: one lane per speaker, one column per round.

import { roleName, type Entry, type View } from "./words";

export interface Lane {
  id: string;
  name: string;
  role: string;
}

export interface Mark {
  lane: number;
  column: number;
  /** The entry that it leads to. */
  number: number;
  kind: "turn" | "decision" | "end";
  status: Entry["status"];
  role: string;
  label: string;
}

export interface Chart {
  lanes: Lane[];
  columns: number;
  marks: Mark[];
  /** Where the step under way is. */
  now?: { lane: number; column: number };
}

const PEOPLE = "people";
/** Rounds to come that are drawn, as long as they fit without scrolling. */
const EMPTY_MOST = 7;

export function chart(view: View, entries: readonly Entry[]): Chart {
  const lanes = lanesOf(view, entries);
  const laneOf = (id: string | undefined) =>
    Math.max(
      0,
      lanes.findIndex((lane) => lane.id === (id ?? PEOPLE)),
    );
  const marks = new Map<string, Mark>();
  let column = 1;
  for (const entry of entries) {
    column = columnOf(entry, column);
    const lane = laneOf(entry.kind === "interjection" ? undefined : entry.participantId);
    // Of several in one place the last one is shown; the others are near it in the timeline.
    marks.set(`${lane}.${column}`, mark(entry, lane, column));
  }
  const now = nowOf(view, laneOf, column);
  return {
    lanes,
    columns: Math.max(column, now?.column ?? 1, Math.min(view.maxRounds, EMPTY_MOST)),
    marks: [...marks.values()].sort((one, other) => one.number - other.number),
    ...(now && { now }),
  };
}

function lanesOf(view: View, entries: readonly Entry[]): Lane[] {
  const speakers = view.participants.filter((seat) => seat.role !== "observer");
  const lanes = [
    { id: view.moderator.id, name: view.moderator.name, role: "moderator" },
    ...speakers.map((seat) => ({ id: seat.id, name: seat.name, role: seat.role ?? "participant" })),
  ];
  return entries.some((entry) => entry.kind === "interjection")
    ? [...lanes, { id: PEOPLE, name: "Interjections", role: "person" }]
    : lanes;
}

/** A decision stands above the turn that it opens; the end has a column of its own. */
function columnOf(entry: Entry, before: number): number {
  if (entry.decision) {
    return entry.decision.decision === "continue" ? (entry.round ?? 0) + 1 : before + 1;
  }
  return entry.kind === "turn" ? (entry.round ?? before) : before;
}

function mark(entry: Entry, lane: number, column: number): Mark {
  const ends = entry.decision?.decision === "synthesize";
  const what = entry.decision
    ? ends
      ? "concludes"
      : "gives the floor"
    : `${roleName(entry.role)}, ${STATUSES[entry.status]}`;
  return {
    lane,
    column,
    number: entry.number,
    kind: ends ? "end" : entry.decision ? "decision" : "turn",
    status: entry.status,
    role: entry.role,
    label: `${entry.agentName}: ${what}${entry.kind === "turn" ? `, round ${column}` : ""}`,
  };
}

const STATUSES: Record<Entry["status"], string> = {
  done: "spoke",
  failed: "failed",
  stopped: "interrupted",
};

function nowOf(
  view: View,
  laneOf: (id: string | undefined) => number,
  column: number,
): Chart["now"] {
  const { step } = view;
  if (!step || (view.status !== "active" && view.status !== "pausing")) return undefined;
  const place = { opening: 1, turn: view.round, evaluation: view.round + 1, synthesis: column };
  return { lane: laneOf(step.participantId), column: Math.max(1, place[step.kind]) };
}
