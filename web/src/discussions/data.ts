// What the pages of a discussion ask the server for.

import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import type { Entry, View } from "./words";

const MOST_OF_A_PAGE = 200;

/** A discussion with what has been said in it: always of one moment. */
export interface Known {
  view: View;
  entries: readonly Entry[];
}

export function useDiscussion(id: string) {
  const queries = useQueryClient();
  return useQuery({
    queryKey: ["discussions", id],
    queryFn: ({ signal }) => read(queries, id, signal),
    structuralSharing: false,
  });
}

async function read(queries: QueryClient, id: string, signal: AbortSignal): Promise<Known> {
  const path = { id };
  const view = await asked(client.GET("/api/discussions/{id}", { params: { path }, signal }));
  const before = queries.getQueryData<Known>(["discussions", id])?.entries ?? [];
  const entries = settled(before);
  let more = entries.length < view.entries;
  while (more) {
    const query = { since: entries.length, limit: MOST_OF_A_PAGE };
    const page = await asked(
      client.GET("/api/discussions/{id}/transcript", { params: { path, query }, signal }),
    );
    entries.push(...page.entries);
    more = page.more && entries.length < view.entries;
  }
  // What came after the view was read belongs to the next one.
  return { view, entries: entries.slice(0, view.entries) };
}

/** How far back a text may still be on its way. */
const RECENT = 3;

/**
 * What will not change any more. A step that was broken off stands in the transcript at
 * once; what it had brought comes a little later.
 */
export function settled(entries: readonly Entry[]): Entry[] {
  const open = entries.findIndex(
    (entry, place) =>
      place >= entries.length - RECENT && entry.status === "stopped" && entry.content === undefined,
  );
  return entries.slice(0, open < 0 ? entries.length : open);
}
