import { council, say } from "../arrange";
import { member } from "../cast";
import { expect, GONE, story } from "../stage";

const ANSWER =
  "A trial of two weeks would tell us. I would name one person who decides, and write the number down before we begin.";

story("a council whose member answers live", async ({ models, server, person }) => {
  await models.say(member({ text: ANSWER, hold: "answer", holdAfter: 6 }));
  const { page } = await person();
  await page.goto("/councils");
  await page.getByRole("button", { name: "Open a council" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Open a council" });
  await dialog.getByLabel("Name").first().fill("night-shift");
  await dialog.getByLabel("Charter").fill("Who is on call at night, and how we ask them.");
  await dialog.getByRole("button", { name: "Add member" }).click();
  const first = dialog.getByRole("group", { name: "Member 1" });
  await first.getByLabel("Name").fill("Skeptic");
  await first.getByLabel("Model").selectOption({ label: "alpha" });
  await dialog.getByRole("button", { name: "Open council" }).click();
  await page.getByRole("heading", { level: 1, name: "night-shift" }).waitFor();

  await page.getByRole("textbox", { name: "Post" }).fill("@Skeptic should we try it?");
  await page.getByLabel("Your name").fill("Ada");
  await page.getByRole("button", { name: "Post", exact: true }).click();

  const writing = page.getByRole("article", { name: "Skeptic is answering" });
  await writing.getByText("A trial of two weeks would").waitFor();
  expect(await writing.getAttribute("aria-busy")).toBe("true");
  expect(await writing.innerText()).not.toContain("write the number down");

  // Somebody else who comes in the middle sees the same, and the rest as it is written.
  const other = await person();
  await other.page.goto("/councils/night-shift");
  await other.page
    .getByRole("article", { name: "Skeptic is answering" })
    .getByText("A trial of two weeks would")
    .waitFor();

  await models.release("answer");
  for (const one of [page, other.page]) {
    const answer = one.getByRole("article", { name: "Skeptic", exact: true });
    await answer.getByText(ANSWER).waitFor();
    expect(await one.getByText("is answering").count()).toBe(0);
    expect(await one.getByRole("article").count()).toBe(2);
  }

  const { data } = await server.api.GET("/api/councils/{council}/posts", {
    params: { path: { council: "night-shift" } },
  });
  expect(data?.data.posts.map((post) => [post.sender, post.body])).toEqual([
    ["Ada", "@Skeptic should we try it?"],
    ["Skeptic", ANSWER],
  ]);

  await page.getByRole("button", { name: "Close…" }).click();
  const closing = page.getByRole("dialog", { name: "Close this council" });
  await closing.getByLabel("Summary (optional)").fill("We try it for two weeks.");
  await closing.getByRole("button", { name: "Close council" }).click();
  for (const one of [page, other.page]) {
    const thread = one.getByRole("region", { name: "Thread" });
    await thread.getByText("We try it for two weeks.").waitFor();
    await expect.poll(() => one.getByRole("textbox", { name: "Post" }).count()).toBe(0);
  }
});

story(
  "charter and members are edited while a member answers",
  async ({ models, server, person }) => {
    await models.say(member({ text: ANSWER, hold: "answer", holdAfter: 6 }));
    await server.api.POST("/api/councils", {
      body: {
        name: "plans",
        charter: "Plans.",
        members: [{ name: "Ann", model: "beta" }, { name: "Bo" }],
      },
    });
    await say(server, "plans", "Ada", ["@Ann are you there?"]);
    const { page } = await person();
    await page.goto("/councils/plans");
    await page.getByRole("article", { name: "Ann is answering" }).waitFor();

    await page.getByRole("button", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit this council" });
    await dialog.getByLabel("Charter").fill("Plans for the winter.");
    await dialog.getByRole("button", { name: "Remove Ann" }).click();
    await dialog.getByText("Ann is answering and will be cut off.").waitFor();
    await dialog.getByRole("button", { name: "Add member" }).click();
    const first = dialog.getByRole("group", { name: "Member 1" });
    await first.getByLabel("Name").fill("Cy");
    await first.getByLabel("Model").selectOption({ label: "alpha" });
    await page.reload();
    // What was filled in is still there.
    await page.getByRole("button", { name: "Edit…" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();

    const thread = page.getByRole("region", { name: "Thread" });
    await thread.getByText("Charter edited; Cy added; Ann removed").waitFor();
    await thread.getByText("Ann was stopped partway through its answer").waitFor();
    const about = page.getByRole("complementary", { name: "About this council" });
    await about.getByText("Plans for the winter.").waitFor();
    expect(await about.getByRole("listitem").allInnerTexts()).toEqual([
      expect.stringContaining("Bo"),
      expect.stringContaining("Cy"),
    ]);
    expect(await dialog.count()).toBe(0);
  },
);

story(
  "a member that fails says why, and what was typed survives",
  async ({ models, server, person }) => {
    await models.say(member({ fault: "noSuchModel" }));
    const somebody = await person();
    const { page } = somebody;
    await server.api.POST("/api/councils", {
      body: { name: "plans", charter: "Plans.", members: [{ name: "Ann", model: "beta" }] },
    });
    await page.goto("/councils/plans");
    await page.getByLabel("Your name").fill("Ada");
    await page.getByRole("textbox", { name: "Post" }).fill("@Ann are you there?");
    await page.getByRole("button", { name: "Post", exact: true }).click();
    await page
      .getByRole("main")
      .getByText(/Ann could not answer/)
      .waitFor();

    somebody.forgive(/status of 403|status of 409|status of 422/);
    await page.getByLabel("Your name").fill("Ann");
    await page.getByRole("textbox", { name: "Post" }).fill("In the name of another");
    await page.getByRole("button", { name: "Post", exact: true }).click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByRole("textbox", { name: "Post" }).inputValue()).toBe(
      "In the name of another",
    );
  },
);

story("a council's name is made from what was typed", async ({ server, person }) => {
  const somebody = await person();
  const { page } = somebody;
  const open = async () => {
    await page.goto("/councils");
    await page.getByRole("button", { name: "Open a council" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Open a council" });
    await dialog.getByLabel("Name").first().fill("Night Shift, 2nd!");
    await dialog.getByText("It will be called night-shift-2nd.").waitFor();
    await dialog.getByLabel("Charter").fill("Who is on call.");
    await dialog.getByRole("button", { name: "Open council" }).click();
    return dialog;
  };
  await open();
  await page.getByRole("heading", { level: 1, name: "night-shift-2nd" }).waitFor();

  somebody.forgive(/status of 409/);
  const dialog = await open();
  await dialog.getByText(/There is, or was, a council called night-shift-2nd/).waitFor();
  expect(await dialog.getByRole("alert").count()).toBe(1);
  expect((await server.api.GET("/api/councils")).data?.data).toHaveLength(1);
});

story(
  "an answer that reached its limit is marked, and a short thread has no end to go to",
  async ({ models, server, person }) => {
    await models.say(member({ text: "There was more to say", fault: "length" }));
    await server.api.POST("/api/councils", {
      body: { name: "plans", charter: "Plans.", members: [{ name: "Ann", model: "beta" }] },
    });
    const { page } = await person();
    await page.goto("/councils/plans");
    await page.getByLabel("Your name").fill("Ada");
    await page.getByRole("textbox", { name: "Post" }).fill("@Ann are you there?");
    await page.getByRole("textbox", { name: "Post" }).press("Enter");
    const answer = page.getByRole("article", { name: "Ann", exact: true });
    await answer.getByText("Cut off at the length limit").waitFor();
    await answer.getByText(/\d in · \d+ out/).waitFor();
    await answer.getByRole("button", { name: /In reply to/ }).click();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("post-1");
    expect(await page.getByRole("button", { name: "Jump to latest" }).count()).toBe(0);
  },
);

for (const look of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  story(`a toast covers nothing that is being written at ${look.width}`, async (stage) => {
    const { server, person } = stage;
    await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
    await say(server, "plans", "Ada", ["The rota has a gap."]);
    const { page } = await person(look);
    await page.goto("/councils/plans");
    await page.getByRole("button", { name: "Copy post 1" }).click();
    const toast = await page.locator(".toast").boundingBox();
    const box = await page.getByRole("form", { name: "Write a post" }).boundingBox();
    expect(toast && box && toast.y + toast.height).toBeLessThanOrEqual(box?.y ?? 0);
  });
}

story("an answer that a crash cut off begins again, and says so", async (stage) => {
  const { models, server, person } = stage;
  await models.say(member({ text: ANSWER, hold: "first", holdAfter: 8 }));
  await council(server, {
    name: "plans",
    charter: "Plans.",
    members: [{ name: "Skeptic", model: "alpha" }, { name: "Ada" }],
  });
  await say(server, "plans", "Ada", ["@Skeptic should we try it?"]);
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(GONE);
  await page.goto("/councils/plans");
  const writing = page.getByRole("article", { name: "Skeptic is answering" });
  await writing.getByText("A trial of two weeks would").waitFor();
  await server.kill();
  await models.say(member({ text: ANSWER, hold: "second", holdAfter: 3 }));
  await models.release("first");
  await server.restart();
  await writing.getByText("An earlier attempt was interrupted. The answer starts over.").waitFor();
  await models.release("second");
  await page.getByRole("article", { name: "Skeptic", exact: true }).getByText(ANSWER).waitFor();
});
