import type { ReactNode } from "react";

/** A text in which every word that was searched for is marked; the last may be a beginning. */
export function Marked({ text, words }: { text: string; words: string }): ReactNode {
  const wanted = words.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (wanted.length === 0) return text;
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${wanted.join("|")})`, "giu");
  // What a pattern with a group splits stands at the odd places.
  return text
    .split(pattern)
    .map((part, place) => (place % 2 === 1 ? <mark key={place}>{part}</mark> : part));
}
