// Prices as they are typed and as the server takes them.

import type { Schemas } from "../api/client";

export type Price = Schemas["NewPrice"];
export type Prices = Record<string, Price>;

/** An amount of money as somebody types it; a comma may stand for the point. */
export function amountOf(typed: string): number | undefined {
  const text = typed.trim().replace(",", ".");
  return /^\d+(\.\d*)?$|^\.\d+$/.test(text) ? Number(text) : undefined;
}

/** The prices with this one, or without it: the server takes all of them at once. */
export function withPrice(prices: Prices, model: string, price: Price | undefined): Prices {
  const { [model]: _, ...others } = prices;
  return price === undefined ? others : { ...others, [model]: price };
}

const SOURCES: Record<Schemas["KnownFrom"], string> = {
  settings: "Yours",
  embedded: "Free, on this machine",
  provider: "Provider",
  import: "Imported list",
};

export function sourceOf(source: Schemas["KnownFrom"]): string {
  return SOURCES[source];
}
