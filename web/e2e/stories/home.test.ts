import { board, council, Whiteboard } from "../arrange";
import { expect, GONE, story } from "../stage";

story("a server that goes away is noticed, and so is its return", async ({ server, person }) => {
  const somebody = await person();
  const { page } = somebody;
  await page.goto("/");
  await page.getByRole("heading", { level: 1, name: "What needs deciding?" }).waitFor();
  const box = page.getByRole("textbox", { name: "Your question" });
  await box.fill("What was typed stays");

  somebody.forgive(GONE);
  await server.kill();
  const lost = page.getByText("The server is not responding. Retrying…");
  await lost.waitFor();
  expect(await box.inputValue()).toBe("What was typed stays");

  await server.restart();
  await lost.waitFor({ state: "detached" });
  // The stream is there again as well: what others begin shows by itself.
  await server.api.POST("/api/boardrooms", { body: { prompt: "Begun after the return" } });
  await page.getByRole("main").getByRole("link", { name: "Begun after the return" }).waitFor();
  expect(await box.inputValue()).toBe("What was typed stays");
});

story(
  "without a model the page says what to do",
  async ({ person }) => {
    const { page } = await person();
    await page.goto("/");
    await page.getByRole("heading", { level: 1, name: "First, connect a model" }).waitFor();
    expect(await page.getByRole("button", { name: "Convene" }).count()).toBe(0);
  },
  { OLLAMA_HOST: "http://127.0.0.1:9" },
);

const OFFERS = {
  engine: true,
  machine: { memoryBytes: 16e9, diskBytes: 50e9, cores: 8 },
  found: [],
  downloads: [
    { name: "tiny", bytes: 93e6, licence: "Apache-2.0", goodFor: "a look around", fits: true },
    { name: "medium", bytes: 639e6, licence: "MIT", goodFor: "coherent boards", fits: true },
    { name: "huge", bytes: 90e9, licence: "MIT", goodFor: "everything", fits: false },
  ],
  suggestion: { kind: "download", model: "medium", message: "medium suits it" },
};

story(
  "without a model one is downloaded by a click, or a key is pasted",
  async ({ person }) => {
    const { page } = await person();
    const pulls: object[] = [];
    const keys: unknown[] = [];
    const json = (data: unknown) => ({ json: { success: true, data } });
    await page.route("**/api/offers", (route) => route.fulfill(json(OFFERS)));
    await page.route("**/api/pulls", (route) => {
      const sent = route.request().postDataJSON() as { model: string } | null;
      if (sent) pulls.push({ ...sent, id: "1", state: "running", bytes: 1e6, totalBytes: 639e6 });
      return route.fulfill(json(sent ? pulls.at(-1) : pulls));
    });
    await page.route("**/api/pulls/1", (route) => {
      Object.assign(pulls[0] ?? {}, { state: "stopped" });
      return route.fulfill(json(pulls[0]));
    });
    await page.route("**/api/settings/keys/*", (route) => {
      keys.push(new URL(route.request().url()).pathname.split("/").at(-1));
      return route.fulfill(json({}));
    });
    await page.goto("/");
    const download = page.getByRole("region", { name: "Download a model" });
    // What suits the machine comes first, and what does not fit is not offered.
    await download.getByText("Coherent boards").waitFor();
    expect(await download.getByRole("option").allInnerTexts()).toEqual([
      "medium · 639 MB",
      "tiny · 93 MB",
    ]);
    await download.getByRole("button", { name: "Download 639 MB" }).click();
    await download.getByRole("progressbar", { name: "Downloading medium" }).waitFor();
    await download.getByRole("button", { name: "Cancel" }).click();
    await download.getByRole("combobox").selectOption("tiny");
    await download.getByText("A look around").waitFor();
    await download.getByText("License: Apache-2.0").waitFor();

    const paste = page.getByRole("region", { name: "Paste an API key" });
    await paste.getByLabel("API key").fill("hello");
    await paste.getByText("Plenary does not recognize this key").waitFor();
    await paste.getByLabel("API key").fill("sk-ant-not-a-key");
    await paste.getByRole("button", { name: "Use this key" }).click();
    await expect.poll(() => paste.getByLabel("API key").inputValue()).toBe("");
    expect(keys).toEqual(["anthropic"]);
  },
  { OLLAMA_HOST: "http://127.0.0.1:9" },
);

story("what this browser has stored and cannot be read is discarded", async ({ person }) => {
  const somebody = await person();
  somebody.forgive(/TypeError|Cannot read/);
  const { page } = somebody;
  await page.goto("/settings");
  await page.evaluate(() => {
    // Of another version, and in a shape that no check foresees.
    const setup = { seats: [null], synthesizer: "", quorum: "", graceSeconds: "", ballot: false };
    localStorage.setItem("plenary.board", JSON.stringify(setup));
    localStorage.setItem("plenary.board.draft", "7");
  });
  await page.goto("/boardrooms");
  await page.getByText("Something went wrong on this page").waitFor();
  await page.getByRole("button", { name: "Discard it…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Discard and reload" }).click();
  await page.getByRole("textbox", { name: "Question for the board" }).waitFor();
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
});

story("what was chosen on Home is there among more choices", async ({ person }) => {
  const { page } = await person();
  await page.goto("/");
  await page.getByRole("textbox", { name: "Your question" }).fill("Do we need a mascot?");
  await page.getByRole("radio", { name: /Devil’s Court|Devil's Court/ }).check();
  await page.getByRole("link", { name: "More options" }).click();
  const box = page.getByRole("textbox", { name: "Question for the board" });
  await expect.poll(() => box.inputValue()).toBe("Do we need a mascot?");
  const chosen = page.getByRole("button", { name: /Devil’s Court|Devil's Court/ });
  expect(await chosen.getAttribute("aria-pressed")).toBe("true");
  // What is changed there is not undone by a reload.
  await box.fill("Do we need two mascots?");
  await page.reload();
  await expect.poll(() => box.inputValue()).toBe("Do we need two mascots?");
});

story("a board of the library is convened with one more click", async ({ person }) => {
  const { page } = await person();
  await page.goto("/library/boards");
  await page
    .getByRole("main")
    .getByRole("link", { name: /Peer Review/ })
    .first()
    .click();
  const chosen = page.getByRole("button", { name: /Peer Review/ });
  await chosen.waitFor();
  expect(await chosen.getAttribute("aria-pressed")).toBe("true");
});

story("words stay as they were typed on their way through an address", async (stage) => {
  const { page } = await stage.person();
  const words = "Is a%20b & c%26d = 100 % + 1?";
  await page.goto("/");
  await page.getByRole("textbox", { name: "Your question" }).fill(words);
  await page.getByRole("link", { name: "More options" }).click();
  const box = page.getByRole("textbox", { name: "Question for the board" });
  await expect.poll(() => box.inputValue()).toBe(words);
  await page.goto(`/discussions/new?${new URLSearchParams({ topic: words })}`);
  const topic = page.getByRole("textbox", { name: "Topic" });
  await expect.poll(() => topic.inputValue()).toBe(words);
  await page.goto(`/history?${new URLSearchParams({ q: words })}`);
  const search = page.getByRole("searchbox", { name: "Search all sessions" });
  await expect.poll(() => search.inputValue()).toBe(words);
});

story(
  "a board is made once, though the answer got lost and the page was loaded again",
  async ({ server, person }) => {
    const somebody = await person();
    const { page } = somebody;
    somebody.forgive(/status of 504/);
    // A proxy lets the request through, and gives up waiting for the answer.
    let lost = 0;
    await page.route("**/api/boardrooms", async (route) => {
      if (route.request().method() !== "POST" || lost === 2) return route.continue();
      lost += 1;
      await route.fetch();
      return route.fulfill({ status: 504, body: "" });
    });
    await page.goto("/");
    await page.getByRole("textbox", { name: "Your question" }).fill("Are we one?");
    const convene = page.getByRole("button", { name: "Convene", exact: true });
    await convene.click();
    await page.getByRole("alert").waitFor();
    await page.reload();
    await convene.click();
    await page.getByRole("alert").waitFor();
    await convene.click();
    await page.getByRole("heading", { level: 1, name: "Are we one?" }).waitFor();
    expect((await server.api.GET("/api/boardrooms")).data?.data).toHaveLength(1);
  },
);

story("who only looks leaves no draft behind", async ({ server, person }) => {
  const { page } = await person();
  const id = await board(server, {
    prompt: "Are we one?",
    advisors: [{ role: "critic", person: "Ada" }],
  });
  await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
  await Whiteboard.open(server, "plan", "How to move");
  for (const address of ["/", "/boardrooms", "/discussions/new", "/whiteboards", "/councils"]) {
    await page.goto(address);
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
  for (const address of [`/boardrooms/${id}`, "/councils/plans", "/whiteboards/plan"]) {
    await page.goto(address);
    await page.getByRole("heading", { level: 1 }).waitFor();
  }
  for (const [address, opens] of [
    ["/whiteboards", "Open a whiteboard"],
    ["/councils", "Open a council"],
    ["/library/agents", "New agent"],
  ] as const) {
    await page.goto(address);
    await page.getByRole("button", { name: opens }).first().click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
});
