import { afterEach, expect, it, vi } from "vitest";
import { enter } from "./enter";

afterEach(() => vi.unstubAllGlobals());

async function answered(response: Response | Error) {
  vi.stubGlobal("fetch", () =>
    response instanceof Error ? Promise.reject(response) : Promise.resolve(response),
  );
  return enter("token");
}

it("comes in", async () => {
  expect(await answered(new Response("{}", { status: 200 }))).toEqual({ admitted: true });
});

it("says that the token is wrong", async () => {
  expect(await answered(new Response("{}", { status: 401 }))).toEqual({
    admitted: false,
    wrong: "That is not this server’s access token.",
  });
});

it("says when to try again", async () => {
  const headers = { "Retry-After": "6" };
  const answer = await answered(new Response("{}", { status: 429, headers }));
  expect(answer).toMatchObject({ admitted: false, waitMs: 6_000 });
  expect(answer.admitted ? "" : answer.wrong).toMatch(
    /^Too many wrong tokens\. Try again after \d?\d:\d\d:\d\d\s?\w*\.$/,
  );
});

it("waits a while when it was not told how long", async () => {
  expect(await answered(new Response("", { status: 429 }))).toMatchObject({ waitMs: 10_000 });
});

it("says that nobody answers", async () => {
  expect(await answered(new TypeError("failed"))).toMatchObject({
    wrong: "The server is not responding. Is it still running?",
  });
});

it("uses the server's words, and has its own where there are none", async () => {
  const body = JSON.stringify({ error: { message: "This host may not." } });
  expect(await answered(new Response(body, { status: 403 }))).toMatchObject({
    wrong: "This host may not.",
  });
  expect(await answered(new Response("<html>", { status: 500 }))).toMatchObject({
    wrong: "The server returned 500.",
  });
});
