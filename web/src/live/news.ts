// What happens in all sessions, for lists and the rail.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { renewal } from "./renewal";
import { share } from "./shared";

const GATHER_MS = 250;

/** Keeps every query that begins with `sessions` fresh. */
export function useNews(): void {
  const queries = useQueryClient();
  useEffect(() => {
    const renewing = renewal(queries, () => [["sessions"]], GATHER_MS);
    const end = share({
      url: "/api/events",
      onFrame: renewing.soon,
      onConnection: (now) => {
        if (now === "live") renewing.soon();
      },
    });
    return () => {
      end();
      renewing.end();
    };
  }, [queries]);
}
