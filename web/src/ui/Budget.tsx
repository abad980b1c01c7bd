// What a session may spend: as it is filled in, and what of it is gone.

import type { Schemas } from "../api/client";
import { useModels } from "../api/known";
import { TextField } from "./Field";
import { money } from "./money";
import { duration } from "./time";

/** As it is filled in; what is empty has no limit. */
export interface Allowance {
  tokens: string;
  cost: string;
  seconds: string;
}

export const NO_LIMIT: Allowance = { tokens: "", cost: "", seconds: "" };

/** What a budget is, as a form has it. */
export function allowanceOf(budget: Schemas["AllowanceView"] = {}): Allowance {
  const text = (amount: number | undefined) => (amount === undefined ? "" : String(amount));
  return { tokens: text(budget.tokens), cost: text(budget.cost), seconds: text(budget.seconds) };
}

/** As the server takes it; `undefined` where nothing is limited. */
export function budgetOf(allowance = NO_LIMIT): Schemas["NewBudget"] | undefined {
  const tokens = number(allowance.tokens);
  const cost = number(allowance.cost);
  const seconds = number(allowance.seconds);
  if (tokens === undefined && cost === undefined && seconds === undefined) return undefined;
  return {
    ...(tokens !== undefined && { tokens: Math.round(tokens) }),
    ...(cost !== undefined && { cost }),
    ...(seconds !== undefined && { seconds: Math.round(seconds) }),
  };
}

/** What is wrong with an amount, before a server could say it. */
export function wrongAmount(text: string | undefined): string | undefined {
  const value = number(text ?? "");
  return value !== undefined && value <= 0 ? "Enter a number above 0" : undefined;
}

/** People write 20,000 and 20 000. What is no number goes as nothing to spend, which is refused. */
function number(text: string): number | undefined {
  const plain = text.replace(/[\s,]/g, "");
  if (plain === "") return undefined;
  return Number.isFinite(Number(plain)) ? Math.max(0, Number(plain)) : 0;
}

interface Props {
  value: Allowance | undefined;
  /** What is wrong, by the server's names: `budget.tokens`. */
  wrong: (field: string) => string | undefined;
  hint: string;
  /** Not every session has an end to which it could be held. */
  hasTime?: boolean;
  onChange: (value: Allowance) => void;
}

export function BudgetFields({ value = NO_LIMIT, wrong, hint, hasTime = true, onChange }: Props) {
  const currency = useModels().data?.find((model) => model.price)?.price?.currency;
  const field = (name: keyof Allowance, label: string, wire: string) => (
    <TextField
      label={label}
      inputMode="decimal"
      placeholder="No limit"
      value={value[name]}
      wrong={wrong(wire)}
      onChange={(event) => onChange({ ...value, [name]: event.target.value })}
    />
  );
  const problem = wrong("budget");
  return (
    <fieldset className="budget">
      <legend className="legend">Budget</legend>
      <div className="budget-fields">
        {field("tokens", "Tokens", "budget.tokens")}
        {(currency !== undefined || value.cost !== "") &&
          field("cost", currency === undefined ? "Cost" : `Cost (${currency})`, "budget.cost")}
        {hasTime && field("seconds", "Time (s)", "budget.seconds")}
      </div>
      <p className="muted small">{hint}</p>
      {problem !== undefined && (
        <p className="wrong" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

const WHOLE = new Intl.NumberFormat("en");

/** What of each limit is spent; a part is absent where there is no limit. */
export function budgetParts(budget: Schemas["BudgetView"]) {
  const { tokens, spentTokens, cost, spentCost = 0, seconds, currency, timeOver } = budget;
  return {
    tokens: tokens && `${WHOLE.format(spentTokens)} of ${WHOLE.format(tokens)} tokens`,
    cost: cost && `${money(spentCost, currency)} of ${money(cost, currency)}`,
    time:
      seconds &&
      (timeOver ? "time is up" : `${duration(seconds * 1_000).replace(/ 0 s$/, "")} limit`),
  };
}

/** Of the limit that is nearest: what is spent, and what is kept for calls under way. */
export function budgetShares(budget: Schemas["BudgetView"]) {
  const { tokens, spentTokens, reservedTokens = 0, cost, spentCost = 0, reservedCost = 0 } = budget;
  const shares = [
    ...(tokens ? [{ spent: spentTokens / tokens, reserved: reservedTokens / tokens }] : []),
    ...(cost ? [{ spent: spentCost / cost, reserved: reservedCost / cost }] : []),
  ];
  const taken = (one: (typeof shares)[number]) => one.spent + one.reserved;
  return shares.sort((one, other) => taken(other) - taken(one))[0];
}

/** 12,300 of 20,000 tokens · $0.12 of $0.50 · 15 min limit */
export function budgetInWords(budget: Schemas["BudgetView"]): string {
  const { tokens, cost, time } = budgetParts(budget);
  return [tokens, cost, time].filter(Boolean).join(" · ");
}
