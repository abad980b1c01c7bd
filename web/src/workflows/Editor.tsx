// A workflow's file with the server's findings beside it, and its graph, which follows the
// cursor. What is written is kept in this browser until it is stored.

import "./workflows.css";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { Graph, type Step as GraphStep } from "../graph/Graph";
import { iconOf, kindInWords } from "../runs/run";
import { SessionPage } from "../session/SessionPage";
import { useStored } from "../stored";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { Menu } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { Segmented } from "../ui/Segmented";
import { useSettled } from "../ui/settled";
import { useShortcuts } from "../ui/shortcuts";
import { Age } from "../ui/Age";
import { some } from "../ui/time";
import {
  SHELF,
  useCheck,
  useWorkflow,
  type Finding,
  type Outline,
  type WholeWorkflow,
} from "./data";
import { draftPlace, offsetOf, replaced, STARTER, stepAt } from "./draft";
import { Source } from "./Source";
import { StartRun } from "./StartRun";
import { Takes } from "./Takes";

const CHECK_MS = 400;
const COLUMNS = 3;

export default function Editor({ name }: { name?: string }) {
  const [version, setVersion] = useState<number>();
  const query = useWorkflow(name, version);
  if (name === undefined) return <Desk stored={undefined} onVersion={setVersion} />;
  return (
    <SessionPage kind="workflow" noun="Workflow" query={query} title={({ name: title }) => title}>
      {(stored) => (
        <Desk key={stored.source} stored={stored} version={version} onVersion={setVersion} />
      )}
    </SessionPage>
  );
}

interface DeskProps {
  stored: WholeWorkflow | undefined;
  version?: number | undefined;
  onVersion: (version: number | undefined) => void;
}

function Desk({ stored, version, onVersion }: DeskProps) {
  const place = draftPlace(stored?.name);
  const before = stored?.source ?? STARTER;
  const [draft, setDraft] = useStored<string | null>(place, null, "");
  const source = draft ?? before;
  const isChanged = source !== before;
  const settled = useSettled(source, CHECK_MS);
  const check = useCheck(settled);
  const findings = check.data?.problems ?? [];
  const isKnown = !check.isPlaceholderData && settled === source;
  const isSound = isKnown && check.data?.sound === true;
  const outline = useLast(check.data?.outline) ?? stored?.outline ?? [];
  const area = useRef<HTMLTextAreaElement>(null);
  const [at, setAt] = useState(0);
  const line = source.slice(0, at).split("\n").length;
  const step = stepAt(outline, line);
  const [isStarting, setStarting] = useState(false);
  /** What comes once the draft is discarded. */
  const [discarding, setDiscarding] = useState<{ then: () => void }>();
  const save = useSave(stored, () => setDraft(undefined));
  const write = (text: string) => setDraft(text === before ? undefined : text);

  const select = (from: number, to: number) => {
    area.current?.focus();
    area.current?.setSelectionRange(from, to);
    setAt(from);
    const top = (source.slice(0, from).split("\n").length - 8) * 19;
    area.current?.closest(".source-scroll")?.scrollTo({ top });
  };
  const goTo = ({ line: row, column }: Pick<Finding, "line" | "column">) => {
    const offset = offsetOf(source, row, column);
    select(offset, offset);
  };
  const fix = (finding: Finding, by: string) => {
    const next = replaced(source, finding, by);
    if (next !== undefined) write(next);
    else goTo(finding);
  };
  const nextFinding = () => {
    const [first] = findings;
    const next = findings.find((one) => one.line > line) ?? first;
    if (next) goTo(next);
  };
  useShortcuts([{ key: "F8", label: "Next problem", run: nextFinding }]);

  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  const next = (stored?.versions[0]?.number ?? 0) + 1;
  return (
    <div className="editor">
      <header className="session-head">
        <div className="session-title">
          <p className="eyebrow">
            <Link href="/workflows">Workflows</Link> · {stored?.name ?? "new"}
            {isChanged || !stored
              ? ` · draft of version ${next}`
              : ` · version ${version ?? stored.version}`}
          </p>
          <h1>{stored?.description || check.data?.name || stored?.name || "New workflow"}</h1>
        </div>
        <div className="row" role="status">
          {errors > 0 && <span className="badge bad">{some(errors, "error")}</span>}
          {warnings > 0 && <span className="badge warn">{some(warnings, "warning")}</span>}
          {isSound && findings.length === 0 && <span className="badge good">No problems</span>}
        </div>
        <div className="session-actions">
          {stored && (
            <Menu
              label={`Version ${version ?? stored.version}`}
              icon="history"
              items={stored.versions.map(({ number, by }) => ({
                label: `Version ${number} · ${by}`,
                isChosen: number === (version ?? stored.version),
                run: () => {
                  const show = () =>
                    onVersion(number === stored.versions[0]?.number ? undefined : number);
                  if (isChanged) setDiscarding({ then: show });
                  else show();
                },
              }))}
            />
          )}
          {isChanged && stored && (
            <Button look="quiet" onClick={() => setDiscarding({ then: () => undefined })}>
              Discard
            </Button>
          )}
          <Button
            disabled={!isSound || save.isPending || (stored !== undefined && !isChanged)}
            onClick={() => save.mutate(source)}
          >
            {save.isPending ? "Saving…" : `Save version ${next}`}
          </Button>
          <Button look="primary" icon="play" disabled={!isSound} onClick={() => setStarting(true)}>
            Run
          </Button>
        </div>
      </header>
      <div className="editor-columns">
        <section className="card editor-file" aria-label="File">
          <div className="editor-bar">
            <h2 className="mono">{check.data?.name ?? stored?.name ?? "workflow"}.yaml</h2>
            <span className="muted small">{isChanged && "Draft saved in this browser"}</span>
            <span className="muted small spread">
              {check.isFetching ? "Checking…" : check.data && "Checked by the server"}
            </span>
          </div>
          <Wrong error={save.error ?? check.error} />
          <Source
            area={area}
            source={source}
            findings={findings}
            lines={step && [step.line, endOf(outline, step, source)]}
            line={line}
            onChange={write}
            onCursor={setAt}
            onFix={isKnown ? fix : undefined}
            onGo={goTo}
          />
          <p className="editor-foot muted small">
            Line {line}, column {at - source.lastIndexOf("\n", at - 1)}
            {step && ` · steps › ${step.place.replaceAll("/", " › ")}`}
            <span className="spread">
              Next problem <kbd>F8</kbd>
            </span>
          </p>
        </section>
        <div className="editor-side">
          <Shape
            outline={outline}
            findings={findings}
            chosen={step?.place}
            onChoose={(chosen) => {
              const found = outline.find((one) => one.place === chosen);
              if (found) goTo({ line: found.line, column: 1 });
            }}
          />
          {isSound && (
            <section className="card stack" aria-label="Dry run">
              <h2>Dry run</h2>
              <Takes source={settled} />
            </section>
          )}
          {stored && (
            <section className="card" aria-labelledby="versions">
              <h2 id="versions">Versions</h2>
              <ul className="list">
                {stored.versions.map(({ number, by, at: when }) => (
                  <li key={number} className="row">
                    <strong>{number}</strong> <span>{by}</span>
                    <Age className="muted small spread" at={when} />
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
      {discarding && (
        <Confirm
          title="Discard your draft?"
          action="Discard"
          look="danger"
          onClose={() => setDiscarding(undefined)}
          onSure={() => {
            setDraft(undefined);
            setDiscarding(undefined);
            discarding.then();
          }}
        >
          <p>It is stored only in this browser. The stored versions stay as they are.</p>
        </Confirm>
      )}
      {isStarting && check.data && (
        <StartRun
          workflow={{
            name: check.data.name ?? "this workflow",
            inputs: check.data.inputs ?? [],
            ...(stored && !isChanged ? version !== undefined && { version } : { source }),
          }}
          onClose={() => setStarting(false)}
        />
      )}
    </div>
  );
}

/** The last that there was: a file that is wrong for a moment keeps its graph. */
function useLast<T extends readonly unknown[]>(value: T | undefined): T | undefined {
  const last = useRef<T>(undefined);
  if (value !== undefined && value.length > 0) last.current = value;
  return last.current;
}

function useSave(stored: WholeWorkflow | undefined, onSaved: () => void) {
  const queries = useQueryClient();
  const [, go] = useLocation();
  return useWrite(
    (source: string, header) =>
      asked(client.POST("/api/workflows", { params: { header }, body: { source } })),
    {
      onSent: async (whole) => {
        onSaved();
        toast(`Saved as version ${whole.version}`);
        await queries.invalidateQueries({ queryKey: SHELF });
        if (whole.name !== stored?.name) go(`/workflows/${encodeURIComponent(whole.name)}`);
      },
    },
  );
}

/** The last line of a step: the one before the next that is not in it. */
function endOf(outline: readonly Outline[], step: Outline, source: string): number {
  const after = outline.find(
    ({ line, place }) => line > step.line && !place.startsWith(`${step.place}/`),
  );
  return after ? after.line - 1 : source.split("\n").length;
}

interface ShapeProps {
  outline: readonly Outline[];
  findings: readonly Finding[];
  chosen: string | undefined;
  onChoose: (place: string) => void;
}

function Shape({ outline, findings, chosen, onChoose }: ShapeProps) {
  const [view, setView] = useState<"graph" | "table">("graph");
  const top = outline.filter(({ place }) => !place.includes("/"));
  const wrongAt = (step: Outline) => {
    const here = findings.filter(
      ({ line }) => stepAt(outline, line)?.place.split("/")[0] === step.place,
    );
    return here.find(({ severity }) => severity === "error")?.severity ?? here[0]?.severity;
  };
  const steps: GraphStep[] = top.map((step) => ({
    id: step.place,
    name: step.id,
    needs: step.needs,
    icon: iconOf(step.kind),
    about: step.conditional ? "Conditional" : kindInWords(step.kind),
    wrong: wrongAt(step),
    isMany: step.kind === "foreach",
  }));
  return (
    <section className="card editor-graph" aria-labelledby="shape">
      <div className="editor-bar">
        <h2 id="shape">Graph</h2>
        <span className="muted small">{some(outline.length, "step")}, follows the cursor</span>
        <Segmented
          label="Steps as"
          options={[
            { name: "graph", title: "Graph" },
            { name: "table", title: "Table" },
          ]}
          chosen={view}
          onChoose={setView}
        />
      </div>
      {outline.length === 0 ? (
        <p className="muted editor-none">The graph appears once the file has no errors.</p>
      ) : view === "graph" ? (
        <Graph
          label="Steps and what they wait for"
          steps={steps}
          columns={COLUMNS}
          chosen={chosen}
          onChoose={onChoose}
        />
      ) : (
        <table className="editor-table">
          <thead>
            <tr>
              <th scope="col">Step</th>
              <th scope="col">Action</th>
              <th scope="col">After</th>
              <th scope="col">Line</th>
            </tr>
          </thead>
          <tbody>
            {outline.map((step) => (
              <tr key={step.place}>
                <th scope="row">
                  <button
                    type="button"
                    className="link-button"
                    onClick={() => onChoose(step.place)}
                  >
                    {step.place}
                  </button>
                </th>
                <td>{step.label ?? kindInWords(step.kind)}</td>
                <td>{step.needs.join(", ")}</td>
                <td className="number">{step.line}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
