// One step of a run: what it was given, what came of it, what it took.

import { useState } from "react";
import { Link, useLocation } from "wouter";
import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { StateMark } from "../graph/StateMark";
import { Confirm } from "../ui/Confirm";
import { remembered } from "../stored";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/icons";
import { Inline } from "../ui/Inline";
import { duration, exactTime, some, useNow } from "../ui/time";
import { totalsOf } from "../ui/Totals";
import {
  decisions,
  iconOf,
  kindInWords,
  markInWords,
  markOf,
  pageOfStep,
  tookMs,
  type Row,
  type RunView,
} from "./run";
import { Value } from "./Value";

interface Props {
  run: RunView;
  row: Row;
  /** The steps in it. */
  inner: readonly Row[];
  onChoose: (place: string) => void;
  onClose: () => void;
}

export function StepPanel({ run, row, inner, onChoose, onClose }: Props) {
  const { step, where } = row;
  const isOver = run.status !== "running";
  const now = useNow(step.status === "running");
  const ms = tookMs(step, now);
  const page = pageOfStep(step);
  const about = [
    kindInWords(step.kind),
    ...(where === "" ? [] : [where]),
    `line ${step.line}`,
    ...((step.tries ?? 1) > 1 ? [`try ${step.tries}`] : []),
    ...(step.needs.length > 0 ? [`after ${step.needs.join(", ")}`] : []),
  ];
  return (
    <aside className="card step-panel" aria-label={`Step ${step.place}`}>
      <div className="step-head">
        <StateMark status={markOf(step)} word={markInWords(step, isOver)} />
        <h2>{step.label ?? step.id}</h2>
        <span className="badge">{capital(markInWords(step, isOver))}</span>
        <IconButton className="spread" icon="close" label="Close this step" onClick={onClose} />
      </div>
      <p className="muted small">{about.join(" · ")}</p>
      {step.reason !== undefined && (
        <p className={step.status === "failed" ? "run-step-why bad" : "run-step-why"}>
          <Inline text={capital(step.reason)} />
        </p>
      )}
      {page !== undefined && (
        <p className="step-room">
          <Icon name={iconOf(step.kind)} />
          <span>Opened session</span>
          <Link href={page} className="button">
            Open
          </Link>
        </p>
      )}
      <dl className="session-facts">
        {ms !== undefined && (
          <div>
            <dt>Time</dt>
            <dd className="number">{duration(ms)}</dd>
          </div>
        )}
        {step.usage &&
          totalsOf({ usage: step.usage }).map(({ label, value, title }) => (
            <div key={label} title={title}>
              <dt>{label}</dt>
              <dd className="number">{value}</dd>
            </div>
          ))}
      </dl>
      {inner.length > 0 && (
        <section>
          <h3>{some(inner.length, "step")} inside</h3>
          <ul className="step-inner">
            {inner.slice(0, INNER_SHOWN).map(({ step: one, where: at }) => (
              <li key={one.place}>
                <button type="button" className="link-button" onClick={() => onChoose(one.place)}>
                  <StateMark status={markOf(one)} word={markInWords(one, isOver)} isSmall />
                  {one.id} <span className="muted">{at}</span>
                </button>
              </li>
            ))}
          </ul>
          {inner.length > INNER_SHOWN && (
            <p className="muted small">
              and {inner.length - INNER_SHOWN} more, in the list of steps.
            </p>
          )}
        </section>
      )}
      {decisions(step).map((one) => (
        <p key={one} className="run-step-why">
          {one}
        </p>
      ))}
      <Part title="Input" of={step.input} />
      <Part title="Output" of={step.output} />
      <Log run={run} row={row} />
      {(step.status === "done" || step.status === "failed") && !step.place.includes("/") && (
        <ForkFrom run={run} step={step.id} />
      )}
    </aside>
  );
}

const INNER_SHOWN = 40;

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Part({ title, of }: { title: string; of: unknown }) {
  const isEmpty = typeof of === "object" && of !== null && Object.keys(of).length === 0;
  if (of === undefined || isEmpty) return null;
  return (
    <section>
      <h3>{title}</h3>
      <Value value={of} label={title} under={3} />
    </section>
  );
}

/** What happened to it, as far as the record tells. */
function Log({ run, row: { step } }: Pick<Props, "run" | "row">) {
  const lines = [
    ...(step.beganAt === undefined
      ? []
      : [
          {
            at: step.beganAt,
            words: step.needs.length > 0 ? `Started after ${step.needs.join(", ")}` : "Started",
          },
        ]),
    ...(step.approval?.decided ?? []).map(({ at, by, decision }) => ({
      at,
      words: `${by}: ${decision}`,
    })),
    ...(step.endedAt === undefined
      ? []
      : [{ at: step.endedAt, words: capital(markInWords(step, run.status !== "running")) }]),
  ];
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>Log</h3>
      <ol className="step-log">
        {lines.map(({ at, words }) => (
          <li key={`${at} ${words}`}>
            <time className="mono" dateTime={at}>
              {exactTime(at)}
            </time>
            {words}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A new run that takes over what was settled before a step. */
function ForkFrom({ run, step }: { run: RunView; step: string }) {
  const [isAsked, setAsked] = useState(false);
  const [, go] = useLocation();
  const fork = useWrite((from: string, header) => {
    const starter = remembered("my-name", "").trim();
    return asked(
      client.POST("/api/runs/{id}/fork", {
        params: { path: { id: run.id }, header },
        body: { from, ...(starter !== "" && { starter }) },
      }),
    );
  });
  return (
    <div className="step-fork no-print">
      <Button icon="fork" onClick={() => setAsked(true)}>
        Fork from here
      </Button>
      <span className="muted small">Starts a new run. Earlier steps are reused at no cost.</span>
      {isAsked && (
        <Confirm
          title={`Fork from ${step}?`}
          action="Fork"
          doing="Forking…"
          icon="fork"
          isBusy={fork.isPending}
          error={fork.error}
          onClose={() => setAsked(false)}
          onSure={() => fork.mutate(step, { onSuccess: ({ id }) => go(`/runs/${id}`) })}
        >
          <p>
            A new run starts at <strong>{step}</strong>. Earlier steps are reused, so nothing is
            asked or paid for twice. This run stays as it is.
          </p>
        </Confirm>
      )}
    </div>
  );
}
