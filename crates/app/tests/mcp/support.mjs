// The real program in a folder of its own, a scripted model server to ask, and
// the official client on either transport. A story is a file `*.test.mjs` beside
// this one.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

const { PLENARY_BIN, SCRIPTED_BIN } = process.env;
assert(PLENARY_BIN && SCRIPTED_BIN, "run this by scripts/mcp");

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
  const folder = mkdtempSync(join(tmpdir(), "plenary-mcp-"));
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

export function serve(t, home) {
  return listening(t, PLENARY_BIN, ["serve", "--listen", "127.0.0.1:0"], home.env);
}

/** A client that started `plenary mcp` as its own process. */
export async function overStdio(t, home, ...args) {
  const transport = new StdioClientTransport({
    command: PLENARY_BIN,
    args: ["mcp", ...args],
    env: home.env,
    cwd: home.folder,
    stderr: "inherit",
  });
  return connected(t, transport);
}

export async function overHttp(t, url) {
  return connected(t, new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
}

async function connected(t, transport) {
  const client = new Client({ name: "stories", version: "1.0.0" });
  await client.connect(transport);
  t.after(() => client.close().catch(() => {}));
  const { tools } = await client.listTools();
  const ajv = formats(new Ajv2020({ strict: true, allErrors: true }));
  const shapes = new Map(tools.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
  for (const tool of tools) ajv.compile(tool.inputSchema);
  return { client, transport, tools, shapes };
}

/** Both transports, for stories that must not depend on which. */
export const ways = {
  stdio: (t, home) => overStdio(t, home),
  http: async (t, home) => overHttp(t, (await serve(t, home)).url),
};

/** A call that must succeed; its answer must fit the tool's schema. */
export async function good({ client, shapes }, name, args = {}, options = undefined) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert(!result.isError, `${name}: ${result.content[0]?.text}`);
  const fits = shapes.get(name);
  assert(fits(result.structuredContent), `${name}: ${JSON.stringify(fits.errors)}`);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** A call that must be refused by the tool; gives the error. */
export async function bad({ client }, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert(result.isError, `${name} was accepted: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text);
}
