import { expect, test } from "vitest";
import { matching, mentionAt, named } from "./mention";

/** `|` is the caret. */
function check(written: string, expected: string | undefined) {
  const caret = written.indexOf("|");
  expect(mentionAt(written.replace("|", ""), caret)?.written).toBe(expected);
}

test("a name is looked for where somebody writes one", () => {
  check("@|", "");
  check("@sk|", "sk");
  check("ask @pr-reviewer@v1|", undefined);
  check("ask (@Ske|ptic)", "Ske");
  check("line\n@a|", "a");
});

test("and nowhere else", () => {
  check("sk|", undefined);
  check("@sk eptic|", undefined);
  check("ann@exa|", undefined);
  check("example.org/@an|", undefined);
  check("`@an|", undefined);
  check("@.|", undefined);
});

test("beginnings come before other matches, whatever the case", () => {
  expect(matching(["Ann", "Joanna", "Ben", "anton"], "AN")).toEqual(["Ann", "anton", "Joanna"]);
  expect(matching(["Ann", "Ben"], "")).toEqual(["Ann", "Ben"]);
});

test("the name takes the place of what was written", () => {
  const text = "Hello @skep and all";
  const mention = mentionAt(text, 9);
  expect(mention && named(text, mention, "Skeptic")).toEqual({
    text: "Hello @Skeptic and all",
    caret: 15,
  });
  const end = mentionAt("@s", 2);
  expect(end && named("@s", end, "Skeptic")).toEqual({ text: "@Skeptic ", caret: 9 });
});
