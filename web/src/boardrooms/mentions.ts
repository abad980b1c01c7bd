// "@critic" in a follow-up: who of the board is meant.

import type { Advisor } from "./board";

/** What is written after the @ to mean an advisor: `critic`, `critic-2`, `devils-advocate`. */
export function handle(advisor: Pick<Advisor, "name">): string {
  return advisor.name
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-");
}

const MENTION = /(^|[\s(])@([\p{L}\p{N}-]+)/gu;

/** Those that are named; none means everybody. A role names all who share it. */
export function mentioned<A extends Pick<Advisor, "name" | "role">>(
  text: string,
  advisors: readonly A[],
): A[] {
  const named = new Set([...text.matchAll(MENTION)].map((match) => match[2]?.toLowerCase() ?? ""));
  return advisors.filter((advisor) => named.has(handle(advisor)) || named.has(advisor.role));
}

/** The question without the names that it begins with. */
export function unaddressed(text: string, advisors: readonly Pick<Advisor, "name" | "role">[]) {
  let rest = text.trim();
  for (;;) {
    const first = /^@([\p{L}\p{N}-]+)[\s,:]*/u.exec(rest);
    if (!first || mentioned(first[0], advisors).length === 0) return rest;
    rest = rest.slice(first[0].length);
  }
}

/** A name that has been begun at the end of the text: `cri` of "and @cri". */
export function begun(text: string): string | undefined {
  return /(?:^|[\s(])@([\p{L}\p{N}-]*)$/u.exec(text)?.[1]?.toLowerCase();
}
