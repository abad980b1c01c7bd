// Growing Markdown in blocks: finished ones are sealed and never parsed again.

import { marked, type Token, type Tokens } from "marked";

export function lex(text: string): Token[] {
  return marked.lexer(text, { gfm: true });
}

/**
 * Cuts a text that grows at its end. Only whole lines can seal what is before them, because
 * half a line may turn out to be anything; so every way of cutting the text into pieces
 * gives the same blocks in the end.
 */
export class Splitter {
  readonly sealed: string[] = [];
  /** Of each sealed block: how deep a heading it is, 0 for anything else. */
  readonly depths: number[] = [];
  tail = "";
  private text = "";
  private at = 0;

  feed(text: string): this {
    if (!text.startsWith(this.text)) {
      this.sealed.length = 0;
      this.depths.length = 0;
      this.at = 0;
    }
    this.text = text;
    const lines = text.slice(this.at, text.lastIndexOf("\n") + 1);
    if (lines.length > 0) this.seal(lines);
    this.tail = text.slice(this.at);
    return this;
  }

  private seal(lines: string): void {
    const tokens = lex(lines).filter((token) => token.raw.length > 0);
    let last = tokens.length - 1;
    while (last > 0 && tokens[last]?.type === "space") last -= 1;
    for (const token of tokens.slice(0, Math.max(last, 0))) {
      // The lexer mends some characters (tabs, carriage returns): where its words are not
      // the text's own, lengths cannot be trusted, and the rest waits for the end.
      if (!this.text.startsWith(token.raw, this.at)) return;
      if (token.type !== "space") {
        this.sealed.push(token.raw);
        this.depths.push(token.type === "heading" ? (token as Tokens.Heading).depth : 0);
      }
      this.at += token.raw.length;
    }
  }
}

const FENCE = /^ {0,3}(```|~~~)/gm;

/**
 * The end of a text that is still being written, made fit to show: half a table row waits,
 * and emphasis, code and links that have only begun are closed.
 */
export function presentable(tail: string): string {
  if ((tail.match(FENCE)?.length ?? 0) % 2 === 1) return tail;
  const start = tail.lastIndexOf("\n") + 1;
  const line = tail.slice(start);
  if (/^\s*\|/.test(line)) return tail.slice(0, start);
  const shown = line.replace(/!?\[[^\]]*(\]\([^)]*)?$/, (begun) =>
    begun.replace(/^!?\[|\].*$/g, ""),
  );
  return tail.slice(0, start) + shown + closers(shown);
}

function closers(line: string): string {
  let open = "";
  let rest = line;
  if (count(rest, /`/g) % 2 === 1) {
    open += "`";
    rest = rest.slice(0, rest.lastIndexOf("`"));
  }
  rest = rest.replace(/`[^`]*`/g, "");
  if (count(rest, /\*\*/g) % 2 === 1 && !/\*\*$/.test(rest)) open += "**";
  return open;
}

function count(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}
