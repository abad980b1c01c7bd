// A discussion that is drafted by REST, steered and followed by Socket.IO.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { connected, hears, home, rest, says, serve, ways } from "./support.mjs";

const seats = {
  facilitator: { name: "Chair", model: "ollama/a", persona: "You lead." },
  participants: [
    { name: "Ann", model: "ollama/b", role: "participant" },
    { name: "Bob", model: "ollama/c", role: "devil_advocate" },
    { name: "Cid", model: "ollama/d", role: "observer" },
  ],
};

/** The id of a draft. */
async function draft(url, maxRounds, others = {}) {
  const topic = "Should builds be incremental?";
  const body = { topic, maxRounds, ...seats, ...others };
  return (await rest(url, "POST", "/discussions", body)).id;
}

const is = (event, fields = {}) => (heard) =>
  heard.event === event && Object.entries(fields).every(([key, value]) => heard[key] === value);

const stands = (status, tableId) => is("discussion:status", { status, tableId });

/** A command that must be carried out; gives the discussion after it. */
async function does(plenary, verb, tableId) {
  const { success, data, error } = await says(plenary, `discussion:${verb}`, { tableId });
  assert(success, `${verb}: ${JSON.stringify(error)}`);
  assert.equal(data.id, tableId);
  return data;
}

/** What was heard of a discussion's transcript, as REST tells it. */
function record(heard, tableId) {
  return heard.filter((one) => one.tableId === tableId).flatMap((one) => {
    if (one.event === "discussion:turn") {
      const { agentName, role, content } = one;
      return [{ kind: "turn", agentName, role, content }];
    }
    if (one.event === "discussion:moderator") {
      const { decision, reasoning, how, nextParticipantId, question } = one;
      return [{ kind: "decision", decision, reasoning, how, nextParticipantId, question }];
    }
    return [];
  });
}

async function transcript(url, id) {
  const { entries } = await rest(url, "GET", `/discussions/${id}/transcript`);
  return entries.flatMap(({ kind, status, agentName, role, content, question, decision }) => {
    if (kind === "decision") {
      const { decision: choice, reasoning, how, nextParticipantId } = decision;
      return [{ kind, decision: choice, reasoning, how, nextParticipantId, question }];
    }
    // What a stop broke off is no turn.
    return status === "done" ? [{ kind: "turn", agentName, role, content }] : [];
  });
}

for (const [way, transports] of Object.entries(ways)) {
  test(`over ${way}: a draft is started, and its turns, decisions and end are told in order`, async (t) => {
    const { url } = await serve(t, await home(t));
    const tableId = await draft(url, 3);
    const [plenary, other] = await Promise.all([1, 2].map(() => connected(t, url, { transports })));
    const started = await does(plenary, "start", tableId);
    assert.equal(started.status, "active");
    for (const client of [plenary, other]) {
      await hears(client, stands("concluded", tableId));
      assert.deepEqual(record(client.heard, tableId), await transcript(url, tableId));
    }
    assert.deepEqual(plenary.heard, other.heard);
    const turns = plenary.heard.filter(is("discussion:turn"));
    assert.deepEqual(turns.map(({ round }) => round), [1, 2, 3]);
    const roles = { Ann: "participant", Bob: "devil_advocate" };
    for (const { agentName, role } of turns) assert.equal(role, roles[agentName]);
    const { conclusion } = await rest(url, "GET", `/discussions/${tableId}`);
    assert(conclusion);
    // The last two things that are heard.
    const [concluded, status] = plenary.heard.slice(-2);
    assert(is("discussion:concluded", { tableId, conclusion })(concluded), JSON.stringify(concluded));
    assert.deepEqual(status, {
      event: "discussion:status", tableId, status: "concluded", round: 3, maxRounds: 3,
    });
  });

  test(`over ${way}: a discussion is paused, resumed, stopped and concluded`, async (t) => {
    const { url } = await serve(t, await home(t));
    const tableId = await draft(url, 50);
    const plenary = await connected(t, url, { transports });
    const turns = (least) => hears(plenary, ({ event, round }) => event === "discussion:turn" && round >= least);
    for (const verb of ["pause", "resume", "stop"]) {
      const { success, error } = await says(plenary, `discussion:${verb}`, { tableId });
      assert.deepEqual([success, error.code, error.state], [false, "not-now", "draft"], verb);
      assert(error.allowed.includes("start"));
    }
    await does(plenary, "start", tableId);
    await turns(1);
    assert.match((await does(plenary, "pause", tableId)).status, /^paus/);
    const paused = await hears(plenary, stands("paused", tableId));
    assert.equal(paused.maxRounds, 50);
    plenary.socket.emit("discussion:start", { tableId });
    const told = await hears(plenary, is("discussion:error", { command: "discussion:start", tableId }));
    assert.deepEqual([told.code, told.state], ["not-now", "paused"]);
    const beside = await hears(plenary, is("agent:error", { agentId: tableId }));
    assert.deepEqual([beside.sessionId, beside.error, beside.type], [tableId, told.message, "not-now"]);

    await does(plenary, "resume", tableId);
    await turns(paused.round + 1);
    assert.equal((await does(plenary, "stop", tableId)).status, "stopped");
    const stopped = await hears(plenary, stands("stopped", tableId));
    const again = await says(plenary, "discussion:stop", { tableId });
    assert.deepEqual([again.error.code, again.error.state], ["not-now", "stopped"]);

    await does(plenary, "resume", tableId);
    await turns(stopped.round);
    await does(plenary, "conclude", tableId);
    await hears(plenary, stands("concluded", tableId));
    assert.deepEqual(record(plenary.heard, tableId), await transcript(url, tableId));
    const { conclusion } = await rest(url, "GET", `/discussions/${tableId}`);
    assert(plenary.heard.find(is("discussion:concluded", { tableId, conclusion, why: "asked" })));
    const late = await says(plenary, "discussion:resume", { tableId });
    assert.deepEqual([late.error.code, late.error.state], ["not-now", "concluded"]);
  });
}

test("a discussion is concluded before anybody has spoken, and a person is heard", async (t) => {
  const { url } = await serve(t, await home(t, "--first-ms", "200"));
  const tableId = await draft(url, 5);
  const plenary = await connected(t, url);
  await does(plenary, "start", tableId);
  const words = { by: "Dora", text: "Mind the cache." };
  await rest(url, "POST", `/discussions/${tableId}/interject`, words);
  const { event, ...turn } = await hears(plenary, is("discussion:turn"));
  assert.deepEqual(turn, { tableId, agentName: "Dora", role: "person", content: "Mind the cache." });
  await does(plenary, "conclude", tableId);
  const { why } = await hears(plenary, is("discussion:concluded", { tableId }));
  assert.equal(why, "asked");
});

test("a client that names discussions hears of those only", async (t) => {
  const { url } = await serve(t, await home(t));
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => draft(url, 1)));
  const all = await connected(t, url);
  const packet = await connected(t, url, { auth: { tableId: first } });
  const address = await connected(t, url, { query: { tableId: [first, third] } });
  const later = await connected(t, url);
  const narrowed = await says(later, "discussion:watch", { tableId: second });
  assert.deepEqual(narrowed, { success: true, data: { watching: [second] } });
  await says(later, "discussion:watch", { tableId: third });
  const left = await says(later, "discussion:unwatch", { tableId: second });
  assert.deepEqual(left.data.watching, [third]);

  // One after the other, so that the last one's end comes last.
  for (const tableId of [second, first, third]) {
    await does(all, "start", tableId);
    await hears(all, is("discussion:concluded", { tableId }));
  }
  for (const [client, tables] of [
    [all, [second, first, third]], [packet, [first]], [address, [first, third]], [later, [third]],
  ]) {
    await hears(client, stands("concluded", tables.at(-1)));
    assert.deepEqual([...new Set(client.heard.map(({ tableId }) => tableId))], tables);
    for (const tableId of tables) {
      assert.deepEqual(record(client.heard, tableId), await transcript(url, tableId));
    }
  }
});

test("a model that fails is told as a turn that failed", async (t) => {
  const folder = await home(t);
  const provider = createServer((_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "The key has expired." } }));
  });
  t.after(() => provider.close());
  await once(provider.listen(0, "127.0.0.1"), "listening");
  folder.env.OPENAI_BASE_URL = `http://127.0.0.1:${provider.address().port}/v1`;
  folder.env.OPENAI_API_KEY = "expired";
  const { url } = await serve(t, folder);
  const participants = [{ ...seats.participants[0], model: "openai/x" }];
  const tableId = await draft(url, 1, { participants });
  const plenary = await connected(t, url);
  await does(plenary, "start", tableId);
  const { agentName, role, round, failed, content } = await hears(plenary, is("discussion:turn"));
  assert.deepEqual([agentName, role, round, failed], ["Ann", "participant", 1, true]);
  const { entries } = await rest(url, "GET", `/discussions/${tableId}/transcript`);
  const [{ error }] = entries.filter(({ kind }) => kind === "turn");
  assert.match(content, /^No answer \([a-z ]+\)\. /);
  assert(content.endsWith(error.message), `${content} | ${JSON.stringify(error)}`);
  // The only one who speaks has a key that will not mend itself.
  const { problem } = await hears(plenary, stands("failed", tableId));
  const failure = await hears(plenary, is("agent:error", { agentId: tableId, type: "failed" }));
  assert.equal(failure.error, problem);
});

test("rounds agree between events, from the opening to the end", async (t) => {
  const { url } = await serve(t, await home(t));
  const tableId = await draft(url, 2);
  const plenary = await connected(t, url);
  await does(plenary, "start", tableId);
  await hears(plenary, stands("concluded", tableId));
  const rounds = plenary.heard
    .filter(({ event }) => event !== "discussion:concluded")
    .map(({ event, step, round }) => [event.split(":")[1], step, round]);
  assert.deepEqual(rounds, [
    ["status", "opening", 1], ["moderator", undefined, 1],
    ["status", "turn", 1], ["turn", undefined, 1],
    ["status", "evaluation", 1], ["moderator", undefined, 1],
    ["status", "turn", 2], ["turn", undefined, 2],
    ["moderator", undefined, 2], ["status", "synthesis", 2],
    ["status", undefined, 2],
  ]);
  // Who edits the conclusion afterwards is heard too.
  const conclusion = "We build what has changed.";
  await rest(url, "PATCH", `/discussions/${tableId}`, { conclusion });
  const { editedBy } = await hears(plenary, is("discussion:concluded", { tableId, conclusion }));
  assert.equal(editedBy, "local");
});

test("a server that was killed goes on, and its client hears of it again", async (t) => {
  const folder = await home(t, "--first-ms", "150");
  const { url, child } = await serve(t, folder);
  const tableId = await draft(url, 10);
  const plenary = await connected(t, url);
  await does(plenary, "start", tableId);
  await hears(plenary, is("discussion:turn"));
  const left = once(plenary.socket, "disconnect");
  child.kill("SIGKILL");
  await left;
  plenary.heard.length = 0;
  const back = new Promise((resolve) => plenary.socket.once("connect", resolve));
  await serve(t, folder, new URL(url).host);
  await back;
  const { conclusion } = await hears(plenary, is("discussion:concluded", { tableId }));
  assert.equal((await rest(url, "GET", `/discussions/${tableId}`)).conclusion, conclusion);
  await hears(plenary, stands("concluded", tableId));
  const heard = record(plenary.heard, tableId);
  const whole = await transcript(url, tableId);
  assert(heard.length > 0);
  assert.deepEqual(heard, whole.slice(-heard.length));
});
