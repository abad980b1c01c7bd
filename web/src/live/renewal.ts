// Asks again for what is on screen, one time after the other.

import type { QueryClient, QueryKey } from "@tanstack/react-query";

export interface Renewal {
  soon: () => void;
  end: () => void;
}

/** What takes long is asked for less often: the page has other things to do in between. */
const PAUSE = 2;

/** A tab that nobody looks at only has to learn that something waits for its person. */
const HIDDEN_MS = 10_000;

/**
 * Events that come close together make one request, and a request under way is never thrown
 * away: else a page on which much happens would not be renewed before it is quiet.
 */
export function renewal(
  queries: QueryClient,
  keys: () => readonly QueryKey[],
  gatherMs: number,
): Renewal {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let isStale = false;
  let hasEnded = false;
  let tookMs = 0;

  async function ask(): Promise<void> {
    timer = undefined;
    isAsking = true;
    const began = performance.now();
    // What was asked for before may not know of the event yet.
    isStale = keys().some((queryKey) => queries.isFetching({ queryKey }) > 0);
    await Promise.allSettled(
      keys().map((queryKey) => queries.invalidateQueries({ queryKey }, { cancelRefetch: false })),
    );
    isAsking = false;
    tookMs = performance.now() - began;
    if (isStale) soon();
  }

  function soon(): void {
    if (hasEnded) return;
    const least = document.hidden ? HIDDEN_MS : gatherMs;
    if (isAsking) isStale = true;
    else timer ??= setTimeout(() => void ask(), Math.max(least, PAUSE * tookMs));
  }

  function shown(): void {
    if (timer === undefined || document.hidden) return;
    clearTimeout(timer);
    void ask();
  }
  document.addEventListener("visibilitychange", shown);

  function end(): void {
    hasEnded = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", shown);
  }
  return { soon, end };
}
