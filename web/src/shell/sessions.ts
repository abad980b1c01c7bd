// Sessions of every form: where they are, and those that run.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Session = Schemas["SessionView"];

/** People whose reply is awaited there. */
export function waitsFor(session: Session): string[] {
  return session.waitsFor ?? [];
}

const PLACES: Record<string, string> = {
  boardroom: "boardrooms",
  discussion: "discussions",
  whiteboard: "whiteboards",
  council: "councils",
  workflow: "runs",
};

/** The page of a session. */
export function pageOf(session: Pick<Session, "id" | "kind" | "name">): string {
  return `/${PLACES[session.kind] ?? "history"}/${encodeURIComponent(session.name ?? session.id)}`;
}

/** The record of a session as a document. */
export function exportOf(session: Pick<Session, "id" | "kind" | "name">): string {
  return `/api${pageOf(session)}/export?format=markdown`;
}

/** What a form is called on screen. */
export function kindName(kind: string): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
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
