import { useBoardPresets } from "../api/known";
import type { Connection } from "../live/follow";
import { exportOf } from "../session/kinds";
import { KeptFiles } from "../session/KeptFiles";
import { SessionHead } from "../session/SessionHead";
import { Button } from "../ui/Button";
import type { IconName } from "../ui/icons";
import type { MenuItem } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { some, useNow } from "../ui/time";
import { useAskAgain } from "./again";
import { askedNow, hidesFrom, isRunning, presetName, questionOf, type Board } from "./board";
import { useCommand } from "./commands";
import type { Layout } from "./Panels";
import { workedMs } from "./lanes";

const LAYOUTS: readonly { layout: Layout; icon: IconName; label: string }[] = [
  { layout: "columns", icon: "columns", label: "Columns" },
  { layout: "tabs", icon: "tabs", label: "One at a time" },
  { layout: "focus", icon: "focus", label: "Focus" },
];

interface Props {
  board: Board;
  layout: Layout;
  isSynced: boolean;
  isMapShown: boolean;
  isNarrow: boolean;
  connection: Connection;
  /** The verdict comes first, over the whole width. */
  isWide: boolean;
  onLayout: (layout: Layout) => void;
  onSync: () => void;
  onMap: () => void;
}

export function Head(props: Props) {
  const { board, layout, isSynced, isNarrow } = props;
  const command = useCommand(board.id);
  const presets = useBoardPresets().data;
  const now = useNow(isRunning(board));
  const word = statusInWords(board);
  const can = (name: string) => board.allowed.includes(name);
  const askAgain = useAskAgain(board);
  const roles = board.advisors.map((advisor) => advisor.role);
  return (
    <>
      <SessionHead
        session={{ id: board.id, kind: "boardroom", title: board.title }}
        about={
          <>
            {presetName(roles, presets) ?? some(roles.length, "advisor")}
            <KeptFiles kind="boardroom" id={board.id} names={fileNames(board)} />
          </>
        }
        question={questionOf(board)}
        status={board.status}
        word={word}
        waits={word?.startsWith("Waiting") ?? false}
        imported={board.imported}
        connection={props.connection}
        workedMs={workedMs(board, now)}
        took={board}
        exports={exportItems(board)}
        more={[
          ...(isNarrow
            ? []
            : LAYOUTS.map((one) => ({
                label: one.label,
                icon: one.icon,
                isChosen: layout === one.layout,
                run: () => props.onLayout(one.layout),
              }))),
          { label: "Edit and ask again", icon: "retry", run: () => void askAgain() },
          {
            label: props.isMapShown ? "Hide the map" : "Show the map",
            icon: "map",
            run: props.onMap,
          },
        ]}
        actions={
          <>
            {!isNarrow && !props.isWide && (
              <Button shortcut="S" aria-pressed={isSynced} onClick={props.onSync}>
                Sync scroll
              </Button>
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
          </>
        }
      />
      {command.error && (
        <div className="board-notice">
          <Wrong error={command.error} />
        </div>
      )}
    </>
  );
}

/** Those of every question, as the record has them: texts, then images, round by round. */
function fileNames({ context, images = [], rounds }: Board): string[] {
  const later = rounds
    .slice(1)
    .flatMap((round) => [...(round.context ?? []), ...(round.images ?? [])]);
  return [...context, ...images, ...later].map(({ name }) => name);
}

/** Whoever has not answered yet exports what they may see. */
function exportItems(board: Board): MenuItem[] {
  const seat = hidesFrom(board);
  const seen = seat === undefined ? "" : `&seat=${seat}`;
  return (["markdown", "json"] as const).map((format) => ({
    label: format === "json" ? "JSON" : "Markdown",
    icon: "file",
    href: `${exportOf({ id: board.id, kind: "boardroom" }, format)}${seen}`,
  }));
}

function statusInWords(board: Board): string | undefined {
  const number = (status: string) =>
    askedNow(board).filter((advisor) => advisor.status === status).length;
  if (board.status === "answering") {
    const awaited = board.advisors.filter((advisor) => advisor.status === "waiting");
    const names = awaited.map((advisor) => advisor.person ?? advisor.name);
    const isAsking = number("answering") > 0;
    return !isAsking && names.length > 0 ? `Waiting for ${names.join(", ")}` : undefined;
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
