// When who wrote, as the board's view tells it. An advisor that was asked again has its lane
// from the last time; of a record from elsewhere there are no times at all. Time in which
// nobody was asked is left out.

import { clock, type Timed } from "../ui/clock";
import type { Advisor, Board, RoleName, Synthesis } from "./board";

export interface Span {
  /** Milliseconds of work since the board was convened. */
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
  own?: Advisor["ownRole"];
  advisor?: number;
  callId: string;
  span: Span;
}

/** Whether the record says when the advisors were asked: not in one from elsewhere. */
export function hasTimes(board: Board): boolean {
  return board.advisors.every((advisor) => advisor.startedAt !== undefined);
}

/** How long models have worked on a board; unknown without times. */
export function workedMs(board: Board, now: number): number | undefined {
  const models = modelsOf(board);
  return hasTimes(board)
    ? clock([...models, ...before(models), ...board.syntheses], now)(now)
    : undefined;
}

/** Nobody works while only a person is awaited. */
function modelsOf(board: Board): Advisor[] {
  return board.advisors.filter((advisor) => advisor.person === undefined);
}

/** What was said before by those who were asked again. */
function before(advisors: readonly Advisor[]): Timed[] {
  return advisors.flatMap(({ earlier }) => earlier ?? []);
}

/** Everybody's lane, and how long all of it is. */
export function timeline(board: Board, now: number): { lanes: Lane[]; wholeMs: number } {
  const models = modelsOf(board);
  const clocked = clock([...models, ...before(models), ...board.syntheses], now);
  const advisors = board.advisors.map((advisor) => ({
    key: `advisor-${advisor.id}`,
    name: advisor.name,
    role: advisor.role,
    ...(advisor.ownRole && { own: advisor.ownRole }),
    advisor: advisor.id,
    callId: advisor.callId,
    span: spanOf(advisor, clocked),
  }));
  const verdicts = board.syntheses.map((synthesis) => ({
    key: `synthesis-${synthesis.number}`,
    name: board.syntheses.length > 1 ? `Verdict v${synthesis.number}` : "Verdict",
    callId: synthesis.callId,
    span: spanOf(synthesis, clocked),
  }));
  const lanes = [...advisors, ...verdicts].flatMap(({ span, ...lane }) =>
    span ? [{ ...lane, span }] : [],
  );
  return { lanes, wholeMs: clocked(now) };
}

function spanOf(said: Advisor | Synthesis, clocked: (at: number) => number): Span | undefined {
  const { startedAt, endedAt, latencyMs, firstTextMs } = said;
  if (startedAt === undefined) return undefined;
  const asked = Date.parse(startedAt);
  const end = endedAt === undefined ? undefined : Date.parse(endedAt);
  const began =
    end !== undefined && latencyMs !== undefined ? Math.max(asked, end - latencyMs) : asked;
  return {
    askedMs: clocked(asked),
    beganMs: clocked(began),
    ...(firstTextMs !== undefined && { firstMs: clocked(began + firstTextMs) }),
    ...(end !== undefined && { endMs: clocked(end) }),
    outcome: outcomeOf(said.status),
  };
}

function outcomeOf(status: Advisor["status"]): Span["outcome"] {
  return status === "answering" || status === "waiting" ? "writing" : status;
}
