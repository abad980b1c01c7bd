import { act, renderHook } from "@testing-library/react";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import {
  contextOf,
  fileLimits,
  freeName,
  read,
  size,
  sizeInWords,
  tokensOf,
  useFiles,
  withFiles,
  type AttachedFile,
  type TextFile,
} from "./files";

const LIMITS = { files: 2, fileBytes: 20, filesBytes: 30, dataBytes: 40 };

function file(name: string, content: string | Uint8Array<ArrayBuffer>): File {
  return new File([content], name);
}

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

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
  it("is an image or a PDF by its first bytes, whatever it is called", async () => {
    const { files } = await read([file("plan", PNG), file("a.txt", "%PDF-1.7")], LIMITS);
    expect(files).toEqual([
      { name: "plan", data: "iVBORw0KGgo=", mediaType: "image/png" },
      { name: "a.txt", data: "JVBERi0xLjc=", mediaType: "application/pdf" },
    ]);
    expect(files.map(size)).toEqual([8, 8]);
    expect(contextOf(files)[0]).toEqual({ name: "plan", data: "iVBORw0KGgo=" });
  });
  it("is refused where nobody looks at images", async () => {
    expect((await read([file("a.png", PNG)], { ...LIMITS, images: false })).refused).toEqual([
      "a.png can’t be attached: only boards take images.",
    ]);
  });
  it("is refused when it is neither text nor any of these", async () => {
    const why =
      "can’t be attached. Use text, Markdown, code, a PDF or an image (PNG, JPEG, GIF, WebP).";
    expect(
      await refused(file("a.zip", new Uint8Array([0x50, 0x4b, 0xff])), file("b", "a\0b")),
    ).toEqual([`a.zip ${why}`, `b ${why}`]);
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
    const [files, setFiles] = useState<AttachedFile[]>([held("old", 1)]);
    return useFiles(files, { ...LIMITS, files: 9 }, setFiles);
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

it("a pasted text gets a name that no other file has", () => {
  const files = [held("pasted.txt", 1), held("pasted-2.txt", 1)];
  expect([freeName([], "pasted", "txt"), freeName(files, "pasted", "txt")]).toEqual([
    "pasted.txt",
    "pasted-3.txt",
  ]);
});

it("what they take of a window is told roughly, and of a PDF not before it is read", () => {
  expect([
    tokensOf([held("a", 10)]),
    tokensOf([{ name: "b", data: "", mediaType: "image/png" }]),
    tokensOf([{ name: "c", data: "", mediaType: "application/pdf" }]),
  ]).toEqual([3, 1_500, 0]);
});
