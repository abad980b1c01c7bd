// The pictures of README, made anew: npm run pictures. The page, the server and the times are
// real; the scripted model server writes what its models say.

import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { board, example, run, settled, Whiteboard } from "./arrange";
import { launch } from "./browser";
import { advisor, verdict, type Role } from "./cast";
import { ModelServer, Server, type Rule } from "./programs";

const FOLDER = join(import.meta.dirname, "../../docs/images");
const SEATS: readonly (readonly [Role, string])[] = [
  ["advocate", "qwen3:32b"],
  ["critic", "llama4:scout"],
  ["analyst", "gpt-oss:120b"],
  ["devils-advocate", "mistral-large"],
  ["expert", "gemma3:27b"],
  ["generalist", "deepseek-r1:70b"],
];
const MODELS = SEATS.map(([, model]) => model);
const PRICES = MODELS.map(
  (model) => `[prices."ollama/${model}"]\ninput = 0.8\noutput = 2.4\n`,
).join("\n");

const QUESTION = "Should a team of five split its monolith now, later or never?";
const SAID: Readonly<Record<Role, string>> = {
  advocate: `**Split now, but only along one seam.** The monolith is not the problem; the release train is. Five people wait for one another every Thursday, and that costs more than a network hop ever will.

### Why billing, why now

1. It already has its own tables, its own on-call rota and its own compliance calendar.
2. About 40 calls a month cross the line. You could log them by hand.
3. The way back is short: the trait stays, the transport goes.

\`\`\`rust
trait Billing {
  fn charge(&self,
    c: &Charge)
    -> Result<Receipt>;
}
\`\`\`

Move billing out this quarter, while its interface is still small.`,
  critic: `I would **not** split. Five people cannot run two production systems at night, and nothing in the question says what is broken today.

### What goes wrong, in this order

1. **Transactions.** An invoice and its order stop committing together. You write an outbox in week three.
2. **On-call.** A rota of five becomes two rotas of two and a half.
3. **Local development.** Every test now needs a second process, or a mock that lies.

The advocate’s 40 calls a month argue for *modules*, not for *machines*. Look again when two teams, not two people, block each other.`,
  analyst: `It turns on three numbers, and you have two of them.

| Option | Lead | Pages |
|---|--:|--:|
| Stay | 4.2 d | 3 |
| Modules | 2.6 d | 3 |
| Billing out | 2.1 d | 7 |

Median lead time, and pages per month. With $n$ deploys a week and nights paid at $c$, splitting pays once

$$n > \\frac{c}{\\Delta t \\cdot w} \\approx 11$$

You deploy four times. Break-even lies at **11 deploys a week**. The missing number is the share of incidents that isolation would have contained.`,
  "devils-advocate": `Everybody will argue about *when*. Let me argue that the question is a distraction.

- [x] The team is slow. True.
- [ ] The monolith makes it slow. **Nobody has shown that.**

Most will say “modular monolith”, because it sounds prudent and commits to nothing. That is how you get modules in the slides and a ball of mud in \`main\`.

If you believe in the seam, cut it. If you do not, stop drawing it. Ask who would be paged at three in the morning, by name.`,
  expert: `From eleven migrations of this size: the ones that worked extracted **one** service, kept a shared database for a quarter, and had a written way back.

The ones that failed began with the platform. They built the queue, the gateway and the tracing first, and ran out of patience before the first seam was cut.

> A boundary that the compiler enforces is worth three that a diagram draws.

Take billing first. Take it out when a number says so, not when a calendar does.`,
  generalist: `Five people become seven in autumn. Write down who will own each module, today, before anybody writes a line of code.

1. One owner for each module, by name.
2. One contract test around \`Billing\`.
3. One page on how to go back.

Then wait. The best time to split is when the boundary has been boring for a quarter.`,
};
const VERDICT = `## Consensus

Draw the boundaries inside the monolith now. The release process, not the architecture, slows this team down. Enforced modules fix most of that within a sprint, and each step can be undone.

## Points of Agreement

- Billing is the first seam: it has its own tables, its own on-call rota and its own compliance calendar.
- A full split is out of the question for a team of five.
- Enforce boundaries at compile time before a single call crosses a network.

## Points of Divergence

- **When billing deploys on its own:** this quarter, once you deploy 11 times a week, or never without a second team.
- **What slows the team:** the weekly release train, or five people who share one on-call rota.
- **Whether module walls hold** when nothing but a lint rule is there to defend them.

## Recommendation

**This sprint:** add the module lint rule, the \`Billing\` trait and one contract test around it. **Until 31 March:** log deploy queue, lead time and the incidents that isolation would have contained. **Then decide:** split billing out if isolation would have contained more than 30 % of incidents.`;

interface Place {
  models: ModelServer;
  server: Server;
  /** A page of this size, at an address of the server. */
  open: (address: string, look?: Look) => Promise<Page>;
}

interface Look {
  width?: number;
  height?: number;
  colorScheme?: "light" | "dark";
}

const PACES: Readonly<Record<Role, Rule>> = {
  advocate: { firstMs: 700, tps: 30 },
  critic: { firstMs: 1_100, tps: 15 },
  analyst: { firstMs: 900, tps: 14 },
  "devils-advocate": { firstMs: 600, tps: 32 },
  expert: { firstMs: 800, tps: 16 },
  generalist: { firstMs: 2_600, tps: 12 },
};

function convene({ server }: Place, more: object = {}): Promise<string> {
  const advisors = SEATS.map(([role, model]) => ({ role, model: `ollama/${model}` }));
  const synthesizer = "ollama/mistral-large";
  return board(server, { prompt: QUESTION, advisors, synthesizer, ...more });
}

/** Two have finished, one broke off and has begun again, the others write. */
async function live(place: Place): Promise<void> {
  const rules = SEATS.map(([role]) => advisor(role, { ...PACES[role], text: SAID[role] }));
  rules[4] = advisor("expert", {
    ...PACES.expert,
    text: SAID.expert,
    fault: { cutAfter: { tokens: 26 } },
    faults: 1,
  });
  await place.models.say(...rules);
  const id = await convene(place, { budget: { cost: 0.02 } });
  const page = await place.open(`/boardrooms/${id}`);
  await page.getByText("2 finished, 4 writing").waitFor();
  await page.getByText("interrupted after").waitFor();
  await shoot(page, "board-live");
}

const NAMES: Readonly<Record<Role, string>> = {
  advocate: "Advocate",
  critic: "Critic",
  analyst: "Analyst",
  "devils-advocate": "Devil's Advocate",
  expert: "Expert",
  generalist: "Generalist",
};

/** By point, a letter for each seat: accept, reject, defer. */
const VOTES = [
  "aaaaaa",
  "daaaaa",
  "aaaraa",
  "ararrd",
  "aradaa",
  "aaarad",
  "aaaaaa",
  "daadaa",
  "aradda",
];

function votes(seat: number): object {
  const words = { a: "accept", r: "reject", d: "defer" } as const;
  return Object.fromEntries(
    VOTES.map((letters, at) => {
      const vote = words[(letters[seat] ?? "d") as keyof typeof words];
      return [`point${at + 1}`, { vote, reason: vote === "accept" ? "It can be undone." : "" }];
    }),
  );
}

async function done(place: Place): Promise<void> {
  await place.models.say(
    verdict({ text: VERDICT, firstMs: 900, tps: 60 }),
    ...SEATS.map(([role], seat) => ({
      when: { contains: ["Vote now on each numbered point", `advisors is ${NAMES[role]},`] },
      text: JSON.stringify(votes(seat)),
    })),
    ...SEATS.map(([role]) => advisor(role, { ...PACES[role], text: SAID[role] })),
  );
  const id = await convene(place, { ballot: true });
  await settled(place.server, id);
  for (const colorScheme of ["light", "dark"] as const) {
    const page = await place.open(`/boardrooms/${id}`, { colorScheme, height: 1_000 });
    await page.getByRole("button", { name: "Sources" }).nth(3).click();
    await shoot(page, `board-${colorScheme}`);
  }
  const phone = await place.open(`/boardrooms/${id}`, { width: 390, height: 844 });
  await phone.getByText("Points of agreement").waitFor();
  await shoot(phone, "board-phone");
}

const PROPOSALS: Readonly<Record<string, readonly [string, string]>> = {
  engineer: [
    "Keep sessions in Postgres, one partition per day",
    "Expiry is then a dropped partition. The team has run Postgres for four years.",
  ],
  skeptic: [
    "Sign them into a cookie",
    "A cookie needs no store at all. That sessions must be revoked within seconds was assumed, never shown.",
  ],
  operator: [
    "Keep sessions in Redis",
    "Reads are ten times as many as writes, and p95 falls to 130 ms.",
  ],
};

async function workflow(place: Place): Promise<void> {
  const asked = (who: string, what: string, answer: object): Rule => ({
    when: { contains: [what, `You are ${who}, and take part`] },
    text: JSON.stringify(answer),
    firstMs: 400,
    tps: 40,
  });
  const names = Object.keys(PROPOSALS);
  const others = (who: string) => names.filter((name) => name !== who);
  await place.models.say(
    ...Object.entries(PROPOSALS).flatMap(([who, [title, body]]) => [
      asked(who, "Propose one answer", { title, body }),
      asked(who, "Check the facts", {
        annotations: others(who).map((name) => ({
          post: `${name}/1`,
          type: "validation",
          body: "The figures are in last month’s report.",
          result: "confirmed",
        })),
      }),
      asked(who, "Challenge what you hold", {
        annotations:
          who === "skeptic"
            ? [
                {
                  post: "engineer/1",
                  type: "challenge",
                  body: "Nobody measured vacuum at 400 writes a second.",
                },
              ]
            : [],
      }),
      asked(who, "Vote on every post", {
        votes: others(who).map((name) => ({
          post: `${name}/1`,
          vote: name === "engineer" ? "accept" : "reject",
          reason: name === "engineer" ? "We can run it at night." : "One more thing to run.",
        })),
      }),
    ]),
  );
  const id = await run(place.server, example("adr"), { topic: "Where do we keep sessions?" });
  await settled(place.server, id);
  const page = await place.open(`/runs/${id}`);
  await page.locator('[data-step="archive"]').click();
  await page.getByRole("complementary").waitFor();
  await shoot(page, "workflow");
}

async function whiteboard(place: Place): Promise<void> {
  const wall = await Whiteboard.open(
    place.server,
    "sessions",
    "Where do we keep sessions?",
    "engineer",
  );
  await wall.register("skeptic");
  await wall.register("operator", "operator");
  const about = { targetFile: "src/session.rs", targetLocation: "12-40" };
  for (const [who, [title, body]] of Object.entries(PROPOSALS)) {
    await wall.post(who, { type: "proposal", title, body, ...(who !== "skeptic" && about) });
  }
  await wall.post("skeptic", {
    type: "concern",
    title: "Nobody here has run Redis at night",
    body: "The last outage took two hours, because nobody knew the way back.",
    severity: "high",
  });
  await wall.move("engineer", "read");
  await wall.move("engineer", "validate");
  await wall.annotate("operator", {
    postId: "engineer/1",
    type: "validation",
    result: "confirmed",
    body: "400 writes a second, as in May.",
  });
  await wall.move("engineer", "debate");
  await wall.annotate("skeptic", {
    postId: "engineer/1",
    type: "challenge",
    body: "Nobody measured vacuum at 400 writes a second.",
  });
  await wall.annotate("operator", {
    postId: "engineer/1",
    type: "corroboration",
    body: "We have run a table of this size since March.",
  });
  await wall.vote("operator", { postId: "engineer/1", vote: "accept", reason: "We can run it." });
  await wall.vote("skeptic", { postId: "engineer/1", vote: "reject", reason: "Not measured." });
  await wall.vote("engineer", { postId: "operator/1", vote: "reject", reason: "Nobody at night." });
  await wall.vote("engineer", { postId: "skeptic/1", vote: "reject", reason: "Not revocable." });
  const page = await place.open("/whiteboards/sessions");
  await page.getByText("Nobody measured vacuum").first().waitFor();
  await shoot(page, "whiteboard");
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  console.log(`docs/images/${name}.png`);
}

async function take(browser: Browser, scene: (place: Place) => Promise<void>): Promise<void> {
  const models = await ModelServer.start("--models", MODELS.join(","));
  const server = await Server.start(models.url, {}, PRICES);
  const open = async (address: string, look: Look = {}) => {
    const { width = 1440, height = 900, colorScheme = "light" } = look;
    const context = await browser.newContext({
      baseURL: server.url,
      viewport: { width, height },
      colorScheme,
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await page.goto(address);
    return page;
  };
  try {
    await scene({ models, server, open });
  } finally {
    await server.end();
    await models.end();
  }
}

export default async function main(): Promise<void> {
  const wanted = process.argv[3] ?? "";
  const server = await launch();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    const scenes = [live, done, workflow, whiteboard].filter(({ name }) => name.includes(wanted));
    for (const scene of scenes) await take(browser, scene);
  } finally {
    await browser.close();
    await server.close();
  }
}
