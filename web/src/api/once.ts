// Writes that are carried out once, however often the same words are sent, and words that are
// forgotten when they have arrived.

import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { remember, remembered } from "../stored";
import { Problem, writeKey } from "./client";

export type WriteKey = ReturnType<typeof writeKey>;

interface Options<Words, Answer> {
  /** Comes also when the page was left meanwhile. What it answers is waited for. */
  onSent?: (answer: Answer, words: Words) => unknown;
  onError?: (error: Error, words: Words) => unknown;
}

/**
 * A mutation that sends the same words under the same key until they were answered, or others
 * were sent, so that pressing again after a lost answer writes nothing twice.
 */
export function useOnce<Words, Answer>(
  send: (words: Words, key: WriteKey) => Promise<Answer>,
  { onSent, onError }: Options<Words, Answer> = {},
) {
  const last = useRef<{ text: string; key: WriteKey }>(undefined);
  const answered = (words: Words) => {
    if (last.current?.text === textOf(words)) last.current = undefined;
  };
  return useMutation({
    mutationFn: (words: Words) => {
      const text = textOf(words);
      if (last.current?.text !== text) last.current = { text, key: writeKey() };
      return send(words, last.current.key);
    },
    onSuccess: (answer, words) => {
      answered(words);
      return onSent?.(answer, words);
    },
    onError: (error, words) => {
      if (isRefusal(error)) answered(words);
      return onError?.(error, words);
    },
  });
}

function textOf(words: unknown): string {
  return JSON.stringify(words) ?? "";
}

/** What was refused was not written. A server that broke down, or a proxy, knows less. */
function isRefusal(error: Error): boolean {
  return error instanceof Problem && error.status >= 400 && error.status < 500;
}

/** Forgets what was kept until it was sent, unless something else is written there by now. */
export function forgetSent<Kept>(name: string, wasSent: (kept: Kept) => boolean): void {
  const kept = remembered<Kept | undefined>(name, undefined);
  if (kept !== undefined && wasSent(kept)) remember(name, undefined);
}
