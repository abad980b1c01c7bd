// An approval on a page of its own: what is to be decided, on what grounds, and what follows.

import { Link, useLocation } from "wouter";
import { Icon } from "../ui/icons";
import { Notice } from "../ui/Notice";
import { duration, moment, some, useNow } from "../ui/time";
import { CHOICES, DecideForm } from "./Decide";
import { StateMark } from "../graph/StateMark";
import {
  decisions,
  HOLDS,
  isAwaited,
  markInWords,
  markOf,
  rows,
  whoDecides,
  type Approval,
  type Row,
  type RunView,
} from "./run";
import { Value } from "./Value";

/** The last steps before it that are listed; the run has all. */
const SHOWN = 20;

/** `place` names the step; without one it is the first that waits. */
export function Sheet({ run, place }: { run: RunView; place: string }) {
  const [, go] = useLocation();
  const all = rows(run.steps);
  const row = all.find(({ step }) => (place === "" ? isAwaited(step) : step.place === place));
  const back = `/runs/${run.id}`;
  if (!row?.step.approval || !isAwaited(row.step)) {
    return <Decided run={run} row={row} back={back} />;
  }
  const { step, where } = row;
  const { approval } = row.step;
  const done = all.filter(({ step: one }) => one.status === "done" && !HOLDS.includes(one.kind));
  return (
    <div className="page sheet">
      <article
        className="card sheet-card"
        aria-label={`Approval needed from ${whoDecides(approval)}`}
        role="region"
      >
        <header className="sheet-head">
          <div>
            <p className="eyebrow">
              Approval · {[step.label ?? step.id, ...(where === "" ? [] : [where])].join(" · ")} ·
              run of {run.workflow}, started by {run.starter}
            </p>
            <h1>{run.title}</h1>
          </div>
          <Link
            href={back}
            className="icon-button"
            aria-label="Back to the run"
            title="Back to the run"
          >
            <Icon name="close" />
          </Link>
        </header>
        {approval.deadline !== undefined && <Deadline at={approval.deadline} />}
        <div className="sheet-columns">
          <div className="sheet-main">
            <h2 className="label">To be decided</h2>
            {approval.show === undefined ? (
              <p className="muted">
                This workflow has nothing to show here. Open the run for details.
              </p>
            ) : (
              <div className="sheet-show">
                <Value value={approval.show} label="To be decided" under={2} />
              </div>
            )}
            <section className="sheet-course">
              <h2 className="label">
                How it got here <Link href={back}>Open the run</Link>
              </h2>
              {done.length > SHOWN && (
                <p className="muted">{some(done.length - SHOWN, "earlier step")}</p>
              )}
              <ul>
                {done.slice(-SHOWN).map(({ step: one, where: at }) => (
                  <li key={one.place}>
                    <StateMark
                      status={markOf(one)}
                      word={markInWords(one, run.status !== "running")}
                    />
                    {one.label ?? one.id}
                    {at !== "" && <span className="muted small"> {at}</span>}
                  </li>
                ))}
              </ul>
            </section>
          </div>
          <Grounds approval={approval} starter={run.starter} />
        </div>
        <DecideForm
          key={step.place}
          run={run}
          step={step}
          approval={approval}
          onDecided={() => go(back)}
        />
      </article>
    </div>
  );
}

function Decided({ run, row, back }: { run: RunView; row: Row | undefined; back: string }) {
  const said = row ? decisions(row.step) : [];
  return (
    <div className="page">
      <h1>{run.title}</h1>
      <Notice>
        {said.length > 0 ? said.join(". ") : "Nothing here is waiting for a decision."}
      </Notice>
      <p>
        <Link href={back}>Open the run</Link>
      </p>
    </div>
  );
}

function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow(true);
  return (
    <p className="run-deadline">
      <Icon name="clock" />
      <span>
        <strong>
          Decide by <time dateTime={at}>{moment(at)}</time>.
        </strong>{" "}
        With no decision, it counts as rejected.
      </span>
      <strong className="number spread">
        {left > 0 ? `${duration(left)} left` : "Time is up"}
      </strong>
    </p>
  );
}

function Grounds({ approval, starter }: { approval: Approval; starter: string }) {
  const { who, need, decided, evidence } = approval;
  return (
    <aside className="sheet-aside" aria-label="Background">
      {evidence !== undefined && (
        <section>
          <h2>Evidence</h2>
          <Value value={evidence} label="Evidence" under={2} />
        </section>
      )}
      <section>
        <h2>Who can decide</h2>
        <p className="muted small">
          {need === 1 ? "One is enough" : `${need} of ${who.length} must approve`}
        </p>
        <ul className="sheet-people">
          {who.map((name) => {
            const said = decided.find(({ by }) => by === name);
            return (
              <li key={name}>
                <span className="glyph small" data-role="person" aria-hidden="true">
                  {name.charAt(0).toUpperCase()}
                </span>
                {name}
                <span className="muted small spread">
                  {said ? said.decision : name === starter ? "started it" : ""}
                </span>
              </li>
            );
          })}
        </ul>
      </section>
      <section>
        <h2>What happens next</h2>
        <dl className="run-follows small">
          {CHOICES.toReversed().map(({ decision, word }) => (
            <div key={decision}>
              <dt>{word}</dt>
              <dd className="muted follows">{approval.leadsTo[decision]}</dd>
            </div>
          ))}
        </dl>
      </section>
    </aside>
  );
}
