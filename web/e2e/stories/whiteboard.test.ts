import { got, Whiteboard } from "../arrange";
import type { Locator, Page } from "playwright-core";
import type { Person } from "../person";
import { expect, story } from "../stage";

declare global {
  interface Window {
    heard?: string[];
  }
}

/** From now on all that the server tells this browser is noted, streams included. */
async function overhear({ context }: Person): Promise<void> {
  await context.addInitScript(() => {
    const heard: string[] = [];
    window.heard = heard;
    const { fetch } = window;
    window.fetch = async (...request) => {
      const response = await fetch(...request);
      const reader = response.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
      const read = async (): Promise<void> => {
        const piece = await reader?.read();
        if (!piece || piece.done) return;
        heard.push(piece.value);
        await read();
      };
      read().catch(() => undefined);
      return response;
    };
  });
}

/** Everything that a page has been told, and everything that it shows. */
async function known(page: Page): Promise<string> {
  const heard = await page.evaluate(() => (window.heard ?? []).join(""));
  return heard + (await page.content());
}

function post(page: Page, title: string): Locator {
  return page.getByRole("article", { name: title });
}

async function write(page: Page, kind: string, title: string, reasons: string): Promise<void> {
  const form = page.getByRole("form", { name: "Write a post" });
  await form.getByRole("radio", { name: kind }).check();
  await form.getByLabel("Title").fill(title);
  await form.getByLabel("Reasons").fill(reasons);
  await form.getByRole("button", { name: "Post", exact: true }).click();
  await post(page, title).waitFor();
}

async function moveOn(page: Page, to: string, shows: string): Promise<void> {
  await page.getByRole("button", { name: "Move on…" }).click();
  const dialog = page.getByRole("dialog", { name: "Move the board on" });
  const way = dialog.getByRole("radio", { name: new RegExp(`^${to}`) });
  if ((await way.count()) > 0) await way.check();
  await dialog.getByText(shows).first().waitFor();
  await dialog.getByRole("button", { name: `Move on to ${to.toLowerCase()}` }).click();
  await dialog.waitFor({ state: "detached" });
  await step(page, to).waitFor();
}

function step(page: Page, name: string): Locator {
  return page.locator('[aria-current="step"]').getByText(name);
}

story("two people on a blind board, through all phases to the record", async ({ person }) => {
  const ada = await person();
  const bob = await person();
  await overhear(ada);
  await overhear(bob);
  await ada.page.goto("/whiteboards");
  await ada.page.getByRole("button", { name: "Open a whiteboard" }).first().click();
  const opening = ada.page.getByRole("dialog", { name: "Open a whiteboard" });
  await opening.getByLabel("Topic").fill("Where do we keep sessions?");
  await opening.getByLabel("Whiteboard ID").fill("sessions");
  await opening.getByLabel("Your name here").fill("ada");
  await opening.getByRole("button", { name: "Open the whiteboard" }).click();
  await ada.page.getByRole("heading", { level: 1, name: "Where do we keep sessions?" }).waitFor();

  await bob.page.goto("/whiteboards/sessions");
  await bob.page.getByRole("button", { name: "Join", exact: true }).click();
  const joining = bob.page.getByRole("dialog", { name: "Join this board" });
  await joining.getByLabel("Your name here").fill("bob");
  await joining.getByRole("button", { name: "Join", exact: true }).click();
  await joining.waitFor({ state: "detached" });

  // Blind: nothing of the other's post is known, neither in sight nor on the wire.
  await write(ada.page, "Proposal", "Adas-secret-title", "Adas-secret-reasons for Redis");
  await write(bob.page, "Concern", "Bobs-secret-title", "Bobs-secret-reasons against it");
  await ada.page.getByText("has posted").nth(1).waitFor();
  await bob.page.reload();
  await post(bob.page, "Bobs-secret-title").waitFor();
  expect(await known(bob.page)).toContain("Bobs-secret-reasons");
  for (const secret of ["Adas-secret-title", "Adas-secret-reasons"]) {
    expect(await known(bob.page)).not.toContain(secret);
  }
  for (const secret of ["Bobs-secret-title", "Bobs-secret-reasons"]) {
    expect(await known(ada.page)).not.toContain(secret);
  }

  await moveOn(ada.page, "Read", "All posts, with their authors");
  await post(bob.page, "Adas-secret-title").getByText("Adas-secret-reasons for Redis").waitFor();
  await post(ada.page, "Bobs-secret-title").waitFor();
  expect(await known(bob.page)).toContain("Adas-secret-reasons");

  await moveOn(ada.page, "Validate", "Each validation");
  const checked = post(bob.page, "Adas-secret-title");
  await checked.getByRole("button", { name: "Validate" }).click();
  await checked.getByRole("radio", { name: /^Confirmed/ }).check();
  await checked.getByLabel("What you checked, and how").fill("Measured it twice.");
  await checked
    .getByRole("form", { name: "Validate" })
    .getByRole("button", { name: "Validate" })
    .click();
  await post(ada.page, "Adas-secret-title").getByText("Measured it twice.").waitFor();
  // Nobody judges their own post.
  expect(
    await post(bob.page, "Bobs-secret-title").getByRole("button", { name: "Validate" }).count(),
  ).toBe(0);

  await moveOn(ada.page, "Debate", "");
  const doubted = post(ada.page, "Bobs-secret-title");
  await doubted.getByRole("button", { name: "Challenge" }).click();
  await doubted.getByLabel("What you doubt, and why").fill("Says who?");
  await doubted
    .getByRole("form", { name: "Challenge" })
    .getByRole("button", { name: "Challenge" })
    .click();
  const challenge = post(bob.page, "Bobs-secret-title");
  await challenge.getByText("Says who?").waitFor();
  await challenge.getByRole("button", { name: "Reply", exact: true }).first().click();
  await challenge.getByLabel("Your answer to this challenge").fill("The log of March says so.");
  await challenge
    .getByRole("form", { name: "Reply" })
    .getByRole("button", { name: "Reply", exact: true })
    .click();
  await doubted.getByText("The log of March says so.").waitFor();

  const voting = bob.page.getByRole("form", { name: "Your vote on Adas-secret-title" });
  await voting.getByRole("button", { name: "Accept" }).click();
  await voting.getByLabel("Why (optional)").fill("It held in the test.");
  await voting.getByRole("button", { name: "Vote to accept" }).click();
  await post(ada.page, "Adas-secret-title").getByText("Votes").first().waitFor();

  await moveOn(ada.page, "Resolve", "");
  const settling = post(bob.page, "Bobs-secret-title");
  await settling.getByRole("button", { name: "Settle" }).click();
  await settling.getByLabel("How it is settled").fill("We keep the log for a year.");
  await settling.getByRole("button", { name: "Settle the challenge" }).click();
  await doubted.getByText("We keep the log for a year.").waitFor();

  await ada.page.getByRole("button", { name: "Archive…" }).click();
  const archiving = ada.page.getByRole("dialog", { name: "Archive the board" });
  await archiving.getByLabel("Note for the record (optional)").fill("Redis it is.");
  await archiving.getByRole("button", { name: "Archive the board" }).click();
  for (const { page } of [ada, bob]) {
    const record = page.getByRole("region", { name: "Decision record" });
    await record.getByText("Adas-secret-title").first().waitFor();
    await record.getByText("Redis it is.").first().waitFor();
  }
  const download = ada.page.waitForEvent("download");
  await ada.page
    .getByRole("region", { name: "Decision record" })
    .getByRole("button", { name: "Markdown" })
    .click();
  expect((await download).suggestedFilename()).toBe("sessions.md");
  expect(await bob.page.getByRole("button", { name: /Move on|Archive/ }).count()).toBe(0);
});

story("somebody comes by a link, and posts are found by their words", async (stage) => {
  const { server, person } = stage;
  const wall = await Whiteboard.open(server, "outage", "What went wrong?", "ada", {
    admission: "invited",
  });
  await wall.post("ada", { type: "claim", title: "The disk was full", body: "At 3 a.m." });
  await wall.post("ada", { type: "claim", title: "Nobody was called", body: "No rota." });
  const ada = await person();
  const identity = { name: "ada", role: "facilitator", token: wall.tokenOf("ada") };
  await ada.page.addInitScript(
    (known) => {
      localStorage.setItem("plenary.whiteboard.outage", JSON.stringify(known));
    },
    { identities: [identity], last: "ada" },
  );
  await ada.page.goto("/whiteboards/outage");
  await ada.page.getByRole("searchbox", { name: "Search posts" }).fill("rota");
  await ada.page.getByText("The disk was full").first().waitFor({ state: "detached" });
  await ada.page.getByText("1 post of 2 shown").waitFor();

  await ada.page.getByRole("button", { name: "Invite…" }).click();
  const dialog = ada.page.getByRole("dialog", { name: "Invite someone" });
  await dialog.getByRole("textbox", { name: "Their name here" }).fill("bob");
  await dialog.getByRole("combobox", { name: "As" }).selectOption("operator");
  await dialog.getByRole("button", { name: "Create link" }).click();
  const link = await dialog.getByRole("textbox", { name: "Link" }).inputValue();

  const bob = await person();
  await bob.page.goto(link);
  await bob.page
    .getByRole("dialog", { name: "Join this board" })
    .getByRole("button", { name: "Join" })
    .click();
  await bob.page.getByRole("button", { name: "Acting as bob" }).waitFor();
  expect(bob.page.url()).not.toContain("invitation");
});

story(
  "a whiteboard is opened for those who are invited, and a model is seated on it",
  async (stage) => {
    const { models, server, person } = stage;
    await models.say({ fault: "noSuchModel", when: { model: "beta" } });
    const persona = "You review.";
    const agent = await got(
      server.api.POST("/api/agents", { body: { name: "Reviewer", persona, model: "ollama/beta" } }),
    );
    const { page } = await person();
    await page.goto("/whiteboards");
    await page.getByRole("button", { name: "Open a whiteboard" }).first().click();
    const opening = page.getByRole("dialog", { name: "Open a whiteboard" });
    await opening.getByLabel("Topic").fill("Where do we keep sessions?");
    await opening.getByLabel("Your name here").fill("ada");
    await opening.getByLabel("Who can join").selectOption("Only those you invite");
    await opening.getByText("Models and agents").click();
    await opening.getByRole("button", { name: "Add a seat" }).click();
    const seat = opening.getByRole("group", { name: "Seat 1" });
    await seat.getByLabel("Name").fill("sceptic");
    await seat.getByLabel("Model or agent").selectOption("ollama/beta");
    await opening.getByRole("button", { name: "Add a seat" }).click();
    const second = opening.getByRole("group", { name: "Seat 2" });
    await second.getByLabel("Name").fill("reviewer");
    await second.getByLabel("Model or agent").selectOption("Reviewer");
    await opening.getByLabel("Tokens").fill("90,000");
    await opening.getByRole("button", { name: "Open the whiteboard" }).click();
    const people = page.getByRole("region", { name: "People and agents" });
    await people.getByRole("button", { name: "Invite…" }).waitFor();
    const [row] = await got(server.api.GET("/api/whiteboards"));
    const board = row?.name ?? "";
    const params = { path: { board } };
    const view = await got(server.api.GET("/api/whiteboards/{board}", { params }));
    expect(view.admission).toBe("invited");

    // One who failed is asked again, by another model.
    await people.getByRole("button", { name: "Ask again… sceptic" }).click();
    const again = page.getByRole("dialog", { name: "Ask sceptic again" });
    await again.getByLabel("Model or agent").selectOption("ollama/gamma");
    await again.getByRole("button", { name: "Ask again" }).click();
    await people.getByText("ollama/gamma · answered").waitFor();
    // A stored agent stays who it is.
    await people.getByRole("button", { name: "Ask again… reviewer" }).click();
    const same = page.getByRole("dialog", { name: "Ask reviewer again" });
    await expect.poll(() => same.getByLabel("Model or agent").inputValue()).toBe(`@${agent.id}`);
    await same.getByRole("button", { name: "Cancel" }).click();

    await people.getByRole("button", { name: "Seat a model…" }).click();
    const one = page.getByRole("dialog", { name: "Seat a model or an agent" });
    await one.getByLabel("Name").fill("optimist");
    await one.getByLabel("Model or agent").selectOption("ollama/alpha");
    await one.getByRole("button", { name: "Seat", exact: true }).click();
    await one.waitFor({ state: "detached" });
    await people.getByText("ollama/alpha").waitFor();

    // In blind nobody sees what they spend: that would tell who has answered, and how much.
    const tokens = page.locator(".session-head").getByText("of 90,000");
    expect(await tokens.count()).toBe(0);
    await moveOn(page, "Read", "posts");
    await tokens.waitFor();
  },
);
