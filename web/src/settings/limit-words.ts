// Limits in words and in units that people use.

import type { Schemas } from "../api/client";

export type Limit = Schemas["LimitView"];

const WHOLE = new Intl.NumberFormat("en");

/** "up to 64 kB", "1 to 50, by default 5", "at least 1,000 tokens" */
export function range({ unit, least, most, usual }: Limit): string {
  const isFromNothing = least === 0 || (least === 1 && unit !== "count");
  const words =
    most === undefined
      ? `at least ${amount(least, unit)}`
      : isFromNothing
        ? `up to ${amount(most, unit)}`
        : `${span(least, most, unit)}`;
  return usual === undefined ? words : `${words}, by default ${amount(usual, unit)}`;
}

/** The unit once, where both have the same. */
function span(least: number, most: number, unit: Limit["unit"]): string {
  const from = amount(least, unit);
  const to = amount(most, unit);
  const [, fromUnit] = parts(from);
  const [, toUnit] = parts(to);
  return fromUnit === toUnit ? `${parts(from)[0]} to ${to}` : `${from} to ${to}`;
}

function parts(words: string): [string, string] {
  const space = words.indexOf(" ");
  return space < 0 ? [words, ""] : [words.slice(0, space), words.slice(space)];
}

const SIZES = [
  ["MB", 1_048_576],
  ["kB", 1_024],
] as const;

const TIMES = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

export function amount(value: number, unit: Limit["unit"]): string {
  if (unit === "count") return WHOLE.format(value);
  if (unit === "bytes") {
    const size = SIZES.find(([, bytes]) => value >= bytes && value % bytes === 0);
    return size ? `${WHOLE.format(value / size[1])} ${size[0]}` : plural(value, "byte");
  }
  if (unit === "seconds") {
    const time = TIMES.find(([, seconds]) => value >= seconds && value % seconds === 0);
    return time ? plural(value / time[1], time[0]) : plural(value, "second");
  }
  return plural(value, unit.replace(/s$/, ""));
}

function plural(value: number, noun: string): string {
  return `${WHOLE.format(value)} ${noun}${value === 1 ? "" : "s"}`;
}
