// Two real agents decide on one whiteboard, from open to archive. Over standard input
// and output each of the programs leads once and takes part once, through a `plenary
// mcp` of its own; Claude does both over HTTP, too.

import assert from "node:assert/strict";
import { test } from "node:test";

import { asked, get, home, programs, reached, release, serve, tell, work } from "./support.mjs";

const BOARD = "docs-2026";
const TOPIC = "Should we use mkdocs or mdbook?";
const LEADS = "You lead the whiteboard.";
const TAKES_PART = "You take part in the whiteboard.";
const [CHAIR, ADVOCATE] = ["chair", "advocate"];
const PROPOSAL = { type: "proposal", title: "Adopt mkdocs", body: "It has search." };

/** A step for each call. The model knows how to find tools in the program that it is in. */
function steps(program, calls) {
  const tools = new Set(calls.map(([tool]) => tool));
  const made = calls.map(([tool, args, hold]) => ({ call: tool, with: args, hold }));
  return [...programs[program].finds([...tools]), ...made];
}

/**
 * What the two models do, each held where it has to wait for the other. A session of MCP
 * knows the agents that it registered; where there are no sessions, their tokens go with
 * every call.
 */
function rules(leader, other, sessions) {
  const who = (agent_name, step) => ({
    board_id: BOARD,
    agent_name,
    ...(sessions ? {} : { agent_token: `\${${step}.agent_token}` }),
  });
  const chair = who(CHAIR, "whiteboard_open");
  const advocate = who(ADVOCATE, "whiteboard_register");
  const [post_id, challenge_id] = [`${ADVOCATE}/1`, `${CHAIR}/a1`];
  const move = (target_phase, hold) => ["whiteboard_transition", { ...chair, target_phase }, hold];
  const leads = [
    ["whiteboard_open", { board_id: BOARD, topic: TOPIC, opened_by: CHAIR }],
    move("read", "posted"),
    ["whiteboard_state", chair],
    move("debate"),
    ["whiteboard_annotate", { ...chair, post_id, type: "challenge", body: "Python in our build." }],
    ["whiteboard_vote", { ...chair, post_id, vote: "accept", reason: "It fits." }, "rebutted"],
    move("resolve"),
    ["whiteboard_archive", { ...chair, note: "mkdocs it is." }],
  ];
  const takesPart = [
    ["whiteboard_register", { board_id: BOARD, agent_name: ADVOCATE, role: "specialist" }],
    ["whiteboard_post", { ...advocate, ...PROPOSAL }],
    [
      "whiteboard_annotate",
      { ...advocate, post_id, type: "rebuttal", challenge_id, body: "CI builds it." },
      "challenged",
    ],
    [
      "whiteboard_annotate",
      { ...advocate, post_id, type: "resolution", challenge_id, body: "Agreed: CI only." },
    ],
  ];
  return [
    { when: { contains: [LEADS] }, steps: steps(leader, leads), text: "The board is archived." },
    { when: { contains: [TAKES_PART] }, steps: steps(other, takesPart), text: "I have said it." },
  ];
}

/** Lets both programs work until the board is archived, and gives what they printed. */
async function decide(t, place, leader, other) {
  const leading = work(t, place, leader, LEADS);
  // Whatever goes wrong in a program is of more interest than that a hold is not reached.
  await Promise.race([reached(place, "posted"), leading]);
  const takingPart = work(t, place, other, TAKES_PART);
  await Promise.race([reached(place, "challenged"), leading, takingPart]);
  await release(place, "posted");
  await Promise.race([reached(place, "rebutted"), leading, takingPart]);
  await release(place, "challenged");
  const said = await takingPart;
  await release(place, "rebutted");
  return [await leading, said];
}

/** The record in Plenary is what the two models did, each thing once. */
async function check(url) {
  const { data: board } = await get(`${url}/api/whiteboards/${BOARD}?detail=full`);
  const posts = board.posts.map(({ author, title, standing, tally, annotations }) => {
    const notes = annotations.map(({ by, type, body }) => [by, type, body]);
    return { author, title, standing, tally, notes };
  });
  const expected = {
    author: ADVOCATE,
    title: PROPOSAL.title,
    standing: "surviving",
    tally: { accept: 1, reject: 0, defer: 0 },
    notes: [
      [CHAIR, "challenge", "Python in our build."],
      [ADVOCATE, "rebuttal", "CI builds it."],
      [ADVOCATE, "resolution", "Agreed: CI only."],
    ],
  };
  assert.deepEqual(posts, [expected]);
  assert.deepEqual(board.agents.map(({ agentName }) => agentName), [CHAIR, ADVOCATE]);
  assert.deepEqual(board.steps.map(({ to, by }) => [to, by]), [
    ["read", CHAIR],
    ["debate", CHAIR],
    ["resolve", CHAIR],
    ["archived", CHAIR],
  ]);
}

/** Each model was told once what came of each of its steps; gives what it was told. */
async function checkTold(place, rules) {
  const results = (await asked(place)).map(({ result }) => result).filter((result) => result);
  assert.equal(results.length, rules.flatMap(({ steps }) => steps).length);
  const told = results.map((result) => JSON.stringify(result));
  const archived = told.filter((result) => result.includes("Chosen option: **Adopt mkdocs**"));
  assert.equal(archived.length, 1);
  return told;
}

const pairs = [
  ["claude", "codex"],
  ["codex", "gemini"],
  ["gemini", "opencode"],
  ["opencode", "claude"],
];

for (const [leader, other] of pairs) {
  test(`over stdio: ${leader} leads a whiteboard in which ${other} takes part`, async (t) => {
    const place = await home(t);
    for (const name of [leader, other]) {
      programs[name].settings(place);
      await programs[name].register(t, place);
    }
    const told = rules(leader, other, true);
    await tell(place, told);
    const [led, took] = await decide(t, place, leader, other);
    assert.match(led, /The board is archived\./);
    assert.match(took, /I have said it\./);
    await check((await serve(t, place)).url);
    await checkTold(place, told);
  });
}

test("over HTTP: claude leads a whiteboard in which claude takes part", async (t) => {
  const place = await home(t);
  const { url } = await serve(t, place);
  await programs.claude.registerHttp(t, place, url);
  const told = rules("claude", "claude", false);
  // The first time, the model forgets the token, and is told so.
  const chair = { board_id: BOARD, agent_name: CHAIR, target_phase: "read" };
  const forgets = { call: "whiteboard_transition", with: chair };
  const { steps } = told[0];
  steps.splice(1 + steps.findIndex(({ call }) => call === "whiteboard_open"), 0, forgets);
  await tell(place, told);
  const [led, took] = await decide(t, place, "claude", "claude");
  assert.match(led, /The board is archived\./);
  assert.match(took, /I have said it\./);
  await check(url);
  const results = await checkTold(place, told);
  assert.match(results[1], /agent_token and send it with every call/);
  assert.match(results[2], /not-your-agent.*agent_token/);
});
