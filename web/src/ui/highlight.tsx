// Code in colours, as elements: comments, texts, numbers and keywords by a few patterns that
// fit most languages. What is not recognised stays as it is.

import type { ReactNode } from "react";

type Look = "c-comment" | "c-text" | "c-key" | "c-number" | "c-template" | "c-in" | "c-out";

/** Puts every found part in the colour that `lookOf` says; one without any stays plain. */
function coloured(
  text: string,
  pattern: RegExp,
  lookOf: (found: RegExpMatchArray) => { look?: Look | undefined; from?: number },
): ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const { look, from = 0 } = lookOf(found);
    if (look === undefined) continue;
    const start = (found.index ?? 0) + from;
    const end = (found.index ?? 0) + found[0].length;
    parts.push(text.slice(at, start));
    parts.push(
      <span key={start} className={look}>
        {text.slice(start, end)}
      </span>,
    );
    at = end;
  }
  return [...parts, text.slice(at)];
}

const YAML =
  /(#.*$)|(\{\{.*?\}\}|\{%.*?%\})|("(?:[^"\\]|\\.)*"|'[^']*')|(^\s*(?:- )?[\w.$-]+(?=:(?:\s|$)))|([{,]\s*)([\w.$-]+)(?=:\s)/gm;

/** A line of a workflow. A `#` inside a text is none that begins a comment. */
export function yamlLine(line: string): ReactNode[] {
  return coloured(line, YAML, (found) => {
    const [, comment, template, text, , before] = found;
    const start = found.index ?? 0;
    if (comment !== undefined)
      return { look: start > 0 && !/\s/.test(line[start - 1] ?? "") ? undefined : "c-comment" };
    if (template !== undefined || text?.includes("{{")) return { look: "c-template" };
    if (text !== undefined) return { look: "c-text" };
    return { look: "c-key", from: before?.length ?? 0 };
  });
}

const TEXTS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`";
const REST = String.raw`\b\d[\w.]*|[A-Za-z_][\w]*`;

/** How comments look, by family. */
const SLASHES = new RegExp(String.raw`(\/\/.*|\/\*[^]*?(?:\*\/|$))|(${TEXTS})|(${REST})`, "g");
const HASHES = new RegExp(String.raw`((?<![\w$&{])#.*)|(${TEXTS})|(${REST})`, "g");
const DASHES = new RegExp(String.raw`(--.*|\/\*[^]*?(?:\*\/|$))|(${TEXTS})|(${REST})`, "g");

const FAMILIES: readonly [RegExp, RegExp][] = [
  [
    /^(py|python|rb|ruby|sh|bash|zsh|shell|console|toml|ini|dockerfile|make|makefile|r|perl)$/,
    HASHES,
  ],
  [/^(sql|psql|plpgsql|lua|haskell|hs|elm)$/, DASHES],
  [
    /^(rs|rust|js|jsx|mjs|ts|tsx|javascript|typescript|go|java|kt|kotlin|c|h|cpp|c\+\+|cs|csharp|swift|scala|php|json|jsonc|json5|css|scss|proto|dart|zig)$/,
    SLASHES,
  ],
];

const KEYWORDS = new Set(
  (
    "abstract and as assert async await begin bool boolean break by case catch char class const continue crate " +
    "create def default defer del delete desc do done drop dyn elif else end enum except exec export extends " +
    "false fi final finally float fn for foreach from func function group having if impl implements import in " +
    "index inner insert instanceof int interface into is join key lambda left let limit loop match mod module " +
    "mut namespace new nil none not null object of on or order override package pass primary private protected " +
    "pub public raise references ref return select self set static str string struct super switch table then " +
    "this throw trait true try type typeof undefined union unique unsafe update use using values var void when " +
    "where while with yield"
  ).split(" "),
);

/** More than anybody reads in colours. */
const MOST_CHARACTERS = 20_000;

/** A whole block, in the language that its fence names; in one that is unknown, as it is. */
export function highlighted(text: string, language: string): ReactNode {
  const name =
    language
      .trim()
      .toLowerCase()
      .split(/[\s,{]/)[0] ?? "";
  if (name === "" || text.length > MOST_CHARACTERS) return text;
  if (/^ya?ml$/.test(name)) return yamlLine(text);
  if (/^(diff|patch)$/.test(name)) {
    return coloured(text, /^[+-].*$/gm, ([line]) => ({
      look: line.startsWith("+") ? "c-in" : "c-out",
    }));
  }
  const family = FAMILIES.find(([names]) => names.test(name))?.[1];
  if (!family) return text;
  return coloured(text, family, ([, comment, quoted, word = ""]) => {
    if (comment !== undefined) return { look: "c-comment" };
    if (quoted !== undefined) return { look: "c-text" };
    if (/^\d/.test(word)) return { look: "c-number" };
    const isKeyword = KEYWORDS.has(family === DASHES ? word.toLowerCase() : word);
    return { look: isKeyword ? "c-key" : undefined };
  });
}
