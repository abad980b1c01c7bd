// A graph of 200 steps and a run of 2,000, live: how many frames a second the page keeps
// while steps begin and end, somebody scrolls, and the mouse goes over what is there.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";
import { run as begin, runView } from "../e2e/arrange";
import { launch } from "../e2e/browser";
import { ModelServer, Server } from "../e2e/programs";
import { page as built } from "./builds";
import { measured, row } from "./frames";

const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 10);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const VIEWPORT = { width: 1440, height: 900 };

/** Forty stages of four questions side by side and one that joins them. */
function wide(): string {
  const ask = (id: string, needs: readonly string[]) =>
    `  ${id}: { ask: { prompt: "Question ${id}" }${needs.length > 0 ? `, needs: [${needs.join(", ")}]` : ""} }`;
  const steps = Array.from({ length: 40 }, (_, stage) => {
    const beside = [1, 2, 3, 4].map((at) => `s${stage}_${at}`);
    const before = stage === 0 ? [] : [`join${stage - 1}`];
    return [...beside.map((id) => ask(id, before)), ask(`join${stage}`, beside)].join("\n");
  });
  return `name: wide\ntitle: A graph of 200 steps\nsteps:\n${steps.join("\n")}\n`;
}

/** 249 items of two questions and six values: 1,993 steps with what is around them. */
function long(): string {
  const items = Array.from({ length: 249 }, (_, index) => `item-${index}`).join(", ");
  const values = Array.from({ length: 6 }, (_, at) => `      v${at}: { set: { at: ${at} } }`);
  return `name: long
title: A run of 2,000 steps
steps:
  each:
    foreach: { in: [${items}], as: item, parallel: 16 }
    steps:
      first: { ask: { prompt: "First {{ item }}" } }
${values.join("\n")}
      second: { ask: { prompt: "Second {{ item }}" } }
`;
}

/** As somebody would: down and up again, with the mouse over what comes by. */
async function look(page: Page): Promise<void> {
  const until = performance.now() + SECONDS * 1_000;
  for (let at = 0; performance.now() < until; at += 1) {
    await page.mouse.move(300 + ((at * 37) % 700), 300 + ((at * 23) % 400));
    await page.mouse.wheel(0, at % 40 < 20 ? 240 : -240);
  }
}

async function measure(
  browser: Browser,
  folder: string,
  name: string,
  source: string,
  view: "Graph" | "List",
): Promise<void> {
  // Slow enough that steps begin and end for as long as it is measured.
  const models = await ModelServer.start("--tps", "40", "--tokens", "12", "--first-ms", "300");
  const server = await Server.start(models.url, { PLENARY_WEB_FOLDER: folder });
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    const id = await begin(server, source);
    const page = await context.newPage();
    // A run is long when most of it is there; steps go on to begin and to end.
    if (name.startsWith("run")) {
      while ((await runView(server, id)).steps.length < 1_200) await pause(250);
    }
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("radio", { name: view }).check({ force: true });
    await page
      .locator("[data-step]")
      .nth(view === "Graph" && name.startsWith("run") ? 0 : 100)
      .waitFor({ state: "attached" });
    const live = await measured(page, () => look(page));
    const { steps, status } = await runView(server, id);
    const ended = steps.filter((step) => step.status === "done").length;
    console.log(row(name, live), ` ${ended} of ${steps.length} steps done, ${status}`);
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
    const ours = await built(folder, "ours");
    console.log(`Live, scrolled and pointed at for ${SECONDS} s, 1440 × 900`);
    await measure(browser, ours, "graph of 200", wide(), "Graph");
    await measure(browser, ours, "list of 200", wide(), "List");
    await measure(browser, ours, "run of 1,993", long(), "List");
    await measure(browser, ours, "run, as a graph", long(), "Graph");
  } finally {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
