import { expect, test } from "vitest";
import {
  entriesOf,
  firstLine,
  merge,
  NO_THREAD,
  opening,
  type Change,
  type Post,
  type Silence,
  type Thread,
} from "./entries";

function post(sequence: number): Post {
  return { sequence, sender: "Ann", body: `${sequence}`, depth: 0, addressed: [], at: "" };
}

function silence(member: string, upto: number, text = ""): Silence {
  return { member, upto, why: "stopped", text };
}

function run(from: number, to: number, ...silences: Silence[]): Thread {
  const posts = Array.from({ length: to - from + 1 }, (_, index) => post(from + index));
  return { posts, silences, changes: [] };
}

function sequences(thread: Thread): number[] {
  return thread.posts.map((one) => one.sequence);
}

test("pieces read in any order make one run, each post once", () => {
  const newest = merge(NO_THREAD, run(5, 8));
  const older = merge(newest, run(2, 5));
  expect(sequences(older)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expect(sequences(merge(older, run(8, 9)))).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a change stands where it was made, once, and not before what is read", () => {
  const change = (after: number, at: string): Change => ({ after, removed: ["Ben"], at });
  const thread = { ...run(3, 4), changes: [change(3, "b")] };
  const older = { ...run(1, 3), changes: [change(0, "a"), change(3, "b")] };
  const shown = (whole: Thread) =>
    entriesOf(whole).map((entry) => (entry.type === "post" ? entry.post.sequence : entry.type));
  expect(shown(thread)).toEqual([3, "change", 4]);
  expect(shown(merge(thread, older))).toEqual(["change", 1, 2, 3, "change", 4]);
  expect(merge(thread, older).changes).toHaveLength(2);
  expect(shown({ ...run(3, 4), changes: [change(1, "a")] })).toEqual([3, 4]);
});

test("what is known keeps its identity", () => {
  const thread = run(1, 3, silence("Ben", 2));
  const again = merge(thread, run(2, 3, silence("Ben", 2)));
  expect(again.posts).toBe(thread.posts);
  expect(again.silences[0]).toBe(thread.silences[0]);
});

test("the words of a stopped turn replace the turn without words", () => {
  const thread = merge(run(1, 2, silence("Ben", 2)), {
    posts: [],
    silences: [silence("Ben", 2, "I")],
    changes: [],
  });
  expect(thread.silences.map((one) => one.text)).toEqual(["I"]);
});

test("a silence stands after the last post that it took in, and not without it", () => {
  const thread = run(2, 4, silence("Ben", 1), silence("Ben", 2), silence("Cid", 4));
  const shown = entriesOf(thread).map((entry) =>
    entry.type === "silence" ? entry.silence.member : "post" in entry && entry.post.sequence,
  );
  expect(shown).toEqual([2, "Ben", 3, 4, "Cid"]);
});

test("a quote is one line without marks, and not long", () => {
  expect(firstLine("\n## **The** `point`\n\nmore")).toBe("The point");
  expect(firstLine("x".repeat(200))).toBe(`${"x".repeat(120)}…`);
});

test("a charter is known by its first words, not by its heading", () => {
  expect(opening("# Purpose\n\nWatch the release.")).toBe("Watch the release.");
  expect(opening("# Purpose")).toBe("Purpose");
});
