import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { boardKey, type Advisor, type Board } from "./board";
import { show } from "./commands";

it("shows the newest of a board, in whatever order the answers come", () => {
  const queries = new QueryClient();
  const shown = () => queries.getQueryData<Board>(boardKey("1"))?.version;
  for (const [version, expected] of [
    [3, 3],
    [5, 5],
    [4, 5],
    [6, 6],
  ]) {
    show(queries, { id: "1", version, advisors: [] as Advisor[] } as Board);
    expect(shown()).toBe(expected);
  }
});

it("shows nothing that a person has not seen who is to answer unswayed", () => {
  const queries = new QueryClient();
  const advisors = [
    { id: 1, status: "done" },
    { id: 2, status: "waiting" },
  ] as Advisor[];
  show(queries, { id: "1", version: 1, advisors } as Board);
  expect(queries.getQueryData(boardKey("1"))).toBeUndefined();
});
