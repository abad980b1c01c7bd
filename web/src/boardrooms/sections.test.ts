import { describe, expect, it } from "vitest";
import { headline, sections, withoutBegunHeading } from "./sections";

const VERDICT = `## Consensus
Do it. But slowly.

## Points of Agreement
- One

## Points of Divergence
\`\`\`
## Recommendation
\`\`\`

## Recommendation
Begin.`;

describe("sections", () => {
  it("are the four, and no heading inside code is one", () => {
    expect(sections(VERDICT)).toEqual([
      { name: "Consensus", text: "Do it. But slowly." },
      { name: "Points of Agreement", text: "- One" },
      { name: "Points of Divergence", text: "```\n## Recommendation\n```" },
      { name: "Recommendation", text: "Begin." },
    ]);
  });
  it("grow as they are written: every beginning has the sections of the whole so far", () => {
    for (let end = 0; end <= VERDICT.length; end += 1) {
      const names = sections(VERDICT.slice(0, end)).flatMap((one) => (one.name ? [one.name] : []));
      expect(
        sections(VERDICT)
          .map((one) => one.name)
          .slice(0, names.length),
      ).toEqual(names);
    }
  });
  it("leave a text without headings as it is", () => {
    expect(sections("Just words.\n\n## Other\nMore")).toEqual([
      { text: "Just words.\n\n## Other\nMore" },
    ]);
  });
});

it("half a heading waits for its other half", () => {
  expect(withoutBegunHeading("Do it.\n\n## Points of Ag")).toBe("Do it.\n");
  expect(withoutBegunHeading("# Con")).toBe("");
  expect(withoutBegunHeading("## Consensus\nDo #1")).toBe("## Consensus\nDo #1");
});

describe("the headline", () => {
  const check = (text: string, isLive: boolean, expected: object) =>
    expect(headline(text, isLive)).toEqual(expected);

  it("is the first sentence", () =>
    check("Do it. But slowly.", false, { head: "Do it.", rest: "But slowly." }));
  it("waits until its sentence has ended", () => check("Do it.", true, { rest: "Do it." }));
  it("is there once the next sentence has begun", () =>
    check("Do it. But", true, { head: "Do it.", rest: "But" }));
  it("is no list", () => check("- Do it. Now.", false, { rest: "- Do it. Now." }));
  it("has no marks", () => check("**Do** it. Now.", false, { rest: "**Do** it. Now." }));
  it("is short", () => {
    const long = `${"very ".repeat(40)}long. End.`;
    check(long, false, { rest: long });
  });
});
