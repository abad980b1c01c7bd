// What a whole session took so far, each figure with what it may come to.

import type { Schemas } from "../api/client";
import { budgetParts } from "./Budget";
import { money } from "./money";
import { spentInWords } from "./Spent";
import { count } from "./time";

interface Props {
  usage: Schemas["UsageView"];
  /** By the operator's prices; without one, as the provider says. */
  cost?: number | undefined;
  currency?: string | undefined;
  budget?: Schemas["BudgetView"] | undefined;
}

/** How it divides is told where somebody asks for it. */
export function Totals(props: Props) {
  const all = totals(props);
  const { usage, cost, currency } = props;
  return all.map((one) => (
    <span key={one} className="number" title={spentInWords(usage, { cost, currency })}>
      {one}
    </span>
  ));
}

/** 12,300 of 20,000 tokens, $0.0210, at most 15 min */
export function totals({ usage, cost, currency, budget }: Props): string[] {
  const { inputTokens = 0, outputTokens = 0, costUsd } = usage;
  const limits = budget && budgetParts(budget);
  const tokens = inputTokens + outputTokens;
  const price = cost ?? costUsd;
  const spent = [
    limits?.tokens ?? (tokens > 0 ? `${count(tokens)} tokens` : undefined),
    limits?.cost ??
      (price === undefined ? undefined : money(price, cost === undefined ? "USD" : currency)),
    limits?.time,
  ];
  return spent.flatMap((one) => one || []);
}
