// Files that belong to a question or a topic. They are read here, in the browser: texts as
// texts, PDFs and images as they are.

import { useLayoutEffect, useRef, useState } from "react";
import type { Schemas } from "../api/client";

export interface TextFile {
  name: string;
  text: string;
}

/** A PDF or an image. */
export interface DataFile {
  name: string;
  /** In base64. */
  data: string;
  mediaType: string;
}

export type AttachedFile = TextFile | DataFile;

export interface FileLimits {
  files: number;
  fileBytes: number;
  /** All texts together. */
  filesBytes: number;
  /** One PDF or image. */
  dataBytes: number;
  /** Whether there is anybody to look at images. */
  images?: boolean;
}

/** Base64 takes four bytes for three. */
const DATA_SHARE = 3 / 4;

/** As told by the server; what is not known yet limits nothing here, and the server has the last word. */
export function fileLimits(told: Schemas["LimitsView"] | undefined): FileLimits {
  return {
    files: told?.context["files"]?.most ?? Infinity,
    fileBytes: told?.context["file"]?.most ?? Infinity,
    filesBytes: told?.context["together"]?.most ?? Infinity,
    dataBytes: (told?.request["body"]?.most ?? Infinity) * DATA_SHARE,
  };
}

const bytes = new TextEncoder();

export function textBytes(text: string): number {
  return bytes.encode(text).length;
}

export function size(file: AttachedFile): number {
  return "text" in file
    ? textBytes(file.text)
    : Math.floor(file.data.replace(/=+$/, "").length * DATA_SHARE);
}

const TOKEN_CHARACTERS = 4;
/** About what models take an image to be; a PDF is measured when it has been read. */
const IMAGE_TOKENS = 1_500;

/** About how much of a model's window they take. */
export function tokensOf(files: readonly AttachedFile[]): number {
  return files.reduce((sum, file) => {
    if ("text" in file) return sum + Math.ceil(file.text.length / TOKEN_CHARACTERS);
    return sum + (isImage(file) ? IMAGE_TOKENS : 0);
  }, 0);
}

export function isImage(file: AttachedFile): file is DataFile {
  return "data" in file && file.mediaType.startsWith("image/");
}

/** What is sent of them. */
export function contextOf(files: readonly AttachedFile[]): Schemas["NewContext"][] {
  return files.map((file) =>
    "text" in file ? { name: file.name, text: file.text } : { name: file.name, data: file.data },
  );
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
  files: AttachedFile[];
  refused: string[];
}

/** Those that can be attached and are not too large. */
export async function read(chosen: Iterable<File>, limits: FileLimits): Promise<Taken> {
  const files: AttachedFile[] = [];
  const refused: string[] = [];
  // A list that belongs to an input is empty as soon as the input is.
  for (const file of [...chosen]) {
    const found = await readOne(file, limits);
    if ("why" in found) refused.push(found.why);
    else files.push(found);
  }
  return { files, refused };
}

/** Those that are there, with those that fit. One of the same name takes the other's place. */
export function withFiles(
  there: readonly AttachedFile[],
  added: readonly AttachedFile[],
  limits: FileLimits,
): Taken {
  let files = [...there];
  const refused: string[] = [];
  for (const file of added) {
    const others = files.filter((one) => one.name !== file.name);
    const next = [...others, file];
    if (next.length > limits.files)
      refused.push(`${file.name} was left out: at most ${limits.files} files can be attached.`);
    else if (texts(next) > limits.filesBytes)
      refused.push(
        `${file.name} was left out: attachments can total at most ${sizeInWords(limits.filesBytes)}.`,
      );
    else files = next;
  }
  return { files, refused };
}

function texts(files: readonly AttachedFile[]): number {
  return files.reduce((sum, file) => sum + ("text" in file ? size(file) : 0), 0);
}

/** What a file is, its first bytes say. */
const STARTS: readonly [RegExp, string][] = [
  [/^%PDF-/, "application/pdf"],
  [/^\x89PNG\r\n/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^GIF8[79]a/, "image/gif"],
  [/^RIFF[^]{4}WEBP/, "image/webp"],
];

async function readOne(file: File, limits: FileLimits): Promise<AttachedFile | { why: string }> {
  const { name } = file;
  const start = latin1(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
  const mediaType = STARTS.find(([pattern]) => pattern.test(start))?.[1];
  if (limits.images === false && mediaType?.startsWith("image/"))
    return { why: `${name} can’t be attached: only boards take images.` };
  const most = mediaType === undefined ? limits.fileBytes : limits.dataBytes;
  if (file.size > most) {
    const [is, may] = [sizeInWords(file.size), sizeInWords(most)];
    return { why: `${name} is too large (${is}): a file can be at most ${may}.` };
  }
  const content = new Uint8Array(await file.arrayBuffer());
  if (mediaType !== undefined) return { name, data: btoa(latin1(content)), mediaType };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (text.includes("\0")) return { why: notReadable(name) };
    return text.trim() === "" ? { why: `${name} is empty.` } : { name, text };
  } catch {
    return { why: notReadable(name) };
  }
}

function latin1(content: Uint8Array): string {
  let text = "";
  // So many arguments at once are safe in every browser.
  for (let at = 0; at < content.length; at += 8_192) {
    text += String.fromCharCode(...content.subarray(at, at + 8_192));
  }
  return text;
}

function notReadable(name: string): string {
  return `${name} can’t be attached. Use text, Markdown, code, a PDF or an image (PNG, JPEG, GIF, WebP).`;
}

/** Text that is longer than this is easier to work with as a file. */
export const LONG_PASTE_CHARACTERS = 4_000;

/** `pasted.txt`, `pasted-2.txt`: a name that none of them has. */
export function freeName(files: readonly AttachedFile[], stem: string, ending: string): string {
  const isTaken = (name: string) => files.some((file) => file.name === name);
  let name = `${stem}.${ending}`;
  for (let number = 2; isTaken(name); number += 1) name = `${stem}-${number}.${ending}`;
  return name;
}

/** Adds files to those of a form, and takes them away. */
export function useFiles(
  files: readonly AttachedFile[],
  limits: FileLimits,
  onChange: (files: AttachedFile[]) => void,
) {
  const [refused, setRefused] = useState<string[]>([]);
  // Reading takes a while: what is read joins the files that are there by then.
  const latest = useRef(files);
  useLayoutEffect(() => {
    latest.current = files;
  }, [files]);
  const change = (next: AttachedFile[]) => {
    latest.current = next;
    onChange(next);
  };
  return {
    files,
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
