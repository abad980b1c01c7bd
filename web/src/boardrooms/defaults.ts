// What a new board begins with, where somebody has said so in the settings. Kept in this
// browser: the server has no such setting.

import { remembered, useStored } from "../stored";
import { NO_LIMIT, type Allowance } from "../ui/Budget";
import { setupFrom, type SavedBoard, type Setup } from "./setup";

export interface Defaults {
  version: 1;
  /** A saved board; without it, the last one that was used. */
  board?: string;
  /** For boards that have no budget of their own. */
  allowance: Allowance;
}

const DEFAULTS = "board-defaults";
const NONE: Defaults = { version: 1, allowance: NO_LIMIT };

export function defaults(): Defaults {
  return read(remembered<unknown>(DEFAULTS, undefined));
}

export function useDefaults(): [Defaults, (change: Partial<Defaults>) => void] {
  const [kept, keep] = useStored<unknown>(DEFAULTS, undefined);
  const now = read(kept);
  return [now, (change) => keep({ ...now, ...change })];
}

/** What cannot be read, or comes from another version, is none. */
export function read(kept: unknown): Defaults {
  const { version, board, allowance } = (kept ?? {}) as Partial<Record<keyof Defaults, unknown>>;
  if (version !== 1) return NONE;
  const amounts = (allowance ?? {}) as Partial<Record<keyof Allowance, unknown>>;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return {
    version,
    ...(typeof board === "string" && board !== "" && { board }),
    allowance: {
      tokens: text(amounts.tokens),
      cost: text(amounts.cost),
      seconds: text(amounts.seconds),
    },
  };
}

/** A saved board as the form begins with it. */
export function setupBy({ allowance }: Defaults, board: SavedBoard): Setup {
  return { allowance, ...setupFrom(board) };
}
