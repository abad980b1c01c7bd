import { cleanup, render } from "@testing-library/react";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { Markdown } from "./Markdown";
import { tex, type MathNode } from "./tex";

afterEach(cleanup);

/** A tree in one line: tags before brackets, words as they are. */
function brief({ tag, children }: MathNode): string {
  const inside = typeof children === "string" ? children : children.map(brief).join(" ");
  return typeof children === "string" ? inside : `${tag}(${inside})`;
}

describe("a formula", () => {
  it.each([
    ["x", "x"],
    ["a+b", "mrow(a + b)"],
    ["x^2", "msup(x 2)"],
    ["x^23", "mrow(msup(x 2) 3)"],
    ["x_i^{n+1}", "msubsup(x i mrow(n + 1))"],
    ["f''(x)", "mrow(msup(f ′′) ( x ))"],
    ["\\frac{a}{b}", "mfrac(a b)"],
    ["\\frac12", "mfrac(1 2)"],
    ["\\sqrt[3]{x}", "mroot(x 3)"],
    ["\\sum_{i=1}^n i", "mrow(munderover(∑ mrow(i = 1) n) i)"],
    ["\\int_0^1 x\\,dx", "mrow(msubsup(∫ 0 1) x mspace() d x)"],
    ["\\lim_{x \\to 0} f", "mrow(munder(lim mrow(x → 0)) f)"],
    ["\\alpha \\le 3.14", "mrow(α ≤ 3.14)"],
    ["\\mathbb{R}^n", "msup(ℝ n)"],
    ["P(\\text{rain today})", "mrow(P ( rain today ))"],
    ["\\left( \\frac{a}{b} \\right)", "mrow(( mfrac(a b) ))"],
    ["\\left. x \\right|", "mrow(x |)"],
    [
      "\\begin{pmatrix} 1 & 0 \\\\ 0 & 1 \\end{pmatrix}",
      "mrow(( mtable(mtr(mtd(1) mtd(0)) mtr(mtd(0) mtd(1))) ))",
    ],
    ["\\hat{y}", "mover(y ^)"],
    ["\\binom{n}{k}", "mrow(( mfrac(n k) ))"],
    ["50\\%", "mrow(50 %)"],
  ])("%s", (source, tree) =>
    expect(brief(tex(source) ?? { tag: "none", children: [] })).toBe(tree),
  );

  it.each([
    "\\frac{a}{b",
    "a}",
    "{",
    "\\left( x",
    "x^a^b",
    "\\begin{pmatrix} 1",
    "\\begin{tikzpicture} x \\end{tikzpicture}",
    "\\href{https://example.org}{x}",
    "\\newcommand{\\x}{y}",
    "\\",
    "#",
    "   ",
    "{".repeat(100) + "}".repeat(100),
    "x".repeat(2_001),
  ])("is not what cannot be understood: %s", (source) => expect(tex(source)).toBeUndefined());

  it("never throws", () => {
    const parts = fc.constantFrom(
      ..."\\frac \\left( \\right) \\begin{cases} \\end{cases} { } ^ _ & \\\\ ' x 12 \\text{a b} \\sqrt [ ]".split(
        / (?!b\})/,
      ),
    );
    fc.assert(fc.property(fc.array(parts, { maxLength: 20 }), (all) => void tex(all.join(" "))));
  });
});

/** The formulas of a text, and all of it as it is read. */
function shown(text: string): { formulas: string[]; all: string } {
  const { container, unmount } = render(<Markdown text={text} />);
  const formulas = [...container.querySelectorAll("math")].map((one) => one.textContent ?? "");
  const all = container.textContent ?? "";
  unmount();
  return { formulas, all };
}

describe("in a text", () => {
  it.each([
    ["Since $a_1 * b_2 * c$ holds", ["a1∗b2∗c"]],
    ["Energy is \\(E = mc^2\\).", ["E=mc2"]],
    ["So\n\n$$\nx = 1\n$$\n\nand on", ["x=1"]],
    ["So\n$$x = 1$$\nand on", ["x=1"]],
    ["\\[\n\\frac{a}{b}\n\\]", ["ab"]],
    ["- first: $p > 0.5$\n- second", ["p>0.5"]],
    ["| $x$ | y |\n|---|---|\n| $x^2$ | 2 |", ["x", "x2"]],
    ["**so $x$ is**", ["x"]],
  ])("%j has formulas", (text, formulas) => expect(shown(text).formulas).toEqual(formulas));

  it.each([
    "$5 and $6",
    "from $5 to $6 a month",
    "$5–$6",
    "between $1,000 and $2,000.",
    "US$5 and A$6",
    "$HOME/$USER",
    "it costs 5$ or 6$",
    "a $ b $ c",
    "$unfinished",
    "$\\frac{a}{b$",
    "$\\unknown{x}$",
    "$$ only begun",
    "the price ($5 now, $6 later) is fine",
    "$5 is what they pay, he said, not 6$",
  ])("%j has none", (text) => expect(shown(text)).toEqual({ formulas: [], all: text }));

  it("leaves code alone", () => {
    expect(shown("`$x$` and\n\n```\n$$x$$\n```").formulas).toEqual([]);
  });

  it("shows a dollar that is escaped", () => {
    expect(shown("\\$x\\$").formulas).toEqual([]);
  });
});
