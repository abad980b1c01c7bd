import { describe, expect, it } from "vitest";
import type { Advisor, Board } from "./board";
import { lanes, ticks, withMoment, type Moment } from "./lanes";

const ZERO = Date.parse("2026-01-01T00:00:00Z");

function at(ms: number, type: string, more: Partial<Moment> = {}): Moment {
  return { type, at: ZERO + ms, ...more };
}

function board(advisor: Partial<Advisor>): Board {
  return {
    id: "1",
    version: 1,
    title: "",
    prompt: "",
    status: "answering",
    allowed: [],
    context: [],
    advisors: [
      {
        id: 1,
        name: "Critic",
        role: "critic",
        colour: "",
        callId: "advisor/1",
        status: "answering",
        text: "",
        usage: {},
        ...advisor,
      },
    ],
    synthesizers: [],
    syntheses: [],
    usage: {},
    convenedAt: "2026-01-01T00:00:00Z",
    ballot: false,
  };
}

describe("an advisor's lane", () => {
  const check = (advisor: Partial<Advisor>, moments: Moment[], expected: object[]) =>
    expect(lanes(board(advisor), moments)[0]?.spans).toEqual(expected);

  it("is open while it writes", () =>
    check({}, [], [{ askedMs: 0, beganMs: 0, outcome: "writing" }]));
  it("ends when the answer came; what lies before its latency was waiting", () =>
    check(
      { status: "done", latencyMs: 4_000, firstTextMs: 500 },
      [at(5_000, "advisorAnswered", { seat: 1 })],
      [{ askedMs: 0, beganMs: 1_000, firstMs: 1_500, endMs: 5_000, outcome: "done" }],
    ));
  it("can do without events", () =>
    check(
      { status: "done", latencyMs: 4_000, firstTextMs: 500 },
      [],
      [{ askedMs: 0, beganMs: 0, firstMs: 500, endMs: 4_000, outcome: "done" }],
    ));
  it("has one span for each time that it was asked", () =>
    check(
      { status: "answering" },
      [at(2_000, "advisorFailed", { seat: 1 }), at(6_000, "advisorRetried", { seat: 1 })],
      [
        { askedMs: 0, beganMs: 0, endMs: 2_000, outcome: "failed" },
        { askedMs: 6_000, beganMs: 6_000, outcome: "writing" },
      ],
    ));
  it("of a person ends with the board", () =>
    check(
      { status: "stopped", person: "Ada" },
      [at(3_000, "stopped")],
      [{ askedMs: 0, beganMs: 0, endMs: 3_000, outcome: "stopped" }],
    ));
  it("is not moved by votes", () =>
    check(
      {},
      [at(3_000, "ballotFailed", { seat: 1, number: 1 })],
      [{ askedMs: 0, beganMs: 0, outcome: "writing" }],
    ));
});

it("a moment that comes twice counts once", () => {
  const moment = at(1, "advisorAnswered", { seat: 1 });
  const once = withMoment([], moment);
  expect(withMoment(once, { ...moment })).toBe(once);
});

it("the axis has whole steps", () => {
  expect(ticks(14_000)).toEqual([0, 5_000, 10_000]);
});
