// Writes that are carried out once, however often the same words are sent, and words that are
// forgotten when they have arrived.

import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { remember, remembered } from "../stored";
import { Problem, writeKey } from "./client";

export type WriteKey = ReturnType<typeof writeKey>;

/** What was sent last, and under which key. */
interface Sent {
  words: string;
  key: WriteKey;
}

interface Options<Words, Answer> {
  /** Where the words are kept until they are sent; their key is kept beside them. */
  place?: string;
  /** Comes also when the page was left meanwhile. What it answers is waited for. */
  onSent?: (answer: Answer, words: Words) => unknown;
  onError?: (error: Error, words: Words) => unknown;
}

/**
 * A mutation that sends the same words under the same key until the server has answered for
 * good, or others were sent, so that pressing again after a lost answer, or after the page was
 * loaded again, writes nothing twice.
 */
export function useWrite<Words, Answer>(
  send: (words: Words, key: WriteKey) => Promise<Answer>,
  { place, onSent, onError }: Options<Words, Answer> = {},
) {
  const here = useRef<Sent>(undefined);
  const last = (from: string | undefined) =>
    from === undefined ? here.current : remembered<Sent | undefined>(keyPlace(from), undefined);
  const keep = (to: string | undefined, sent: Sent | undefined) => {
    if (to === undefined) here.current = sent;
    else remember(keyPlace(to), sent);
  };
  const isOver = (from: string | undefined, words: Words) => {
    if (last(from)?.words === fingerprint(words)) keep(from, undefined);
  };
  return useMutation({
    // The form may be about something else by the time of the answer.
    onMutate: () => place,
    mutationFn: (words: Words) => {
      const sent = last(place);
      const print = fingerprint(words);
      if (sent?.words === print) return send(words, sent.key);
      const key = writeKey();
      keep(place, { words: print, key });
      return send(words, key);
    },
    onSuccess: (answer, words, from) => {
      isOver(from, words);
      return onSent?.(answer, words);
    },
    onError: (error, words, from) => {
      if (isRefusal(error)) isOver(from, words);
      return onError?.(error, words);
    },
  });
}

function keyPlace(place: string): string {
  return `key.${place}`;
}

/** Tells words apart without keeping them a second time: files can be large. */
function fingerprint(words: unknown): string {
  const text = JSON.stringify(words) ?? "";
  let [one, other] = [0x811c9dc5, 0x1000193];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x1000193);
    other = Math.imul(other + code, 0x85ebca6b) ^ (other >>> 13);
  }
  return [text.length, one >>> 0, other >>> 0].map((part) => part.toString(36)).join(".");
}

/** Statuses after which nobody knows what became of a write, or that ask to come back later. */
const UNSETTLED: readonly number[] = [408, 425, 429];

/** What was refused was not written. A server that broke down, or a proxy, knows less. */
function isRefusal(error: Error): boolean {
  if (!(error instanceof Problem)) return false;
  const { status } = error;
  return status >= 400 && status < 500 && !UNSETTLED.includes(status);
}

/** Forgets what was kept until it was sent, unless something else is written there by now. */
export function forgetSent<Kept>(name: string, wasSent: (kept: Kept) => boolean): void {
  const kept = remembered<Kept | undefined>(name, undefined);
  if (kept !== undefined && wasSent(kept)) remember(name, undefined);
}
