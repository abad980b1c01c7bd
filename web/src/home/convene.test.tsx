import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Router } from "wouter";
import { memoryLocation } from "wouter/memory-location";
import { remember, remembered } from "../stored";
import { LAST_BOARD, UNSENT, useConvene } from "./convene";

const QUESTION = { prompt: "Tea or coffee?", board: "peer-review" };
const REFUSED = { success: false, error: { code: "invalid-input", message: "No." } };

let keys: (string | null)[] = [];
let answers: (() => Promise<Response>)[] = [];

beforeEach(() => {
  keys = [];
  answers = [];
  vi.stubGlobal("fetch", (request: Request) => {
    keys.push(request.headers.get("Idempotency-Key"));
    return answers.shift()?.() ?? Promise.reject(new TypeError("no answer"));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  localStorage.clear();
});

const made = () => Promise.resolve(json({ success: true, data: { id: "7" } }, 201));
const silent = () => Promise.reject(new TypeError("failed"));
const proxy = () => Promise.resolve(json({}, 504));
const refused = () => Promise.resolve(json(REFUSED, 422));

function json(body: unknown, status: number): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json" },
  });
}

function rendered() {
  const location = memoryLocation({ path: "/", record: true });
  const queries = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>
      <Router hook={location.hook}>{children}</Router>
    </QueryClientProvider>
  );
  const { result } = renderHook(() => useConvene(), { wrapper });
  const press = (question = QUESTION) => act(() => result.current.convene(question));
  const isIdle = () => waitFor(() => expect(result.current.isConvening).toBe(false));
  return { result, press, isIdle, visited: location.history };
}

it("makes one board of two quick presses, and goes there", async () => {
  answers = [made, made];
  const { result, visited } = rendered();
  act(() => {
    result.current.convene(QUESTION);
    result.current.convene(QUESTION);
  });
  await waitFor(() => expect(visited).toEqual(["/", "/boardrooms/7"]));
  expect(remembered(LAST_BOARD, "")).toBe("peer-review");
  expect(keys).toHaveLength(1);
});

it("sends the same words under the same key after silence", async () => {
  answers = [silent, made];
  const { press, isIdle, result } = rendered();
  press();
  await waitFor(() => expect(result.current.error).not.toBeNull());
  await isIdle();
  press();
  await waitFor(() => expect(keys).toHaveLength(2));
  expect(keys[0]).toBe(keys[1]);
});

it("sends the same words under the same key after a proxy's answer", async () => {
  answers = [proxy, made];
  const { press, isIdle, result } = rendered();
  press();
  await waitFor(() => expect(result.current.error).not.toBeNull());
  await isIdle();
  press();
  await waitFor(() => expect(keys).toHaveLength(2));
  expect(keys[0]).toBe(keys[1]);
});

it("takes a new key for other words, and after a refusal", async () => {
  answers = [silent, refused, refused];
  const { press, isIdle, result } = rendered();
  press();
  await waitFor(() => expect(result.current.error).not.toBeNull());
  await isIdle();
  press({ ...QUESTION, prompt: "Coffee or tea?" });
  await waitFor(() => expect(keys).toHaveLength(2));
  await isIdle();
  press({ ...QUESTION, prompt: "Coffee or tea?" });
  await waitFor(() => expect(keys).toHaveLength(3));
  expect(new Set(keys).size).toBe(3);
});

it("forgets what was sent, and keeps what is being written meanwhile", async () => {
  answers = [made, made];
  remember(UNSENT, QUESTION.prompt);
  const first = rendered();
  first.press();
  await waitFor(() => expect(remembered(UNSENT, "gone")).toBe("gone"));
  remember(UNSENT, "Something else");
  const second = rendered();
  second.press();
  await waitFor(() => expect(keys).toHaveLength(2));
  await second.isIdle();
  expect(remembered(UNSENT, "gone")).toBe("Something else");
});

it("asks nothing about nothing", () => {
  const { press } = rendered();
  press({ ...QUESTION, prompt: "  \n" });
  expect(keys).toEqual([]);
});
