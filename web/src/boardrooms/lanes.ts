// When who wrote, as the board's view tells it. Of an advisor that was asked again only the
// last time is there; of a record from elsewhere there are no times at all.

import type { Advisor, Board, RoleName, Synthesis } from "./board";

export interface Span {
  /** Milliseconds since the beginning of the timeline. */
  askedMs: number;
  /** When the call began, where that is known: before it the model was busy. */
  beganMs: number;
  firstMs?: number;
  /** Absent as long as it goes on. */
  endMs?: number;
  outcome: "writing" | "done" | "failed" | "stopped";
}

export interface Lane {
  key: string;
  name: string;
  /** Absent for a verdict. */
  role?: RoleName;
  advisor?: number;
  callId: string;
  span: Span;
}

/** Whether the record says when the advisors were asked: not in one from elsewhere. */
export function hasTimes(board: Board): boolean {
  return board.advisors.every((advisor) => advisor.startedAt !== undefined);
}

/** Where the timeline begins: with the board, or with the first that has a time. */
export function beginning(board: Board): number {
  const starts = [...board.advisors, ...board.syntheses].flatMap(({ startedAt }) =>
    startedAt === undefined ? [] : [Date.parse(startedAt)],
  );
  return hasTimes(board) ? Date.parse(board.convenedAt) : Math.min(...starts);
}

export function lanes(board: Board): Lane[] {
  const zero = beginning(board);
  const advisors = board.advisors.map((advisor) => ({
    key: `advisor-${advisor.id}`,
    name: advisor.name,
    role: advisor.role,
    advisor: advisor.id,
    callId: advisor.callId,
    span: spanOf(advisor, zero),
  }));
  const verdicts = board.syntheses.map((synthesis) => ({
    key: `synthesis-${synthesis.number}`,
    name: board.syntheses.length > 1 ? `Verdict v${synthesis.number}` : "Verdict",
    callId: synthesis.callId,
    span: spanOf(synthesis, zero),
  }));
  return [...advisors, ...verdicts].flatMap(({ span, ...lane }) =>
    span ? [{ ...lane, span }] : [],
  );
}

function spanOf(said: Advisor | Synthesis, zero: number): Span | undefined {
  const { startedAt, endedAt, latencyMs, firstTextMs } = said;
  if (startedAt === undefined) return undefined;
  const askedMs = Date.parse(startedAt) - zero;
  const endMs = endedAt === undefined ? undefined : Date.parse(endedAt) - zero;
  const beganMs =
    endMs !== undefined && latencyMs !== undefined ? Math.max(askedMs, endMs - latencyMs) : askedMs;
  return {
    askedMs,
    beganMs,
    ...(firstTextMs !== undefined && { firstMs: beganMs + firstTextMs }),
    ...(endMs !== undefined && { endMs }),
    outcome: outcomeOf(said.status),
  };
}

function outcomeOf(status: Advisor["status"]): Span["outcome"] {
  return status === "answering" || status === "waiting" ? "writing" : status;
}

/** How long a board has taken, to the end of its last text; unknown without times. */
export function lengthMs(board: Board): number | undefined {
  const ends = lanes(board).flatMap(({ span }) => (span.endMs === undefined ? [] : [span.endMs]));
  return hasTimes(board) && ends.length > 0 ? Math.max(...ends) : undefined;
}

const STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];

/** Where the axis has its marks: whole steps, four at most. */
export function ticks(lengthMs: number): number[] {
  const step = (STEPS_S.find((one) => lengthMs / (one * 1_000) <= 4) ?? 86_400 * 7) * 1_000;
  const marks: number[] = [];
  // The last mark leaves room for its words.
  for (let at = 0; at <= lengthMs * 0.9; at += step) marks.push(at);
  return marks;
}
