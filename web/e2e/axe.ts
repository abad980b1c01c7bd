// What axe-core finds on a page. It is put in by the debugger, past the page's own policy,
// which stays as strict as it is.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { enter, SCENES } from "./scenes";
import { expect, story } from "./stage";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** One line per rule that is broken, with the elements that break it. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(source);
  const found = await page.evaluate(
    (values) =>
      (window as unknown as { axe: { run: (options: unknown) => Promise<AxeResults> } }).axe.run({
        runOnly: { type: "tag", values },
        resultTypes: ["violations"],
      }),
    TAGS,
  );
  return found.violations.map(({ id, help, nodes }) => {
    const where = nodes.slice(0, 4).map((node) => {
      const why = node.any[0]?.message ?? node.all[0]?.message ?? node.none[0]?.message ?? "";
      return `    ${node.target.join(" ")}: ${node.html.slice(0, 160)} ${why}`;
    });
    return [`${id}: ${help} (${nodes.length})`, ...where].join("\n");
  });
}

/** Looks at every scene at this size, in light and in dark. */
export function lookAtAll(size: { width: number; height: number }): void {
  for (const scene of SCENES) {
    story(
      `axe finds nothing at ${size.width}: ${scene.name}`,
      async ({ models, server, person }) => {
        const opened = await scene.prepare({ models, server });
        const somebody = await person(size);
        // Who is not let in is told so by a status, which the browser notes.
        if (scene.settings?.["PLENARY_TOKEN"] !== undefined) somebody.forgive(/status of 401/);
        const { page } = somebody;
        await enter(page, scene, opened);
        const found: string[] = [];
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await violations(page)).map((one) => `${colorScheme}: ${one}`));
        }
        found.push(...(await sideways(page)));
        expect(found.join("\n")).toBe("");
      },
      scene.settings,
      scene.config,
    );
  }
}

/** A page never scrolls sideways; what is wider than it scrolls in a box of its own. */
function sideways(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter(
      (one) => one.getBoundingClientRect().right > clientWidth + 1,
    );
    return wide.slice(0, 4).map((one) => `wider than the page: ${one.outerHTML.slice(0, 120)}`);
  });
}
