import { describe, expect, it } from "vitest";
import type { Advisor, Point } from "./board";
import { behind, closest, itemsOf } from "./points";

const advisors = ["Advocate", "Critic", "Devil’s Advocate"].map(
  (name, at) => ({ id: at + 1, name }) as Advisor,
);

describe("the points of a section", () => {
  it("are the items of a flat list", () => {
    expect(itemsOf("- One\n- Two,\n  that goes on\n")).toEqual(["One", "Two, that goes on"]);
    expect(itemsOf("1. One\n2) Two")).toEqual(["One", "Two"]);
  });
  it("are none where it is more than that", () => {
    for (const text of ["Words.", "- One\n  - inside", "- One\n\nAnd words.", ""])
      expect(itemsOf(text)).toBeUndefined();
  });
});

describe("who stands behind a point", () => {
  const votes = [
    { advisor: 1, vote: "accept" },
    { advisor: 2, vote: "reject" },
  ];
  const points = [{ number: 1, text: "Split **billing** now.", votes } as unknown as Point];
  const names = (list: readonly Advisor[]) => list.map(({ name }) => name);
  it("is told by votes", () => {
    const found = behind("Split billing now.", points, advisors);
    expect([names(found.advisors), names(found.against)]).toEqual([["Advocate"], ["Critic"]]);
  });
  it("is told by names where nobody voted", () => {
    const found = behind("The Critic and the Devil's Advocate doubt it.", [], advisors);
    // A whole name: the Devil’s Advocate is not the Advocate as well.
    expect(names(found.advisors)).toEqual(["Critic", "Devil’s Advocate"]);
  });
  it("is nobody where neither tells", () => {
    expect(behind("It is worth it.", points, advisors).how).toBeUndefined();
  });
});

describe("the closest sentence", () => {
  const text = "It saves hours. Move billing out this quarter, while its interface is small. Wait.";
  it("shares the words that tell something", () => {
    expect(closest("Billing is moved out this quarter.", text)).toBe(
      "Move billing out this quarter, while its interface is small.",
    );
  });
  it("is none where nothing is near", () => {
    expect(closest("Hire a second team for the nights.", text)).toBeUndefined();
  });
});
