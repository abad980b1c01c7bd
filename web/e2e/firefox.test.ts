// The boardroom in Firefox: a question, answers as they are written, the verdict, the file.

import { expect, test } from "vitest";
import { ADVOCATE, advisor, anyAdvisor, sections, verdict } from "./cast";
import { Firefox, firefox } from "./firefox";
import { ModelServer, Server } from "./programs";

const path = firefox();
const QUESTION = "Should we move the release to Thursdays?";
const says = (words: string) => `document.body.innerText.includes(${JSON.stringify(words)})`;

test.skipIf(path === undefined)("from a question to a file, in Firefox", async () => {
  const models = await ModelServer.start();
  const server = await Server.start(models.url);
  const browser = await Firefox.start(path ?? "");
  try {
    await models.say(
      verdict({ text: sections("Begin with one team, for two weeks.") }),
      advisor("advocate", { text: ADVOCATE, hold: "advocate", holdAfter: 10 }),
      anyAdvisor({ text: "Said, and $x^2 \\ge 0$ with it." }),
    );
    await browser.go(server.url);
    await browser.evaluate(
      "window.__breaches = [], document.addEventListener('securitypolicyviolation', " +
        "(event) => window.__breaches.push(event.effectiveDirective + event.blockedURI)), true",
    );
    await browser.type("textarea", QUESTION);
    await browser.until("!document.querySelector('form button[type=submit]').disabled");
    await browser.click("form button[type=submit]");

    // Half of it is there while the rest is being written.
    await browser.until(says("2 finished, 1 writing"));
    await browser.until(says("The case for it is strong."));
    expect(await browser.evaluate(says("Begin with one team."))).toBe(false);
    expect(await browser.evaluate("document.querySelectorAll('math').length")).toBe(2);
    const tops = await browser.evaluate<number[]>(
      "[...document.querySelectorAll('.panel')].map((one) => one.getBoundingClientRect().top)",
    );
    expect(new Set(tops).size).toBe(1);

    await models.release("advocate");
    await browser.until(says("Begin with one team, for two weeks."));
    await browser.until("document.querySelectorAll('[aria-busy=true]').length === 0");
    await browser.click(".session-actions .menu-anchor > button");
    await browser.click("[role=menu] a[href*=markdown]");
    const file = await browser.downloaded(/\.md$/);
    for (const words of [QUESTION, "Begin with one team, for two weeks."]) {
      expect(file).toContain(words);
    }
    expect(await browser.evaluate("window.__breaches")).toEqual([]);
  } finally {
    await browser.end();
    await server.end();
    await models.end();
  }
});
