import { expect, test } from "vitest";
import { agreement, votedOn, voters } from "./agreement";
import type { Annotation, Post } from "./board";
import { recordParts } from "./madr";
import { milestone } from "./milestones";
import { ALL_POSTS, chosenPosts, type Choice } from "./order";
import { becomesVisible, ends, skipped, WAYS_ON } from "./phases";
import { inWords } from "./reasons";
import { challengeState, threads } from "./threads";

type Votes = Record<string, Post["votes"][number]["vote"]>;

function post(postId: string, votes: Votes = {}, more: Partial<Post> = {}): Post {
  const cast = Object.entries(votes);
  const count = (wanted: string) => cast.filter(([, vote]) => vote === wanted).length;
  return {
    postId,
    author: postId.split("/")[0] ?? "",
    type: "proposal",
    title: postId,
    at: "2026-01-01T00:00:00Z",
    standing: "surviving",
    tally: { accept: count("accept"), reject: count("reject"), defer: count("defer") },
    annotations: [],
    votes: cast.map(([by, vote], index) => ({ by, vote, at: `2026-01-0${index + 1}T00:00:00Z` })),
    ...more,
  };
}

const ids = (posts: Post[]) => posts.map((one) => one.postId);

test("posts are chosen and ordered, and the list that was given stays as it is", () => {
  const posts = [
    post("ada/1", { ben: "accept", cleo: "accept" }),
    post("ben/1", { ada: "accept", cleo: "reject" }, { type: "claim" }),
    post("cleo/1", { ada: "reject" }, { standing: "excluded" }),
    post("ada/2"),
  ];
  const check = (choice: Partial<Choice>, expected: string[]) =>
    expect(ids(chosenPosts(posts, { ...ALL_POSTS, ...choice }))).toEqual(expected);
  check({}, ["ada/1", "ben/1", "cleo/1", "ada/2"]);
  check({ order: "newest" }, ["ada/2", "cleo/1", "ben/1", "ada/1"]);
  check({ order: "votes" }, ["ada/1", "ben/1", "ada/2", "cleo/1"]);
  check({ order: "contested" }, ["ben/1", "ada/1", "cleo/1", "ada/2"]);
  check({ author: "ada" }, ["ada/1", "ada/2"]);
  check({ type: "claim" }, ["ben/1"]);
  check({ words: " BEN " }, ["ben/1"]);
  check({ words: "ben ada" }, []);
  check({ standing: "excluded" }, ["cleo/1"]);
  expect(ids(posts)).toEqual(["ada/1", "ben/1", "cleo/1", "ada/2"]);
});

test("agreement counts the posts that both have voted on, and names where they differ", () => {
  const posts = [
    post("ada/1", { ben: "accept", cleo: "accept" }),
    post("ada/2", { ben: "accept", cleo: "defer" }),
    post("ada/3", { ben: "reject" }),
    post("ada/4"),
  ];
  expect(agreement(posts, "ben", "cleo")).toEqual({ same: 1, of: 2, differ: ["ada/2"] });
  expect(agreement(posts, "cleo", "ben")).toEqual(agreement(posts, "ben", "cleo"));
  expect(agreement(posts, "ben", "dora")).toEqual({ same: 0, of: 0, differ: [] });
  expect(voters(posts)).toEqual(["ben", "cleo"]);
  expect(ids(votedOn(posts))).toEqual(["ada/1", "ada/2", "ada/3"]);
});

test("answers stand under the challenge that they answer", () => {
  const note = (annotationId: string, type: Annotation["type"], more: Partial<Annotation> = {}) =>
    ({ annotationId, by: "ben", type, at: "2026-01-01T00:00:00Z", ...more }) as Annotation;
  const settled = note("ben/a1", "challenge", { open: false });
  const open = note("ben/a2", "challenge", { open: true });
  const back = note("ben/a3", "challenge", { open: false });
  const found = threads([
    settled,
    note("ada/a1", "rebuttal"),
    open,
    note("ada/a2", "rebuttal", { challengeId: "ben/a1" }),
    note("cleo/a1", "resolution", { challengeId: "ben/a1" }),
    back,
    note("ben/a4", "withdrawal", { challengeId: "ben/a3" }),
    note("cleo/a2", "resolution", { challengeId: "hidden/a1" }),
  ]);
  const gist = found.map(({ head, answers }) => [head, ...answers].map((one) => one.annotationId));
  expect(gist).toEqual([
    ["ben/a1", "ada/a2", "cleo/a1"],
    ["ada/a1"],
    ["ben/a2"],
    ["ben/a3", "ben/a4"],
    ["cleo/a2"],
  ]);
  const states = found.filter((one) => one.head.type === "challenge").map(challengeState);
  expect(states).toEqual(["settled", "open", "withdrawn"]);
});

test("a decision record is taken apart into facts and text", () => {
  const record =
    '---\nstatus: accepted\ndate: 2026-01-02\ndecision-makers: ["Ada", "ben"]\n---\n\n# Which?\n\n## Context\n\n# not a title\n';
  expect(recordParts(record)).toEqual({
    facts: [
      { name: "Status", value: "accepted" },
      { name: "Date", value: "2026-01-02" },
      { name: "Participants", value: "Ada, ben" },
    ],
    text: "## Context\n\n# not a title",
  });
  expect(recordParts("plain")).toEqual({ facts: [], text: "plain" });
});

test("a milestone is told once, and never of one's own post", () => {
  const seen = (phase: "blind" | "read" | "debate", posts: Post[], postsTotal = posts.length) => ({
    phase,
    posts,
    postsTotal,
    steps: phase === "blind" ? [] : [{ to: phase, by: "Ada", at: "2026-01-01T00:00:00Z" }],
    you: { agentName: "ben", role: "specialist" as const, since: "2026-01-01T00:00:00Z" },
  });
  const told = (before: ReturnType<typeof seen>, now: ReturnType<typeof seen>) =>
    milestone(before, now)?.text;
  const [mine, other] = [post("ben/1"), post("ada/1", {}, { title: "Use it" })];
  expect(told(seen("blind", []), seen("blind", [mine]))).toBeUndefined();
  expect(told(seen("blind", [mine]), seen("read", [mine, other]))).toBe(
    "The board is in read now, moved on by Ada. 2 posts to read.",
  );
  expect(told(seen("debate", [mine]), seen("debate", [mine, other]))).toBe(
    "New post by ada: Use it",
  );
  // The next page of the same list.
  expect(told(seen("debate", [mine], 2), seen("debate", [mine, other], 2))).toBeUndefined();
  expect(told(seen("debate", [mine, other]), seen("debate", [mine, other]))).toBeUndefined();
});

test("a move says what it leaves out, shows and ends", () => {
  expect(WAYS_ON.read.map((to) => skipped("read", to))).toEqual([undefined, "validate"]);
  expect(WAYS_ON.validate.map((to) => skipped("validate", to))).toEqual([undefined, "debate"]);
  expect(ends("read", "debate")).toEqual(["Validations"]);
  expect(ends("validate", "resolve")).toEqual([
    "Validations",
    "Joining, posting, challenging and voting",
  ]);
  const resolve = (debate: "full" | "own-and-related") =>
    becomesVisible("debate", "resolve", debate)[0];
  expect(resolve("full")).not.toBe(resolve("own-and-related"));
});

test("reasons are told by titles", () => {
  const titles = new Map([["ben@tools/1", "Use mdBook"]]);
  const said = [
    "Ada/a2 of ben@tools/1 is not settled",
    "no one has voted on ben@tools/1",
    "no one has voted on other/1",
    "cleo has not posted yet",
  ].map((reason) => inWords(reason, titles));
  expect(said).toEqual([
    "Ada’s challenge to “Use mdBook” is not settled.",
    "No one has voted on “Use mdBook”.",
    "No one has voted on other/1.",
    "cleo has not posted yet.",
  ]);
});
