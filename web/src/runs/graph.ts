// A run as a graph: a node for each step of the file, with its items and rounds in it.

import type { Item, Step as GraphStep } from "../graph/Graph";
import { some, duration } from "../ui/time";
import { iconOf, kindInWords, markInWords, markOf, tookMs, whoDecides, type Step } from "./run";

export function graphOf(steps: readonly Step[], isOver: boolean, now: number): GraphStep[] {
  const inside = new Map<string, Step[]>();
  for (const step of steps) {
    const top = step.place.split("/")[0] ?? "";
    if (step.place === top) inside.set(top, []);
    else inside.get(top)?.push(step);
  }
  return steps
    .filter(({ place }) => !place.includes("/"))
    .map((step) => {
      const inner = inside.get(step.place) ?? [];
      const ms = tookMs(step, now);
      const awaited = inner.find((one) => markOf(one) === "awaited");
      return {
        id: step.place,
        name: step.id,
        needs: step.needs,
        icon: iconOf(step.kind),
        about: aboutOf(step, awaited),
        status: awaited ? "awaited" : markOf(step),
        word: awaited ? "waiting for a person" : markInWords(step, isOver),
        time: ms === undefined || step.status === "skipped" ? undefined : duration(ms),
        ...(step.kind === "foreach" && { items: itemsOf(step, inner, isOver, now), isMany: true }),
        ...(step.kind === "repeat" && { rounds: roundsOf(step, inner) }),
      };
    });
}

function aboutOf(step: Step, awaited: Step | undefined): string {
  if (awaited?.approval) return whoDecides(awaited.approval);
  if (step.status === "failed" && step.reason !== undefined) return step.reason;
  if (step.approval) return whoDecides(step.approval);
  if (step.items) return `${step.items.ended} of ${some(step.items.total, "item")}`;
  return step.label ?? kindInWords(step.kind);
}

/** The last step of an item says how far the item is. */
function itemsOf(step: Step, inner: readonly Step[], isOver: boolean, now: number): Item[] {
  const listed = (step.input as { in?: unknown[] } | undefined)?.in ?? [];
  const byItem = new Map<string, Step[]>();
  for (const one of inner) {
    const at = one.place.split("/")[1] ?? "";
    const own = byItem.get(at);
    if (own) own.push(one);
    else byItem.set(at, [one]);
  }
  return listed.map((item, at) => {
    const own = byItem.get(String(at + 1)) ?? [];
    const last = own.find(({ status }) => status !== "done" && status !== "skipped") ?? own.at(-1);
    const ms = last && tookMs(last, now);
    return {
      key: String(at),
      name: typeof item === "string" ? item : `item ${at + 1}`,
      status: last ? markOf(last) : "waiting",
      word: last ? markInWords(last, isOver) : "waiting",
      about: ms === undefined ? undefined : duration(ms),
    };
  });
}

function roundsOf(step: Step, inner: readonly Step[]) {
  const begun = new Set(inner.map(({ place }) => place.split("/")[1])).size;
  const done = step.status === "running" ? begun - 1 : begun;
  return { done, words: `${some(begun, "round")} so far`, ...(begun > 0 && { most: begun }) };
}
