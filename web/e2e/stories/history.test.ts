import { board, council, settled, Whiteboard } from "../arrange";
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

story("a session is renamed in place and pinned to the top", async ({ server, person }) => {
  await council(server, { name: "mascots", charter: "All about animals." });
  await council(server, { name: "offices", charter: "Where we sit." });
  const { page } = await person();
  await page.goto("/history");
  const rows = page.getByRole("main").getByRole("link");
  await rows.getByText("All about animals.").waitFor();
  await page.getByRole("button", { name: "Actions for “All about animals.”" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const field = page.getByLabel("New title for “All about animals.”");
  await field.fill("The capybara question");
  await field.press("Enter");
  await rows.getByText("The capybara question").waitFor();
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.textContent ?? ""))
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
