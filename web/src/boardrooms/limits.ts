// The server's limits, so that what is too much is said before it is sent.

import { useQuery } from "@tanstack/react-query";
import { asked, client } from "../api/client";

export interface BoardLimits {
  advisors: number;
  files: number;
  fileBytes: number;
  allBytes: number;
}

/** Until the server has told its own. */
export const USUAL: BoardLimits = {
  advisors: 16,
  files: 16,
  fileBytes: 512 * 1024,
  allBytes: 1024 * 1024,
};

export function useLimits(): BoardLimits {
  const told = useQuery({
    queryKey: ["limits"],
    queryFn: () => asked(client.GET("/api/limits")),
    staleTime: Infinity,
  }).data;
  return {
    advisors: told?.boardroom["advisors"]?.most ?? USUAL.advisors,
    files: told?.context["files"]?.most ?? USUAL.files,
    fileBytes: told?.context["file"]?.most ?? USUAL.fileBytes,
    allBytes: told?.context["together"]?.most ?? USUAL.allBytes,
  };
}
