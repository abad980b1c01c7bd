import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "..");

// Styles are loaded with the first page that needs them and stay: one that is not kept to
// its noun changes other pages, depending on where somebody has been before.
test("the styles of a noun count on its own pages only", () => {
  const nouns = readdirSync(SOURCE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "style")
    .map((entry) => entry.name);
  let files = 0;
  for (const noun of nouns) {
    for (const file of readdirSync(join(SOURCE, noun)).filter((name) => name.endsWith(".css"))) {
      files += 1;
      const text = readFileSync(join(SOURCE, noun, file), "utf8").replace(/\/\*.*?\*\//gs, "");
      expect(outermost(text), `${noun}/${file}`).toEqual([`[data-place="${noun}"]`]);
    }
  }
  expect(files).toBeGreaterThan(5);
});

/** What stands before every brace that is in no other. */
function outermost(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "{") {
      if (depth === 0) found.push(text.slice(start, at).trim());
      depth += 1;
    } else if (text[at] === "}") {
      depth -= 1;
      if (depth === 0) start = at + 1;
    }
  }
  return found;
}
