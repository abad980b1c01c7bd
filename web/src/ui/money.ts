/**
 * The currency is whatever the operator has called it; not every word is one that browsers know.
 * Of several amounts that stand together, the largest says how exact they are.
 */
export function money(value: number, currency = "USD", among = value): string {
  const digits = among !== 0 && Math.abs(among) < 0.1 ? 4 : 2;
  try {
    return new Intl.NumberFormat("en", {
      style: "currency",
      currency,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(value);
  } catch {
    return `${value.toFixed(digits)} ${currency}`;
  }
}
