// A board from the question to the record, on both transports.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bad, good, home, ways } from "./support.mjs";

for (const [way, connect] of Object.entries(ways)) {
  test(`over ${way}: a board is convened, waited for and read`, async (t) => {
    const plenary = await connect(t, await home(t, "--first-ms", "300"));
    const { models } = await good(plenary, "models_list");
    assert(models.some((model) => model.name === "ollama/a"));

    const board = await good(plenary, "boardroom_convene", {
      prompt: "Should we ship on Friday?",
      models: ["ollama/a", "ollama/b", "ollama/c"],
      quorum: { need: 3, grace_seconds: 5 },
    });
    const told = [];
    const onprogress = (progress) => told.push(progress);
    const over = await good(plenary, "session_wait", { id: board.id }, { onprogress });
    assert.equal(over.over, true);
    assert.equal(over.status, "closed");
    assert.match(over.result, /^## Consensus/);
    assert(told.length >= 2, JSON.stringify(told));
    assert(told.every((step, at) => at === 0 || step.progress > told[at - 1].progress));
    // The client drops the last one when it comes together with the answer.
    assert(told.at(-1).progress >= 3 && told.at(-1).total === 4, JSON.stringify(told));
    assert.match(told[0].message, /of 3 advisors have answered/);

    const full = await good(plenary, "session_get", { id: board.id, detail: "full" });
    assert.match(full.result, /# Advocate \(ollama\/a\)/);
    const refused = await bad(plenary, "session_stop", { id: board.id });
    assert.deepEqual([refused.code, refused.state], ["not-now", "closed"]);

    const uri = `plenary://boardroom/${board.id}`;
    const { resources } = await plenary.client.listResources();
    assert(resources.some((resource) => resource.uri === uri));
    const { contents } = await plenary.client.readResource({ uri });
    assert.equal(contents[0].text, full.result);
  });

  test(`over ${way}: one that is not wanted any more is stopped`, async (t) => {
    const plenary = await connect(t, await home(t, "--first-ms", "600000"));
    const board = await good(plenary, "boardroom_convene", { prompt: "Never mind?" });
    const waiting = await good(plenary, "session_wait", { id: board.id, seconds: 1 });
    assert.equal(waiting.over, false);
    assert.match(waiting.next[0], /session_wait/);
    const stopped = await good(plenary, "session_stop", { id: board.id });
    assert.deepEqual([stopped.over, stopped.status], [true, "stopped"]);
  });

  test(`over ${way}: a wait that is given up ends nothing`, async (t) => {
    const plenary = await connect(t, await home(t, "--first-ms", "1500"));
    const board = await good(plenary, "boardroom_convene", { prompt: "Patience?" });
    const gone = new AbortController();
    const options = { signal: gone.signal, onprogress: () => gone.abort("enough") };
    await assert.rejects(good(plenary, "session_wait", { id: board.id }, options));
    assert.equal((await good(plenary, "session_wait", { id: board.id })).status, "closed");
  });

  test(`over ${way}: what is wrong is said, with what would be right`, async (t) => {
    const plenary = await connect(t, await home(t));
    const unknown = await bad(plenary, "boardroom_convene", { prompt: "?", quorm: 2 });
    assert.equal(unknown.code, "invalid-input");
    assert.match(unknown.message, /did you mean `quorum`/);
    const nested = await bad(plenary, "boardroom_convene", {
      prompt: "?",
      quorum: { need: 99, grace_seconds: 99999 },
    });
    assert.deepEqual(nested.fields.map((field) => field.field).sort(), [
      "quorum.grace_seconds",
      "quorum.need",
    ]);
    const nobody = await bad(plenary, "session_get", { id: "nobody" });
    assert.equal(nobody.code, "not-found");
    // A process of its own also says which folder it looked in.
    assert.match(nobody.hint, /^List them with sessions_list\.( This is the data folder .*)?$/);
    const { sessions } = await good(plenary, "sessions_list", { kind: "boardroom" });
    assert.deepEqual(sessions, []);
    const wrong = await bad(plenary, "council_list", { status: "active" });
    assert.match(wrong.message, /available: open, closed/);
    await assert.rejects(plenary.client.callTool({ name: "no_such_tool", arguments: {} }));
  });

  test(`over ${way}: tools and prompts explain themselves`, async (t) => {
    const plenary = await connect(t, await home(t));
    assert.equal(plenary.client.getServerVersion().name, "plenary");
    for (const form of ["boardroom", "discussion", "whiteboard", "council"])
      assert.match(plenary.client.getInstructions(), new RegExp(`${form}_`));
    for (const tool of plenary.tools) {
      assert(tool.title && tool.description, tool.name);
      // Of those that only read, programs go on with what session_get and session_wait say.
      const handles = !tool.annotations.readOnlyHint || /^session_/.test(tool.name);
      assert(handles || !tool.outputSchema, tool.name);
      const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
      for (const hint of hints) assert.equal(typeof tool.annotations[hint], "boolean", tool.name);
    }
    const { prompts } = await plenary.client.listPrompts();
    const names = ["classic-triad", "devils-court", "full-board", "peer-review"];
    assert.deepEqual(prompts.map((prompt) => prompt.name), names);
    const given = { name: "full-board", arguments: { question: "Tea or coffee?" } };
    const { messages } = await plenary.client.getPrompt(given);
    assert.match(messages[0].content.text, /boardroom_convene[^]*Tea or coffee\?/);
    const { resourceTemplates } = await plenary.client.listResourceTemplates();
    assert.equal(resourceTemplates[0].uriTemplate, "plenary://{kind}/{id}");
  });
}
