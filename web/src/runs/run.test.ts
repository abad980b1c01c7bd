import { expect, it } from "vitest";
import {
  decisions,
  pageOfStep,
  rows,
  stepsCounted,
  valueOf,
  whoDecides,
  workedMs,
  type Approval,
  type RunView,
  type Step,
} from "./run";

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();

function step(place: string, more: Partial<Step> = {}): Step {
  const id = place.split("/").at(-1) ?? "";
  return { place, id, kind: "ask", line: 1, needs: [], status: "waiting", ...more };
}

const STEPS = [
  step("settle", { kind: "repeat", status: "running", beganAt: at(0) }),
  step("settle/2/views", { kind: "foreach", status: "done" }),
  step("settle/2/views/3/look", { status: "done", beganAt: at(0), endedAt: at(4) }),
  step("settle/2/sign", { kind: "approve", status: "running", beganAt: at(4) }),
  step("tell"),
];

it("says where a step stands", () => {
  const shown = rows(STEPS).map(({ around, where, holds }) => [around.length, where, holds]);
  expect(shown).toEqual([
    [0, "", 3],
    [1, "round 2", 1],
    [2, "round 2, item 3", 0],
    [1, "round 2", 0],
    [0, "", 0],
  ]);
});

it("counts steps once, and not those around them", () => {
  const words = (steps: Step[], isOver: boolean) =>
    stepsCounted(steps, isOver).map(({ count, word }) => `${count} ${word}`);
  expect(words(STEPS, false)).toEqual(["1 done", "1 running", "1 waiting"]);
  expect(words([step("tell"), step("one", { status: "failed" })], true)).toEqual([
    "1 failed",
    "1 not run",
  ]);
});

it("tells who has decided what", () => {
  const decided = [{ by: "ann", decision: "approved", reason: "", at: at(5) }] as const;
  const approval = { who: ["ann", "ben"], need: 2, decided } as unknown as Approval;
  const sign = { kind: "approve", status: "running", approval } as const;
  expect(decisions(step("sign", sign))).toEqual(["ann approved"]);
  const output = { by: ["ben"], decision: "changes", reason: "Not in winter." };
  const none = { ...approval, decided: [] };
  expect(decisions(step("sign", { ...sign, status: "done", output, approval: none }))).toEqual([
    "ben asked for changes: “Not in winter.”",
  ]);
});

it("does not work while a person is awaited", () =>
  expect(workedMs({ steps: STEPS } as unknown as RunView, Date.parse(at(90_000)))).toBe(4_000));

it("leads to the session that a step has opened", () => {
  const page = (more: Partial<Step>) => pageOfStep(step("one", more));
  expect(page({ kind: "boardroom", session: "7" })).toBe("/boardrooms/7");
  expect(page({ kind: "workflow", session: "7" })).toBe("/runs/7");
  expect(page({ kind: "whiteboard.open", output: { board: "adr-7" } })).toBe("/whiteboards/adr-7");
  expect(page({ kind: "council.open", output: { council: "guild" } })).toBe("/councils/guild");
  expect(page({ kind: "council.post", output: { council: "guild" } })).toBeUndefined();
  expect(page({ kind: "whiteboard.open" })).toBeUndefined();
});

it("names those who decide", () => {
  const who = (need: number, ...names: string[]) => whoDecides({ who: names, need } as Approval);
  expect(who(1, "ann")).toBe("ann");
  expect(who(1, "ann", "ben")).toBe("ann or ben");
  expect(who(2, "ann", "ben")).toBe("ann and ben");
  expect(who(2, "ann", "ben", "cleo")).toBe("2 of ann, ben, and cleo");
});

it("reads what was filled in as the type that is asked for", () => {
  expect(valueOf("string", "12")).toBe("12");
  expect(valueOf("number", "12")).toBe(12);
  expect(valueOf("boolean", "false")).toBe(false);
  expect(valueOf("number", "a dozen")).toBe("a dozen");
});
