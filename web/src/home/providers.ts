// Where models come from, in plain words.

import type { Provider } from "../api/known";
import { some } from "../ui/time";

const NAMES: Record<string, string> = {
  ollama: "Ollama",
  openai: "OpenAI",
  anthropic: "Anthropic",
  gemini: "Gemini",
  openrouter: "OpenRouter",
  local: "Embedded model",
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
