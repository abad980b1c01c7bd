// What the operator may set while the server runs.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";

export type Pull = Schemas["Pull"];

const SETTINGS = ["settings"];
const POLL_MS = 700;

export function useSettings() {
  return useQuery({
    queryKey: SETTINGS,
    queryFn: () => asked(client.GET("/api/settings")),
    retry: false,
  });
}

export function useOffers() {
  return useQuery({
    queryKey: ["offers"],
    queryFn: () => asked(client.GET("/api/offers")),
    retry: false,
  });
}

/** Downloads; asked for again as long as one is under way. */
export function usePulls() {
  return useQuery({
    queryKey: ["pulls"],
    queryFn: () => asked(client.GET("/api/pulls")),
    retry: false,
    refetchInterval: ({ state }) => (state.data?.some(isUnderWay) ? POLL_MS : false),
  });
}

export function isUnderWay({ state }: Pull): boolean {
  return !["done", "failed", "stopped"].includes(state);
}

/** A change of the server's settings: models, tiers and prices may be others afterwards. */
export function useSet<Words, Answer>(send: (words: Words) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSuccess: () =>
      Promise.all(
        [SETTINGS, ["providers"], ["models"], ["tiers"], ["pulls"], ["offers"]].map((queryKey) =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  });
}

export function setKey({ provider, key }: { provider: string; key: string }) {
  const params = { path: { provider } };
  return asked(client.PUT("/api/settings/keys/{provider}", { params, body: { key } }));
}

export function removeKey(provider: string) {
  return asked(client.DELETE("/api/settings/keys/{provider}", { params: { path: { provider } } }));
}

export function setTiers(body: Schemas["NewTiers"]) {
  return asked(client.PUT("/api/settings/tiers", { body }));
}

export function setPrices(body: Schemas["NewPrices"]) {
  return asked(client.PUT("/api/settings/prices", { body }));
}

export function pull(model: string) {
  return asked(client.POST("/api/pulls", { body: { model } }));
}

export function stopPull(id: string) {
  return asked(client.DELETE("/api/pulls/{id}", { params: { path: { id } } }));
}

const BEGINNINGS: readonly (readonly [string, string])[] = [
  ["sk-ant-", "anthropic"],
  ["sk-or-", "openrouter"],
  ["AIza", "gemini"],
  ["sk-", "openai"],
];

/** Whose key it is, by how it begins. */
export function providerOf(key: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => key.trim().startsWith(beginning))?.[1];
}
