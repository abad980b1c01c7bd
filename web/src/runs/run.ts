// A run in words: what each step does, where it stands, and how long there was work.

import type { Schemas } from "../api/client";
import { pageOf } from "../session/kinds";
import { clock } from "../ui/clock";
import { isIcon, type IconName } from "../ui/icons";
import { some } from "../ui/time";

export type RunView = Schemas["RunView"];
export type Step = Schemas["RunStepView"];
export type Approval = Schemas["ApprovalView"];
export type Decision = Schemas["ApprovalDecision"];

const KINDS: Record<string, string> = {
  ask: "Ask a model",
  boardroom: "Board",
  discussion: "Discussion",
  "whiteboard.open": "Open whiteboard",
  "whiteboard.register": "Join whiteboard",
  "whiteboard.transition": "Change phase",
  "whiteboard.post": "Post",
  "whiteboard.annotate": "Annotate",
  "whiteboard.vote": "Vote",
  "whiteboard.conflicts": "Find conflicts",
  "whiteboard.summarize": "Summarize",
  "whiteboard.archive": "Archive whiteboard",
  "council.open": "Open council",
  "council.post": "Post to council",
  "council.read": "Read council",
  "council.close": "Close council",
  workflow: "Workflow",
  foreach: "For each item",
  repeat: "Repeat",
  set: "Set values",
  sleep: "Pause",
  wait: "Wait for a signal",
  approve: "Approval",
  http: "HTTP request",
  write: "Write a file",
};

const ICONS: Record<string, IconName> = {
  ask: "participant",
  approve: "person",
  http: "generalist",
  write: "file",
  workflow: "workflow",
  foreach: "columns",
  repeat: "retry",
  set: "edit",
  sleep: "clock",
  wait: "clock",
};

/** The drawing of what a step does; one that tells a room something has the room's. */
export function iconOf(kind: string): IconName {
  const [form = ""] = kind.split(".");
  return ICONS[kind] ?? (isIcon(form) ? form : "file");
}

export function kindInWords(kind: string): string {
  return KINDS[kind] ?? kind;
}

const AROUND: Record<string, string> = { repeat: "round", foreach: "item" };

export interface Row {
  step: Step;
  /** The places of the steps around it, the outermost first. */
  around: string[];
  /** `settle/2/panel` stands in “round 2”. */
  where: string;
  /** How many steps stand in it. */
  holds: number;
}

/** Where each step stands. Runs have up to 2,000 of them, so that each is looked at once. */
export function rows(steps: readonly Step[]): Row[] {
  const all = new Map<string, Row>();
  for (const step of steps) {
    const parts = step.place.split("/");
    const around: string[] = [];
    const where: string[] = [];
    for (let at = 1; at < parts.length; at += 2) {
      const place = parts.slice(0, at).join("/");
      const outer = all.get(place);
      if (outer) outer.holds += 1;
      around.push(place);
      where.push(`${AROUND[outer?.step.kind ?? ""] ?? "part"} ${parts[at]}`);
    }
    all.set(step.place, { step, around, where: where.join(", "), holds: 0 });
  }
  return [...all.values()];
}

/** Steps that hold others. */
export const HOLDS: readonly string[] = ["foreach", "repeat"];
/** Those, and steps in which nobody works. */
const IDLE: readonly string[] = [...HOLDS, "approve", "sleep", "wait"];

export function workedMs(run: RunView, now: number): number {
  return worked(run, now)(now);
}

/** A clock that stands still while nobody works: waits for people cost no time worked. */
export function worked(run: RunView, now: number): (at: number) => number {
  const works = run.steps.filter((step) => !IDLE.includes(step.kind));
  return clock(
    works.map(({ beganAt, endedAt }) => ({ startedAt: beganAt, endedAt })),
    now,
  );
}

/** How long a step took; of one that goes on, until now. */
export function tookMs({ beganAt, endedAt }: Step, now: number): number | undefined {
  if (beganAt === undefined) return undefined;
  return (endedAt === undefined ? now : Date.parse(endedAt)) - Date.parse(beganAt);
}

/** One of the states that a step is drawn by. */
export function markOf(step: Step): string {
  return isAwaited(step) ? "awaited" : step.status;
}

export function markInWords(step: Step, isOver: boolean): string {
  return isAwaited(step) ? "waiting for a person" : stateInWords(step, isOver);
}

const ROOMS: readonly { name: string; icon: IconName; has: (kind: string) => boolean }[] = [
  { name: "Whiteboard", icon: "whiteboard", has: (kind) => kind.startsWith("whiteboard.") },
  { name: "Boardroom", icon: "boardroom", has: (kind) => kind === "boardroom" },
  { name: "Discussion", icon: "discussion", has: (kind) => kind === "discussion" },
  { name: "Models", icon: "participant", has: (kind) => kind === "ask" },
  { name: "People", icon: "person", has: (kind) => kind === "approve" },
  { name: "Council", icon: "council", has: (kind) => kind.startsWith("council.") },
  { name: "Workflows", icon: "workflow", has: (kind) => kind === "workflow" },
  { name: "External", icon: "generalist", has: (kind) => kind === "http" || kind === "write" },
  { name: "Waits", icon: "clock", has: (kind) => kind === "wait" || kind === "sleep" },
];

export interface RunLane {
  key: string;
  name: string;
  icon: IconName;
  steps: Step[];
}

/** The steps that have begun, by the room in which they happen. */
export function byRoom(steps: readonly Step[]): RunLane[] {
  const begun = steps.filter((step) => step.beganAt !== undefined);
  return ROOMS.flatMap(({ name, icon, has }) => {
    const here = begun.filter(({ kind }) => has(kind));
    return here.length === 0 ? [] : [{ key: name, name, icon, steps: here }];
  });
}

/** The same, a lane for each step of the file. */
export function byStep(steps: readonly Step[]): RunLane[] {
  return steps
    .filter(({ place, beganAt }) => !place.includes("/") && beganAt !== undefined)
    .map((step) => ({
      key: step.place,
      name: step.label ?? step.id,
      icon: iconOf(step.kind),
      steps: [step],
    }));
}

export function isAwaited(step: Step): boolean {
  return step.approval !== undefined && step.status === "running";
}

/** The page of the session that a step has opened. Rooms with a name are called by it. */
export function pageOfStep({ session, kind, output }: Step): string | undefined {
  if (session !== undefined) return pageOf({ id: session, kind });
  const [form = "", verb] = kind.split(".");
  const named = verb === "open" ? (output as Record<string, unknown> | undefined) : undefined;
  const name = form === "whiteboard" ? named?.["board"] : named?.["council"];
  return typeof name === "string" ? pageOf({ id: name, kind: form }) : undefined;
}

/** Who has decided what: so far, or in the end. */
export function decisions({ kind, status, approval, output }: Step): string[] {
  if (kind !== "approve") return [];
  const ended = output as { by?: string[]; decision?: Decision; reason?: string } | undefined;
  const all =
    status === "running" || ended?.decision === undefined
      ? (approval?.decided ?? [])
      : [{ by: (ended.by ?? []).join(", "), decision: ended.decision, reason: ended.reason }];
  return all.map(
    ({ by, decision, reason }) => `${by} ${DECIDED[decision]}${reason ? `: “${reason}”` : ""}`,
  );
}

const DECIDED = { approved: "approved", rejected: "rejected", changes: "asked for changes" };

const STATES = [
  "done",
  "running",
  "waiting for a person",
  "failed",
  "skipped",
  "waiting",
  "not run",
  "cancelled",
];

/** What has not begun when the run is over never will. */
export function stateInWords({ status }: Step, isOver: boolean): string {
  return status === "waiting" && isOver ? "not run" : status;
}

/** 8 done, 1 running, 2 waiting; a step around others is not counted beside them. */
export function stepsCounted(
  steps: readonly Step[],
  isOver: boolean,
): { mark: string; word: string; count: number }[] {
  const counted = steps.filter((step) => !HOLDS.includes(step.kind));
  return STATES.flatMap((word) => {
    const of = counted.filter((step) => markInWords(step, isOver) === word);
    const [first] = of;
    return first ? [{ mark: markOf(first), word, count: of.length }] : [];
  });
}

const EITHER = new Intl.ListFormat("en", { type: "disjunction" });
const BOTH = new Intl.ListFormat("en");

/** ann or ben; two of ann, ben and cleo */
export function whoDecides({ who, need }: Approval): string {
  if (need >= who.length) return BOTH.format(who);
  return need === 1 ? EITHER.format(who) : `${need} of ${BOTH.format(who)}`;
}

export function waitsInWords(names: readonly string[]): string {
  return names.length > 3
    ? `Waiting for ${some(names.length, "person", "people")}`
    : `Waiting for ${EITHER.format(names)}`;
}

/** What was filled in, as the type that is asked for; what cannot be read stays a text. */
export function valueOf(type: string, text: string): unknown {
  if (type === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
