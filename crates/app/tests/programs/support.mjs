// The real agents, as npm installs them, with a home folder of their own and the
// scripted server for a model. Nothing here may reach beyond the loopback.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { PLENARY_BIN, home, serve } from "./program.mjs";

export { PLENARY_BIN, home, serve };

const BIN = realpathSync("node_modules/.bin");
const KEY = "not-a-key";
const MCP = [PLENARY_BIN, "mcp"];
const TRUSTS_HOOKS = "--dangerously-bypass-hook-trust";
/** The model's name everywhere; the rules tell conversations apart by their words. */
export const MODEL = "scripted";

/** Waits until this gives something, and gives that. */
export async function until(what, find) {
  for (const end = Date.now() + 60_000; Date.now() < end; await pause(50)) {
    const found = await find();
    if (found) return found;
  }
  throw new Error(`${what}: not within a minute`);
}

/** Writes a file below a home folder, and gives its place. */
function put(home, path, text, mode = 0o644) {
  const file = join(home.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode });
  return file;
}

/** The messages of this role, and the others. */
const byRole = (messages, system) => [
  messages.filter(({ role }) => role === system),
  messages.filter(({ role }) => role !== system),
];

const json = (value) => JSON.stringify(value, undefined, 2);

/**
 * What is peculiar to each program: how it is pointed at the model server, how Plenary
 * is registered as its MCP server, what else its user may have set up, how it is given a
 * task, which calls its model has to make before it sees the tools, and where in its
 * requests the system prompt and the conversation are.
 */
export const programs = {
  claude: {
    env: (home) => ({
      ANTHROPIC_BASE_URL: home.models,
      ANTHROPIC_API_KEY: KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    }),
    settings() {},
    async register(t, home, command = MCP) {
      const add = ["mcp", "add", "--scope", "user", "plenary", "-e"];
      const data = `PLENARY_HOME=${home.env.PLENARY_HOME}`;
      await run(t, home, "claude", [...add, data, "--", ...command]);
    },
    async registerHttp(t, home, url) {
      const add = ["mcp", "add", "--scope", "user", "--transport", "http", "plenary"];
      await run(t, home, "claude", [...add, `${url}/mcp`]);
    },
    /** A hook, and words for every prompt. */
    habits(home, [command, file], words) {
      const run = [{ hooks: [{ type: "command", command: `${command} ${file}` }] }];
      put(home, ".claude/settings.json", json({ hooks: { UserPromptSubmit: run } }));
      put(home, ".claude/CLAUDE.md", words);
    },
    task: (words) => ["-p", words, "--model", MODEL, "--allowedTools", "mcp__plenary"],
    told: ({ system, messages }) => [system, messages],
    // It tells the model the names of MCP tools, and their schemas when asked for them.
    finds: (tools) => [
      {
        call: "ToolSearch",
        with: { query: `select:${tools.map((tool) => `mcp__plenary__${tool}`).join(",")}` },
      },
    ],
  },
  codex: {
    asks: (home) => [
      `model_provider = "scripted"`,
      `model_providers.scripted.name = "scripted"`,
      `model_providers.scripted.base_url = "${home.models}/v1"`,
      `model_providers.scripted.experimental_bearer_token = "${KEY}"`,
      `model_providers.scripted.wire_api = "responses"`,
    ],
    env: () => ({}),
    settings(home, more = "") {
      put(
        home,
        ".codex/config.toml",
        `model = "${MODEL}"
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
${this.asks(home).join("\n")}
${more}`,
      );
    },
    // The preset leaves the user's settings out, so these come before its arguments.
    program(home, found, ...more) {
      const options = this.asks(home).map((setting) => `-c '${setting}'`);
      const words = [found, ...options, "exec", ...more];
      return put(home, "codex", `#!/bin/sh\nshift\nexec ${words.join(" ")} "$@"\n`, 0o755);
    },
    /** A hook that the user has come to trust, and a skill. */
    habits(home, [command, file], words) {
      const run = [{ hooks: [{ type: "command", command: `${command} ${file}` }] }];
      put(home, ".codex/hooks.json", json({ hooks: { UserPromptSubmit: run } }));
      put(home, ".codex/skills/own/SKILL.md", `---\nname: own\ndescription: ${words}---\n${words}`);
      this.program(home, join(BIN, "codex"), TRUSTS_HOOKS);
    },
    register(_t, home, [command, ...args] = MCP) {
      this.settings(
        home,
        `
[mcp_servers.plenary]
command = "${command}"
args = ${JSON.stringify(args)}
env_vars = ["PLENARY_HOME", "OLLAMA_HOST", "PLENARY_EMBEDDED"]
`,
      );
    },
    task: (words) => ["exec", "--skip-git-repo-check", TRUSTS_HOOKS, words],
    told: ({ input }) => byRole(input, "developer"),
    finds: () => [],
  },
  gemini: {
    env: (home) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: home.models }),
    settings(home, more = {}) {
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        ...more,
      };
      put(home, ".gemini/settings.json", json(settings));
    },
    register(_t, home, [command, ...args] = MCP) {
      const env = { PLENARY_HOME: home.env.PLENARY_HOME };
      this.settings(home, { mcpServers: { plenary: { command, args, env } } });
    },
    task: (words) => ["--yolo", "-m", MODEL, "-p", words],
    told: ({ systemInstruction, contents }) => [systemInstruction, contents],
    finds: () => [],
  },
  opencode: {
    model: `lab/${MODEL}`,
    env: (home) => ({
      OPENCODE_CONFIG: join(home.folder, "lab.json"),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    }),
    settings(home) {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${home.models}/v1`, apiKey: KEY },
        models: { [MODEL]: {} },
      };
      const settings = {
        autoupdate: false,
        share: "disabled",
        model: this.model,
        small_model: this.model,
        provider: { lab: provider },
      };
      put(home, "lab.json", json(settings));
    },
    register(_t, home, command = MCP) {
      const environment = { PLENARY_HOME: home.env.PLENARY_HOME };
      const mcp = { plenary: { type: "local", command, environment } };
      put(home, ".config/opencode/opencode.json", json({ mcp }));
    },
    task: (words) => ["run", words],
    told: ({ messages }) => byRole(messages, "system"),
    finds: () => [],
  },
};

/**
 * All processes of this home. It is new, so whoever has it in the environment was started
 * from there.
 */
export function processesOf(home) {
  const ids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return ids.map(Number).filter((id) => {
    try {
      const variables = readFileSync(`/proc/${id}/environ`, "utf8").split("\0");
      return variables.includes(`HOME=${home.folder}`);
    } catch {
      return false; // It has ended meanwhile, or is somebody else's.
    }
  });
}

/** Those of them that are not Plenary itself. */
export function agentsOf(home) {
  const plenary = realpathSync(PLENARY_BIN);
  return processesOf(home).filter((id) => {
    try {
      return realpathSync(`/proc/${id}/exe`) !== plenary;
    } catch {
      return false;
    }
  });
}

/** Ends whatever a story has left running, so that no failure leaves more than its words. */
export function clear(home) {
  for (const id of processesOf(home)) {
    try {
      process.kill(id, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** The environment of a user who has nothing but these programs. */
export function environment(home, ...names) {
  const PATH = `${BIN}:${process.env.PATH}`;
  return Object.assign({ ...home.env, PATH }, ...names.map((name) => programs[name].env(home)));
}

/** Makes programs providers of Plenary's. */
export function settle(home, ...names) {
  const program = (name) => {
    const found = join(BIN, name);
    return programs[name].program?.(home, found) ?? found;
  };
  const provider = (name) => `[providers.${name}]
kind = "command"
preset = "${name}"
program = "${program(name)}"
models = ["${modelOf(name)}"]
`;
  put(home, ".config/plenary/plenary.toml", names.map(provider).join("\n"));
  for (const name of names) programs[name].settings(home);
  home.env = environment(home, ...names);
}

const modelOf = (name) => programs[name].model ?? MODEL;
/** What Plenary calls the model of a program. */
export const seated = (name) => `${name}/${modelOf(name)}`;

/** Runs an agent to its end, and gives what it printed. */
function run(t, home, name, args) {
  return ended(t, home, join(BIN, name), args, environment(home, name));
}

/** Runs a program to its end, which must be a good one, and gives what it printed. */
export function ended(t, home, program, args, env) {
  const stdio = ["ignore", "pipe", "pipe"];
  const child = spawn(program, args, { cwd: home.folder, env, stdio });
  t.after(() => child.kill("SIGKILL"));
  const said = { stdout: "", stderr: "" };
  for (const way of ["stdout", "stderr"]) {
    child[way].setEncoding("utf8").on("data", (text) => (said[way] += text));
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) return resolve(said.stdout);
      reject(new Error(`${program} ended with ${code}:\n${said.stdout}\n${said.stderr}`));
    });
  });
}

/** Gives a program its task, and waits until it is done. */
export function work(t, home, name, words) {
  return run(t, home, name, programs[name].task(words));
}

async function answer(response) {
  const text = await response.text();
  assert(response.ok, `${response.url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

export const get = async (url) => answer(await fetch(url));

export async function post(url, body = {}) {
  const headers = { "content-type": "application/json" };
  return answer(await fetch(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Tells the model server what to say. */
export const tell = (home, rules) => post(`${home.models}/__script`, rules);
/** Waits until an answer is held there. The programs take their time to start. */
export async function reached(home, name) {
  for (let times = 0; ; times += 1) {
    try {
      return await post(`${home.models}/__reached`, { name });
    } catch (late) {
      if (times === 3) throw late;
    }
  }
}
export const release = (home, name) => post(`${home.models}/__release`, { name });
/** What the model server was asked. */
export const asked = (home) => get(`${home.models}/__requests`);
/** All that it was asked, word for word. */
export const bodies = (home) => get(`${home.models}/__bodies`);
