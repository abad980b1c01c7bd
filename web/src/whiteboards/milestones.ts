// What whoever listens to the page is told, once: a move of the board, and a new post of
// somebody else.

import { useEffect, useRef } from "react";
import { announce, toast } from "../ui/announce";
import { some } from "../ui/time";
import type { BoardView, Post } from "./board";
import { phaseName } from "./phases";

type Told = Pick<BoardView, "phase" | "postsTotal" | "you" | "steps">;

interface Milestone {
  text: string;
  /** Also for those who see the page. */
  isForAll: boolean;
}

export function milestone(
  before: Told & { posts: readonly Post[] },
  now: Told & { posts: readonly Post[] },
): Milestone | undefined {
  if (before.phase !== now.phase) {
    const by = now.steps.at(-1)?.by ?? "the deadline";
    const posts = before.phase === "blind" ? ` ${some(now.postsTotal, "post")} to read.` : "";
    const where = phaseName(now.phase).toLowerCase();
    const text =
      now.phase === "archived"
        ? `The board was archived by ${by}.`
        : `The board is in ${where} now, moved on by ${by}.${posts}`;
    return { text, isForAll: true };
  }
  const known = new Set(before.posts.map((post) => post.postId));
  const fresh = now.posts.filter(
    (post) => !known.has(post.postId) && post.author !== now.you?.agentName,
  );
  // More of the list was loaded, or of a long one the end is not loaded yet.
  if (now.postsTotal <= before.postsTotal) return undefined;
  const [post] = fresh;
  if (!post) return undefined;
  if (fresh.length > 1) return { text: `${some(fresh.length, "new post")}.`, isForAll: false };
  return { text: `New post by ${post.author}: ${post.title}`, isForAll: false };
}

export function useMilestones(view: BoardView | undefined, posts: readonly Post[]): void {
  const before = useRef<BoardView & { posts: Post[] }>(undefined);
  useEffect(() => {
    if (!view) return;
    const now = { ...view, posts: [...posts] };
    const told = before.current && milestone(before.current, now);
    before.current = now;
    if (told) (told.isForAll ? toast : announce)(told.text);
  }, [view, posts]);
}
