import { expect, test } from "vitest";
import { amountOf, withPrice } from "./prices";

test("an amount may have a point or a comma, and nothing else", () => {
  expect(["0.12", "0,12", " 3 ", ".5", "2."].map(amountOf)).toEqual([0.12, 0.12, 3, 0.5, 2]);
  expect(["", "-1", "1e3", "a", "1.2.3", "$1"].map(amountOf)).toEqual(Array(6).fill(undefined));
});

test("a price is set beside the others, and taken away", () => {
  const price = { input: 1, output: 2 };
  const prices = { "o/a": price };
  expect(withPrice(prices, "o/b", price)).toEqual({ "o/a": price, "o/b": price });
  expect(withPrice(prices, "o/a", undefined)).toEqual({});
  expect(prices).toEqual({ "o/a": price });
});
