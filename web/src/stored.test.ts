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

test("what another version has stored is missing, or made good", () => {
  const draft = { name: "", seats: [] as string[], limit: { tokens: "" } };
  const check = (stored: unknown, expected: unknown) => {
    remember("c", stored);
    expect(remembered("c", draft)).toEqual(expected);
  };
  for (const other of [7, "text", true, null, ["a"]]) check(other, draft);
  check({ name: 7, seats: "none", limit: "60" }, draft);
  // What fits stays, what is new there is begun, what this version does not know is kept.
  check({ name: "Ada", old: 1 }, { ...draft, name: "Ada", old: 1 });
  check(
    { ...draft, limit: { tokens: 5, cost: "1" } },
    { ...draft, limit: { tokens: "", cost: "1" } },
  );
  expect(remembered("c", draft)).toBe(remembered("c", draft));
  remember("c", { x: 1 });
  expect(remembered<string | null>("c", null, "")).toBe(null);
});
