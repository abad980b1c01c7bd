import { describe, expect, it } from "vitest";
import type { Point, VoteName } from "./board";
import { contestedFirst, differences } from "./tally";

const NAMES: Record<string, VoteName> = { a: "accept", r: "reject", d: "defer" };

/** A point on which advisor 1, 2, … voted like this; a space is no vote. */
function point(number: number, votes: string): Point {
  const count = (letter: string) => votes.split(letter).length - 1;
  return {
    number,
    section: "agreement",
    text: `Point ${number}`,
    votes: [...votes].flatMap((letter, at) => {
      const vote = NAMES[letter];
      return vote ? [{ advisor: at + 1, vote, reason: "" }] : [];
    }),
    accept: count("a"),
    reject: count("r"),
    defer: count("d"),
  };
}

it("the contested come first, then those with more rejections, then as they stand", () => {
  const points = [
    point(1, "aaaa"),
    point(2, "aarr"),
    point(3, "aaad"),
    point(4, "aaar"),
    point(5, "rrrr"),
  ];
  expect(contestedFirst(points).map((one) => one.number)).toEqual([2, 4, 3, 5, 1]);
});

describe("two differ", () => {
  it("only where both have voted", () => {
    const points = [point(1, "ar"), point(2, "aa"), point(3, "a "), point(4, "da")];
    expect(differences(points, 1, 2).map((one) => one.number)).toEqual([1, 4]);
  });
});
