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

story("what was chosen on Home is there among more choices", async ({ person }) => {
  const { page } = await person();
  await page.goto("/");
  await page.getByRole("textbox", { name: "Your question" }).fill("Do we need a mascot?");
  await page.getByRole("radio", { name: /Devil’s Court|Devil's Court/ }).check();
  await page.getByRole("link", { name: "More choices" }).click();
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
  await page.getByRole("link", { name: "More choices" }).click();
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
