import { expect, test } from "vitest";
import { BLANK, copyName, draftOf, fieldsOf } from "./agentDraft";

const AGENT = {
  id: "reviewer",
  name: "Reviewer",
  description: "Reads the diff twice",
  persona: "You review code.",
  model: "ollama/qwen3:32b",
  isFacilitator: false,
  isBuiltIn: false,
  formats: ["review" as const],
  turnSeconds: 90,
  outputTokens: 2000,
  budgetTokens: 50_000,
  workspace: { folder: "~/projects/app", tools: ["Read", "Grep"] },
};

test("what an agent has is what is sent when nothing is changed", () => {
  const { id: _id, isFacilitator: _leads, isBuiltIn: _ships, ...fields } = AGENT;
  expect(fieldsOf(draftOf(AGENT))).toEqual({ ...fields, tier: null });
});

test("what is empty is said to be none", () => {
  expect(fieldsOf({ ...BLANK, name: " Ann ", persona: "You are Ann." })).toEqual({
    name: "Ann",
    description: "",
    persona: "You are Ann.",
    model: null,
    tier: null,
    formats: [],
    turnSeconds: null,
    outputTokens: null,
    budgetTokens: null,
    workspace: null,
  });
});

test("a tier takes the place of a model", () => {
  const { model, tier } = fieldsOf({ ...draftOf(AGENT), speaksBy: "tier:strong" });
  expect({ model, tier }).toEqual({ model: null, tier: "strong" });
});

test("a copy has a name of its own", () => {
  expect(copyName("The Spark", [])).toBe("The Spark (copy)");
  expect(copyName("The Spark (copy)", ["the spark (COPY)"])).toBe("The Spark (copy 2)");
});
