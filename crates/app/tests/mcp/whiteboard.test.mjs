// mkdocs or mdbook: a decision from the open board to its record, each agent with an
// MCP session of its own, on both transports.

import assert from "node:assert/strict";
import { test } from "node:test";

import { bad, good, home, overHttp, overStdio, serve } from "./support.mjs";

const BOARD = "adr-2026-05-07";
const TOPIC = "Should we add mkdocs or mdbook for documentation?";

/** Gives a way to join that is new for every agent, on one place. */
const places = {
  stdio: async (t, place) => () => overStdio(t, place),
  http: async (t, place) => {
    const { url } = await serve(t, place);
    return () => overHttp(t, url);
  },
};

for (const [way, open] of Object.entries(places)) {
  test(`over ${way}: agents decide between mkdocs and mdbook`, async (t) => {
    const join = await open(t, await home(t));
    const [facilitator, mkdocs, mdbook, checker, stranger] = await Promise.all(
      [1, 2, 3, 4, 5].map(() => join()),
    );
    const chair = { board_id: BOARD, agent_name: "facilitator-claude" };
    const as = (agent_name, more = {}) => ({ board_id: BOARD, agent_name, ...more });
    const move = (target_phase) =>
      good(facilitator, "whiteboard_transition", { ...chair, target_phase });

    const opened = await good(facilitator, "whiteboard_open", {
      board_id: BOARD,
      topic: TOPIC,
      opened_by: "facilitator-claude",
    });
    assert.deepEqual([opened.phase, opened.role], ["blind", "facilitator"]);
    const again = { board_id: BOARD, topic: "Again?", opened_by: "somebody" };
    assert.equal((await bad(stranger, "whiteboard_open", again)).code, "taken");

    const register = (session, agent_name, domain) =>
      good(session, "whiteboard_register", as(agent_name, { role: "specialist", domain }));
    const advocate = await register(mkdocs, "mkdocs-advocate", "documentation tooling");
    await register(mdbook, "mdbook-advocate", "Rust tooling");
    await register(checker, "fact-checker", "facts");
    // One session may hold several agents.
    await register(checker, "pr-reviewer@v1.0.0", "reviews");

    const proposal = await good(
      mkdocs,
      "whiteboard_post",
      as("mkdocs-advocate", {
        type: "proposal",
        title: "Adopt mkdocs-material",
        body: "Search, navigation and a dark mode out of the box; our docs are Markdown already.",
        target_file: "docs/index.md",
        target_location: "1-40",
        severity: "high",
        finding_refs: ["F-1"],
      }),
    );
    assert.equal(proposal.post_id, "mkdocs-advocate/1");
    const rival = await good(
      mdbook,
      "whiteboard_post",
      as("mdbook-advocate", {
        type: "proposal",
        title: "Adopt mdbook",
        body: "One static binary, and it speaks Rust.",
        target_file: "docs/index.md",
        target_location: "30-60",
        severity: "low",
        finding_refs: ["F-1"],
        cascade_targets: ["docs/index.md"],
      }),
    );

    // Blind is blind, and a name alone proves nothing.
    const blind = await good(mdbook, "whiteboard_state", as("mdbook-advocate", { detail: "full" }));
    assert.deepEqual(blind.posts.map((post) => post.author), ["mdbook-advocate"]);
    const seen = await good(facilitator, "whiteboard_state", { ...chair, detail: "full" });
    assert.deepEqual(seen.posts, []);
    assert.deepEqual(seen.has_posted, ["mkdocs-advocate", "mdbook-advocate"]);
    assert.match(seen.why_not.join(), /fact-checker has not posted/);
    for (const tool of ["whiteboard_state", "whiteboard_summarize"]) {
      const refused = await bad(stranger, tool, as("mkdocs-advocate"));
      assert.equal(refused.code, "not-your-agent", tool);
    }
    const forged = { type: "claim", title: "Not mine", body: "…" };
    const forgery = await bad(stranger, "whiteboard_post", as("mkdocs-advocate", forged));
    assert.equal(forgery.code, "not-your-agent");
    const early = await bad(mkdocs, "whiteboard_conflicts", as("mkdocs-advocate"));
    assert.deepEqual([early.code, early.state], ["not-now", "blind"]);
    const pushy = as("mkdocs-advocate", { target_phase: "read" });
    assert.equal((await bad(mkdocs, "whiteboard_transition", pushy)).code, "forbidden");
    // The bearer of the token is the agent, in any session.
    const borne = as("mkdocs-advocate", { agent_token: advocate.agent_token });
    const own = await good(stranger, "whiteboard_state", borne);
    assert.deepEqual(own.posts.map((post) => post.title), ["Adopt mkdocs-material"]);

    await move("read");
    const all = await good(stranger, "whiteboard_state", { board_id: BOARD, detail: "full" });
    assert.equal(all.posts.length, 2);
    const { conflicts } = await good(mkdocs, "whiteboard_conflicts", as("mkdocs-advocate"));
    assert.deepEqual(
      conflicts.map((conflict) => conflict.kind).sort(),
      ["cascade_collision", "direct_overlap", "severity_disagreement"],
    );

    await move("validate");
    const validation = {
      post_id: proposal.post_id,
      type: "validation",
      body: "Confirming that mkdocs-material has all of the listed features.",
      result: "confirmed",
    };
    await good(checker, "whiteboard_annotate", as("fact-checker", validation));
    const ownPost = await bad(mkdocs, "whiteboard_annotate", as("mkdocs-advocate", validation));
    assert.equal(ownPost.code, "forbidden");

    await move("debate");
    const challenge = await good(
      mdbook,
      "whiteboard_annotate",
      as("mdbook-advocate", {
        post_id: proposal.post_id,
        type: "challenge",
        body: "mdbook has all of those too, and links to the Rust docs.",
      }),
    );
    await good(
      mkdocs,
      "whiteboard_annotate",
      as("mkdocs-advocate", {
        post_id: proposal.post_id,
        type: "rebuttal",
        challenge_id: challenge.annotation_id,
        body: "We have no Rust docs to link to.",
      }),
    );
    const vote = (session, name, post_id, vote, reason) =>
      good(session, "whiteboard_vote", as(name, { post_id, vote, reason }));
    await vote(facilitator, "facilitator-claude", proposal.post_id, "accept", "Fits our Markdown.");
    await vote(checker, "fact-checker", proposal.post_id, "reject", "Not sure.");
    await vote(checker, "fact-checker", proposal.post_id, "accept", "Checked again.");
    await vote(mdbook, "mdbook-advocate", proposal.post_id, "reject", "Python in the build.");
    await vote(mkdocs, "mkdocs-advocate", rival.post_id, "reject", "Weaker search.");
    await vote(checker, "pr-reviewer@v1.0.0", rival.post_id, "defer");
    const debated = await good(facilitator, "whiteboard_summarize", chair);
    assert.equal(debated.ready_to_advance, false);
    assert.deepEqual(debated.unresolved_challenges.map((open) => open.by), ["mdbook-advocate"]);

    await move("resolve");
    const settle = { post_id: proposal.post_id, type: "resolution", body: "Agreed: no Rust docs." };
    const named = { ...settle, challenge_id: challenge.annotation_id };
    const selfish = await bad(mdbook, "whiteboard_annotate", as("mdbook-advocate", named));
    assert.equal(selfish.code, "forbidden");
    await good(checker, "whiteboard_annotate", as("fact-checker", named));
    const archived = await good(facilitator, "whiteboard_archive", {
      ...chair,
      note: "mkdocs-material it is.",
    });
    assert.deepEqual(archived.summary.outcome, { decision: "accepted", posts: [proposal.post_id] });
    const line = archived.summary.lines.find((line) => line.post_id === proposal.post_id);
    assert.deepEqual(line.tally, { accept: 2, reject: 1, defer: 0 });
    assert.match(archived.record, /^---\nstatus: accepted\n/);
    assert.match(archived.record, /# Should we add mkdocs or mdbook for documentation\?/);
    assert.match(archived.record, /Chosen option: \*\*Adopt mkdocs-material\*\*/);
    assert.match(archived.record, /mkdocs-material it is\./);
    assert.equal(archived.export, undefined);

    const late = await bad(mkdocs, "whiteboard_post", as("mkdocs-advocate", forged));
    assert.deepEqual([late.code, late.state], ["not-now", "archived"]);
    const { whiteboards } = await good(stranger, "whiteboard_list", { status: "archived" });
    assert.deepEqual(whiteboards.map((board) => board.name), [BOARD]);
    const uri = `plenary://whiteboard/${opened.session_id}`;
    const { contents } = await stranger.client.readResource({ uri });
    assert.equal(contents[0].text, archived.record);
  });

  test(`over ${way}: a post that is repeated with its key is made once`, async (t) => {
    const join = await open(t, await home(t));
    const plenary = await join();
    const name = { board_id: "once", agent_name: "ann" };
    await good(plenary, "whiteboard_open", { board_id: "once", topic: "Once?", opened_by: "ann" });
    const post = { ...name, type: "claim", title: "One", body: "1", idempotency_key: "key-1" };
    const first = await good(plenary, "whiteboard_post", post);
    assert.equal((await good(plenary, "whiteboard_post", { ...post })).post_id, first.post_id);
    const other = await bad(plenary, "whiteboard_post", { ...post, title: "Two" });
    assert.equal(other.code, "idempotency-key-reused");
    const state = await good(plenary, "whiteboard_state", name);
    assert.equal(state.posts_total, 1);
  });
}
