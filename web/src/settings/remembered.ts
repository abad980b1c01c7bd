// Stored in this browser, in groups that mean something to whoever made it do so.

import { remembered } from "../stored";
import { some } from "../ui/time";

export interface Remembered {
  title: string;
  /** What of it there is. */
  found: string;
  names: string[];
  /** What is lost with it, where that is more than comfort. */
  warning?: string;
}

interface Group {
  title: string;
  holds: (name: string) => boolean;
  found: (names: string[]) => string;
  warning?: string;
}

/** Under which words were sent whose answer got lost; they are there as well. */
const KEY = /^key\./;

/** Where the pages keep what is being written until it is sent. */
const UNSENT: readonly RegExp[] = [
  /^home\.prompt$/,
  /^board\.draft$/,
  /^discussion-draft$/,
  /^(reply|ballot|follow-up|turn|interjection|approval|cancelling)\./,
  /^council-(new$|draft\.|summary\.|edit\.)/,
  /^(agent-draft|board-form)\./,
  /^draft\.whiteboard/,
  /^workflow-draft\./,
  KEY,
];

const GROUPS: readonly Group[] = [
  {
    title: "Who you are on whiteboards",
    holds: (name) => name.startsWith("whiteboard."),
    found: (names) => names.map(onWhiteboard).join("; "),
    warning:
      "The tokens of these agents are stored only here. Without them, no one can act as these agents again.",
  },
  {
    title: "Who you are in councils",
    holds: (name) => /^council-(tokens|name)\./.test(name),
    found: (names) => some(new Set(names.map((name) => name.split(".")[1])).size, "council"),
    warning:
      "The tokens for these names are stored only here. Without them, no one can post under these names again.",
  },
  {
    title: "Your usual name",
    holds: (name) => name === "my-name",
    found: (names) => [...new Set(names.map((name) => String(remembered(name, ""))))].join(", "),
  },
  {
    title: "Defaults for new boards",
    holds: (name) => name === "board-defaults",
    found: () => "The board and budget you begin with",
  },
  {
    title: "The last board",
    holds: (name) => name === "board" || name === "home.board",
    found: () => "The roles and models you last chose",
  },
  {
    title: "Unsent drafts",
    holds: (name) => UNSENT.some((place) => place.test(name)),
    found: (names) => some(names.filter((name) => !KEY.test(name)).length, "draft"),
    warning: "Your drafts are stored only here.",
  },
  {
    title: "Layout",
    holds: (name) => !["theme", "single-keys", "notify"].includes(name),
    found: (names) => some(names.length, "choice"),
  },
];

/** Every name is in the first group that holds it. */
export function sorted(names: readonly string[]): Remembered[] {
  const left = new Set(names);
  const all = GROUPS.map(({ title, holds, found, warning }) => {
    const mine = [...left].filter(holds);
    for (const name of mine) left.delete(name);
    return { title, names: mine, found: found(mine), ...(warning !== undefined && { warning }) };
  });
  return all.filter((group) => group.names.length > 0);
}

const NOBODY = { identities: [] };

function onWhiteboard(name: string): string {
  const known = remembered<{ identities: { name?: string }[] }>(name, NOBODY);
  const who = known.identities.map((one) => one.name).filter(Boolean);
  const board = name.slice("whiteboard.".length);
  return who.length === 0 ? board : `${who.join(", ")} on ${board}`;
}
