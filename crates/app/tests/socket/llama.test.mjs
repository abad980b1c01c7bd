// A real llama.cpp server, which scripts/llama starts and names in LLAMA_URL. Without it
// nothing is tested here, and that is said. The models are small: what they say does not
// matter, only what becomes of it.

import assert from "node:assert/strict";
import { test } from "node:test";

import { connected, hears, home, rest, says, serve } from "./support.mjs";

const { LLAMA_URL } = process.env;
const skip = LLAMA_URL ? false : "NOT TESTED: a real llama.cpp server, because LLAMA_URL names none";
/** The machine may be busy. */
const PATIENCE_S = 600;

/** The program with that server as its only provider, and the name of its model. */
async function start(t) {
  const folder = await home(t);
  folder.env.OLLAMA_HOST = "http://127.0.0.1:9";
  folder.env.OPENAI_BASE_URL = `${LLAMA_URL}/v1`;
  folder.env.OPENAI_API_KEY = "none";
  const { url } = await serve(t, folder);
  const { data } = await (await fetch(`${LLAMA_URL}/v1/models`)).json();
  return { url, model: `openai/${data[0].id}` };
}

async function over(url, id) {
  const deadline = Date.now() + PATIENCE_S * 1000;
  for (;;) {
    const session = await rest(url, "GET", `/sessions/${id}/wait?seconds=30`);
    if (session.over) return session;
    assert(Date.now() < deadline, `it is still ${session.status}: ${session.progress.message}`);
  }
}

/** What calls took, added up. */
function sum(calls) {
  const all = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  for (const { usage = {} } of calls) {
    for (const kind of Object.keys(all)) all[kind] += usage[kind] ?? 0;
  }
  return all;
}

test("a board on a real llama.cpp server", { skip }, async (t) => {
  const { url, model } = await start(t);
  const advisors = ["advocate", "critic"].map((role) => ({ role, model }));
  const question = { prompt: "Tea or coffee?", advisors, synthesizer: model, budget: { tokens: 2_500 } };
  const { id } = await rest(url, "POST", "/boardrooms", question);
  // The window is the server's own.
  const { default_generation_settings: { n_ctx } } = await (await fetch(`${LLAMA_URL}/props`)).json();
  const listed = (await rest(url, "GET", "/models")).find(({ name }) => name === model);
  assert.deepEqual([listed.window.tokens, listed.window.source], [n_ctx, "provider"]);
  await over(url, id);
  const board = await rest(url, "GET", `/boardrooms/${id}`);
  assert.equal(board.status, "closed", JSON.stringify(board));
  assert(board.advisors.every(({ status, text }) => status === "done" && text));
  const calls = board.syntheses.flatMap((one) => [one, ...one.failedBefore]).concat(board.advisors);
  const { inputTokens, outputTokens } = board.usage;
  assert.deepEqual(sum(calls), { ...sum([board]), inputTokens, outputTokens });
  assert(inputTokens > 0 && outputTokens > 0 && inputTokens + outputTokens <= 2_500, JSON.stringify(board.usage));
});

/** Answers of 40 tokens are cut off, kept and used. Whoever leads has a name and a line. */
async function draft(url, model, name) {
  const bounds = { model, outputTokens: 40, turnSeconds: 600 };
  for (const speaker of ["Ann", "Bob"]) {
    const agent = { name: `${speaker} of ${name}`, persona: "You speak at length.", ...bounds };
    await rest(url, "POST", "/agents", agent);
  }
  const chair = { name: `Chair of ${name}`, description: "Leads.", isFacilitator: true, ...bounds };
  const { id: moderatorId } = await rest(url, "POST", "/agents", { ...chair, outputTokens: 150 });
  const participants = ["Ann", "Bob"].map((speaker) => ({ agentId: `${speaker} of ${name}` }));
  const body = { name, topic: "Tea or coffee?", maxRounds: 2, moderatorId, participants };
  return (await rest(url, "POST", "/discussions", { ...body, budget: { tokens: 20_000 } })).id;
}

async function examine(url, id) {
  await over(url, id);
  const talk = await rest(url, "GET", `/discussions/${id}`);
  assert.equal(talk.status, "concluded", JSON.stringify(talk));
  const { entries } = await rest(url, "GET", `/discussions/${id}/transcript`);
  const turns = entries.filter(({ kind }) => kind === "turn");
  assert(turns.length > 0 && turns.every(({ status, content }) => status === "done" && content));
  assert(turns.some(({ cut }) => cut), "with 40 tokens some are cut off");
  const calls = [...entries, { usage: talk.conclusionUsage }];
  assert.deepEqual(sum(calls), sum([{ usage: talk.actual }]));
  assert(talk.actual.cachedTokens > 0, JSON.stringify(talk.actual));
}

test("two discussions on a real llama.cpp server, one by REST and one by Socket.IO", { skip }, async (t) => {
  const { url, model } = await start(t);
  const first = await draft(url, model, "First");
  await rest(url, "PATCH", `/discussions/${first}`, { status: "active" });
  await examine(url, first);

  const plenary = await connected(t, url);
  const second = await draft(url, model, "Second");
  const told = await says(plenary, "discussion:start", { tableId: second });
  assert.equal(told.success, true, JSON.stringify(told));
  await examine(url, second);
  const { conclusion } = await hears(plenary, ({ event }) => event === "discussion:concluded");
  assert(conclusion);
});
