// What models say in stories, by what they are asked for.

import type { Rule } from "./programs";

/** Words of our prompts by which a request is known. */
const ASKED = {
  verdict: "You are the neutral secretary of a board",
  ballot: "Vote now on each numbered point",
  decision: "Answer with one JSON object",
  conclusion: "Write the conclusion of this discussion now",
  turn: "You take part in a discussion of several",
  council: "a member of a council",
};

const ROLES = {
  advocate: "as the Advocate",
  critic: "as the Critic",
  analyst: "as the Analyst",
  "devils-advocate": "as the Devil's Advocate",
  expert: "as the Expert",
  generalist: "as the Generalist",
};

export type Role = keyof typeof ROLES;

/** For one advisor of a board, whatever its model. */
export function advisor(role: Role, rule: Rule): Rule {
  return { ...rule, when: { contains: ["You sit on a board of advisors", ROLES[role]] } };
}

export function anyAdvisor(rule: Rule): Rule {
  return { ...rule, when: { contains: ["You sit on a board of advisors"] } };
}

export function verdict(rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.verdict] } };
}

/** For a verdict that was asked for with this instruction. */
export function verdictTold(instruction: string, rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.verdict, instruction] } };
}

/** Stands before the rules of advisors, because a ballot goes to them as well. Without a
 * text, votes are made up that differ by role. */
export function ballot(rule: Rule = {}): Rule {
  return { ...rule, when: { contains: [ASKED.ballot] } };
}

export function decision(rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.decision] } };
}

export function conclusion(rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.conclusion] } };
}

export function turn(rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.turn] } };
}

export function member(rule: Rule): Rule {
  return { ...rule, when: { contains: [ASKED.council] } };
}

export function sections(recommendation: string, divergence = "- None that matters."): string {
  return [
    "## Consensus\n\nThe advisors would begin, in steps that can be taken back.",
    "## Points of Agreement\n\n- The goal is worth the effort.\n- The first step is cheap.",
    `## Points of Divergence\n\n${divergence}`,
    `## Recommendation\n\n${recommendation}`,
  ].join("\n\n");
}

export const ADVOCATE =
  "The case for it is strong. It saves **two hours** a week for everybody who ships.\n\n- Less waiting\n- Fewer mistakes\n\nBegin with one team.";
export const CRITIC =
  "The cost is *understated*. Nobody has run it at night.\n\n1. Who is on call?\n2. What is the way back?\n\nI would wait for a trial.";
export const ANALYST =
  "It turns on one number: how often it fails.\n\n| Option | Failures per month |\n|---|---:|\n| As now | 4 |\n| With it | 1 |\n\nThe balance is in favour.";

/** The operator's prices for the models of stories. */
export const PRICES = ["alpha", "beta", "gamma", "delta"]
  .map((model) => `[prices."ollama/${model}"]\ninput = 20\noutput = 60\n`)
  .join("\n");
