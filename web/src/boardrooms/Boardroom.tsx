// A board at work: the question, the advisors side by side, the verdict above the map.

import "./convene.css";
import "./boardroom.css";
import { useCallback, useEffect, useRef, useState } from "react";
import { useLiveSession, type LiveSession } from "../live/session";
import { SessionPage } from "../session/SessionPage";
import { useStored } from "../stored";
import { announce, toast, useMilestones } from "../ui/announce";
import { Button } from "../ui/Button";
import { useNarrow } from "../ui/narrow";
import { useShortcuts } from "../ui/shortcuts";
import {
  askedNow,
  boardKey,
  finished,
  hidesFrom,
  isRunning,
  useBoard,
  verdictOf,
  versions,
  type Board,
} from "./board";
import { BoardMap } from "./BoardMap";
import { FollowUp } from "./FollowUp";
import { Head } from "./Head";
import { milestones } from "./milestones";
import { ModelNote } from "./ModelNote";
import { Panels, type Layout } from "./Panels";
import { closest, pointOf } from "./points";
import { Rounds } from "./Rounds";
import { ScrollSync } from "./scrollSync";
import { markSources } from "./sources";
import { Strip } from "./Strip";
import { Verdict } from "./Verdict";

export default function Boardroom({ id }: { id: string }) {
  const board = useBoard(id);
  const seat = board.data && hidesFrom(board.data);
  const live = useLiveSession({
    url: board.data && `/api/boardrooms/${id}/events${seat === undefined ? "" : `?seat=${seat}`}`,
    ...(board.data && { after: board.data.version }),
    keys: [boardKey(id)],
  });
  useMilestones(board.data, (before, now) => milestones(before, now).join(". "));
  return (
    <SessionPage
      kind="boardroom"
      query={board}
      connection={live.connection}
      id={(one) => one.id}
      title={(one) => one.title}
    >
      {(one) => <Session board={one} live={live} />}
    </SessionPage>
  );
}

interface SessionProps {
  board: Board;
  live: LiveSession;
}

function Session({ board, live }: SessionProps) {
  const [sync] = useState(() => new ScrollSync());
  const [isSynced, setSynced] = useState(false);
  const [layout, setLayout] = useStored<Layout>("board.layout", "columns");
  const [isMapShown, setMapShown] = useStored("board.map", true);
  const [chosen, setChosen] = useState(() => {
    const waiting = board.advisors.find(({ status }) => status === "waiting");
    return (waiting ?? board.advisors[0])?.id ?? 1;
  });
  const [version, setVersion] = useState<number>();
  const [isAsking, setAsking] = useState(false);
  const isNarrow = useNarrow();
  // What is there when a board is opened comes first; nobody who looks on is moved later.
  const [isWide, setWide] = useState(() => verdictOf(board) !== undefined && !isRunning(board));
  // Whoever reads a verdict goes on reading while it is voted on, or written anew.
  const isAnswering = board.status === "answering";
  useEffect(() => {
    if (isAnswering) setWide(false);
  }, [isAnswering]);
  const [isOpen, setOpen] = useState(false);
  const [point, setPoint] = useState<string>();
  sync.isOn = isSynced && !isNarrow;

  const all = versions(board);
  const newest = all.at(-1);
  const synthesis = all.find((one) => one.number === version) ?? newest;
  // Whoever looked at an old version sees the new one when it is begun.
  useEffect(() => setVersion(undefined), [newest?.number]);

  const points = synthesis?.points ?? [];
  const marked = point === undefined ? undefined : pointOf(point, points);
  useSources(board, point);

  const before = useRef<Layout>("columns");
  const focus = useCallback(
    (advisor: number) => {
      setChosen(advisor);
      if (isNarrow) {
        showPanel(advisor);
        return;
      }
      if (layout === "focus" && chosen === advisor) {
        setLayout(before.current);
        return;
      }
      if (layout !== "focus") before.current = layout;
      setLayout("focus");
    },
    [chosen, isNarrow, layout, setLayout],
  );
  const show = useCallback(
    (advisor: number) => {
      setChosen(advisor);
      showPanel(advisor);
    },
    [setChosen],
  );
  const back = () => setLayout(before.current === "focus" ? "columns" : before.current);
  const choose = (next: Layout) => {
    if (layout !== "focus") before.current = layout;
    setLayout(next);
  };

  useShortcuts([
    { key: "s", label: "Sync scroll", run: () => setSynced(!isSynced) },
    {
      key: "t",
      label: "One advisor at a time",
      run: () => choose(layout === "tabs" ? "columns" : "tabs"),
    },
    { key: "m", label: "Show or hide the map", run: () => setMapShown(!isMapShown) },
    ...(board.allowed.includes("resynthesize")
      ? [{ key: "r", label: "Re-synthesize", run: () => setAsking(true) }]
      : []),
    ...board.advisors.slice(0, 9).map((advisor, place) => ({
      key: String(place + 1),
      label: `Focus ${advisor.name}`,
      run: () => focus(advisor.id),
    })),
    ...(layout === "focus"
      ? ["0", "Escape"].map((key) => ({ key, label: "Back to all advisors", run: back }))
      : []),
  ]);

  const panels = (
    <Panels
      key="panels"
      board={board}
      live={live}
      sync={sync}
      layout={layout}
      chosen={chosen}
      isNarrow={isNarrow}
      isOpen={isOpen && isWide}
      onChoose={setChosen}
      onFocus={focus}
    />
  );
  const side = (
    <aside key="side" className="side" aria-label="Verdict and map">
      <Verdict
        board={board}
        synthesis={synthesis}
        texts={live.texts}
        point={point}
        onPoint={setPoint}
        isAsking={isAsking}
        onAsk={setAsking}
        onVersion={setVersion}
      />
      {isMapShown && (
        <BoardMap
          board={board}
          synthesis={synthesis}
          texts={live.texts}
          marked={marked && new Set([marked.number])}
          isStacked={isWide && !isNarrow}
          onFocus={show}
        />
      )}
    </aside>
  );
  // Before there is a verdict the columns have the whole width.
  const isBare = board.status === "answering" && newest === undefined;
  const answersHead = (
    <div key="answers" className="answers-head no-print">
      <h2>Answers</h2>
      <span className="muted small number">
        {finished(board).length} of {askedNow(board).length}
      </span>
      <Button look="quiet" aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
        Expand all
      </Button>
      <Button look="quiet" onClick={() => setWide(false)}>
        Side by side
      </Button>
    </div>
  );
  return (
    <div className="boardroom">
      <Head
        board={board}
        layout={layout}
        isSynced={isSynced}
        isMapShown={isMapShown}
        isNarrow={isNarrow}
        connection={live.connection}
        isWide={isWide}
        onLayout={choose}
        onSync={() => setSynced(!isSynced)}
        onMap={() => setMapShown(!isMapShown)}
      />
      <ModelNote board={board} />
      <Rounds board={board} />
      {!isWide && (
        <Strip
          board={board}
          live={live}
          onWide={newest && !isNarrow ? () => setWide(true) : undefined}
        />
      )}
      <div className={["stage", isWide && "wide", isBare && "bare"].filter(Boolean).join(" ")}>
        {isBare ? panels : isWide ? [side, answersHead, panels] : [panels, side]}
      </div>
      <FollowUp board={board} isNarrow={isNarrow} />
    </div>
  );
}

/** Marks the sentences of the advisors that a point comes closest to. */
function useSources(board: Board, point: string | undefined): void {
  const { advisors } = board;
  useEffect(() => {
    if (point === undefined) {
      markSources(new Map());
      return;
    }
    const found = advisors.flatMap(({ id, text }) => {
      const sentence = closest(point, text);
      return sentence === undefined ? [] : [[id, sentence] as const];
    });
    const marked = markSources(new Map(found));
    const names = advisors.filter(({ id }) => marked.includes(id)).map(({ name }) => name);
    if (names.length === 0) toast("No answer has a sentence close to this point");
    else announce(`Marked in the answers of ${names.join(", ")}`);
    return () => void markSources(new Map());
  }, [point, advisors]);
}

/** Brings a panel into sight and gives it the focus, so that the keyboard scrolls it. */
function showPanel(advisor: number): void {
  // A panel that was not on screen is there after the next frame.
  requestAnimationFrame(() => {
    const body = document.querySelector<HTMLElement>(`[data-advisor="${advisor}"] .panel-body`);
    body?.scrollIntoView({ block: "nearest", inline: "start" });
    body?.focus({ preventScroll: true });
  });
}
