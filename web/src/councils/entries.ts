// A part of a council's thread that this page holds: a run of posts without a gap, and the
// turns that ended without a post. Pieces that are read later are merged in; what is here
// already keeps its identity, so that it is not drawn again.

import type { Schemas } from "../api/client";

export type Post = Schemas["CouncilPostView"];
export type Silence = Schemas["SilenceView"];
export type Change = Schemas["ChangeView"];

export interface Thread {
  readonly posts: readonly Post[];
  readonly silences: readonly Silence[];
  readonly changes: readonly Change[];
}

export type Entry =
  | { type: "post"; post: Post }
  | { type: "silence"; silence: Silence }
  | { type: "change"; change: Change };

export const NO_THREAD: Thread = { posts: [], silences: [], changes: [] };

export function firstOf(thread: Thread): number | undefined {
  return thread.posts[0]?.sequence;
}

export function lastOf(thread: Thread): number {
  return thread.posts.at(-1)?.sequence ?? 0;
}

export function merge(thread: Thread, page: Thread): Thread {
  return {
    posts: mergePosts(thread.posts, page.posts),
    silences: mergeSilences(thread, page),
    changes: mergeChanges(thread.changes, page.changes),
  };
}

function mergeChanges(known: readonly Change[], read: readonly Change[]): readonly Change[] {
  const at = new Set(known.map((change) => change.at));
  const more = read.filter((change) => !at.has(change.at));
  if (more.length === 0) return known;
  return [...known, ...more].sort((one, other) => one.at.localeCompare(other.at));
}

function mergePosts(known: readonly Post[], read: readonly Post[]): readonly Post[] {
  const last = known.at(-1)?.sequence ?? 0;
  const first = known[0]?.sequence ?? Infinity;
  const before = read.filter((post) => post.sequence < first);
  const after = read.filter((post) => post.sequence > last && post.sequence >= first);
  return before.length + after.length === 0 ? known : [...before, ...known, ...after];
}

/** One turn of a member has one end, though the words of one that was stopped come later. */
function mergeSilences(thread: Thread, page: Thread): readonly Silence[] {
  if (page.silences.length === 0) return thread.silences;
  const all = new Map(thread.silences.map((silence) => [turnOf(silence), silence]));
  for (const silence of page.silences) {
    const known = all.get(turnOf(silence));
    if (!known || known.why !== silence.why || known.text !== silence.text) {
      all.set(turnOf(silence), silence);
    }
  }
  return [...all.values()];
}

export function turnOf(silence: Silence): string {
  return `${silence.member}/${silence.upto}`;
}

/**
 * In the order in which to show them: a silence stands after the last post that it took in, a
 * change after the last post before it.
 */
export function entriesOf(thread: Thread): Entry[] {
  const changesAfter = (sequence: number) =>
    thread.changes
      .filter((change) => change.after === sequence)
      .map((change): Entry => ({ type: "change", change }));
  const silences = new Map<number, Silence[]>();
  for (const silence of thread.silences) {
    silences.set(silence.upto, [...(silences.get(silence.upto) ?? []), silence]);
  }
  const posts = thread.posts.flatMap((post): Entry[] => [
    { type: "post", post },
    ...(silences.get(post.sequence) ?? []).map((silence): Entry => ({ type: "silence", silence })),
    ...changesAfter(post.sequence),
  ]);
  return [...changesAfter((firstOf(thread) ?? 1) - 1), ...posts];
}

const QUOTE_CHARACTERS = 120;

/** The beginning of a text in one line, without the marks of Markdown. */
export function firstLine(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/^[\s#>*\-`]+/, "").trim());
  const line = (lines.find((one) => one !== "") ?? "").replace(/\*\*|__|`/g, "");
  const characters = [...line];
  if (characters.length <= QUOTE_CHARACTERS) return line;
  return `${characters.slice(0, QUOTE_CHARACTERS).join("").trimEnd()}…`;
}

/** The first line that is no heading, where there is one: a charter often begins with one. */
export function opening(text: string): string {
  const prose = text.split("\n").filter((line) => !/^\s*#/.test(line));
  return firstLine(prose.join("\n")) || firstLine(text);
}
