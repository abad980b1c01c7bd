import type { Page } from "playwright-core";
import { board, council, discussion, settled } from "../arrange";
import { anyAdvisor, decision, sections, turn, verdict } from "../cast";
import { expect, story } from "../stage";

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index + 1}`).join(" ");

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
