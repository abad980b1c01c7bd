// Characters that a text names, like `&nbsp;`. They become text and never markup.

const NAMED: Record<string, string> = {
  amp: "&",
  apos: "'",
  bull: "•",
  cent: "¢",
  copy: "©",
  deg: "°",
  divide: "÷",
  euro: "€",
  ge: "≥",
  gt: ">",
  harr: "↔",
  hellip: "…",
  laquo: "«",
  larr: "←",
  ldquo: "“",
  le: "≤",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  micro: "µ",
  middot: "·",
  minus: "−",
  nbsp: "\u00a0",
  ndash: "–",
  ne: "≠",
  para: "¶",
  plusmn: "±",
  pound: "£",
  quot: '"',
  raquo: "»",
  rarr: "→",
  rdquo: "”",
  reg: "®",
  rsquo: "’",
  sect: "§",
  thinsp: "\u2009",
  times: "×",
  trade: "™",
  yen: "¥",
};

export function named(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{2,8}));/g,
    (whole, ...found) => {
      const [decimal, hex, name] = found as (string | undefined)[];
      if (name !== undefined) return NAMED[name] ?? whole;
      return character(decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal));
    },
  );
}

/** What stands for nothing stands for the sign of that. */
function character(code: number): string {
  const isNothing = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return isNothing ? "\ufffd" : String.fromCodePoint(code);
}
