// When who wrote. The times of durable events say when an answer was asked for and when it
// came; latency and first token say what lies between.

import type { Advisor, Board, RoleName, Synthesis } from "./board";
import type { LiveEvent } from "../live/session";

/** One durable event, as much of it as a timeline needs. */
export interface Moment {
  type: string;
  at: number;
  seat?: number;
  number?: number;
}

export function momentOf(event: LiveEvent): Moment {
  const { type, seat, number } = event.event;
  return {
    type,
    at: Date.parse(event.at),
    ...(typeof seat === "number" && { seat }),
    ...(typeof number === "number" && { number }),
  };
}

/** With one more moment; the same list when it is known already, as after a reconnection. */
export function withMoment(moments: readonly Moment[], moment: Moment): readonly Moment[] {
  const same = (one: Moment) =>
    one.type === moment.type &&
    one.at === moment.at &&
    one.seat === moment.seat &&
    one.number === moment.number;
  return moments.some(same) ? moments : [...moments, moment];
}

export interface Span {
  /** Milliseconds since the board was convened. */
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
  /** Absent for a synthesis. */
  role?: RoleName;
  advisor?: number;
  callId: string;
  spans: Span[];
}

const ENDS: Record<string, Span["outcome"]> = {
  advisorAnswered: "done",
  advisorFailed: "failed",
  advisorStopped: "stopped",
  advisorHalted: "stopped",
  synthesized: "done",
  synthesisFailed: "failed",
  synthesisStopped: "stopped",
  stopped: "stopped",
  synthesisBegan: "stopped",
};

export function lanes(board: Board, moments: readonly Moment[]): Lane[] {
  const zero = Date.parse(board.convenedAt);
  const since = moments.map((moment) => ({ ...moment, at: moment.at - zero }));
  const advisors = board.advisors.map((advisor) => ({
    key: `advisor-${advisor.id}`,
    name: advisor.name,
    role: advisor.role,
    advisor: advisor.id,
    callId: advisor.callId,
    spans: advisorSpans(advisor, since),
  }));
  const syntheses = board.syntheses.map((synthesis) => ({
    key: `synthesis-${synthesis.number}`,
    name: board.syntheses.length > 1 ? `Verdict v${synthesis.number}` : "Verdict",
    callId: synthesis.callId,
    spans: synthesisSpans(synthesis, since),
  }));
  return [...advisors, ...syntheses.filter((lane) => lane.spans.length > 0)];
}

function advisorSpans(advisor: Advisor, moments: readonly Moment[]): Span[] {
  // A person's seat has no text to hand back when the whole board is stopped or goes on.
  const own = moments.filter(
    (moment) =>
      (moment.seat === advisor.id && !moment.type.startsWith("ballot")) ||
      (advisor.status === "stopped" && ["stopped", "synthesisBegan"].includes(moment.type)),
  );
  const starts = own.filter((moment) => moment.type === "advisorRetried").map(({ at }) => at);
  return spans([0, ...starts], own, advisor);
}

function synthesisSpans(synthesis: Synthesis, moments: readonly Moment[]): Span[] {
  const own = moments.filter(
    (moment) => moment.number === synthesis.number && moment.type !== "synthesisBegan",
  );
  const began = moments.find(
    (moment) => moment.number === synthesis.number && moment.type === "synthesisBegan",
  )?.at;
  if (began === undefined) return [];
  // Where one model failed, the next began.
  const failures = own.filter((moment) => moment.type === "synthesisFailed").map(({ at }) => at);
  const handedOn = synthesis.status === "failed" ? failures.slice(0, -1) : failures;
  return spans([began, ...handedOn], own, synthesis);
}

function spans(
  starts: readonly number[],
  own: readonly Moment[],
  said: Pick<Advisor, "status" | "latencyMs" | "firstTextMs">,
): Span[] {
  return starts.map((askedMs, place) => {
    const next = starts[place + 1] ?? Infinity;
    const isLast = place === starts.length - 1;
    const end = own.find(({ type, at }) => type in ENDS && at >= askedMs && at <= next);
    // Only the last try is shown by the board; of earlier ones only the times are known.
    const latency = isLast ? said.latencyMs : undefined;
    const endMs = end?.at ?? (isLast && latency !== undefined ? askedMs + latency : undefined);
    const beganMs = endMs !== undefined && latency ? Math.max(askedMs, endMs - latency) : askedMs;
    const first = isLast ? said.firstTextMs : undefined;
    return {
      askedMs,
      beganMs,
      ...(first !== undefined && { firstMs: beganMs + first }),
      ...(endMs !== undefined && { endMs }),
      outcome: (end && ENDS[end.type]) ?? outcomeOf(said.status),
    };
  });
}

function outcomeOf(status: Advisor["status"]): Span["outcome"] {
  return status === "answering" || status === "waiting" ? "writing" : status;
}

/** How long a board has taken: to what happened last. */
export function lengthMs(board: Board, moments: readonly Moment[]): number | undefined {
  if (moments.length === 0) return undefined;
  return Math.max(...moments.map((moment) => moment.at)) - Date.parse(board.convenedAt);
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
