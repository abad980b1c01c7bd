// Every page in every main state: what axe looks at and what pictures are taken of.

import type { Page } from "playwright-core";
import {
  awaited,
  board,
  council,
  discussion,
  example,
  got,
  run,
  say,
  settled,
  startStored,
  stored,
  Whiteboard,
} from "./arrange";
import {
  ADVOCATE,
  advisor,
  ANALYST,
  anyAdvisor,
  ballot,
  conclusion,
  CRITIC,
  decision,
  member,
  PRICES,
  sections,
  turn,
  verdict,
} from "./cast";
import type { ModelServer, Server } from "./programs";

export interface Place {
  models: ModelServer;
  server: Server;
}

export interface Opened {
  address: string;
  /** What the browser knows from an earlier visit. */
  remembered: Record<string, unknown>;
}

export interface Scene {
  name: string;
  /** Brings the server there, and says which address to open. */
  prepare: (place: Place) => Promise<string | Opened>;
  /** Returns when the page shows it. */
  ready: (page: Page) => Promise<unknown>;
  settings?: Record<string, string>;
  config?: string;
}

/** Opens a scene that has been prepared, and returns when it is there. */
export async function enter(page: Page, scene: Scene, opened: string | Opened): Promise<void> {
  if (typeof opened !== "string") {
    await page.addInitScript((remembered) => {
      for (const [name, value] of Object.entries(remembered)) {
        localStorage.setItem(`plenary.${name}`, JSON.stringify(value));
      }
    }, opened.remembered);
  }
  await page.goto(typeof opened === "string" ? opened : opened.address);
  await scene.ready(page);
}

/** A board as one of its agents sees it. */
function seenBy(wall: Whiteboard, name: string, role: string): Opened {
  const identity = { name, role, token: wall.tokenOf(name) };
  return {
    address: `/whiteboards/${wall.id}`,
    remembered: { [`whiteboard.${wall.id}`]: { identities: [identity], last: name } },
  };
}

const QUESTION = "Should we put a Redis cache in front of Postgres?";
const VERDICT = sections(
  "Adopt the cache on the read path, behind a **rehearsed rollback**. Review after two weeks.",
  "- *Ownership*: the Critic and the Devil's Advocate doubt that the team can run it at night.\n- *Alternative*: the Analyst would try materialised views first.",
);
const EXPERT =
  "Expire by time, not by event: a TTL of **30 s** keeps stale reads bounded.\n\n```rust\nlet row = self.cache.get(key).await?;\n```\n\n> Invalidation bugs show at failover, not before.";
const GENERALIST =
  "Write the way back down first.\n\n1. Who is called?\n2. What do they do?\n3. How do they know it worked?";
const FORMULAS =
  "It turns on one number, $p_{\\text{fail}}$, and on how often it is asked for:\n\n$$\nE[\\text{cost}] = \\sum_{i=1}^{n} p_i \\cdot \\frac{c_i}{1 + r}\n$$\n\nAt $5 and $6 a call this breaks even at $n \\ge 11$. What is missing is the share that was measured, and who did it.";
const OPPOSITE =
  "Most will say *cache it*. The cheaper answer is an index.\n\n- [ ] Look at the slowest ten queries\n- [x] Read the plans";

const ANSWERS = [
  advisor("advocate", { text: ADVOCATE }),
  advisor("critic", { text: CRITIC }),
  advisor("analyst", { text: ANALYST }),
  advisor("devils-advocate", { text: OPPOSITE }),
  advisor("expert", { text: EXPERT, reasoning: "What fails first is failover." }),
  advisor("generalist", { text: GENERALIST }),
];

async function closedBoard({ models, server }: Place, withVotes = false): Promise<string> {
  await models.say(verdict({ text: VERDICT }), ballot(), ...ANSWERS);
  const id = await board(server, { prompt: QUESTION, board: "full-board", ballot: withVotes });
  await settled(server, id);
  return id;
}

async function talk({ models, server }: Place, more: object = {}): Promise<string> {
  const order = (next: string, question: string) =>
    JSON.stringify({
      decision: "continue",
      nextParticipantId: next,
      question,
      reasoning: "The strongest doubt should be heard before the plan is refined.",
    });
  await models.say(
    decision({
      texts: [
        order("operations", "What breaks first when this goes wrong at night?"),
        order("finance", "What would it cost, and what would it save?"),
      ],
    }),
    conclusion({
      text: "The question was whether to pay the night shift more.\n\n**Operations** and **Finance** agree that it should be, from next month, for half a year. What stays open is how to measure whether it helped.",
    }),
    turn({
      texts: [
        "At night there is *one* person for four services. Two alarms at once are one too many.\n\n- Mean time to answer: 14 minutes\n- By day: 3 minutes",
        "About **€4,200** a month. One outage like the one in March cost more than a year of that.",
      ],
    }),
  );
  return discussion(server, {
    topic: "Should the night shift be paid more?",
    facilitator: { name: "Chair", model: "alpha" },
    participants: [
      { name: "Operations", model: "beta" },
      { name: "Finance", model: "gamma", role: "devil_advocate" },
      { name: "Works council", model: "delta", role: "observer" },
    ],
    maxRounds: 2,
    start: true,
    ...more,
  });
}

async function whiteboard({ server }: Place): Promise<Whiteboard> {
  const wall = await Whiteboard.open(server, "sessions", "Where do we keep sessions?");
  await wall.register("bob");
  await wall.register("cleo", "operator");
  const target = { targetFile: "src/session.rs", targetLocation: "12-40" };
  await wall.post("bob", {
    type: "proposal",
    title: "Keep sessions in Redis",
    body: "Reads are **ten times** as many as writes.\n\n- p95 falls to 130 ms\n- one more thing to run",
    ...target,
    severity: "high",
  });
  await wall.post("cleo", {
    type: "concern",
    title: "Nobody here has run Redis at night",
    body: "The last outage took two hours because nobody knew the way back.",
    targetFile: "src/session.rs",
    targetLocation: "30-50",
    severity: "medium",
  });
  await wall.post("ada", {
    type: "claim",
    title: "Postgres is enough up to 2,000 sessions",
    body: "Measured last week with the load of May.",
  });
  return wall;
}

async function debated(place: Place): Promise<Whiteboard> {
  const wall = await whiteboard(place);
  await wall.move("ada", "read");
  await wall.move("ada", "validate");
  const [proposal, concern, claim] = ["bob/1", "cleo/1", "ada/1"] as const;
  await wall.annotate("bob", {
    postId: claim,
    type: "validation",
    result: "confirmed",
    body: "Seen again on my machine.",
  });
  await wall.annotate("ada", {
    postId: concern,
    type: "validation",
    result: "inconclusive",
    body: "It was another service.",
  });
  await wall.move("ada", "debate");
  await wall.annotate("cleo", {
    postId: proposal,
    type: "challenge",
    body: "Who is called when it fails?",
  });
  await wall.annotate("ada", {
    postId: proposal,
    type: "corroboration",
    body: "The figures hold.",
  });
  await wall.vote("ada", { postId: proposal, vote: "accept", reason: "It held in the test." });
  await wall.vote("cleo", { postId: proposal, vote: "reject", reason: "Not without a rehearsal." });
  await wall.vote("bob", { postId: claim, vote: "accept" });
  return wall;
}

async function thread({ models, server }: Place, hold?: string): Promise<void> {
  await models.say(
    member({
      text: "I would try it for two weeks first, with one person who decides. Post 1 leaves open who that is.",
      ...(hold !== undefined && { hold, holdAfter: 9 }),
    }),
  );
  await council(server, {
    name: "night-shift",
    charter:
      "Who is on call at night, and how we ask them.\n\n- Be short.\n- Say what you do not know.",
    members: [{ name: "Skeptic", model: "alpha", persona: "You doubt." }, { name: "Ada" }],
  });
  await say(server, "night-shift", "Ada", [
    "The rota of **May** has two gaps: the 4th and the 19th.",
    "@Skeptic should we ask for volunteers?",
  ]);
}

const FAILING = `name: nightly
title: What changed last night?
steps:
  fetch:
    label: Read the build log
    http: { get: "https://ci.example/log" }
  report: { ask: { prompt: "Sum this up: {{ steps.fetch.body }}" } }
`;

async function savedBoard(server: Server): Promise<void> {
  await server.api.POST("/api/boards", {
    body: {
      name: "security-board",
      title: "Security board",
      description: "May we, and what does the law say?",
      seats: [
        { role: "critic", tier: "strong", tries: 3, temperature: 0.9 },
        { role: "Compliance officer", colour: "#00897b", initials: "CO", glyph: "§" },
        { role: "expert", person: "Ada", replyWithinSeconds: 3_600 },
      ],
    },
  });
}

const heading = (page: Page) => page.getByRole("heading", { level: 1 }).waitFor();
const text = (words: string | RegExp) => (page: Page) =>
  page.getByRole("main").getByText(words).first().waitFor();
const button = (name: RegExp) => (page: Page) =>
  page.getByRole("main").getByRole("button", { name }).first().waitFor();
const at = (address: string) => () => Promise.resolve(address);

export const SCENES: Scene[] = [
  { name: "home-first-run", prepare: at("/"), ready: text("4 models") },
  {
    name: "home",
    prepare: async (place) => {
      await closedBoard(place);
      await thread(place);
      await whiteboard(place);
      await place.models.say(anyAdvisor({ text: "Slowly, ", hold: "home", holdAfter: 1 }));
      await board(place.server, { prompt: "May we ship on Fridays?" });
      return "/";
    },
    ready: text("May we ship on Fridays?"),
  },
  {
    name: "home-no-model",
    prepare: at("/"),
    ready: heading,
    settings: { OLLAMA_HOST: "http://127.0.0.1:9" },
  },
  {
    name: "token",
    prepare: at("/"),
    ready: heading,
    settings: { PLENARY_TOKEN: "a-token-for-a-picture" },
  },
  { name: "nowhere", prepare: at("/nowhere/at/all"), ready: heading },
  {
    name: "palette",
    prepare: at("/settings"),
    ready: async (page) => {
      await heading(page);
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
    },
  },
  {
    name: "help",
    prepare: at("/settings"),
    ready: async (page) => {
      await heading(page);
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
  { name: "boardrooms", prepare: at("/boardrooms"), ready: text("Edit board") },
  {
    name: "boardrooms-editing",
    prepare: at("/boardrooms"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Edit board" }).click();
      await page.getByRole("button", { name: "Add advisor" }).waitFor();
    },
  },
  {
    name: "boardroom-writing",
    prepare: async ({ models, server }) => {
      const held = ANSWERS.map((rule) => ({ ...rule, hold: "half", holdAfter: 14 }));
      await models.say(...held);
      const id = await board(server, { prompt: QUESTION, board: "full-board" });
      await models.reached("half", held.length);
      return `/boardrooms/${id}`;
    },
    ready: text("writing"),
  },
  {
    name: "boardroom-live",
    prepare: async ({ models, server }) => {
      await models.say(
        advisor("advocate", { text: ADVOCATE }),
        advisor("critic", { text: CRITIC, hold: "half", holdAfter: 20 }),
        advisor("analyst", { text: FORMULAS, hold: "half", holdAfter: 40 }),
        advisor("devils-advocate", { text: OPPOSITE }),
        advisor("expert", {
          text: EXPERT,
          fault: { cutAfter: { tokens: 16 } },
          faults: 1,
        }),
        advisor("generalist", { text: GENERALIST, fault: { rateLimited: { retryAfter: 40 } } }),
      );
      const budget = { tokens: 60_000, cost: 0.5 };
      const id = await board(server, { prompt: QUESTION, board: "full-board", budget });
      await models.reached("half", 2);
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      await page.getByText("retrying").first().waitFor();
      await page.getByText("finished").nth(2).waitFor();
    },
    config: PRICES,
  },
  {
    name: "boardroom-synthesizing",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT, hold: "half", holdAfter: 24 }), ...ANSWERS);
      const id = await board(server, { prompt: QUESTION, board: "full-board" });
      await models.reached("half");
      return `/boardrooms/${id}`;
    },
    ready: text("Points of agreement"),
  },
  {
    name: "boardroom-closed",
    prepare: async (place) => `/boardrooms/${await closedBoard(place)}`,
    ready: text("Adopt the cache"),
  },
  {
    name: "boardroom-focus",
    prepare: async (place) => `/boardrooms/${await closedBoard(place)}`,
    ready: async (page) => {
      await text("Adopt the cache")(page);
      await page.keyboard.press("3");
    },
  },
  {
    name: "boardroom-resynthesize",
    prepare: async (place) => `/boardrooms/${await closedBoard(place)}`,
    ready: async (page) => {
      await text("Adopt the cache")(page);
      await page.keyboard.press("r");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "boardroom-compare",
    prepare: async (place) => {
      const id = await closedBoard(place);
      await place.models.say(
        verdict({ text: sections("Try an index first, then measure again.") }),
      );
      await place.server.api.POST("/api/boardrooms/{id}/resynthesize", {
        params: { path: { id } },
        body: { instruction: "In one sentence" },
      });
      await settled(place.server, id);
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      await page.getByRole("button", { name: "Compare v1 → v2" }).click();
      await page.getByRole("dialog").getByText("Try an index first").waitFor();
    },
  },
  {
    name: "boardroom-follow-up",
    prepare: async (place) => {
      await place.models.say(verdict({ text: VERDICT }), ...ANSWERS);
      const id = await board(place.server, { prompt: QUESTION, budget: { tokens: 60_000 } });
      await settled(place.server, id);
      await place.server.api.POST("/api/boardrooms/{id}/follow-up", {
        params: { path: { id } },
        body: { prompt: "@critic And who is on call for it?" },
      });
      await settled(place.server, id);
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      await text("Adopt the cache")(page);
      await page.getByRole("region", { name: "Earlier questions" }).getByText(QUESTION).click();
      await page.getByRole("region", { name: "Analyst, then" }).waitFor();
    },
  },
  {
    name: "boardroom-priced",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT }), ...ANSWERS);
      const budget = { tokens: 60_000, cost: 0.5, seconds: 900 };
      const id = await board(server, { prompt: QUESTION, budget });
      await settled(server, id);
      return `/boardrooms/${id}`;
    },
    ready: text("Adopt the cache"),
    config: PRICES,
  },
  {
    name: "boardroom-budget",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT }), ...ANSWERS);
      const budget = { tokens: 60_000, cost: 0.5, seconds: 900 };
      const id = await board(server, { prompt: QUESTION, budget });
      await settled(server, id);
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      await text("Adopt the cache")(page);
      await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
      await page.getByRole("menuitem", { name: "Change budget…" }).click();
      await page.getByRole("dialog").getByText("Spent so far").waitFor();
    },
    config: PRICES,
  },
  {
    name: "boardrooms-priced",
    prepare: at("/boardrooms"),
    ready: async (page) => {
      await page.getByRole("textbox", { name: "Question for the board" }).fill(QUESTION);
      await page.getByText(/^Estimate/).waitFor();
      await page.getByRole("button", { name: "Edit board" }).click();
      await page.getByLabel("Cost (USD)").scrollIntoViewIfNeeded();
    },
    config: PRICES,
  },
  {
    name: "boardroom-votes",
    prepare: async (place) => `/boardrooms/${await closedBoard(place, true)}`,
    ready: button(/6 accept/),
  },
  {
    name: "boardroom-agreement",
    prepare: async (place) => `/boardrooms/${await closedBoard(place, true)}`,
    ready: async (page) => {
      await button(/6 accept/)(page);
      // Where there is room, the parts of the map stand beneath each other.
      const tab = page.getByRole("tab", { name: "Agreement" });
      if (await tab.isVisible()) await tab.click();
      await page
        .getByRole("button", { name: /percent/ })
        .first()
        .click();
    },
  },
  {
    name: "boardroom-renamed",
    prepare: async (place) => {
      const id = await closedBoard(place);
      const params = { path: { id } };
      const body = { title: "The cache question", pinned: true };
      await got(place.server.api.PATCH("/api/sessions/{id}", { params, body }));
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      await page.getByRole("heading", { level: 1, name: "The cache question" }).waitFor();
      await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
    },
  },
  {
    name: "boardroom-tabs",
    prepare: async (place) => ({
      address: `/boardrooms/${await closedBoard(place)}`,
      remembered: { "board.layout": "tabs" },
    }),
    ready: text("Adopt the cache"),
  },
  {
    name: "boardroom-failed",
    prepare: async ({ models, server }) => {
      await models.say(
        verdict({ text: VERDICT }),
        advisor("critic", { text: CRITIC, fault: { badUtf8After: { tokens: 30 } } }),
        advisor("analyst", { fault: "noSuchModel" }),
        ...ANSWERS,
      );
      const id = await board(server, { prompt: QUESTION });
      await settled(server, id);
      return `/boardrooms/${id}`;
    },
    ready: text("Adopt the cache"),
  },
  {
    name: "boardroom-person",
    prepare: async ({ models, server }) => {
      await models.say(...ANSWERS);
      const id = await board(server, {
        prompt: QUESTION,
        advisors: [{ role: "advocate" }, { role: "critic", person: "Ada" }],
      });
      return `/boardrooms/${id}`;
    },
    ready: text("Waiting for Ada"),
  },
  {
    name: "boardroom-stopped",
    prepare: async ({ models, server }) => {
      const held = ANSWERS.map((rule) => ({ ...rule, hold: "stop", holdAfter: 10 }));
      await models.say(...held);
      const id = await board(server, { prompt: QUESTION });
      await models.reached("stop", 3);
      await server.api.POST("/api/boardrooms/{id}/stop", { params: { path: { id } } });
      return `/boardrooms/${id}`;
    },
    ready: text("There is no verdict"),
  },
  { name: "discussions-empty", prepare: at("/discussions"), ready: heading },
  {
    name: "discussions",
    prepare: async (place) => {
      await settled(place.server, await talk(place));
      return "/discussions";
    },
    ready: text("Should the night shift be paid more?"),
  },
  { name: "wizard-topic", prepare: at("/discussions/new"), ready: text("Brainstorm") },
  {
    name: "wizard-seats",
    prepare: at("/discussions/new"),
    ready: async (page) => {
      await page.getByRole("textbox", { name: "Topic" }).fill("Should we?");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "Facilitator and participants" }).waitFor();
    },
  },
  {
    name: "wizard-rounds",
    prepare: at("/discussions/new"),
    ready: async (page) => {
      await page.getByRole("textbox", { name: "Topic" }).fill("Should we?");
      for (const step of ["Facilitator and participants", "Rounds and review"]) {
        await page.getByRole("button", { name: "Continue" }).click();
        await page.getByRole("heading", { level: 2, name: step }).waitFor();
      }
    },
  },
  {
    name: "discussion-speaking",
    prepare: async (place) => {
      const id = await talk(place, { start: false });
      await place.models.say(
        turn({
          text: "At night there is *one* person for four services.",
          hold: "turn",
          holdAfter: 6,
        }),
      );
      await place.server.api.POST("/api/discussions/{id}/start", { params: { path: { id } } });
      await place.models.reached("turn");
      return `/discussions/${id}`;
    },
    ready: text("At night there is"),
  },
  {
    name: "discussion-draft",
    prepare: async (place) => `/discussions/${await talk(place, { start: false })}`,
    ready: heading,
  },
  {
    name: "discussion-person",
    prepare: async (place) => {
      const participants = [{ person: "Ada" }, { name: "Finance", model: "beta" }];
      await place.models.say();
      const id = await discussion(place.server, {
        topic: "Should the night shift be paid more?",
        participants,
        start: true,
      });
      return `/discussions/${id}`;
    },
    ready: text("It is Ada’s turn"),
  },
  {
    name: "discussion-concluded",
    prepare: async (place) => {
      const id = await talk(place);
      await settled(place.server, id);
      return `/discussions/${id}`;
    },
    ready: text("What stays open"),
  },
  { name: "whiteboards-empty", prepare: at("/whiteboards"), ready: heading },
  {
    name: "whiteboards",
    prepare: async (place) => {
      await whiteboard(place);
      return "/whiteboards";
    },
    ready: text("Where do we keep sessions?"),
  },
  {
    name: "whiteboards-open",
    prepare: at("/whiteboards"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Open a whiteboard" }).first().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "whiteboard-blind",
    prepare: async (place) => `/whiteboards/${(await whiteboard(place)).id}`,
    ready: text("Everyone writes before they know what others think"),
  },
  {
    name: "whiteboard-read",
    prepare: async (place) => {
      const wall = await whiteboard(place);
      await wall.move("ada", "read");
      return `/whiteboards/${wall.id}`;
    },
    ready: text("Keep sessions in Redis"),
  },
  {
    name: "whiteboard-conflicts",
    prepare: async (place) => {
      const wall = await whiteboard(place);
      await wall.move("ada", "read");
      return `/whiteboards/${wall.id}`;
    },
    ready: async (page) => {
      await page.getByRole("tab", { name: /^Conflicts/ }).click();
      await page.getByText("overlaps with").first().waitFor();
    },
  },
  {
    name: "whiteboard-debate",
    prepare: async (place) => `/whiteboards/${(await debated(place)).id}`,
    ready: text("Who is called when it fails?"),
  },
  {
    name: "whiteboard-facilitator",
    prepare: async (place) => seenBy(await whiteboard(place), "ada", "facilitator"),
    ready: text("Postgres is enough"),
  },
  {
    name: "whiteboard-seat",
    prepare: async (place) => seenBy(await whiteboard(place), "ada", "facilitator"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Seat a model…" }).click();
      await page.getByRole("dialog").getByText("takes part automatically").waitFor();
    },
  },
  {
    name: "whiteboard-move",
    prepare: async (place) => seenBy(await debated(place), "ada", "facilitator"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Move on…" }).click();
      await page.getByRole("dialog").getByText("Becomes visible").waitFor();
    },
  },
  {
    name: "whiteboard-voting",
    prepare: async (place) => seenBy(await debated(place), "bob", "specialist"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Accept" }).first().click();
      await page.getByRole("button", { name: "Challenge" }).first().click();
    },
  },
  {
    name: "whiteboard-archived",
    prepare: async (place) => {
      const wall = await debated(place);
      await wall.move("ada", "resolve");
      await wall.move("ada", "archived");
      return `/whiteboards/${wall.id}`;
    },
    ready: text("Decision record"),
  },
  { name: "councils-empty", prepare: at("/councils"), ready: heading },
  {
    name: "councils",
    prepare: async (place) => {
      await thread(place);
      return "/councils";
    },
    ready: text("night-shift"),
  },
  {
    name: "councils-open",
    prepare: at("/councils"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Open a council" }).first().click();
      await page.getByRole("button", { name: "Add member" }).click();
    },
  },
  {
    name: "council-answering",
    prepare: async (place) => {
      await thread(place, "answer");
      await place.models.reached("answer");
      return "/councils/night-shift";
    },
    ready: text("I would try it for two weeks"),
  },
  {
    name: "council",
    prepare: async (place) => {
      await thread(place);
      return "/councils/night-shift";
    },
    ready: text("Post 1 leaves open who that is."),
  },
  {
    name: "council-edit",
    prepare: async (place) => {
      await thread(place);
      return "/councils/night-shift";
    },
    ready: async (page) => {
      await page.getByRole("button", { name: "Edit…" }).click();
      const dialog = page.getByRole("dialog", { name: "Edit this council" });
      await dialog
        .getByRole("button", { name: /^Remove / })
        .first()
        .click();
      await dialog.getByRole("button", { name: "Add member" }).click();
    },
  },
  {
    name: "run-awaited",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT }), ballot(), ...ANSWERS);
      const inputs = { question: QUESTION, people: ["ann", "ben"] };
      return `/runs/${await run(server, example("panel-then-person"), inputs)}`;
    },
    ready: (page) => page.getByRole("link", { name: "Decide" }).waitFor(),
  },
  {
    name: "run-decide",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT }), ballot(), ...ANSWERS);
      const inputs = { question: QUESTION, people: ["ann", "ben"] };
      const id = await run(server, example("panel-then-person"), inputs);
      await awaited(server, id);
      return `/runs/${id}/decide`;
    },
    ready: text("What happens next"),
  },
  {
    name: "run-refused",
    prepare: async ({ models, server }) => {
      await models.say(verdict({ text: VERDICT }), ballot(), ...ANSWERS);
      const inputs = { question: QUESTION, people: ["ann"] };
      const id = await run(server, example("panel-then-person"), inputs);
      await awaited(server, id);
      return `/runs/${id}/decide`;
    },
    ready: async (page) => {
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByText("Enter a reason.").waitFor();
    },
  },
  {
    name: "run-done",
    prepare: async ({ server }) => {
      const id = await run(server, example("adr"), { topic: "Which queue do we use?" });
      await settled(server, id);
      return `/runs/${id}`;
    },
    ready: async (page) => {
      await text("Outcome")(page);
      await page.getByRole("radio", { name: "Graph" }).check({ force: true });
      await page
        .getByRole("button", { name: /archive/ })
        .first()
        .click();
      await page.getByRole("complementary", { name: "Step archive" }).waitFor();
    },
  },
  {
    name: "run-list",
    prepare: async ({ server }) => {
      const id = await run(server, example("adr"), { topic: "Which queue do we use?" });
      await settled(server, id);
      return `/runs/${id}`;
    },
    ready: async (page) => {
      await text("Outcome")(page);
      await page.getByRole("radio", { name: "List" }).check({ force: true });
      const step = page.locator('[data-step="archive"]');
      await step.getByText("Details").click();
      await step.getByText("Output").waitFor();
    },
  },
  {
    name: "run-failed",
    prepare: async ({ server }) => {
      const id = await run(server, FAILING);
      await settled(server, id);
      return `/runs/${id}`;
    },
    ready: text("failed"),
  },
  { name: "workflows-empty", prepare: at("/workflows"), ready: text("New workflow") },
  {
    name: "workflows",
    prepare: async (place) => {
      await stored(place.server, "adr", "panel-then-person", "weekly-council");
      await startStored(place.server, "adr", { topic: "Which queue do we use?" });
      return "/workflows";
    },
    ready: text("weekly-council"),
  },
  {
    name: "workflow-run",
    prepare: async ({ server }) => {
      await stored(server, "adr");
      return "/workflows";
    },
    ready: async (page) => {
      await page.getByRole("button", { name: "Run adr" }).click();
      await page.getByRole("dialog").getByLabel("topic").waitFor();
    },
  },
  {
    name: "workflow-editor",
    prepare: async ({ server }) => {
      await stored(server, "adr");
      return "/workflows/adr";
    },
    ready: text("At most"),
  },
  {
    name: "workflow-wrong",
    prepare: async ({ server }) => {
      await stored(server, "adr");
      const wrong = example("adr").replace("{{ steps.board.id }}", "{{ steps.bord.id }}");
      return { address: "/workflows/adr", remembered: { "workflow-draft.adr": wrong } };
    },
    ready: text("Replace with board"),
  },
  { name: "history-empty", prepare: at("/history"), ready: heading },
  {
    name: "history",
    prepare: async (place) => {
      await closedBoard(place);
      await thread(place);
      await whiteboard(place);
      return "/history";
    },
    ready: text("Where do we keep sessions?"),
  },
  {
    name: "history-pinned",
    prepare: async (place) => {
      await thread(place);
      await whiteboard(place);
      const [one] = await got(place.server.api.GET("/api/councils"));
      const params = { path: { id: one?.id ?? "" } };
      const body = { title: "Who answers at night", pinned: true };
      await got(place.server.api.PATCH("/api/sessions/{id}", { params, body }));
      return "/history";
    },
    ready: async (page) => {
      await page.getByText("Who answers at night").first().waitFor();
      const list = page.getByRole("list", { name: "Sessions", exact: true });
      await list
        .getByRole("button", { name: /^Actions for/ })
        .first()
        .click();
      await page.getByRole("menuitem", { name: "Rename" }).click();
      await page.getByRole("dialog", { name: "Rename this session" }).waitFor();
    },
  },
  {
    name: "history-several",
    prepare: async (place) => {
      await closedBoard(place);
      await thread(place);
      await whiteboard(place);
      return "/history";
    },
    ready: async (page) => {
      await text("Where do we keep sessions?")(page);
      for (const nth of [0, 2]) await page.getByRole("checkbox").nth(nth).check();
      await page.getByText("2 selected").waitFor();
    },
  },
  { name: "library-agents", prepare: at("/library/agents"), ready: text("Built-in") },
  { name: "library-facilitators", prepare: at("/library/facilitators"), ready: text("Built-in") },
  {
    name: "library-agent",
    prepare: at("/library/facilitators"),
    ready: async (page) => {
      await page.getByRole("region", { name: "Built-in" }).getByRole("button").first().click();
      await page.getByRole("dialog").getByText("Best for").waitFor();
    },
  },
  {
    name: "library-new",
    prepare: at("/library/facilitators"),
    ready: async (page) => {
      await page.getByRole("button", { name: "New facilitator" }).click();
      await page.getByRole("dialog").getByText("Start from").waitFor();
    },
  },
  { name: "library-boards", prepare: at("/library/boards"), ready: text("Classic Triad") },
  {
    name: "library-boards-own",
    prepare: async ({ server }) => {
      await savedBoard(server);
      return "/library/boards";
    },
    ready: text("Compliance officer"),
  },
  {
    name: "library-board-form",
    prepare: async ({ server }) => {
      await savedBoard(server);
      return "/library/boards/security-board";
    },
    ready: text("Instruction for the verdict"),
  },
  {
    name: "home-attached",
    prepare: async ({ server }) => {
      await savedBoard(server);
      return "/";
    },
    ready: async (page) => {
      const buffer = Buffer.from("# The plan\n".repeat(200));
      await page
        .getByLabel("Attach files", { exact: true })
        .last()
        .setInputFiles([{ name: "plan.md", mimeType: "text/plain", buffer }]);
      await page.getByText("plan.md").waitFor();
    },
  },
  {
    name: "boardroom-tries",
    prepare: async ({ models, server }) => {
      await models.say(
        verdict({ text: VERDICT }),
        advisor("critic", { texts: [CRITIC, ANALYST, ADVOCATE] }),
        ...ANSWERS,
      );
      const id = await board(server, {
        prompt: QUESTION,
        advisors: [
          { role: "critic", tries: 3 },
          { role: "Compliance officer", initials: "CO", colour: "#00897b" },
        ],
      });
      await settled(server, id);
      return `/boardrooms/${id}`;
    },
    ready: async (page) => {
      // A narrow page is laid out once more when it has its board, and a dialog that was opened
      // before that is gone.
      const compare = page.getByRole("button", { name: "Compare answers of Critic" });
      const pick = page.getByRole("dialog").getByText("Pick this one").first();
      for (let nth = 0; nth < 5 && !(await pick.isVisible()); nth += 1) {
        await compare.click({ timeout: 2_000 }).catch(() => undefined);
        await pick.waitFor({ timeout: 2_000 }).catch(() => undefined);
      }
      await pick.waitFor();
    },
  },
  { name: "library-models", prepare: at("/library/models"), ready: text("alpha") },
  { name: "settings", prepare: at("/settings"), ready: text("This server") },
  {
    name: "settings-defaults",
    prepare: at("/settings"),
    ready: async (page) => {
      const card = page.getByRole("region", { name: "Defaults for new boards" });
      await card.getByLabel("Board").selectOption({ label: "Full Board" });
      await card.getByLabel("Tokens").fill("60,000");
      await card.scrollIntoViewIfNeeded();
    },
    config: PRICES,
  },
  {
    name: "settings-price",
    prepare: at("/settings"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Set the price of ollama/alpha" }).click();
      await page.getByLabel("Input price of ollama/alpha").fill("0.12");
    },
  },
];
