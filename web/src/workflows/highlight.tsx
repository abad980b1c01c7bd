import type { ReactNode } from "react";

const PARTS =
  /(#.*$)|(\{\{.*?\}\}|\{%.*?%\})|("(?:[^"\\]|\\.)*"|'[^']*')|(^\s*(?:- )?[\w.$-]+(?=:(?:\s|$)))|([{,]\s*)([\w.$-]+)(?=:\s)/g;

/** A line of YAML in colours. A `#` inside a text is none that begins a comment. */
export function highlighted(line: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const found of line.matchAll(PARTS)) {
    const [whole, comment, template, text, key, before, inner] = found;
    if (comment !== undefined && found.index > 0 && line[found.index - 1] !== " ") continue;
    parts.push(line.slice(at, found.index));
    at = found.index + whole.length;
    const shown = inner ?? whole;
    const look =
      comment !== undefined
        ? "y-comment"
        : template !== undefined || (text?.includes("{{") ?? false)
          ? "y-template"
          : text !== undefined
            ? "y-text"
            : "y-key";
    if (inner !== undefined) parts.push(before);
    parts.push(
      <span key={found.index} className={key !== undefined ? "y-key" : look}>
        {shown}
      </span>,
    );
  }
  return [...parts, line.slice(at)];
}
