// Drives an ordinary Firefox by Marionette, the protocol that it brings along: lengths and
// JSON over a socket, so that nothing has to be installed beside the browser.

import { spawn, type ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where it is; nothing where there is none. */
export function firefox(): string | undefined {
  const places = [process.env["FIREFOX"], "/usr/bin/firefox-esr", "/usr/bin/firefox"];
  return places.find((path) => path !== undefined && path !== "" && existsSync(path));
}

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

export class Firefox {
  private next = 1;
  private read = Buffer.alloc(0);
  private readonly waiting = new Map<number, (answer: unknown[]) => void>();

  private constructor(
    private readonly child: ChildProcess,
    private readonly socket: Socket,
    private readonly profile: string,
  ) {
    socket.on("data", (bytes) => this.take(bytes));
  }

  static async start(path: string): Promise<Firefox> {
    const profile = mkdtempSync(join(tmpdir(), "plenary-firefox-"));
    const prefs = {
      "marionette.port": 0,
      "browser.download.folderList": 2,
      "browser.download.dir": profile,
      "browser.download.alwaysOpenPanel": false,
      "browser.helperApps.neverAsk.saveToDisk": "text/markdown",
      "datareporting.policy.dataSubmissionEnabled": false,
      // Nothing that a page or the browser asks for leaves this machine.
      "network.proxy.type": 1,
      "network.proxy.http": "127.0.0.1",
      "network.proxy.http_port": 9,
      "network.proxy.ssl": "127.0.0.1",
      "network.proxy.ssl_port": 9,
    };
    const lines = Object.entries(prefs).map(
      ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
    );
    writeFileSync(join(profile, "user.js"), lines.join("\n"));
    const child = spawn(path, ["--headless", "--marionette", "--no-remote", "--profile", profile], {
      env: { ...process.env, HOME: profile, MOZ_REMOTE_ALLOW_SYSTEM_ACCESS: "1" },
      stdio: "ignore",
    });
    const port = Number(await written(profile, "MarionetteActivePort"));
    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const browser = new Firefox(child, socket, profile);
    await browser.ask("WebDriver:NewSession", {});
    await browser.ask("WebDriver:SetWindowRect", { width: 1440, height: 900 });
    return browser;
  }

  async go(url: string): Promise<void> {
    await this.ask("WebDriver:Navigate", { url });
  }

  /** What a script of ours gives, in the page. */
  async evaluate<T>(script: string): Promise<T> {
    const { value } = await this.ask("WebDriver:ExecuteScript", { script: `return ${script}` });
    return value as T;
  }

  /** Returns when this is true in the page. */
  async until(script: string): Promise<void> {
    const began = performance.now();
    while (!(await this.evaluate<boolean>(script))) {
      if (performance.now() - began > 30_000) throw new Error(`never became true: ${script}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async click(selector: string): Promise<void> {
    await this.ask("WebDriver:ElementClick", { id: await this.find(selector) });
  }

  async type(selector: string, text: string): Promise<void> {
    await this.ask("WebDriver:ElementSendKeys", { id: await this.find(selector), text });
  }

  /** The text of a file that was downloaded. */
  downloaded(ending: RegExp): Promise<string> {
    return written(this.profile, ending);
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.socket.destroy();
    this.child.kill("SIGKILL");
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }

  private async find(selector: string): Promise<string> {
    await this.until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    const params = { using: "css selector", value: selector };
    const { value } = await this.ask("WebDriver:FindElement", params);
    return (value as Record<string, string>)[ELEMENT] ?? "";
  }

  private async ask(command: string, params: object): Promise<{ value?: unknown }> {
    const id = this.next;
    this.next += 1;
    const message = Buffer.from(JSON.stringify([0, id, command, params]));
    const answer = new Promise<unknown[]>((resolve) => this.waiting.set(id, resolve));
    this.socket.write(`${message.length}:`);
    this.socket.write(message);
    const [, , error, result] = await answer;
    if (error) throw new Error(`${command}: ${(error as { message: string }).message}`);
    return (result ?? {}) as { value?: unknown };
  }

  private take(bytes: Buffer): void {
    this.read = Buffer.concat([this.read, bytes]);
    for (;;) {
      const colon = this.read.indexOf(":");
      const length = Number(this.read.subarray(0, colon).toString());
      if (colon < 0 || this.read.length < colon + 1 + length) return;
      const message: unknown = JSON.parse(
        this.read.subarray(colon + 1, colon + 1 + length).toString(),
      );
      this.read = this.read.subarray(colon + 1 + length);
      // What it says first, of itself, answers nothing.
      if (Array.isArray(message)) this.waiting.get(message[1] as number)?.(message);
    }
  }
}

/** What a file of a folder says, as soon as it says something. */
async function written(folder: string, name: string | RegExp): Promise<string> {
  const changes = watch(folder);
  try {
    for (;;) {
      const found = readdirSync(folder).find((one) =>
        typeof name === "string" ? one === name : name.test(one),
      );
      const text = found === undefined ? "" : readFileSync(join(folder, found), "utf8");
      if (text !== "") return text;
      await new Promise((resolve) => changes.once("change", resolve));
    }
  } finally {
    changes.close();
  }
}
