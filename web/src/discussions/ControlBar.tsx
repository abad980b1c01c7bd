// How far it is, and everything that can be done: one row that never wraps. On a narrow
// page what is not needed at once is in the menu.

import { StatusBadge } from "../shell/status";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { Menu, type MenuItem } from "../ui/Menu";
import { count, duration, useNow } from "../ui/time";
import type { Commands } from "./commands";
import { useNarrow } from "./narrow";
import { money, type View } from "./words";

interface Props {
  view: View;
  commands: Commands;
  /** The page has lost the server and looks for it. */
  isBroken: boolean;
  onInterject: () => void;
}

export function ControlBar({ view, commands, isBroken, onInterject }: Props) {
  const isNarrow = useNarrow();
  const { pending, run, ask } = commands;
  const can = (what: string) => view.allowed.includes(what);
  const isBusy = pending !== undefined;
  const apart: MenuItem[] = [
    ...(can("interject")
      ? [{ label: "Interject", icon: "participant" as const, run: onInterject }]
      : []),
    ...(can("conclude")
      ? [{ label: "Conclude now", icon: "flag" as const, run: () => ask("conclude") }]
      : []),
  ];
  return (
    <div className="control-bar" role="toolbar" aria-label="Discussion">
      {isBroken ? (
        <span className="badge warn" title="The discussion goes on without this page.">
          <span className="dot waits live" />
          Reconnecting
        </span>
      ) : (
        <StatusBadge
          status={view.status}
          {...(isNarrow && view.status === "pausing" && { word: "Pausing" })}
        />
      )}
      <Rounds view={view} />
      {!isNarrow && <Facts view={view} />}
      <span className="spread" />
      {!isNarrow &&
        apart.map((item) => (
          <Button key={item.label} icon={item.icon ?? "more"} disabled={isBusy} onClick={item.run}>
            {item.label}
          </Button>
        ))}
      {can("pause") && (
        <Button
          icon="pause"
          shortcut="Space"
          disabled={isBusy}
          onClick={() => run("pause")}
          aria-label="Pause after this turn"
        >
          Pause
        </Button>
      )}
      {can("resume") && (
        <Button
          icon="play"
          look="primary"
          shortcut="Space"
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
      {!isNarrow && <Menu label="Export" icon="download" items={exports(view)} />}
      <Menu
        label="More"
        className="icon-button"
        face={<Icon name="more" />}
        items={[
          ...(isNarrow ? [...apart, ...exports(view)] : []),
          { label: "Remove", icon: "trash", run: () => ask("remove") },
        ]}
      />
    </div>
  );
}

export function exports(view: View): MenuItem[] {
  const at = `/api/discussions/${view.id}/export`;
  return [
    { label: "Markdown", icon: "download", href: `${at}?format=markdown` },
    { label: "JSON", icon: "download", href: `${at}?format=json` },
    { label: "Print", icon: "print", run: () => window.print() },
  ];
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

function Facts({ view }: { view: View }) {
  const { actual, startedAt, status } = view;
  const isRunning = status === "active" || status === "pausing";
  const now = useNow(isRunning);
  const elapsed =
    isRunning && startedAt !== undefined
      ? now - Date.parse(startedAt)
      : actual.elapsedSeconds * 1_000;
  const tokens = tokensOf(view);
  return (
    <span className="facts number">
      <span title="Since it started">{duration(elapsed)}</span>
      {tokens !== undefined && <span title="Read and written">{count(tokens)} tokens</span>}
      {actual.cost !== undefined && <span>{money(actual.cost, actual.currency)}</span>}
    </span>
  );
}

export function tokensOf({ actual }: View): number | undefined {
  if (actual.inputTokens === undefined && actual.outputTokens === undefined) return undefined;
  return (actual.inputTokens ?? 0) + (actual.outputTokens ?? 0);
}
