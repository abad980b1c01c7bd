import { useMemo, useState } from "react";
import { Lanes, span } from "../session/Lanes";
import { Icon } from "../ui/icons";
import { Segmented } from "../ui/Segmented";
import { duration, useNow } from "../ui/time";
import {
  byRoom,
  byStep,
  markInWords,
  markOf,
  tookMs,
  worked,
  type RunView,
  type Step,
} from "./run";

const LEAST_MS = 1_000;
/** A bar is told by name where there is room for it. */
const NAMED_PART = 0.06;
const BARS_MOST = 400;

/** When what was done, in time worked: waits for people are folded. */
export function Times({ run, onChoose }: { run: RunView; onChoose: (place: string) => void }) {
  const [by, setBy] = useState<"room" | "step">("room");
  const isOver = run.status !== "running";
  const now = useNow(!isOver);
  const clock = useMemo(() => worked(run, now), [run, now]);
  // A step may have ended after the last tick here.
  const whole = Math.max(LEAST_MS, clock(Infinity));
  const lanes = by === "room" ? byRoom(run.steps) : byStep(run.steps);
  if (lanes.length === 0) return null;
  const placed = (step: Step) => {
    const from = clock(Date.parse(step.beganAt ?? ""));
    const to = step.endedAt === undefined ? clock(now) : clock(Date.parse(step.endedAt));
    const name = step.label === undefined ? step.id : `${step.id}, ${step.label}`;
    const words = `${name}: ${markInWords(step, isOver)}, ${duration(tookMs(step, now) ?? 0)}`;
    return (
      <button
        key={step.place}
        type="button"
        tabIndex={-1}
        className="run-bar"
        data-status={markOf(step)}
        style={span(from, to, whole)}
        title={words}
        aria-label={words}
        onClick={() => onChoose(step.place)}
      >
        {(to - from) / whole > NAMED_PART && <span aria-hidden="true">{step.id}</span>}
      </button>
    );
  };
  return (
    <section className="card run-times" aria-labelledby="run-times">
      <div className="run-card-head">
        <h2 id="run-times">Time</h2>
        <span className="muted small">
          Time spent waiting for people is collapsed and not counted as work.
        </span>
        <Segmented
          label="Lanes"
          options={[
            { name: "room", title: "By kind" },
            { name: "step", title: "By step" },
          ]}
          chosen={by}
          onChoose={setBy}
        />
      </div>
      <Lanes
        label="Steps over time"
        wholeMs={whole}
        rows={lanes.map((lane) => ({
          key: lane.key,
          name: (
            <>
              <Icon name={lane.icon} />
              {lane.name}
            </>
          ),
          track: lane.steps.slice(0, BARS_MOST).map(placed),
        }))}
      />
    </section>
  );
}
