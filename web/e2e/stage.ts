// Where a story plays: its own model server, its own server, and as many people as it needs.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { expect, inject, test } from "vitest";
import { Person, type Look } from "./person";
import { ModelServer, Server } from "./programs";

export { expect } from "vitest";

export interface Stage {
  models: ModelServer;
  server: Server;
  /** A person with a browser of their own, who has nothing open yet. */
  person: (look?: Look) => Promise<Person>;
}

let browser: Promise<Browser> | undefined;

export function theBrowser(): Promise<Browser> {
  browser ??= chromium.connect(inject("browser"));
  return browser;
}

/** A test with a stage. Afterwards nobody may have had trouble. */
export function story(
  name: string,
  play: (stage: Stage) => Promise<void>,
  settings: Record<string, string> = {},
  config?: string,
): void {
  test(name, async () => {
    const people: Person[] = [];
    const models = await ModelServer.start();
    const server = await Server.start(models.url, settings, config);
    const person = async (look?: Look) => {
      const somebody = await Person.sitDown(await theBrowser(), server.url, look);
      people.push(somebody);
      return somebody;
    };
    try {
      await play({ models, server, person });
      for (const one of people) expect(one.complaints()).toEqual([]);
    } catch (error) {
      await picture(people, name);
      const complaints = people.flatMap((one) => one.complaints());
      if (complaints.length > 0) console.error(`${name}:`, complaints);
      throw error;
    } finally {
      for (const one of people) await one.context.close();
      await server.end();
      await models.end();
    }
  });
}

/** What people saw when it went wrong, where E2E_PICTURES names a folder. */
async function picture(people: Person[], name: string): Promise<void> {
  const folder = process.env["E2E_PICTURES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const [index, one] of people.entries()) {
    const path = join(folder, `${name.replace(/[^a-z0-9]+/gi, "-")}-${index + 1}.png`);
    await one.page.screenshot({ path }).catch(() => undefined);
  }
}

/** What a browser says of a server that was killed under it. */
export const GONE =
  /ERR_CONNECTION_RE(FUSED|SET)|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY|ERR_SOCKET_NOT_CONNECTED/;
