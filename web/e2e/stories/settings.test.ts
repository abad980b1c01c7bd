import { boardView, got } from "../arrange";
import { expect, story } from "../stage";

story("the operator chooses the model of a tier, and sets a key", async ({ server, person }) => {
  const { page } = await person();
  await page.goto("/settings");
  const tier = page.getByLabel("Model for strong");
  await tier.selectOption("ollama/gamma");
  await expect
    .poll(async () => (await got(server.api.GET("/api/settings"))).tiers.strong)
    .toBe("ollama/gamma");
  await page.reload();
  await expect.poll(() => tier.inputValue()).toBe("ollama/gamma");
  await tier.selectOption("");
  await expect
    .poll(async () => (await got(server.api.GET("/api/settings"))).tiers.strong)
    .toBeUndefined();

  // A key is kept on the server and never comes back.
  const keys = page.getByRole("region", { name: "Keys" });
  await keys.getByRole("button", { name: "Add a key for OpenRouter" }).click();
  await keys.getByLabel("OpenRouter key", { exact: true }).fill("sk-or-v1-not-a-real-key");
  await keys.getByRole("button", { name: "Save key" }).click();
  await expect
    .poll(async () => JSON.stringify((await got(server.api.GET("/api/settings"))).keys))
    .toContain('"provider":"openrouter"');
  await keys.getByText("Set here").waitFor();
  await keys.getByLabel("OpenRouter key", { exact: true }).waitFor({ state: "detached" });
  expect(await page.content()).not.toContain("not-a-real-key");
  await keys.getByRole("button", { name: "Remove the OpenRouter key" }).click();
  await keys.getByText("Set here").waitFor({ state: "detached" });
});

story("the operator sets a price, and takes it back", async ({ server, person }) => {
  const { page } = await person();
  await page.goto("/settings");
  const prices = page.getByRole("region", { name: "Prices" }).first();
  await prices.getByRole("button", { name: "Set the price of ollama/gamma" }).click();
  await prices.getByLabel("Input price of ollama/gamma").fill("0,12");
  await prices.getByLabel("Output price of ollama/gamma").fill("0.4");
  await prices.getByLabel("Output price of ollama/gamma").press("Enter");
  await prices.getByText("Yours").waitFor();
  expect((await got(server.api.GET("/api/settings"))).prices).toEqual({
    "ollama/gamma": { input: 0.12, output: 0.4 },
  });
  await page.reload();
  const row = prices.getByRole("row", { name: /ollama\/gamma/ });
  await row.getByText("0.12").waitFor();
  await row.getByRole("button", { name: "Undo the price of ollama/gamma" }).click();
  await prices.getByText("Yours").waitFor({ state: "detached" });
  expect((await got(server.api.GET("/api/settings"))).prices).toEqual({});
});

story(
  "a new board begins with the default board and budget",
  async ({ models, server, person }) => {
    await models.say();
    const { page } = await person();
    const isBegunWith = async (board: RegExp) => {
      await page.goto("/boardrooms");
      const chosen = page.getByRole("button", { name: board });
      await expect.poll(() => chosen.getAttribute("aria-pressed")).toBe("true");
      await page.getByRole("button", { name: "Edit board" }).click();
      expect(await page.getByLabel("Tokens", { exact: true }).inputValue()).toBe("90,000");
    };
    // The board that is used last has no budget.
    await page.goto("/boardrooms");
    await page.getByRole("button", { name: /Full Board/ }).click();

    await page.goto("/settings");
    const card = page.getByRole("region", { name: "Defaults for new boards" });
    await card.getByLabel("Tokens").fill("many");
    await card.getByText("Enter a number above 0").waitFor();
    await card.getByLabel("Tokens").fill("90,000");
    await isBegunWith(/Full Board/);
    await page.goto("/settings");
    await card.getByLabel("Board").selectOption({ label: "Peer Review" });
    await isBegunWith(/Peer Review/);

    await page.goto("/");
    expect(await page.getByRole("radio", { name: /Peer Review/ }).isChecked()).toBe(true);
    await page.getByRole("textbox", { name: "Your question" }).fill("Is this plan sound?");
    await page.getByRole("button", { name: "Convene", exact: true }).click();
    await page.waitForURL(/\/boardrooms\/./);
    const id = page.url().split("/").at(-1) ?? "";
    const view = await boardView(server, id);
    expect(view.board).toBe("peer-review");
    expect(view.budget).toMatchObject({ tokens: 90_000 });

    await page.goto("/settings");
    await page.getByRole("button", { name: "Forget: Defaults for new boards" }).click();
    await expect.poll(() => card.getByLabel("Tokens").inputValue()).toBe("");
  },
);
