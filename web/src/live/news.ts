// What happens in all sessions, for lists and the rail. A page has one stream: while it
// follows a session of its own, the lists are asked again now and then instead.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { follow } from "./follow";
import { renewal, type Renewal } from "./renewal";

let claims = 0;
const listeners = new Set<() => void>();

function change(by: number): void {
  claims += by;
  for (const listener of listeners) listener();
}

/** Says that the page's one stream is in use. Call what it returns when it is free again. */
export function claim(): () => void {
  change(1);
  return () => change(-1);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const ASK_AGAIN_MS = 5_000;
const GATHER_MS = 250;

/** Keeps every query that begins with `sessions` fresh. */
export function useNews(): void {
  const queries = useQueryClient();
  const isClaimed = useSyncExternalStore(subscribe, () => claims > 0);
  useEffect(() => {
    const renewing = renewal(queries, () => [["sessions"]], GATHER_MS);
    const end = isClaimed ? everyNowAndThen(renewing) : followed(renewing);
    return () => {
      end();
      renewing.end();
    };
  }, [isClaimed, queries]);
}

function everyNowAndThen({ soon }: Renewal): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") soon();
  }, ASK_AGAIN_MS);
  return () => clearInterval(timer);
}

function followed({ soon }: Renewal): () => void {
  return follow({
    url: "/api/events",
    onFrame: soon,
    onConnection: (now) => {
      if (now === "live") soon();
    },
  });
}
