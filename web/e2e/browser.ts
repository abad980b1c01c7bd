// One Chromium for all stories; each person gets a context of their own in it.

import { existsSync } from "node:fs";
import { chromium, type BrowserServer } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    browser: string;
  }
}

export async function launch(): Promise<BrowserServer> {
  const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`There is no browser at ${executablePath}: install Chromium or set CHROMIUM.`);
  }
  return chromium.launchServer({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // Nothing that a page asks for leaves this machine, whatever a test forgets to check.
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ],
  });
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await launch();
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
