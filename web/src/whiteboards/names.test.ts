import fc from "fast-check";
import { expect, test } from "vitest";
import { boardIdFrom, nameProblem } from "./names";

test("a board's id is made from its topic", () => {
  const made = (topics: string[]) => topics.map(boardIdFrom);
  expect(
    made([
      "Should we use mkdocs or mdBook?",
      "  Der Müller’s Größe: v2.0  ",
      "Should we put a Redis cache in front of Postgres before the launch?",
      "a".repeat(90),
      "何",
      "",
    ]),
  ).toEqual([
    "should-we-use-mkdocs-or-mdbook",
    "der-mullers-gro-e-v2-0",
    "should-we-put-a-redis-cache-in-front-of-postgres",
    "a".repeat(48),
    "",
    "",
  ]);
});

test("whatever the topic, the id is one that the server takes, or nothing", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (topic) => {
      expect(boardIdFrom(topic)).toMatch(/^$|^[a-z0-9][a-z0-9._-]{0,79}$/);
    }),
  );
});

test("a name that will not do comes with one that would", () => {
  const near = (name: string) => nameProblem(name)?.match(/(\S+) would work\.$/)?.[1];
  expect(["Ada", "pr-reviewer@v1.0.0", ""].map(nameProblem)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(["Ada Lovelace", "Zoë", " x "].map(near)).toEqual(["Ada-Lovelace", "Zoe", "x"]);
  expect(nameProblem("!!")).toBe("Letters, digits, dots, dashes, underscores and @; no spaces.");
});
