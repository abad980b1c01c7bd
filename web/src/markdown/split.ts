// Growing Markdown in blocks: finished ones are sealed and never parsed again.

import { Lexer, Marked, type Token, type TokenizerAndRendererExtension, type Tokens } from "marked";
import { formulaAt, type Formula } from "./tex";

export type MathToken = Tokens.Generic & { type: "math"; formula: Formula };

/** Formulas are looked for where their marks stand; what is none is left to the rest. */
function formulas(level: "block" | "inline", start: RegExp): TokenizerAndRendererExtension {
  return {
    name: "math",
    level,
    start: (text) => start.exec(text)?.index,
    tokenizer: (text) => {
      const formula = formulaAt(text);
      if (!formula || (level === "block" && !formula.isDisplay)) return undefined;
      if (level === "inline") return { type: "math", raw: formula.raw, formula };
      // A formula that a sentence goes on after is part of it.
      const after = /^[ \t]*(?:\n|$)/.exec(text.slice(formula.raw.length))?.[0];
      if (after === undefined) return undefined;
      return { type: "math", raw: formula.raw + after, formula };
    },
    renderer: ({ raw }) => raw,
  };
}

const marked = new Marked({
  gfm: true,
  extensions: [
    formulas("block", /(?<=^|\n)(?:\$\$|\\\[)/),
    formulas("inline", /(?<![\p{L}\p{N}$\\])\$|\\[([]/u),
  ],
});

/** Never throws: a text that is too deeply nested for the lexer is one plain paragraph. */
export function lex(text: string): Token[] {
  try {
    return Lexer.lex(text, marked.defaults);
  } catch {
    const plain: Token = { type: "text", raw: text, text };
    return [{ type: "paragraph", raw: text, text, tokens: [plain] }];
  }
}

/** The same for one line, in which nothing is a block. */
export function lexLine(text: string): Token[] {
  try {
    return Lexer.lexInline(text, marked.defaults);
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
      // A formula that has only begun may still take what follows into it.
      if (token.type === "paragraph" && /^(?:\$\$|\\\[)/m.test(token.raw)) return;
      this.sealed.push(token);
      this.at += token.raw.length;
    }
  }
}
