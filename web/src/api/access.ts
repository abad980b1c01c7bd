// Whether the server wants a token that this browser has not given yet.

import { useSyncExternalStore } from "react";

let wanted = false;
const listeners = new Set<() => void>();

function set(value: boolean): void {
  if (wanted === value) return;
  wanted = value;
  for (const listener of listeners) listener();
}

export function tokenIsWanted(): void {
  set(true);
}

export function tokenWasTaken(): void {
  set(false);
}

export function useTokenWanted(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => wanted,
  );
}
