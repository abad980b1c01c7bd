import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { board, boardView, got, settled } from "../arrange";
import { advisor, anyAdvisor, ballot, PRICES, sections, verdict } from "../cast";
import { expect, story } from "../stage";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

story("a board of one's own is added, convened, changed and removed", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("Mask them.") }),
    anyAdvisor({ text: "Mind the law." }),
  );
  const { page } = await person();
  await page.goto("/library/boards");
  await page.getByRole("link", { name: "New board" }).click();
  const form = page.getByRole("form", { name: "New board" });
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("Security board");
  await form.getByRole("combobox", { name: "Role of advisor 1" }).selectOption("own");
  await form
    .getByRole("textbox", { name: "Name of the custom role of advisor 1" })
    .fill("Compliance officer");
  await form.getByRole("button", { name: "More for advisor 1" }).click();
  await form.getByRole("textbox", { name: "System prompt of advisor 1" }).fill("Which rule?");
  await form.getByRole("textbox", { name: "Initials of advisor 1" }).fill("CO");
  await form.getByRole("combobox", { name: "Who is advisor 2" }).selectOption("agent");
  const [agent] = await got(server.api.GET("/api/agents", { params: {} }));
  await form
    .getByRole("combobox", { name: "Agent of advisor 2" })
    .selectOption({ label: agent?.name ?? "" });
  await form.getByRole("button", { name: "More for advisor 3" }).click();
  await form.getByRole("spinbutton", { name: "Answers at once of advisor 3" }).fill("2");
  // What was filled in survives a reload.
  await page.reload();
  await expect
    .poll(() => form.getByRole("textbox", { name: "Name", exact: true }).inputValue())
    .toBe("Security board");
  await form.getByRole("button", { name: "Save" }).click();

  const mine = page.getByRole("region", { name: "Yours" });
  await mine.getByText("Compliance officer").waitFor();
  const path = { name: "security-board" };
  expect(await got(server.api.GET("/api/boards/{name}", { params: { path } }))).toMatchObject({
    title: "Security board",
    seats: [
      { ownRole: { name: "Compliance officer", initials: "CO" }, systemPrompt: "Which rule?" },
      { role: "critic", agent: agent?.id },
      { role: "analyst", tries: 2 },
    ],
  });

  // It is offered on Home, and convened by its name.
  await page.goto("/");
  await page.getByRole("radio", { name: /Security board/ }).check({ force: true });
  await page.getByRole("textbox", { name: "Your question" }).fill("May we log addresses?");
  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await page.waitForURL(/\/boardrooms\/./);
  const id = page.url().split("/").at(-1) ?? "";
  await settled(server, id);
  expect((await boardView(server, id)).board).toBe("security-board");
  await page.getByRole("region", { name: "Compliance officer", exact: true }).waitFor();

  await page.goto("/library/boards");
  await mine.getByRole("button", { name: "More for Security board" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = page.getByRole("form", { name: "Edit Security board" });
  await edit.getByRole("button", { name: "Remove advisor 2" }).click();
  await edit.getByRole("button", { name: "Save" }).click();
  await mine.getByText("2 advisors").waitFor();
  const { seats } = await got(server.api.GET("/api/boards/{name}", { params: { path } }));
  expect(seats).toHaveLength(2);

  await mine.getByRole("button", { name: "More for Security board" }).click();
  await page.getByRole("menuitem", { name: "Remove…" }).click();
  await page
    .getByRole("dialog", { name: "Remove Security board" })
    .getByRole("button", { name: "Remove" })
    .click();
  await mine.getByText("You have no boards yet").waitFor();
});

story("a board goes out as a file and comes back", async ({ server, person }) => {
  const somebody = await person();
  somebody.forgive(/status of (409|422)/);
  const { page } = somebody;
  await page.goto("/library/boards");
  const builtIn = page.getByRole("region", { name: "Built-in" });
  await builtIn.getByRole("button", { name: "More for Classic Triad" }).click();
  await page.getByRole("menuitem", { name: "Make a copy" }).click();
  const mine = page.getByRole("region", { name: "Yours" });
  await mine.getByRole("button", { name: /^More for/ }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: "Export as TOML" }).click();
  const path = join(mkdtempSync(join(tmpdir(), "plenary-board-")), "board.toml");
  await (await download).saveAs(path);

  await page.getByLabel("Board file").setInputFiles(path);
  await page.getByRole("dialog", { name: "Replace the board?" }).getByText("Cancel").click();
  const file = { name: "bad.toml", mimeType: "text/plain", buffer: Buffer.from("name = 1\n") };
  await page.getByLabel("Board file").setInputFiles(file);
  await page.getByRole("dialog", { name: "The board was not imported" }).waitFor();
  await page.keyboard.press("Escape");
  const boards = await got(server.api.GET("/api/boards"));
  expect(boards.filter(({ isBuiltIn }) => !isBuiltIn)).toHaveLength(1);
});

story("the board of a form is saved from there", async ({ server, person }) => {
  const { page } = await person();
  await page.goto("/boardrooms");
  await page.getByRole("button", { name: "Edit board" }).click();
  await page.getByRole("button", { name: "Remove advisor 3" }).click();
  await page.getByRole("button", { name: "Save as board…" }).click();
  const dialog = page.getByRole("dialog", { name: "Save this board" });
  await dialog.getByRole("textbox", { name: "Name" }).fill("Für und Wider");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: /Für und Wider/, pressed: true }).waitFor();
  const made = await got(
    server.api.GET("/api/boards/{name}", { params: { path: { name: "fur-und-wider" } } }),
  );
  expect(made.seats.map(({ role }) => role)).toEqual(["advocate", "critic"]);
});

story("of several answers one is picked", async ({ models, server, person }) => {
  await models.say(
    verdict({ text: sections("Cache it.") }),
    advisor("critic", { texts: ["First thought.", "Second thought.", "Third thought."] }),
  );
  const id = await board(server, {
    prompt: "Should we?",
    advisors: [{ role: "critic", tries: 3 }],
  });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  await page.getByRole("button", { name: "Compare answers of Critic" }).click();
  const dialog = page.getByRole("dialog", { name: "Critic: 3 answers" });
  for (const text of ["First thought.", "Second thought.", "Third thought."]) {
    await dialog.getByText(text).waitFor();
  }
  await dialog.getByRole("button", { name: "Pick this one: answer 2" }).click();
  await dialog.getByRole("region", { name: "Answer 2" }).getByText("Picked").waitFor();
  expect((await boardView(server, id)).advisors[0]?.picked).toBe(2);
});

story("files come by button and by paste, and can be opened", async (stage) => {
  const { models, server, person } = stage;
  await models.say(verdict({ text: sections("Yes.") }), anyAdvisor({ text: "Read." }));
  const { page } = await person();
  await page.goto("/");
  const question = page.getByRole("textbox", { name: "Your question" });
  await question.fill("Does this plan hold?");
  const chips = page.getByRole("list", { name: "Attached files" });
  await page
    .getByLabel("Attach files", { exact: true })
    .last()
    .setInputFiles([
      { name: "plan.md", mimeType: "text/plain", buffer: Buffer.from("# The plan") },
      { name: "plan.png", mimeType: "image/png", buffer: PNG },
      { name: "plan.zip", mimeType: "application/zip", buffer: Buffer.from([0x50, 0x4b, 0xff]) },
    ]);
  await page.getByText(/plan\.zip can’t be attached/).waitFor();
  const long = "A long line of a log. ".repeat(300);
  await page.evaluate((text) => navigator.clipboard.writeText(text), long);
  await question.focus();
  await page.keyboard.press("Control+v");
  await chips.getByText("pasted.txt").waitFor();
  expect(await question.inputValue()).toBe("Does this plan hold?");
  await chips.getByRole("button", { name: "plan.png", exact: true }).click();
  await page.getByRole("dialog", { name: "plan.png" }).getByRole("img").waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await page.waitForURL(/\/boardrooms\/./);
  const id = page.url().split("/").at(-1) ?? "";
  await settled(server, id);
  const view = await boardView(server, id);
  expect(view.context.map(({ name }) => name)).toEqual(["plan.md", "pasted.txt"]);
  expect(view.images?.map(({ name }) => name)).toEqual(["plan.png"]);
  await page.getByRole("button", { name: "3 files" }).click();
  await page.getByRole("menuitem", { name: "plan.md" }).click();
  await page.getByRole("dialog", { name: "plan.md" }).getByText("# The plan").waitFor();
});

story("a question is changed and put to the same board again", async (stage) => {
  const { models, server, person } = stage;
  await models.say(verdict({ text: sections("Yes.") }), ballot(), anyAdvisor({ text: "Read." }));
  const id = await board(server, {
    prompt: "Does this plan hold?",
    context: [
      { name: "plan.md", text: "# The plan" },
      { name: "plan.png", data: PNG.toString("base64") },
    ],
    advisors: [
      { role: "Compliance officer", initials: "CO", model: "ollama/beta" },
      { role: "critic", systemPrompt: "Find the hole.", tries: 2 },
    ],
    ballot: true,
  });
  await settled(server, id);
  const { page } = await person();
  await page.goto("/boardrooms");
  await page.getByRole("textbox", { name: "Question for the board" }).fill("Half a thought");
  await page.goto(`/boardrooms/${id}`);
  await page.getByRole("main").getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Edit and ask again" }).click();
  const question = page.getByRole("textbox", { name: "Question for the board" });
  await expect.poll(() => question.inputValue()).toBe("Does this plan hold?");
  await page.getByText("You have an unsent draft: “Half a thought”").waitFor();
  const chips = page.getByRole("list", { name: "Attached files" });
  for (const name of ["plan.md", "plan.png"]) await chips.getByText(name).waitFor();
  await question.fill("Does this plan hold next year?");
  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await page.waitForURL((url) => /boardrooms\/./.test(url.pathname) && !url.href.includes(id));
  const next = page.url().split("/").at(-1) ?? "";
  await settled(server, next);
  const view = await boardView(server, next);
  expect(view).toMatchObject({
    prompt: "Does this plan hold next year?",
    ballot: true,
    context: [{ name: "plan.md" }],
    images: [{ name: "plan.png" }],
    advisors: [
      { name: "Compliance officer", initials: "CO", model: "ollama/beta" },
      { name: "Critic", systemPrompt: "Find the hole.", tries: 2 },
    ],
  });
  // Whoever goes back comes to the form as it is, and not to what it began with.
  await page.goBack();
  await page.getByRole("heading", { name: "Put a question to a board" }).waitFor();
  expect(await question.inputValue()).not.toBe("Does this plan hold?");
  expect(await page.getByRole("list", { name: "Attached files" }).count()).toBe(0);
});

story(
  "what a board would take is told before it is convened",
  async ({ person }) => {
    const { page } = await person();
    await page.goto("/");
    await page.getByRole("textbox", { name: "Your question" }).fill("Should we?");
    await page.getByText(/^Estimate: About \$\d\.\d\d–\$\d\.\d\d+$/).waitFor();
    await page.getByRole("link", { name: "More options" }).click();
    await page.getByText(/^Estimate: 4 calls, [\d.k,]+–[\d.k,]+ tokens, \$/).waitFor();
    await page.getByRole("button", { name: /Full Board/ }).click();
    await page.getByText(/^Estimate: 7 calls, /).waitFor();
    // Nothing is asked, nothing is foreseen.
    await page.getByRole("textbox", { name: "Question for the board" }).fill("");
    await page.getByText(/^Estimate: 7 calls, /).waitFor({ state: "detached" });
  },
  {},
  PRICES,
);
