// Files that belong to a topic. They are read here, in the browser: text only.

import type { Schemas } from "../api/client";
import { size, type Limits } from "./draft";

type Context = Schemas["NewContext"];

export interface Taken {
  files: Context[];
  /** Why some were left out, one sentence each. */
  refused: string[];
}

/** The files there are, with those that could be added. One of the same name is replaced. */
export async function take(
  chosen: Iterable<File>,
  there: readonly Context[],
  limits: Limits,
): Promise<Taken> {
  const files = [...there];
  const refused: string[] = [];
  for (const file of chosen) {
    const text = await readText(file, limits);
    if (typeof text !== "string") {
      refused.push(text.why);
      continue;
    }
    const others = files.filter((one) => one.name !== file.name);
    const whole = others.reduce((sum, one) => sum + size(one.text), size(text));
    if (others.length >= limits.files) refused.push(`${file.name}: at most ${limits.files} files.`);
    else if (whole > limits.filesBytes)
      refused.push(`${file.name}: all files together may have ${kilobytes(limits.filesBytes)}.`);
    else files.splice(0, files.length, ...others, { name: file.name, text });
  }
  return { files, refused };
}

async function readText(file: File, limits: Limits): Promise<string | { why: string }> {
  if (file.size > limits.fileBytes)
    return { why: `${file.name}: one file may have ${kilobytes(limits.fileBytes)}.` };
  const bytes = await file.arrayBuffer();
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) return { why: notText(file.name) };
    return text.trim() === "" ? { why: `${file.name} is empty.` } : text;
  } catch {
    return { why: notText(file.name) };
  }
}

function notText(name: string): string {
  return `${name} is not a text file. Save it as plain text, Markdown or code first.`;
}

export function kilobytes(bytes: number): string {
  if (bytes >= 1024 * 1024)
    return `${(bytes / 1024 / 1024).toFixed(bytes % (1024 * 1024) ? 1 : 0)} MB`;
  return `${Math.max(1, Math.round(bytes / 1024))} KB`;
}
