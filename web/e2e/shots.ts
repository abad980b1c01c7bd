// Pictures of every page and state, light and dark, wide and narrow, into the folder that
// SHOTS names: SHOTS=DIR npm run shots [PART OF A NAME]. WIDTHS=900,1920 takes others.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { launch } from "./browser";
import { ModelServer, Server } from "./programs";
import { enter, SCENES, type Scene } from "./scenes";

const SIZES = (process.env["WIDTHS"] ?? "1440,390").split(",").map((width) => ({
  width: Number(width),
  height: Number(width) < 600 ? 844 : 900,
}));

async function take(browser: Browser, scene: Scene, folder: string): Promise<void> {
  const models = await ModelServer.start();
  const server = await Server.start(models.url, scene.settings, scene.config);
  try {
    const opened = await scene.prepare({ models, server });
    for (const viewport of SIZES) {
      const context = await browser.newContext({
        baseURL: server.url,
        viewport,
        reducedMotion: "reduce",
        // Narrow ones are phones, where fingers point.
        hasTouch: viewport.width < 600,
        isMobile: viewport.width < 600,
      });
      const page = await context.newPage();
      await enter(page, scene, opened);
      await page.evaluate(() => document.fonts.ready);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const path = join(folder, `${scene.name}-${viewport.width}-${colorScheme}.png`);
        await page.screenshot({ path });
      }
      await context.close();
    }
  } finally {
    await server.end();
    await models.end();
  }
}

export default async function main(): Promise<void> {
  const folder = process.env["SHOTS"];
  if (folder === undefined) throw new Error("Set SHOTS to the folder for the pictures.");
  mkdirSync(folder, { recursive: true });
  const wanted = process.argv[3] ?? "";
  const server = await launch();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    for (const scene of SCENES.filter((one) => one.name.includes(wanted))) {
      await take(browser, scene, folder);
      console.log(scene.name);
    }
  } finally {
    await browser.close();
    await server.close();
  }
}
