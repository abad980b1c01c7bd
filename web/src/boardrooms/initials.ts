// Two letters for every advisor of a board, no two alike.

/** Ad, Cr, An, Da: the first two letters of one word, the first of each of several. */
function first(name: string): string {
  const words = name
    .replace(/['’]/g, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
  const [one = "?", other] = words;
  const letters =
    other === undefined ? [...one].slice(0, 2).join("") : `${[...one][0]}${[...other][0]}`;
  return letters.charAt(0).toUpperCase() + letters.slice(1).toLowerCase();
}

/** Each name's letters; where two would be alike, the later one gets another second letter. */
export function initials(
  names: readonly string[],
  given: readonly (string | undefined)[] = [],
): string[] {
  const taken = new Set(given.filter((one) => one !== undefined));
  const used = new Set<string>();
  return names.map((name, place) => {
    const own = given[place];
    // Two seats may share a role of somebody's own.
    if (own !== undefined && !used.has(own)) {
      used.add(own);
      return own;
    }
    const usual = first(name);
    const head = usual.charAt(0);
    const letters = [...name.toLowerCase()].filter((one) => /[\p{L}\p{N}]/u.test(one)).slice(1);
    const digits = Array.from({ length: 9 }, (_, place) => String(place + 1));
    const choice = [usual, ...[...letters, ...digits].map((one) => head + one)];
    const found = choice.find((one) => !taken.has(one)) ?? usual;
    taken.add(found);
    return found;
  });
}
