// Sessions of every form: those that run, and those that wait for somebody.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Session = Schemas["SessionView"];

/** People whose reply is awaited there. */
export function waitsFor(session: Session): string[] {
  return session.waitsFor ?? [];
}

type Filter = Partial<Record<"q" | "kind" | "status", string>> & {
  active?: boolean;
  waiting?: boolean;
  limit?: number;
};

/** Newest first. Every list of sessions begins its key with `sessions`, so that news reach it. */
export function useSessions(filter: Filter) {
  return useQuery({
    queryKey: ["sessions", filter],
    queryFn: () => asked(client.GET("/api/sessions", { params: { query: filter } })),
  });
}

const SHOWN = 8;
/** So many are asked for that those which wait for somebody may be left out. */
const RECENT_ASKED = 14;

/** What goes on: what waits for somebody, what runs by itself, and what was lately. */
export function useGoingOn() {
  const awaited = useSessions({ waiting: true, limit: SHOWN });
  const active = useSessions({ active: true, limit: SHOWN });
  const others = useSessions({ active: false, limit: RECENT_ASKED });
  const isFree = (session: Session) => waitsFor(session).length === 0;
  return {
    waiting: awaited.data ?? [],
    running: active.data?.filter(isFree) ?? [],
    recent: others.data?.filter(isFree) ?? [],
    isKnown: active.data !== undefined && others.data !== undefined,
    error: active.error ?? others.error,
    retry: () => {
      void active.refetch();
      void others.refetch();
    },
  };
}
