import { got } from "../arrange";
import { expect, story } from "../stage";

story("a facilitator from a preset, kept, changed and seated", async ({ server, person }) => {
  const { page } = await person();
  await page.goto("/library/facilitators");
  await page.getByRole("button", { name: "New facilitator" }).click();
  const dialog = page.getByRole("dialog", { name: "New facilitator" });
  const builtIn = await got(
    server.api.GET("/api/agents", { params: { query: { facilitator: true } } }),
  );
  const preset = builtIn[0]?.name ?? "";
  await dialog.getByRole("button", { name: preset, exact: true }).click();
  await expect
    .poll(() => dialog.getByRole("textbox", { name: "Persona" }).inputValue())
    .toMatch(/\w{3}/);
  await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Night Chair");
  await dialog.getByRole("button", { name: "Add facilitator" }).click();

  const details = page.getByRole("dialog", { name: "Night Chair" });
  await details.getByRole("button", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Night Chair" });
  await edit.getByRole("textbox", { name: "Description" }).fill("Chairs at night.");
  await edit.getByRole("button", { name: "Save" }).click();
  await details.getByText("Chairs at night.").waitFor();
  const mine = await got(
    server.api.GET("/api/agents/{id}", { params: { path: { id: "Night Chair" } } }),
  );
  expect(mine).toMatchObject({
    isFacilitator: true,
    isBuiltIn: false,
    description: "Chairs at night.",
  });

  // The wizard begins with it.
  await details.getByRole("link", { name: "Use in a discussion" }).click();
  await page.getByRole("textbox", { name: "Topic" }).fill("Who chairs?");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("radio", { name: /Night Chair/ }).waitFor();
  expect(await page.getByRole("radio", { name: /Night Chair/ }).isChecked()).toBe(true);
});

story("a built-in agent stays as it is", async ({ server, person }) => {
  const { page } = await person();
  await page.goto("/library/facilitators");
  const group = page.getByRole("region", { name: "Built-in" });
  await group.getByRole("button").first().click();
  const details = page.getByRole("dialog");
  await details.getByText(/Built-in agents cannot be changed/).waitFor();
  for (const name of ["Edit", "Remove…"]) {
    expect(await details.getByRole("button", { name }).count()).toBe(0);
  }
  await details.getByRole("button", { name: "Make a copy" }).waitFor();
  // The server refuses it as well, whoever asks.
  const [first] = await got(
    server.api.GET("/api/agents", { params: { query: { facilitator: true } } }),
  );
  const changed = await server.api.PATCH("/api/agents/{id}", {
    params: { path: { id: first?.id ?? "" } },
    body: { description: "Changed" },
  });
  expect(changed.response.status).toBe(409);
});

story("an agent is removed, and its name is free again", async ({ server, person }) => {
  await server.api.POST("/api/agents", {
    body: { name: "Short Lived", persona: "You leave soon." },
  });
  const { page } = await person();
  await page.goto("/library/agents");
  await page.getByRole("button", { name: "Short Lived" }).click();
  await page
    .getByRole("dialog", { name: "Short Lived" })
    .getByRole("button", { name: "Remove…" })
    .click();
  await page
    .getByRole("dialog", { name: "Remove Short Lived" })
    .getByRole("button", { name: "Remove" })
    .click();
  await page.getByRole("button", { name: "Short Lived" }).waitFor({ state: "detached" });
  const gone = await server.api.GET("/api/agents/{id}", {
    params: { path: { id: "Short Lived" } },
  });
  expect(gone.response.status).toBe(404);
});

story("the address of a shelf that was given out by mistake still leads there", async (stage) => {
  const { page } = await stage.person();
  await page.goto("/library/useAgents");
  await page.getByRole("heading", { level: 2, name: "Built-in" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/library/agents");
  await page.goto("/library/nothing");
  await page.getByRole("link", { name: "Go to the agents" }).click();
  await page.getByRole("heading", { level: 2, name: "Built-in" }).waitFor();
});

story("what is copied again is said again, also from inside a dialog", async ({ person }) => {
  const { page } = await person();
  await page.goto("/library/agents");
  await page.getByRole("region", { name: "Built-in" }).getByRole("button").first().click();
  const dialog = page.getByRole("dialog");
  const said = dialog.getByRole("status").getByText("Copied");
  await dialog.getByRole("button", { name: "Copy the text" }).click();
  await said.waitFor();
  const first = await said.elementHandle();
  await dialog.getByRole("button", { name: "Copy the text" }).click();
  await expect.poll(() => first?.evaluate((one) => one.isConnected)).toBe(false);
  await said.waitFor();
});
