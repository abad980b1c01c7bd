// Whoever looks elsewhere learns, slowly, that something waits for a person: by a number in the
// title of the tab, and by a notification where they have asked for that.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { remembered } from "../stored";
import { awaitedPage, OVERVIEW, useGoingOn, waitsFor, type Session } from "./sessions";
import { useCountInTitle } from "./title";

/** Whether this browser shows notifications; it has to allow them as well. */
export const NOTIFY = "notify";
/** A tab that nobody looks at follows no stream, so that it has to ask. */
const SELDOM_MS = 60_000;

export function useWaitingTold(): void {
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { waiting, isKnown } = useGoingOn();
  const told = useRef<ReadonlySet<string>>(undefined);
  useCountInTitle(waiting.length);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.hidden) void queries.invalidateQueries({ queryKey: OVERVIEW });
    }, SELDOM_MS);
    return () => clearInterval(timer);
  }, [queries]);
  useEffect(() => {
    if (!isKnown) return;
    const before = told.current;
    told.current = new Set(waiting.map(awaited));
    // What waited when the page was opened is no news, and whoever looks at it sees it.
    if (!before || !document.hidden || !remembered(NOTIFY, false)) return;
    for (const session of waiting) {
      if (!before.has(awaited(session))) notify(session, () => go(awaitedPage(session)));
    }
  }, [waiting, isKnown, go]);
}

/** Who is awaited where: the same session may wait for one after the other. */
function awaited(session: Session): string {
  return JSON.stringify([session.id, ...waitsFor(session)]);
}

function notify(session: Session, open: () => void): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    // Of several tabs that tell the same, the browser shows one.
    const notification = new Notification(`Waiting for ${waitsFor(session).join(", ")}`, {
      body: session.title,
      tag: session.id,
    });
    notification.onclick = () => {
      window.focus();
      notification.close();
      open();
    };
  } catch {
    // Browsers of phones let only a worker show one; the title says it all the same.
  }
}
