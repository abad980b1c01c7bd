import { expect, it } from "vitest";
import { offsetOf, replaced, stepAt } from "./draft";

it("knows the step that a line belongs to", () => {
  const steps = [
    { place: "a", line: 4 },
    { place: "b", line: 7 },
    { place: "b/c", line: 9 },
  ];
  const at = (line: number) => stepAt(steps, line)?.place;
  expect([1, 4, 6, 7, 12].map(at)).toEqual([undefined, "a", "a", "b", "b/c"]);
});

it("finds a place in a text", () => {
  const text = "one\ntwo\nthree";
  expect(text.slice(offsetOf(text, 2, 2))).toBe("wo\nthree");
  expect(offsetOf(text, 3, 99)).toBe(text.length);
});

it("puts the near word in place of the wrong one, in that line only", () => {
  const text = "bord: 1\nboard: {{ steps.bord.id }}";
  const finding = { line: 2, column: 8, message: "There is no step `bord`. Did you mean `board`?" };
  expect(replaced(text, finding, "board")).toBe("bord: 1\nboard: {{ steps.board.id }}");
  expect(replaced(text, { ...finding, message: "Something is wrong." }, "board")).toBeUndefined();
});
