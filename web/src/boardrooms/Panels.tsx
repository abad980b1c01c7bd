import { useEffect, useRef, useState, type CSSProperties } from "react";
import type { LiveSession } from "../live/session";
import { Glyph, Icon, inRole } from "../ui/icons";
import { arrangement, strip } from "./arrangement";
import { roundNow, type Advisor, type Board } from "./board";
import { Panel } from "./Panel";
import type { ScrollSync } from "./scrollSync";

/** More rows than these are scrolled. */
const ROWS_IN_SIGHT = 3;

export type Layout = "columns" | "tabs" | "focus";

interface Props {
  board: Board;
  live: LiveSession;
  sync: ScrollSync;
  layout: Layout;
  /** The advisor that is large, chosen, or in sight of the carousel. */
  chosen: number;
  isNarrow: boolean;
  onChoose: (advisor: number) => void;
  onFocus: (advisor: number) => void;
}

export function Panels({ board, live, sync, layout, chosen, isNarrow, onChoose, onFocus }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const width = useWidth(grid);
  useInSight(grid, isNarrow, onChoose);
  const { allowed, advisors } = board;
  const shape = isNarrow ? "carousel" : layout;
  const { rows, tracks, spans } = arrangement(advisors.length, width);
  const voting = new Set(
    (board.status === "balloting" ? (board.syntheses.at(-1)?.ballots ?? []) : [])
      .filter((ballot) => ballot.status === "waiting")
      .map((ballot) => ballot.advisor),
  );
  const choose = (advisor: number) => {
    onChoose(advisor);
    if (isNarrow) bringIntoSight(grid.current, advisor);
  };
  return (
    <div className="panels-frame">
      {(isNarrow || layout === "tabs") && (
        <AdvisorBar advisors={advisors} chosen={chosen} isShort={isNarrow} onChoose={choose} />
      )}
      <div
        ref={grid}
        className={`panels in-${shape}${rows > ROWS_IN_SIGHT ? " tall" : ""}`}
        style={styleOf(shape, advisors.length, width, tracks)}
      >
        {advisors.map((advisor, place) => {
          const isChosen = advisor.id === chosen;
          const isFocused = shape === "focus" && isChosen;
          return (
            <Panel
              key={advisor.id}
              board={board.id}
              advisor={advisor}
              texts={live.texts}
              reasonings={live.reasonings}
              hold={live.held.get(advisor.callId)}
              currency={board.currency}
              isPast={advisor.round < roundNow(board)}
              isVoting={voting.has(advisor.id)}
              canRetry={allowed.includes("retry")}
              canPick={allowed.includes("pick")}
              canStop={allowed.includes("stop")}
              canReply={allowed.includes("reply")}
              sync={sync}
              look={lookOf(shape, isChosen)}
              isFocused={isFocused}
              span={shape === "columns" ? spans[place] : undefined}
              onFocus={onFocus}
            />
          );
        })}
      </div>
    </div>
  );
}

type Shape = Layout | "carousel";

function lookOf(shape: Shape, isChosen: boolean): "open" | "strip" | "away" {
  if (shape === "focus" && !isChosen) return "strip";
  return shape === "tabs" && !isChosen ? "away" : "open";
}

function styleOf(
  shape: Shape,
  count: number,
  width: number,
  tracks: number,
): CSSProperties | undefined {
  if (shape === "columns") {
    return { gridTemplateColumns: `repeat(${tracks}, minmax(0, 1fr))` };
  }
  if (shape === "focus") {
    const { rows, columns } = strip(count - 1, width);
    return {
      gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
      gridTemplateRows: `${rows > 0 ? `repeat(${rows}, auto) ` : ""}minmax(0, 1fr)`,
    };
  }
  return undefined;
}

interface BarProps {
  advisors: readonly Advisor[];
  chosen: number;
  isShort: boolean;
  onChoose: (advisor: number) => void;
}

/** Goes to one advisor: above the tabs, and above the carousel. */
function AdvisorBar({ advisors, chosen, isShort, onChoose }: BarProps) {
  return (
    <div className="advisor-bar no-print" role="group" aria-label="Advisors">
      {advisors.map((advisor) => (
        <button
          key={advisor.id}
          type="button"
          {...inRole(advisor.role, advisor.ownRole)}
          aria-pressed={advisor.id === chosen}
          onClick={() => onChoose(advisor.id)}
        >
          <Glyph role={advisor.role} own={advisor.ownRole} small />
          <span className={isShort ? "unseen" : undefined}>{advisor.name}</span>
          <Standing advisor={advisor} />
        </button>
      ))}
      {isShort && (
        <button type="button" className="to-verdict" onClick={showVerdict}>
          <Icon name="flag" />
          Verdict
        </button>
      )}
    </div>
  );
}

/** What the name alone does not tell while another advisor is shown. */
function Standing({ advisor }: { advisor: Advisor }) {
  switch (advisor.status) {
    case "answering":
      return (
        <span className="dot live">
          <span className="unseen">, writing</span>
        </span>
      );
    case "waiting":
      return (
        <span className="dot waits">
          <span className="unseen">, waiting for {advisor.person ?? "an answer"}</span>
        </span>
      );
    case "failed":
    case "stopped":
      return (
        <span className="stands" title={advisor.status === "failed" ? "Failed" : "Stopped"}>
          <Icon name={advisor.status === "failed" ? "warning" : "stop"} size={11} />
          <span className="unseen">, {advisor.status}</span>
        </span>
      );
    case "done":
      return null;
  }
}

function showVerdict(): void {
  const verdict = document.querySelector<HTMLElement>(".verdict");
  verdict?.scrollIntoView({ block: "start" });
  verdict?.focus({ preventScroll: true });
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const box = element.current;
    if (!box) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Tells which panel of the carousel is in sight. */
function useInSight(
  element: React.RefObject<HTMLElement | null>,
  isOn: boolean,
  onSeen: (advisor: number) => void,
): void {
  const latest = useRef(onSeen);
  latest.current = onSeen;
  useEffect(() => {
    const box = element.current;
    if (!box || !isOn) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const seen = entries.find((entry) => entry.isIntersecting);
        const advisor = Number((seen?.target as HTMLElement | undefined)?.dataset["advisor"]);
        if (advisor > 0) latest.current(advisor);
      },
      { root: box, threshold: 0.6 },
    );
    for (const panel of box.children) observer.observe(panel);
    return () => observer.disconnect();
  }, [element, isOn]);
}

function bringIntoSight(box: HTMLElement | null, advisor: number): void {
  const panel = box?.querySelector<HTMLElement>(`[data-advisor="${advisor}"]`);
  if (!box || !panel) return;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  box.scrollTo({ left: panel.offsetLeft - box.offsetLeft, behavior: calm ? "auto" : "smooth" });
}
