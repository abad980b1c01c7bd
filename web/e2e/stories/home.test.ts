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
