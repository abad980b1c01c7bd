import { describe, expect, it } from "vitest";
import { begun, handle, mentioned, unaddressed } from "./mentions";

const advisors = [
  { name: "Critic", role: "critic" },
  { name: "Critic 2", role: "critic" },
  { name: "Devil's Advocate", role: "devils-advocate" },
] as const;

describe("who is addressed", () => {
  const check = (text: string, expected: string[]) =>
    expect(mentioned(text, advisors).map((advisor) => advisor.name)).toEqual(expected);

  it("is nobody in particular without a name", () => check("What now?", []));
  it("is everybody who has the role", () => check("@critic why?", ["Critic", "Critic 2"]));
  it("is the one with that number", () => check("@critic-2 why?", ["Critic 2"]));
  it("may stand anywhere and in capitals", () =>
    check("And (@Devils-Advocate)?", ["Devil's Advocate"]));
  it("is not in an address", () => check("mail me@critic", []));
  it("is not a name that begins the same", () => check("@criticism", []));
});

it("a handle has no spaces and no quotes", () => {
  expect(advisors.map(handle)).toEqual(["critic", "critic-2", "devils-advocate"]);
});

describe("the question", () => {
  it("is without the names that it begins with", () =>
    expect(unaddressed("@critic, @devils-advocate: and then?", advisors)).toBe("and then?"));
  it("keeps names that nobody has, and those inside", () =>
    expect(unaddressed("@ada what does @critic say?", advisors)).toBe(
      "@ada what does @critic say?",
    ));
});

describe("a name that has been begun", () => {
  it("stands at the end", () => expect(begun("and @cr")).toBe("cr"));
  it("may be empty", () => expect(begun("@")).toBe(""));
  it("is over with a space", () => expect(begun("@critic ")).toBeUndefined());
});
