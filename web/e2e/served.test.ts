// What the program serves is what web/ builds, under the headers that guard it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loaded, sum } from "../bench/load";
import { expect, story, theBrowser } from "./stage";

const build = process.env["E2E_BUILD"] ?? join(import.meta.dirname, "../dist");

story("every file of the build is served, byte for byte", async ({ server }) => {
  const files = readdirSync(build, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const wrong: string[] = [];
  for (const file of files) {
    const path = join(file.parentPath, file.name);
    const name = path.slice(build.length + 1);
    const response = await fetch(`${server.url}/${name}`);
    const served = Buffer.from(await response.arrayBuffer());
    if (!response.ok || !served.equals(readFileSync(path))) wrong.push(name);
  }
  expect(wrong, "the program is older than its interface: build it again").toEqual([]);
  expect(files.length).toBeGreaterThan(5);
});

story("a page is guarded by its headers, whatever its address", async ({ server }) => {
  for (const address of ["/", "/boardrooms/0190a0de-0000-7000-8000-000000000000", "/nowhere"]) {
    const response = await fetch(server.url + address, { headers: { Accept: "text/html" } });
    const policy = response.headers.get("content-security-policy") ?? "";
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "require-trusted-types-for 'script'",
    ]) {
      expect(policy, address).toContain(part);
    }
    expect(policy).not.toContain("unsafe");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  }
});

const FIRST_LOAD_BYTES = 160_000;

story("what the first page loads stays within its budget", async ({ server }) => {
  const files = await loaded(await theBrowser(), server.url);
  expect(sum(files, false)).toBeLessThan(FIRST_LOAD_BYTES);
  expect(files.filter((one) => one.name.endsWith(".js")).length).toBeGreaterThan(1);
  expect(sum(files, true)).toBeGreaterThan(0);
});
