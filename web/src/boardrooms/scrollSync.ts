// Scrolling one panel brings the others to the same heading. Only the panel under a person's
// hand leads; what a panel is moved by this, or by text that arrives, moves no other.

/** A place in a text: so far between two headings. */
interface Place {
  heading: string;
  ordinal: number;
  /** From 0 at this heading to 1 at the next. */
  between: number;
}

interface Mark {
  text: string;
  top: number;
}

const HAND_MS = 1_000;

export class ScrollSync {
  isOn = false;
  private panels = new Set<HTMLElement>();
  private leader: HTMLElement | undefined;
  private until = 0;
  private frame = 0;

  /** Calls what it returns when the panel goes. */
  add(panel: HTMLElement): () => void {
    const lead = () => {
      this.leader = panel;
      this.until = performance.now() + HAND_MS;
    };
    const scrolled = () => {
      if (!this.isOn || this.leader !== panel || performance.now() > this.until) return;
      this.until = performance.now() + HAND_MS;
      this.frame ||= requestAnimationFrame(() => {
        this.frame = 0;
        this.lead(panel);
      });
    };
    const hands = ["wheel", "touchmove", "pointerdown", "keydown"] as const;
    for (const hand of hands) panel.addEventListener(hand, lead, { passive: true });
    panel.addEventListener("scroll", scrolled, { passive: true });
    this.panels.add(panel);
    return () => {
      this.panels.delete(panel);
      for (const hand of hands) panel.removeEventListener(hand, lead);
      panel.removeEventListener("scroll", scrolled);
    };
  }

  /** A panel moves by itself, because text has arrived: it leads nobody. */
  movesItself(panel: HTMLElement): void {
    if (this.leader === panel) this.leader = undefined;
  }

  private lead(leader: HTMLElement): void {
    // All reads stand before all writes, so that the layout is worked out once.
    const marks = marksOf(leader);
    const top = leader.scrollTop;
    const moves = [...this.panels]
      .filter((panel) => panel !== leader && panel.offsetParent !== null)
      .map((panel) => ({ panel, to: matching(top, leader, marks, panel) }));
    for (const { panel, to } of moves) panel.scrollTop = to;
  }
}

/** The headings of a panel, as far as they are blocks of their own. */
function marksOf(panel: HTMLElement): Mark[] {
  const headings = panel.querySelectorAll<HTMLElement>(".block > :is(h2, h3, h4, h5, h6)");
  return [...headings].map((heading) => ({
    text: plain(heading.textContent ?? ""),
    // Of the block, not of what is in it: a block out of sight is not laid out inside.
    top: heading.parentElement?.offsetTop ?? 0,
  }));
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function matching(top: number, leader: HTMLElement, marks: Mark[], other: HTMLElement): number {
  const most = leader.scrollHeight - leader.clientHeight;
  const mostThere = other.scrollHeight - other.clientHeight;
  if (top >= most - 1) return mostThere;
  return (
    sameHeading(placeOf(top, marks, most), marksOf(other), mostThere) ??
    (most > 0 ? (top / most) * mostThere : 0)
  );
}

/** Where a text stands; `undefined` above its first heading. */
export function placeOf(top: number, marks: readonly Mark[], most: number): Place | undefined {
  const ordinal = marks.findLastIndex((mark) => mark.top <= top + 1);
  const mark = marks[ordinal];
  if (!mark) return undefined;
  const next = Math.min(marks[ordinal + 1]?.top ?? most, Math.max(most, mark.top));
  const length = next - mark.top;
  const between = length > 0 ? Math.min(1, Math.max(0, (top - mark.top) / length)) : 0;
  return { heading: mark.text, ordinal, between };
}

/** The same place in another text: by the heading's words, else by its number. */
export function sameHeading(
  place: Place | undefined,
  marks: readonly Mark[],
  most: number,
): number | undefined {
  if (!place) return undefined;
  const byWords = marks.findIndex((mark) => mark.text === place.heading);
  const at = byWords >= 0 ? byWords : place.ordinal;
  const mark = marks[at];
  if (!mark) return undefined;
  const next = Math.min(marks[at + 1]?.top ?? most, Math.max(most, mark.top));
  return Math.min(most, mark.top + place.between * Math.max(0, next - mark.top));
}
