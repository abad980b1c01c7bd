import { describe, expect, it } from "vitest";
import { take } from "./files";

const LIMITS = { advisors: 16, files: 2, fileBytes: 20, allBytes: 30 };

function file(name: string, content: string | Uint8Array<ArrayBuffer>): File {
  return new File([content], name);
}

describe("files", () => {
  const refused = async (...files: File[]) => (await take([], files, LIMITS)).refused;

  it("are read as text", async () => {
    expect(await take([], [file("a.md", "# é")], LIMITS)).toEqual({
      files: [{ name: "a.md", text: "# é" }],
      refused: [],
    });
  });
  it("with the same name are a newer version", async () => {
    const taken = await take([{ name: "a", text: "old" }], [file("a", "new")], LIMITS);
    expect(taken.files).toEqual([{ name: "a", text: "new" }]);
  });
  it("that are too large are refused by name and size", async () => {
    expect(await refused(file("big.txt", "x".repeat(21)))).toEqual([
      "big.txt is too large (21 B): a file may have 20 B.",
    ]);
  });
  it("that are no text are refused", async () => {
    expect(await refused(file("a.png", new Uint8Array([0x89, 0x50, 0xff])))).toEqual([
      "a.png is no text file. Attach text, Markdown or code.",
    ]);
  });
  it("that are empty are refused", async () => {
    expect(await refused(file("a", " \n"))).toEqual(["a is empty."]);
  });
  it("are taken as long as they fit, and the others are named", async () => {
    const taken = await take(
      [],
      [file("a", "x".repeat(20)), file("b", "x".repeat(11)), file("c", "x"), file("d", "x")],
      LIMITS,
    );
    expect(taken.files.map((one) => one.name)).toEqual(["a", "c"]);
    expect(taken.refused).toEqual([
      "b was left out: all files together may have 30 B.",
      "d was left out: a question has at most 2 files.",
    ]);
  });
});
