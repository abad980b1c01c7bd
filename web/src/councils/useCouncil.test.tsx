import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useCouncil } from "./useCouncil";

/** A server with one council, whose answers wait until they are let go. */
const council = { version: 1, last: 0, silences: [] as { member: string; upto: number }[] };
let asked: string[] = [];
let held: (() => void)[] | undefined;
let taken = 0;

function answer(url: URL): unknown {
  if (!url.pathname.endsWith("/posts")) return { ...council, status: "open", members: [] };
  const since = Number(url.searchParams.get("since"));
  const end = Math.min(council.last, since + Number(url.searchParams.get("limit")));
  const posts = Array.from({ length: end - since }, (_, index) => ({
    sequence: since + index + 1,
  }));
  const silences = council.silences.filter((silence) => silence.upto > since);
  return { posts, silences, changes: [], since: end, more: end < council.last };
}

/** Says when somebody has read it. */
function counted(response: Response): Response {
  const text = response.text.bind(response);
  const read = async () => {
    const body = await text();
    taken += 1;
    return body;
  };
  return Object.assign(response, { text: read, json: async () => JSON.parse(await read()) });
}

beforeEach(() => {
  Object.assign(council, { version: 1, last: 0, silences: [] });
  asked = [];
  held = undefined;
  taken = 0;
  vi.stubGlobal("fetch", async (request: Request) => {
    const url = new URL(request.url);
    asked.push(url.pathname.endsWith("/posts") ? `posts${url.search}` : "view");
    if (held) await new Promise<void>((letGo) => held?.push(letGo));
    return counted(Response.json({ success: true, data: answer(url) }));
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function open() {
  const queries = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  return renderHook(() => useCouncil("plan"), { wrapper });
}

function sequences(hook: ReturnType<typeof open>): number[] | undefined {
  return hook.result.current.query.data?.thread.posts.map((post) => post.sequence);
}

test("the newest posts come first, new ones alone, and older ones on demand", async () => {
  council.last = 150;
  const hook = open();
  await waitFor(() => expect(sequences(hook)?.[0]).toBe(91));
  Object.assign(council, { version: 2, last: 151 });
  act(() => hook.result.current.renew());
  await waitFor(() => expect(sequences(hook)?.at(-1)).toBe(151));
  await act(() => hook.result.current.readBack());
  await waitFor(() => expect(sequences(hook)?.[0]).toBe(31));
  expect(asked.filter((one) => one !== "view")).toEqual([
    "posts?since=90&limit=200",
    "posts?since=150&limit=200",
    "posts?since=30&limit=60",
  ]);
});

test("nothing is read when nothing has happened", async () => {
  council.last = 3;
  const hook = open();
  await waitFor(() => expect(sequences(hook)).toEqual([1, 2, 3]));
  asked = [];
  act(() => hook.result.current.renew());
  await waitFor(() => expect(hook.result.current.query.isFetching).toBe(false));
  expect(asked).toEqual(["view"]);
});

test("a turn that ended without a post is read, also when the first reading was given up", async () => {
  council.last = 3;
  const hook = open();
  await waitFor(() => expect(sequences(hook)).toEqual([1, 2, 3]));
  Object.assign(council, { version: 2, silences: [{ member: "Skeptic", upto: 2 }] });
  held = [];
  act(() => {
    hook.result.current.turnEnded(2);
    hook.result.current.renew();
  });
  await waitFor(() => expect(held).toHaveLength(1));
  held.shift()?.();
  // The view is here and the posts are under way when it is asked anew.
  await waitFor(() => expect(held).toHaveLength(1));
  act(() => hook.result.current.renew());
  await waitFor(() => expect(held).toHaveLength(2));
  const before = taken;
  held.shift()?.();
  await waitFor(() => expect(taken).toBe(before + 1));
  held.shift()?.();
  await waitFor(() => expect(held).toHaveLength(1));
  held.shift()?.();
  await waitFor(() =>
    expect(hook.result.current.query.data?.thread.silences).toEqual(council.silences),
  );
});
