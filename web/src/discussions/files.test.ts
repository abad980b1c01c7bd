import { describe, expect, it } from "vitest";
import { limitsOf } from "./draft";
import { kilobytes, take } from "./files";

const LIMITS = {
  ...limitsOf(undefined),
  files: 16,
  fileBytes: 512 * 1024,
  filesBytes: 1024 * 1024,
};

const text = (name: string, content: string) => new File([content], name);

describe("files of a topic", () => {
  it("are added, and one of the same name takes the other's place", async () => {
    const first = await take([text("a.md", "old"), text("b.md", "B")], [], LIMITS);
    const second = await take([text("a.md", "new")], first.files, LIMITS);
    expect(second).toEqual({
      files: [
        { name: "b.md", text: "B" },
        { name: "a.md", text: "new" },
      ],
      refused: [],
    });
  });

  it("are refused with a reason when they are no text, empty or too large", async () => {
    const binary = new File([new Uint8Array([0x89, 0x50, 0xff, 0x00])], "logo.png");
    const large = text("large.txt", "x".repeat(LIMITS.fileBytes + 1));
    const { files, refused } = await take(
      [binary, text("empty.txt", " \n"), large, text("good.txt", "é")],
      [],
      LIMITS,
    );
    expect(files).toEqual([{ name: "good.txt", text: "é" }]);
    expect(refused).toEqual([
      "logo.png is not a text file. Save it as plain text, Markdown or code first.",
      "empty.txt is empty.",
      "large.txt: one file may have 512 KB.",
    ]);
  });

  it("are bounded in number and together", async () => {
    const many = Array.from({ length: LIMITS.files + 1 }, (_, at) => text(`${at}.txt`, "x"));
    expect((await take(many, [], LIMITS)).refused).toEqual(["16.txt: at most 16 files."]);
    const half = "x".repeat(LIMITS.fileBytes);
    const three = ["a", "b", "c"].map((name) => text(name, half));
    expect((await take(three, [], LIMITS)).refused).toEqual([
      "c: all files together may have 1 MB.",
    ]);
  });
});

describe("sizes", () => {
  it("are told in the next larger unit", () => {
    expect([10, 2_048, 1024 * 1024, 1.5 * 1024 * 1024].map(kilobytes)).toEqual([
      "1 KB",
      "2 KB",
      "1 MB",
      "1.5 MB",
    ]);
  });
});
