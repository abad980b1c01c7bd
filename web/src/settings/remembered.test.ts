import { afterEach, expect, it } from "vitest";
import { LAST_BOARD, UNSENT } from "../home/convene";
import { placeOf as boardPlace } from "../library/BoardForm";
import { placeOf as agentPlace } from "../library/useDraft";
import { remember, rememberedNames } from "../stored";
import { draftPlace } from "../whiteboards/board";
import { sorted } from "./remembered";

afterEach(() => localStorage.clear());

/** As the pages call them. */
const WORDS = [
  UNSENT,
  "board.draft",
  "council-new",
  "discussion-draft",
  agentPlace("new-agent"),
  boardPlace("security"),
  "approval.1.sign",
  "ballot.1.1.2",
  "cancelling.1",
  "council-draft.1",
  "council-summary.1",
  "draft.whiteboard",
  draftPlace({ board: "launch", me: undefined }, "post"),
  "follow-up.1",
  "interjection.1",
  "reply.1.2",
  "turn.1.call.text",
  "workflow-draft.",
  "key.board.draft",
];
const LAYOUT = ["board.layout", "board.map", "council-charter.wide", "council-members.narrow"];

it("puts every name into one group, and lets theme and keys stay with their switches", () => {
  const names = [
    "board",
    "council-name.1",
    "council-tokens.1",
    LAST_BOARD,
    "my-name",
    ...LAYOUT,
    "single-keys",
    "theme",
    "notify",
    "whiteboard.launch",
    ...WORDS,
  ];
  const groups = sorted(names);
  expect(groups.map((group) => [group.title, group.names])).toEqual([
    ["Who you are on whiteboards", ["whiteboard.launch"]],
    ["Who you are in councils", ["council-name.1", "council-tokens.1"]],
    ["Your usual name", ["my-name"]],
    ["The last board", ["board", LAST_BOARD]],
    ["Unsent drafts", WORDS],
    ["Layout", LAYOUT],
  ]);
  const shown = new Set(groups.flatMap((group) => group.names));
  expect(names.filter((name) => !shown.has(name))).toEqual(["single-keys", "theme", "notify"]);
});

it("forgets words that were not sent only after asking", () => {
  for (const name of WORDS) expect(sorted([name])[0]?.warning, name).toBeDefined();
});

it("says who one is, and never shows a token", () => {
  remember("whiteboard.launch", { identities: [{ name: "Ada", token: "secret-1" }] });
  remember("council-tokens.1", { Ada: "secret-2" });
  remember("my-name", "Ada");
  localStorage.setItem("of another program", "x");
  const groups = sorted(rememberedNames());
  expect(groups.map((group) => group.found)).toEqual(["Ada on launch", "1 council", "Ada"]);
  expect(JSON.stringify(groups)).not.toContain("secret");
});
