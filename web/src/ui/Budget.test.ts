import { describe, expect, it } from "vitest";
import { budgetInWords, budgetOf, NO_LIMIT } from "./Budget";

describe("a budget as it is sent", () => {
  const check = (filled: Partial<typeof NO_LIMIT>, expected: object | undefined) =>
    expect(budgetOf({ ...NO_LIMIT, ...filled })).toEqual(expected);

  it("is none where nothing is filled in", () => check({ tokens: " " }, undefined));
  it("has what is limited", () =>
    check({ tokens: "20,000", seconds: "90" }, { tokens: 20_000, seconds: 90 }));
  it("is not without a limit for want of a number", () =>
    check({ tokens: "lots", cost: "-1" }, { tokens: 0, cost: 0 }));
});

it("a budget is told with what of it is spent", () => {
  const whenSpent = "conclude";
  expect(budgetInWords({ tokens: 20_000, spentTokens: 12_300, whenSpent })).toBe(
    "12,300 of 20,000 tokens",
  );
  expect(
    budgetInWords({
      spentTokens: 9,
      cost: 0.5,
      spentCost: 0.25,
      currency: "USD",
      seconds: 900,
      whenSpent,
    }),
  ).toBe("$0.25 of $0.50 · at most 15 min");
  expect(budgetInWords({ spentTokens: 9, seconds: 1, timeOver: true, whenSpent })).toBe(
    "time is up",
  );
});
