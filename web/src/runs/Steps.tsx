import { memo, useState, type Dispatch, type SetStateAction } from "react";
import { Link } from "wouter";
import { StateMark } from "../graph/StateMark";
import { Inline } from "../ui/Inline";
import { Spent } from "../ui/Spent";
import { duration, some, useNow } from "../ui/time";
import {
  decisions,
  isAwaited,
  kindInWords,
  markInWords,
  markOf,
  pageOfStep,
  whoDecides,
  type Row,
  type Step,
} from "./run";
import { Value } from "./Value";

export function Steps({ rows, isOver }: { rows: readonly Row[]; isOver: boolean }) {
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  // What is done is out of the way; what goes on or went wrong is in sight.
  const isFolded = ({ place, status }: Step) =>
    folds.get(place) ?? (status === "done" || status === "skipped");
  const folded = new Set(
    rows.flatMap(({ step, holds }) => (holds > 0 && isFolded(step) ? [step.place] : [])),
  );
  return (
    <ol className="run-steps" aria-label="Steps">
      {rows
        .filter(({ around }) => !around.some((outer) => folded.has(outer)))
        .map((row) => (
          <StepRow
            key={row.step.place}
            row={row}
            isOver={isOver}
            isFolded={folded.has(row.step.place)}
            onFold={setFolds}
          />
        ))}
    </ol>
  );
}

interface RowProps {
  row: Row;
  isOver: boolean;
  isFolded: boolean;
  onFold: Dispatch<SetStateAction<ReadonlyMap<string, boolean>>>;
}

const StepRow = memo(
  function StepRow({ row, isOver, isFolded, onFold }: RowProps) {
    const { step, around, where, holds } = row;
    const page = pageOfStep(step);
    const waits = isAwaited(step);
    const { items, round, tries = 1 } = step;
    const about = [
      ...(step.label === undefined ? [] : [step.id]),
      kindInWords(step.kind),
      ...(where === "" ? [] : [where]),
      ...(items ? [`${items.ended} of ${items.total} items`] : []),
      ...(round === undefined ? [] : [`round ${round}`]),
      ...(tries > 1 ? [`try ${tries}`] : []),
      ...(step.isFinally ? ["always runs at the end"] : []),
    ];
    return (
      <li
        className="run-step"
        data-step={step.place}
        style={{ "--depth": around.length } as object}
      >
        <StateMark status={markOf(step)} word={markInWords(step, isOver)} />
        <div className="run-step-body">
          <p className="run-step-name">
            <strong>{step.label ?? step.id}</strong>
            {page !== undefined && <Link href={page}>Open</Link>}
            {holds > 0 && (
              <button
                type="button"
                className="link-button small"
                aria-expanded={!isFolded}
                onClick={() => onFold((now) => new Map(now).set(step.place, !isFolded))}
              >
                {isFolded ? `Show ${some(holds, "step")}` : `Hide ${some(holds, "step")}`}
              </button>
            )}
          </p>
          <p className="muted small">{about.join(" · ")}</p>
          {step.reason !== undefined && !waits && (
            <p className={step.status === "failed" ? "run-step-why bad" : "run-step-why"}>
              <Inline text={step.reason} />
            </p>
          )}
          {waits && step.approval && (
            <p className="run-step-why">Waiting for {whoDecides(step.approval)}</p>
          )}
          {decisions(step).map((one) => (
            <p key={one} className="run-step-why">
              {one}
            </p>
          ))}
          <Inside step={step} />
        </div>
        <Time step={step} />
      </li>
    );
  },
  // What did not change is the same step, also in a view that was asked for again.
  (before, now) =>
    before.row.step === now.row.step &&
    before.row.holds === now.row.holds &&
    before.isOver === now.isOver &&
    before.isFolded === now.isFolded,
);

function Inside({ step }: { step: Step }) {
  const { input, output } = step;
  const hasInput = input !== undefined && Object.keys(input).length > 0;
  if (!hasInput && output === undefined && !step.usage) return null;
  return (
    <details>
      <summary>
        Details<span className="unseen"> of {step.label ?? step.id}</span>
      </summary>
      {step.usage && <Spent className="muted small" usage={step.usage} />}
      {hasInput && <Values title="Input" of={input} />}
      {output !== undefined && <Values title="Output" of={output} />}
    </details>
  );
}

function Values({ title, of }: { title: string; of: unknown }) {
  return (
    <div className="run-values">
      <p className="eyebrow">{title}</p>
      <Value value={of} label={title} under={2} />
    </div>
  );
}

function Time({ step: { status, beganAt, endedAt } }: { step: Step }) {
  const isRunning = status === "running" && endedAt === undefined;
  const now = useNow(isRunning && beganAt !== undefined);
  if (beganAt === undefined) return null;
  const end = endedAt === undefined ? now : Date.parse(endedAt);
  return (
    <span className="number muted small run-step-time">{duration(end - Date.parse(beganAt))}</span>
  );
}
