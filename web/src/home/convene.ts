// Convening a preset board with a prompt. A press is one board, however often it is sent.

import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useLocation } from "wouter";
import { asked, client, type Schemas } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { remember } from "../stored";
import { contextOf, type AttachedFile } from "../ui/files";

export interface Question {
  prompt: string;
  board: string;
  files?: readonly AttachedFile[];
  budget?: Schemas["NewBudget"];
}

/** Where a prompt that has not been sent yet is remembered. */
export const UNSENT = "home.prompt";
/** The preset board that was convened last. */
export const LAST_BOARD = "home.board";

/** What is sent. */
export function bodyOf({ prompt, board, files = [], budget }: Question): Schemas["NewBoardroom"] {
  return {
    prompt,
    board,
    ...(files.length > 0 && { context: contextOf(files) }),
    ...(budget && { budget }),
  };
}

export function useConvene() {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const isUnderWay = useRef(false);
  const write = useWrite(
    (question: Question, header) =>
      asked(client.POST("/api/boardrooms", { params: { header }, body: bodyOf(question) })),
    {
      place: UNSENT,
      onSent: (made, { prompt, board }) => {
        // A sample that was tried takes nothing away from what is being written.
        forgetSent<string>(UNSENT, (kept) => kept === prompt);
        remember(LAST_BOARD, board);
        void queries.invalidateQueries({ queryKey: ["sessions"] });
        go(`/boardrooms/${made.id}`);
      },
    },
  );

  function convene(question: Question): void {
    if (isUnderWay.current || question.prompt.trim() === "") return;
    isUnderWay.current = true;
    write.mutate(question, { onSettled: () => (isUnderWay.current = false) });
  }

  return { convene, isConvening: write.isPending, error: write.error };
}
