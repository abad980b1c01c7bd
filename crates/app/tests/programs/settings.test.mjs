// What people have set up for their own work is not for an advisor: a preset starts none
// of the user's MCP servers. Those of Claude and Codex leave out hooks, and CLAUDE.md or
// skills.

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import {
  PLENARY_BIN,
  bodies,
  ended,
  home,
  programs,
  seated,
  settle,
  tell,
  work,
} from "./support.mjs";

/** A program's answer as the only advisor of a board. */
async function advice(t, place, name) {
  const args = ["ask", "Shall we?", "--advisor", `critic=${seated(name)}`, "--json"];
  const said = await ended(t, place, PLENARY_BIN, [...args, "--synthesizer", "ollama/a"], place.env);
  return JSON.parse(said).advisors[0].text;
}

for (const name of Object.keys(programs)) {
  test(`${name} starts the user's MCP servers for the user, and none as an advisor`, async (t) => {
    const place = await home(t);
    settle(place, name);
    const started = join(place.folder, "started");
    await programs[name].register(t, place, ["/usr/bin/touch", started]);
    await tell(place, [{ text: "Good morning." }]);
    await work(t, place, name, "Say something.");
    assert(existsSync(started), "the server is not set up as its user would");
    rmSync(started);

    assert.equal(await advice(t, place, name), "Good morning.");
    assert(!existsSync(started));
  });
}

for (const name of Object.keys(programs).filter((name) => programs[name].habits)) {
  test(`${name} runs the user's hooks and reads the user's words for the user only`, async (t) => {
    const place = await home(t);
    settle(place, name);
    const started = join(place.folder, "started");
    const word = "zeugma-4711";
    programs[name].habits(place, ["/usr/bin/touch", started], `Always mention ${word}.\n`);
    const heard = async () => JSON.stringify(await bodies(place)).includes(word);
    await tell(place, [{ text: "Good morning." }]);
    assert.equal(await advice(t, place, name), "Good morning.");
    assert(!existsSync(started), "the hook has run");
    assert(!(await heard()), "the model was told what the user wrote down");
    // Both are set up as the user would.
    await work(t, place, name, "Say something.");
    assert(existsSync(started));
    assert(await heard());
  });
}
