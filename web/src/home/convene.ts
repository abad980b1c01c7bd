// Convening a preset board with a prompt. A press is one board, however often it is sent.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem, writeKey, type Schemas } from "../api/client";
import { remember, remembered } from "../stored";

export interface Question {
  prompt: string;
  board: string;
}

/** Where a prompt that has not been sent yet is remembered. */
export const UNSENT = "home.prompt";
/** The preset board that was convened last. */
export const LAST_BOARD = "home.board";

export function useConvene() {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const press = useRef<{ question: string; key: ReturnType<typeof writeKey> }>(null);
  const isUnderWay = useRef(false);
  const mutation = useMutation({
    mutationFn: ({ question, key }: { question: Question; key: ReturnType<typeof writeKey> }) =>
      asked(
        client.POST("/api/boardrooms", {
          params: { header: key },
          // The presets that the server lists are those that it takes.
          body: { prompt: question.prompt, board: question.board as Schemas["BoardName"] },
        }),
      ),
    onSuccess: (board, { question }) => {
      // A sample that was tried takes nothing away from what is being written.
      if (remembered(UNSENT, "") === question.prompt) remember(UNSENT, undefined);
      remember(LAST_BOARD, question.board);
      void queries.invalidateQueries({ queryKey: ["sessions"] });
      go(`/boardrooms/${board.id}`);
    },
    onError: (error) => {
      // Without an answer the board may be there all the same: the same words go out under
      // the same key again. What was refused was not made.
      if (error instanceof Problem && error.status !== 0) press.current = null;
    },
    onSettled: () => {
      isUnderWay.current = false;
    },
  });

  function convene(question: Question): void {
    if (isUnderWay.current || question.prompt.trim() === "") return;
    isUnderWay.current = true;
    const words = JSON.stringify(question);
    if (press.current?.question !== words) press.current = { question: words, key: writeKey() };
    mutation.mutate({ question, key: press.current.key });
  }

  return { convene, isConvening: mutation.isPending, error: mutation.error };
}
