import type { Page } from "playwright-core";
import { board, council, discussion, settled } from "../arrange";
import { anyAdvisor, decision, sections, turn, verdict } from "../cast";
import { expect, story } from "../stage";

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index + 1}`).join(" ");

declare global {
  interface Window {
    /** Nobody looks at the page. */
    isAway?: boolean;
    told?: { title: string; body: string; onclick?: () => void }[];
  }
}

/** Streams that the browser of these pages has open now. */
function watchStreams(pages: readonly Page[]): () => number {
  const open = new Set<unknown>();
  for (const page of pages) {
    page.on("request", (request) => {
      if (request.url().includes("/events")) open.add(request);
    });
    page.on("requestfailed", (request) => open.delete(request));
    page.on("requestfinished", (request) => open.delete(request));
    page.on("close", () => open.clear());
  }
  return () => open.size;
}

story("ten tabs are live at once, whichever of them is closed", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("All ten saw it.") }),
    decision({
      text: '{"decision":"continue","nextParticipantId":"ann","question":"Well?","reasoning":""}',
    }),
    turn({ text: WORDS, hold: "half", holdAfter: 30 }),
    anyAdvisor({ text: WORDS, hold: "half", holdAfter: 30 }),
  );
  const boards: string[] = [];
  for (let count = 1; count <= 7; count += 1) {
    boards.push(
      await board(server, { prompt: `Question ${count}`, advisors: [{ role: "critic" }] }),
    );
  }
  const talk = await discussion(server, {
    topic: "Should we?",
    facilitator: { name: "Lead", model: "alpha" },
    participants: [{ name: "Ann", model: "beta" }],
    maxRounds: 1,
    start: true,
  });
  await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
  const { page, context } = await person();
  const pages = [page];
  while (pages.length < 10) pages.push(await context.newPage());
  const streams = watchStreams(pages);
  const addresses = [...boards.map((id) => `/boardrooms/${id}`), `/discussions/${talk}`];
  for (const [at, address] of [...addresses, "/councils/plans", "/"].entries()) {
    await pages[at]?.goto(address);
    await pages[at]?.getByRole("heading", { level: 1 }).waitFor();
  }
  const writing = pages.slice(0, 8);
  for (const one of writing) await one.getByText("word30").waitFor({ state: "attached" });
  expect(streams()).toBeLessThanOrEqual(4);

  // The tab that reads for all is closed in the middle of ten answers.
  await page.close();
  pages.shift();
  await models.release("half");
  for (const one of pages.slice(0, 6)) {
    await one.getByText("All ten saw it.").first().waitFor({ state: "attached" });
    expect(await one.getByRole("region", { name: "Critic’s answer" }).textContent()).toContain(
      WORDS,
    );
  }
  await pages[6]?.getByRole("region", { name: "Conclusion" }).waitFor();
  for (const id of boards) await settled(server, id);
  // Every rail knows that nothing runs any more, and every tab still loads.
  for (const one of pages) {
    const running = one.getByRole("list", { name: "Running now" });
    await running.waitFor({ state: "detached" });
    await expect.poll(() => one.getByRole("link", { name: /, running/ }).count()).toBe(0);
  }
  await pages[0]?.goto("/history");
  await pages[0]?.getByRole("main").getByText("Question 7").waitFor();
});

story("a tab that nobody looks at tells whom a session waits for", async ({ server, person }) => {
  const { page } = await person();
  await page.clock.install();
  await page.addInitScript(() => {
    const told: NonNullable<Window["told"]> = [];
    window.told = told;
    Object.defineProperty(document, "hidden", { get: () => window.isAway === true });
    Object.defineProperty(document, "visibilityState", {
      get: () => (window.isAway === true ? "hidden" : "visible"),
    });
    class Told {
      static permission = "default";
      static requestPermission(): Promise<string> {
        Told.permission = "granted";
        return Promise.resolve("granted");
      }
      constructor(title: string, { body }: { body: string }) {
        told.push(Object.assign(this, { title, body }));
      }
      close(): void {}
    }
    Object.assign(window, { Notification: Told });
  });
  const advisors = [{ role: "critic" }, { role: "expert", person: "Ada" }];
  await page.goto("/settings");
  await page.getByLabel("Notifications").check();
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "What needs deciding?" }).waitFor();
  // What is looked at needs no notification.
  await board(server, { prompt: "Is it seen?", advisors });
  await expect.poll(() => page.title()).toBe("(1) Plenary");

  await page.evaluate(() => {
    window.isAway = true;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await page.clock.fastForward(30_000);
  const id = await board(server, { prompt: "Is it told?", advisors });
  await page.clock.fastForward(60_000);
  await expect.poll(() => page.title()).toBe("(2) Plenary");
  const told = await page.evaluate(() => window.told?.map(({ title, body }) => [title, body]));
  expect(told).toEqual([["Waiting for Ada", "Is it told?"]]);
  await page.evaluate(() => window.told?.[0]?.onclick?.());
  await page.waitForURL(`**/boardrooms/${id}`);
});
