import { describe, expect, it } from "vitest";
import { addressed, begun, handle } from "./mentions";

const advisors = [
  { name: "Critic", role: "critic" },
  { name: "Critic 2", role: "critic" },
  { name: "Devil's Advocate", role: "devils-advocate" },
] as const;

describe("who is addressed", () => {
  const check = (text: string, expected: string[]) =>
    expect(addressed(text, advisors).asked.map((advisor) => advisor.name)).toEqual(expected);

  it("is nobody in particular without a name", () => check("What now?", []));
  it("is everybody who has the role", () => check("@critic why?", ["Critic", "Critic 2"]));
  it("is the one with that number", () => check("@critic-2 why?", ["Critic 2"]));
  it("may be several, in capitals", () =>
    check("@Critic-2, @Devils-Advocate: why?", ["Critic 2", "Devil's Advocate"]));
  it("is not who is only spoken of", () => check("What does @critic say?", []));
  it("is not a name that begins the same", () => check("@criticism", []));
});

it("a handle has no spaces and no quotes", () => {
  expect(advisors.map(handle)).toEqual(["critic", "critic-2", "devils-advocate"]);
});

describe("the question", () => {
  const check = (text: string, expected: string) =>
    expect(addressed(text, advisors).question).toBe(expected);

  it("is without the names that it begins with", () =>
    check("@critic, @devils-advocate: and then?", "and then?"));
  it("keeps the names inside", () => check("What does @critic say?", "What does @critic say?"));
});

describe("a name that has been begun", () => {
  it("stands at the beginning", () => expect(begun("@cr")).toBe("cr"));
  it("may follow others", () => expect(begun("@expert, @cr")).toBe("cr"));
  it("may be empty", () => expect(begun("@")).toBe(""));
  it("is over with a space", () => expect(begun("@critic ")).toBeUndefined());
  it("is nobody who is asked inside the question", () => expect(begun("and @cr")).toBeUndefined());
});
