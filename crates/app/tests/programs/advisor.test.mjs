// Each of the real programs sits on a board as an advisor: its words are seen while it
// speaks, what it used is counted, and it ends with the board and with Plenary.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  MODEL,
  PLENARY_BIN,
  agentsOf,
  asked,
  bodies,
  clear,
  ended,
  get,
  home,
  post,
  processesOf,
  programs,
  reached,
  release,
  seated,
  serve,
  settle,
  tell,
  until,
} from "./support.mjs";

const QUESTION = "Shall we paint the bicycle shed?";
const ROLE = "You have painted forty sheds and regret three of them.";
const BEGINS = "First of all: yes, with care.";
const GOES_ON = "It can be painted over, so the risk is small, and rain does not wait.";
const WHOLE = `${BEGINS} ${GOES_ON}`;
const USED = [1200, 40];

/**
 * How much of an answer each program tells before it is whole. Claude and Gemini print
 * every word. Codex prints messages, so its model thinks aloud before it calls a tool.
 * Opencode prints a text when it is complete.
 */
const telling = {
  claude: { live: BEGINS, text: WHOLE, used: USED },
  codex: {
    steps: [{ call: "get_goal", text: BEGINS }],
    live: BEGINS,
    text: `${BEGINS}\n\n${WHOLE}`,
    used: USED.map((tokens) => 2 * tokens),
  },
  gemini: { live: BEGINS, text: WHOLE, used: USED },
  opencode: { live: "", text: WHOLE, used: USED },
};

/** A server whose only advisor is this program, held in the middle of its answer. */
async function board(t, name) {
  const place = await home(t);
  t.after(() => clear(place));
  settle(place, name);
  const { url, child } = await serve(t, place);
  const { steps } = telling[name];
  const held = { hold: "middle", holdAfter: BEGINS.split(" ").length };
  const contains = [QUESTION];
  const rule = { when: { model: MODEL, contains }, text: WHOLE, usage: USED, steps, ...held };
  await tell(place, [rule]);
  const advisors = [{ role: "critic", model: seated(name), systemPrompt: ROLE }];
  const { data } = await post(`${url}/api/boardrooms`, {
    prompt: QUESTION,
    advisors,
    synthesizer: "ollama/a",
  });
  const now = async () => (await get(`${url}/api/boardrooms/${data.id}`)).data;
  await reached(place, "middle").catch(async (late) => {
    throw new Error(`${late.message}\n${JSON.stringify(await now())}`);
  });
  return { place, url, child, id: data.id, now };
}

/** What the advisor has said when the beginning of its answer is there. */
async function begun({ now }, name) {
  const { live } = telling[name];
  return until(`the first words of ${name}`, async () => {
    const { status, advisors } = await now();
    assert.equal(status, "answering");
    const said = (advisors[0].text ?? "").trim();
    return (live ? said.startsWith(live) : said === "") && advisors[0];
  });
}

/** The role was the program's system prompt, and no words of the user's. */
async function checkRole(place, name) {
  const requests = (await bodies(place)).filter((body) => JSON.stringify(body).includes(QUESTION));
  const told = requests.filter(({ model }) => model !== "a").map(programs[name].told);
  assert.notDeepEqual(told, []);
  for (const [system, said] of told) {
    assert(JSON.stringify(system).includes(ROLE), `no role in ${JSON.stringify(system)}`);
    assert(!JSON.stringify(said).includes(ROLE), "the role is a part of the conversation");
  }
}

const gone = (place) => until("the agent's end", () => agentsOf(place).length === 0);

for (const name of Object.keys(programs)) {
  test(`${name} advises: its words are live, and what it used is counted`, async (t) => {
    const seat = await board(t, name);
    await begun(seat, name);
    await release(seat.place, "middle");
    const over = await until("the board's end", async () => {
      const board = await seat.now();
      return board.status !== "answering" && board.status !== "synthesizing" && board;
    });
    const [advisor] = over.advisors;
    assert.equal(over.status, "closed", JSON.stringify(over));
    assert.equal(advisor.text, telling[name].text);
    assert.deepEqual([advisor.usage.inputTokens, advisor.usage.outputTokens], telling[name].used);
    await checkRole(seat.place, name);
    await gone(seat.place);
  });

  test(`${name} is stopped, and what it had said is kept`, async (t) => {
    const seat = await board(t, name);
    const said = await begun(seat, name);
    assert.notDeepEqual(agentsOf(seat.place), [], "nothing runs that could be stopped");
    await post(`${seat.url}/api/boardrooms/${seat.id}/stop`);
    const { status, advisors } = await seat.now();
    assert.deepEqual([status, advisors[0].status], ["stopped", "stopped"]);
    assert.equal(advisors[0].text ?? "", said.text ?? "");
    await gone(seat.place);
    await until("the end of its request", async () => {
      const requests = await asked(seat.place);
      return requests.filter((request) => request.model === MODEL).at(-1).dropped;
    });
  });

  test(`${name} does not outlive a Plenary that is killed`, async (t) => {
    const seat = await board(t, name);
    assert.notDeepEqual(agentsOf(seat.place), [], "nothing runs that could be left over");
    seat.child.kill("SIGKILL");
    await until("the end of all", () => processesOf(seat.place).length === 0);
  });
}

test("all of them sit on one board that is asked for on the command line", async (t) => {
  const place = await home(t);
  const names = Object.keys(programs);
  settle(place, ...names);
  await tell(place, [
    // Without a text, what the headings ask for.
    { when: { contains: ["## Points of Divergence"] } },
    { when: { model: MODEL, contains: [QUESTION] }, text: WHOLE, usage: USED },
  ]);
  const seats = ["advocate", "critic", "analyst", "expert"];
  const advisors = names.flatMap((name, at) => ["--advisor", `${seats[at]}=${seated(name)}`]);
  const args = ["ask", QUESTION, ...advisors, "--synthesizer", seated("claude"), "--json"];
  const board = JSON.parse(await ended(t, place, PLENARY_BIN, args, place.env));
  const said = board.advisors.map(({ model, text, usage }) => [
    model, text, [usage.inputTokens, usage.outputTokens],
  ]);
  assert.deepEqual(said, names.map((name) => [seated(name), WHOLE, USED]));
  // Claude says what it costs.
  assert.ok(board.advisors[names.indexOf("claude")].usage.costUsd > 0);
  assert.equal(board.status, "closed");
  assert.deepEqual(agentsOf(place), []);
});
