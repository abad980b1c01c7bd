// A board at work: the question, the advisors side by side, the verdict above the map.

import "./convene.css";
import "./boardroom.css";
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link } from "wouter";
import { Problem } from "../api/client";
import { useLiveSession, type LiveSession } from "../live/session";
import { useTitle } from "../shell/Shell";
import { useStored } from "../stored";
import { announce } from "../ui/announce";
import { Empty, Loading } from "../ui/Empty";
import { Notice, Wrong } from "../ui/Notice";
import { useShortcuts } from "../ui/shortcuts";
import { boardKey, hidesFrom, useBoard, verdictOf, versions, type Board } from "./board";
import { BoardMap } from "./BoardMap";
import { FollowUp } from "./FollowUp";
import { Head } from "./Head";
import { milestones } from "./milestones";
import { Panels, type Layout } from "./Panels";
import { Rounds } from "./Rounds";
import { ScrollSync } from "./scrollSync";
import { Verdict } from "./Verdict";

export default function Boardroom({ id }: { id: string }) {
  const board = useBoard(id);
  const seat = board.data && hidesFrom(board.data);
  const live = useLiveSession({
    url: board.data && `/api/boardrooms/${id}/events${seat === undefined ? "" : `?seat=${seat}`}`,
    ...(board.data && { after: board.data.version }),
    keys: [boardKey(id)],
  });
  useTitle(board.data?.title ?? "Boardroom");
  useMilestones(board.data);
  if (board.error instanceof Problem && [400, 404, 422].includes(board.error.status)) {
    return (
      <div className="page">
        <h1>Board not found</h1>
        <Empty action={<Link href="/boardrooms">Convene a board</Link>}>
          It may have been removed, or the address is mistyped.
        </Empty>
      </div>
    );
  }
  if (!board.data) {
    return (
      <div className="page">
        <h1>Boardroom</h1>
        {board.error ? (
          <Wrong error={board.error} onRetry={() => void board.refetch()} />
        ) : (
          <Loading />
        )}
      </div>
    );
  }
  return <Session board={board.data} live={live} />;
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
  const [chosen, setChosen] = useState(board.advisors[0]?.id ?? 1);
  const [version, setVersion] = useState<number>();
  const [isAsking, setAsking] = useState(false);
  const isNarrow = useNarrow();
  // What is there when a board is opened comes first; nobody who looks on is moved later.
  const [opensOnVerdict] = useState(() => verdictOf(board) !== undefined);
  sync.isOn = isSynced && !isNarrow;

  const all = versions(board);
  const newest = all.at(-1);
  const synthesis = all.find((one) => one.number === version) ?? newest;
  // Whoever looked at an old version sees the new one when it is begun.
  useEffect(() => setVersion(undefined), [newest?.number]);

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
        isAsking={isAsking}
        onAsk={setAsking}
        onVersion={setVersion}
      />
      {isMapShown && (
        <BoardMap board={board} synthesis={synthesis} texts={live.texts} onFocus={show} />
      )}
    </aside>
  );
  return (
    <div className="boardroom">
      <Head
        board={board}
        texts={live.texts}
        layout={layout}
        isSynced={isSynced}
        isMapShown={isMapShown}
        isNarrow={isNarrow}
        onLayout={choose}
        onSync={() => setSynced(!isSynced)}
        onMap={() => setMapShown(!isMapShown)}
      />
      {live.connection === "broken" && (
        <div className="board-notice no-print" role="status">
          <Notice>Connection lost. Reconnecting…</Notice>
        </div>
      )}
      <Rounds board={board} />
      <div className="stage">{opensOnVerdict && isNarrow ? [side, panels] : [panels, side]}</div>
      <FollowUp board={board} isNarrow={isNarrow} />
    </div>
  );
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

function useMilestones(board: Board | undefined): void {
  const before = useRef<Board>(undefined);
  useEffect(() => {
    if (board && before.current) {
      const said = milestones(before.current, board);
      if (said.length > 0) announce(said.join(". "));
    }
    before.current = board;
  }, [board]);
}

const NARROW = "(max-width: 900px)";

function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = window.matchMedia(NARROW);
      query.addEventListener("change", listener);
      return () => query.removeEventListener("change", listener);
    },
    () => window.matchMedia(NARROW).matches,
  );
}
