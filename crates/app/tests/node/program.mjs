// The real program in a folder of its own, and a scripted model server to ask. What
// all stories share that are told by clients for Node; scripts/stories puts it
// beside them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const { PLENARY_BIN, SCRIPTED_BIN } = process.env;
assert(PLENARY_BIN && SCRIPTED_BIN, "run this by scripts/stories");

/** Starts a program and resolves with the address that it prints first. */
async function listening(t, program, args, env) {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface(child.stdout)) {
    const found = line.match(/http:\/\/[0-9.:]+/);
    if (found) return { child, url: found[0] };
  }
  throw new Error(`${program} printed no address`);
}

/** A data folder, and a model server that answers as `args` say. */
export async function home(t, ...args) {
  const folder = mkdtempSync(join(tmpdir(), "plenary-stories-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const models = await listening(t, SCRIPTED_BIN, ["--models", "a,b,c,d", ...args], {});
  const env = {
    HOME: folder,
    PLENARY_HOME: join(folder, "data"),
    OLLAMA_HOST: models.url,
    PLENARY_EMBEDDED: "off",
  };
  return { folder, env, models: models.url };
}

/** What the process that holds the folder says about itself. */
export function holder(home) {
  const text = readFileSync(join(home.env.PLENARY_HOME, "plenary.lock"), "utf8");
  return text ? JSON.parse(text) : undefined;
}

/** A server on a free port, or on the one that an earlier server had. */
export function serve(t, home, address = "127.0.0.1:0") {
  return listening(t, PLENARY_BIN, ["serve", "--listen", address], home.env);
}
