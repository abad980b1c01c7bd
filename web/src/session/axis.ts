// The axis of a map of times.

const STEPS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];

/** Where the axis has its marks: whole steps, four at most. */
export function ticks(lengthMs: number): number[] {
  const step = (STEPS_S.find((one) => lengthMs / (one * 1_000) <= 4) ?? 86_400 * 7) * 1_000;
  const marks: number[] = [];
  // The last mark leaves room for its words.
  for (let at = 0; at <= lengthMs * 0.9; at += step) marks.push(at);
  return marks;
}

/** 20 s, 5 min, 2 h: marks stand at whole steps. */
export function tickInWords(ms: number): string {
  if (ms === 0) return "0";
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
}
