// Which posts are shown, and in which order.

import type { Post } from "./board";
import type { PostType, Standing } from "./wording";

export type Order = "posted" | "newest" | "votes" | "contested";

export interface Choice {
  type: PostType | "";
  author: string;
  standing: Standing | "";
  order: Order;
  /** Every one of these occurs in it. */
  words: string;
}

export const ALL_POSTS: Choice = { type: "", author: "", standing: "", order: "posted", words: "" };

export function isFiltered({ type, author, standing, words }: Choice): boolean {
  return type !== "" || author !== "" || standing !== "" || words.trim() !== "";
}

/** The lead of a post, and at the same lead how many accept: as the decision is made. */
function lead({ tally }: Post): number {
  return (tally.accept - tally.reject) * 1_000_000 + tally.accept;
}

/** Most who accept and reject the same thing; then most votes. */
export function contested({ tally }: Pick<Post, "tally">): number {
  const total = tally.accept + tally.reject + tally.defer;
  return Math.min(tally.accept, tally.reject) * 1_000_000 + total;
}

function hasWords(
  { title, body, author, targetFile = "" }: Post,
  words: readonly string[],
): boolean {
  const text = `${title}\n${body}\n${author}\n${targetFile}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export function chosenPosts(posts: readonly Post[], choice: Choice): Post[] {
  const words = choice.words.toLowerCase().split(/\s+/).filter(Boolean);
  const kept = posts.filter(
    (post) =>
      (choice.type === "" || post.type === choice.type) &&
      (choice.author === "" || post.author === choice.author) &&
      (choice.standing === "" || post.standing === choice.standing) &&
      hasWords(post, words),
  );
  switch (choice.order) {
    case "posted":
      return kept;
    case "newest":
      return kept.reverse();
    case "votes":
      return kept.sort((a, b) => lead(b) - lead(a));
    case "contested":
      return kept.sort((a, b) => contested(b) - contested(a));
  }
}
