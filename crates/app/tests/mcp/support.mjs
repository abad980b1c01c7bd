// The official client on either transport. A story is a file `*.test.mjs` beside
// this one.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

import { PLENARY_BIN, holder, home, serve } from "./program.mjs";

export { holder, home, serve };

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
  const typed = tools.filter((tool) => tool.outputSchema);
  const shapes = new Map(typed.map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
  for (const tool of tools) ajv.compile(tool.inputSchema);
  return { client, transport, tools, shapes };
}

/** Both transports, for stories that must not depend on which. */
export const ways = {
  stdio: (t, home) => overStdio(t, home),
  http: async (t, home) => overHttp(t, (await serve(t, home)).url),
};

/** A call that must succeed; its answer must fit the tool's schema, where it has one. */
export async function good({ client, shapes }, name, args = {}, options = undefined) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert(!result.isError, `${name}: ${result.content[0]?.text}`);
  const fits = shapes.get(name);
  assert(!fits || fits(result.structuredContent), `${name}: ${JSON.stringify(fits?.errors)}`);
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
}

/** A call that must be refused by the tool; gives the error. */
export async function bad({ client }, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  assert(result.isError, `${name} was accepted: ${JSON.stringify(result)}`);
  return JSON.parse(result.content[0].text);
}
