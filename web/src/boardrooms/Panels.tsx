import { useEffect, useRef, type CSSProperties } from "react";
import type { LiveSession } from "../live/session";
import { Glyph, Icon, inRole } from "../ui/icons";
import { roundNow, versions, type Advisor, type Board } from "./board";
import { Panel } from "./Panel";
import type { ScrollSync } from "./scrollSync";
import type { Standing } from "./standing";
import { useStandings } from "./useStandings";

export type Layout = "columns" | "tabs" | "focus";

interface Props {
  board: Board;
  live: LiveSession;
  sync: ScrollSync;
  layout: Layout;
  /** The advisor that is large, chosen, or in sight of the carousel. */
  chosen: number;
  isNarrow: boolean;
  /** Every answer in full, as long as it is. */
  isOpen: boolean;
  onChoose: (advisor: number) => void;
  onFocus: (advisor: number) => void;
}

export function Panels(props: Props) {
  const { board, live, sync, layout, chosen, isNarrow, isOpen, onChoose, onFocus } = props;
  const grid = useRef<HTMLDivElement>(null);
  useInSight(grid, isNarrow, onChoose);
  const { allowed, advisors } = board;
  const shape = isNarrow ? "carousel" : layout;
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
        <AdvisorBar
          advisors={advisors}
          chosen={chosen}
          live={live}
          isShort={isNarrow}
          hasVerdict={versions(board).length > 0}
          onChoose={choose}
        />
      )}
      <div
        ref={grid}
        className={`panels in-${shape}${isOpen ? " whole" : ""}`}
        style={{ "--columns": advisors.length } as CSSProperties}
      >
        {advisors.map((advisor) => {
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

interface BarProps {
  advisors: readonly Advisor[];
  live: LiveSession;
  chosen: number;
  isShort: boolean;
  hasVerdict: boolean;
  onChoose: (advisor: number) => void;
}

/** Goes to one advisor: above the tabs, and above the carousel. */
function AdvisorBar({ advisors, live, chosen, isShort, hasVerdict, onChoose }: BarProps) {
  const standings = useStandings(advisors, live);
  return (
    <div className="advisor-bar no-print" role="group" aria-label="Advisors">
      {advisors.map((advisor, place) => (
        <button
          key={advisor.id}
          type="button"
          {...inRole(advisor.role, advisor.ownRole)}
          aria-pressed={advisor.id === chosen}
          onClick={() => onChoose(advisor.id)}
        >
          <Glyph role={advisor.role} own={advisor.ownRole} small />
          <span className={isShort ? "unseen" : undefined}>{advisor.name}</span>
          <Stands advisor={advisor} standing={standings[place]} />
        </button>
      ))}
      {isShort && hasVerdict && (
        <button type="button" className="to-verdict" onClick={showVerdict}>
          <Icon name="flag" />
          Verdict
        </button>
      )}
    </div>
  );
}

/** What the name alone does not tell while another advisor is shown. */
function Stands({ advisor, standing }: { advisor: Advisor; standing: Standing | undefined }) {
  switch (advisor.status) {
    case "answering":
      return (
        <span className={standing === "writing" ? "dot live" : "dot"}>
          <span className="unseen">, {standing}</span>
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
