import type { ReactNode } from "react";

/** A sentence of the server, in which `this` is something to type. */
export function Inline({ text }: { text: string }): ReactNode {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
