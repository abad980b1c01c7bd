// The end of a text that is still being written, made fit to show: what cannot be told yet
// waits, and what has only begun is closed.

/** Markup of which it cannot be told what it will be: a rule, a heading's line, a list's mark, a fence. */
const ONLY_MARKS = /^[\s>]*(?:[-=_*+#~`|:\s]+|\d{1,9}[.)]?\s*)$/;
const LONG = 120;
const TABLE_LINE = /^\s*\|/;
const TABLE_RULE = /^[\s|:-]*$/;
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})/;
/** What begins a block of its own, so that no emphasis reaches over it. */
const BLOCK_BEGINS = /^\s*(?:[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s|>|\||$)/;

export function presentable(tail: string): string {
  const start = tail.lastIndexOf("\n") + 1;
  const line = tail.slice(start);
  const whole = tail.slice(0, start);
  if (isInFence(whole)) return /^\s*(?:`+|~+)$/.test(line) ? whole : tail;
  if (isUndecided(line)) return withoutLoneHeader(whole, line);
  const from = runStart(tail, start);
  return tail.slice(0, from) + closed(tail.slice(from));
}

function isUndecided(line: string): boolean {
  if (TABLE_LINE.test(line) || FENCE.test(line) || line.trim() === "") return true;
  return line.length <= LONG && ONLY_MARKS.test(line);
}

function isInFence(lines: string): boolean {
  if (!lines.includes("```") && !lines.includes("~~~")) return false;
  let open = "";
  for (const line of lines.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (mark === undefined) continue;
    if (open === "") open = mark;
    else if (mark.startsWith(open) && line.trim().endsWith(mark)) open = "";
  }
  return open !== "";
}

/** A table's first row is a table only once the rule below it is there. */
function withoutLoneHeader(whole: string, line: string): string {
  if (!TABLE_RULE.test(line)) return whole;
  const before = whole.lastIndexOf("\n", whole.length - 2) + 1;
  const earlier = whole.lastIndexOf("\n", before - 2) + 1;
  const isHeader = TABLE_LINE.test(whole.slice(before));
  const isFirst = before === 0 || !TABLE_LINE.test(whole.slice(earlier, before));
  return isHeader && isFirst ? whole.slice(0, before) : whole;
}

/** Where the lines begin that are one paragraph with the last one. */
function runStart(tail: string, start: number): number {
  let from = start;
  while (from > 0 && !BLOCK_BEGINS.test(tail.slice(from, from + 16))) {
    const before = tail.lastIndexOf("\n", from - 2) + 1;
    if (tail.slice(before, from).trim() === "") break;
    from = before;
  }
  return from;
}

interface Open {
  mark: string;
  at: number;
}

/** More than this is no text but noise, which is shown as it is. */
const MOST_OPEN = 32;

/** Reads the run once, keeping what has been opened and not closed. */
function closed(run: string): string {
  const open: Open[] = [];
  let at = 0;
  while (at < run.length && open.length <= MOST_OPEN) {
    const here = run.charAt(at);
    if (here === "\\") {
      if (at + 1 === run.length) return finish(run.slice(0, at), open);
      at += 2;
    } else if (here === "`") {
      const mark = markAt(run, at);
      const end = codeEnd(run, mark, at + mark.length);
      if (end < 0) return withCode(run, mark, at, open);
      at = end;
    } else if (here === "*" || here === "_" || here === "~") {
      const mark = markAt(run, at);
      const hasClosed = emphasise(open, run, at, mark);
      // At the very end it cannot be told yet whether it will open something.
      if (!hasClosed && at + mark.length === run.length) return finish(run.slice(0, at), open);
      at += mark.length;
    } else if (here === "[") {
      open.push({ mark: "[", at });
      at += 1;
    } else if (here === "]") {
      const from = open.findLastIndex((one) => one.mark === "[");
      const end = run.charAt(at + 1) === "(" ? run.indexOf(")", at) : at;
      // An address that has only begun: the words of the link stand without it.
      if (from >= 0 && end < 0) return finish(run.slice(0, at), open.slice(0, from + 1));
      if (from >= 0) open.splice(from);
      at = Math.max(end, at) + 1;
    } else at += 1;
  }
  return open.length > MOST_OPEN ? run : finish(run, open);
}

/** All of the same character from here on. */
function markAt(run: string, at: number): string {
  let end = at + 1;
  while (run.charAt(end) === run.charAt(at)) end += 1;
  return run.slice(at, end);
}

/** The end of the code that `mark` opened; -1 while there is none. */
function codeEnd(run: string, mark: string, from: number): number {
  let at = run.indexOf(mark, from);
  while (at >= 0) {
    const found = markAt(run, at);
    if (found.length === mark.length) return at + mark.length;
    at = run.indexOf(mark, at + found.length);
  }
  return -1;
}

function withCode(run: string, mark: string, at: number, open: Open[]): string {
  const isEmpty = at + mark.length === run.length;
  if (isEmpty) return finish(run.slice(0, at), open);
  // A closing mark of which only a part is there is not part of the code.
  const code = run.slice(at).replace(/(?<=[^`])`+$/, "");
  return finish(run.slice(0, at) + code + mark, open);
}

/** Whether the mark closed something. */
function emphasise(open: Open[], run: string, at: number, mark: string): boolean {
  const kind = mark.charAt(0);
  if (kind === "~" && mark.length !== 2) return false;
  const before = run.charAt(at - 1);
  const after = run.charAt(at + mark.length);
  const from = open.findLastIndex((one) => one.mark.charAt(0) === kind);
  const opened = open[from];
  if (opened && before.trim() !== "") {
    // `***both** one` leaves one of three open; what was opened inside is over.
    const left = opened.mark.slice(0, Math.max(0, opened.mark.length - mark.length));
    open.splice(from, open.length, ...(left === "" ? [] : [{ mark: left, at: opened.at }]));
    return true;
  }
  const isInWord = kind === "_" && /[\p{L}\p{N}]/u.test(before);
  if (after.trim() !== "" && !isInWord && mark.length <= 3) open.push({ mark, at });
  return false;
}

/** Closes what is open. A link that has only begun loses its bracket. */
function finish(run: string, open: Open[]): string {
  const link = open.findLast((one) => one.mark === "[");
  // The box of a task begins like a link.
  const isLink = link !== undefined && !/^\[[ xX]?$/.test(run.slice(link.at, link.at + 3));
  const shown = isLink ? withoutBracket(run, link.at) : run;
  const closers = open.map((one) => (one.mark === "[" ? "" : one.mark)).reverse();
  // Emphasis cannot end after a space.
  const words = shown.trimEnd();
  return words + closers.join("") + shown.slice(words.length);
}

function withoutBracket(run: string, at: number): string {
  const from = run.charAt(at - 1) === "!" ? at - 1 : at;
  return run.slice(0, from) + run.slice(at + 1);
}
