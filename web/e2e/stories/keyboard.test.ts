import type { Download, Page } from "playwright-core";
import { anyAdvisor, sections, verdict, verdictTold } from "../cast";
import { expect, story } from "../stage";

interface Focused {
  name: string;
  isMarked: boolean;
}

/** What has the focus, and whether one can see that. */
function focused(page: Page): Promise<Focused> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement | null;
    if (!element || element === document.body) return { name: "", isMarked: true };
    const label = (element as HTMLInputElement).labels?.[0]?.innerText;
    const name = element.getAttribute("aria-label") ?? label ?? element.innerText;
    const marks = (one: Element) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
      return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
    };
    // A text field may be marked by the box around it.
    const box = element.closest(":focus-within:not(html, body, main, .shell)");
    let isMarked = marks(element) || (box !== null && marks(box));
    for (let up = element.parentElement; !isMarked && up; up = up.parentElement) {
      isMarked = up.matches("form, .ask-box, .composer, label, .field") && marks(up);
    }
    return { name: name.trim(), isMarked };
  });
}

/** Presses Tab until something of this name has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  const passed: string[] = [];
  for (let count = 0; count < 80; count += 1) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    expect(now.isMarked, `the focus on “${now.name}” cannot be seen`).toBe(true);
    if (name.test(now.name)) return;
    passed.push(now.name.slice(0, 30));
  }
  throw new Error(`Tab never comes to ${String(name)}, only to ${passed.join(" | ")}`);
}

async function read(file: Download): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of await file.createReadStream()) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

story("the whole way of a board by keyboard alone", async ({ models, person }) => {
  await models.say(
    verdictTold("For the directors", { text: sections("The second one.") }),
    verdict({ text: sections("The first one.") }),
    anyAdvisor({ text: "Said by an advisor." }),
  );
  const { page } = await person();
  await page.goto("/");
  const box = page.getByRole("textbox", { name: "Your question" });
  await box.waitFor();
  // The box has the focus from the start.
  await page.keyboard.type("May a keyboard be enough?");
  expect(await box.inputValue()).toBe("May a keyboard be enough?");
  await tabTo(page, /Classic Triad/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Shift+Tab");
  await tabTo(page, /Classic Triad/);
  for (let tabs = 0; !(await box.evaluate((one) => one === document.activeElement)); tabs += 1) {
    expect(tabs).toBeLessThan(10);
    await page.keyboard.press("Shift+Tab");
  }
  await page.keyboard.press("Enter");

  await page.getByRole("heading", { level: 1, name: "May a keyboard be enough?" }).waitFor();
  const verdictRegion = page.getByRole("region", { name: "Verdict", exact: true });
  await verdictRegion.getByText("The first one.").waitFor();

  // A number makes its panel large, and Escape brings all back.
  await page.keyboard.press("2");
  const back = page.getByRole("button", { name: "Back to all advisors" });
  await back.waitFor();
  await page.keyboard.press("Escape");
  await back.waitFor({ state: "detached" });
  await tabTo(page, /^Focus Critic$/);
  await page.keyboard.press("Enter");
  await back.waitFor();
  await page.keyboard.press("Escape");
  await back.waitFor({ state: "detached" });

  await page.keyboard.press("r");
  const dialog = page.getByRole("dialog", { name: "Re-synthesize" });
  await dialog.waitFor();
  await tabTo(page, /^Instruction/);
  await page.keyboard.type("For the directors");
  await tabTo(page, /^Re-synthesize$/);
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await verdictRegion.getByText("The second one.").waitFor();

  await tabTo(page, /^Export$/);
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Markdown" }).waitFor();
  expect((await focused(page)).name).toBe("Markdown");
  const download = page.waitForEvent("download");
  await page.keyboard.press("Enter");
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  const text = await read(file);
  for (const part of ["May a keyboard be enough?", "The first one.", "The second one."]) {
    expect(text).toContain(part);
  }
});

story("whoever presses what goes away goes on beside it", async ({ models, person }) => {
  await models.say(anyAdvisor({ text: "Slowly.", hold: "slow", holdAfter: 0 }));
  const { page } = await person();
  await page.goto("/");
  await page.getByRole("textbox", { name: "Your question" }).fill("Where am I?");
  await page.keyboard.press("Control+Enter");
  const actions = page.locator(".session-actions");
  const isAmong = () => actions.evaluate((all) => all.contains(document.activeElement));
  for (const name of ["Stop", "Resume", "Stop"]) {
    const button = actions.getByRole("button", { name, exact: true });
    await button.focus();
    await page.keyboard.press("Enter");
    await button.waitFor({ state: "detached" });
    await expect.poll(isAmong, { message: name }).toBe(true);
  }
});

story("keys that do something by themselves can be switched off", async ({ models, person }) => {
  await models.say(verdict({ text: sections("Done.") }), anyAdvisor({ text: "Said." }));
  const { page } = await person();
  await page.goto("/settings");
  await page
    .getByLabel(/[Ss]ingle/)
    .first()
    .uncheck();
  await page.goto("/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByRole("button", { name: "Convene a sample board" }).click();
  await page.getByRole("region", { name: "Verdict", exact: true }).getByText("Done.").waitFor();
  await page.keyboard.press("r");
  await page.keyboard.press("2");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Back to all advisors" }).count()).toBe(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
});

story("what Home remembers does not disturb the set-up of a board", async ({ models, person }) => {
  await models.say(verdict({ text: sections("Done.") }), anyAdvisor({ text: "Said." }));
  const { page } = await person();
  await page.goto("/");
  await page.getByRole("radio", { name: /Full Board/ }).check();
  await page.getByRole("textbox", { name: "Your question" }).fill("Are we six?");
  await page.getByRole("button", { name: "Convene", exact: true }).click();
  await page.getByRole("region", { name: "Generalist", exact: true }).waitFor();
  await page
    .getByRole("navigation")
    .getByRole("link", { name: /^Boardroom/ })
    .click();
  await page.getByRole("heading", { level: 1, name: "Put a question to a board" }).waitFor();
  await page.getByRole("button", { name: "Edit board" }).click();
  await page.getByRole("button", { name: "Add advisor" }).waitFor();
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("textbox", { name: "Your question" }).waitFor();
});
