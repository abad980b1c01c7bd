// What a page asks for while others vote: a whiteboard of 200 posts, 50 votes one after the
// other, followed by one tab and by ten of one browser. Counts what goes over the wire.

import { chromium, type BrowserContext, type Request } from "playwright-core";
import { Whiteboard } from "../e2e/arrange";
import { launch } from "../e2e/browser";
import { ModelServer, Server } from "../e2e/programs";

const POSTS = 200;
const VOTES = 50;
const QUIET_MS = 300;

/** Requests of all tabs, and the bytes of their answers as they were sent. */
class Wire {
  requests = 0;
  bytes = 0;
  private open = new Set<Request>();
  private last = Date.now();

  constructor(context: BrowserContext) {
    const ours = (request: Request) => /\/api\/(?!.*events)/.test(request.url());
    context.on("request", (request) => {
      if (ours(request)) this.open.add(request);
    });
    const ended = async (request: Request) => {
      if (!this.open.delete(request)) return;
      this.last = Date.now();
      this.requests += 1;
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      this.bytes += responseBodySize + responseHeadersSize;
    };
    context.on("requestfinished", (request) => void ended(request));
    context.on("requestfailed", (request) => this.open.delete(request));
  }

  /** Something was asked, nothing is under way, and nothing was lately. */
  async quiet(before = -1): Promise<void> {
    while (this.requests <= before || this.open.size > 0 || Date.now() - this.last < QUIET_MS) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  begin(): void {
    [this.requests, this.bytes] = [0, 0];
  }
}

async function large(server: Server): Promise<Whiteboard> {
  const board = await Whiteboard.open(server, "large", "What do we do first?");
  for (const agent of ["ben", "cara"]) await board.register(agent);
  const body = "Because it is the part that everything else waits for, and nobody owns it. ";
  for (let nth = 1; nth <= POSTS; nth += 1) {
    const title = `Proposal ${nth}: mend what is broken`;
    await board.post("ben", { type: "proposal", title, body: body.repeat(4) });
  }
  await board.move("ada", "read");
  await board.move("ada", "debate");
  return board;
}

/** What a browser says to all tabs but the one in front; here all are in front. */
const hide = () => Object.defineProperty(document, "hidden", { get: () => true });

async function followed(tabs: number, isOneInFront: boolean): Promise<string> {
  const models = await ModelServer.start();
  const server = await Server.start(models.url, {
    ...(process.env["BENCH_PAGE"] && { PLENARY_WEB_FOLDER: process.env["BENCH_PAGE"] }),
  });
  const started = await launch();
  const browser = await chromium.connect(started.wsEndpoint());
  try {
    const board = await large(server);
    const context = await browser.newContext();
    const wire = new Wire(context);
    for (let nth = 0; nth < tabs; nth += 1) {
      const page = await context.newPage();
      if (isOneInFront && nth > 0) await page.addInitScript(hide);
      await page.goto(`${server.url}/whiteboards/large`);
      await page.getByText("Proposal 1:").first().waitFor();
    }
    await wire.quiet();
    wire.begin();
    for (let nth = 1; nth <= VOTES; nth += 1) {
      const before = wire.requests;
      await board.vote("cara", { postId: `ben/${nth}`, vote: "accept" });
      await wire.quiet(before);
    }
    const seen = isOneInFront ? "one of them in front" : "all in front";
    return `${tabs} tabs, ${seen}: ${wire.requests} requests, ${(wire.bytes / 1_000).toFixed(0)} kB`;
  } finally {
    await browser.close();
    await started.close();
    await server.end();
    await models.end();
  }
}

export default async function main(): Promise<void> {
  console.log(`A whiteboard of ${POSTS} posts, ${VOTES} votes`);
  console.log(await followed(1, true));
  for (const isOneInFront of [true, false]) console.log(await followed(10, isOneInFront));
}
