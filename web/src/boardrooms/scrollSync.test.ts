import { describe, expect, it } from "vitest";
import { placeOf, sameHeading } from "./scrollSync";

const left = [
  { text: "position", top: 100 },
  { text: "options", top: 300 },
  { text: "next", top: 700 },
];
const right = [
  { text: "summary", top: 40 },
  { text: "options", top: 500 },
];

describe("the same heading", () => {
  const check = (top: number, expected: number | undefined) =>
    expect(sameHeading(placeOf(top, left, 800), right, 900)).toBe(expected);

  it("is found by its words", () => check(300, 500));
  it("goes on as far between this heading and the next", () => check(500, 700));
  it("is found by its number where the words differ", () => check(100, 40));
  it("is not there above the first one", () => check(50, undefined));
  it("is not there where the other has fewer", () => check(700, undefined));
});
