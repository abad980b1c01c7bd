// Boards, roles and sample prompts that ship with the server.

import type { Schemas } from "../api/client";

export type Board = Schemas["BoardView"];
export type Sample = Schemas["PromptView"];

/** What each board is good for; one that is new here is described by its roles. */
const PURPOSES: Record<string, string> = {
  "classic-triad": "For, against, and weighed",
  "devils-court": "The popular view on trial",
  "full-board": "Six views at once",
  "peer-review": "Is this plan sound?",
};

export function purposeOf(board: Board): string | undefined {
  return PURPOSES[board.id];
}
