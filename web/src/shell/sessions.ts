// Sessions of every form: those that run, and those that wait for somebody.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";
import { pageOf } from "../session/kinds";

export type Session = Schemas["SessionView"];

/** People whose reply is awaited there. */
export function waitsFor(session: Session): string[] {
  return session.waitsFor ?? [];
}

/** The page on which whoever is awaited acts. */
export function awaitedPage(session: Session): string {
  return `${pageOf(session)}${session.kind === "workflow" ? "/decide" : ""}`;
}

type Filter = Partial<Record<"q" | "kind" | "status", string>> & {
  limit?: number;
};

/** Newest first. Every list of sessions begins its key with `sessions`, so that news reach it. */
export function useSessions(filter: Filter) {
  return useQuery({
    queryKey: ["sessions", filter],
    queryFn: () => asked(client.GET("/api/sessions", { params: { query: filter } })),
  });
}

export const OVERVIEW = ["sessions", "overview"];

/** What goes on: what waits for somebody, what runs by itself, and what was lately. */
export function useGoingOn() {
  const overview = useQuery({
    queryKey: OVERVIEW,
    queryFn: () => asked(client.GET("/api/overview")),
  });
  return {
    waiting: overview.data?.waiting ?? [],
    running: overview.data?.running ?? [],
    recent: overview.data?.recent ?? [],
    isKnown: overview.data !== undefined,
    error: overview.error,
    retry: () => void overview.refetch(),
  };
}
