import { expect, it } from "vitest";
import { providerOf } from "./operator";

it("knows whose key it is", () => {
  const check = (key: string, provider: string | undefined) =>
    expect(providerOf(key)).toBe(provider);
  check("sk-ant-abc", "anthropic");
  check("sk-or-v1-abc", "openrouter");
  check("AIzaSyAbc", "gemini");
  check(" sk-proj-abc", "openai");
  check("hello", undefined);
});
