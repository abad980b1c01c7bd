// Runs a TypeScript file of this folder or of e2e: node bench/run.mjs FILE
import { resolve } from "node:path";
import { runnerImport } from "vite";

const { module } = await runnerImport(resolve(process.argv[2] ?? ""));
await module.default();
