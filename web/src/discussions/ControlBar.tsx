// How far it is, and everything that can be done: one row that never wraps. On a narrow
// page what is not needed at once is in the menu.

import { useLayoutEffect, useRef, useState, type RefObject } from "react";
import { StatusBadge } from "../shell/status";
import { Button } from "../ui/Button";
import { Icon } from "../ui/icons";
import { asExports, Menu, type MenuItem } from "../ui/Menu";
import type { Commands } from "./commands";
import { type View } from "./words";

interface Props {
  view: View;
  commands: Commands;
  /** The page has lost the server and looks for it. */
  isBroken: boolean;
  onInterject: () => void;
}

/** Widths of the bar from which there is room for more. */
const ROOM = { everything: 980, segments: 560, round: 430, words: 380 };

export function ControlBar({ view, commands, isBroken, onInterject }: Props) {
  const bar = useRef<HTMLDivElement>(null);
  const width = useWidth(bar);
  const isAll = width >= ROOM.everything;
  const { pending, run, ask } = commands;
  const can = (what: string) => view.allowed.includes(what);
  const isBusy = pending !== undefined;
  const face = (word: string) => (
    <span className={width < ROOM.words ? "unseen" : undefined}>{word}</span>
  );
  const apart: MenuItem[] = [
    ...(can("interject")
      ? [{ label: "Interject", icon: "participant" as const, run: onInterject }]
      : []),
    ...(can("conclude")
      ? [{ label: "Conclude now", icon: "flag" as const, run: () => ask("conclude") }]
      : []),
  ];
  return (
    <div className="control-bar" role="toolbar" aria-label="Discussion" ref={bar}>
      {isBroken ? (
        <span className="badge warn" title="The discussion continues without this page.">
          <span className="dot waits live" />
          Reconnecting
        </span>
      ) : (
        <StatusBadge
          status={view.status}
          {...(!isAll && view.status === "pausing" && { word: "Pausing" })}
        />
      )}
      <Rounds
        view={view}
        hasSegments={width >= ROOM.segments}
        isShort={width < ROOM.round && (isBroken || view.status === "pausing")}
      />
      <span className="spread" />
      {isAll &&
        apart.map((item) => (
          <Button key={item.label} icon={item.icon ?? "more"} disabled={isBusy} onClick={item.run}>
            {item.label}
          </Button>
        ))}
      {can("pause") && (
        <Button
          icon="pause"
          shortcut="P"
          disabled={isBusy}
          onClick={() => run("pause")}
          aria-label={view.step?.waitsForPerson ? "Pause now" : "Pause after this turn"}
        >
          {face("Pause")}
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
          {face("Resume")}
        </Button>
      )}
      {can("stop") && (
        <Button icon="stop" look="danger" disabled={isBusy} onClick={() => run("stop")}>
          {face("Stop")}
        </Button>
      )}
      {isAll && <Menu label="Export" icon="download" items={exports(view)} />}
      <Menu
        label="More"
        className="icon-button"
        face={<Icon name="more" />}
        items={[
          ...(isAll ? [] : [...apart, ...asExports(exports(view))]),
          { label: "Remove…", icon: "trash", run: () => ask("remove") },
        ]}
      />
    </div>
  );
}

function useWidth(of: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(() => window.innerWidth);
  useLayoutEffect(() => {
    const element = of.current;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    const sized = new ResizeObserver(() => setWidth(element.clientWidth));
    sized.observe(element);
    return () => sized.disconnect();
  }, [of]);
  return width;
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

interface RoundsProps {
  view: View;
  hasSegments: boolean;
  /** The word gives way to a longer status. */
  isShort: boolean;
}

function Rounds({ view, hasSegments, isShort }: RoundsProps) {
  const { round, maxRounds, status } = view;
  const isOver = status === "concluded";
  const isBegun = view.step?.kind === "turn" || view.step?.kind === "opening";
  const done = isOver || !isBegun ? round : round - 1;
  return (
    <span className="rounds-now">
      <span className="number">
        {isOver ? (
          `${round} of ${maxRounds} rounds`
        ) : (
          <>
            <span className={isShort ? "unseen" : undefined}>Round </span>
            {`${Math.max(1, round)} of ${maxRounds}`}
          </>
        )}
      </span>
      {hasSegments && maxRounds <= SEGMENTS_MOST && (
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
