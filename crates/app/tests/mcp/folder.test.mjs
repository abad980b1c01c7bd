// Several agents on one data folder, each with a process of its own.

import assert from "node:assert/strict";
import { once } from "node:events";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { good, holder, home, overStdio, serve } from "./support.mjs";

const { PLENARY_BIN } = process.env;

test("two agents share a folder, and the second outlives the first", async (t) => {
  const place = await home(t, "--first-ms", "1500");
  const first = await overStdio(t, place);
  await good(first, "models_list");
  assert.equal(holder(place).pid, first.transport.pid);
  const second = await overStdio(t, place);
  const board = await good(second, "boardroom_convene", { prompt: "Will it last?" });
  assert.equal(holder(place).pid, first.transport.pid, "the second goes through the first");
  assert.equal((await good(first, "session_get", { id: board.id })).over, false);

  const waiting = good(second, "session_wait", { id: board.id, seconds: 60 });
  process.kill(first.transport.pid, "SIGKILL");
  const over = await waiting;
  assert.equal(over.status, "closed");
  assert.equal(holder(place).pid, second.transport.pid, "the second took the folder over");

  const third = await overStdio(t, place);
  assert.equal((await good(third, "session_get", { id: board.id })).result, over.result);
});

test("many agents that start at once get along", async (t) => {
  const place = await home(t);
  const agents = await Promise.all([1, 2, 3, 4].map(() => overStdio(t, place)));
  const boards = await Promise.all(
    agents.map((agent, at) => good(agent, "boardroom_convene", { prompt: `Question ${at}?` })),
  );
  for (const agent of agents)
    for (const board of boards)
      assert.equal((await good(agent, "session_wait", { id: board.id })).status, "closed");
  const { resources } = await agents[0].client.listResources();
  assert.equal(resources.length, boards.length);
});

test("a holder that is told to end hands over what runs", async (t) => {
  const place = await home(t, "--first-ms", "1500");
  const first = await overStdio(t, place);
  const board = await good(first, "boardroom_convene", { prompt: "And then?" });
  const second = await overStdio(t, place);
  const waiting = good(second, "session_wait", { id: board.id, seconds: 60 });
  process.kill(first.transport.pid, "SIGTERM");
  assert.equal((await waiting).status, "closed");
});

test("a process ends with its input and lets go of the folder", async (t) => {
  const place = await home(t);
  const agent = await overStdio(t, place);
  await good(agent, "models_list");
  await agent.client.close();
  assert.equal(holder(place), undefined);
  const listed = spawnSync(PLENARY_BIN, ["sessions", "list"], { env: place.env, cwd: place.folder });
  assert.equal(listed.status, 0, listed.stderr.toString());
});

test("with a server running, everything goes through it", async (t) => {
  const place = await home(t);
  const { child, url } = await serve(t, place);
  const agent = await overStdio(t, place);
  const board = await good(agent, "boardroom_convene", { prompt: "Through you?" });
  assert.equal(holder(place).pid, child.pid);
  const elsewhere = await home(t);
  const remote = await overStdio(t, elsewhere, "--server", url);
  assert.equal((await good(remote, "session_wait", { id: board.id })).status, "closed");
  // The server ends; the agent carries on by itself.
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
  assert.equal((await good(agent, "session_get", { id: board.id })).status, "closed");
  assert.equal(holder(place).pid, agent.transport.pid);
});

test("a server that starts later takes the folder over", async (t) => {
  const place = await home(t, "--first-ms", "1500");
  const agent = await overStdio(t, place);
  const board = await good(agent, "boardroom_convene", { prompt: "And now?" });
  const { child } = await serve(t, place);
  assert.equal(holder(place).pid, child.pid);
  assert.equal((await good(agent, "session_wait", { id: board.id })).status, "closed");
  assert.equal(holder(place).pid, child.pid, "the agent goes through the server");
});

test("standard output carries the protocol and nothing else", async (t) => {
  const place = await home(t);
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    },
  };
  const ran = spawnSync(PLENARY_BIN, ["mcp"], {
    env: { ...place.env, PLENARY_LOG: "debug" },
    cwd: place.folder,
    input: `${JSON.stringify(hello)}\n`,
  });
  assert.equal(ran.status, 0, ran.stderr.toString());
  const lines = ran.stdout.toString().trim().split("\n");
  assert.deepEqual(lines.map((line) => JSON.parse(line).jsonrpc), ["2.0"]);
});
