import { board, council, settled, Whiteboard } from "../arrange";
import { anyAdvisor } from "../cast";
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
