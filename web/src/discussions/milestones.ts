// Says once what happened, for whoever listens to the page: whose turn it is, which round
// it is, and how it ended.

import type { View } from "./words";

/** What is new in the second view, in words; empty when nothing is. */
export function milestones(before: View, now: View): string {
  const news: string[] = [];
  if (now.status !== before.status) {
    const word = STATUSES[now.status];
    if (word !== undefined) news.push(word);
  }
  const runs = now.status === "active" || now.status === "pausing";
  if (runs && now.round !== before.round) news.push(`Round ${now.round} of ${now.maxRounds}.`);
  const { step } = now;
  const isNewStep = step?.callId !== before.step?.callId || now.status !== before.status;
  if (runs && step && isNewStep) {
    if (step.waitsForPerson) news.push(`It is ${step.name}’s turn.`);
    else if (step.kind === "turn") news.push(`${step.name} is speaking.`);
    else if (step.kind === "synthesis") news.push(`${step.name} is writing the conclusion.`);
  }
  return news.join(" ");
}

const STATUSES: Partial<Record<View["status"], string>> = {
  pausing: "Pausing after this turn.",
  paused: "Paused.",
  stopped: "Stopped.",
  failed: "The discussion has failed.",
  concluded: "The discussion has concluded.",
};
