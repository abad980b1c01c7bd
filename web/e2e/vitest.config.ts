import { defineConfig } from "vitest/config";

// Stories in a real browser against the real program. They wait for conditions, so the
// time limits only end what hangs.
export default defineConfig({
  test: {
    environment: "node",
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["browser.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
