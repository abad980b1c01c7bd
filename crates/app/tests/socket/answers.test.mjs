// What was asked, said and spent, as a client of REST sees it that knows nothing but HTTP.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { home, rest, serve } from "./support.mjs";

/**
 * A provider that speaks OpenAI's wire without streaming tricks: what each request gets is
 * chosen by its number among those of its model.
 */
async function provider(t, folder, reply) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ data: [{ id: "m" }] }));
    }
    const body = JSON.parse(text);
    const before = asked.filter(({ model }) => model === body.model).length;
    asked.push(body);
    const { status = 200, content, finish = "stop", usage } = reply(body, before);
    if (status !== 200) {
      response.writeHead(status, { "content-type": "application/json" });
      return response.end(JSON.stringify({ error: { message: content } }));
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (data) => response.write(`data: ${JSON.stringify(data)}\n\n`);
    send({ choices: [{ index: 0, delta: { role: "assistant", content } }] });
    send({ choices: [{ index: 0, delta: {}, finish_reason: finish }], usage });
    response.end("data: [DONE]\n\n");
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  folder.env.OPENAI_BASE_URL = `http://127.0.0.1:${server.address().port}/v1`;
  folder.env.OPENAI_API_KEY = "key";
  return asked;
}

/** Asks again until it stands there. */
async function until(url, path, status) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { id } = await rest(url, "GET", path);
    await rest(url, "GET", `/sessions/${id}/wait?seconds=1`);
    const now = await rest(url, "GET", path);
    if (now.status === status) return now;
    assert(Date.now() < deadline, `it is ${now.status}, not ${status}: ${JSON.stringify(now)}`);
  }
}

const FOUR =
  "## Consensus\nYes.\n\n## Points of Agreement\n- Cheap.\n\n## Points of Divergence\n- None.\n\n## Recommendation\nGo.\n";
const usage = (prompt_tokens, completion_tokens) => ({ prompt_tokens, completion_tokens });
const seats = (...models) => models.map((model) => ({ role: "Devil's advocate", model: `openai/${model}` }));

async function convene(url, models, others = {}) {
  const body = { prompt: "Should we?", advisors: seats(...models), synthesizer: "openai/s", ...others };
  return (await rest(url, "POST", "/boardrooms", body)).id;
}

test("every attempt is in the account, and an answer at its limit is kept and marked", async (t) => {
  const folder = await home(t);
  await provider(t, folder, ({ model }, before) => {
    if (model === "s") return { content: FOUR, usage: usage(40, 20) };
    if (model === "flaky" && before === 0) return { status: 500, content: "Overloaded." };
    if (model === "long") return { content: "Half an ans", finish: "length", usage: usage(10, 8) };
    return { content: "Yes.", usage: usage(10, 2) };
  });
  const { url } = await serve(t, folder);
  const id = await convene(url, ["flaky", "long"]);
  const board = await until(url, `/boardrooms/${id}`, "closed");
  const [flaky, long] = board.advisors;
  assert.deepEqual([flaky.status, flaky.attempts], ["done", 2]);
  assert.deepEqual([long.status, long.text, long.cut], ["done", "Half an ans", true]);
  assert.deepEqual(board.syntheses[0].basis, [1, 2]);
  assert.deepEqual([board.usage.inputTokens, board.usage.outputTokens], [60, 30]);
  // A retry adds: what was said before stays, and so does what it took.
  await rest(url, "POST", `/boardrooms/${id}/advisors/2/retry`, {});
  const again = await until(url, `/boardrooms/${id}`, "closed");
  assert.deepEqual([again.usage.inputTokens, again.usage.outputTokens], [110, 58]);
  assert.equal(again.advisors[1].earlier.length, 1);
  assert.equal(again.syntheses.length, 2);
});

test("failures are named for what they are", async (t) => {
  const folder = await home(t);
  await provider(t, folder, ({ model }) => ({
    500: { status: 500, content: "Out of order." },
    402: { status: 402, content: "No credit." },
    400: { status: 400, content: "This model's maximum context length is 512 tokens." },
    s: { content: FOUR },
    fine: { content: "Yes." },
    silent: { content: "<think>Hm.</think>" },
  })[model]);
  const { url } = await serve(t, folder);
  const id = await convene(url, ["fine", "500", "402", "400", "silent"]);
  const board = await until(url, `/boardrooms/${id}`, "closed");
  const kinds = board.advisors.map(({ error }) => error?.kind);
  assert.deepEqual(kinds, [undefined, "providerError", "outOfCredit", "promptTooLong", "empty"]);
});

test("the chosen synthesizer stays, and every try is in the record", async (t) => {
  const folder = await home(t);
  const asked = await provider(t, folder, ({ model }) => ({
    content: model === "s" ? "We should, on the whole, do it." : "Yes.",
    usage: usage(10, 5),
  }));
  const { url } = await serve(t, folder);
  const id = await convene(url, ["a", "b"]);
  const { syntheses: [synthesis] } = await until(url, `/boardrooms/${id}`, "closed");
  assert.deepEqual([synthesis.model, synthesis.headings], ["openai/s", "missing"]);
  assert.equal(synthesis.text, "We should, on the whole, do it.");
  assert.deepEqual(asked.map(({ model }) => model).sort(), ["a", "b", "s", "s"]);
  assert.equal(synthesis.failedBefore.length, 1);
});

test("a budget is kept to, and a person is not led by the others", async (t) => {
  const folder = await home(t);
  const asked = await provider(t, folder, ({ model, max_tokens, max_completion_tokens }) => ({
    content: model === "s" ? FOUR : "Yes, for a reason.",
    usage: usage(150, model === "s" ? 60 : max_tokens ?? max_completion_tokens),
  }));
  const { url } = await serve(t, folder);
  const many = Array.from({ length: 16 }, (_, nth) => `m${nth + 1}`);
  const id = await convene(url, many, { budget: { tokens: 7_000 } });
  const board = await until(url, `/boardrooms/${id}`, "closed");
  const spent = board.usage.inputTokens + board.usage.outputTokens;
  assert(spent <= 7_000, `${spent}`);
  assert(asked.length < 17 && board.advisors.some(({ error }) => error?.kind === "outOfBudget"));

  const advisors = [...seats("a"), { role: "expert", person: "Ada" }];
  const body = { prompt: "Should we?", advisors, synthesizer: "openai/s" };
  const { id: blind } = await rest(url, "POST", "/boardrooms", body);
  let seen;
  do seen = await rest(url, "GET", `/boardrooms/${blind}?seat=2`);
  while (seen.advisors[0].status !== "done");
  assert.deepEqual([seen.advisors[0].text, seen.advisors[0].hidden], ["", true]);
  await rest(url, "POST", `/boardrooms/${blind}/reply`, { advisor: 2, text: "No." });
  const open = await until(url, `/boardrooms/${blind}?seat=2`, "closed");
  assert.equal(open.advisors[0].text, "Yes, for a reason.");
});

test("a client of conversations finds what it looks for", async (t) => {
  const folder = await home(t);
  const { url } = await serve(t, folder);
  const facilitator = { name: "Chair", model: "ollama/a" };
  const participants = [{ name: "Ann", model: "ollama/b" }];
  const draft = { name: "Builds", topic: "Incremental?", format: "review", maxRounds: 2, facilitator, participants };
  const { id } = await rest(url, "POST", "/discussions", draft);
  await rest(url, "PATCH", `/discussions/${id}`, { status: "active" });
  const talk = await until(url, `/discussions/${id}`, "concluded");
  const [row] = await rest(url, "GET", "/discussions");
  assert.deepEqual([row.name, row.topic, row.format, row.maxRounds], ["Builds", "Incremental?", "review", 2]);
  const { messages } = talk.sessions[0];
  assert(messages.every(({ id, role, content, timestamp }) => id && role && content && timestamp));
  assert(messages.at(-1).content.startsWith("[MODERATOR] [SYNTHESIS]"));
  const edited = await rest(url, "PATCH", `/discussions/${id}`, { name: "Our builds", conclusion: "Yes." });
  assert.deepEqual([edited.name, edited.conclusion], ["Our builds", "Yes."]);
});
