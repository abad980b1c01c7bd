// Text files that belong to a question, read in the browser.

import type { BoardLimits } from "./limits";
import type { ContextFile } from "./setup";

const bytes = new TextEncoder();

export function sizeOf(file: ContextFile): number {
  return bytes.encode(file.text).length;
}

/** 940 B, 12 kB */
export function sizeInWords(size: number): string {
  return size < 1024 ? `${size} B` : `${Math.round(size / 1024)} kB`;
}

interface Taken {
  files: ContextFile[];
  /** Why some were not taken, a sentence each. */
  refused: string[];
}

/** Takes what it can, and says of each of the others why not. */
export async function take(
  held: readonly ContextFile[],
  chosen: readonly File[],
  limits: BoardLimits,
): Promise<Taken> {
  const files = [...held];
  const refused: string[] = [];
  for (const file of chosen) {
    const problem = await taken(files, file, limits);
    if (problem) refused.push(`${file.name} ${problem}`);
  }
  return { files, refused };
}

async function taken(
  files: ContextFile[],
  file: File,
  limits: BoardLimits,
): Promise<string | undefined> {
  if (files.length >= limits.files)
    return `was left out: a question has at most ${limits.files} files.`;
  if (file.size > limits.fileBytes)
    return `is too large (${sizeInWords(file.size)}): a file may have ${sizeInWords(limits.fileBytes)}.`;
  const all = files.reduce((sum, one) => sum + sizeOf(one), file.size);
  if (all > limits.allBytes)
    return `was left out: all files together may have ${sizeInWords(limits.allBytes)}.`;
  const text = await textOf(file);
  if (text === undefined) return "is no text file. Attach text, Markdown or code.";
  if (text.trim() === "") return "is empty.";
  const at = files.findIndex((one) => one.name === file.name);
  // The same name once more is a newer version of it.
  if (at >= 0) files[at] = { name: file.name, text };
  else files.push({ name: file.name, text });
  return undefined;
}

async function textOf(file: File): Promise<string | undefined> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
