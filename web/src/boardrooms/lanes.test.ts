import { describe, expect, it } from "vitest";
import type { Advisor, Board, Synthesis } from "./board";
import { tickInWords, ticks } from "../session/axis";
import { hasTimes, timeline, workedMs } from "./lanes";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const NOW = Date.parse(at(9));

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
        initials: "CR",
        colour: "",
        callId: "advisor/1",
        status: "answering",
        text: "",
        usage: {},
        round: 1,
        try: 1,
        ...advisor,
      },
    ],
    synthesizers: [],
    syntheses,
    usage: {},
    convenedAt: "2026-01-01T00:00:00Z",
    ballot: false,
    openAnswers: false,
    rounds: [],
  };
}

const SYNTHESIS: Synthesis = {
  number: 1,
  model: "ollama/a",
  round: 1,
  basis: [1],
  contributions: [{ advisor: 1, round: 1, try: 1 }],
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
    expect(timeline(board(advisor), NOW).lanes[0]?.span).toEqual(expected);

  it("is open while it writes", () =>
    check({ startedAt: at(0) }, { askedMs: 0, beganMs: 0, outcome: "writing" }));
  it("ends when the answer came; what lies before its latency was waiting", () =>
    check(
      { status: "done", startedAt: at(0), endedAt: at(5), latencyMs: 4_000, firstTextMs: 500 },
      { askedMs: 0, beganMs: 1_000, firstMs: 1_500, endMs: 5_000, outcome: "done" },
    ));
  it("of a person takes no room of its own", () =>
    check(
      { status: "done", person: "Ada", startedAt: at(0), endedAt: at(180_000) },
      { askedMs: 0, beganMs: 0, endMs: 0, outcome: "done" },
    ));
});

describe("a board", () => {
  const advisor = { status: "done", startedAt: at(0), endedAt: at(5) } as const;
  const shown = (of: Board, now = NOW) =>
    timeline(of, now).lanes.map(({ name, span }) => [name, span.askedMs, span.endMs]);

  it("takes until its last text ended", () =>
    expect(workedMs(board(advisor, [SYNTHESIS]), NOW)).toBe(8_000));
  it("does not work while nobody is asked", () => {
    const later = { ...SYNTHESIS, number: 2, startedAt: at(1_800), endedAt: at(1_803) };
    const now = Date.parse(at(5_000));
    expect(workedMs(board(advisor, [SYNTHESIS, later]), now)).toBe(11_000);
    expect(shown(board(advisor, [SYNTHESIS, later]), now)).toEqual([
      ["Critic", 0, 5_000],
      ["Verdict v1", 5_000, 8_000],
      ["Verdict v2", 8_000, 11_000],
    ]);
    const { endedAt: _, ...open } = later;
    expect(workedMs(board(advisor, [{ ...open, status: "answering" }]), now)).toBe(3_205_000);
  });
  it("does not work while a person thinks", () =>
    expect(workedMs(board({ status: "waiting", person: "Ada", startedAt: at(0) }), NOW)).toBe(0));
  it("from elsewhere has no times, and a new verdict on it begins its timeline", () => {
    const imported = board({ status: "done", latencyMs: 4_000 }, [SYNTHESIS]);
    expect(hasTimes(imported)).toBe(false);
    expect(workedMs(imported, NOW)).toBeUndefined();
    expect(shown(imported)).toEqual([["Verdict", 0, 3_000]]);
  });
});

it("the axis has whole steps, in few letters", () => {
  expect(ticks(14_000)).toEqual([0, 5_000, 10_000]);
  for (let seconds = 1; seconds < 400_000; seconds *= 1.7) {
    const words = ticks(seconds * 1_000).map(tickInWords);
    expect(words.length, words.join()).toBeLessThanOrEqual(5);
    for (const one of words) expect(one).toMatch(/^(0|\d{1,3}(\.5)? (s|min|h))$/);
  }
});
