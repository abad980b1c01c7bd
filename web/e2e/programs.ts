// The programs that a story needs: a model server that says what it is told to, and the
// real `plenary serve`, each on a free port of this machine.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import createClient, { type Client } from "openapi-fetch";
import type { paths } from "../src/api/schema";

function program(variable: string): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error(`Set ${variable}, or run this by scripts/web.`);
  return path;
}

interface Running {
  child: ChildProcess;
  url: string;
}

/** Starts a program and resolves with the address that it prints first. */
async function listening(path: string, args: string[], env: NodeJS.ProcessEnv): Promise<Running> {
  const child = spawn(path, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (bytes: Buffer) => (complaints = (complaints + bytes).slice(-4_000)));
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/[0-9.:]+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url };
  }
  throw new Error(`${path} printed no address. ${complaints}`);
}

async function ended({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** What a rule of the scripted model server may say; its `--help` explains. */
export interface Rule {
  when?: { model?: string; contains?: string[]; nth?: number };
  text?: string;
  texts?: string[];
  tokens?: number;
  reasoning?: string;
  tps?: number;
  firstMs?: number;
  fault?: string | Record<string, Record<string, unknown>>;
  faults?: number;
  hold?: string;
  holdAfter?: number;
}

export class ModelServer {
  private constructor(private readonly running: Running) {}

  static async start(...args: string[]): Promise<ModelServer> {
    const models = args.includes("--models") ? [] : ["--models", "alpha,beta,gamma,delta"];
    return new ModelServer(await listening(program("SCRIPTED_BIN"), [...models, ...args], {}));
  }

  get url(): string {
    return this.running.url;
  }

  /** These rules are for all requests from now on. */
  async say(...rules: Rule[]): Promise<void> {
    await this.tell("/__script", rules);
  }

  /** Returns when so many answers wait at this name. */
  async reached(name: string, answers = 1): Promise<void> {
    await this.tell("/__reached", { name, answers });
  }

  async release(name: string): Promise<void> {
    await this.tell("/__release", { name });
  }

  async stats(): Promise<{ count: number; inFlight: number }> {
    return (await fetch(`${this.url}/__stats`)).json() as never;
  }

  private async tell(path: string, body: unknown): Promise<void> {
    const response = await fetch(this.url + path, { method: "POST", body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  }

  end(): Promise<void> {
    return ended(this.running);
  }
}

export class Server {
  readonly api: Client<paths>;

  private constructor(
    private running: Running,
    private readonly folder: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.api = createClient<paths>({
      baseUrl: running.url,
      ...(env["PLENARY_TOKEN"] !== undefined && {
        headers: { Authorization: `Bearer ${env["PLENARY_TOKEN"]}` },
      }),
    });
  }

  /** `config` is the operator's plenary.toml. */
  static async start(
    models: string,
    settings: Record<string, string> = {},
    config?: string,
  ): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), "plenary-e2e-"));
    if (config !== undefined) {
      mkdirSync(join(folder, ".config/plenary"), { recursive: true });
      writeFileSync(join(folder, ".config/plenary/plenary.toml"), config);
    }
    const pages = process.env["PLENARY_WEB_FOLDER"];
    const env = {
      HOME: folder,
      PLENARY_HOME: join(folder, "data"),
      PLENARY_EMBEDDED: "off",
      OLLAMA_HOST: models,
      ...(pages !== undefined && { PLENARY_WEB_FOLDER: pages }),
      ...settings,
    };
    return new Server(await Server.serve("127.0.0.1:0", env), folder, env);
  }

  private static serve(address: string, env: NodeJS.ProcessEnv): Promise<Running> {
    return listening(program("PLENARY_BIN"), ["serve", "--listen", address], env);
  }

  get url(): string {
    return this.running.url;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await ended(this.running);
  }

  /** On the same port and the same data as before. */
  async restart(): Promise<void> {
    await this.kill();
    this.running = await Server.serve(new URL(this.url).host, this.env);
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
