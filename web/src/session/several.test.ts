import { expect, it } from "vitest";
import { chosenAfter, withEach } from "./several";

it("does the same with each, whatever fails", async () => {
  const seen: number[] = [];
  const outcome = await withEach([1, 2, 3, 4], (one) => {
    seen.push(one);
    return one % 2 === 0 ? Promise.reject(new Error(`not ${one}`)) : Promise.resolve();
  });
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(outcome).toEqual({ failed: [2, 4], error: new Error("not 2") });
  expect(await withEach([1], () => Promise.resolve())).toEqual({ failed: [] });
});

it("chooses one, or all from the one before", () => {
  const order = ["a", "b", "c", "d", "e"];
  const check = (chosen: string[], clicked: string, from: string | undefined, then: string[]) =>
    expect([...chosenAfter(new Set(chosen), order, clicked, from)].sort()).toEqual(then);
  check([], "b", undefined, ["b"]);
  check(["b"], "b", undefined, []);
  check(["b"], "d", "b", ["b", "c", "d"]);
  check(["d"], "a", "d", ["a", "b", "c", "d"]);
  check(["a", "b", "c", "d"], "d", "b", ["a"]);
  check(["x"], "c", "x", ["c", "x"]);
});
