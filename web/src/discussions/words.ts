// The words of a discussion on screen.

import type { Schemas } from "../api/client";

export type View = Schemas["DiscussionView"];
export type Seat = Schemas["DiscussionSeat"];
export type Step = Schemas["DiscussionStep"];
export type Entry = Schemas["TranscriptEntry"];
export type Decision = Schemas["DecisionView"];
export type Role = Schemas["DiscussionRole"];
export type Format = Schemas["DiscussionFormat"];
export type Tier = Schemas["TierName"];

export const FORMATS: Record<Format, string> = {
  brainstorm: "Brainstorm",
  review: "Review",
  deliberation: "Deliberation",
};

/** What everybody is told of a format, without its name in front. */
export function formatWords(instruction: string): string {
  const words = instruction.replace(/^This is an? \w+: /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const ROLES: Record<string, string> = {
  participant: "Participant",
  observer: "Observer",
  devil_advocate: "Devil’s advocate",
  moderator: "Facilitator",
  person: "Person",
};

export function roleName(role: string): string {
  return ROLES[role] ?? role;
}

export const SEAT_ROLES: readonly Role[] = ["participant", "devil_advocate", "observer"];

export const TIERS: Record<Tier, string> = {
  fast: "Fast",
  balanced: "Balanced",
  strong: "Strong",
};

const FAILURES: Record<Schemas["FailureName"], string> = {
  timedOut: "timed out",
  idle: "stopped mid-answer",
  refused: "was refused by the provider",
  rateLimited: "hit the provider’s rate limit",
  outOfCredit: "could not answer: the provider account is out of credit",
  outOfBudget: "could not be asked: out of budget",
  promptTooLong: "could not be asked: the prompt is too long for the model",
  tooLong: "hit a length limit",
  empty: "returned an empty answer",
  misconfigured: "is not set up correctly",
  unreachable: "could not be reached, or the connection was lost",
  providerError: "could not answer: the provider returned an error",
  malformed: "gave an answer that was not in the expected format",
  internal: "could not be asked: Plenary hit an internal error",
};

/** "Skeptic timed out." */
export function failureSentence(name: string, failure: Schemas["FailureView"]): string {
  return `${name} ${FAILURES[failure.kind]}.`;
}

/** What a facilitator's answer became, where that is worth saying. */
export const HOW: Record<Exclude<Decision["how"], "parsed">, { word: string; meaning: string }> = {
  repaired: {
    word: "Repaired",
    meaning: "The reply was not quite in the expected format and was repaired.",
  },
  fallback: {
    word: "Next in turn",
    meaning: "The reply could not be used, so the next in turn speaks.",
  },
  rule: { word: "By rule", meaning: "No rounds or budget were left." },
  person: { word: "By a person", meaning: "A person decided." },
};

/** What somebody is doing now. */
export function doing(kind: Step["kind"]): string {
  switch (kind) {
    case "opening":
      return "is choosing who speaks first";
    case "turn":
      return "is speaking";
    case "evaluation":
      return "is deciding what comes next";
    case "synthesis":
      return "is writing the conclusion";
  }
}

/** A first line that is short enough for a heading. */
export function headline(topic: string, name: string): string {
  const trimmed = topic.trim();
  return trimmed.length <= HEADLINE_CHARS && !trimmed.includes("\n") ? trimmed : name;
}

const HEADLINE_CHARS = 180;

/** Somebody said something, or was to. */
export function isSpoken(entry: Entry): boolean {
  return entry.kind === "turn" || entry.kind === "interjection";
}
