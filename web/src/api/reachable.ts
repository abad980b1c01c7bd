// Whether the server answers at all. One request without an answer is only a suspicion (a
// page that is left breaks its requests too); the banner of the shell asks again before it
// says anything.

import { useSyncExternalStore } from "react";

let suspected = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  if (suspected === value) return;
  suspected = value;
  for (const listener of listeners) listener();
}

export function serverWasSilent(): void {
  set(true);
}

export function serverAnswered(): void {
  set(false);
}

/** What a proxy says when the server behind it is gone. */
export function isFromProxy(status: number): boolean {
  return status === 502 || status === 504;
}

export function useServerSuspected(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => suspected,
  );
}
