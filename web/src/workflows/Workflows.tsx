// Stored workflows: what starts each, how its last runs went, and the next.

import "./workflows.css";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { StateMark } from "../graph/StateMark";
import { Confirm } from "../ui/Confirm";
import { SessionRow } from "../shell/SessionRow";
import { useSessions } from "../shell/sessions";
import { statusOf } from "../shell/status";
import { useTitle } from "../shell/title";
import { remember } from "../stored";
import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Empty, Loading } from "../ui/Empty";
import { TextField } from "../ui/Field";
import { FilePicker } from "../ui/FilePicker";
import { Icon, type IconName } from "../ui/icons";
import { Menu } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { moment } from "../ui/time";
import { NEW_DRAFT } from "./draft";
import { SHELF, triggersInWords, useWorkflows, type Started, type Workflow } from "./data";
import { StartRun } from "./StartRun";

const BARS = 20;
const RUNS_SHOWN = 10;

export default function Workflows() {
  useTitle("Workflows");
  const list = useWorkflows();
  const [words, setWords] = useState("");
  const [starting, setStarting] = useState<Workflow>();
  const [removing, setRemoving] = useState<Workflow>();
  const wanted = words.trim().toLowerCase();
  const shown = (list.data ?? []).filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(wanted),
  );
  const begin = (
    <Link href="/workflows/new" className="button primary">
      <Icon name="plus" />
      New workflow
    </Link>
  );
  return (
    <div className="page workflows">
      <header className="page-head">
        <div>
          <p className="eyebrow">
            {list.data && list.data.length > 0 && `${list.data.length} saved`}
          </p>
          <h1>Workflows</h1>
        </div>
        <div className="row">
          {(list.data?.length ?? 0) > 1 && (
            <TextField
              label="Filter workflows"
              labelUnseen
              type="search"
              placeholder="Filter by name or description"
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
          )}
          <ImportYaml />
          {begin}
        </div>
      </header>
      <Wrong error={list.error} onRetry={() => void list.refetch()} />
      {list.isLoading && <Loading what="Loading workflows" />}
      {list.data?.length === 0 && (
        <Empty action={begin}>
          A workflow is a file of steps: boards, discussions, whiteboards and people, in an order
          that you can run again. Start it yourself, on a schedule, or with a signal.
        </Empty>
      )}
      {shown.length > 0 && (
        <div className="workflow-table card" role="region" aria-label="Workflows" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Workflow</th>
                <th scope="col">Trigger</th>
                <th scope="col">Next run</th>
                <th scope="col">Last {BARS}</th>
                <th scope="col">Success</th>
                <th scope="col">Last</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {shown.map((workflow) => (
                <Row
                  key={workflow.name}
                  workflow={workflow}
                  onStart={() => setStarting(workflow)}
                  onRemove={() => setRemoving(workflow)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <RecentRuns />
      {starting && <StartRun workflow={starting} onClose={() => setStarting(undefined)} />}
      {removing && <Remove workflow={removing} onClose={() => setRemoving(undefined)} />}
    </div>
  );
}

interface RowProps {
  workflow: Workflow;
  onStart: () => void;
  onRemove: () => void;
}

const STARTS: Record<string, IconName> = { Schedule: "clock", Webhook: "link", Signal: "flag" };

function Row({ workflow, onStart, onRemove }: RowProps) {
  const { name, description, version, triggers, nextAt, successRate, runs } = workflow;
  const [last] = runs;
  const href = `/workflows/${encodeURIComponent(name)}`;
  const [, go] = useLocation();
  return (
    <tr>
      <th scope="row">
        <Link href={href}>{name}</Link> <span className="badge">v{version}</span>
        <span className="muted small block-line">{description}</span>
      </th>
      <td>
        {triggersInWords(triggers).map(({ by, about }) => (
          <span key={by + about} className="workflow-trigger">
            <Icon name={STARTS[by] ?? "person"} />
            <span>
              {by}
              <span className="muted small block-line">{about}</span>
            </span>
          </span>
        ))}
      </td>
      <td data-label="Next run" className={nextAt === undefined ? "none" : undefined}>
        {nextAt === undefined ? (
          <span className="muted">—</span>
        ) : (
          <span className="number">{moment(nextAt)}</span>
        )}
      </td>
      <td data-label={`Last ${BARS}`}>
        <Bars runs={runs} />
      </td>
      <td data-label="Success" className={successRate === undefined ? "number none" : "number"}>
        {successRate === undefined ? (
          <span className="muted">—</span>
        ) : (
          <strong className={successRate < 0.6 ? "bad" : undefined}>
            {Math.round(successRate * 100)}%
          </strong>
        )}
      </td>
      <td data-label={last && "Last run"}>
        {last ? (
          <span className="workflow-last">
            <StateMark status={last.status} word="" />
            {last.run === undefined ? (
              statusOf(last.status, "workflow").word
            ) : (
              <Link href={`/runs/${last.run}`}>{statusOf(last.status, "workflow").word}</Link>
            )}
            <Age className="muted small" at={last.at} />
          </span>
        ) : (
          <span className="muted">Never run</span>
        )}
      </td>
      <td>
        <span className="row workflow-do">
          <Button icon="play" aria-label={`Run ${name}`} onClick={onStart}>
            Run
          </Button>
          <Menu
            label={`More for ${name}`}
            face={<Icon name="more" />}
            className="icon-button"
            items={[
              { label: "Edit", icon: "edit", run: () => go(href) },
              { label: "Remove…", icon: "trash", run: onRemove },
            ]}
          />
        </span>
      </td>
    </tr>
  );
}

/** The last runs, the newest at the right; each state has its own look. */
function Bars({ runs }: { runs: readonly Started[] }) {
  const shown = runs.slice(0, BARS).toReversed();
  const counts = new Map<string, number>();
  for (const { status } of runs) counts.set(status, (counts.get(status) ?? 0) + 1);
  const words = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  return (
    <span className="workflow-bars" title={words}>
      {Array.from({ length: BARS - shown.length }, (_, at) => (
        <span key={`none ${at}`} className="none" />
      ))}
      {shown.map(({ status, at }, place) => (
        <span key={place} data-status={status} title={`${status}, ${moment(at)}`} />
      ))}
      <span className="unseen">{words || "no runs"}</span>
    </span>
  );
}

/** A file that is there already becomes a draft, to be looked at before it is stored. */
function ImportYaml() {
  const [, go] = useLocation();
  return (
    <FilePicker
      label="Workflow file"
      accept=".yaml,.yml,.json"
      onPick={([file]) =>
        void file?.text().then((text) => {
          remember(NEW_DRAFT, text);
          go("/workflows/new");
        })
      }
    >
      {(pick) => (
        <Button icon="upload" onClick={pick}>
          Import YAML
        </Button>
      )}
    </FilePicker>
  );
}

function RecentRuns() {
  const runs = useSessions({ kind: "workflow", limit: RUNS_SHOWN });
  if (!runs.data || runs.data.length === 0) return null;
  return (
    <section className="stack" aria-labelledby="recent-runs">
      <div className="row">
        <h2 id="recent-runs">Recent runs</h2>
        <Link href="/history?kind=workflow" className="spread">
          All runs
        </Link>
      </div>
      <ul className="list">
        {runs.data.map((session) => (
          <li key={session.id}>
            <SessionRow session={session} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Remove({
  workflow: { name, runs },
  onClose,
}: {
  workflow: Workflow;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const removal = useWrite((what: string) =>
    asked(client.DELETE("/api/workflows/{name}", { params: { path: { name: what } } })),
  );
  return (
    <Confirm
      title={`Remove ${name}?`}
      action="Remove"
      doing="Removing…"
      icon="trash"
      look="danger"
      isBusy={removal.isPending}
      error={removal.error}
      onClose={onClose}
      onSure={() =>
        removal.mutate(name, {
          onSuccess: () => {
            void queries.invalidateQueries({ queryKey: SHELF });
            onClose();
          },
        })
      }
    >
      <p>
        Nothing starts it anymore, and its versions are removed.{" "}
        {runs.length > 0 &&
          (runs.length === 1 ? "Its run is kept." : `Its ${runs.length} runs are kept.`)}
      </p>
    </Confirm>
  );
}
