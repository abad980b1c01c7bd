// A council as the server shows it, with as much of its thread as was asked for. After
// something has happened only what is new is read; older posts are read on demand.

import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import { asked, client, type Schemas } from "../api/client";
import { firstOf, lastOf, merge, NO_THREAD, type Thread } from "./entries";

export type CouncilView = Schemas["CouncilView"];
export type Member = Schemas["MemberView"];

export interface CouncilPage {
  view: CouncilView;
  thread: Thread;
}

/** Posts that are there at first, and that come with each step back. */
const PAGE = 60;
const READ_MOST = 200;

export function councilKey(council: string): string[] {
  return ["councils", council];
}

/** Posts after `since`, and the silences since then. */
async function read(
  council: string,
  since: number,
  limit: number,
): Promise<Schemas["CouncilPosts"]> {
  const params = { path: { council }, query: { since, limit } };
  return asked(client.GET("/api/councils/{council}/posts", { params }));
}

async function readToEnd(council: string, since: number): Promise<Thread> {
  let thread = NO_THREAD;
  let from = since;
  for (;;) {
    const page = await read(council, from, READ_MOST);
    thread = merge(thread, page);
    if (!page.more) return thread;
    from = page.since;
  }
}

function known(queries: QueryClient, council: string): CouncilPage | undefined {
  return queries.getQueryData<CouncilPage>(councilKey(council));
}

export function useCouncil(council: string) {
  const queries = useQueryClient();
  // Turns that have ended since the thread was read last: up to which post each had read.
  const ended = useRef<number[]>([]);

  const query = useQuery({
    queryKey: councilKey(council),
    // Posts do not change; comparing them with themselves would only take time.
    structuralSharing: false,
    queryFn: async ({ signal }): Promise<CouncilPage> => {
      const view = await asked(
        client.GET("/api/councils/{council}", { params: { path: { council } } }),
      );
      const before = known(queries, council);
      const turns = ended.current.length;
      if (before?.view.version === view.version && turns === 0) return before;
      const oldest = Math.min(...ended.current);
      const since = before ? Math.min(lastOf(before.thread), oldest - 1) : view.last - PAGE;
      const read = await readToEnd(council, Math.max(0, since));
      // What was read for nothing, because it is being asked anew, is read again then.
      if (!signal.aborted) ended.current.splice(0, turns);
      // Older posts may have come in while this was read.
      return { view, thread: merge(known(queries, council)?.thread ?? NO_THREAD, read) };
    },
  });

  /** Says that a turn that took in posts up to `upto` may have ended without a post. */
  const turnEnded = useCallback(
    (upto: number | undefined) => {
      const page = known(queries, council);
      const first = (page && firstOf(page.thread)) ?? 1;
      ended.current.push(Math.max(first, upto ?? first));
    },
    [queries, council],
  );

  /** Reads older posts, as far back as `to` or one page. */
  const readBack = useCallback(
    async (to?: number): Promise<void> => {
      const firstKnown = () => firstOf(known(queries, council)?.thread ?? NO_THREAD) ?? 1;
      const goal = Math.max(1, to ?? firstKnown() - PAGE);
      for (let first = firstKnown(); first > goal; first = firstKnown()) {
        const since = Math.max(goal - 1, first - 1 - READ_MOST, 0);
        const older = await read(council, since, first - 1 - since);
        const add = (now: CouncilPage | undefined) =>
          now && { ...now, thread: merge(now.thread, older) };
        queries.setQueryData<CouncilPage>(councilKey(council), add);
        if (older.posts.length === 0) return;
      }
    },
    [queries, council],
  );

  const renew = useCallback(
    () => void queries.invalidateQueries({ queryKey: councilKey(council) }),
    [queries, council],
  );
  return useMemo(
    () => ({ query, turnEnded, readBack, renew }),
    [query, turnEnded, readBack, renew],
  );
}
