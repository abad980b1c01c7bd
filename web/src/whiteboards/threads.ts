// What was said about a post, as threads: answers stand under the challenge that they answer.

import type { Annotation } from "./board";

export interface Thread {
  head: Annotation;
  answers: Annotation[];
}

/** In the order in which they began. An answer whose challenge is not shown stands alone. */
export function threads(annotations: readonly Annotation[]): Thread[] {
  const heads = new Map<string, Thread>();
  const all: Thread[] = [];
  for (const annotation of annotations) {
    const thread = annotation.challengeId ? heads.get(annotation.challengeId) : undefined;
    if (thread) {
      thread.answers.push(annotation);
      continue;
    }
    const begun = { head: annotation, answers: [] };
    heads.set(annotation.annotationId, begun);
    all.push(begun);
  }
  return all;
}

/** How a challenge stands: what settled it, or that its challenger took it back. */
export function challengeState({ head, answers }: Thread): "open" | "settled" | "withdrawn" {
  if (head.open) return "open";
  return answers.some((answer) => answer.type === "resolution") ? "settled" : "withdrawn";
}
