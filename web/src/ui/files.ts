// Text files that belong to a question or a topic. They are read here, in the browser.

import { useLayoutEffect, useRef, useState } from "react";
import type { Schemas } from "../api/client";

export interface TextFile {
  name: string;
  text: string;
}

export interface FileLimits {
  files: number;
  fileBytes: number;
  /** All of them together. */
  filesBytes: number;
}

/** As told by the server; what is not known yet limits nothing here, and the server has the last word. */
export function fileLimits(told: Schemas["LimitsView"] | undefined): FileLimits {
  return {
    files: told?.context["files"]?.most ?? Infinity,
    fileBytes: told?.context["file"]?.most ?? Infinity,
    filesBytes: told?.context["together"]?.most ?? Infinity,
  };
}

const bytes = new TextEncoder();

export function size(text: string): number {
  return bytes.encode(text).length;
}

/** 940 B, 12 kB, 1.5 MB */
export function sizeInWords(size: number): string {
  if (size < 1024) return `${size} B`;
  const kilobytes = Math.round(size / 1024);
  if (kilobytes < 1024) return `${kilobytes} kB`;
  return `${(size / 1024 / 1024).toFixed(1).replace(/\.0$/, "")} MB`;
}

/** What came of some files: those that were taken, and why the others were not, a sentence each. */
export interface Taken {
  files: TextFile[];
  refused: string[];
}

/** The texts of those that are text and not too large. */
export async function read(chosen: Iterable<File>, limits: FileLimits): Promise<Taken> {
  const files: TextFile[] = [];
  const refused: string[] = [];
  // A list that belongs to an input is empty as soon as the input is.
  for (const file of [...chosen]) {
    const text = await readText(file, limits);
    if (typeof text === "string") files.push({ name: file.name, text });
    else refused.push(text.why);
  }
  return { files, refused };
}

/** Those that are there, with those that fit. One of the same name takes the other's place. */
export function withFiles(
  there: readonly TextFile[],
  added: readonly TextFile[],
  limits: FileLimits,
): Taken {
  let files = [...there];
  const refused: string[] = [];
  for (const file of added) {
    const others = files.filter((one) => one.name !== file.name);
    const whole = others.reduce((sum, one) => sum + size(one.text), size(file.text));
    if (others.length >= limits.files)
      refused.push(`${file.name} was left out: at most ${limits.files} files can be attached.`);
    else if (whole > limits.filesBytes)
      refused.push(
        `${file.name} was left out: attachments can total at most ${sizeInWords(limits.filesBytes)}.`,
      );
    else files = [...others, file];
  }
  return { files, refused };
}

async function readText(file: File, limits: FileLimits): Promise<string | { why: string }> {
  if (file.size > limits.fileBytes) {
    const [is, may] = [sizeInWords(file.size), sizeInWords(limits.fileBytes)];
    return { why: `${file.name} is too large (${is}): a file can be at most ${may}.` };
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    if (text.includes("\0")) return { why: notText(file.name) };
    return text.trim() === "" ? { why: `${file.name} is empty.` } : text;
  } catch {
    return { why: notText(file.name) };
  }
}

function notText(name: string): string {
  return `${name} is not a text file. Save it as plain text, Markdown or code first.`;
}

/** Adds files to those of a form, and takes them away. */
export function useFiles(
  files: readonly TextFile[],
  limits: FileLimits,
  onChange: (files: TextFile[]) => void,
) {
  const [refused, setRefused] = useState<string[]>([]);
  // Reading takes a while: what is read joins the files that are there by then.
  const latest = useRef(files);
  useLayoutEffect(() => {
    latest.current = files;
  }, [files]);
  const change = (next: TextFile[]) => {
    latest.current = next;
    onChange(next);
  };
  return {
    refused,
    add: async (chosen: Iterable<File>): Promise<void> => {
      const found = await read(chosen, limits);
      const taken = withFiles(latest.current, found.files, limits);
      setRefused([...found.refused, ...taken.refused]);
      if (found.files.length > 0) change(taken.files);
    },
    remove: (name: string) => change(latest.current.filter((one) => one.name !== name)),
  };
}
