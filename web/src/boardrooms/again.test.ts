import { expect, it } from "vitest";
import { setupAgain } from "./again";
import type { Board } from "./board";
import { request } from "./setup";

it("gives a person as long as before, and the writer what only the saved board says", () => {
  const board = {
    board: "weekly",
    convenedAt: "2026-11-19T08:00:00.004Z",
    advisors: [{ role: "critic", person: "Ann", replyBy: "2026-11-19T08:30:00Z" }],
    synthesizers: ["ollama/a"],
    ballot: false,
    openAnswers: false,
  } as unknown as Board;
  const saved = {
    name: "weekly",
    title: "Weekly",
    description: "",
    isBuiltIn: false,
    seats: [],
    ballot: false,
    openAnswers: false,
    synthesis: { prompt: "In French." },
  };
  expect(request("Now?", setupAgain(board, saved), [])).toMatchObject({
    advisors: [{ role: "critic", person: "Ann", replyWithinSeconds: 1800 }],
    synthesizer: "ollama/a",
    synthesisPrompt: "In French.",
  });
});
