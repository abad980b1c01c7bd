// A run in words: what each step does, where it stands, and how long there was work.

import type { Schemas } from "../api/client";
import { pageOf } from "../shell/sessions";
import { clock } from "../ui/clock";
import { some } from "../ui/time";

export type RunView = Schemas["RunView"];
export type Step = Schemas["RunStepView"];
export type Approval = Schemas["ApprovalView"];
export type Decision = Schemas["ApprovalDecision"];

const KINDS: Record<string, string> = {
  ask: "Ask a model",
  boardroom: "Board",
  discussion: "Discussion",
  "whiteboard.open": "Open a whiteboard",
  "whiteboard.register": "Join the whiteboard",
  "whiteboard.transition": "Move the whiteboard on",
  "whiteboard.post": "Post to the whiteboard",
  "whiteboard.annotate": "Annotate the whiteboard",
  "whiteboard.vote": "Vote on the whiteboard",
  "whiteboard.conflicts": "Find conflicts",
  "whiteboard.summarize": "Summarize the whiteboard",
  "whiteboard.archive": "Archive the whiteboard",
  "council.open": "Open a council",
  "council.post": "Post to the council",
  "council.read": "Read the council",
  "council.close": "Close the council",
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
const HOLDS: readonly string[] = ["foreach", "repeat"];
/** Those, and steps in which nobody works. */
const IDLE: readonly string[] = [...HOLDS, "approve", "sleep", "wait"];

export function workedMs(run: RunView, now: number): number {
  const works = run.steps.filter((step) => !IDLE.includes(step.kind));
  return clock(
    works.map(({ beganAt, endedAt }) => ({ startedAt: beganAt, endedAt })),
    now,
  )(now);
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

const STATES = ["done", "running", "waiting", "not run", "skipped", "failed", "cancelled"];

/** What has not begun when the run is over never will. */
export function stateInWords({ status }: Step, isOver: boolean): string {
  return status === "waiting" && isOver ? "not run" : status;
}

/** 8 done, 1 running, 2 waiting; a step around others is not counted beside them. */
export function stepsInWords(steps: readonly Step[], isOver: boolean): string {
  const counted = steps.filter((step) => !HOLDS.includes(step.kind));
  return STATES.flatMap((word) => {
    const of = counted.filter((step) => stateInWords(step, isOver) === word).length;
    return of === 0 ? [] : [`${of} ${word}`];
  }).join(", ");
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
    ? `Waits for ${some(names.length, "person", "people")}`
    : `Waits for ${EITHER.format(names)}`;
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
