import { expect, story } from "../stage";

story("a server that goes away is noticed, and so is its return", async ({ server, person }) => {
  const somebody = await person();
  const { page } = somebody;
  await page.goto("/");
  await page.getByRole("heading", { level: 1, name: "What needs deciding?" }).waitFor();
  const box = page.getByRole("textbox", { name: "Your question" });
  await box.fill("What was typed stays");

  somebody.forgive(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/);
  await server.kill();
  const lost = page.getByText("The server does not answer. Trying again.");
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
    await page.getByRole("heading", { level: 1, name: "First, a model to ask" }).waitFor();
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
