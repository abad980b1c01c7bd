// Compares what the suite found with expected.json: every failure must be listed
// there with a reason, and everything listed must still fail.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [, , results, list] = process.argv;
const { leftOut, fails } = JSON.parse(readFileSync(list, "utf8"));
const fits = (pattern, name) =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

const used = new Set();
const wrong = [];
let passed = 0;
for (const folder of readdirSync(results)) {
  const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "");
  const pattern = Object.keys(leftOut).find((pattern) => fits(pattern, scenario));
  if (pattern) {
    used.add(pattern);
    continue;
  }
  for (const check of JSON.parse(readFileSync(join(results, folder, "checks.json"), "utf8"))) {
    const name = `${scenario}/${check.id}`;
    if (check.status === "SUCCESS") passed += 1;
    if (check.status === "WARNING") console.log(`warning: ${name}: ${check.errorMessage}`);
    if (check.status !== "FAILURE") continue;
    if (fails[name]) used.add(name);
    else wrong.push(`${name}: ${check.errorMessage}`);
  }
}
for (const name of [...Object.keys(leftOut), ...Object.keys(fails)])
  if (!used.has(name)) wrong.push(`${name} is listed in expected.json and does not occur`);
if (passed === 0) wrong.push("nothing was checked");
for (const problem of wrong) console.error(`FAILED ${problem}`);
console.log(`MCP conformance: ${passed} passed`);
process.exitCode = wrong.length === 0 ? 0 : 1;
