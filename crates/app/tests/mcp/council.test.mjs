// A council with a member that answers by itself, on both transports.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bad, good, home, ways } from "./support.mjs";

for (const [way, connect] of Object.entries(ways)) {
  test(`over ${way}: a member with a model answers, and the thread is read and closed`, async (t) => {
    const plenary = await connect(t, await home(t));
    const opened = await good(plenary, "council_open", {
      name: "guild",
      charter: "Keep the build fast.",
      members: [{ name: "critic", model: "ollama/a", persona: "You doubt." }, { name: "ann" }],
      project: "tools",
    });
    assert.deepEqual([opened.council, opened.status, opened.last], ["guild", "open", 0]);
    const council = "guild";

    const asked = { council, sender: "ann", body: "@critic is incremental linking worth it?" };
    const posted = await good(plenary, "council_post", asked);
    assert.deepEqual([posted.sequence, posted.addressed], [1, ["critic"]]);
    const read = await good(plenary, "council_read", { council, since: 1, wait_s: 50 });
    assert.deepEqual(read.posts.map((post) => [post.sequence, post.sender]), [[2, "critic"]]);
    assert.equal(read.since, 2);

    // The name is ann's now, whoever she is; this session knows her token.
    await good(plenary, "council_post", { council, sender: "ann", body: "@ann a note to myself" });
    const token = { council, sender: "ann", body: "Not me.", agent_token: "ann.0000" };
    assert.equal((await bad(plenary, "council_post", token)).code, "not-your-agent");
    const puppet = { council, sender: "critic", body: "I say so." };
    assert.equal((await bad(plenary, "council_post", puppet)).code, "forbidden");

    const closed = await good(plenary, "council_close", { council, summary: "Measure first." });
    assert.deepEqual([closed.status, closed.summary], ["closed", "Measure first."]);
    const late = await bad(plenary, "council_post", { council, sender: "ann", body: "One more." });
    assert.deepEqual([late.code, late.state], ["not-now", "closed"]);
    const { councils } = await good(plenary, "council_list", { project: "tools", status: "closed" });
    assert.deepEqual(councils.map((council) => council.name), ["guild"]);
  });
}
