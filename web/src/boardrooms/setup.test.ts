import { describe, expect, it } from "vitest";
import type { Presets } from "./board";
import { modelAt, newSeat, request, settled, setupOf, synthesizerOf, type Setup } from "./setup";

const presets = {
  roles: [],
  prompts: [],
  boards: [
    { id: "classic-triad", name: "Classic Triad", roles: ["advocate", "critic", "analyst"] },
  ],
} satisfies Presets;

const triad = setupOf(["advocate", "critic", "analyst"]);

function changed(change: Partial<Setup["seats"][number]>): Setup {
  return {
    ...triad,
    seats: triad.seats.map((seat, at) => (at === 1 ? { ...seat, ...change } : seat)),
  };
}

describe("what is sent", () => {
  const check = (setup: Setup, expected: object) =>
    expect(request("Why?", setup, [], presets)).toEqual({ prompt: "Why?", ...expected });

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
