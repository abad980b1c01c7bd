import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { board, boardView, council, settled, Whiteboard } from "../arrange";
import { anyAdvisor, sections, verdict } from "../cast";
import { expect, story } from "../stage";

story("history finds what was said, and narrows it down", async ({ models, server, person }) => {
  await models.say(anyAdvisor({ text: "Nobody here has ever seen a capybara." }));
  const quiet = await board(server, { prompt: "Do we need a mascot?" });
  await settled(server, quiet);
  await models.say();
  await settled(server, await board(server, { prompt: "Do we need a bigger office?" }));
  await council(server, { name: "mascots", charter: "All about animals." });
  await Whiteboard.open(server, "plan", "How to move");

  const { page } = await person();
  await page.goto("/history");
  const results = page.getByRole("main").getByRole("link");
  await page.getByText("Do we need a bigger office?").waitFor();

  // By what an advisor said, not by a title.
  await page.getByRole("searchbox", { name: "Search all sessions" }).fill("capybara");
  await page.getByText("Do we need a bigger office?").waitFor({ state: "detached" });
  await results.getByText("Do we need a mascot?").waitFor();
  expect(page.url()).toContain("capybara");
  await page.reload();
  await results.getByText("Do we need a mascot?").click();
  await page.getByRole("heading", { level: 1 }).getByText("Do we need a mascot?").waitFor();

  await page.goBack();
  await page.getByRole("searchbox", { name: "Search all sessions" }).fill("nowhere at all");
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("button", { name: "Show everything" }).click();
  await page.getByText("Do we need a bigger office?").waitFor();
});

story("a row says what came of it, and where a word was found", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("Poll the outbox first.") }),
    anyAdvisor({ text: "You write an outbox in week three." }),
  );
  const id = await board(server, { prompt: "How do we send events?" });
  await settled(server, id);
  const { page } = await person();
  await page.goto("/history");
  const row = page.getByRole("list", { name: "Sessions" }).getByRole("link");
  await row.getByText("The advisors would begin").waitFor();
  await page.getByText(/^Listed here: [\d,]+ tokens/).waitFor();
  await page.getByRole("searchbox").fill("outbox");
  await row.locator("mark").first().waitFor();
  expect((await row.locator("mark").allTextContents()).map((one) => one.toLowerCase())).toContain(
    "outbox",
  );

  // The record goes out, and comes back as a board of its own.
  const params = { path: { id }, query: { format: "json" as const } };
  const { data } = await server.api.GET("/api/boardrooms/{id}/export", { params });
  const picker = page.getByLabel("Exported board");
  const file = (buffer: Buffer) => ({ name: "board.json", mimeType: "application/json", buffer });
  await picker.setInputFiles(file(Buffer.from("{}")));
  await page.getByRole("dialog", { name: "The file was not imported" }).waitFor();
  await page.keyboard.press("Escape");
  await picker.setInputFiles(file(Buffer.from(JSON.stringify(data))));
  await page.waitForURL(/\/boardrooms\/./);
  await page.getByText("Imported").first().waitFor();
  expect(page.url()).not.toContain(id);
});

story("a session is renamed and pinned to the top", async ({ server, person }) => {
  await council(server, { name: "mascots", charter: "All about animals." });
  await council(server, { name: "offices", charter: "Where we sit." });
  const { page } = await person();
  await page.goto("/history");
  const rows = page.getByRole("main").getByRole("link");
  await rows.getByText("All about animals.").waitFor();
  await page.getByRole("button", { name: "Actions for “All about animals.”" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const field = page.getByRole("dialog").getByLabel("Title");
  await field.fill("The capybara question");
  await field.press("Enter");
  await rows.getByText("The capybara question").waitFor();
  // Whoever renamed it goes on from there.
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? ""))
    .toContain("The capybara question");

  await page.getByRole("button", { name: "Actions for “The capybara question”" }).click();
  await page.getByRole("menuitem", { name: "Pin to the top" }).click();
  const pinned = page.getByRole("list", { name: "Pinned sessions" });
  await pinned.getByText("The capybara question").waitFor();
  await page.getByText("2 sessions").waitFor();
  // It was written first, and stands first.
  await expect.poll(() => rows.first().innerText()).toContain("The capybara question");

  await page.reload();
  await page.getByRole("button", { name: "Actions for “The capybara question”" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as Markdown" }).click();
  expect((await download).suggestedFilename()).toBe("the-capybara-question.md");
  await page.getByRole("button", { name: "Actions for “The capybara question”" }).click();
  await page.getByRole("menuitem", { name: "Unpin" }).click();
  await pinned.waitFor({ state: "detached" });
});

story("several sessions are pinned, exported, stopped and removed at once", async (stage) => {
  const { models, server, person } = stage;
  await models.say(anyAdvisor({ text: "Slowly", hold: "slow", holdAfter: 0 }));
  const running = await board(server, { prompt: "May we ship on Fridays?" });
  await models.reached("slow", 3);
  await council(server, { name: "mascots", charter: "All about animals." });
  await council(server, { name: "offices", charter: "Where we sit." });
  await council(server, { name: "lunches", charter: "What we eat." });
  const { page } = await person();
  await page.goto("/history");
  const box = (title: string) => page.getByRole("checkbox", { name: `Select “${title}”` });
  const bar = page.getByRole("region", { name: "Selected sessions" });
  await box("What we eat.").click();
  // With Shift, all between are chosen too.
  await box("All about animals.").click({ modifiers: ["Shift"] });
  await bar.getByText("3 selected").waitFor();
  expect(await box("Where we sit.").isChecked()).toBe(true);
  await box("Where we sit.").click();
  await bar.getByRole("button", { name: "Pin" }).click();
  const pinned = page.getByRole("list", { name: "Pinned sessions" });
  await expect.poll(() => pinned.getByRole("link").count()).toBe(2);
  // What was chosen stays chosen; the button now takes it back.
  await bar.getByRole("button", { name: "Unpin" }).click();
  await pinned.waitFor({ state: "detached" });

  // The file comes also to somebody who lets go of the selection meanwhile.
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  await page.route("**/export*", (route) => held.then(() => route.continue()));
  const download = page.waitForEvent("download");
  await bar.getByRole("button", { name: "Export" }).click();
  await page.keyboard.press("Escape");
  await bar.waitFor({ state: "detached" });
  goOn();
  const file = join(mkdtempSync(join(tmpdir(), "plenary-e2e-")), "sessions.md");
  await (await download).saveAs(file);
  const text = readFileSync(file, "utf8");
  expect(text).toContain("All about animals.");
  expect(text).toContain("What we eat.");

  // By the keyboard alone.
  const link = (title: string) => page.getByRole("main").getByRole("link", { name: title });
  await link("May we ship on Fridays?").focus();
  await page.keyboard.press("x");
  await bar.getByText("1 selected").waitFor();
  await bar.getByRole("button", { name: "Stop" }).click();
  await bar.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await expect.poll(async () => (await boardView(server, running)).status).toBe("stopped");
  await link("Where we sit.").focus();
  await page.keyboard.press("x");
  await bar.getByRole("button", { name: "Remove…" }).click();
  const dialog = page.getByRole("dialog", { name: "Permanently remove 2 sessions?" });
  await dialog.getByText("Where we sit.").waitFor();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("2 sessions", { exact: true }).waitFor();
  await bar.waitFor({ state: "detached" });
  // The focus is on a row, not lost with what it was on.
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.className))
    .toContain("session-row");
});
