import type { Locator, Page } from "playwright-core";
import { board, boardView, got, settled } from "../arrange";
import {
  ADVOCATE,
  advisor,
  ANALYST,
  anyAdvisor,
  ballot,
  CRITIC,
  PRICES,
  sections,
  verdict,
  verdictTold,
} from "../cast";
import { expect, GONE, story } from "../stage";

const QUESTION = "Should we move the release to Thursdays?";

/** An advisor's panel. */
function panel(page: Page, name: string): Locator {
  return page.getByRole("region", { name, exact: true });
}

function answer(page: Page, name: string): Locator {
  return page.getByRole("region", { name: `${name}’s answer` });
}

/** All of an answer, also what is not in sight: a browser does not lay that out. */
async function saidBy(page: Page, name: string): Promise<string> {
  return (await answer(page, name).textContent()) ?? "";
}

function theVerdict(page: Page): Locator {
  return page.getByRole("region", { name: "Verdict", exact: true });
}

/** Words that can be told apart, so that a lost or a doubled one shows. */
function words(count: number, of: string): string {
  return Array.from({ length: count }, (_, index) => `${of}${index + 1}`).join(" ");
}

story("from a question to a verdict", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Begin with one team, for two weeks.") }),
    advisor("advocate", { text: ADVOCATE, hold: "advocate", holdAfter: 10 }),
    advisor("critic", { text: CRITIC }),
    advisor("analyst", { text: ANALYST }),
  );
  const { page } = await person();
  await page.goto("/");
  await page.getByRole("textbox", { name: "Your question" }).fill(QUESTION);
  await page.getByRole("radio", { name: /Classic Triad/ }).check();
  await page.getByRole("button", { name: "Convene", exact: true }).click();

  await page.getByRole("heading", { level: 1, name: QUESTION }).waitFor();
  await panel(page, "Advocate").getByText("writing").waitFor();
  expect(await panel(page, "Advocate").getAttribute("aria-busy")).toBe("true");
  await answer(page, "Critic").getByText("I would wait for a trial.").waitFor();
  await answer(page, "Analyst").getByRole("table").waitFor();
  await page.getByRole("region", { name: "Progress" }).getByText("2 finished, 1 writing").waitFor();
  expect(await saidBy(page, "Advocate")).not.toContain("Begin with one team");

  await models.release("advocate");
  await answer(page, "Advocate").getByText("Begin with one team.").waitFor();
  await theVerdict(page)
    .getByRole("region", { name: "Recommendation" })
    .getByText("Begin with one team, for two weeks.")
    .waitFor();
  for (const name of ["Consensus", "Points of Agreement", "Points of Divergence"]) {
    expect(await theVerdict(page).getByRole("region", { name }).count()).toBe(1);
  }
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  // Whoever hears the page is told once, in words.
  await expect.poll(() => page.getByTestId("announcer").innerText()).toContain("Verdict ready");
  const [row] = (await server.api.GET("/api/boardrooms")).data?.data ?? [];
  expect(row).toMatchObject({ title: QUESTION, status: "closed" });
});

story(
  "stop keeps what has arrived and leaves nothing writing",
  async ({ models, server, person }) => {
    await models.say(
      advisor("critic", { text: "The critic was quick." }),
      anyAdvisor({ text: words(60, "partial"), hold: "all", holdAfter: 20 }),
    );
    const id = await board(server, { prompt: QUESTION });
    const { page } = await person();
    await page.goto(`/boardrooms/${id}`);
    await answer(page, "Advocate").getByText("partial20").waitFor();
    await answer(page, "Critic").getByText("The critic was quick.").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();

    for (const name of ["Advocate", "Analyst"]) {
      await panel(page, name).getByText("Stopped here.").waitFor();
      expect(await saidBy(page, name)).toContain("partial20");
    }
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
    expect(await page.getByRole("main").getByText("writing").count()).toBe(0);
    await theVerdict(page).getByText("There is no verdict").waitFor();
    expect(await saidBy(page, "Critic")).toContain("The critic was quick.");
    const view = await boardView(server, id);
    expect(view.status).toBe("stopped");
    expect(view.advisors.map((one) => one.status)).toEqual(["stopped", "done", "stopped"]);
    await expect.poll(async () => (await models.stats()).inFlight).toBe(0);

    // A verdict can be asked for afterwards, from what is there.
    await theVerdict(page).getByRole("button", { name: "Synthesize 1 of 3" }).click();
    await theVerdict(page).getByText("Start with a trial of two weeks").waitFor();
    await theVerdict(page)
      .getByText(/Advocate did not finish/)
      .waitFor();
  },
);

story("one advisor is stopped, the others go on", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Without the critic.") }),
    advisor("critic", { text: words(60, "late"), hold: "critic", holdAfter: 15 }),
    anyAdvisor({ text: "Said in time.", hold: "others", holdAfter: 1 }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Critic").getByText("late15").waitFor();
  await page.getByRole("button", { name: "Stop Critic" }).click();
  await panel(page, "Critic").getByText("Stopped here.").waitFor();
  expect(await saidBy(page, "Critic")).toContain("late15");
  expect(await panel(page, "Advocate").getAttribute("aria-busy")).toBe("true");

  await models.release("others");
  await theVerdict(page).getByText("Without the critic.").waitFor();
  await answer(page, "Advocate").getByText("Said in time.").waitFor();
  expect((await boardView(server, id)).advisors.map((one) => one.status)).toEqual([
    "done",
    "stopped",
    "done",
  ]);
});

story("a failed advisor says why and is asked again", async ({ models, server, person }) => {
  await models.say(
    verdict({ texts: [sections("Without the critic."), sections("With the critic.")] }),
    // The first answer breaks in a way that no second try would help.
    advisor("critic", {
      texts: ["Cut off in the middle of it.", "Here I am after all."],
      fault: { badUtf8After: { tokens: 4 } },
      faults: 1,
    }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await panel(page, "Critic").getByText("failed", { exact: true }).waitFor();
  await theVerdict(page).getByText("Without the critic.").waitFor();
  const absent = await theVerdict(page)
    .getByText(/Critic did not finish/)
    .boundingBox();
  const headline = await theVerdict(page).getByText("The advisors would begin").boundingBox();
  expect(absent?.y).toBeLessThan(headline?.y ?? 0);
  expect(await saidBy(page, "Critic")).toContain("Cut off");

  await answer(page, "Critic").getByRole("button", { name: "Ask again" }).click();
  await answer(page, "Critic").getByText("Here I am after all.").waitFor();
  await theVerdict(page).getByText("With the critic.").waitFor();
  expect(await page.getByRole("main").getByText("failed", { exact: true }).count()).toBe(0);
  // What it said the first time can still be read.
  await page.getByRole("button", { name: "Compare answers of Critic" }).click();
  const answers = page.getByRole("dialog", { name: "Critic: 2 answers" });
  await answers.getByText("Cut off").waitFor();
  const view = await boardView(server, id);
  expect(view.syntheses.map((one) => one.number)).toEqual([1, 2]);
});

story("a verdict now, from those who are done", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Two were enough.") }),
    advisor("analyst", { text: words(60, "slow"), hold: "analyst", holdAfter: 12 }),
    anyAdvisor({ text: "Said in time." }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Analyst").getByText("slow12").waitFor();
  await page.getByRole("button", { name: "Synthesize 2 of 3 now" }).click();
  await theVerdict(page).getByText("Two were enough.").waitFor();
  await theVerdict(page)
    .getByText(/Analyst did not finish/)
    .waitFor();
  await panel(page, "Analyst").getByText("Stopped here.").waitFor();
  expect(await saidBy(page, "Analyst")).toContain("slow12");
});

story("an attempt that broke off stays in sight", async ({ models, server, person }) => {
  const first = advisor("critic", {});
  await models.say(
    verdict({ text: sections("All the same.") }),
    {
      ...first,
      when: { ...first.when, nth: 1 },
      text: words(40, "first"),
      fault: { cutAfter: { tokens: 12 } },
      hold: "first",
      holdAfter: 5,
    },
    advisor("critic", { text: words(40, "second"), hold: "second", holdAfter: 5 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Critic").getByText("first5").waitFor();
  await models.release("first");
  const before = answer(page, "Critic").getByRole("region", { name: "Attempt 1" });
  await before.getByText("first12").waitFor();
  await before.getByText("interrupted after 12 words").waitFor();
  await answer(page, "Critic").getByText("second5").waitFor();
  await before.getByText("first12").waitFor();
  await models.release("second");
  await theVerdict(page).getByText("All the same.").waitFor();
  // What counts is what was said in the end.
  expect((await saidBy(page, "Critic")).trim()).toBe(words(40, "second"));
});

for (const [width, columns] of [
  [1440, 6],
  [1100, 6],
] as const) {
  story(`while they answer, columns are alike and full at ${width}`, async (stage) => {
    const { models, server, person } = stage;
    await models.say(
      advisor("advocate", { text: words(400, "long") }),
      advisor("critic", { text: "Short.", fault: "serverError" }),
      anyAdvisor({ text: words(40, "w"), hold: "rest", holdAfter: 10 }),
    );
    const id = await board(server, { prompt: QUESTION, board: "full-board" });
    const { page } = await person({ width, height: 900 });
    await page.goto(`/boardrooms/${id}`);
    await panel(page, "Advocate").getByText("finished").waitFor();
    const boxes = await page.locator(".panel").evaluateAll((all) =>
      all.map((one) => {
        const { top, bottom, width: wide } = one.getBoundingClientRect();
        return [Math.round(top), Math.round(bottom), Math.round(wide)] as const;
      }),
    );
    expect(boxes).toHaveLength(columns);
    const [first] = boxes;
    for (const box of boxes) {
      expect(box.slice(0, 2)).toEqual(first?.slice(0, 2));
      expect(Math.abs(box[2] - (first?.[2] ?? 0))).toBeLessThanOrEqual(1);
      expect(box[2]).toBeGreaterThanOrEqual(220);
      expect(box[1] - box[0]).toBeGreaterThan(500);
    }
    expect(await theVerdict(page).count()).toBe(0);
  });
}

story("a second verdict with an instruction stands beside the first", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdictTold("In one sentence", { text: sections("The second one."), hold: "second" }),
    verdict({ text: sections("The first one.") }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: QUESTION });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await theVerdict(page).getByText("The first one.").waitFor();
  await theVerdict(page).getByRole("button", { name: "Re-synthesize" }).click();
  const dialog = page.getByRole("dialog", { name: "Re-synthesize" });
  await dialog.getByLabel("Instruction").fill("In one sentence");
  await dialog.getByRole("button", { name: "Re-synthesize" }).click();
  await dialog.waitFor({ state: "detached" });
  await models.release("second");
  await theVerdict(page).getByText("The second one.").waitFor();
  await theVerdict(page).getByText("Instruction: In one sentence").waitFor();

  await theVerdict(page)
    .getByRole("button", { name: /version 2 of 2/ })
    .click();
  await page.getByRole("menuitemradio", { name: /^v1/ }).click();
  await theVerdict(page).getByText("The first one.").waitFor();
  expect(await theVerdict(page).getByText("The second one.").count()).toBe(0);

  await theVerdict(page).getByRole("button", { name: "Compare v1 → v2" }).click();
  const compare = page.getByRole("dialog", { name: "Compare two verdicts" });
  await compare.getByText("The first one.").waitFor();
  await compare.getByText("The second one.").waitFor();
  await page.keyboard.press("Escape");
  await compare.waitFor({ state: "detached" });
  expect((await boardView(server, id)).syntheses.map((one) => one.instruction)).toEqual([
    undefined,
    "In one sentence",
  ]);
});

story("a reload in the middle loses and doubles nothing", async ({ models, server, person }) => {
  const long = words(400, "w");
  await models.say(
    verdict({ text: sections("Read to the end.") }),
    advisor("advocate", { text: long, hold: "middle", holdAfter: 150 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Advocate").getByText("w150").waitFor();
  await page.reload();
  await answer(page, "Advocate").getByText("w150").waitFor();
  expect((await saidBy(page, "Advocate")).trim()).toBe(words(150, "w"));

  await models.release("middle");
  await theVerdict(page).getByText("Read to the end.").waitFor();
  const kept = (await boardView(server, id)).advisors[0]?.text;
  expect(kept).toBe(long);
  expect((await saidBy(page, "Advocate")).trim()).toBe(long);
});

story("two tabs show the same, live", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("The same for both.") }),
    anyAdvisor({ text: words(80, "both"), hold: "half", holdAfter: 40 }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page, context } = await person();
  const second = await context.newPage();
  for (const one of [page, second]) {
    await one.goto(`/boardrooms/${id}`);
    for (const name of ["Advocate", "Critic", "Analyst"]) {
      await answer(one, name).getByText("both40").waitFor({ state: "attached" });
    }
  }
  await second.bringToFront();
  await second.getByRole("button", { name: "Stop Critic" }).click();
  await page.bringToFront();
  await panel(page, "Critic").getByText("Stopped here.").waitFor();
  await models.release("half");
  for (const one of [page, second]) {
    await one.bringToFront();
    await theVerdict(one).getByText("The same for both.").waitFor();
    expect((await saidBy(one, "Advocate")).trim()).toBe(words(80, "both"));
    expect(await saidBy(one, "Critic")).toContain("both40");
    expect(await saidBy(one, "Critic")).not.toContain("both41");
  }
});

story("a person answers on a board", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("With Ada.") }), anyAdvisor({ text: "Said." }));
  const { page } = await person();
  await page.goto("/boardrooms");
  await page.getByRole("textbox", { name: "Question for the board" }).fill(QUESTION);
  await page.getByRole("button", { name: "Edit board" }).click();
  await page.getByLabel("Who is advisor 2").selectOption("Person");
  await page.getByLabel("Name of advisor 2").fill("Ada");
  await page.getByRole("button", { name: "Convene", exact: true }).click();

  await panel(page, "Critic").getByText("Waiting for Ada").waitFor();
  const box = page.getByRole("textbox", { name: "Answer as Ada" });
  await box.fill("I was on call. It was **quiet**.");
  // What was typed survives a reload.
  await page.reload();
  await expect.poll(() => box.inputValue()).toBe("I was on call. It was **quiet**.");
  expect(await theVerdict(page).getByText("With Ada.").count()).toBe(0);
  await page.getByRole("button", { name: "Answer as Ada" }).click();
  await answer(page, "Critic").getByText("I was on call. It was quiet.").waitFor();
  await theVerdict(page).getByText("With Ada.").waitFor();
  const [row] = (await server.api.GET("/api/boardrooms")).data?.data ?? [];
  const view = await boardView(server, row?.id ?? "");
  expect(view.advisors[1]).toMatchObject({ person: "Ada", status: "done" });
});

story("a person answers without having seen the others", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Unswayed.") }),
    advisor("critic", { text: words(40, "critic"), hold: "critic", holdAfter: 10 }),
    anyAdvisor({ text: "The advocate has spoken." }),
  );
  const id = await board(server, {
    prompt: QUESTION,
    advisors: [{ role: "advocate" }, { role: "critic" }, { role: "expert", person: "Ada" }],
  });
  await models.reached("critic");
  const [ada, other] = [await person(), await person()];
  for (const { page } of [ada, other]) {
    await page.goto(`/boardrooms/${id}`);
    for (const name of ["Advocate", "Critic"]) {
      await answer(page, name).getByText("Hidden until you answer").waitFor();
    }
  }
  await panel(ada.page, "Advocate").getByText("finished").waitFor();
  expect(await ada.page.getByText(/The advocate has spoken|critic10/).count()).toBe(0);

  // Whoever only looks on may see it all.
  await answer(other.page, "Advocate").getByRole("button", { name: "Show anyway" }).click();
  await answer(other.page, "Advocate").getByText("The advocate has spoken.").waitFor();
  await answer(other.page, "Critic").getByText("critic10").waitFor();

  await ada.page.getByRole("textbox", { name: "Answer as Ada" }).fill("I saw it work.");
  await ada.page.getByRole("button", { name: "Answer as Ada" }).click();
  await answer(ada.page, "Advocate").getByText("The advocate has spoken.").waitFor();
  await answer(ada.page, "Critic").getByText("critic10").waitFor();
  await models.release("critic");
  await theVerdict(ada.page).getByText("Unswayed.").waitFor();
  expect((await saidBy(ada.page, "Critic")).trim()).toBe(words(40, "critic"));
});

story("a server that dies in the middle of answers comes back by itself", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("After all that.") }),
    anyAdvisor({ text: words(60, "again"), hold: "first", holdAfter: 30 }),
  );
  const id = await board(server, { prompt: QUESTION });
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(GONE);
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Advocate").getByText("again30").waitFor();
  await server.kill();
  await page
    .getByText(/Connection lost|is not responding/)
    .first()
    .waitFor();
  expect(await saidBy(page, "Advocate")).toContain("again30");
  await models.say(
    verdict({ text: sections("After all that.") }),
    anyAdvisor({ text: words(60, "again"), hold: "second", holdAfter: 10 }),
  );
  await models.release("first");
  await server.restart();
  // Whoever was reading is told why the words are gone.
  await answer(page, "Advocate")
    .getByText("An earlier attempt was interrupted. The answer starts over.")
    .waitFor();
  await models.release("second");
  await theVerdict(page).getByText("After all that.").waitFor();
  for (const name of ["Advocate", "Critic", "Analyst"]) {
    expect((await saidBy(page, name)).trim()).toBe(words(60, "again"));
  }
  await expect.poll(() => page.getByText(/Connection lost|is not responding/).count()).toBe(0);
});

story("nobody is moved who reads further up", async ({ models, server, person }) => {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `Line ${from + index}.`).join("\n\n");
  await models.say(
    verdict({ text: sections("Done.") }),
    // Each line is one token, and half of them wait.
    advisor("advocate", { text: lines(1, 120), hold: "rest", holdAfter: 60 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: QUESTION });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  const body = answer(page, "Advocate");
  await body.getByText("Line 59.").waitFor({ state: "attached" });
  const top = () => body.evaluate((one) => one.scrollTop);
  // At the end the page follows what is written.
  await expect.poll(top).toBeGreaterThan(0);
  await body.hover();
  await page.mouse.wheel(0, -100_000);
  await expect.poll(top).toBe(0);
  await models.release("rest");
  await theVerdict(page).getByText("Done.").waitFor();
  await body.getByText("Line 120.").waitFor({ state: "attached" });
  expect(await top()).toBe(0);
});

story("on paper a board is a document", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("On paper too.") }),
    advisor("advocate", { text: ADVOCATE }),
    advisor("critic", { text: CRITIC }),
    advisor("analyst", { text: ANALYST }),
  );
  const id = await board(server, { prompt: QUESTION });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await theVerdict(page).getByText("On paper too.").waitFor();
  await page.emulateMedia({ media: "print" });
  for (const words of ["On paper too.", "Begin with one team.", "I would wait for a trial."]) {
    expect(await page.getByText(words).first().isVisible(), words).toBe(true);
  }
  for (const tool of ["Stop", "Export", "Ask", "Re-synthesize"]) {
    expect(await page.getByRole("button", { name: tool, exact: true }).count(), tool).toBe(0);
  }
  expect(await page.getByRole("navigation", { name: "Main" }).count()).toBe(0);
  // Nothing is cut off: every answer is as tall as its text.
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>(".panel-body, .verdict")]
      .filter((one) => one.scrollHeight > one.clientHeight + 2)
      .map((one) => one.className),
  );
  expect(cut).toEqual([]);
});

story("advisors vote on the verdict, a person among them", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Begin.", "- How fast to go.") }),
    ballot({ hold: "votes", holdAfter: 0 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, {
    prompt: QUESTION,
    ballot: true,
    advisors: [{ role: "advocate" }, { role: "critic" }, { role: "expert", person: "Ada" }],
  });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await page.getByRole("textbox", { name: "Answer as Ada" }).fill("I saw it work.");
  await page.getByRole("button", { name: "Answer as Ada" }).click();

  const paper = page.getByRole("form", { name: "Ada’s ballot" });
  await paper.waitFor();
  const points = (await boardView(server, id)).syntheses[0]?.points ?? [];
  expect(points.length).toBeGreaterThan(2);
  for (const { number } of points) {
    await paper
      .getByRole("group", { name: `Vote on point ${number}` })
      .getByRole("button", { name: number === 1 ? "Reject" : "Accept" })
      .click();
  }
  await paper.getByLabel("Reason for the vote on point 1").fill("It was not worth it.");
  // What was marked survives a reload.
  await page.reload();
  await paper.getByRole("button", { name: "Submit votes" }).click();
  await paper.waitFor({ state: "detached" });
  await models.release("votes");

  const map = page.getByRole("region", { name: "Map", exact: true });
  const table = map.getByRole("table", { name: /Votes by point/ });
  await table.waitFor();
  await expect.poll(() => table.getByText("not yet").count()).toBe(0);
  const view = await boardView(server, id);
  expect(view.status).toBe("closed");
  const [first] = view.syntheses[0]?.points ?? [];
  expect(first?.votes.find((vote) => vote.advisor === 3)).toMatchObject({
    vote: "reject",
    reason: "It was not worth it.",
  });
  for (const point of view.syntheses[0]?.points ?? []) {
    const row = table.getByRole("row").filter({ hasText: point.text });
    await row.getByRole("button", { name: `${point.accept}/3 accept` }).waitFor();
  }
  await map.getByRole("button", { name: "Reasons for point 1:" }).click();
  await map.getByText("It was not worth it.").waitFor();

  await map.getByRole("tab", { name: "Agreement" }).click();
  await map
    .getByRole("button", { name: /percent/ })
    .first()
    .click();
  await map.getByRole("status").getByRole("heading").waitFor();
});

story("a follow-up goes on on the same board", async ({ models, server, person }) => {
  const say = (what: string) =>
    models.say(verdict({ text: sections(`${what} verdict.`) }), anyAdvisor({ text: `${what}.` }));
  await say("First");
  const id = await board(server, { prompt: QUESTION });
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(/422/);
  await page.goto(`/boardrooms/${id}`);
  await theVerdict(page).getByText("First verdict.").waitFor();

  await say("Second");
  const box = page.getByRole("textbox", { name: "Follow-up for the board" });
  await box.fill("And on Fridays?");
  await box.press("Enter");
  await page.getByRole("heading", { level: 1, name: "And on Fridays?" }).waitFor();
  await theVerdict(page).getByText("Second verdict.").waitFor();
  await answer(page, "Critic").getByText("Second.").waitFor();
  expect(await box.inputValue()).toBe("");
  expect(page.url()).toContain(id);

  // What came of the question before stays, and can be opened.
  const before = page.getByRole("region", { name: "Earlier questions" });
  await before.getByText(QUESTION).waitFor();
  await before.getByText("The advisors would begin").waitFor();
  await before.getByText(QUESTION).click();
  await before.getByText("First verdict.").waitFor();
  await before.getByRole("region", { name: "Critic, then" }).getByText("First.").waitFor();

  // One advisor alone; nobody who is not there.
  await say("Third");
  await box.fill("@nobody And at night?");
  await box.press("Enter");
  await page.getByText(/there is no advisor @nobody/).waitFor();
  await box.fill("@critic And at night?");
  await page.getByText("Only Critic").waitFor();
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await answer(page, "Critic").getByText("Third.").waitFor();
  await theVerdict(page).getByText("Third verdict.").waitFor();
  await answer(page, "Advocate").getByText("Not asked this time.").waitFor();
  expect(await saidBy(page, "Advocate")).toContain("Second.");
  const { rounds } = await boardView(server, id);
  expect(rounds.map((one) => [one.prompt, one.advisors])).toEqual([
    [QUESTION, [1, 2, 3]],
    ["And on Fridays?", [1, 2, 3]],
    ["And at night?", [2]],
  ]);
});

story("a board keeps to its budget and says so", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("Within it.") }), anyAdvisor({ text: "Said." }));
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(/422/);
  await page.goto("/boardrooms");
  await page.getByRole("textbox", { name: "Question for the board" }).fill(QUESTION);
  await page.getByRole("button", { name: "Edit board" }).click();
  const budget = page.getByRole("group", { name: "Budget" });
  await budget.getByLabel("Tokens").fill("7");
  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await budget.getByText(/Tokens must be 1,000/).waitFor();
  await budget.getByLabel("Tokens").fill("20,000");
  await budget.getByLabel("Time (s)").fill("900");
  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await theVerdict(page).getByText("Within it.").waitFor();
  const [row] = (await server.api.GET("/api/boardrooms")).data?.data ?? [];
  const spent = (await boardView(server, row?.id ?? "")).budget;
  expect(spent).toMatchObject({ tokens: 20_000, seconds: 900 });
  const facts = page.locator(".session-facts");
  await facts.getByText(`${spent?.spentTokens.toLocaleString("en")} of 20,000`).waitFor();

  // Where somebody's budget has no room for a further question, they say so.
  const id = await board(server, {
    prompt: QUESTION,
    advisors: [{ role: "advocate" }, { role: "expert", budget: { tokens: 2_000 } }],
  });
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Expert").getByText("Said.").waitFor();
  await theVerdict(page).getByText("Within it.").waitFor();
  const box = page.getByRole("textbox", { name: "Follow-up for the board" });
  await box.fill(words(2_000, "long"));
  await box.press("Enter");
  await answer(page, "Expert").getByText("Out of budget.").waitFor();
});

story("a board that has spent its budget is given more", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("Begin.") }), anyAdvisor({ text: "Said." }));
  const budget = { tokens: 2_000, whenSpent: "stop" } as const;
  const id = await board(server, { prompt: "Should we?", budget });
  await settled(server, id);
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(/422/);
  await page.goto(`/boardrooms/${id}`);
  await answer(page, "Critic").getByText("Out of budget.").waitFor();
  await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Change budget…" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the budget" });
  const tokens = dialog.getByLabel("Tokens");
  expect(await tokens.inputValue()).toBe("2000");
  await tokens.fill("7");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").waitFor();
  await tokens.fill("60,000");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".session-facts").getByText("of 60,000").waitFor();
  expect((await boardView(server, id)).budget).toMatchObject({ tokens: 60_000, whenSpent: "stop" });
  await page.getByRole("button", { name: "Resume" }).click();
  await answer(page, "Critic").getByText("Said.").waitFor();
  await theVerdict(page).getByText("Begin.").waitFor();
});

story("the advisors vote later, and one is passed over", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Begin.") }),
    ballot({ hold: "votes", holdAfter: 0 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, {
    prompt: QUESTION,
    advisors: [{ role: "advocate" }, { role: "expert", person: "Ada" }],
  });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await page.getByRole("textbox", { name: "Answer as Ada" }).fill("I saw it work.");
  await page.getByRole("button", { name: "Answer as Ada" }).click();
  await theVerdict(page).getByRole("button", { name: "Hold a vote" }).click();
  await page.getByRole("form", { name: "Ada’s ballot" }).waitFor();
  await page.getByRole("button", { name: "Continue without Ada’s vote" }).click();
  await page.getByRole("form", { name: "Ada’s ballot" }).waitFor({ state: "detached" });
  await models.release("votes");
  await expect.poll(async () => (await boardView(server, id)).status).toBe("closed");
  const map = page.getByRole("region", { name: "Map", exact: true });
  await map.getByText(/No votes from Expert \(stopped\)/).waitFor();
});

story("whoever has not begun to write is not said to", async ({ models, server, person }) => {
  await models.say(
    advisor("critic", { text: words(20, "begun"), hold: "critic", holdAfter: 5 }),
    anyAdvisor({ text: "Said.", hold: "others", holdAfter: 0 }),
  );
  const id = await board(server, { prompt: QUESTION });
  await models.reached("critic");
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await page.getByText("1 writing, 2 asked", { exact: true }).waitFor();
});

story(
  "an answer that reached its limit is marked, and what all of it took is told",
  async ({ models, server, person }) => {
    await models.say(
      verdict({ text: sections("Done.") }),
      advisor("critic", { text: "The critic had more to say", fault: "length" }),
      anyAdvisor({ text: "Said." }),
    );
    const id = await board(server, { prompt: QUESTION });
    await settled(server, id);
    const { page } = await person();
    await page.goto(`/boardrooms/${id}`);
    await answer(page, "Critic").getByText("Cut off at the length limit").waitFor();
    expect(await page.getByText("Cut off at the length limit").count()).toBe(1);
    const { usage } = await boardView(server, id);
    const head = page.locator(".session-head");
    const all = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
    await head.getByText(all.toLocaleString("en"), { exact: true }).waitFor();
    for (const name of ["Advocate", "Critic", "Analyst"]) {
      await panel(page, name)
        .getByText(/\d in · \d+ out/)
        .waitFor();
    }
  },
);

for (const [width, height] of [
  [390, 844],
  [720, 450],
  [900, 700],
] as const) {
  story(`a board can be exported at ${width} by ${height}`, async ({ models, server, person }) => {
    await models.say(verdict({ text: sections("Done.") }), anyAdvisor({ text: "Said." }));
    const id = await board(server, { prompt: QUESTION });
    await settled(server, id);
    const { page } = await person({ width, height });
    await page.goto(`/boardrooms/${id}`);
    await page.getByRole("button", { name: "More", exact: true }).click();
    for (const item of await page.getByRole("menuitem").all()) {
      const box = await item.boundingBox();
      expect(box && box.x >= 0 && box.y >= 0 && box.x + box.width <= width).toBe(true);
      expect(box && box.y + box.height <= height).toBe(true);
    }
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Markdown" }).click();
    expect((await download).suggestedFilename()).toMatch(/\.md$/);
  });
}

for (const look of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  story(`with votes the verdict is in sight at ${look.width}`, async (stage) => {
    const { models, server, person } = stage;
    const divergence = Array.from({ length: 8 }, (_, at) => `- Point ${at}, at some length.`);
    await models.say(
      verdict({ text: sections("Begin.", divergence.join("\n")) }),
      ballot(),
      anyAdvisor({ text: "Said." }),
    );
    const id = await board(server, { prompt: QUESTION, board: "full-board", ballot: true });
    await settled(server, id);
    const { page } = await person(look);
    await page.goto(`/boardrooms/${id}`);
    const headline = theVerdict(page).getByText("The advisors would begin");
    await headline.waitFor();
    const box = await headline.boundingBox();
    expect(box && box.y + box.height).toBeLessThan(look.height);
  });
}

story(
  "what a board may spend and has spent is told in tokens, money and time",
  async ({ models, server, person }) => {
    await models.say(verdict({ text: sections("Begin.") }), anyAdvisor({ text: words(40, "w") }));
    const { page } = await person();
    await page.goto("/boardrooms");
    await page.getByRole("textbox", { name: "Question for the board" }).fill(QUESTION);
    await page.getByRole("button", { name: "Edit board" }).click();
    const budget = page.getByRole("group", { name: "Budget" });
    await budget.getByLabel("Tokens").fill("60,000");
    await budget.getByLabel("Cost (USD)").fill("0.50");
    await budget.getByLabel("Time (s)").fill("900");
    await page.getByRole("button", { name: "Convene", exact: true }).click();
    await theVerdict(page).getByText("Begin.", { exact: true }).waitFor();
    const [row] = (await server.api.GET("/api/boardrooms")).data?.data ?? [];
    await settled(server, row?.id ?? "");
    const { usage, cost = 0, budget: spent } = await boardView(server, row?.id ?? "");
    expect(spent).toMatchObject({ tokens: 60_000, cost: 0.5, seconds: 900 });
    expect(cost).toBeGreaterThan(0);
    const facts = page.locator(".session-facts");
    const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
    await facts.getByText(`${tokens.toLocaleString("en")} of 60,000`).waitFor();
    await facts.getByText(`$${cost.toFixed(4)} of $0.50`).waitFor();
    await facts.getByText("15 min limit").waitFor();
    // Each answer tells its own part.
    await panel(page, "Critic")
      .getByText(/\d in · \d+ out · \$0\.\d{4}/)
      .waitFor();
  },
  {},
  PRICES,
);

story("a board is renamed on its own page, for every list", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("Begin.") }), anyAdvisor({ text: "Said." }));
  const id = await board(server, { prompt: QUESTION });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  const more = () => page.getByRole("main").getByRole("button", { name: "More", exact: true });
  await more().click();
  await page.getByRole("menuitem", { name: "Rename…" }).click();
  const field = page.getByRole("dialog").getByLabel("Title");
  await field.fill("The cache question");
  await field.press("Enter");
  await page.getByRole("heading", { level: 1, name: "The cache question" }).waitFor();
  // What was asked stays in sight.
  await page.getByRole("main").getByText(QUESTION, { exact: true }).first().waitFor();
  await expect.poll(() => page.title()).toContain("The cache question");
  await more().click();
  await page.getByRole("menuitem", { name: "Pin to the top" }).click();
  await expect
    .poll(async () => (await got(server.api.GET("/api/sessions")))[0])
    .toMatchObject({ title: "The cache question", renamed: true, pinned: true });

  await page.reload();
  await page.getByRole("heading", { level: 1, name: "The cache question" }).waitFor();
  await more().click();
  await page.getByRole("menuitem", { name: "Unpin" }).waitFor();
  await page.getByRole("menuitem", { name: "Rename…" }).click();
  await field.fill("");
  await field.press("Enter");
  await page.getByRole("heading", { level: 1, name: QUESTION }).waitFor();
});

story("another model takes over from one that waits", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Begin.") }),
    { when: { model: "beta" }, fault: { rateLimited: { retryAfter: 40 } } },
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, {
    prompt: QUESTION,
    advisors: [
      { role: "advocate", model: "ollama/alpha" },
      { role: "critic", model: "ollama/beta" },
    ],
    budget: { tokens: 60_000 },
  });
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  const critic = panel(page, "Critic");
  await critic.getByText("retrying").waitFor();
  // What is kept for it is told apart from what is spent.
  await page.getByText(/% spent, \d+% reserved/).waitFor();
  await critic.getByRole("button", { name: "Another model" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Model").selectOption("ollama/beta");
  expect(await dialog.getByRole("button", { name: "Ask" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Model").selectOption("ollama/gamma");
  await dialog.getByRole("button", { name: "Ask" }).click();
  await theVerdict(page).getByText("Begin.").waitFor();
  await settled(server, id);
  const view = await boardView(server, id);
  expect(view.advisors[1]).toMatchObject({ model: "ollama/gamma", status: "done" });
  expect(view.budget?.reservedTokens).toBeUndefined();
});

story("on a phone each advisor is said to do what it does", async ({ models, server, person }) => {
  await models.say(
    advisor("critic", { text: "The critic thinks.", hold: "all", holdAfter: 1 }),
    anyAdvisor({ text: "Said.", hold: "all", holdAfter: 0 }),
  );
  const id = await board(server, { prompt: QUESTION });
  await models.reached("all", 3);
  const { page } = await person();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/boardrooms/${id}`);
  const bar = page.getByRole("group", { name: "Advisors" });
  await bar.getByRole("button", { name: /^Critic ?, writing$/ }).waitFor();
  await bar.getByRole("button", { name: /^Analyst ?, asked$/ }).waitFor();
});
