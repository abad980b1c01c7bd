// How far two voters agree: of the posts that both have voted on, how many the same way.

import type { Post } from "./board";
import { contested } from "./order";

export interface Pair {
  same: number;
  of: number;
  /** The posts on which they differ. */
  differ: string[];
}

type Voted = Pick<Post, "postId" | "votes">;

/** Everybody who has voted, in the order of their first vote on the board. */
export function voters(posts: readonly Pick<Post, "votes">[]): string[] {
  const first = new Map<string, string>();
  for (const vote of posts.flatMap((post) => post.votes)) {
    const known = first.get(vote.by);
    if (known === undefined || vote.at < known) first.set(vote.by, vote.at);
  }
  return [...first].sort(([, a], [, b]) => a.localeCompare(b)).map(([name]) => name);
}

export function agreement(posts: readonly Voted[], a: string, b: string): Pair {
  const pair: Pair = { same: 0, of: 0, differ: [] };
  for (const post of posts) {
    const one = post.votes.find((vote) => vote.by === a);
    const other = post.votes.find((vote) => vote.by === b);
    if (!one || !other) continue;
    pair.of += 1;
    if (one.vote === other.vote) pair.same += 1;
    else pair.differ.push(post.postId);
  }
  return pair;
}

/** Posts with votes, the contested ones first. */
export function votedOn(posts: readonly Post[]): Post[] {
  return posts.filter((post) => post.votes.length > 0).sort((a, b) => contested(b) - contested(a));
}
