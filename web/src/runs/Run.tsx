// A run of a workflow: what came of it, its steps as a graph and over time, and each step.

import "./runs.css";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState, type ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { asked, client } from "../api/client";
import { Graph } from "../graph/Graph";
import { StateMark } from "../graph/StateMark";
import type { Connection } from "../live/follow";
import { useLiveSession } from "../live/session";
import { SessionHead } from "../session/SessionHead";
import { SessionPage } from "../session/SessionPage";
import { Age } from "../ui/Age";
import { useMilestones } from "../ui/announce";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { Inline } from "../ui/Inline";
import { useNarrow } from "../ui/narrow";
import { Notice, Wrong } from "../ui/Notice";
import { Segmented } from "../ui/Segmented";
import { useNow } from "../ui/time";
import { CancelRun } from "./CancelRun";
import { graphOf } from "./graph";
import {
  isAwaited,
  rows,
  stepsCounted,
  waitsInWords,
  workedMs,
  type Row,
  type RunView,
} from "./run";
import { Sheet } from "./Sheet";
import { StepPanel } from "./StepPanel";
import { Steps } from "./Steps";
import { Times } from "./Times";
import { Value } from "./Value";

interface Props {
  id: string;
  /** A person decides: on the step that is named here, or on the first that waits. */
  decides?: string | undefined;
}

export default function Run({ id, decides }: Props) {
  const key = ["runs", id];
  const query = useQuery({
    queryKey: key,
    queryFn: () => asked(client.GET("/api/runs/{id}", { params: { path: { id } } })),
  });
  const { connection } = useLiveSession({
    url: query.data && `/api/runs/${encodeURIComponent(id)}/events`,
    ...(query.data && { after: query.data.version }),
    keys: [key],
  });
  return (
    <SessionPage
      kind="workflow"
      query={query}
      connection={connection}
      id={({ id: own }) => own}
      title={({ title }) => title}
    >
      {(run) =>
        decides === undefined ? (
          <Session run={run} connection={connection} error={query.error} />
        ) : (
          <Sheet run={run} place={decides} />
        )
      }
    </SessionPage>
  );
}

interface SessionProps {
  run: RunView;
  connection: Connection;
  error: unknown;
}

function Session({ run, connection, error }: SessionProps) {
  const all = useMemo(() => rows(run.steps), [run.steps]);
  const isNarrow = useNarrow();
  const [chosen, setChosen] = useState<string>();
  const choose = useCallback((place: string) => setChosen(place), []);
  const row = all.find(({ step }) => step.place === chosen);
  useMilestones(run, milestones);
  return (
    <div className="run">
      <Head run={run} connection={connection} awaited={all.find(({ step }) => isAwaited(step))} />
      <div className={row && !isNarrow ? "run-columns with-step" : "run-columns"}>
        <div className="run-main">
          <Wrong error={error} />
          {run.reason !== undefined && (
            <Notice look={run.status === "failed" ? "bad" : "warn"}>
              <Inline text={sentence(run.reason)} />
            </Notice>
          )}
          <Outcome run={run} />
          <StepsCard run={run} all={all} isNarrow={isNarrow} chosen={chosen} onChoose={choose} />
          <Times run={run} onChoose={choose} />
        </div>
        {row && (
          <StepPanel
            key={row.step.place}
            run={run}
            row={row}
            inner={all.filter(({ around }) => around.at(-1) === row.step.place)}
            onChoose={choose}
            onClose={() => setChosen(undefined)}
          />
        )}
      </div>
    </div>
  );
}

interface StepsProps {
  run: RunView;
  all: readonly Row[];
  isNarrow: boolean;
  chosen: string | undefined;
  onChoose: (place: string) => void;
}

const COLUMNS = 5;

function StepsCard({ run, all, isNarrow, chosen, onChoose }: StepsProps) {
  const [view, setView] = useState<"graph" | "list">(isNarrow ? "list" : "graph");
  const isOver = run.status !== "running";
  return (
    <section className="card run-card" aria-labelledby="steps">
      <div className="run-card-head">
        <h2 id="steps">Steps</h2>
        <ul className="run-counts">
          {stepsCounted(run.steps, isOver).map(({ mark, word, count }) => (
            <li key={word}>
              <StateMark status={mark} word="" />
              <span>
                <strong>{count}</strong> {word}
              </span>
            </li>
          ))}
        </ul>
        <Segmented
          label="Steps as"
          options={[
            { name: "graph", title: "Graph" },
            { name: "list", title: "List" },
          ]}
          chosen={view}
          onChoose={setView}
        />
      </div>
      {view === "graph" ? (
        <LiveGraph run={run} isOver={isOver} chosen={chosen} onChoose={onChoose} />
      ) : (
        <Steps rows={all} isOver={isOver} />
      )}
    </section>
  );
}

interface GraphProps extends Pick<StepsProps, "run" | "chosen" | "onChoose"> {
  isOver: boolean;
}

/** Renewed by the second as long as something runs. */
function LiveGraph({ run, isOver, chosen, onChoose }: GraphProps) {
  return (
    <Graph
      label="Steps and what they wait for"
      steps={graphOf(run.steps, isOver, useNow(!isOver))}
      columns={COLUMNS}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}

interface HeadProps {
  run: RunView;
  connection: Connection;
  awaited: Row | undefined;
}

function Head({ run, connection, awaited }: HeadProps) {
  const [isCancelling, setCancelling] = useState(false);
  const [, go] = useLocation();
  const now = useNow(run.status === "running");
  const isWaiting = run.waitsFor.length > 0;
  return (
    <>
      <SessionHead
        session={{ id: run.id, kind: "workflow", title: run.title }}
        about={
          <>
            {run.workflow}
            <Origin run={run} /> · started <Age at={run.beganAt} /> by {run.starter}
          </>
        }
        status={run.status}
        {...(isWaiting && { word: waitsInWords(run.waitsFor), waits: true })}
        connection={connection}
        workedMs={workedMs(run, now)}
        took={run}
        more={[
          {
            label: "Open the workflow",
            icon: "workflow",
            run: () => go(`/workflows/${encodeURIComponent(run.workflow)}`),
          },
        ]}
        actions={
          <>
            {awaited && (
              <Link
                href={`/runs/${run.id}/decide/${awaited.step.place}`}
                className="button primary"
              >
                <Icon name="person" />
                Decide
              </Link>
            )}
            {run.allowed.includes("cancel") && (
              <Button look="danger" icon="stop" onClick={() => setCancelling(true)}>
                Cancel run
              </Button>
            )}
          </>
        }
      />
      {isCancelling && <CancelRun run={run} onClose={() => setCancelling(false)} />}
    </>
  );
}

function Origin({ run: { parent, forkedFrom } }: { run: RunView }): ReactNode {
  return (
    <>
      {parent !== undefined && (
        <>
          {" · part of "}
          <Link href={`/runs/${parent}`}>another run</Link>
        </>
      )}
      {forkedFrom && (
        <>
          {" · forked from "}
          <Link href={`/runs/${forkedFrom.run}`}>another run</Link> at{" "}
          <code>{forkedFrom.step}</code>
        </>
      )}
    </>
  );
}

/** What came of it, and beside that what was held against it. */
function Outcome({ run: { outputs } }: { run: RunView }) {
  const { dissent, ...rest } = outputs ?? {};
  const kept: unknown[] = Array.isArray(dissent) ? dissent : [];
  if (Object.keys(rest).length === 0 && kept.length === 0) return null;
  return (
    <section className="card run-outcome" aria-labelledby="outcome">
      <div>
        <h2 id="outcome">Outcome</h2>
        <Value value={rest} label="Outcome" under={2} />
      </div>
      {kept.length > 0 && (
        <div className="run-dissent">
          <h3>
            Dissent <span className="badge">{kept.length} kept on record</span>
          </h3>
          <Value value={kept} label="Dissent" under={3} />
        </div>
      )}
    </section>
  );
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}

function milestones(before: RunView, { status, waitsFor }: RunView): string {
  if (status !== before.status) return `The run is ${status}`;
  const awaited = waitsFor.length > 0 ? waitsInWords(waitsFor) : "";
  const isKnown = before.waitsFor.length > 0 && awaited === waitsInWords(before.waitsFor);
  return isKnown ? "" : awaited;
}
