import { describe, expect, it } from "vitest";
import type { Advisor, Board, Synthesis } from "./board";
import { hasTimes, lanes, lengthMs, ticks } from "./lanes";

const at = (seconds: number) => `2026-01-01T00:00:0${seconds}Z`;

function board(advisor: Partial<Advisor>, syntheses: Synthesis[] = []): Board {
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
    syntheses,
    usage: {},
    convenedAt: "2026-01-01T00:00:00Z",
    ballot: false,
  };
}

const SYNTHESIS: Synthesis = {
  number: 1,
  model: "ollama/a",
  basis: [1],
  absent: [],
  failedBefore: [],
  callId: "synthesis/1",
  status: "done",
  text: "",
  usage: {},
  points: [],
  pointsLeftOut: 0,
  ballots: [],
  agreement: [],
  startedAt: at(5),
  endedAt: at(8),
};

describe("an advisor's lane", () => {
  const check = (advisor: Partial<Advisor>, expected: object) =>
    expect(lanes(board(advisor))[0]?.span).toEqual(expected);

  it("is open while it writes", () =>
    check({ startedAt: at(0) }, { askedMs: 0, beganMs: 0, outcome: "writing" }));
  it("ends when the answer came; what lies before its latency was waiting", () =>
    check(
      { status: "done", startedAt: at(0), endedAt: at(5), latencyMs: 4_000, firstTextMs: 500 },
      { askedMs: 0, beganMs: 1_000, firstMs: 1_500, endMs: 5_000, outcome: "done" },
    ));
  it("begins where it was asked again", () =>
    check({ startedAt: at(6) }, { askedMs: 6_000, beganMs: 6_000, outcome: "writing" }));
  it("of a person ends with the board", () =>
    check(
      { status: "stopped", person: "Ada", startedAt: at(0), endedAt: at(3) },
      { askedMs: 0, beganMs: 0, endMs: 3_000, outcome: "stopped" },
    ));
});

describe("a board", () => {
  it("takes until its last text ended", () => {
    const advisor = { status: "done", startedAt: at(0), endedAt: at(5) } as const;
    expect(lengthMs(board(advisor, [SYNTHESIS]))).toBe(8_000);
  });
  it("from elsewhere has no times, and a new verdict on it begins its timeline", () => {
    const imported = board({ status: "done", latencyMs: 4_000 }, [SYNTHESIS]);
    expect(hasTimes(imported)).toBe(false);
    expect(lengthMs(imported)).toBeUndefined();
    expect(lanes(imported).map(({ name, span }) => [name, span.askedMs, span.endMs])).toEqual([
      ["Verdict", 0, 3_000],
    ]);
  });
});

it("the axis has whole steps", () => {
  expect(ticks(14_000)).toEqual([0, 5_000, 10_000]);
});
