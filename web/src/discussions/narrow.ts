import { useSyncExternalStore } from "react";

const NARROW = window.matchMedia("(max-width: 720px)");

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener("change", listener);
  return () => NARROW.removeEventListener("change", listener);
}

/** There is room for one thing beside another no more. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => NARROW.matches);
}
