// What is foreseen is said as a range, and no finer than it can be known.

import type { Schemas } from "../api/client";
import { count } from "./time";

/** "1,200–9,400", or one number when both are the same. */
export function range(of: Schemas["EstimateRange"], show: (value: number) => string): string {
  const low = show(of.low);
  const high = show(of.high);
  return low === high ? low : `${low}–${high}`;
}

/** Of tokens that are only guessed at, the last digits say nothing. */
export function roughly(value: number): string {
  return count(value < 1_000 ? Math.round(value / 10) * 10 : Math.round(value / 100) * 100);
}
