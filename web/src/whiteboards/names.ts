// What boards and the people on them may be called.

const BOARD_ID_WANTED = 48;

export const BOARD_ID_RULE =
  "Lowercase letters, digits, dots, dashes and underscores, at most 80, starting with a letter or digit. This is the board's address: it cannot be changed or reused.";

export const NAME_RULE = "Letters, digits, dots, dashes, underscores and @; no spaces.";

/** `Mkdocs or mdBook?` → `mkdocs-or-mdbook`. A long topic gives its first words. */
export function boardIdFrom(topic: string): string {
  const words = plainLetters(topic)
    .toLowerCase()
    .replace(/['’]/g, "")
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  let id = "";
  for (const word of words) {
    const longer = id === "" ? word : `${id}-${word}`;
    if (longer.length > BOARD_ID_WANTED) break;
    id = longer;
  }
  return id || (words[0]?.slice(0, BOARD_ID_WANTED) ?? "");
}

/** As the server takes it: what is a name already, or one that is made from it. */
export function roomName(text: string): string {
  const name = text.trim();
  return /^[a-z0-9][a-z0-9._-]{0,79}$/.test(name) ? name : boardIdFrom(name);
}

/** What a room will be called, where that is not what was typed. */
export function roomNameHint(text: string, rule: string): string {
  const name = roomName(text);
  if (text.trim() === "" || name === text) return rule;
  return name === "" ? "Use at least one Latin letter or digit." : `It will be called ${name}.`;
}

/** What is wrong with somebody's name, with one that would do. Nothing while it is empty. */
export function nameProblem(name: string): string | undefined {
  if (name === "" || /^[A-Za-z0-9][A-Za-z0-9._@-]{0,79}$/.test(name)) return undefined;
  const near = plainLetters(name.trim())
    .replace(/['’]/g, "")
    .replace(/[^A-Za-z0-9._@-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|-+$/g, "")
    .slice(0, 80);
  return near === "" ? NAME_RULE : `${NAME_RULE} ${near} would work.`;
}

function plainLetters(text: string): string {
  return text.normalize("NFKD").replace(/\p{Mark}/gu, "");
}
