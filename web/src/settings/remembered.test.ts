import { afterEach, expect, it } from "vitest";
import { remember, rememberedNames } from "../stored";
import { sorted } from "./remembered";

afterEach(() => localStorage.clear());

it("puts every name into one group, and lets theme and keys stay with their switches", () => {
  const names = [
    "board",
    "board.draft",
    "council-name",
    "council-name.1",
    "council-tokens.1",
    "discussion-draft",
    "follow-up.1",
    "home.board",
    "home.prompt",
    "my-name",
    "panel-layout",
    "reply.1.2",
    "single-keys",
    "theme",
    "whiteboard.launch",
  ];
  const groups = sorted(names);
  expect(groups.map((group) => [group.title, group.names])).toEqual([
    ["Who you are on whiteboards", ["whiteboard.launch"]],
    ["Who you are in councils", ["council-name.1", "council-tokens.1"]],
    ["Your usual name", ["council-name", "my-name"]],
    ["The last board", ["board", "home.board"]],
    [
      "Words that you have not sent yet",
      ["board.draft", "discussion-draft", "follow-up.1", "home.prompt", "reply.1.2"],
    ],
    ["Layout", ["panel-layout"]],
  ]);
  const shown = new Set(groups.flatMap((group) => group.names));
  expect(names.filter((name) => !shown.has(name))).toEqual(["single-keys", "theme"]);
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
