// A verdict in its four sections, also while it is being written.

export const SECTIONS = [
  "Consensus",
  "Points of Agreement",
  "Points of Divergence",
  "Recommendation",
] as const;

export type SectionName = (typeof SECTIONS)[number];

export interface Section {
  /** Absent for text that stands before the first heading. */
  name?: SectionName;
  text: string;
}

const HEADING = /^##\s+(.*?)\s*#*\s*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The text under each of the four headings, in the order in which it stands. */
export function sections(text: string): Section[] {
  const found: Section[] = [];
  let lines: string[] = [];
  let name: SectionName | undefined;
  let fence: string | undefined;
  const end = () => {
    const inside = lines.join("\n").trim();
    if (name !== undefined || inside !== "") found.push({ ...(name && { name }), text: inside });
    lines = [];
  };
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (mark && fence === undefined) fence = mark;
    else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined;
    const heading = fence === undefined ? named(line) : undefined;
    if (heading) {
      end();
      name = heading;
    } else {
      lines.push(line);
    }
  }
  end();
  return found;
}

/** Without a heading at the end of which only half has come. */
export function withoutBegunHeading(text: string): string {
  return text.replace(/(^|\n)#[^\n]*$/, "");
}

function named(line: string): SectionName | undefined {
  const heading = HEADING.exec(line)?.[1]?.toLowerCase();
  return SECTIONS.find((section) => section.toLowerCase() === heading);
}

export function sectionOf(text: string, name: SectionName): string {
  return sections(text).find((section) => section.name === name)?.text ?? "";
}

const LONGEST_HEADLINE = 150;
const MARKED = /[*_`[\]#|<>]|^\s*(?:[-+]|\d+[.)])\s/m;

/**
 * The first sentence of a consensus as its headline, where it is short and plain and has come
 * to its end; the rest as it is.
 */
export function headline(text: string, isLive: boolean): { head?: string; rest: string } {
  const [first, second] = new Intl.Segmenter("en", { granularity: "sentence" }).segment(text);
  const head = first?.segment.trim() ?? "";
  const isWhole = second !== undefined || !isLive;
  if (!isWhole || head === "" || head.length > LONGEST_HEADLINE || MARKED.test(head)) {
    return { rest: text };
  }
  return { head, rest: text.slice(first?.segment.length ?? 0).trim() };
}
