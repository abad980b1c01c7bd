// Nothing that axe-core finds, on any page, in any main state, light and dark, wide and narrow.

import { violations } from "./axe";
import { SCENES } from "./scenes";
import { expect, story } from "./stage";

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

for (const scene of SCENES) {
  story(
    `axe finds nothing: ${scene.name}`,
    async ({ models, server, person }) => {
      const address = await scene.prepare({ models, server });
      const found: string[] = [];
      for (const size of SIZES) {
        const somebody = await person(size);
        // Pages that are not let in, or that fail on purpose, are part of the scenes.
        somebody.forgive(/status of 40[14]/);
        await somebody.page.goto(address);
        await scene.ready(somebody.page);
        for (const colorScheme of ["light", "dark"] as const) {
          await somebody.page.emulateMedia({ colorScheme });
          const wrong = await violations(somebody.page);
          found.push(...wrong.map((one) => `${size.width} ${colorScheme}: ${one}`));
        }
        await expectNoSideways(somebody.page, size.width);
      }
      expect(found.join("\n")).toBe("");
    },
    scene.settings,
  );
}

/** A page never scrolls sideways; what is wider than it scrolls in a box of its own. */
async function expectNoSideways(
  page: Parameters<typeof violations>[0],
  width: number,
): Promise<void> {
  const { wide, culprits } = await page.evaluate(() => {
    const root = document.documentElement;
    const wide = root.scrollWidth - root.clientWidth;
    const culprits = [...document.querySelectorAll("body *")]
      .filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1)
      .slice(0, 3)
      .map((one) => one.outerHTML.slice(0, 120));
    return { wide, culprits: wide > 0 ? culprits : [] };
  });
  expect(wide, `${width}: ${culprits.join("\n")}`).toBe(0);
}
