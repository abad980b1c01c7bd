import { Markdown } from "../markdown/Markdown";
import type { Connection } from "../live/follow";
import { KeptFiles } from "../session/KeptFiles";
import { SessionHead } from "../session/SessionHead";
import { Button } from "../ui/Button";
import type { MenuItem } from "../ui/Menu";
import { useNarrow } from "../ui/narrow";
import { useNow } from "../ui/time";
import type { Commands } from "./commands";
import { FORMATS, headline, type View } from "./words";

interface Props {
  view: View;
  connection: Connection;
  commands: Commands;
  onInterject: () => void;
}

/** The topic, whose discussion it is, how far it is, and everything that can be done. */
export function Head({ view, connection, commands, onInterject }: Props) {
  const isNarrow = useNarrow();
  const { actual, status, step } = view;
  const { pending, run, askToConclude } = commands;
  const title = headline(view.topic, view.name);
  const files = view.context ?? [];
  const isRunning = (status === "active" || status === "pausing") && !step?.waitsForPerson;
  const now = useNow(isRunning);
  const sinceMs = isRunning ? Math.max(0, now - Date.parse(view.changedAt)) : 0;
  const can = (what: string) => view.allowed.includes(what);
  const isBusy = pending !== undefined;
  const apart: MenuItem[] = [
    ...(can("interject")
      ? [{ label: "Interject", icon: "participant" as const, run: onInterject }]
      : []),
    ...(can("conclude")
      ? [{ label: "Conclude now", icon: "flag" as const, run: askToConclude }]
      : []),
  ];
  return (
    <>
      <SessionHead
        session={{ id: view.id, kind: "discussion", title }}
        about={
          <>
            {FORMATS[view.format]} · led by {view.moderator.name}
            {view.name !== title && title === view.topic.trim() && ` · ${view.name}`}
          </>
        }
        status={status}
        {...(step?.waitsForPerson && { word: `Waiting for ${step.name}`, waits: true })}
        connection={connection}
        {...(view.startedAt !== undefined && {
          workedMs: actual.modelSeconds * 1_000 + sinceMs,
          took: { ...actual, usage: actual, budget: view.budget },
        })}
        more={isNarrow ? apart : []}
        actions={
          <>
            {!isNarrow &&
              apart.map((item) => (
                <Button
                  key={item.label}
                  icon={item.icon ?? "more"}
                  disabled={isBusy}
                  onClick={item.run}
                >
                  {item.label}
                </Button>
              ))}
            {can("pause") && (
              <Button
                icon="pause"
                shortcut="P"
                disabled={isBusy}
                onClick={() => run("pause")}
                aria-label={step?.waitsForPerson ? "Pause now" : "Pause after this turn"}
              >
                Pause
              </Button>
            )}
            {can("resume") && (
              <Button
                icon="play"
                look="primary"
                shortcut="P"
                disabled={isBusy}
                onClick={() => run("resume")}
              >
                Resume
              </Button>
            )}
            {can("stop") && (
              <Button icon="stop" look="danger" disabled={isBusy} onClick={() => run("stop")}>
                Stop
              </Button>
            )}
          </>
        }
      >
        <Rounds view={view} />
      </SessionHead>
      {(title !== view.topic.trim() || files.length > 0) && (
        <div className="discussion-topic">
          {title !== view.topic.trim() && (
            <details className="whole-topic">
              <summary>Full topic</summary>
              <Markdown text={view.topic} under={1} />
            </details>
          )}
          <KeptFiles kind="discussion" id={view.id} names={files} />
        </div>
      )}
    </>
  );
}

const SEGMENTS_MOST = 20;

function Rounds({ view }: { view: View }) {
  const { round, maxRounds, status } = view;
  const isOver = status === "concluded";
  const isBegun = view.step?.kind === "turn" || view.step?.kind === "opening";
  const done = isOver || !isBegun ? round : round - 1;
  return (
    <span className="rounds-now">
      <span className="number">
        {isOver ? `${round} of ${maxRounds} rounds` : `Round ${Math.max(1, round)} of ${maxRounds}`}
      </span>
      {maxRounds <= SEGMENTS_MOST && (
        <span className="segments" aria-hidden="true">
          {Array.from({ length: maxRounds }, (_, place) => (
            <span
              key={place}
              className={place < done ? "done" : place < round && !isOver ? "now" : undefined}
            />
          ))}
        </span>
      )}
    </span>
  );
}
