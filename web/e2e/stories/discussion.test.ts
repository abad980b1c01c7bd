import { discussion, discussionView, got } from "../arrange";
import { conclusion, decision, turn } from "../cast";
import type { Server } from "../programs";
import { expect, GONE, story } from "../stage";

const TOPIC = "Should the night shift be paid more?";

/** What a facilitator answers: who is next, and what they are asked. */
function next(participant: string, question: string): string {
  return JSON.stringify({
    decision: "continue",
    nextParticipantId: participant,
    question,
    reasoning: `Because ${participant} knows.`,
  });
}

function annAndBob(server: Server, more: object = {}): Promise<string> {
  return discussion(server, {
    topic: TOPIC,
    name: "Night shift",
    facilitator: { name: "Lead", model: "alpha" },
    participants: [
      { name: "Ann", model: "beta" },
      { name: "Bob", model: "gamma" },
    ],
    maxRounds: 2,
    start: true,
    ...more,
  });
}

async function spoken(server: Server, id: string): Promise<string[]> {
  const { entries } = await got(
    server.api.GET("/api/discussions/{id}/transcript", { params: { path: { id } } }),
  );
  return entries
    .filter((entry) => entry.decision === undefined)
    .map((entry) => `${entry.agentName}: ${entry.content ?? ""}`);
}

story("from the wizard to a conclusion", async ({ models, server, person }) => {
  await models.say(
    conclusion({ text: "Yes: **ten percent more**, from next month.", hold: "end", holdAfter: 2 }),
    turn({ texts: ["The night is long.", "And it is cold."] }),
  );
  const { page } = await person();
  await page.goto("/discussions");
  await page
    .getByRole("link", { name: /[Nn]ew discussion|Start a discussion/ })
    .first()
    .click();
  await page.getByRole("heading", { level: 1, name: "New discussion" }).waitFor();
  const goOn = page.getByRole("button", { name: "Continue" });

  // Nothing typed: it says what is missing and stays.
  await goOn.click();
  await page.getByRole("textbox", { name: "Topic" }).waitFor();
  expect(await page.locator('[aria-invalid="true"]').count()).toBeGreaterThan(0);
  await page.getByRole("textbox", { name: "Topic" }).fill(TOPIC);
  await page.getByRole("radio", { name: /Brainstorm/ }).check();
  await goOn.click();

  await page.getByRole("heading", { level: 2, name: "Facilitator and participants" }).waitFor();
  await page.getByRole("tab", { name: "Model" }).click();
  const add = page.getByRole("tabpanel");
  await add.getByLabel("Name").fill("Nurse");
  await add.getByLabel("Persona (optional)").fill("You work at night.");
  await add.getByRole("button", { name: "Add model" }).click();
  await page.getByRole("listitem", { name: "Nurse" }).waitFor();
  // What was chosen survives a reload.
  await page.reload();
  await page.getByRole("listitem", { name: "Nurse" }).waitFor();
  await goOn.click();

  await page.getByRole("radio", { name: /Fixed/ }).check();
  await page.getByLabel("Number of rounds").fill("2");
  await page.getByRole("button", { name: "Start", exact: true }).click();

  await page.getByRole("heading", { level: 1 }).getByText(TOPIC).waitFor();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("The night is long.").waitFor();
  await timeline.getByText("And it is cold.").waitFor();
  await models.reached("end");
  await models.release("end");
  const concluded = page.getByRole("region", { name: "Conclusion" });
  await concluded.getByText("Yes: ten percent more, from next month.").waitFor();
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  await page.getByText("2 of 2 rounds").waitFor();

  const download = page.waitForEvent("download");
  await concluded.getByRole("button", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toMatch(/\.md$/);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect(await discussionView(server, id)).toMatchObject({ status: "concluded", round: 2 });
});

story("a person speaks in a discussion", async ({ models, server, person }) => {
  await models.say(
    decision({ texts: [next("ada", "What do you see at night?"), next("ann", "And you?")] }),
    conclusion({ text: "We heard Ada." }),
    turn({ text: "I agree with Ada." }),
  );
  const id = await annAndBob(server, {
    participants: [{ name: "Ann", model: "beta" }, { person: "Ada" }],
  });
  const { page } = await person();
  await page.goto("/");
  // Whoever is awaited is told at the door.
  await page
    .getByText(/[Ww]aiting for Ada/)
    .first()
    .waitFor();
  await page.goto(`/discussions/${id}`);
  const seat = page.getByRole("region", { name: "It is Ada’s turn" });
  await seat.getByText("What do you see at night?").waitFor();
  await seat.getByLabel("What Ada says").fill("Empty roads, and *tired* people.");
  await page.reload();
  await expect
    .poll(() => seat.getByLabel("What Ada says").inputValue())
    .toBe("Empty roads, and *tired* people.");
  await seat.getByRole("button", { name: "Send" }).click();

  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("Empty roads, and tired people.").waitFor();
  await timeline.getByText("I agree with Ada.").waitFor();
  await page.getByRole("region", { name: "Conclusion" }).getByText("We heard Ada.").waitFor();
  expect(await spoken(server, id)).toEqual([
    "Ada: Empty roads, and *tired* people.",
    "Ann: I agree with Ada.",
  ]);
});

story("paused, killed, restarted and resumed, it goes on where it was", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    decision({ texts: [next("ann", "First?"), next("bob", "Second?")] }),
    conclusion({ text: "Concluded after all." }),
    turn({ texts: ["Ann was first.", "Bob was second."], hold: "ann", holdAfter: 2 }),
  );
  const id = await annAndBob(server);
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(GONE);
  await page.goto(`/discussions/${id}`);
  await page.getByRole("article", { name: "Ann, now" }).getByText("Ann was").waitFor();
  await page.getByRole("button", { name: "Pause after this turn" }).click();
  await page.getByText("Pausing").first().waitFor();
  await models.release("ann");
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.getByRole("region", { name: "Timeline" }).getByText("Ann was first.").waitFor();
  // It can be resumed while it is still pausing.
  await expect.poll(async () => (await discussionView(server, id)).status).toBe("paused");

  await server.kill();
  const broken = page.getByText(/Connection lost|is not responding/);
  await broken.first().waitFor();
  await server.restart();
  await expect.poll(() => broken.count()).toBe(0);
  // Nothing went on by itself, and nothing was lost.
  expect(await discussionView(server, id)).toMatchObject({ status: "paused", round: 1 });
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("region", { name: "Timeline" }).getByText("Bob was second.").waitFor();
  await page
    .getByRole("region", { name: "Conclusion" })
    .getByText("Concluded after all.")
    .waitFor();
  expect(await spoken(server, id)).toEqual(["Ann: Ann was first.", "Bob: Bob was second."]);
});

story("somebody interjects, and those after it hear it", async ({ models, server, person }) => {
  await models.say(
    decision({ texts: [next("ann", "First?"), next("bob", "Second?")] }),
    conclusion({ text: "Concluded." }),
    {
      when: { contains: ["a discussion of several", "It is about safety"] },
      text: "Safety it is.",
    },
    turn({ text: "Ann speaks of money.", hold: "ann", holdAfter: 2 }),
  );
  const id = await annAndBob(server);
  const { page } = await person();
  await page.goto(`/discussions/${id}`);
  await page.getByRole("article", { name: "Ann, now" }).getByText("Ann speaks").waitFor();
  await page.getByRole("button", { name: "Interject" }).click();
  const form = page.getByRole("form", { name: "Interject" });
  await form.getByLabel("Your name").fill("Max");
  await form.getByLabel("Add a remark between turns").fill("It is about safety, not money.");
  await form.getByRole("button", { name: "Send" }).click();
  await expect.poll(() => form.getByLabel("Add a remark between turns").inputValue()).toBe("");
  await models.release("ann");
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByText("It is about safety, not money.").waitFor();
  await timeline.getByText("Safety it is.").waitFor();
  await page.getByRole("region", { name: "Conclusion" }).waitFor();
  expect(await spoken(server, id)).toEqual([
    "Ann: Ann speaks of money.",
    "Max: It is about safety, not money.",
    "Bob: Safety it is.",
  ]);
});

story("a hard stop keeps the turn so far, and it can be concluded", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    decision({ text: next("ann", "Well?") }),
    conclusion({ text: "Concluded with what there was." }),
    turn({ text: "Half of it was said and the rest was not.", hold: "ann", holdAfter: 5 }),
  );
  const id = await annAndBob(server);
  const { page } = await person();
  await page.goto(`/discussions/${id}`);
  await page.getByRole("article", { name: "Ann, now" }).getByText("Half of it was said").waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("This turn was interrupted.").waitFor();
  await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0);
  await page
    .getByRole("region", { name: "Timeline" })
    .getByText("Half of it was said", { exact: false })
    .waitFor();
  await expect.poll(async () => (await models.stats()).inFlight).toBe(0);

  await page.getByRole("button", { name: "Conclude now" }).click();
  const dialog = page.getByRole("dialog", { name: "Conclude now?" });
  await dialog.getByRole("button", { name: "Conclude now" }).click();
  await page
    .getByRole("region", { name: "Conclusion" })
    .getByText("Concluded with what there was.")
    .waitFor();
});

story("Space pauses nothing, and a pause takes no words from a person", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    decision({ text: next("ada", "What do you see at night?") }),
    conclusion({ text: "We heard Ada." }),
  );
  const id = await annAndBob(server, {
    participants: [{ name: "Ann", model: "beta" }, { person: "Ada" }],
    maxRounds: 1,
  });
  const { page } = await person();
  await page.goto(`/discussions/${id}`);
  const seat = page.getByRole("region", { name: "It is Ada’s turn" });
  await seat.waitFor();
  await page.getByRole("main").focus();
  await page.keyboard.press("Space");
  const box = seat.getByLabel("What Ada says");
  await box.fill("Empty roads.");
  expect((await discussionView(server, id)).status).toBe("active");

  await page.getByRole("button", { name: "Pause now" }).click();
  await seat.getByText("Paused. Resume the discussion to send your answer.").waitFor();
  expect(await box.inputValue()).toBe("Empty roads.");
  expect(await seat.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Resume" }).click();
  await expect.poll(async () => (await discussionView(server, id)).status).toBe("active");
  await expect.poll(() => seat.getByRole("button", { name: "Send" }).isEnabled()).toBe(true);
  await box.press("Control+Enter");
  await page.getByRole("region", { name: "Conclusion" }).getByText("We heard Ada.").waitFor();
  expect(await spoken(server, id)).toEqual(["Ada: Empty roads."]);
});

story("a turn that reached its limit is marked, and what it took is told", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    decision({ texts: [next("ann", "First?"), next("bob", "Second?")] }),
    conclusion({ text: "Concluded." }),
    turn({ text: "There was more to say", fault: "length", faults: 1 }),
  );
  const id = await annAndBob(server);
  const { page } = await person();
  await page.goto(`/discussions/${id}`);
  await page.getByRole("region", { name: "Conclusion" }).waitFor();
  expect(await page.getByText("Cut off at the length limit").count()).toBe(1);
  const first = page.getByRole("article", { name: /^Ann, Participant/ });
  await first.getByText("Cut off at the length limit").waitFor();
  await first.getByText(/\d in · \d+ out/).waitFor();
  await page
    .getByTitle(/\d in · \d+ out/)
    .getByText(/^[\d,]+$/)
    .waitFor();
});

story("on a phone a facilitator's words and the question line up", async (stage) => {
  const { models, server, person } = stage;
  await models.say(
    decision({ text: next("ann", "What breaks first?") }),
    conclusion({ text: "Concluded." }),
    turn({ text: "The disk." }),
  );
  const id = await annAndBob(server, { maxRounds: 1 });
  const { page } = await person({ width: 390, height: 844 });
  await page.goto(`/discussions/${id}`);
  const card = page.getByRole("article", { name: "Lead, Facilitator" }).first();
  const words = await card.getByText("Gives the floor to").boundingBox();
  const question = await card.getByText("What breaks first?").boundingBox();
  expect(question?.x).toBe(words?.x);
});

story("a turn that a crash cut off begins again, and says so", async (stage) => {
  const { models, server, person } = stage;
  const say = (hold: string, holdAfter: number) =>
    models.say(
      decision({ text: next("ann", "Well?") }),
      conclusion({ text: "Concluded." }),
      turn({ text: "Ann says quite a lot about it.", hold, holdAfter }),
    );
  await say("first", 5);
  const id = await annAndBob(server, { maxRounds: 1 });
  const somebody = await person();
  const { page } = somebody;
  somebody.forgive(GONE);
  await page.goto(`/discussions/${id}`);
  const now = page.getByRole("article", { name: "Ann, now" });
  await now.getByText("Ann says quite a lot").waitFor();
  await server.kill();
  await say("second", 2);
  await models.release("first");
  await server.restart();
  await now.getByText("An earlier attempt was interrupted. The answer starts over.").waitFor();
  await models.release("second");
  await page.getByRole("region", { name: "Conclusion" }).getByText("Concluded.").waitFor();
  expect(await spoken(server, id)).toEqual(["Ann: Ann says quite a lot about it."]);
});
