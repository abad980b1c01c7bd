import { expect, it } from "vitest";
import { draftPlace, renewed, type BoardView, type Post } from "./board";

it("keeps the drafts of boards and agents apart, whatever dots their names have", () => {
  const as = (name: string) => ({ name, role: "specialist" as const, token: "t" });
  const places = [
    draftPlace({ board: "a", me: as("b.c") }, "post"),
    draftPlace({ board: "a.b", me: as("c") }, "post"),
    draftPlace({ board: "a", me: undefined }, "b.c", "post"),
    draftPlace({ board: "a", me: as("b") }, "c", "post"),
    draftPlace({ board: "a", me: as("b/c") }, "post"),
  ];
  expect(new Set(places).size).toBe(places.length);
});

function post(postId: string, accept = 0): Post {
  const tally = { accept, reject: 0, defer: 0 };
  return {
    postId,
    author: "a",
    type: "claim",
    title: "",
    at: "",
    standing: "surviving",
    tally,
    annotations: [],
    votes: [],
  };
}

function view(version: number, posts: Post[], more: Partial<BoardView> = {}): BoardView {
  return {
    boardId: "b",
    sessionId: "s",
    version,
    topic: "?",
    phase: "debate",
    since: "",
    openedBy: "fay",
    openedAt: "",
    admission: "open",
    debateVisibility: "full",
    agents: [],
    posts,
    postsTotal: 4,
    steps: [],
    whyNot: [],
    allowed: [],
    next: [],
    ...more,
  };
}

const ids = (pages: BoardView[] | undefined) =>
  pages?.map((page) => page.posts.map((one) => `${one.postId} ${one.tally.accept}`));

it("puts what has changed into the pages that are there, and what is new at their end", () => {
  const [one, two, three] = [post("a/1"), post("a/2"), post("a/3")];
  const pages = [view(7, [one, two], { nextCursor: "2" }), view(7, [three])];
  const changes = view(9, [post("a/2", 1), post("a/4")], { changedSince: 7 });
  const now = renewed(pages, changes);
  expect(ids(now)).toEqual([
    ["a/1 0", "a/2 1"],
    ["a/3 0", "a/4 0"],
  ]);
  expect(now?.map((page) => [page.version, page.nextCursor])).toEqual([
    [9, "2"],
    [9, undefined],
  ]);
  // What has not changed is the same, and is not drawn again.
  expect(now?.[0]?.posts[0]).toBe(one);
  // Where not all is loaded, what is new comes with the rest.
  const begun = pages.slice(0, 1);
  expect(ids(renewed(begun, changes))).toEqual([["a/1 0", "a/2 1"]]);
});

it("loads the board again where the server sent all, or too much", () => {
  const pages = [view(7, [post("a/1")])];
  expect(renewed(pages, view(9, [post("a/1")]))).toBeUndefined();
  expect(renewed(pages, view(9, [], { changedSince: 7, nextCursor: "200" }))).toBeUndefined();
});
