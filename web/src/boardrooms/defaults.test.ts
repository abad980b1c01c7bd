import { expect, it } from "vitest";
import { read, setupBy } from "./defaults";
import { request, type SavedBoard } from "./setup";

const NO_LIMIT = { tokens: "", cost: "", seconds: "" };

it("reads what it has written, and takes anything else for nothing", () => {
  const allowance = { tokens: "20,000", cost: "", seconds: "90" };
  const kept = { version: 1, board: "full-board", allowance };
  expect(read(JSON.parse(JSON.stringify(kept)))).toEqual(kept);
  for (const other of [undefined, null, 7, "full-board", [], {}, { version: 2, board: "x" }]) {
    expect(read(other)).toEqual({ version: 1, allowance: NO_LIMIT });
  }
  expect(read({ version: 1, board: 7, allowance: { tokens: 5, cost: "1" } })).toEqual({
    version: 1,
    allowance: { ...NO_LIMIT, cost: "1" },
  });
});

const TRIAD: SavedBoard = {
  name: "classic-triad",
  title: "Classic Triad",
  description: "",
  ballot: false,
  isBuiltIn: true,
  openAnswers: false,
  seats: [{ role: "critic" }],
};

it("gives its budget to a board that has none", () => {
  const given = read({ version: 1, allowance: { tokens: "20,000" } });
  const sent = (board: SavedBoard) => request("Why?", setupBy(given, board), [], [board]);
  expect(sent(TRIAD)).toEqual({
    prompt: "Why?",
    board: "classic-triad",
    budget: { tokens: 20_000 },
  });
  expect(sent({ ...TRIAD, budget: { tokens: 5_000, whenSpent: "conclude" } })).toEqual({
    prompt: "Why?",
    board: "classic-triad",
  });
});
