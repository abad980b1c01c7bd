import type { Locator, Page } from "playwright-core";
import { board, council, discussion, settled, Whiteboard } from "../arrange";
import { anyAdvisor, conclusion, decision, member, sections, turn, verdict } from "../cast";
import { expect, story } from "../stage";

/** Enter as a browser tells it that ends a word of an input method: Safari only by the old code. */
async function composed(box: Locator): Promise<void> {
  for (const how of [{ keyCode: 229 }, { isComposing: true }]) {
    await box.evaluate((one, told) => {
      const pressed = { key: "Enter", bubbles: true, cancelable: true, ...told };
      one.dispatchEvent(new KeyboardEvent("keydown", pressed));
    }, how);
  }
}

/** Whatever a page asks the server to do. */
function watchWrites(page: Page): string[] {
  const written: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() !== "GET" && !pathname.endsWith("/estimate")) written.push(pathname);
  });
  return written;
}

story("what is being composed is not sent, and Enter then sends it", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({ text: sections("Begin.") }),
    member({ text: "Yes." }),
    decision({
      text: '{"decision":"continue","nextParticipantId":"ann","question":"Well?","reasoning":""}',
    }),
    conclusion({ text: "Done." }),
    turn({ text: "Ann speaks for a long while.", hold: "ann", holdAfter: 2 }),
    anyAdvisor({ text: "Said." }),
  );
  const id = await board(server, { prompt: "Are we one?" });
  await settled(server, id);
  await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
  const talk = await discussion(server, {
    topic: "Should we?",
    facilitator: { name: "Lead", model: "alpha" },
    participants: [{ name: "Ann", model: "beta" }],
    maxRounds: 1,
    start: true,
  });
  const { page } = await person();
  const written = watchWrites(page);
  const box = (name: string) => page.getByRole("textbox", { name, exact: true });
  await page.goto("/councils/plans");
  await page.getByLabel("Your name").fill("Ada");
  for (const [address, field, sent] of [
    ["/", "Your question", "/api/boardrooms"],
    ["/boardrooms", "Question for the board", "/api/boardrooms"],
    [`/boardrooms/${id}`, "Follow-up for the board", `/api/boardrooms/${id}/follow-up`],
    [`/discussions/${talk}`, "Add a remark between turns", `/api/discussions/${talk}/interject`],
    ["/councils/plans", "Post", "/api/councils/plans/posts"],
  ] as const) {
    await page.goto(address);
    await box(field).fill("にほんご");
    await composed(box(field));
    expect(await box(field).inputValue(), address).toBe("にほんご");
    expect(written, address).toEqual([]);
    await box(field).press("Enter");
    await expect.poll(() => written, { message: address }).toEqual([sent]);
    await page.waitForLoadState();
    written.length = 0;
  }
  // Nor does it lead anywhere.
  await page.keyboard.press("Control+k");
  const search = page.getByRole("dialog", { name: "Search and commands" }).getByRole("combobox");
  await search.fill("Settings");
  await composed(search);
  expect(new URL(page.url()).pathname).toBe("/councils/plans");
  await search.press("Enter");
  await page.waitForURL("**/settings");
  await models.release("ann");
});

story("Ctrl and Enter send wherever a text is written", async ({ models, server, person }) => {
  await models.say(verdict({ text: sections("Begin.") }), anyAdvisor({ text: "Said." }));
  const id = await board(server, {
    prompt: "Are we one?",
    advisors: [{ role: "critic" }, { role: "expert", person: "Ada" }],
  });
  const wall = await Whiteboard.open(server, "plan", "How to move");
  await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
  const { page } = await person();
  const send = async (field: Locator, words: string) => {
    await field.fill(words);
    await field.press("Control+Enter");
  };
  await page.goto(`/boardrooms/${id}`);
  await send(page.getByRole("textbox", { name: "Answer as Ada" }), "It was quiet.");
  await page.getByRole("region", { name: "Expert’s answer" }).getByText("It was quiet.").waitFor();
  await page.getByRole("button", { name: "Re-synthesize" }).click();
  const dialog = page.getByRole("dialog", { name: "Re-synthesize" });
  await send(dialog.getByLabel("Instruction"), "In one sentence");
  await page.getByText("Instruction: In one sentence").waitFor();

  await page.goto("/whiteboards/plan");
  await page.evaluate((token) => {
    const identities = [{ name: "ada", role: "facilitator", token }];
    localStorage.setItem("plenary.whiteboard.plan", JSON.stringify({ identities, last: "ada" }));
  }, wall.tokenOf("ada"));
  await page.reload();
  const form = page.getByRole("form", { name: "Write a post" });
  await form.getByLabel("Title").fill("The disk was full");
  await send(form.getByLabel("Reasons"), "At 3 a.m.");
  await page.getByRole("article", { name: "The disk was full" }).waitFor();
  await page.getByRole("button", { name: "Move on…" }).click();
  const moving = page.getByRole("dialog", { name: "Move the board on" });
  await send(moving.getByRole("textbox").first(), "Everyone has posted.");
  await page.locator('[aria-current="step"]').getByText("Read").waitFor();

  await page.goto("/councils/plans");
  await page.getByRole("button", { name: "Close…" }).click();
  const closing = page.getByRole("dialog", { name: "Close this council" });
  await send(closing.getByLabel("Summary (optional)"), "We try it.");
  await page.getByRole("region", { name: "Thread" }).getByText("We try it.").waitFor();
  await page.goto("/library/agents");
  await page.getByRole("button", { name: "New agent" }).click();
  const agent = page.getByRole("dialog", { name: "New agent" });
  await agent.getByRole("textbox", { name: "Name", exact: true }).fill("Sceptic");
  await send(agent.getByRole("textbox", { name: "Persona" }), "You doubt.");
  await page.getByRole("dialog", { name: "Sceptic" }).waitFor();
});

story("what happened just now is an hour ago an hour later", async ({ server, person }) => {
  await council(server, { name: "plans", charter: "Plans.", members: [{ name: "Ada" }] });
  const { page } = await person();
  await page.clock.install();
  await page.goto("/history");
  const row = page.getByRole("main").getByRole("link", { name: /Plans\./ });
  await row.getByText("just now").waitFor();
  await page.clock.fastForward("01:00:30");
  await row.getByText("1 hour ago").waitFor();
});

story("a point of a verdict marks the sentences that it comes from", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    verdict({
      text: sections("Begin.", "- Whether the release train slows the whole team down."),
    }),
    anyAdvisor({
      text: "We agree on much. The release train slows the whole team down every week. Wait.",
    }),
  );
  const id = await board(server, { prompt: "Should we?" });
  await settled(server, id);
  const { page } = await person();
  await page.goto(`/boardrooms/${id}`);
  const divergence = page.getByRole("region", { name: "Points of Divergence" });
  const sources = divergence.getByRole("button", { name: "Sources" });
  await sources.click();
  await expect.poll(() => sources.getAttribute("aria-pressed")).toBe("true");
  const marked = () =>
    page.evaluate(() => [...(CSS.highlights.get("source") ?? [])].map((one) => `${one}`));
  await expect
    .poll(marked)
    .toEqual(
      Array.from({ length: 3 }, () => "The release train slows the whole team down every week"),
    );
  await expect
    .poll(() => page.getByTestId("announcer").innerText())
    .toContain("Advocate, Critic, Analyst");
  await sources.click();
  await expect.poll(marked).toEqual([]);
});
