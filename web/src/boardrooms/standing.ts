// How it stands with an advisor, in a word that its column and the strip above all share.

import type { Retrying, Waiting } from "../live/session";
import type { Advisor } from "./board";

export type Standing =
  | "finished"
  | "writing"
  | "thinking"
  | "asked"
  | "retrying"
  | "in line"
  | "waiting"
  | "failed"
  | "stopped";

/** In the order in which they are counted. */
const ORDER: readonly Standing[] = [
  "finished",
  "writing",
  "thinking",
  "asked",
  "retrying",
  "in line",
  "waiting",
  "failed",
  "stopped",
];

export function isRetrying(hold: Retrying | Waiting | undefined): hold is Retrying {
  return hold !== undefined && "waitMs" in hold;
}

/** `hasBegun`: words of it, or only thoughts, have come. */
export function standingOf(
  { status, text }: Pick<Advisor, "status" | "text">,
  hold: Retrying | Waiting | undefined,
  hasBegun: "words" | "thoughts" | undefined,
): Standing {
  if (status === "done") return "finished";
  if (status !== "answering") return status;
  if (hold) return isRetrying(hold) ? "retrying" : "in line";
  if (hasBegun === "words" || text !== "") return "writing";
  return hasBegun === "thoughts" ? "thinking" : "asked";
}

/** "2 finished, 1 writing, 1 in line" */
export function countsInWords(standings: readonly Standing[]): string {
  return ORDER.map((one) => [standings.filter((other) => other === one).length, one] as const)
    .filter(([number]) => number > 0)
    .map(([number, one]) => `${number} ${one}`)
    .join(", ");
}

/** Counted by eye: a word is what stands between spaces. */
export function wordsIn(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}
