import { useSyncExternalStore } from "react";
import { ago, moment } from "./time";

const AGES_MS = 30_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all ages of a page. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (!timer) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const one of listeners) one();
  }, AGES_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** How long ago it was; "just now" ages while somebody looks on. */
export function Age({ at, className }: { at: string; className?: string }) {
  const words = useSyncExternalStore(subscribe, () => ago(at, Math.max(now, Date.parse(at))));
  return (
    <time className={className} dateTime={at} title={moment(at)}>
      {words}
    </time>
  );
}
