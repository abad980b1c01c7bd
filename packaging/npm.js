#!/usr/bin/env node
// Finds the program in the package for this platform, and becomes it as far as Node lets it.
"use strict";
const { spawn } = require("node:child_process");

const name = `plenary-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "plenary.exe" : "plenary";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`plenary: the package ${name} is not installed. Either there is none for this`);
  console.error("platform, or it was installed with --omit=optional.");
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal tells the whole group; others tell only this process.
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`plenary: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const one of ["SIGTERM", "SIGHUP", "SIGINT"]) process.removeAllListeners(one);
  process.kill(process.pid, signal);
});
