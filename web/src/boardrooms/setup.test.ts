import { describe, expect, it } from "vitest";
import {
  boardOf,
  modelAt,
  newSeat,
  request,
  saved,
  settled,
  setupFrom,
  setupOf,
  synthesizerOf,
  type SavedBoard,
  type Setup,
} from "./setup";

const PLAIN = {
  description: "",
  isBuiltIn: true,
  ballot: false,
  openAnswers: false,
} satisfies Partial<SavedBoard>;
const TRIAD: SavedBoard = {
  ...PLAIN,
  name: "classic-triad",
  title: "Classic Triad",
  seats: [{ role: "advocate" }, { role: "critic" }, { role: "analyst" }],
};
const SECURITY: SavedBoard = {
  ...PLAIN,
  isBuiltIn: false,
  name: "security-board",
  title: "Security board",
  language: "German",
  ballot: true,
  quorum: { need: 2, graceSeconds: 20 },
  budget: { tokens: 50_000, whenSpent: "conclude" },
  synthesis: { tier: "strong", prompt: "Write for engineers." },
  seats: [
    { role: "critic", tier: "strong", temperature: 0.9, tries: 3 },
    {
      role: "generalist",
      ownRole: { name: "Compliance officer", initials: "CO", colour: "#00897b" },
      agent: "security-reviewer",
      systemPrompt: "Which rule?",
    },
    { role: "expert", person: "Ada", replyWithinSeconds: 3600 },
  ],
};
const boards = [TRIAD, SECURITY];

const triad = setupOf(["advocate", "critic", "analyst"]);

function changed(change: Partial<Setup["seats"][number]>): Setup {
  return {
    ...triad,
    seats: triad.seats.map((seat, at) => (at === 1 ? { ...seat, ...change } : seat)),
  };
}

const TIERS = [{ tier: "strong", configured: true, model: "ollama/big" }] as const;

const SEATS = [
  { role: "critic", tier: "strong", temperature: 0.9, tries: 3 },
  {
    role: "Compliance officer",
    colour: "#00897b",
    initials: "CO",
    agent: "security-reviewer",
    systemPrompt: "Which rule?",
  },
  { role: "expert", person: "Ada", replyWithinSeconds: 3600 },
];

describe("what is sent", () => {
  const check = (setup: Setup, expected: object) =>
    expect(request("Why?", setup, [], boards, TIERS)).toEqual({ prompt: "Why?", ...expected });

  it("is a preset board as long as no seat was changed", () =>
    check(triad, { board: "classic-triad" }));
  it("names the advisors when one has a model of its own", () =>
    check(changed({ model: "ollama/b" }), {
      advisors: [{ role: "advocate" }, { role: "critic", model: "ollama/b" }, { role: "analyst" }],
    }));
  it("gives a person no model, and a deadline in seconds", () =>
    check(changed({ kind: "person", person: " Ada ", minutes: "1.5", model: "ollama/b" }), {
      advisors: [
        { role: "advocate" },
        { role: "critic", person: "Ada", replyWithinSeconds: 90 },
        { role: "analyst" },
      ],
    }));
  it("leaves out an empty system prompt", () =>
    check(changed({ systemPrompt: "  " }), { board: "classic-triad" }));
  it("has quorum, ballot and synthesizer where they are chosen", () =>
    check(
      { ...triad, quorum: "2", ballot: true, synthesizer: "ollama/c" },
      {
        board: "classic-triad",
        synthesizer: "ollama/c",
        quorum: { need: 2, graceSeconds: 20 },
        ballot: true,
      },
    ));
});

describe("a saved board", () => {
  const check = (setup: Setup, expected: object) =>
    expect(request("Why?", setup, [], boards, TIERS)).toEqual({ prompt: "Why?", ...expected });
  const security = setupFrom(SECURITY);

  it("is sent by its name", () => check(security, { board: "security-board" }));
  it("is sent by its name with what was changed", () =>
    check(
      { ...security, quorum: "1" },
      { board: "security-board", quorum: { need: 1, graceSeconds: 20 } },
    ));
  it("is sent in full when a part of it was taken away", () =>
    check(
      { ...security, quorum: "" },
      {
        advisors: SEATS,
        ballot: true,
        budget: { tokens: 50_000 },
        language: "German",
        synthesizer: "ollama/big",
        synthesisPrompt: "Write for engineers.",
      },
    ));
  it("is saved as it was", () => {
    expect(saved(security, { title: "Security board", description: "" })).toEqual({
      title: "Security board",
      description: null,
      seats: SEATS,
      synthesis: { tier: "strong", prompt: "Write for engineers." },
      quorum: { need: 2, graceSeconds: 20 },
      ballot: true,
      openAnswers: false,
      budget: { tokens: 50_000 },
      language: "German",
    });
  });
  it("is found by its seats, the one that it began with first", () => {
    const twin = { ...TRIAD, name: "twin" };
    expect(boardOf(triad, [TRIAD, twin])?.name).toBe("classic-triad");
    expect(boardOf({ ...triad, board: "twin" }, [TRIAD, twin])?.name).toBe("twin");
    expect(boardOf(changed({ tries: "2" }), boards)).toBeUndefined();
  });
});

describe("models", () => {
  it("take their turn where none is chosen", () => {
    expect([0, 1, 2].map((place) => modelAt(triad, place, ["a", "b"]))).toEqual(["a", "b", "a"]);
  });
  it("that have gone are forgotten, unless none is known", () => {
    const setup = changed({ model: "gone" });
    expect(settled(setup, ["a"]).seats[1]?.model).toBe("");
    expect(settled(setup, []).seats[1]?.model).toBe("gone");
  });
  it("for the verdict are the fourth, else the first", () => {
    expect(synthesizerOf(triad, ["a", "b", "c", "d"])).toBe("d");
    expect(synthesizerOf(triad, ["a", "b"])).toBe("a");
  });
});

it("a new seat has a key of its own", () => {
  const seat = newSeat("expert", triad.seats);
  expect(triad.seats.map((one) => one.key)).not.toContain(seat.key);
});
