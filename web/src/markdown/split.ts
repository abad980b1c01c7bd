// Growing Markdown in blocks: finished ones are sealed and never parsed again.

import { marked, type Token } from "marked";

/** Never throws: a text that is too deeply nested for the lexer is one plain paragraph. */
export function lex(text: string): Token[] {
  try {
    return marked.lexer(text, { gfm: true });
  } catch {
    const plain: Token = { type: "text", raw: text, text };
    return [{ type: "paragraph", raw: text, text, tokens: [plain] }];
  }
}

/** The same for one line, in which nothing is a block. */
export function lexLine(text: string): Token[] {
  try {
    return marked.Lexer.lexInline(text, { gfm: true });
  } catch {
    return [{ type: "text", raw: text, text }];
  }
}

/** Line ends as the lexer counts them. A text that grows, grows the same way afterwards. */
export function evened(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/**
 * Cuts a text that grows at its end. Only whole lines can seal what is before them, because
 * half a line may turn out to be anything.
 */
export class Splitter {
  /** Finished blocks, with the empty lines between them: their `raw`s are the text up to `tail`. */
  readonly sealed: Token[] = [];
  tail = "";
  private text = "";
  private at = 0;
  private looked = 0;

  feed(given: string): this {
    const text = evened(given);
    if (!text.startsWith(this.text)) {
      this.sealed.length = 0;
      this.at = 0;
      this.looked = 0;
    }
    this.text = text;
    const end = text.lastIndexOf("\n") + 1;
    if (end > this.looked) {
      this.looked = end;
      this.seal(text.slice(this.at, end));
    }
    this.tail = text.slice(this.at);
    return this;
  }

  private seal(lines: string): void {
    const tokens = lex(lines).filter((token) => token.raw.length > 0);
    // More lines may still belong to the last block, and to none before it.
    const last = tokens.findLastIndex((token) => token.type !== "space");
    for (const token of tokens.slice(0, Math.max(last, 0))) {
      // Where the lexer's words are not the text's own, lengths cannot be trusted, and the
      // rest waits for the end.
      if (!this.text.startsWith(token.raw, this.at)) return;
      this.sealed.push(token);
      this.at += token.raw.length;
    }
  }
}
