// What models and people write is data. Every payload goes through the real server onto the
// real page, in every place where words of others are shown; nothing of it may run, be
// fetched, or become an element that text cannot have.

import type { Page } from "playwright-core";
import { ballot, conclusion, decision, member, turn, verdict } from "./cast";
import { board, council, discussion, say, settled, Whiteboard } from "./arrange";
import type { Rule } from "./programs";
import { expect, story, theBrowser, type Stage } from "./stage";
import { Person } from "./person";
import payloads from "./xss.json";

/** Stands after each payload, so that one knows when it is on the page. */
const mark = (index: number) => `mark-${index}-end`;
const marked = (index: number) => `${payloads[index] ?? ""}\n\n${mark(index)}`;

const thought = (index: number) => `${payloads[index] ?? ""}\n\nthought`;

/** Elements that Markdown makes; there are no others inside a text. */
const ALLOWED = (
  "A BLOCKQUOTE BR CODE DEL DIV EM H1 H2 H3 H4 H5 H6 HR LI OL P PRE SPAN STRONG " +
  "TABLE TBODY TD TH THEAD TR UL math mfrac mi mn mo mover mrow msqrt msub msup mtext"
).split(" ");

/** What on this page should not be there. */
async function intruders(page: Page): Promise<string[]> {
  return page.evaluate((allowed) => {
    const found: string[] = [];
    const brief = (element: Element) => element.outerHTML.slice(0, 160);
    for (const element of document.querySelectorAll("*")) {
      for (const { name } of element.attributes) {
        if (name.startsWith("on") || name === "srcdoc") found.push(`${name}: ${brief(element)}`);
      }
    }
    for (const text of document.querySelectorAll(".markdown")) {
      for (const element of text.querySelectorAll("*")) {
        // Our own button, under which no words of the text stand.
        const button = element.closest("button");
        if (button?.ariaLabel === "Copy code" && button.textContent === "") continue;
        if (!allowed.includes(element.tagName)) found.push(`element: ${brief(element)}`);
        if (element.hasAttribute("style")) found.push(`style: ${brief(element)}`);
      }
    }
    const own = location.origin;
    for (const link of document.querySelectorAll("a[href], area[href]")) {
      const { protocol, origin } = new URL((link as HTMLAnchorElement).href);
      const isElsewhere = origin !== own;
      if (!["http:", "https:", "mailto:"].includes(protocol)) found.push(`link: ${brief(link)}`);
      else if (isElsewhere && !(link.getAttribute("rel") ?? "").includes("noopener"))
        found.push(`link without noopener: ${brief(link)}`);
      // Words of others must not send a click to our own interface.
      else if (!isElsewhere && link.closest(".markdown")) found.push(`own link: ${brief(link)}`);
    }
    const loads = "script, iframe, object, embed, link, base, img, video, audio, source, form";
    for (const element of document.body.querySelectorAll(loads)) {
      const isOurs = element.tagName === "FORM" && !element.hasAttribute("action");
      if (!isOurs && !(element as HTMLScriptElement).src?.startsWith(`${own}/assets/`))
        found.push(`loads: ${brief(element)}`);
    }
    return found;
  }, ALLOWED);
}

/** Opens an address, waits for all marks, and looks. */
async function inspect(page: Page, address: string, marks: readonly string[]): Promise<void> {
  await page.goto(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  for (const one of marks) {
    await page.getByText(one, { exact: false }).first().waitFor({ state: "attached" });
  }
  await unfold(page);
  expect(await intruders(page), address).toEqual([]);
}

/** Opens all that is folded away, until nothing more is: thoughts, personas, raw answers. */
async function unfold(page: Page): Promise<void> {
  const folded = page.locator("main details:not([open]) > summary:visible");
  while ((await folded.count()) > 0) await folded.first().click();
}

const PER_BOARD = 16;

async function boardOf(stage: Stage, first: number): Promise<void> {
  const indexes = [...payloads.keys()].slice(first, first + PER_BOARD);
  const rules: Rule[] = indexes.map((index) => ({
    when: { contains: [`seat-${index}-seat`] },
    text: `Before.\n\n${marked(index)}`,
    reasoning: thought(index),
    hold: "half",
    // In the middle of the payload, where it is half written.
    holdAfter: thought(index).split(" ").length + 2,
  }));
  const all = indexes.map(marked).join("\n\n");
  const points = indexes.map((index) => `- ${(payloads[index] ?? "").replaceAll("\n", " ")}`);
  const written = `## Consensus\n\n${all}\n\n## Points of Agreement\n\n${points.join("\n")}`;
  await stage.models.say(
    verdict({
      text: `${written}\n\n## Points of Divergence\n\n- None.\n\n## Recommendation\n\n${all}`,
    }),
    ballot(),
    ...rules,
  );
  const id = await board(stage.server, {
    prompt: payloads[first] ?? "",
    ballot: true,
    advisors: indexes.map((index) => ({
      role: "generalist",
      systemPrompt: `seat-${index}-seat`,
    })),
  });
  const somebody = await stage.person();
  await stage.models.reached("half", indexes.length);
  await inspect(somebody.page, `/boardrooms/${id}`, []);
  await stage.models.release("half");
  await settled(stage.server, id);
  await inspect(somebody.page, `/boardrooms/${id}`, indexes.map(mark));
  const voted = somebody.page.getByRole("table", { name: /Votes by point/ });
  expect(await voted.getByRole("rowheader").count()).toBeGreaterThan(1);
  const thoughts = somebody.page.locator("details[open]", { hasText: "thought" });
  await expect
    .poll(async () => {
      await unfold(somebody.page);
      return thoughts.count();
    })
    .toBe(indexes.length);
  await inspect(somebody.page, "/", []);
  await somebody.context.close();
}

for (let first = 0; first < payloads.length; first += PER_BOARD) {
  story(`advisors, thoughts and verdicts cannot do harm (from ${first + 1})`, async (stage) => {
    await boardOf(stage, first);
  });
}

story(
  "turns, questions, conclusions and topics cannot do harm",
  async ({ models, server, person }) => {
    const { page } = await person();
    const all = [...payloads.keys()].map(marked).join("\n\n");
    for (const [index, topic] of payloads.entries()) {
      if (index % 11 !== 0) continue;
      const order = {
        decision: "continue",
        nextParticipantId: "ann",
        question: marked(index),
        reasoning: marked(index),
      };
      await models.say(
        decision({ text: JSON.stringify(order) }),
        conclusion({ text: all }),
        turn({ text: all, reasoning: all }),
      );
      const id = await discussion(server, {
        // It is called by its topic: such a name of its own would be refused.
        topic: `${topic} ${mark(index)}`,
        facilitator: { name: "Lead", model: "alpha" },
        participants: [{ name: "Ann", model: "beta", persona: topic }],
        maxRounds: 1,
        start: true,
      });
      await settled(server, id);
      await inspect(page, `/discussions/${id}`, [mark(index), mark(payloads.length - 1)]);
    }
    await inspect(page, "/discussions", []);
    await inspect(page, "/history", []);
    await inspect(page, "/", []);
  },
);

story(
  "posts, annotations and topics of a whiteboard cannot do harm",
  async ({ server, person }) => {
    const { page } = await person();
    const whiteboard = await Whiteboard.open(server, "harm", payloads.slice(0, 20).join(" "));
    await whiteboard.register("bob");
    const posts: string[] = [];
    for (const [index, title] of payloads.entries()) {
      const post = {
        type: "claim",
        title: `${title} ${mark(index)}`.slice(0, 200),
        body: marked(index),
        targetFile: title.replaceAll("\n", " ").slice(0, 100),
      } as const;
      posts.push(await whiteboard.post("bob", post));
    }
    await whiteboard.move("ada", "read");
    await inspect(
      page,
      "/whiteboards/harm",
      payloads.slice(0, 5).map((_, index) => mark(index)),
    );
    await whiteboard.move("ada", "debate");
    for (const [index, postId] of posts.entries()) {
      if (index % 6 === 0)
        await whiteboard.annotate("ada", { postId, type: "challenge", body: marked(index) });
    }
    await inspect(page, "/whiteboards/harm", [mark(0)]);
    await inspect(page, "/whiteboards", []);
  },
);

story(
  "charters, personas and posts of a council cannot do harm",
  async ({ models, server, person }) => {
    const { page } = await person();
    const all = [...payloads.keys()].map(marked).join("\n\n");
    await models.say(member({ text: all }));
    await council(server, {
      name: "harm",
      charter: all.slice(0, 8_000),
      members: [{ name: "Ann", model: "alpha", persona: all.slice(0, 8_000) }, { name: "Max" }],
    });
    const last = mark(payloads.length - 1);
    const posts = [...payloads.keys()].filter((index) => index % 4 === 0).map(marked);
    await say(server, "harm", "Max", posts);
    await inspect(page, "/councils/harm", [mark(0), last]);
    await inspect(page, "/councils", []);
  },
);

story("the names and personas of agents cannot do harm", async ({ server, person }) => {
  const { page } = await person();
  for (const [index, name] of payloads.entries()) {
    const body = {
      name: `${index} ${name}`.replaceAll(/\s+/g, " ").slice(0, 80),
      description: name.replaceAll(/\s+/g, " ").slice(0, 200),
      persona: marked(index),
      isFacilitator: index % 2 === 0,
    };
    const made = await server.api.POST("/api/agents", { body });
    // Control characters and angle brackets are refused in names; then there is nothing to show.
    if (!made.response.ok) expect(made.response.status).toBe(422);
  }
  await inspect(page, "/library", []);
  await inspect(page, "/discussions/new", []);
});

story("the tripwires of these stories work", async ({ server }) => {
  const victim = await Person.sitDown(await theBrowser(), server.url);
  // A page without our policy, on which the payloads may do what they like.
  await victim.page.setContent("<body></body>");
  await victim.page.evaluate((bad) => {
    const text = document.createElement("div");
    text.className = "markdown";
    document.body.append(text);
    text.innerHTML = bad;
  }, payloads.slice(2, 5).join(""));
  await expect.poll(() => victim.complaints().join("\n")).toContain("a script ran: img");
  await expect
    .poll(() => victim.complaints().join("\n"))
    .toContain("asked elsewhere: https://evil");
  expect((await intruders(victim.page)).length).toBeGreaterThan(2);
  await victim.context.close();
});
