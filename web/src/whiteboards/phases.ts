// The six phases in words: who sees what, who can do what, and what a move brings.
// The server keeps the rules; these only explain them.

import type { Schemas } from "../api/client";

export type Phase = Schemas["PhaseName"];
type Visibility = Schemas["VisibilityName"];

export const PHASES: readonly Phase[] = [
  "blind",
  "read",
  "validate",
  "debate",
  "resolve",
  "archived",
];

const NAMES: Record<Phase, string> = {
  blind: "Blind",
  read: "Read",
  validate: "Validate",
  debate: "Debate",
  resolve: "Resolve",
  archived: "Archived",
};

export function phaseName(phase: Phase): string {
  return NAMES[phase];
}

/** Where a board may go from here, the ordinary way first. */
export const WAYS_ON: Record<Phase, readonly Phase[]> = {
  blind: ["read"],
  read: ["validate", "debate"],
  validate: ["debate", "resolve"],
  debate: ["resolve"],
  resolve: ["archived"],
  archived: [],
};

export function canBeJoined(phase: Phase): boolean {
  return phase !== "resolve" && phase !== "archived";
}

/** The phase that going from one to the other leaves out. */
export function skipped(from: Phase, to: Phase): Phase | undefined {
  const between = PHASES.slice(PHASES.indexOf(from) + 1, PHASES.indexOf(to));
  return between[0];
}

interface Words {
  /** One line under the name. */
  motto: string;
  sees: string;
  does: string;
}

export function words(phase: Phase, debate: Visibility): Words {
  switch (phase) {
    case "blind":
      return {
        motto: "Everyone writes before they know what others think",
        sees: "Participants see only their own posts. Facilitators and operators also see who has posted, but not what.",
        does: "Everyone who has joined can post proposals, claims, concerns and information.",
      };
    case "read":
      return {
        motto: "All posts are visible",
        sees: "Everyone sees all posts, who wrote them, and where they conflict.",
        does: "Read. Nothing is added in this phase, but people can still join.",
      };
    case "validate":
      return {
        motto: "Others check what was claimed",
        sees: "Everyone sees all posts, and each validation as it is made.",
        does: "Check the posts of others: confirmed, refuted or inconclusive. A refuted post is excluded from the decision.",
      };
    case "debate":
      return {
        motto: "Challenge, answer, vote",
        sees:
          debate === "full"
            ? "Everyone sees all posts, challenges, answers and votes."
            : "Everyone sees all posts. You see challenges, answers and votes on your own posts and where you took part; the rest when the board moves to resolve.",
        does: "Challenge or corroborate the posts of others, answer for your own, vote, and add information.",
      };
    case "resolve":
      return {
        motto: "Open challenges are settled",
        sees: "Everyone sees everything, all votes included.",
        does: "Settle the challenges that are still open.",
      };
    case "archived":
      return {
        motto: "Closed, and on record",
        sees: "Everyone sees everything.",
        does: "Read and export. Nothing can be changed.",
      };
  }
}

/** What a move to this phase shows to everybody that they did not see before. */
export function becomesVisible(from: Phase, to: Phase, debate: Visibility): string[] {
  const hidden = debate !== "full";
  switch (to) {
    case "blind":
      return [];
    case "read":
      return [
        "All posts, with their authors",
        "Everyone who has joined",
        "Conflicts between posts",
      ];
    case "validate":
      return ["Each validation, as soon as it is made"];
    case "debate":
      return hidden
        ? ["Challenges, answers and votes, for those who take part in a post"]
        : ["Each challenge, answer and vote, as soon as it is made"];
    case "resolve":
      return hidden && from === "debate"
        ? ["All challenges, answers and votes, including those hidden until now"]
        : ["Each resolution, as soon as it is made"];
    case "archived":
      return ["The decision record, for everyone"];
  }
}

/** What can no longer be done after it. There is no way back. */
export function ends(from: Phase, to: Phase): string[] {
  const gone: string[] = [];
  if (from === "blind") gone.push("New proposals, claims and concerns");
  if (from === "validate" || skipped(from, to) === "validate") gone.push("Validations");
  if (to === "resolve") gone.push("Joining, posting, challenging and voting");
  if (to === "archived") gone.push("All changes");
  return gone;
}
