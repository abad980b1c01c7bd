// What axe-core finds on a page. It is put in by the debugger, past the page's own policy,
// which stays as strict as it is.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** One line per rule that is broken, with the elements that break it. */
export async function violations(page: Page): Promise<string[]> {
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
