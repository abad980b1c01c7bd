import { expect, it } from "vitest";
import { draftPlace } from "./board";

it("keeps the drafts of boards and agents apart, whatever dots their names have", () => {
  const as = (name: string) => ({ name, role: "specialist" as const, token: "t" });
  const places = [
    draftPlace({ board: "a", me: as("b.c") }, "post"),
    draftPlace({ board: "a.b", me: as("c") }, "post"),
    draftPlace({ board: "a", me: undefined }, "b.c", "post"),
    draftPlace({ board: "a", me: as("b") }, "c", "post"),
    draftPlace({ board: "a", me: as("b/c") }, "post"),
  ];
  expect(new Set(places).size).toBe(places.length);
});
