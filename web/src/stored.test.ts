import { afterEach, expect, test, vi } from "vitest";
import { remember, remembered } from "./stored";

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

test("a value is kept, and forgotten", () => {
  remember("a", { words: "so far" });
  expect(remembered("a", undefined)).toEqual({ words: "so far" });
  expect(remembered("a", undefined)).toBe(remembered("a", undefined));
  remember("a", undefined);
  expect(remembered("a", "nothing")).toBe("nothing");
});

test("a browser that is full still takes what is typed", () => {
  remember("b", "h");
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  remember("b", "he");
  expect(remembered("b", "")).toBe("he");
  vi.restoreAllMocks();
  remember("b", "hey");
  expect(remembered("b", "")).toBe("hey");
  expect(localStorage.getItem("plenary.b")).toBe('"hey"');
});
