import { QueryClient } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { boardKey, type Board } from "./board";
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
    show(queries, { id: "1", version } as Board);
    expect(shown()).toBe(expected);
  }
});
