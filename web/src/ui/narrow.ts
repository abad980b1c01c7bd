import { useSyncExternalStore } from "react";

const NARROW = "(max-width: 900px)";

/** Whether a window is too narrow for one thing beside another. */
export function useNarrow(query = NARROW): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = window.matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => window.matchMedia(query).matches,
  );
}
