// However a text is cut while it arrives, it ends up as if it had come in one piece.

import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { Markdown } from "./Markdown";
import { presentable } from "./presentable";
import { evened, Splitter } from "./split";

afterEach(cleanup);

const FRAGMENTS = [
  "# Heading\n",
  "### A third *level*\n",
  "Setext\n===\n",
  "Setext two\n---\n",
  "---\n",
  "\n",
  "\n\n",
  "\r\n",
  "\t",
  "    ",
  "A plain line\n",
  "a line with **strong** and *em* and ~~gone~~ text ",
  "**begun ",
  "*begun ",
  "__begun ",
  "`code` ",
  "``a ` b`` ",
  "`begun ",
  "- one\n- two\n",
  "- one\n  - inner\n    - innermost\n",
  "- loose\n\n- list\n",
  "1. first\n2. second\n   continued\n",
  "* star\n+ plus\n",
  "- [x] done\n- [ ] open\n",
  "```js\nlet a = 1;\n```\n",
  "~~~\n```\n~~~\n",
  "```\nnever closed\n",
  "````\n```\n````\n",
  "    indented code\n",
  "| a | b |\n|---|--:|\n| 1 | 2 |\n",
  "| a | b |\n",
  "|---|:-:|\n",
  "a | b\n--- | ---\n1 | 2\n",
  "> quote\n> more\n",
  "> - list in a quote\n",
  "lazy\n",
  "<div>html</div>\n",
  "<!-- comment\n",
  "-->\n",
  "<script>alert(1)</script>\n",
  "<b>inline</b> ",
  "[link](https://example.org/a_b) ",
  "[begun](https://exam",
  "[begun",
  "![image](https://example.org/i.png) ",
  "[ref][one] ",
  "[one]: https://example.org/ref\n",
  '[two]: <https://example.org/two> "title\n',
  'end of a title"\n',
  "https://example.org/auto ",
  "line with a break  \n",
  "back\\\nslash\\",
  "&amp; &nbsp; &#39; &copy; ",
  "Grüße, 東京, 👩‍👩‍👧, \u2028, \u00a0\n",
  "ﷺ\u202e turned ",
  "$x_1 + \\frac{a}{b}$ ",
  "$begun_x ",
  "$$\na * b\n$$\n",
  "$$\n- a\n",
  "\\[ x \\]\n",
  "$5 and $6 ",
  "word",
  " ",
  "|",
  "-",
  "=",
];

const texts = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 6 })), { maxLength: 14 })
  .map((parts) => parts.join(""));

/** A text, and the lengths at which it is shown while it grows. */
const growing = texts.chain((text) =>
  fc.record({
    text: fc.constant(text),
    cuts: fc
      .array(fc.nat({ max: text.length }), { maxLength: 12 })
      .map((cuts) => cuts.toSorted((a, b) => a - b)),
  }),
);

function inOneShot(text: string): string {
  const { container, unmount } = render(<Markdown text={text} />);
  const { innerHTML } = container;
  unmount();
  return innerHTML;
}

describe("a text that grows", () => {
  it("ends as if it had come in one piece, and never throws on the way", () => {
    fc.assert(
      fc.property(growing, ({ text, cuts }) => {
        const { container, rerender, unmount } = render(<Markdown text="" live />);
        for (const cut of cuts) rerender(<Markdown text={text.slice(0, cut)} live />);
        rerender(<Markdown text={text} />);
        const grown = container.innerHTML;
        unmount();
        expect(grown).toBe(inOneShot(text));
      }),
      { numRuns: 250 },
    );
  }, 60_000);

  it("loses no character between what is sealed and the tail", () => {
    fc.assert(
      fc.property(growing, ({ text, cuts }) => {
        const splitter = new Splitter();
        for (const cut of [...cuts, text.length]) {
          const soFar = text.slice(0, cut);
          const { sealed, tail } = splitter.feed(soFar);
          expect(sealed.map((token) => token.raw).join("") + tail).toBe(evened(soFar));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps what is sealed: the same tokens in the same order", () => {
    fc.assert(
      fc.property(growing, ({ text, cuts }) => {
        const splitter = new Splitter();
        let before: readonly unknown[] = [];
        for (const cut of [...cuts, text.length]) {
          const { sealed } = splitter.feed(text.slice(0, cut));
          expect(sealed.length).toBeGreaterThanOrEqual(before.length);
          before.forEach((token, index) => expect(sealed[index]).toBe(token));
          before = [...sealed];
        }
      }),
      { numRuns: 500 },
    );
  });

  it("begins anew when it becomes another text", () => {
    const splitter = new Splitter();
    splitter.feed("# One\n\npara\n\nmore\n");
    const { sealed, tail } = splitter.feed("# Two\n\nother\n");
    expect(sealed.map((token) => token.raw).join("") + tail).toBe("# Two\n\nother\n");
  });

  it("keeps its elements when the end comes", () => {
    const text = "# Title\n\n- one\n- two\n\n```js\nlet a;\n```\n\nA **bold** end.";
    const { container, rerender } = render(<Markdown text={text} live />);
    const before = [...container.querySelectorAll("*")];
    rerender(<Markdown text={text} />);
    // Code gets its colours and its button; everything else is what it was.
    const after = [...container.querySelectorAll("*")];
    expect(after.filter((one) => before.includes(one))).toEqual(before);
    const added = after.filter((one) => !before.includes(one));
    expect(added.every((one) => one.closest(".code-block"))).toBe(true);
  });

  it("seals what uses carriage returns and tabs too", () => {
    const splitter = new Splitter();
    splitter.feed("# One\r\n\r\n- a\tb\r\n\t- c\r\n\r\nlast\r\n");
    expect(splitter.tail).toBe("last\n");
  });
});

describe("presentable", () => {
  it("gives only words of the text, and closing marks", () => {
    fc.assert(
      fc.property(texts, (tail) => {
        const letters = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "");
        const shown = letters(presentable(tail));
        // What waits is at the end, or is the address of a link that has only begun.
        expect(isWithin(shown, letters(tail))).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Every letter of `part` is in `whole`, in the same order. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) if (letter === part.charAt(at)) at += 1;
  return at >= part.length;
}
