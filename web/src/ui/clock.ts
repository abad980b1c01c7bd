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
  return (at) => {
    let worked = 0;
    let until = -Infinity;
    for (const { from, to } of spans) {
      worked += Math.max(0, Math.min(to, at) - Math.max(from, until));
      until = Math.max(until, to);
    }
    return worked;
  };
}
