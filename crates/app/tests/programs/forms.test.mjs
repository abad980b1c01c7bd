// Codex refuses tools that call themselves dangerous unless its user has said otherwise.
// Nothing has been said here, so the tools of all forms must not claim to be.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asked, get, home, programs, serve, tell, work } from "./support.mjs";

const TASK = "Bring the question of the shed before everybody.";
const SHED = "Shall we paint the bicycle shed?";

test("codex convenes a board, starts a discussion and speaks in a council", async (t) => {
  const place = await home(t);
  programs.codex.register(t, place);
  const council = "shed";
  const steps = [
    { call: "council_open", with: { name: council, charter: "We keep the shed." } },
    { call: "council_post", with: { council, sender: "codex", body: "Shall we paint it?" } },
    { call: "boardroom_convene", with: { prompt: SHED, models: ["ollama/a"] } },
    { call: "session_wait", with: { id: "${boardroom_convene.id}", seconds: 50 } },
    { call: "discussion_start", with: { topic: SHED, model: "ollama/a", max_rounds: 1 } },
  ];
  await tell(place, [{ when: { contains: [TASK] }, steps, text: "It is before them." }]);
  assert.match(await work(t, place, "codex", TASK), /It is before them\./);
  const told = (await asked(place)).filter(({ result }) => result);
  assert.equal(told.length, steps.length);

  const { url } = await serve(t, place);
  const { data: sessions } = await get(`${url}/api/sessions`);
  const kinds = sessions.map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, ["boardroom", "council", "discussion"]);
  assert.equal(sessions.find(({ kind }) => kind === "boardroom").status, "closed");
  const { data: talk } = await get(`${url}/api/councils/${council}/posts`);
  assert.deepEqual(talk.posts.map(({ body }) => body), ["Shall we paint it?"]);
});
