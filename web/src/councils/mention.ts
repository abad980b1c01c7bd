// Who is being named while somebody types `@…`.

export interface Mention {
  /** Where the `@` is. */
  start: number;
  /** Behind the last letter. */
  end: number;
  written: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/;

/** The mention that the caret stands in, if any. The `@` of an address is none. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret);
  const start = before.search(/@[A-Za-z0-9._-]*$/);
  if (start < 0) return undefined;
  if (/[\p{L}\p{N}@/`]$/u.test(before.slice(0, start))) return undefined;
  const written = before.slice(start + 1);
  if (written !== "" && !NAME.test(written)) return undefined;
  const rest = /^[A-Za-z0-9._@-]*/.exec(text.slice(caret))?.[0] ?? "";
  return { start, end: caret + rest.length, written };
}

/** Names that begin with what is written come first, then those that have it somewhere. */
export function matching(names: readonly string[], written: string): string[] {
  const wanted = written.toLowerCase();
  const places = names.map((name) => ({ name, place: name.toLowerCase().indexOf(wanted) }));
  const found = places.filter(({ place }) => place >= 0);
  const begins = found.filter(({ place }) => place === 0);
  const has = found.filter(({ place }) => place > 0);
  return [...begins, ...has].map(({ name }) => name);
}

/** The text with the name in place of what was written, and where the caret goes. */
export function named(
  text: string,
  mention: Mention,
  name: string,
): { text: string; caret: number } {
  const after = text.slice(mention.end);
  const space = /^\s/.test(after) ? "" : " ";
  const caret = mention.start + 1 + name.length + 1;
  return { text: `${text.slice(0, mention.start)}@${name}${space}${after}`, caret };
}
