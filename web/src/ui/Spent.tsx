// What a call or a whole session took, as far as the provider says, and what of it was cut off.

import type { Schemas } from "../api/client";
import { money } from "./money";
import { count } from "./time";

interface Props {
  usage: Schemas["UsageView"];
  /** By the operator's prices; without one, as the provider says. */
  cost?: number | undefined;
  currency?: string | undefined;
  className?: string;
}

/** 1,204 in (800 cached) · 312 out (96 thinking) · $0.0031 */
export function Spent({ usage, className, ...priced }: Props) {
  const words = spentInWords(usage, priced);
  if (words === "") return null;
  return (
    <span className={["number", className].filter(Boolean).join(" ")} title="Tokens and cost">
      {words}
    </span>
  );
}

export function spentInWords(
  usage: Schemas["UsageView"],
  { cost, currency }: Pick<Props, "cost" | "currency">,
): string {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens, costUsd } = usage;
  const tokens = (number: number | undefined, where: string, part: string) =>
    number === undefined ? [] : [`${count(number)} ${where}${part}`];
  const of = (number: number | undefined, what: string) =>
    number ? ` (${count(number)} ${what})` : "";
  const price = cost ?? costUsd;
  return [
    ...tokens(inputTokens, "in", of(cachedTokens, "cached")),
    ...tokens(outputTokens, "out", of(reasoningTokens, "thinking")),
    ...(price === undefined ? [] : [money(price, cost === undefined ? "USD" : currency)]),
  ].join(" · ");
}

/** Stands beneath an answer that reached a limit on its length. */
export function Cut({ of }: { of: { cut?: boolean } }) {
  return of.cut ? <p className="cut">Cut off at the length limit</p> : null;
}
