// The points of a verdict: who stands behind each, and the sentences that it comes closest to.

import type { Advisor, Point } from "./board";

/** The items of a text that is one flat list; nothing where it is anything else. */
export function itemsOf(text: string): string[] | undefined {
  const items: string[] = [];
  for (const line of text.trim().split("\n")) {
    const item = /^(?:[-*+]|\d+[.)])\s+(.*)$/.exec(line);
    if (item) items.push(item[1] ?? "");
    else if (items.length > 0 && /^\s+\S/.test(line) && !/^\s+(?:[-*+]|\d+[.)])\s/.test(line))
      items.push(`${items.pop()} ${line.trim()}`);
    else if (line.trim() !== "") return undefined;
  }
  return items.length > 0 ? items : undefined;
}

export interface Behind {
  advisors: readonly Advisor[];
  /** Of a point that divides them: those on the other side. */
  against: readonly Advisor[];
  /** By their votes, or because it names them. */
  how: "vote" | "name" | undefined;
}

/** Who voted for a point; without votes, whom it names. */
export function behind(
  item: string,
  points: readonly Point[],
  advisors: readonly Advisor[],
): Behind {
  const plain = words(item).join(" ");
  const point = points.find(({ text }) => {
    const told = words(text).join(" ");
    return told !== "" && (told === plain || plain.startsWith(told) || told.startsWith(plain));
  });
  const cast = (vote: string) =>
    advisors.filter(({ id }) =>
      point?.votes.some((one) => one.advisor === id && one.vote === vote),
    );
  if (point && point.votes.length > 0) {
    return { advisors: cast("accept"), against: cast("reject"), how: "vote" };
  }
  // The longer name first: the Devil’s Advocate is not the Advocate as well.
  let rest = ` ${plain} `;
  const named = new Set<number>();
  for (const { id, name } of advisors.toSorted((a, b) => b.name.length - a.name.length)) {
    const told = ` ${words(name).join(" ")} `;
    if (!rest.includes(told)) continue;
    named.add(id);
    rest = rest.replaceAll(told, " ");
  }
  return {
    advisors: advisors.filter(({ id }) => named.has(id)),
    against: [],
    how: named.size > 0 ? "name" : undefined,
  };
}

export function pointOf(item: string, points: readonly Point[]): Point | undefined {
  const plain = words(item).join(" ");
  return points.find(({ text }) => {
    const told = words(text).join(" ");
    return told !== "" && (plain.startsWith(told) || told.startsWith(plain));
  });
}

const LEAST = 0.16;
/** Words that say nothing of what a sentence is about. */
const EMPTY = new Set(
  "about after also and are because been before both but can could does for from has have into its more most must not only other should than that the their them then there these they this those until very was were what when where which while will with would your".split(
    " ",
  ),
);

function words(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/['’]/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

/** By their beginnings, so that "deploys" and "deployed" are one. */
function telling(text: string): Set<string> {
  return new Set(
    words(text)
      .filter((word) => word.length > 2 && !EMPTY.has(word))
      .map((word) => word.slice(0, 6)),
  );
}

/** The sentence of a text that comes closest to a point, if any comes near. */
export function closest(item: string, text: string): string | undefined {
  const wanted = telling(item);
  let best: { sentence: string; score: number } | undefined;
  for (const { segment } of new Intl.Segmenter("en", { granularity: "sentence" }).segment(text)) {
    const has = telling(segment);
    const shared = [...has].filter((word) => wanted.has(word)).length;
    const score = shared / Math.sqrt(Math.max(1, has.size) * Math.max(1, wanted.size));
    if (shared > 1 && score > (best?.score ?? LEAST)) best = { sentence: segment.trim(), score };
  }
  return best?.sentence;
}
