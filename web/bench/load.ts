// What `/` loads, packed as the program packs it.

import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { ModelServer, Server } from "../e2e/programs";

export interface Loaded {
  name: string;
  bytes: number;
  isFont: boolean;
}

/** Every file that an empty browser fetches to show this address. Fonts are packed already. */
export async function loaded(browser: Browser, address: string): Promise<Loaded[]> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const files: Promise<Loaded>[] = [];
    page.on("response", (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith("/api/")) return;
      const isFont = response.request().resourceType() === "font";
      const bytes = (body: Buffer) => (isFont ? body : gzipSync(body, { level: 9 })).length;
      files.push(response.body().then((body) => ({ name: pathname, bytes: bytes(body), isFont })));
    });
    await page.goto(address);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.evaluate(() => document.fonts.ready);
    await page.waitForLoadState("load");
    return await Promise.all(files);
  } finally {
    await context.close();
  }
}

export function sum(files: Loaded[], isFont: boolean): number {
  return files.filter((one) => one.isFont === isFont).reduce((all, one) => all + one.bytes, 0);
}

export async function firstLoad(browser: Browser, folder: string): Promise<string> {
  const models = await ModelServer.start();
  const server = await Server.start(models.url, { PLENARY_WEB_FOLDER: folder });
  try {
    const files = await loaded(browser, server.url);
    const kilobytes = (isFont: boolean) => `${(sum(files, isFont) / 1_000).toFixed(1)} kB`;
    return `First load of /: ${files.length} files, ${kilobytes(false)} packed, and ${kilobytes(true)} of fonts`;
  } finally {
    await server.end();
    await models.end();
  }
}
