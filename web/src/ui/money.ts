/** The currency is whatever the operator has called it; not every word is one that browsers know. */
export function money(value: number, currency = "USD"): string {
  const digits = value !== 0 && Math.abs(value) < 0.1 ? 4 : 2;
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
