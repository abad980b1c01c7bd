// Runs a TypeScript file of this folder or of e2e: node bench/run.mjs FILE
import { resolve } from "node:path";
import { runnerImport } from "vite";

// Otherwise what is built here would be the slow React of developers.
process.env.NODE_ENV = "production";
const { module } = await runnerImport(resolve(process.argv[2] ?? ""));
await module.default();
