import { act, renderHook } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import { fileLimits, read, sizeInWords, useFiles, withFiles, type TextFile } from "./files";

const LIMITS = { files: 2, fileBytes: 20, filesBytes: 30 };

function file(name: string, content: string | Uint8Array<ArrayBuffer>): File {
  return new File([content], name);
}

const held = (name: string, bytes: number): TextFile => ({ name, text: "x".repeat(bytes) });

describe("what is read", () => {
  const refused = async (...files: File[]) => (await read(files, LIMITS)).refused;

  it("is text", async () => {
    expect(await read([file("a.md", "# é")], LIMITS)).toEqual({
      files: [{ name: "a.md", text: "# é" }],
      refused: [],
    });
  });
  it("is refused by name and size when it is too large", async () => {
    expect(await refused(file("big.txt", "x".repeat(21)))).toEqual([
      "big.txt is too large (21 B): a file can be at most 20 B.",
    ]);
  });
  it("is refused when it is no text", async () => {
    const why = "is not a text file. Save it as plain text, Markdown or code first.";
    expect(
      await refused(file("a.png", new Uint8Array([0x89, 0x50, 0xff])), file("b", "a\0b")),
    ).toEqual([`a.png ${why}`, `b ${why}`]);
  });
  it("is refused when it is empty, and the others are taken", async () => {
    expect(await read([file("a", " \n"), file("b", "B")], LIMITS)).toEqual({
      files: [{ name: "b", text: "B" }],
      refused: ["a is empty."],
    });
  });
});

describe("files that are added", () => {
  it("are taken as long as they fit, and the others are named", () => {
    const added = [held("a", 20), held("b", 11), held("c", 1), held("d", 1)];
    const taken = withFiles([], added, LIMITS);
    expect(taken.files.map((one) => one.name)).toEqual(["a", "c"]);
    expect(taken.refused).toEqual([
      "b was left out: attachments can total at most 30 B.",
      "d was left out: at most 2 files can be attached.",
    ]);
  });
  it("take the place of one of the same name, which counts no more", () => {
    const full = [held("a", 18), held("b", 12)];
    expect(withFiles(full, [held("a", 16)], LIMITS)).toEqual({
      files: [held("b", 12), held("a", 16)],
      refused: [],
    });
  });
  it("are not limited by what the server has not told yet", () => {
    expect(withFiles([], [held("a", 99)], fileLimits(undefined)).refused).toEqual([]);
  });
});

it("two lots that are added at once are both there, and one taken away meanwhile is not", async () => {
  const { result } = renderHook(() => {
    const [files, setFiles] = useState<TextFile[]>([held("old", 1)]);
    return { files, ...useFiles(files, { ...LIMITS, files: 9 }, setFiles) };
  });
  await act(async () => {
    const lots = [result.current.add([file("a", "A")]), result.current.add([file("b", "B")])];
    result.current.remove("old");
    await Promise.all(lots);
  });
  expect(result.current.files.map((one) => one.name).sort()).toEqual(["a", "b"]);
});

it("sizes are told in the largest unit that fits", () => {
  expect([10, 2_048, 1024 * 1024 - 1, 1.5 * 1024 * 1024].map(sizeInWords)).toEqual([
    "10 B",
    "2 kB",
    "1 MB",
    "1.5 MB",
  ]);
});
