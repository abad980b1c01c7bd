import { describe, expect, it } from "vitest";
import { settled } from "./data";
import { looksLong } from "./Fold";
import { chart } from "./lanes";
import { milestones } from "./milestones";
import type { Entry, Seat, View } from "./words";

function seat(id: string, role?: Seat["role"]): Seat {
  const name = id.charAt(0).toUpperCase() + id.slice(1);
  const rest = { description: "", persona: "", person: false, calls: 0, usage: {} };
  return { id, name, ...(role && { role }), ...rest };
}

const VIEW: View = {
  id: "1",
  name: "Why",
  topic: "Why?",
  format: "deliberation",
  status: "active",
  moderatorId: "chair",
  moderator: seat("chair"),
  participants: [
    seat("ann", "participant"),
    seat("bob", "devil_advocate"),
    seat("eve", "observer"),
  ],
  round: 1,
  maxRounds: 2,
  createdAt: "2026-01-01T00:00:00Z",
  changedAt: "2026-01-01T00:00:00Z",
  version: 1,
  entries: 0,
  actual: { calls: 0, modelSeconds: 0, elapsedSeconds: 0 },
  allowed: [],
  next: [],
};

function step(kind: "opening" | "turn" | "evaluation" | "synthesis", by: string, waits = false) {
  const name = by.charAt(0).toUpperCase() + by.slice(1);
  return { kind, callId: `${kind}/${by}`, participantId: by, name, waitsForPerson: waits };
}

function entry(number: number, part: Partial<Entry>): Entry {
  const rest = { at: "2026-01-01T00:00:00Z", status: "done", agentName: "Ann" } as const;
  return { number, kind: "turn", role: "participant", ...rest, ...part };
}

function decides(number: number, round: number, next?: string): Entry {
  const decision = next === undefined ? "synthesize" : "continue";
  return entry(number, {
    kind: "decision",
    role: "moderator",
    agentName: "Chair",
    participantId: "chair",
    round,
    decision: {
      decision,
      how: "parsed",
      reasoning: "",
      ...(next !== undefined && { nextParticipantId: next }),
    },
  });
}

describe("the map", () => {
  const said = [
    decides(1, 0, "ann"),
    entry(2, { participantId: "ann", round: 1 }),
    entry(3, { kind: "interjection", role: "person", agentName: "Organizer" }),
    decides(4, 1, "bob"),
    entry(5, { participantId: "bob", round: 2, status: "failed", agentName: "Bob" }),
    decides(6, 2),
  ];
  const { lanes, marks, columns, now } = chart(VIEW, said);

  it("has a lane for everybody who speaks, and one for interjections", () => {
    expect(lanes.map((lane) => lane.name)).toEqual(["Chair", "Ann", "Bob", "Interjections"]);
  });
  it("sets a decision above the turn that it opens, and the end by itself", () => {
    expect(marks.map((mark) => [mark.number, mark.lane, mark.column, mark.kind])).toEqual([
      [1, 0, 1, "decision"],
      [2, 1, 1, "turn"],
      [3, 3, 1, "turn"],
      [4, 0, 2, "decision"],
      [5, 2, 2, "turn"],
      [6, 0, 3, "end"],
    ]);
    expect(columns).toBe(3);
    expect(now).toBeUndefined();
  });
  it("says in words what a mark is", () => {
    expect(marks.map((mark) => mark.label)).toContain("Bob: Participant, failed, round 2");
  });
  it("shows the last of what shares a place: a turn that was broken off and taken up again", () => {
    const again = [
      entry(1, { participantId: "ann", round: 1, status: "stopped" }),
      entry(2, { participantId: "ann", round: 1 }),
    ];
    expect(chart(VIEW, again).marks.map((mark) => [mark.number, mark.status])).toEqual([
      [2, "done"],
    ]);
  });
  it("knows where the step under way is", () => {
    const running = { ...VIEW, step: step("turn", "bob"), round: 2 };
    expect(chart(running, said.slice(0, 4)).now).toEqual({ lane: 2, column: 2 });
    expect(chart({ ...running, status: "paused" }, said).now).toBeUndefined();
  });
});

describe("milestones", () => {
  const check = (before: Partial<View>, now: Partial<View>, expected: string) =>
    expect(milestones({ ...VIEW, ...before }, { ...VIEW, ...now })).toBe(expected);

  it("say nothing when nothing happened", () =>
    check({ step: step("turn", "ann") }, { step: step("turn", "ann") }, ""));
  it("tell whose turn it is", () =>
    check({ step: step("opening", "chair") }, { step: step("turn", "ann") }, "Ann is speaking."));
  it("tell of a new round and a person who is awaited", () =>
    check(
      { step: step("evaluation", "chair") },
      { step: step("turn", "bob", true), round: 2 },
      "Round 2 of 2. It is Bob’s turn.",
    ));
  it("tell who goes on after a rest", () =>
    check(
      { step: step("turn", "ann"), status: "paused" },
      { step: step("turn", "ann") },
      "Ann is speaking.",
    ));
  it("tell of a rest and of the end", () => {
    check(
      { step: step("turn", "ann") },
      { status: "paused", step: step("turn", "bob") },
      "Paused.",
    );
    check({}, { status: "concluded" }, "The discussion has concluded.");
  });
});

describe("a transcript that is read on", () => {
  const numbers = (entries: Entry[]) => settled(entries).map((one) => one.number);

  it("is asked for what is new only", () =>
    expect(numbers([entry(1, { content: "a" }), entry(2, { content: "b" })])).toEqual([1, 2]));
  it("is asked again for a step that was broken off and whose text may still come", () =>
    expect(numbers([entry(1, { content: "a" }), entry(2, { status: "stopped" })])).toEqual([1]));
  it("gives up on one that brought nothing and is long past", () =>
    expect(
      numbers([1, 2, 3, 4, 5, 6].map((n) => entry(n, n === 1 ? { status: "stopped" } : {}))),
    ).toEqual([1, 2, 3, 4, 5, 6]));
});

describe("a text", () => {
  it("folds after twelve lines, written or wrapped", () => {
    expect(looksLong("one\n".repeat(11))).toBe(false);
    expect(looksLong("one\n".repeat(13))).toBe(true);
    expect(looksLong("word ".repeat(100))).toBe(false);
    expect(looksLong("word ".repeat(300))).toBe(true);
  });
});
