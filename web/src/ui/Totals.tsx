// What a whole session took so far, each figure with what it may come to.

import type { Schemas } from "../api/client";
import { budgetParts } from "./Budget";
import { money } from "./money";
import { spentInWords } from "./Spent";
import { count } from "./time";

export interface Took {
  usage: Schemas["UsageView"];
  /** By the operator's prices; without one, as the provider says. */
  cost?: number | undefined;
  currency?: string | undefined;
  budget?: Schemas["BudgetView"] | undefined;
}

export interface Total {
  label: string;
  value: string;
  /** How it divides is told where somebody asks for it. */
  title: string;
}

/** Tokens 12,300 of 20,000, Cost $0.0210, Time 15 min limit */
export function totalsOf({ usage, cost, currency, budget }: Took): Total[] {
  const { inputTokens = 0, outputTokens = 0, costUsd } = usage;
  const limits = budget && budgetParts(budget);
  const tokens = inputTokens + outputTokens;
  const price = cost ?? costUsd;
  const title = spentInWords(usage, { cost, currency });
  const all = [
    {
      label: "Tokens",
      value: limits?.tokens ? limits.tokens.replace(/ tokens$/, "") : tokens > 0 && count(tokens),
    },
    {
      label: "Cost",
      value:
        limits?.cost ??
        (price !== undefined && money(price, cost === undefined ? "USD" : currency)),
    },
    { label: "Time", value: limits?.time },
  ];
  return all.flatMap(({ label, value }) => (value ? [{ label, value: String(value), title }] : []));
}
