import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { renewal } from "./renewal";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server whose answer takes 100 ms and tells what was true when it was asked. */
function watched() {
  const server = { truth: 0, asked: 0 };
  const queries = new QueryClient();
  const observer = new QueryObserver(queries, {
    queryKey: ["it"],
    queryFn: async () => {
      server.asked += 1;
      const { truth } = server;
      await new Promise((done) => setTimeout(done, 100));
      return truth;
    },
  });
  const end = observer.subscribe(() => undefined);
  const shown = () => queries.getQueryData(["it"]);
  return { server, queries, shown, end };
}

test("events faster than answers are shown all the same, by few requests", async () => {
  const { server, queries, shown, end } = watched();
  await vi.advanceTimersByTimeAsync(200);
  const renewing = renewal(queries, () => [["it"]], 60);
  const seen = new Set();
  for (let at = 1; at <= 100; at += 1) {
    server.truth = at;
    renewing.soon();
    await vi.advanceTimersByTimeAsync(20);
    seen.add(shown());
  }
  expect(seen.size).toBeGreaterThan(5);
  expect(server.asked).toBeLessThan(20);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(shown()).toBe(100);
  renewing.end();
  end();
});

test("an answer that was asked for before an event is not the last word", async () => {
  const { server, queries, shown, end } = watched();
  const renewing = renewal(queries, () => [["it"]], 10);
  await vi.advanceTimersByTimeAsync(50);
  server.truth = 7;
  renewing.soon();
  await vi.advanceTimersByTimeAsync(500);
  expect(shown()).toBe(7);
  renewing.end();
  end();
});

test("a tab that nobody looks at asks seldom, and at once when it is shown", async () => {
  const { server, queries, shown, end } = watched();
  await vi.advanceTimersByTimeAsync(200);
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  const renewing = renewal(queries, () => [["it"]], 60);
  for (let at = 1; at <= 100; at += 1) {
    server.truth = at;
    renewing.soon();
    await vi.advanceTimersByTimeAsync(150);
  }
  expect(server.asked).toBe(2);
  expect(shown()).toBeGreaterThan(50);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  await vi.advanceTimersByTimeAsync(100);
  expect(shown()).toBe(100);
  renewing.end();
  end();
});
