import { expect, test } from "vitest";
import { countsInWords, standingOf, wordsIn } from "./standing";

const retrying = { callId: "1", attempt: 2, waitMs: 6_000, message: "Cut off.", until: 0 };
const waiting = { callId: "1", attempt: 1, place: 2 };

test("what an advisor does is one word", () => {
  const asked = { status: "answering", text: "" } as const;
  expect(standingOf(asked, undefined, undefined)).toBe("asked");
  expect(standingOf(asked, undefined, "thoughts")).toBe("thinking");
  expect(standingOf(asked, undefined, "words")).toBe("writing");
  // After a reload the words are in the view before a piece of them has come.
  expect(standingOf({ ...asked, text: "Some" }, undefined, undefined)).toBe("writing");
  expect(standingOf({ ...asked, text: "Some" }, retrying, "words")).toBe("retrying");
  expect(standingOf(asked, waiting, undefined)).toBe("in line");
  expect(standingOf({ status: "done", text: "All." }, undefined, "words")).toBe("finished");
  expect(standingOf({ status: "failed", text: "" }, undefined, undefined)).toBe("failed");
});

test("all together are counted in one order", () => {
  expect(countsInWords(["writing", "in line", "finished", "finished", "failed"])).toBe(
    "2 finished, 1 writing, 1 in line, 1 failed",
  );
  expect(countsInWords([])).toBe("");
});

test("words are what stands between spaces", () => {
  expect(wordsIn("")).toBe(0);
  expect(wordsIn("  Two\n\nwords ")).toBe(2);
});
