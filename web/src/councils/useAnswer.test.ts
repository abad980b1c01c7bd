import { expect, it } from "vitest";
import { heldOf } from "./useAnswer";

const HELD = new Map([
  ["answer/Ann/3", "first"],
  ["answer/Bo/9", "another's"],
  ["answer/Ann/12", "second"],
]);

it("shows what holds the latest call of a member", () => {
  expect(heldOf(HELD, "Ann", undefined)).toBe("second");
  expect(heldOf(HELD, "Ann", 3)).toBe("second");
});

it("does not show what held a call that is over", () => {
  expect(heldOf(HELD, "Ann", 12)).toBeUndefined();
  expect(heldOf(new Map([["answer/Ann/3", "first"]]), "Ann", 3)).toBeUndefined();
  expect(heldOf(HELD, "Cy", undefined)).toBeUndefined();
});
