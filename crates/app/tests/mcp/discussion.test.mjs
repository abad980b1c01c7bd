// A discussion from the topic to the conclusion, on both transports.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bad, good, home, ways } from "./support.mjs";

for (const [way, connect] of Object.entries(ways)) {
  test(`over ${way}: a discussion is started, waited for and read`, async (t) => {
    const plenary = await connect(t, await home(t));
    const { agents } = await good(plenary, "agents_list", { q: "skeptic" });
    const started = await good(plenary, "discussion_start", {
      topic: "Tea or coffee?",
      format: "deliberation",
      max_rounds: 2,
      facilitator: { name: "Lead", model: "ollama/a" },
      participants: [
        { name: "Ann", model: "ollama/b", persona: "You like tea." },
        ...agents.slice(0, 1).map(({ id }) => ({ agent_id: id, role: "devil_advocate" })),
      ],
    });
    assert.deepEqual([started.status, started.name, started.max_rounds], ["active", "Tea or coffee?", 2]);

    // Each turn is told of, whenever it happened.
    let over = { over: false };
    const told = [];
    while (!over.over) {
      over = await good(plenary, "session_wait", { id: started.id, seen: over.seen });
      told.push(over.progress.done);
    }
    assert(told.length >= 2, JSON.stringify(told));
    assert.deepEqual([over.kind, over.status], ["discussion", "concluded"]);
    assert.deepEqual(over.progress, { done: 3, total: 3, message: "Concluded after 2 rounds." });
    assert(over.result.length > 0);

    const full = await good(plenary, "session_get", { id: started.id, detail: "full" });
    assert.match(full.result, /### Round 1: Ann/);
    const refused = await bad(plenary, "session_stop", { id: started.id });
    assert.deepEqual([refused.code, refused.state], ["not-now", "concluded"]);
    const { contents } = await plenary.client.readResource({ uri: `plenary://discussion/${started.id}` });
    assert.equal(contents[0].text, full.result);
  });

  test(`over ${way}: a topic is enough, and a discussion can be stopped`, async (t) => {
    const plenary = await connect(t, await home(t, "--first-ms", "600000"));
    const started = await good(plenary, "discussion_start", { topic: "Never mind?" });
    const stopped = await good(plenary, "session_stop", { id: started.id });
    assert.deepEqual([stopped.over, stopped.status], [true, "stopped"]);
    const wrong = await bad(plenary, "discussion_start", {
      topic: "?",
      participants: [{ agent_id: "nobody-at-all" }],
    });
    assert.deepEqual(wrong.fields.map((field) => field.field), ["participants[0].agent_id"]);
  });
}
