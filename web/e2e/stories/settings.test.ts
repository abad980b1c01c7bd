import { got } from "../arrange";
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
  await keys.getByLabel("Key of OpenRouter").fill("sk-or-v1-not-a-real-key");
  await keys.getByRole("button", { name: "Save key" }).click();
  await expect
    .poll(async () => JSON.stringify((await got(server.api.GET("/api/settings"))).keys))
    .toContain('"provider":"openrouter"');
  await keys.getByText("Set here").waitFor();
  await keys.getByLabel("Key of OpenRouter", { exact: true }).waitFor({ state: "detached" });
  expect(await page.content()).not.toContain("not-a-real-key");
  await keys.getByRole("button", { name: "Remove the key of OpenRouter" }).click();
  await keys.getByText("Set here").waitFor({ state: "detached" });
});
