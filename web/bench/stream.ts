// Six panels that are written at 100 tokens per second each, for 30 seconds, in a real
// browser: what the page costs per frame, beside the same page with react-markdown. Then
// what the first page loads.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type CDPSession, type Page } from "playwright-core";
import { launch } from "../e2e/browser";
import { ModelServer, Server } from "../e2e/programs";
import { page as built } from "./builds";
import { firstLoad } from "./load";
import { answer } from "./text";

const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 30);
const TOKENS_PER_SECOND = 100;
const ROLES = ["advocate", "critic", "analyst", "devils-advocate", "expert", "generalist"] as const;
const FRAME_MS = 1_000 / 60;

interface Measured {
  seconds: number;
  frames: number;
  /** Of the main thread, per frame. */
  taskMs: number;
  scriptMs: number;
  layoutMs: number;
  longTasks: number;
  longestMs: number;
  blockedMs: number;
  dropped: number;
}

interface Watch {
  frames: number[];
  long: number[];
  stopped: boolean;
}

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function watch(page: Page): Promise<void> {
  await page.evaluate(() => {
    const watch: Watch = { frames: [], long: [], stopped: false };
    Object.assign(window, { watch });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) watch.long.push(entry.duration);
    }).observe({ type: "longtask" });
    const frame = (at: number) => {
      watch.frames.push(at);
      if (!watch.stopped) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

async function watched(page: Page): Promise<Watch> {
  return page.evaluate(() => {
    const { watch } = window as unknown as { watch: Watch };
    watch.stopped = true;
    return watch;
  });
}

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
    return await run(page, models, async () => {
      const now = await server.api.GET("/api/boardrooms/{id}", { params: { path: { id } } });
      return now.data?.data.status !== "answering";
    });
  } finally {
    await context.close();
    await server.end();
    await models.end();
  }
}

async function run(
  page: Page,
  models: ModelServer,
  isOver: () => Promise<boolean>,
): Promise<Measured> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await watch(page);
  const before = await metrics(session);
  const began = performance.now();
  await models.release("ready");
  while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 250));
  const after = await metrics(session);
  const seconds = (performance.now() - began) / 1_000;
  const { frames, long } = await watched(page);
  const gaps = frames.slice(1).map((at, index) => at - (frames[index] ?? at));
  const per = (name: string) =>
    (((after[name] ?? 0) - (before[name] ?? 0)) * 1_000) / Math.max(1, frames.length);
  return {
    seconds,
    frames: frames.length,
    taskMs: per("TaskDuration"),
    scriptMs: per("ScriptDuration"),
    layoutMs: per("LayoutDuration") + per("RecalcStyleDuration"),
    longTasks: long.length,
    longestMs: Math.max(0, ...long),
    blockedMs: long.reduce((sum, one) => sum + one - 50, 0),
    dropped: gaps.reduce((sum, gap) => sum + Math.max(0, Math.round(gap / FRAME_MS) - 1), 0),
  };
}

function row(name: string, one: Measured): string {
  const share = (100 * one.dropped) / Math.max(1, one.dropped + one.frames);
  return [
    name.padEnd(16),
    `${one.taskMs.toFixed(1)} ms/frame`.padStart(15),
    `script ${one.scriptMs.toFixed(1)}`.padStart(13),
    `layout ${one.layoutMs.toFixed(1)}`.padStart(13),
    `${(one.frames / one.seconds).toFixed(1)} frames/s`.padStart(15),
    `${one.dropped} dropped (${share.toFixed(1)} %)`.padStart(20),
    `${one.longTasks} long tasks, longest ${one.longestMs.toFixed(0)} ms`.padStart(34),
  ].join("  ");
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
