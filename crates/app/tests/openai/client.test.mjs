// A board as a model, through the official client for TypeScript.

import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";

import { home, serve } from "./program.mjs";

const BOARD = "plenary/classic-triad";
const ask = (content, model = BOARD) => ({ model, messages: [{ role: "user", content }] });

/** A server, a client for it, and the model server behind it, with rules of its own. */
async function board(t, rules = [], { env = {}, key = "none", args = [] } = {}) {
  const place = await home(t, ...args);
  Object.assign(place.env, env);
  const { url } = await serve(t, place);
  const script = (list) => post(`${place.models}/__script`, list);
  if (rules.length) await script(rules);
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` });
  return { client, url, script, models: place.models };
}

async function post(url, body) {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  assert(response.ok, await response.text());
}

const get = async (url) => (await fetch(url)).json();

const FOUR = [
  "## Consensus\nShip.",
  "## Points of Agreement\n- Small steps.",
  "## Points of Divergence\n- When.",
  "## Recommendation\nFriday.",
].join("\n\n");

/** Every advisor says its own, and the verdict has the four headings. */
const RULES = [
  { when: { contains: ["neutral secretary"] }, text: FOUR, usage: [200, 20] },
  { when: { contains: ["as the Advocate"] }, text: "For it.", usage: [100, 10] },
  { when: { contains: ["as the Critic"] }, text: "Against it.", usage: [100, 10] },
  { when: { contains: ["as the Analyst"] }, text: "It depends.", usage: [100, 10] },
];

test("boards and models are listed", async (t) => {
  const { client } = await board(t);
  const ids = [];
  for await (const model of client.models.list()) ids.push(model.id);
  assert.deepEqual(ids.slice(0, 2), ["plenary/classic-triad", "plenary/devils-court"]);
  assert(ids.includes("ollama/a"), ids);
  assert.equal((await client.models.retrieve("plenary/full-board")).owned_by, "plenary");
});

test("a question is answered with the verdict", async (t) => {
  const { client, url } = await board(t, RULES);
  const asked = client.chat.completions.create(ask("Should we ship?"));
  const { data, response } = await asked.withResponse();
  const [choice] = data.choices;
  assert.equal(choice.message.content, FOUR);
  assert.equal(choice.finish_reason, "stop");
  assert.match(choice.message.reasoning_content, /Critic \(ollama\/.\)\*\*\n\nAgainst it\./);
  assert.deepEqual([data.usage.prompt_tokens, data.usage.completion_tokens], [500, 50]);
  const session = response.headers.get("x-plenary-session");
  assert.equal(data.metadata.plenary_session, session);
  const { data: seen } = await get(`${url}/api/boardrooms/${session}`);
  assert.equal(seen.status, "closed");
});

test("what the advisors say streams as reasoning, then the verdict", async (t) => {
  const { client } = await board(t, RULES);
  const stream = await client.chat.completions.create({
    ...ask("Should we ship?"),
    stream: true,
    stream_options: { include_usage: true },
  });
  let [thoughts, content, usage, first] = ["", "", undefined, undefined];
  for await (const chunk of stream) {
    first ??= chunk;
    const delta = chunk.choices[0]?.delta ?? {};
    assert(!(delta.reasoning_content && content), "the advisors speak before the verdict");
    thoughts += delta.reasoning_content ?? "";
    content += delta.content ?? "";
    usage = chunk.usage ?? usage;
  }
  assert.equal(first.choices[0].delta.role, "assistant");
  for (const said of ["For it.", "Against it.", "It depends."]) {
    assert.equal(thoughts.split(said).length, 2, thoughts);
  }
  assert.equal(content, FOUR);
  assert.equal(usage.total_tokens, 550);
});

test("three turns are one board", async (t) => {
  const { client, url } = await board(t, RULES);
  const messages = [];
  const sessions = [];
  for (const content of ["Should we ship?", "And the risks?", "@nobody And when?"]) {
    messages.push({ role: "user", content });
    const asked = client.chat.completions.create({ model: BOARD, messages });
    const { data, response } = await asked.withResponse();
    messages.push({ role: "assistant", content: data.choices[0].message.content });
    sessions.push(response.headers.get("x-plenary-session"));
  }
  assert.equal(new Set(sessions).size, 1);
  const { data: seen } = await get(`${url}/api/boardrooms/${sessions[0]}`);
  assert.deepEqual(
    seen.rounds.map((round) => round.prompt),
    ["Should we ship?", "And the risks?", "@nobody And when?"],
  );
});

test("the verdict follows a schema", async (t) => {
  const answer = { when: { contains: ["JSON schema"] }, texts: ["Ship it.", '{"ship": true}'] };
  const { client } = await board(t, [answer, ...RULES.slice(1)]);
  const completion = await client.chat.completions.create({
    ...ask("Should we ship?"),
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "decision",
        schema: {
          type: "object",
          required: ["ship"],
          properties: { ship: { type: "boolean" } },
          additionalProperties: false,
        },
      },
    },
  });
  assert.deepEqual(JSON.parse(completion.choices[0].message.content), { ship: true });
});

test("a cancelled stream ends the calls", async (t) => {
  const held = { text: "For it, as far as that goes.", hold: "gate", holdAfter: 2 };
  const { client, url, models } = await board(t, [held]);
  const stream = await client.chat.completions.create({ ...ask("Never mind?"), stream: true });
  let id;
  for await (const chunk of stream) {
    id = chunk.metadata.plenary_session;
    if (chunk.choices[0].delta.reasoning_content?.includes("For")) break;
  }
  await post(`${models}/__reached`, { name: "gate", answers: 3 }).catch(() => {});
  stream.controller.abort();
  for (;;) {
    const asked = await get(`${models}/__requests`);
    if (asked.length >= 3 && asked.every((one) => one.ended)) {
      assert(asked.every((one) => one.dropped), JSON.stringify(asked));
      break;
    }
  }
  const { data: seen } = await get(`${url}/api/sessions/${id}/wait?seconds=20`);
  assert.equal(seen.status, "stopped");
});

test("wrong keys, unknown boards and empty purses are told as OpenAI tells them", async (t) => {
  const { client, url, script } = await board(t, RULES, { env: { PLENARY_TOKEN: "sesame" }, key: "sesame" });
  const stranger = new OpenAI({ apiKey: "guess", baseURL: `${url}/v1` });
  await assert.rejects(stranger.models.list(), (error) => {
    return error instanceof OpenAI.AuthenticationError && error.code === "invalid_api_key";
  });
  await assert.rejects(
    client.chat.completions.create(ask("Hello?", "plenary/round-table")),
    (error) => error instanceof OpenAI.NotFoundError && error.code === "model_not_found",
  );
  await assert.rejects(
    client.chat.completions.create({ ...ask("Hello?"), stop: ["."] }),
    (error) => error instanceof OpenAI.BadRequestError && error.param === "stop",
  );
  // What the advisors take leaves nothing for the verdict.
  await script(RULES.slice(1).map((rule) => ({ ...rule, usage: [30_000, 10] })));
  const poor = { plenary: { budget: { tokens: 40_000 } } };
  await assert.rejects(
    client.chat.completions.create({ ...ask("Hello?"), ...poor }),
    (error) => error instanceof OpenAI.RateLimitError && error.code === "insufficient_quota",
  );
  await assert.rejects(async () => {
    const stream = await client.chat.completions.create({
      ...ask("Hello?"),
      ...poor,
      stream: true,
    });
    for await (const _ of stream);
  }, /budget|no room/i);
});

test("responses: a summary of each advisor, the verdict, and going on from it", async (t) => {
  const { client, url } = await board(t, RULES);
  const stream = await client.responses.create({
    model: BOARD,
    input: "Should we ship?",
    stream: true,
  });
  const parts = [];
  let [text, completed] = ["", undefined];
  for await (const event of stream) {
    if (event.type === "response.reasoning_summary_part.done") parts.push(event.part.text);
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.completed") completed = event.response;
  }
  assert.equal(parts.length, 4, "who was asked, and each of the three");
  assert.equal(text, FOUR);
  assert.equal(completed.usage.total_tokens, 550);
  const next = await client.responses.create({
    model: BOARD,
    input: "And when?",
    previous_response_id: completed.id,
  });
  assert.equal(next.output_text, FOUR);
  assert.equal(next.metadata.plenary_session, completed.metadata.plenary_session);
  const { data: seen } = await get(`${url}/api/boardrooms/${next.metadata.plenary_session}`);
  assert.equal(seen.rounds.length, 2);
});

test("a model behind the boards answers by itself", async (t) => {
  const { client, models } = await board(t, [{ text: "Just me.", usage: [10, 2] }]);
  const completion = await client.chat.completions.create({
    model: "ollama/a",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Who is there?" },
    ],
  });
  assert.equal(completion.choices[0].message.content, "Just me.");
  assert.equal(completion.usage.total_tokens, 12);
  assert.equal((await get(`${models}/__requests`)).length, 1);
});
