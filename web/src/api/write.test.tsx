import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { remember, remembered } from "../stored";
import { Problem } from "./client";
import { forgetSent, useWrite } from "./write";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

const NAME = "interjection.1";

/** Each sending waits until it is answered. */
function rendered(place?: string) {
  const keys: string[] = [];
  const pending: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = [];
  const queries = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  const hook = renderHook(
    () =>
      useWrite(
        (_: string, key) => {
          keys.push(key["Idempotency-Key"]);
          return new Promise<string>((resolve, reject) => pending.push({ resolve, reject }));
        },
        {
          ...(place !== undefined && { place }),
          onSent: (_, words) => forgetSent<string>(NAME, (kept) => kept.trim() === words),
        },
      ),
    { wrapper },
  );
  const send = async (words: string) => {
    const before = keys.length;
    act(() => hook.result.current.mutate(words));
    await waitFor(() => expect(keys).toHaveLength(before + 1));
  };
  const fail = async (error: Error) => {
    act(() => pending.shift()?.reject(error));
    await waitFor(() => expect(hook.result.current.error).toBe(error));
  };
  const succeed = async () => {
    act(() => pending.shift()?.resolve("done"));
    await waitFor(() => expect(hook.result.current.isSuccess).toBe(true));
  };
  return { ...hook, keys, pending, send, fail, succeed };
}

it("sends the same words under the same key until they are answered", async () => {
  const { keys, send, fail, succeed } = rendered();
  await send("a");
  await fail(new Problem(0, "unreachable", "Silence."));
  await send("a");
  await fail(new Problem(502, "unexpected", "A proxy."));
  await send("a");
  await fail(new TypeError("The answer broke off."));
  await send("a");
  await succeed();
  expect(new Set(keys).size).toBe(1);
  await send("a");
  await fail(new Problem(0, "unreachable", "Silence."));
  await send("b");
  expect(new Set(keys).size).toBe(3);
});

it("keeps the key beside the words, for a page that is loaded again", async () => {
  const before = rendered(NAME);
  await before.send("a");
  await before.fail(new Problem(504, "unexpected", "A proxy."));
  before.unmount();
  const after = rendered(NAME);
  await after.send("a");
  expect(after.keys).toEqual(before.keys);
  await after.succeed();
  await after.send("a");
  expect(after.keys[1]).not.toBe(after.keys[0]);
  expect(rendered("elsewhere").keys).toEqual([]);
});

it("keeps the key while the server only asks to come back later", async () => {
  const { keys, send, fail } = rendered(NAME);
  for (const status of [408, 429]) {
    await send("a");
    await fail(new Problem(status, "busy", "Later."));
  }
  await send("a");
  expect(new Set(keys).size).toBe(1);
});

it("takes a new key after a refusal", async () => {
  const { keys, send, fail } = rendered();
  await send("a");
  await fail(new Problem(422, "invalid-input", "No."));
  await send("a");
  expect(keys[1]).not.toBe(keys[0]);
});

it("forgets what was sent, also when the page was left", async () => {
  const { send, unmount, pending } = rendered();
  remember(NAME, "a ");
  await send("a");
  unmount();
  pending.shift()?.resolve("done");
  await waitFor(() => expect(remembered(NAME, "gone")).toBe("gone"));
});

it("keeps what was written while it was sent", async () => {
  const { send, succeed } = rendered();
  remember(NAME, "a");
  await send("a");
  remember(NAME, "a and b");
  await succeed();
  expect(remembered(NAME, "gone")).toBe("a and b");
});
