import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { useBoardPresets } from "../api/known";
import type { Texts } from "../live/texts";
import { StatusBadge } from "../shell/status";
import { Button, IconButton } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Icon, type IconName } from "../ui/icons";
import { asExports, Menu, type MenuItem } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { duration, some, useNow } from "../ui/time";
import { Totals } from "../ui/Totals";
import {
  askedNow,
  finished,
  hidesFrom,
  isRunning,
  presetName,
  questionOf,
  type Board,
} from "./board";
import { useCommand, useRemove } from "./commands";
import type { Layout } from "./Panels";
import { workedMs } from "./lanes";

const LAYOUTS: readonly { layout: Layout; icon: IconName; label: string }[] = [
  { layout: "columns", icon: "columns", label: "Columns" },
  { layout: "tabs", icon: "tabs", label: "One at a time" },
  { layout: "focus", icon: "focus", label: "One large" },
];

interface Props {
  board: Board;
  texts: Texts;
  layout: Layout;
  isSynced: boolean;
  isMapShown: boolean;
  isNarrow: boolean;
  onLayout: (layout: Layout) => void;
  onSync: () => void;
  onMap: () => void;
}

export function Head(props: Props) {
  const { board, layout, isSynced, isNarrow } = props;
  const writing = useWriting(board, props.texts);
  const command = useCommand(board.id);
  const [isRemoving, setRemoving] = useState(false);
  const can = (name: string) => board.allowed.includes(name);
  const exports = exportItems(board);
  const more: MenuItem[] = [
    {
      label: props.isMapShown ? "Hide the map" : "Show the map",
      icon: "map",
      run: props.onMap,
    },
    ...(isNarrow ? asExports(exports) : []),
    { label: "Remove…", icon: "trash", run: () => setRemoving(true) },
  ];
  return (
    <header className="board-head">
      <div className="board-title">
        <Eyebrow board={board} />
        <Question prompt={questionOf(board)} />
      </div>
      <div className="board-tools no-print">
        {board.imported && (
          <span className="badge" title="Imported: not verified by this server.">
            Imported
          </span>
        )}
        <StatusBadge status={board.status} word={statusInWords(board, writing)} />
        {isNarrow && can("synthesize") && board.status === "answering" && (
          <Button disabled={command.isPending} onClick={() => command.mutate({ do: "synthesize" })}>
            Synthesize {finished(board).length} of {askedNow(board).length} now
          </Button>
        )}
        {!isNarrow && (
          <>
            <Button shortcut="S" aria-pressed={isSynced} onClick={props.onSync}>
              Sync scroll
            </Button>
            <div className="layouts" role="group" aria-label="Layout">
              {LAYOUTS.map((one) => (
                <IconButton
                  key={one.layout}
                  icon={one.icon}
                  label={one.label}
                  aria-pressed={layout === one.layout}
                  onClick={() => props.onLayout(one.layout)}
                />
              ))}
            </div>
            <Menu label="Export" items={exports} />
          </>
        )}
        {can("resume") && (
          <Button
            icon="play"
            disabled={command.isPending}
            onClick={() => command.mutate({ do: "resume" })}
          >
            Resume
          </Button>
        )}
        {can("stop") && (
          <Button
            look="danger"
            icon="stop"
            disabled={command.isPending}
            onClick={() => command.mutate({ do: "stop" })}
          >
            Stop
          </Button>
        )}
        <Menu label="More" face={<Icon name="more" />} className="button square" items={more} />
      </div>
      {command.error && (
        <div className="board-wrong">
          <Wrong error={command.error} />
        </div>
      )}
      {isRemoving && <Remove board={board} onClose={() => setRemoving(false)} />}
    </header>
  );
}

function exportItems(board: Board): MenuItem[] {
  const seat = hidesFrom(board);
  const seen = seat === undefined ? "" : `&seat=${seat}`;
  const file = (format: string) => `/api/boardrooms/${board.id}/export?format=${format}${seen}`;
  const name = board.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "board";
  return [
    { label: "Markdown", icon: "file", href: file("markdown"), download: `${name}.md` },
    { label: "JSON", icon: "file", href: file("json"), download: `${name}.json` },
    { label: "Print", icon: "print", run: () => window.print() },
  ];
}

/** How many have begun to write. */
function useWriting(board: Board, texts: Texts): number {
  const asked = board.advisors.filter((advisor) => advisor.status === "answering");
  return useSyncExternalStore(
    (listener) => {
      const leave = asked.map(({ callId }) => texts.of(callId).subscribe(listener));
      return () => leave.forEach((end) => end());
    },
    () => asked.filter(({ callId, text }) => text !== "" || texts.of(callId).shown !== "").length,
  );
}

function statusInWords(board: Board, writing: number): string | undefined {
  const number = (status: string) =>
    askedNow(board).filter((advisor) => advisor.status === status).length;
  if (board.status === "answering") {
    const asked = number("answering");
    const awaited = board.advisors.filter((advisor) => advisor.status === "waiting");
    const names = awaited.map((advisor) => advisor.person ?? advisor.name);
    if (asked === 0 && names.length > 0) return `Waiting for ${names.join(", ")}`;
    return writing > 0 ? `Live · ${writing} writing` : `Live · ${asked} asked`;
  }
  if (board.status === "balloting") {
    const ballots = board.syntheses.at(-1)?.ballots ?? [];
    const cast = ballots.filter((ballot) => ballot.status !== "waiting");
    const awaited = ballots.filter((ballot) => !cast.includes(ballot));
    const people = board.advisors.filter(
      ({ id, person }) => person !== undefined && awaited.some(({ advisor }) => advisor === id),
    );
    if (people.length > 0 && people.length === awaited.length)
      return `Waiting for the votes of ${people.map(({ person }) => person).join(", ")}`;
    return ballots.length > 0 ? `Voting · ${cast.length} of ${ballots.length}` : undefined;
  }
  if (board.status === "closed" && number("failed") > 0) return `Done · ${number("failed")} failed`;
  return undefined;
}

function Eyebrow({ board }: { board: Board }) {
  const presets = useBoardPresets().data;
  const roles = board.advisors.map((advisor) => advisor.role);
  const name = presetName(roles, presets) ?? some(board.advisors.length, "advisor");
  return (
    <p className="eyebrow">
      <span>Boardroom · {name}</span>
      <Elapsed board={board} />
      <Totals {...board} />
      {board.context.length > 0 && (
        <span title={board.context.map((file) => file.name).join(", ")}>
          {some(board.context.length, "file")}
        </span>
      )}
    </p>
  );
}

function Elapsed({ board }: { board: Board }) {
  const runs = isRunning(board);
  const now = useNow(runs);
  const ms = workedMs(board, now);
  if (ms === undefined) return null;
  return (
    <span className="number" title="Time worked">
      {duration(ms).replace(/\.\d/, "")}
    </span>
  );
}

const LONG = 160;

/** The question, three lines of it unless all is asked for. */
function Question({ prompt }: { prompt: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [isCut, setCut] = useState(false);
  const [isWhole, setWhole] = useState(false);
  useLayoutEffect(() => {
    const element = heading.current;
    if (!element || isWhole) return undefined;
    const look = () => setCut(element.scrollHeight > element.clientHeight + 2);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, [prompt, isWhole]);
  return (
    <div className="question">
      <h1
        ref={heading}
        className={[prompt.length > LONG ? "long" : "", isWhole ? "whole" : ""].join(" ")}
        tabIndex={isWhole ? 0 : undefined}
      >
        {prompt}
      </h1>
      {(isCut || isWhole) && (
        <button
          type="button"
          className="show-all no-print"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : "Show all"}
        </button>
      )}
    </div>
  );
}

function Remove({ board, onClose }: { board: Board; onClose: () => void }) {
  const [, go] = useLocation();
  const remove = useRemove(board.id);
  return (
    <Dialog
      title="Remove this board?"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            icon="trash"
            disabled={remove.isPending}
            onClick={() => remove.mutate(undefined, { onSuccess: () => go("/boardrooms") })}
          >
            Remove
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          Its question, answers and verdicts will be permanently removed. To keep a copy, export it
          first.
        </p>
        <Wrong error={remove.error} />
      </div>
    </Dialog>
  );
}
