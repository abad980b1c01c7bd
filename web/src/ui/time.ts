import { useEffect, useState } from "react";

/** The time, renewed every `everyMs`; stands still when `isRunning` is false. */
export function useNow(isRunning: boolean, everyMs = 1_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return now;
}

/** 0.8 s, 12 s, 3 min 20 s, 2 h 5 min, 2 d 23 h */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
// Dates are written as the reader is used to; the words around them are English.
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const HOUR = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const SECOND = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** "3 minutes ago", and the date when it is longer ago than a week. */
export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  const size = Math.abs(seconds);
  if (size < 45) return "just now";
  if (size < 3_600) return RELATIVE.format(Math.round(seconds / 60), "minute");
  if (size < 86_400) return RELATIVE.format(Math.round(seconds / 3_600), "hour");
  if (size < 7 * 86_400) return RELATIVE.format(Math.round(seconds / 86_400), "day");
  return moment(at);
}

export function moment(at: string): string {
  return MOMENT.format(new Date(at));
}

/** The whole date, with the day of the week. */
export function wholeDate(at: string): string {
  return DAY.format(new Date(at));
}

/** The time of day, to the minute. */
export function timeOfDay(at: string): string {
  return HOUR.format(new Date(at));
}

/** The time of day, to the second. */
export function exactTime(at: string | number): string {
  return SECOND.format(new Date(at));
}

const WHOLE = new Intl.NumberFormat("en");

/** 940, 12.4k */
export function count(value: number): string {
  return value < 10_000 ? WHOLE.format(value) : `${(value / 1_000).toFixed(1)}k`;
}

/** "1 advisor", "3 advisors" */
export function some(number: number, noun: string, plural = `${noun}s`): string {
  return `${WHOLE.format(number)} ${number === 1 ? noun : plural}`;
}
