// A board's question and its seats, to be changed and put to a new board.

import { useLocation } from "wouter";
import { filesOf } from "../session/KeptFiles";
import { toast } from "../ui/announce";
import type { AttachedFile } from "../ui/files";
import { questionOf, roundNow, type Board } from "./board";
import { setupFrom, type Setup } from "./setup";

export interface Begun {
  prompt: string;
  setup: Setup;
  files: AttachedFile[];
}

/** By board; files may be too large for the browser's history. */
const begun = new Map<string, Begun>();

/** Goes to the form with all that this board was asked last. */
export function useAskAgain(board: Board): () => Promise<void> {
  const [, go] = useLocation();
  return async () => {
    const files = await filesOfRound(board).catch(() => {
      toast("The attached files could not be loaded");
      return [];
    });
    begun.set(board.id, { prompt: questionOf(board), setup: setupAgain(board), files });
    go("/boardrooms", { state: { again: board.id } });
  };
}

/** What the page that led here has prepared. */
export function begunAgain(): Begun | undefined {
  const { again } = (history.state ?? {}) as { again?: string };
  return again === undefined ? undefined : begun.get(again);
}

/** As it sat, also where the saved board has been changed since. */
export function setupAgain(board: Board): Setup {
  const { quorum, budget, ballot, openAnswers, language } = board;
  const [synthesizer] = board.synthesizers;
  return setupFrom({
    name: board.board ?? "",
    title: "",
    description: "",
    isBuiltIn: false,
    seats: board.advisors.map(({ agent, ...seat }) => ({
      ...seat,
      ...(agent && { agent: agent.id }),
    })),
    ballot,
    openAnswers,
    ...(quorum && { quorum }),
    ...(budget && { budget }),
    ...(language !== undefined && { language }),
    ...(synthesizer !== undefined && { synthesis: { model: synthesizer } }),
  });
}

async function filesOfRound(board: Board): Promise<AttachedFile[]> {
  const number = roundNow(board);
  const round = number === 1 ? board : board.rounds.find((one) => one.number === number);
  const names = [...(round?.context ?? []), ...(round?.images ?? [])].map(({ name }) => name);
  if (names.length === 0) return [];
  const kept = await filesOf("boardroom", board.id);
  // Of two with the same name the later question brought the later one.
  return names.flatMap((name) => {
    const file = kept.findLast((one) => one.name === name);
    return file ? [file] : [];
  });
}
