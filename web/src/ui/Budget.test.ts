import { describe, expect, it } from "vitest";
import { budgetInWords, budgetOf, budgetShares, NO_LIMIT } from "./Budget";

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
  ).toBe("$0.25 of $0.50 · 15 min limit");
  expect(budgetInWords({ spentTokens: 9, seconds: 1, timeOver: true, whenSpent })).toBe(
    "time is up",
  );
});

it("the nearest limit says what is spent and what is kept", () => {
  const whenSpent = "conclude";
  expect(budgetShares({ spentTokens: 9, seconds: 1, whenSpent })).toBeUndefined();
  const tokens = { tokens: 20_000, spentTokens: 5_000, whenSpent } as const;
  expect(budgetShares(tokens)).toEqual({ spent: 0.25, reserved: 0 });
  const cost = { cost: 0.5, spentCost: 0.1, reservedCost: 0.1 };
  expect(budgetShares({ ...tokens, ...cost })).toEqual({ spent: 0.2, reserved: 0.2 });
  expect(budgetShares({ ...tokens, reservedTokens: 10_000, ...cost })).toEqual({
    spent: 0.25,
    reserved: 0.5,
  });
});
