import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { asked, client, Problem } from "../api/client";
import { useBoardPresets, useBoards } from "../api/known";
import { useWrite } from "../api/write";
import type { SavedBoard } from "../boardrooms/setup";
import { Markdown } from "../markdown/Markdown";
import { Confirm } from "../ui/Confirm";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Empty, Loading } from "../ui/Empty";
import { FilePicker } from "../ui/FilePicker";
import { Glyph, Icon } from "../ui/icons";
import { Menu, type MenuItem } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { some } from "../ui/time";

/** The boards that can be convened, and what each role is there for. */
export function Boards() {
  const presets = useBoardPresets();
  const boards = useBoards();
  const [removing, setRemoving] = useState<SavedBoard>();
  const changes = useBoardChanges();
  if (!presets.data || !boards.data) {
    for (const { error, refetch } of [presets, boards]) {
      if (error) return <Wrong error={error} onRetry={() => void refetch()} />;
    }
    return <Loading what="Loading boards" />;
  }
  const { roles } = presets.data;
  const group = (title: string, isBuiltIn: boolean) => (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      <ul className="library-cards boards">
        {boards.data
          .filter((board) => board.isBuiltIn === isBuiltIn)
          .map((board) => (
            <BoardCard
              key={board.name}
              board={board}
              roles={roles}
              onCopy={() => changes.copy.mutate(board.name)}
              onRemove={() => setRemoving(board)}
            />
          ))}
      </ul>
      {!isBuiltIn && boards.data.every((board) => board.isBuiltIn) && (
        <Empty>You have no boards yet. Create one, or copy a built-in one.</Empty>
      )}
    </section>
  );
  return (
    <>
      <div className="library-head">
        <p className="muted">
          Advisors on a board answer the same question at the same time, each from their own angle.
        </p>
        <div className="library-tools">
          <ImportButton />
          <Link className="button primary" href="/library/boards/new">
            <Icon name="plus" />
            New board
          </Link>
        </div>
      </div>
      <Wrong error={changes.copy.error} />
      {group("Yours", false)}
      {group("Built-in", true)}
      <section className="stack" aria-label="Roles">
        <h2>What each role is told</h2>
        <div className="card library-prompts">
          {roles.map((role) => (
            <details key={role.id}>
              <summary>
                <Glyph role={role.id} small />
                <strong>{role.name}</strong>
                <span className="muted">{role.perspective}</span>
              </summary>
              <Markdown text={role.systemPrompt} under={2} />
            </details>
          ))}
        </div>
      </section>
      {removing && (
        <Confirm
          title={`Remove ${removing.title}`}
          action="Remove"
          look="danger"
          error={changes.remove.error}
          isBusy={changes.remove.isPending}
          onClose={() => setRemoving(undefined)}
          onSure={() =>
            changes.remove.mutate(removing.name, { onSuccess: () => setRemoving(undefined) })
          }
        >
          <p>Past sessions keep their own copy.</p>
        </Confirm>
      )}
    </>
  );
}

interface CardProps {
  board: SavedBoard;
  roles: readonly { id: string; name: string; perspective: string }[];
  onCopy: () => void;
  onRemove: () => void;
}

function BoardCard({ board, roles, onCopy, onRemove }: CardProps) {
  const { name, title, description, isBuiltIn, seats } = board;
  const path = encodeURIComponent(name);
  const file = (format: "toml" | "json"): MenuItem => ({
    label: `Export as ${format.toUpperCase()}`,
    icon: "download",
    href: `/api/boards/${path}/export?format=${format}`,
    download: `${name}.${format}`,
  });
  const [, go] = useLocation();
  return (
    <li className="card library-card">
      <div className="library-card-head">
        <h3>{title}</h3>
        <span className="muted small">{some(seats.length, "advisor")}</span>
        <Menu
          label={`More for ${title}`}
          face={<Icon name="more" />}
          className="icon-button"
          items={[
            ...(isBuiltIn
              ? []
              : [
                  {
                    label: "Edit",
                    icon: "edit",
                    run: () => go(`/library/boards/${path}`),
                  } as const,
                ]),
            { label: "Make a copy", icon: "copy", run: onCopy },
            file("toml"),
            file("json"),
            ...(isBuiltIn ? [] : [{ label: "Remove…", icon: "trash", run: onRemove } as const]),
          ]}
        />
      </div>
      {description !== "" && <p className="muted">{description}</p>}
      <ul className="library-roles">
        {seats.map((seat, place) => {
          const role = roles.find((one) => one.id === seat.role);
          return (
            <li key={place}>
              <Glyph role={seat.role} own={seat.ownRole} small />
              <span>
                <strong>{seat.ownRole?.name ?? role?.name ?? seat.role}</strong>{" "}
                <span className="muted">
                  {sitterOf(seat) ?? (seat.ownRole ? undefined : role?.perspective)}
                </span>
              </span>
            </li>
          );
        })}
      </ul>
      <Link className="button" href={`/boardrooms?board=${path}`}>
        Convene<span className="unseen"> {title}</span>
      </Link>
    </li>
  );
}

/** Who sits there, where the board says so. */
function sitterOf({ person, agent, model, tier, tries }: SavedBoard["seats"][number]) {
  const who = person ?? (agent !== undefined ? `@${agent}` : (model ?? (tier && `${tier} model`)));
  const many = tries !== undefined && tries > 1 ? `${tries} answers` : undefined;
  return [who, many].filter(Boolean).join(" · ") || undefined;
}

function useBoardChanges() {
  const queries = useQueryClient();
  const renewed = () => queries.invalidateQueries({ queryKey: ["boards"] });
  const copy = useWrite(
    (copyOf: string, header) =>
      asked(client.POST("/api/boards", { params: { header }, body: { copyOf } })),
    {
      onSent: (board) => {
        toast(`Copied as ${board.name}`);
        return renewed();
      },
    },
  );
  const remove = useWrite(
    (name: string, header) =>
      asked(client.DELETE("/api/boards/{name}", { params: { path: { name }, header } })),
    { onSent: renewed },
  );
  return { copy, remove };
}

function ImportButton() {
  const queries = useQueryClient();
  const [file, setFile] = useState<string>();
  const write = useWrite(
    (body: { file: string; replace?: boolean }, header) =>
      asked(client.POST("/api/boards/import", { params: { header }, body })),
    {
      onSent: (board) => {
        setFile(undefined);
        toast(`${board.title} imported`);
        return queries.invalidateQueries({ queryKey: ["boards"] });
      },
    },
  );
  return (
    <>
      <FilePicker
        label="Board file"
        accept=".toml,.json"
        onPick={([chosen]) =>
          void chosen?.text().then((text) => {
            setFile(text);
            write.mutate({ file: text });
          })
        }
      >
        {(pick) => (
          <Button icon="upload" onClick={pick}>
            Import
          </Button>
        )}
      </FilePicker>
      {file !== undefined && write.error && (
        <ImportProblem
          error={write.error}
          isBusy={write.isPending}
          onClose={() => setFile(undefined)}
          onReplace={() => write.mutate({ file, replace: true })}
        />
      )}
    </>
  );
}

interface ProblemProps {
  error: Error;
  isBusy: boolean;
  onClose: () => void;
  onReplace: () => void;
}

/** A board of the same name can be replaced; a file with faults has to be mended first. */
function ImportProblem({ error, isBusy, onClose, onReplace }: ProblemProps) {
  if (error instanceof Problem && error.code === "taken") {
    return (
      <Confirm
        title="Replace the board?"
        action="Replace"
        isBusy={isBusy}
        onClose={onClose}
        onSure={onReplace}
      >
        <p>There is already a board with this name. The file replaces its seats and settings.</p>
      </Confirm>
    );
  }
  return (
    <Dialog title="The board was not imported" onClose={onClose}>
      <Wrong error={error} />
    </Dialog>
  );
}
