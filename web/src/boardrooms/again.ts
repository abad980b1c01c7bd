// A board's question and its seats, to be changed and put to a new board.

import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { boardsQuery } from "../api/known";
import { filesOf } from "../session/KeptFiles";
import { toast } from "../ui/announce";
import type { AttachedFile } from "../ui/files";
import { questionOf, roundNow, type Board } from "./board";
import { setupFrom, type SavedBoard, type Setup } from "./setup";

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
  const queries = useQueryClient();
  return async () => {
    const { pathname } = location;
    const boards = queries.fetchQuery(boardsQuery).catch(() => []);
    const files = await filesOfRound(board).catch(() => {
      toast("The attached files could not be loaded");
      return [];
    });
    const saved = (await boards).find(({ name }) => name === board.board);
    // Who has gone elsewhere meanwhile is not called back.
    if (location.pathname !== pathname) return;
    begun.set(board.id, { prompt: questionOf(board), setup: setupAgain(board, saved), files });
    go("/boardrooms", { state: { again: board.id } });
  };
}

/** What the page that led here has prepared, for once. */
export function useBegunAgain(): Begun | undefined {
  const [, go] = useLocation();
  const [id] = useState(() => (history.state as { again?: string } | null)?.again);
  const [found] = useState(() => (id === undefined ? undefined : begun.get(id)));
  useEffect(() => {
    if (id === undefined) return;
    begun.delete(id);
    go("/boardrooms", { replace: true });
  }, [id, go]);
  return found;
}

/** As it sat, also where the saved board has been changed since; but what whoever writes the
 *  verdict is told only the saved board has. */
export function setupAgain(board: Board, saved?: SavedBoard): Setup {
  const { quorum, budget, ballot, openAnswers, language, convenedAt } = board;
  const [synthesizer] = board.synthesizers;
  const prompt = saved?.synthesis?.prompt;
  return setupFrom({
    name: board.board ?? "",
    title: "",
    description: "",
    isBuiltIn: false,
    seats: board.advisors.map(({ agent, replyBy, ...seat }) => ({
      ...seat,
      ...(agent && { agent: agent.id }),
      ...(replyBy !== undefined && {
        replyWithinSeconds: Math.round((Date.parse(replyBy) - Date.parse(convenedAt)) / 1000),
      }),
    })),
    ballot,
    openAnswers,
    ...(quorum && { quorum }),
    ...(budget && { budget }),
    ...(language !== undefined && { language }),
    synthesis: {
      ...(synthesizer !== undefined && { model: synthesizer }),
      ...(prompt !== undefined && { prompt }),
    },
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
