// Six panels that are written at 100 tokens per second each, for 30 seconds, in a real
// browser: what the page costs per frame, beside the same page with react-markdown. Then
// what the first page loads.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { launch } from "../e2e/browser";
import { ModelServer, Server } from "../e2e/programs";
import { page as built } from "./builds";
import { measured, row, type Measured } from "./frames";
import { firstLoad } from "./load";
import { answer } from "./text";

const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 30);
const TOKENS_PER_SECOND = 100;
const ROLES = ["advocate", "critic", "analyst", "devils-advocate", "expert", "generalist"] as const;
async function measure(browser: Browser, folder: string): Promise<Measured> {
  const models = await ModelServer.start("--tps", String(TOKENS_PER_SECOND));
  const server = await Server.start(models.url, { PLENARY_WEB_FOLDER: folder });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  try {
    const text = answer(SECONDS * TOKENS_PER_SECOND);
    await models.say({ when: { contains: ["secretary"] } }, { text, hold: "ready", holdAfter: 1 });
    const advisors = ROLES.map((role) => ({ role }));
    const { data } = await server.api.POST("/api/boardrooms", {
      body: { prompt: "Should we put a cache in front of the database?", advisors },
    });
    const id = data?.data.id;
    if (id === undefined) throw new Error("the board was refused");
    const page = await context.newPage();
    await page.goto(`${server.url}/boardrooms/${id}`);
    await models.reached("ready", ROLES.length);
    await page
      .getByText("Position 0")
      .nth(ROLES.length - 1)
      .waitFor()
      .catch(() => undefined);
    const isOver = async () => {
      const now = await server.api.GET("/api/boardrooms/{id}", { params: { path: { id } } });
      return now.data?.data.status !== "answering";
    };
    return await measured(page, async () => {
      await models.release("ready");
      while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 250));
    });
  } finally {
    await context.close();
    await server.end();
    await models.end();
  }
}

export default async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "plenary-bench-"));
  const server = await launch();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    const pages = { ours: await built(folder, "ours"), theirs: await built(folder, "reparsing") };
    console.log(`Six panels, ${TOKENS_PER_SECOND} tokens/s each, ${SECONDS} s, 1440 × 900`);
    const ours = await measure(browser, pages.ours);
    console.log(row("Plenary", ours));
    const theirs = await measure(browser, pages.theirs);
    console.log(row("react-markdown", theirs));
    const busy = (one: Measured) => (one.taskMs * one.frames) / one.seconds / 10;
    console.log(
      `Main thread busy: ${busy(ours).toFixed(0)} % and ${busy(theirs).toFixed(0)} %; ` +
        `react-markdown costs ${(theirs.taskMs / ours.taskMs).toFixed(1)} times as much per frame`,
    );
    console.log(await firstLoad(browser, pages.ours));
  } finally {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
