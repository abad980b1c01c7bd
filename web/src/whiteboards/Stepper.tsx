// The phase stepper: where the board is, who sees and can do what, since when and until when,
// and whether it is time to move on.

import { Age } from "../ui/Age";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { duration, moment, useNow } from "../ui/time";
import { useBoardPage, type BoardView } from "./board";
import { PHASES, phaseName, words, type Phase } from "./phases";
import { inWords } from "./reasons";

type State = "done" | "skipped" | "now" | "ahead";

function stateOf(view: BoardView, phase: Phase): State {
  if (phase === view.phase) return "now";
  if (PHASES.indexOf(phase) > PHASES.indexOf(view.phase)) return "ahead";
  return phase === "blind" || view.steps.some((step) => step.to === phase) ? "done" : "skipped";
}

const STATES: Record<State, string> = {
  done: "done",
  skipped: "skipped",
  now: "now",
  ahead: "to come",
};

export function Stepper({ onMove }: { onMove: () => void }) {
  const { view, can } = useBoardPage();
  const { motto, sees, does } = words(view.phase, view.debateVisibility);
  return (
    <section className="card phases" aria-label="Phases">
      <ol className="phase-steps">
        {PHASES.map((phase, index) => {
          const state = stateOf(view, phase);
          return (
            <li key={phase} data-state={state} aria-current={state === "now" ? "step" : undefined}>
              <span className="phase-mark" aria-hidden="true">
                {state === "done" ? <Icon name="check" size={12} /> : index + 1}
              </span>
              <span className="phase-name">
                {phaseName(phase)}
                <span className={state === "skipped" ? "phase-skipped" : "unseen"}>
                  {" "}
                  {STATES[state]}
                </span>
              </span>
            </li>
          );
        })}
      </ol>
      <div className="phase-now">
        <div className="phase-lead">
          <h2>{motto}</h2>
          <Times view={view} />
        </div>
        <dl className="phase-facts">
          <div>
            <dt>Who sees what</dt>
            <dd>{sees}</dd>
          </div>
          <div>
            <dt>What participants can do</dt>
            <dd>{does}</dd>
          </div>
          <Advice />
        </dl>
        {can("transition") && (
          <Button look="primary" className="phase-move no-print" onClick={onMove}>
            {view.phase === "resolve" ? "Archive…" : "Move on…"}
          </Button>
        )}
      </div>
    </section>
  );
}

const LAST_MINUTES_MS = 5 * 60_000;

function Times({ view }: { view: BoardView }) {
  const now = useNow(view.deadline !== undefined);
  const step = view.steps.at(-1);
  const left = view.deadline ? Date.parse(view.deadline) - now : undefined;
  return (
    <p className="muted small phase-times">
      <span>
        {view.phase === "archived" ? "Archived " : "Began "}
        <Age at={view.since} />
        {step && (step.by ? `, by ${step.by}` : ", by the deadline")}
      </span>
      {view.deadline && left !== undefined && (
        <span className={left < LAST_MINUTES_MS ? "deadline-near" : undefined} role="timer">
          <Icon name="clock" size={12} />
          {left > 0 ? `Moves on automatically in ${duration(left)}` : "Moves on now"}
          <span className="unseen"> ({moment(view.deadline)})</span>
        </span>
      )}
    </p>
  );
}

/** The server's advice on whether this phase has done its work. It hinders nobody. */
function Advice() {
  const { view } = useBoardPage();
  if (view.readyToAdvance === undefined || view.phase === "archived") return null;
  return (
    <div>
      <dt>Time to move on?</dt>
      <dd>
        {view.readyToAdvance ? (
          <span className="advice-ready">
            <Icon name="check" size={12} /> This phase has done its work.
          </span>
        ) : (
          <WhyNot reasons={view.whyNot} />
        )}
      </dd>
    </div>
  );
}

const REASONS_SHOWN = 2;

export function WhyNot({ reasons, shown = REASONS_SHOWN }: { reasons: string[]; shown?: number }) {
  const { posts } = useBoardPage();
  const titles = new Map(posts.map((post) => [post.postId, post.title]));
  const list = (some: string[]) => (
    <ul className="why-not">
      {some.map((reason) => (
        <li key={reason}>{inWords(reason, titles)}</li>
      ))}
    </ul>
  );
  const rest = reasons.slice(shown);
  return (
    <>
      {list(reasons.slice(0, shown))}
      {rest.length > 0 && (
        <details className="why-not-rest">
          <summary>and {rest.length} more</summary>
          {list(rest)}
        </details>
      )}
    </>
  );
}
