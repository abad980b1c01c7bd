// A run of a workflow: its steps, what came of them, and what a person is asked.

import "./runs.css";
import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Link } from "wouter";
import { asked, client, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { useLiveSession } from "../live/session";
import { Markdown } from "../markdown/Markdown";
import { useTitle } from "../shell/Shell";
import { StatusBadge } from "../shell/status";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import { TextArea } from "../ui/Field";
import { Notice, Wrong } from "../ui/Notice";

type RunView = Schemas["RunView"];
type Step = Schemas["RunStepView"];
type Decision = Schemas["ApprovalDecision"];

export default function Run({ id }: { id: string }) {
  const key = ["runs", id];
  const query = useQuery({
    queryKey: key,
    queryFn: () => asked(client.GET("/api/runs/{id}", { params: { path: { id } } })),
  });
  const run = query.data;
  useTitle(run?.title ?? "Run");
  useLiveSession({
    url: run === undefined ? undefined : `/api/runs/${encodeURIComponent(id)}/events`,
    ...(run === undefined ? {} : { after: run.version }),
    keys: [key],
  });
  const cancel = useWrite((reason: string, header) =>
    asked(
      client.POST("/api/runs/{id}/cancel", { params: { path: { id }, header }, body: { reason } }),
    ),
  );
  if (run === undefined) {
    if (!query.error) return <Loading what="Reading the run" />;
    return (
      <div className="page">
        <h1>Run</h1>
        <Wrong error={query.error} onRetry={() => void query.refetch()} />
        <Link href="/history">All sessions</Link>
      </div>
    );
  }
  return (
    <div className="page">
      <p className="eyebrow">Workflow · {run.workflow}</p>
      <h1>{run.title}</h1>
      <p>
        <StatusBadge status={run.status} kind="workflow" /> Started by {run.starter}{" "}
        <Age at={run.beganAt} />
        {run.parent !== undefined && (
          <>
            {" "}
            · part of <Link href={`/runs/${run.parent}`}>another run</Link>
          </>
        )}
        {run.forkedFrom !== undefined && (
          <>
            {" "}
            · forked from <Link href={`/runs/${run.forkedFrom.run}`}>another run</Link> at{" "}
            <code>{run.forkedFrom.step}</code>
          </>
        )}
      </p>
      <Wrong error={query.error ?? cancel.error} />
      {run.reason !== undefined && <Notice look="warn">{run.reason}</Notice>}
      <Outputs run={run} />
      <h2>Steps</h2>
      <ol className="run-steps">
        {run.steps.map((step) => (
          <StepRow key={step.place} run={run} step={step} />
        ))}
      </ol>
      {run.allowed.includes("cancel") && (
        <Button look="danger" disabled={cancel.isPending} onClick={() => cancel.mutate("")}>
          Cancel run
        </Button>
      )}
    </div>
  );
}

function Outputs({ run }: { run: RunView }) {
  const outputs = Object.entries(run.outputs ?? {});
  if (outputs.length === 0) return null;
  return (
    <section aria-label="Outputs">
      {outputs.map(([name, value]) => (
        <div key={name} className="card">
          <p className="eyebrow">{name}</p>
          {typeof value === "string" ? (
            <Markdown text={value} under={2} />
          ) : (
            <Value value={value} />
          )}
        </div>
      ))}
    </section>
  );
}

function Value({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return <pre className="run-value">{text}</pre>;
}

function StepRow({ run, step }: { run: RunView; step: Step }) {
  const waits = step.approval !== undefined && step.status === "running";
  return (
    <li className="run-step" data-step={step.place} data-status={step.status}>
      <span className="place">{step.place}</span>
      <StatusBadge status={step.status} kind="step" />
      <span className="muted">{step.label ?? step.kind}</span>
      {step.items !== undefined && (
        <span className="number">
          {step.items.ended} of {step.items.total}
        </span>
      )}
      {step.reason !== undefined && !waits && <p className="why">{step.reason}</p>}
      {step.output !== undefined && (
        <details>
          <summary>Output</summary>
          <Value value={step.output} />
        </details>
      )}
      {waits && <Decide run={run} step={step} />}
    </li>
  );
}

const CHOICES: [Decision, string][] = [
  ["approved", "Approve"],
  ["changes", "Ask for changes"],
  ["rejected", "Reject"],
];

function Decide({ run, step }: { run: RunView; step: Step }) {
  const approval = step.approval;
  const [by, setBy] = useState(approval?.who[0] ?? "");
  const [reason, setReason] = useState("");
  const whom = useId();
  const decide = useWrite((decision: Decision, header) =>
    asked(
      client.POST("/api/runs/{id}/steps/{step}/approve", {
        params: { path: { id: run.id, step: step.place }, header },
        body: { decision, by, reason },
      }),
    ),
  );
  if (approval === undefined) return null;
  return (
    <div className="run-decide">
      {approval.show !== undefined && <Value value={approval.show} />}
      <label htmlFor={whom}>
        Decide as{" "}
        <select id={whom} value={by} onChange={(event) => setBy(event.target.value)}>
          {approval.who.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <TextArea
        label="Reason"
        hint="Required to reject and to ask for changes."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <Wrong error={decide.error} />
      <div className="row">
        {CHOICES.map(([decision, word]) => (
          <Button
            key={decision}
            look={decision === "approved" ? "primary" : "plain"}
            title={approval.leadsTo[decision]}
            disabled={decide.isPending}
            onClick={() => decide.mutate(decision)}
          >
            {word}
          </Button>
        ))}
      </div>
    </div>
  );
}
