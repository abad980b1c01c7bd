// "@critic …" at the beginning of a follow-up: who of the board is asked.

import type { Advisor } from "./board";

/** What is written after the @ to mean an advisor: `critic`, `critic-2`, `devils-advocate`. */
export function handle(advisor: Pick<Advisor, "name">): string {
  return advisor.name
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-");
}

const MENTION = /^@([\p{L}\p{N}-]+)[\s,:]*/u;

/** Those that it begins with, none for everybody; and the question without them. */
export function addressed<A extends Pick<Advisor, "name" | "role" | "ownRole">>(
  text: string,
  advisors: readonly A[],
): { asked: A[]; question: string } {
  const names = new Set<string>();
  let question = text.trim();
  for (;;) {
    const first = MENTION.exec(question);
    if (!first) break;
    names.add(first[1]?.toLowerCase() ?? "");
    question = question.slice(first[0].length);
  }
  // A role names all who share it.
  const asked = advisors.filter(
    (one) => names.has(handle(one)) || (!one.ownRole && names.has(one.role)),
  );
  return { asked, question };
}

/** A name that has been begun where the text only has names so far: `cri` of "@expert @cri". */
export function begun(text: string): string | undefined {
  return /^\s*(?:@[\p{L}\p{N}-]+[\s,:]+)*@([\p{L}\p{N}-]*)$/u.exec(text)?.[1]?.toLowerCase();
}
