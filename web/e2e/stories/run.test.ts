import { example, run, runView, settled } from "../arrange";
import { advisor, anyAdvisor, ballot, sections, verdict } from "../cast";
import { expect, story } from "../stage";

const QUESTION = "Where do we keep sessions?";

story("a run waits for a person, who asks for changes and then approves", async (stage) => {
  const { models, server, person } = stage;
  const say = (what: string) =>
    models.say(verdict({ text: sections(what) }), ballot(), anyAdvisor({ text: "Said." }));
  await say("Keep them in Redis.");
  const id = await run(server, example("panel-then-person"), {
    question: QUESTION,
    people: ["ann", "ben"],
  });
  const { page } = await person();
  // Whoever is awaited is told at the door.
  await page.goto("/");
  await page
    .getByRole("region", { name: "Waiting for you" })
    .getByRole("link", { name: QUESTION })
    .click();
  const sheet = page.getByRole("region", { name: "Approval needed from ann or ben" });
  await sheet.getByText("Keep them in Redis.").waitFor();
  await sheet.getByText(/2 d 23 h left/).waitFor();

  // Nobody decides in another's name by accident, and nobody without a reason.
  const changes = sheet.getByRole("button", { name: "Request changes" });
  await changes.click();
  await sheet.getByText("Choose who is deciding.").waitFor();
  await sheet.getByLabel("Decide as").selectOption("ben");
  await changes.click();
  await sheet.getByText("Enter a reason.").waitFor();
  await say("Keep them in Postgres.");
  await sheet.getByLabel("Reason").fill("Nobody here has run Redis.");
  // What was typed survives a reload.
  await page.reload();
  await expect
    .poll(() => sheet.getByLabel("Reason").inputValue())
    .toBe("Nobody here has run Redis.");
  await sheet.getByLabel("Decide as").selectOption("ben");
  await changes.click();

  // Back on the run, what was asked is done, and what comes of it is decided on again.
  await page.getByRole("link", { name: "Decide" }).waitFor();
  await page.getByRole("radio", { name: "List" }).check({ force: true });
  await page.getByText("ben asked for changes: “Nobody here has run Redis.”").waitFor();
  await page.getByRole("link", { name: "Decide" }).click();
  await sheet.getByText("Keep them in Postgres.").waitFor();
  await sheet.getByText("sign · round 2").waitFor();
  expect(await sheet.getByLabel("Reason").inputValue()).toBe("");
  await sheet.getByLabel("Decide as").selectOption("ann");
  await sheet.getByLabel("Comment (optional)").fill("Measure it in May.");
  await sheet.getByLabel("Reason").fill("Agreed.");
  await sheet.getByLabel("Reason").press("Control+Enter");

  const outcome = page.getByRole("region", { name: "Outcome" });
  await outcome.getByText("Keep them in Postgres.").waitFor();
  await outcome.getByText("ann", { exact: true }).waitFor();
  expect(await sheet.count()).toBe(0);
  await expect.poll(() => page.getByTestId("announcer").innerText()).toBe("The run is done");
  const view = await runView(server, id);
  expect(view.status).toBe("done");
  const signed = view.steps.find((step) => step.place === "settle/2/sign");
  expect(signed?.output).toMatchObject({
    decision: "approved",
    by: ["ann"],
    reason: "Agreed.",
    fields: { comment: "Measure it in May." },
  });
});

story("a rejected approval ends the run, and says why", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("Begin.") }), ballot(), anyAdvisor({ text: "Said." }));
  const inputs = { question: QUESTION, people: ["ann"] };
  const id = await run(server, example("panel-then-person"), inputs);
  const { page } = await person({ width: 390, height: 844 });
  await page.goto(`/runs/${id}`);
  await page.getByRole("link", { name: "Decide" }).click();
  const sheet = page.getByRole("region", { name: "Approval needed from ann" });
  // Where only one may decide, there is nothing to choose.
  expect(await sheet.getByLabel("Decide as").inputValue()).toBe("ann");
  await sheet.getByLabel("Reason").fill("Not this year.");
  await sheet.getByRole("button", { name: "Reject" }).click();
  await page.getByText("ann rejected it: Not this year.", { exact: true }).waitFor();
  await sheet.waitFor({ state: "detached" });
  await expect.poll(async () => (await runView(server, id)).status).toBe("failed");
  await page.locator(".session-head").getByText("Failed").waitFor();
});

story("a run is followed step by step, leads to its rooms, and is cancelled", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("Begin.") }),
    advisor("critic", { text: "The critic thinks.", hold: "critic", holdAfter: 1 }),
    anyAdvisor({ text: "Said." }),
  );
  const inputs = { question: QUESTION, people: ["ann"] };
  const id = await run(server, example("panel-then-person"), inputs);
  await models.reached("critic");
  const { page } = await person();
  await page.goto(`/runs/${id}`);
  await page.getByRole("radio", { name: "List" }).check({ force: true });
  const panel = page.locator('[data-step="settle/1/panel"]');
  await panel.getByRole("link", { name: "Open" }).click();
  await page.getByRole("heading", { level: 1, name: QUESTION }).waitFor();
  await page.getByRole("region", { name: "Critic’s answer" }).getByText("The").waitFor();
  await page.goBack();

  await page.getByRole("button", { name: "Cancel run" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel this run?" });
  await dialog.getByLabel("Reason (optional)").fill("Overtaken by events.");
  await dialog.getByRole("button", { name: "Cancel run" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("Overtaken by events.").first().waitFor();
  await page.locator(".session-head").getByText("Cancelled").waitFor();
  expect(await page.getByRole("button", { name: "Cancel run" }).count()).toBe(0);
  expect((await runView(server, id)).status).toBe("cancelled");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Markdown" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.md$/);

  // It is found among all sessions.
  await page.goto("/history");
  await page.getByRole("radio", { name: "Workflows" }).check();
  // Its board has the same name, and is listed until the answer comes.
  await page.locator('main a[href^="/runs/"]', { hasText: QUESTION }).first().click();
  await page.getByRole("heading", { level: 2, name: "Steps" }).waitFor();
});

story("done steps are folded, and can be opened", async ({ server, person }) => {
  const id = await run(server, example("adr"), { topic: "Which queue do we use?" });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/runs/${id}`);
  const posts = page.locator('[data-step="propose/2/post"]');
  await page.getByRole("region", { name: "Outcome" }).waitFor();
  await page.getByRole("radio", { name: "List" }).check({ force: true });
  expect(await posts.count()).toBe(0);
  const propose = page.locator('[data-step="propose"]');
  await propose.getByRole("button", { name: "Show 6 steps" }).click();
  await posts.getByText("Post · item 2").waitFor();
  await page.locator('[data-step="board"]').getByRole("link", { name: "Open" }).click();
  await page.getByRole("heading", { level: 1, name: "Which queue do we use?" }).waitFor();
});

story("a run that is not there says so", async ({ person }) => {
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(/status of 404/);
  await page.goto("/runs/01a1ec65-24d4-71ce-908e-6936b1c35e39");
  await page.getByRole("heading", { level: 1, name: "Run not found" }).waitFor();
  await page.getByRole("link", { name: "All workflows" }).click();
  await page.getByRole("heading", { level: 1, name: "Workflows" }).waitFor();
});
