// Who comes in, and what is answered to what makes no sense.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { test } from "node:test";

import { connected, hears, home, refused, says, serve, ways } from "./support.mjs";

const nobody = "01936f3e-0000-7000-8000-000000000000";

for (const [way, transports] of Object.entries(ways)) {
  test(`over ${way}: an error is answered, or told to whoever wants no answer`, async (t) => {
    const { url } = await serve(t, await home(t));
    const plenary = await connected(t, url, { transports });
    const problems = {
      "missing": [undefined, {}, { tableId: null }, "x", [nobody]],
      "must be a string": [{ tableId: 1 }, { tableId: [nobody] }, { tableId: { id: nobody } }],
      "which is a UUID": [{ tableId: "" }, { tableId: "the plan" }, { tableId: "../whiteboards" }],
    };
    for (const [problem, payloads] of Object.entries(problems)) {
      for (const payload of payloads) {
        const { success, error } = await says(plenary, "discussion:start", payload);
        assert.deepEqual([success, error.code], [false, "invalid-input"]);
        assert(error.message.includes(problem), `${JSON.stringify(payload)}: ${error.message}`);
        assert.deepEqual(error.fields.map(({ field }) => field), ["tableId"]);
      }
    }
    for (const verb of ["start", "pause", "resume", "stop", "conclude", "watch"]) {
      const answer = await says(plenary, `discussion:${verb}`, { tableId: nobody });
      assert.deepEqual([answer.success, answer.error.code], [false, "not-found"], verb);
    }
    const unknown = await says(plenary, "discussion:begin", { tableId: nobody });
    assert.equal(unknown.error.message, "There is no event `discussion:begin`.");
    assert(unknown.error.hint.includes("discussion:start, discussion:pause"));
    const everything = await says(plenary, "discussion:unwatch", { tableId: nobody });
    assert.equal(everything.error.code, "not-now");

    assert.deepEqual(plenary.heard, []);
    plenary.socket.emit("discussion:stop", { tableId: nobody });
    const told = await hears(plenary, ({ event }) => event === "discussion:error");
    assert.deepEqual([told.command, told.tableId, told.code], ["discussion:stop", nobody, "not-found"]);
    plenary.socket.emit("discussion:stop", {});
    const vague = await hears(plenary, ({ code }) => code === "invalid-input");
    assert.equal(vague.message, "`tableId`: is missing; it is the id of a discussion");
  });

  test(`over ${way}: a server with a token wants it`, async (t) => {
    const plenary = await home(t);
    plenary.env.PLENARY_TOKEN = "open sesame";
    const { url } = await serve(t, plenary);
    const [none, wrong] = ["An access token is required.", "That is not this server's access token."];
    for (const [options, why] of [
      [{}, none],
      [{ auth: { token: "open" } }, wrong],
      [{ auth: { token: 1 } }, none],
      [{ query: { token: "open sesame" } }, none],
      [{ extraHeaders: { authorization: "Bearer open" } }, wrong],
      // The packet wins over the header, as what was said last.
      [{ auth: { token: "open" }, extraHeaders: { authorization: "Bearer open sesame" } }, wrong],
    ]) {
      const words = await refused(t, url, { transports, ...options });
      assert.ok(words.startsWith(`unauthorized: ${why} Connect with \`auth: { token`), words);
    }
    for (const options of [
      { auth: { token: "open sesame" } },
      { extraHeaders: { authorization: "Bearer open sesame" } },
    ]) {
      const admitted = await connected(t, url, { transports, ...options });
      const answer = await says(admitted, "discussion:start", { tableId: nobody });
      assert.equal(answer.error.code, "not-found");
    }
  });
}

test("names of discussions that make no sense are refused at once", async (t) => {
  const { url } = await serve(t, await home(t));
  for (const options of [
    { auth: { tableId: "the plan" } },
    { auth: { tableId: [nobody, 1] } },
    { query: { tableId: `${nobody},x` } },
  ]) {
    assert.match(await refused(t, url, options), /^invalid-input: `tableId`: must be/);
  }
  const many = Array.from({ length: 257 }, (_, n) => nobody.slice(0, -4) + (1000 + n));
  assert.match(await refused(t, url, { auth: { tableId: many } }), /at most 256 discussions/);
  const narrow = { auth: { tableId: nobody }, query: { tableId: [nobody, nobody] } };
  const plenary = await connected(t, url, narrow);
  const left = await says(plenary, "discussion:unwatch", { tableId: nobody });
  assert.deepEqual(left, { success: true, data: { watching: [] } });
});

test("a page from elsewhere, another name and too much at once get nothing", async (t) => {
  const { url } = await serve(t, await home(t));
  const elsewhere = { origin: "https://evil.example" };
  const refusal = await fetch(`${url}/socket.io/?EIO=4&transport=polling`, { headers: elsewhere });
  assert.equal(refusal.status, 403);
  assert.equal((await refusal.json()).error.code, "forbidden-origin");
  // The client's polling lets nobody choose the name.
  const [response] = await once(
    get(`${url}/socket.io/?EIO=4&transport=polling`, { headers: { host: "evil.example" } }),
    "response",
  );
  assert.equal(response.resume().statusCode, 403);
  for (const extraHeaders of [elsewhere, { host: "evil.example" }]) {
    const words = await refused(t, url, { transports: ["websocket"], extraHeaders });
    assert.equal(words, "websocket error");
  }
  for (const [transport, reason] of [["websocket", "transport close"], ["polling", "transport error"]]) {
    const plenary = await connected(t, url, { transports: [transport], reconnection: false });
    plenary.socket.emit("discussion:start", { tableId: "x".repeat(65 * 1024) });
    const [ended] = await once(plenary.socket, "disconnect");
    assert.equal(ended, reason);
  }
});

test("a page on another port gets in when the operator says so", async (t) => {
  const plenary = await home(t);
  plenary.env.PLENARY_ALLOWED_ORIGINS = "http://localhost:3000/, https://desk.example";
  const { url } = await serve(t, plenary);
  for (const transports of Object.values(ways)) {
    for (const origin of ["http://localhost:3000", "https://desk.example"]) {
      const admitted = await connected(t, url, { transports, extraHeaders: { origin } });
      const answer = await says(admitted, "discussion:start", { tableId: nobody });
      assert.equal(answer.error.code, "not-found");
    }
  }
  const opening = `${url}/socket.io/?EIO=4&transport=polling`;
  for (const [origin, status] of [["http://localhost:3000", 200], ["http://localhost:3001", 403]]) {
    const response = await fetch(opening, { headers: { origin } });
    assert.equal(response.status, status);
    const told = response.headers.get("access-control-allow-origin");
    assert.equal(told, status === 200 ? origin : null);
  }
});

test("commands are carried out in the order in which they were said, up to a limit", async (t) => {
  const { url } = await serve(t, await home(t));
  const plenary = await connected(t, url);
  const order = [];
  const all = Array.from({ length: 60 }, async (_, n) => {
    const { error } = await says(plenary, "discussion:start", { tableId: n % 2 ? nobody : "" });
    if (error.code !== "busy") order.push([n, error.code]);
  });
  await Promise.all(all);
  assert(order.length >= 16);
  const expected = order.map(([n]) => n).sort((a, b) => a - b);
  assert.deepEqual(order.map(([n]) => n), expected);
  for (const [n, code] of order) assert.equal(code, n % 2 ? "not-found" : "invalid-input");
});

test("a server with open clients ends when it is asked to", async (t) => {
  const { url, child } = await serve(t, await home(t));
  const reconnection = false;
  const clients = await Promise.all(
    ["websocket", "polling"].map((way) => connected(t, url, { transports: [way], reconnection })),
  );
  const left = clients.map(({ socket }) => once(socket, "disconnect"));
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  await Promise.all(left);
});
