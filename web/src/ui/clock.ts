/** What was under way from when until when; still, where it has no end. */
export interface Timed {
  startedAt?: string | undefined;
  endedAt?: string | undefined;
}

/**
 * A clock that stands still while none of these is under way: it tells how long there was work
 * until a moment. What is taken up again an hour later was not worked on for an hour.
 */
export function clock(timed: readonly Timed[], now: number): (at: number) => number {
  const spans = timed
    .flatMap(({ startedAt, endedAt }) =>
      startedAt === undefined
        ? []
        : [{ from: Date.parse(startedAt), to: endedAt === undefined ? now : Date.parse(endedAt) }],
    )
    .sort((a, b) => a.from - b.from);
  // One after the other, without what overlaps, each with what was worked before it.
  const merged: { from: number; to: number; before: number }[] = [];
  for (const { from, to } of spans) {
    const last = merged.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else merged.push({ from, to, before: last ? last.before + last.to - last.from : 0 });
  }
  return (at) => {
    let [low, high] = [0, merged.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((merged[middle]?.from ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const span = merged[low - 1];
    return span ? span.before + Math.max(0, Math.min(span.to, at) - span.from) : 0;
  };
}
