// Sessions of every form: where they are, and those that run.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Session = Schemas["SessionView"];

/** People who are asked something there; none where the server does not say. */
export function waitsFor(session: Session & { waitsFor?: string[] }): string[] {
  return session.waitsFor ?? [];
}

const PLACES: Record<string, string> = {
  boardroom: "boardrooms",
  discussion: "discussions",
  whiteboard: "whiteboards",
  council: "councils",
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
  limit?: number;
};

/** Newest first. Every list of sessions begins its key with `sessions`, so that news reach it. */
export function useSessions(filter: Filter) {
  return useQuery({
    queryKey: ["sessions", filter],
    queryFn: () => asked(client.GET("/api/sessions", { params: { query: filter } })),
  });
}
