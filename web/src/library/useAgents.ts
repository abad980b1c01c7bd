import { useInfiniteQuery, useQuery, type QueryClient } from "@tanstack/react-query";
import { asked, client, whole, type Schemas } from "../api/client";

export type Agent = Schemas["StoredAgent"];

const PAGE = 100;

/** Agents page by page, those that ship with Plenary first; without their personas. */
export function useAgents(filter: { facilitator?: boolean; q?: string }) {
  return useInfiniteQuery({
    queryKey: ["agents", "list", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = {
        ...filter,
        limit: PAGE,
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return whole(client.GET("/api/agents", { params: { query } }));
    },
    getNextPageParam: (page) => page.meta?.next,
    // The cards stay while somebody types in the search.
    placeholderData: (before) => before,
  });
}

const MOST_OF_A_PAGE = 200;
const RARELY_MS = 60_000;

/** Every stored agent, those that ship with Plenary first. */
export function useEveryAgent() {
  return useQuery({ queryKey: ["agents", "every"], queryFn: everyAgent, staleTime: RARELY_MS });
}

async function everyAgent(): Promise<Agent[]> {
  const agents: Agent[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: MOST_OF_A_PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await whole(client.GET("/api/agents", { params: { query } }));
    agents.push(...page.data);
    cursor = page.meta?.next ?? undefined;
  } while (cursor !== undefined);
  return agents;
}

function agentQuery(id: string) {
  return {
    queryKey: ["agents", "one", id],
    queryFn: () => asked(client.GET("/api/agents/{id}", { params: { path: { id } } })),
  };
}

/** One agent with its persona. */
export function useAgent(id: string) {
  return useQuery(agentQuery(id));
}

export function fetchAgent(queries: QueryClient, id: string): Promise<Agent> {
  return queries.fetchQuery(agentQuery(id));
}
