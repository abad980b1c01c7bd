// A run of a workflow: what a person is asked, what came of it, and its steps.

import "./runs.css";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { asked, client, Problem } from "../api/client";
import type { Connection } from "../live/follow";
import { useLiveSession } from "../live/session";
import { useTitle } from "../shell/Shell";
import { StatusBadge } from "../shell/status";
import { Age } from "../ui/Age";
import { announce } from "../ui/announce";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { Inline } from "../ui/Inline";
import { Menu } from "../ui/Menu";
import { Notice, Wrong } from "../ui/Notice";
import { duration, useNow } from "../ui/time";
import { Totals } from "../ui/Totals";
import { CancelRun } from "./CancelRun";
import { Decide } from "./Decide";
import { isAwaited, rows, waitsInWords, workedMs, type RunView } from "./run";
import { Steps } from "./Steps";
import { Value } from "./Value";

export default function Run({ id }: { id: string }) {
  const key = ["runs", id];
  const query = useQuery({
    queryKey: key,
    queryFn: () => asked(client.GET("/api/runs/{id}", { params: { path: { id } } })),
  });
  const run = query.data;
  useTitle(run?.title ?? "Run");
  const { connection } = useLiveSession({
    url: run && `/api/runs/${encodeURIComponent(id)}/events`,
    ...(run && { after: run.version }),
    keys: [key],
  });
  if (run) return <Session run={run} connection={connection} error={query.error} />;
  if (!query.error) return <Loading what="Loading the run" />;
  const isGone = query.error instanceof Problem && query.error.status === 404;
  return (
    <div className="page">
      <h1>{isGone ? "Run not found" : "Run"}</h1>
      {isGone ? (
        <Empty action={<Link href="/history">All sessions</Link>}>
          It may have been removed, or the address is mistyped.
        </Empty>
      ) : (
        <Wrong error={query.error} onRetry={() => void query.refetch()} />
      )}
    </div>
  );
}

interface Props {
  run: RunView;
  connection: Connection;
  error: unknown;
}

function Session({ run, connection, error }: Props) {
  const all = useMemo(() => rows(run.steps), [run.steps]);
  useMilestones(run);
  return (
    <div className="page run">
      <Head run={run} connection={connection} />
      <Wrong error={error} />
      {run.reason !== undefined && (
        <Notice look={run.status === "failed" ? "bad" : "warn"}>
          <Inline text={sentence(run.reason)} />
        </Notice>
      )}
      {all
        .filter(({ step }) => isAwaited(step))
        .map(({ step, where }) => (
          <Decide key={step.place} run={run} step={step} where={where} />
        ))}
      <Outcome run={run} />
      <Steps rows={all} isOver={run.status !== "running"} />
    </div>
  );
}

function Head({ run, connection }: { run: RunView; connection: Connection }) {
  const [isCancelling, setCancelling] = useState(false);
  const isWaiting = run.waitsFor.length > 0;
  const file = (format: string) => `/api/runs/${run.id}/export?format=${format}`;
  const name = run.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "run";
  return (
    <header className="run-head">
      <div>
        <p className="eyebrow">
          Workflow · {run.workflow}
          <Origin run={run} />
        </p>
        <h1>{run.title}</h1>
        <div className="run-facts">
          {isWaiting ? (
            <span className="badge warn">{waitsInWords(run.waitsFor)}</span>
          ) : (
            <StatusBadge status={run.status} kind="workflow" />
          )}
          <Worked run={run} />
          <Totals {...run} />
          <span className="muted">
            Started <Age at={run.beganAt} /> by {run.starter}
          </span>
        </div>
      </div>
      <div className="row no-print">
        {connection === "broken" && <span className="badge warn">Reconnecting</span>}
        {run.allowed.includes("cancel") && (
          <Button look="danger" icon="stop" onClick={() => setCancelling(true)}>
            Cancel run
          </Button>
        )}
        <Menu
          label="Export"
          icon="download"
          items={[
            { label: "Markdown", icon: "file", href: file("markdown"), download: `${name}.md` },
            { label: "JSON", icon: "file", href: file("json"), download: `${name}.json` },
          ]}
        />
      </div>
      {isCancelling && <CancelRun run={run} onClose={() => setCancelling(false)} />}
    </header>
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

function Worked({ run }: { run: RunView }) {
  const now = useNow(run.status === "running");
  return (
    <span className="number">
      <strong>{duration(workedMs(run, now))}</strong> <span className="muted">worked</span>
    </span>
  );
}

function Outcome({ run: { outputs } }: { run: RunView }) {
  if (!outputs || Object.keys(outputs).length === 0) return null;
  return (
    <section className="card run-outcome" aria-labelledby="outcome">
      <h2 id="outcome">Outcome</h2>
      <Value value={outputs} label="Outcome" under={2} />
    </section>
  );
}

function sentence(reason: string): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
}

/** What happens is said once, in words. */
function useMilestones({ status, waitsFor }: RunView): void {
  const awaited = waitsFor.length > 0 ? waitsInWords(waitsFor) : "";
  const before = useRef({ status, awaited });
  useEffect(() => {
    const last = before.current;
    before.current = { status, awaited };
    if (status !== last.status) announce(`The run is ${status}`);
    else if (awaited !== "" && awaited !== last.awaited) announce(awaited);
  }, [status, awaited]);
}
