// Where models come from, in plain words.

import { useQuery } from "@tanstack/react-query";
import { asked, client, type Schemas } from "../api/client";
import { some } from "../ui/time";

export type Provider = Schemas["ProviderView"];

const LOOK_AGAIN_MS = 5_000;

/** Looks again by itself as long as there is nothing to ask. */
export function useProviders() {
  return useQuery({
    queryKey: ["providers"],
    queryFn: () => asked(client.GET("/api/providers")),
    refetchInterval: ({ state }) =>
      state.data && !state.data.some(canAnswer) ? LOOK_AGAIN_MS : false,
  });
}

export function canAnswer(provider: Provider): boolean {
  return provider.ready && provider.models.length > 0;
}

const NAMES: Record<string, string> = {
  ollama: "Ollama",
  openai: "OpenAI",
  anthropic: "Anthropic",
  gemini: "Gemini",
  openrouter: "OpenRouter",
  local: "The embedded model",
};

export function providerName(provider: Provider): string {
  return NAMES[provider.name] ?? provider.name;
}

/** "Ready with 4 models: llama3.2, qwen3, …" */
export function readyWith(provider: Provider, shown = 3): string {
  const names = provider.models.slice(0, shown).join(", ");
  const rest = provider.models.length > shown ? ", …" : "";
  return `Ready with ${some(provider.models.length, "model")}: ${names}${rest}`;
}
