// Boards that can be convened, and sample prompts.

import type { Schemas } from "../api/client";

export type Board = Schemas["SavedBoardView"];
export type Sample = Schemas["PromptView"];

/** What each board is good for; one that somebody saved says so itself. */
const PURPOSES: Record<string, string> = {
  "classic-triad": "For, against, and weighed",
  "devils-court": "The popular view on trial",
  "full-board": "Six views at once",
  "peer-review": "Is this plan sound?",
};

export function purposeOf(board: Board): string {
  return PURPOSES[board.name] ?? board.description;
}
