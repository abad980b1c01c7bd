import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Frame } from "./follow";
import { HIDDEN_MS, PLACES, Sharing } from "./shared";

/** A stream that the server holds open. */
interface Open {
  url: string;
  after: string | null;
  send: (frame: Frame) => void;
}

let open: Open[] = [];
let opened = 0;
let visibility: DocumentVisibilityState = "visible";

beforeEach(() => {
  vi.useFakeTimers();
  open = [];
  opened = 0;
  visibility = "visible";
  vi.spyOn(document, "visibilityState", "get").mockImplementation(() => visibility);
  vi.stubGlobal("fetch", (url: string, { headers, signal }: RequestInit) => {
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const stream: Open = {
          url,
          after: new Headers(headers).get("Last-Event-ID"),
          send: ({ id, event, data }) =>
            controller.enqueue(encoder.encode(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`)),
        };
        open.push(stream);
        opened += 1;
        signal?.addEventListener("abort", () => {
          open = open.filter((one) => one !== stream);
          controller.close();
        });
      },
    });
    return Promise.resolve(new Response(body));
  });
  vi.stubGlobal("BroadcastChannel", Channel);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

class Channel {
  static all = new Set<Channel>();
  onmessage: ((event: { data: unknown }) => void) | undefined;
  constructor() {
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    for (const one of Channel.all) {
      if (one !== this) void Promise.resolve().then(() => one.onmessage?.({ data }));
    }
  }
  close(): void {
    Channel.all.delete(this);
  }
}

/** One lock, in the order in which it was asked for. */
function theLock(): LockManager {
  type Waiting = { run: () => Promise<void> | undefined; reject: (error: Error) => void };
  const queue: Waiting[] = [];
  let holder: Waiting | undefined;
  const next = () => {
    const waiting = queue.shift();
    holder = waiting;
    if (!waiting) return;
    void Promise.resolve(waiting.run()).then(() => {
      if (holder === waiting) next();
    });
  };
  return {
    request: (_: string, { signal, steal }: LockOptions, run: Waiting["run"]) =>
      new Promise<void>((_resolve, reject) => {
        const mine = { run, reject };
        signal?.addEventListener("abort", () => {
          const at = queue.indexOf(mine);
          if (at >= 0) queue.splice(at, 1);
        });
        if (steal) {
          holder?.reject(new DOMException("stolen", "AbortError"));
          queue.unshift(mine);
          next();
        } else {
          queue.push(mine);
          if (!holder) next();
        }
      }),
  } as unknown as LockManager;
}

function tab(locks: LockManager, url: string, after = "0") {
  const seen: string[] = [];
  const end = new Sharing(locks).follow({ url, after, onFrame: ({ id }) => seen.push(id ?? "") });
  return { seen, end };
}

const settle = (ms = 100) => vi.advanceTimersByTimeAsync(ms);
const event = (id: number): Frame => ({ id: String(id), event: "posted", data: "{}" });

it("is read once for all tabs, and each hears what it has not seen", async () => {
  const locks = theLock();
  const one = tab(locks, "/a");
  await settle();
  open[0]?.send(event(1));
  await settle();
  // Whoever comes later begins where its page stands, and nobody hears anything twice.
  const other = tab(locks, "/a", "0");
  await settle();
  expect(open.map(({ url, after }) => [url, after])).toEqual([["/a", "0"]]);
  open[0]?.send(event(1));
  open[0]?.send(event(2));
  await settle();
  expect([one.seen, other.seen]).toEqual([
    ["1", "2"],
    ["1", "2"],
  ]);
  one.end();
  other.end();
  expect(open).toEqual([]);
});

it("goes on without a gap when the tab that reads is closed", async () => {
  const locks = theLock();
  const one = tab(locks, "/a");
  const other = tab(locks, "/a");
  await settle();
  open[0]?.send(event(1));
  await settle();
  one.end();
  await settle();
  expect(open.map(({ after }) => after)).toEqual(["1"]);
  open[0]?.send(event(2));
  await settle();
  expect(other.seen).toEqual(["1", "2"]);
  other.end();
});

it("takes over from a tab that has fallen asleep", async () => {
  const locks = theLock();
  const asleep: string[] = [];
  // It has the lock, and says nothing.
  locks
    .request("plenary.live", {}, () => new Promise<void>(() => asleep.push("reads")))
    .catch(() => asleep.push("robbed"));
  const awake = tab(locks, "/a");
  await settle();
  expect([asleep, open]).toEqual([["reads"], []]);
  await settle(30_000);
  expect([asleep.at(-1), open.map(({ url }) => url)]).toEqual(["robbed", ["/a"]]);
  awake.end();
});

it("lets more streams than there are places take turns", async () => {
  const locks = theLock();
  const tabs = Array.from({ length: 9 }, (_, at) => tab(locks, `/${at}`));
  const served = new Set<string>();
  for (let seconds = 0; seconds < 12; seconds += 1) {
    await settle(1_000);
    expect(open).toHaveLength(PLACES);
    for (const { url } of open) served.add(url);
  }
  expect(served.size).toBe(9);
  for (const one of tabs) one.end();
});

it("is given back when nobody has looked for a while, and taken again", async () => {
  const one = tab(theLock(), "/a");
  await settle();
  visibility = "hidden";
  document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  expect(open).toHaveLength(1);
  await settle(HIDDEN_MS);
  expect(open).toHaveLength(0);
  visibility = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
  await settle();
  expect(open).toHaveLength(1);
  expect(opened).toBeGreaterThan(1);
  one.end();
});

it("without locks each tab reads for itself", async () => {
  const tabs = [tab(undefined as never, "/a"), tab(undefined as never, "/a")];
  await settle();
  expect(open).toHaveLength(2);
  for (const one of tabs) one.end();
});
