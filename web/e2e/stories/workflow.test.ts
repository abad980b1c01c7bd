import { example, got, run, runView, settled, stored } from "../arrange";
import { anyAdvisor, ballot, sections, verdict } from "../cast";
import { expect, story } from "../stage";

story("a workflow is written, mended by a click, stored and run", async (stage) => {
  const { models, server, person } = stage;
  await models.say(verdict({ text: sections("Begin.") }), ballot(), anyAdvisor({ text: "Said." }));
  const { page } = await person();
  await page.goto("/workflows");
  await page.getByRole("link", { name: "New workflow" }).first().click();
  const file = page.getByRole("textbox", { name: "Workflow file" });
  const source = await file.inputValue();

  // What is wrong stands beside its line, and what would be right is one click away.
  await file.fill(source.replaceAll("steps.panel.verdict", "steps.pannel.verdict"));
  const findings = page.getByRole("list", { name: "Findings" });
  await findings.getByRole("listitem").first().waitFor();
  expect(await page.getByRole("button", { name: "Save version 1" }).isDisabled()).toBe(true);
  // A draft survives a reload.
  await page.reload();
  await expect.poll(() => file.inputValue()).toContain("steps.pannel.verdict");
  for (;;) {
    const fix = findings.getByRole("button", { name: "Replace with panel" }).first();
    const before = await file.inputValue();
    await fix.click();
    await expect.poll(() => file.inputValue()).not.toBe(before);
    if (!(await file.inputValue()).includes("pannel")) break;
    await page.getByText("Checked by the server").waitFor();
  }
  expect(await file.inputValue()).toBe(source);
  await page.getByText("No problems").waitFor();
  // The graph has the steps, and leads to their lines.
  await page.getByRole("button", { name: /^sign/ }).click();
  await page.getByText("steps › sign").waitFor();

  await page.getByRole("button", { name: "Save version 1" }).click();
  await page.waitForURL("**/workflows/my-workflow");
  await page.getByRole("button", { name: "Version 1" }).waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Run my-workflow" });
  await dialog.getByLabel("question").fill("Shall we move?");
  await dialog.getByLabel("Your name (optional)").fill("Mira");
  await dialog.getByRole("button", { name: "Run" }).click();
  await page.getByRole("heading", { level: 1, name: "Shall we move?" }).waitFor();
  await page.getByRole("link", { name: "Decide" }).click();
  await page.getByLabel("Reason").fill("Yes.");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator(".session-head").getByText("Done").waitFor();

  // It stands among the workflows, with its run.
  await page.goto("/workflows");
  const row = page.getByRole("row", { name: /my-workflow/ });
  await row.getByText("100%").waitFor();
  await row.getByRole("link", { name: "Done" }).waitFor();
  const [view] = await got(server.api.GET("/api/workflows"));
  expect(view).toMatchObject({ name: "my-workflow", version: 1, triggers: [] });
});

story(
  "the table says what the graph shows, and an earlier version is still there",
  async (stage) => {
    const { server, person } = stage;
    await stored(server, "adr");
    const changed = example("adr").replace("parallel: 3", "parallel: 2");
    await got(server.api.POST("/api/workflows", { body: { source: changed } }));
    const { page } = await person();
    await page.goto("/workflows/adr");
    await page.getByRole("radio", { name: "Table" }).check({ force: true });
    const table = page.getByRole("table");
    await table.getByRole("row", { name: /^propose\/post/ }).waitFor();
    expect(await table.getByRole("row").count()).toBe(18);
    await page.getByRole("button", { name: "Version 2" }).click();
    await page.getByRole("menuitemradio", { name: /Version 1/ }).click();
    const file = page.getByRole("textbox", { name: "Workflow file" });
    await expect.poll(() => file.inputValue()).toBe(example("adr"));

    // Nothing that was typed is thrown away without a question.
    const draft = example("adr").replace("steps.board.id", "steps.bord.id");
    await file.fill(draft);
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("menuitemradio", { name: /Version 2/ }).click();
    const asking = page.getByRole("dialog", { name: "Discard your draft?" });
    await asking.getByRole("button", { name: "Cancel" }).click();
    expect(await file.inputValue()).toBe(draft);
    // From problem to problem without leaving the text.
    await page.getByRole("list", { name: "Findings" }).getByRole("listitem").first().waitFor();
    await file.focus();
    await file.evaluate((one: HTMLTextAreaElement) => one.setSelectionRange(0, 0));
    await page.keyboard.press("F8");
    const at = await file.evaluate((one: HTMLTextAreaElement) => one.selectionStart);
    expect(draft.slice(at)).toMatch(/^[^\n]*bord/);
    await page.getByRole("button", { name: "Version 1" }).click();
    await page.getByRole("menuitemradio", { name: /Version 2/ }).click();
    await asking.getByRole("button", { name: "Discard" }).click();
    await expect.poll(() => file.inputValue()).toBe(changed);
  },
);

story("a step of a run is looked into, and a new run begins there", async ({ server, person }) => {
  const id = await run(server, example("adr"), { topic: "Which queue do we use?" });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/runs/${id}`);
  const graph = page.getByRole("group", { name: "Steps and what they wait for" });
  await graph.getByRole("button", { name: /outcome/ }).click();
  const panel = page.getByRole("complementary", { name: "Step outcome" });
  await panel.getByRole("heading", { name: "Output" }).waitFor();
  await panel.getByRole("heading", { name: "Log" }).waitFor();
  await panel.getByRole("button", { name: "Fork from here" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Fork" }).click();
  await page.getByText("forked from").waitFor();
  const forked = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(forked).not.toBe(id);
  expect((await runView(server, forked)).forkedFrom).toEqual({ run: id, step: "outcome" });
});
