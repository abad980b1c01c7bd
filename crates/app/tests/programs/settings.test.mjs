// What people have set up for their own work is not for an advisor: a preset starts none
// of the user's MCP servers. (Codex is asked with the user's settings in these stories.)

import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { PLENARY_BIN, ended, home, programs, seated, settle, tell, work } from "./support.mjs";

for (const name of Object.keys(programs).filter((name) => !programs[name].provider)) {
  test(`${name} starts the user's MCP servers for the user, and none as an advisor`, async (t) => {
    const place = await home(t);
    settle(place, name);
    const started = join(place.folder, "started");
    await programs[name].register(t, place, ["/usr/bin/touch", started]);
    await tell(place, [{ text: "Good morning." }]);
    await work(t, place, name, "Say something.");
    assert(existsSync(started), "the server is not set up as its user would");
    rmSync(started);

    const args = ["ask", "Shall we?", "--advisor", `critic=${seated(name)}`, "--json"];
    const said = await ended(t, place, PLENARY_BIN, [...args, "--synthesizer", "ollama/a"], place.env);
    const [advisor] = JSON.parse(said).advisors;
    assert.equal(advisor.text, "Good morning.");
    assert(!existsSync(started));
  });
}
