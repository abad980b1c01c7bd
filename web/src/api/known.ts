// What the server knows and every page may ask for: its models, its presets, its limits.
// One key and one time for each, so that two pages never disagree about the same thing.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "./client";

export type Provider = Schemas["ProviderView"];
export type Model = Schemas["ModelView"];

/** What ships with the server is the same for as long as the page is open. */
const SHIPPED = { staleTime: Infinity };
/** Models come and go while somebody sets up their server. */
const CHANGING = { staleTime: 15_000 };
const LOOK_AGAIN_MS = 5_000;

function known<T>(queryKey: string[], queryFn: () => Promise<T>, when: { staleTime: number }) {
  return () => useQuery({ queryKey, queryFn, ...when });
}

export const useLimits = known(["limits"], () => asked(client.GET("/api/limits")), SHIPPED);

/** Boards, roles and sample prompts. */
export const useBoardPresets = known(
  ["presets", "boardrooms"],
  () => asked(client.GET("/api/boardrooms/presets")),
  SHIPPED,
);

/** Boards that can be convened: those that ship with the server, then saved ones. */
export const boardsQuery = {
  queryKey: ["boards"],
  queryFn: () => asked(client.GET("/api/boards")),
  ...CHANGING,
};
export const useBoards = () => useQuery(boardsQuery);

/** Formats, and who usually leads and takes part in each. */
export const useDiscussionPresets = known(
  ["presets", "discussions"],
  () => asked(client.GET("/api/discussions/presets")),
  SHIPPED,
);

export const useModels = known(["models"], () => asked(client.GET("/api/models")), CHANGING);

/** Those that seats get, one after the other, for which nobody names a model. */
export function seatedInTurn(models: readonly Model[]): string[] {
  return models.filter(({ automatic }) => automatic).map(({ name }) => name);
}

export const useTiers = known(["tiers"], () => asked(client.GET("/api/tiers")), CHANGING);

/** Looks again by itself as long as there is nothing to ask. */
export function useProviders() {
  return useQuery({
    queryKey: ["providers"],
    queryFn: () => asked(client.GET("/api/providers")),
    ...CHANGING,
    refetchInterval: ({ state }) =>
      state.data && !state.data.some(canAnswer) ? LOOK_AGAIN_MS : false,
  });
}

export function canAnswer(provider: Provider): boolean {
  return provider.ready && provider.models.length > 0;
}
