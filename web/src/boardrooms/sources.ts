// Marks sentences in answers without touching them: the browser paints a range of text.

/** The registry that browsers have for it; without one nothing is painted. */
const NAME = "source";

/** Paints these sentences, each inside its panel, and returns those that were found. */
export function markSources(sentences: ReadonlyMap<number, string>): number[] {
  const ranges = [...sentences].flatMap(([advisor, sentence]) => {
    const body = document.querySelector(`[data-advisor="${advisor}"] .panel-body`);
    const range = body && rangeOf(body, sentence);
    return range ? [{ advisor, range }] : [];
  });
  if ("highlights" in CSS) {
    CSS.highlights.delete(NAME);
    if (ranges.length > 0)
      CSS.highlights.set(NAME, new Highlight(...ranges.map((one) => one.range)));
  }
  for (const { range } of ranges) {
    const at = range.startContainer.parentElement;
    const box = at?.closest<HTMLElement>(".panel-body");
    // Inside its panel only: the reader of the verdict stays there.
    if (at && box) {
      const top = at.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTop += top - 24;
    }
  }
  return ranges.map(({ advisor }) => advisor);
}

/** Where a sentence stands. Marks of Markdown are not in the page, and spaces may differ. */
function rangeOf(inside: Element, sentence: string): Range | undefined {
  const walker = document.createTreeWalker(inside, NodeFilter.SHOW_TEXT);
  const places: { node: Node; at: number }[] = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { data } = node as Text;
    for (let at = 0; at < data.length; at += 1) {
      const letter = data.charAt(at);
      if (!/[\p{L}\p{N}]/u.test(letter)) continue;
      places.push({ node, at });
      text += letter.toLowerCase();
    }
  }
  const wanted = sentence.replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
  const start = text.indexOf(wanted);
  const [first, last] = [places[start], places[start + wanted.length - 1]];
  if (start < 0 || !first || !last) return undefined;
  const range = document.createRange();
  range.setStart(first.node, first.at);
  range.setEnd(last.node, last.at + 1);
  return range;
}
