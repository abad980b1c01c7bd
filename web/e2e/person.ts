// Somebody at a browser of their own. Whatever a page does that it must not do is noted,
// and ends the story as a failure: errors on the console, exceptions, breaches of the
// content policy, dialogs, and any request that leaves the page's own origin.

import type { Browser, BrowserContext, Page } from "playwright-core";

declare global {
  interface Window {
    /** Scripts that run where none may call this. */
    __ran?: (what: string) => void;
    __breach?: (what: string) => void;
  }
}

export interface Look {
  width?: number;
  height?: number;
  colorScheme?: "light" | "dark";
}

export class Person {
  readonly trouble: string[] = [];
  private readonly forgiven: RegExp[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    readonly origin: string,
  ) {}

  static async sitDown(browser: Browser, origin: string, look: Look = {}): Promise<Person> {
    const { width = 1440, height = 900, colorScheme = "light" } = look;
    const context = await browser.newContext({
      baseURL: origin,
      viewport: { width, height },
      colorScheme,
      reducedMotion: "reduce",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(20_000);
    const person = new Person(context, await context.newPage(), origin);
    await person.watch();
    return person;
  }

  private async watch(): Promise<void> {
    const { context } = this;
    await context.exposeFunction("__ran", (what: string) => this.note(`a script ran: ${what}`));
    await context.exposeFunction("__breach", (what: string) => this.note(`policy: ${what}`));
    await context.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.__breach?.(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
    context.on("request", (request) => this.mayAsk(request.url()));
    this.watchPage(this.page);
    context.on("page", (page) => this.watchPage(page));
  }

  private watchPage(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error") this.note(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.note(`exception: ${error.message}`));
    page.on("websocket", (socket) => this.mayAsk(socket.url()));
    page.on("dialog", (dialog) => {
      this.note(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  private mayAsk(address: string): void {
    const url = new URL(address);
    const isOwn = url.origin === this.origin || url.protocol === "data:";
    if (!isOwn && address !== "about:blank") this.note(`asked elsewhere: ${address}`);
  }

  private note(what: string): void {
    this.trouble.push(what);
  }

  /** What a story brings about on purpose, such as a refused token, is no trouble. */
  forgive(what: RegExp): void {
    this.forgiven.push(what);
  }

  /** All that went wrong and was not meant to. */
  complaints(): string[] {
    return this.trouble.filter((one) => !this.forgiven.some((what) => what.test(one)));
  }
}
