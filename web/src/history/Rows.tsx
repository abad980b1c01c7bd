import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { RemoveSession } from "../session/Confirm";
import { exportOf } from "../session/kinds";
import { SessionRow } from "../shell/SessionRow";
import type { Session } from "../shell/sessions";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/Menu";
import { Wrong } from "../ui/Notice";

interface Props {
  /** What these rows are, for whoever hears them. */
  label: string;
  rows: readonly Session[];
  isStale: boolean;
  /** What was searched for. */
  words: string;
}

/** How lists show a session, for everybody. */
function useLabel() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }: Partial<Schemas["NewLabel"]> & { id: string }) =>
      asked(client.PATCH("/api/sessions/{id}", { params: { path: { id } }, body })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["sessions"] }),
  });
}

export function Rows({ label, rows, isStale, words }: Props) {
  const [removing, setRemoving] = useState<Session>();
  const [renaming, setRenaming] = useState<string>();
  const pin = useLabel();
  const removed = useRef<{ id: string; at: number }>(undefined);
  useEffect(() => {
    // What had the focus is gone: it goes to the session that came in its place.
    const gone = removed.current;
    if (removing || !gone || rows.some((session) => session.id === gone.id)) return;
    removed.current = undefined;
    const all = document.querySelectorAll<HTMLElement>(".session-row");
    const next = all[Math.min(gone.at, all.length - 1)];
    (next ?? document.querySelector<HTMLElement>("input[type=search]"))?.focus();
  }, [removing, rows]);
  const setPinned = ({ id, pinned = false }: Session) =>
    pin.mutate(
      { id, pinned: !pinned },
      { onSuccess: () => toast(pinned ? "Unpinned" : "Pinned to the top") },
    );
  return (
    <>
      <Wrong error={pin.error} />
      {rows.length > 0 && (
        <ul className="list history-rows" aria-label={label} aria-busy={isStale}>
          {rows.map((session) => (
            <li key={session.id}>
              {renaming === session.id ? (
                <Rename session={session} onDone={() => setRenaming(undefined)} />
              ) : (
                <>
                  <SessionRow session={session} words={words} />
                  <Menu
                    label={`Actions for “${session.title}”`}
                    face={<Icon name="more" />}
                    className="icon-button"
                    items={[
                      { label: "Rename", icon: "edit", run: () => setRenaming(session.id) },
                      {
                        label: session.pinned ? "Unpin" : "Pin to the top",
                        icon: session.pinned ? "down" : "up",
                        run: () => setPinned(session),
                      },
                      { label: "Export as Markdown", icon: "download", href: exportOf(session) },
                      {
                        label: "Export as JSON",
                        icon: "download",
                        href: exportOf(session, "json"),
                      },
                      { label: "Remove…", icon: "trash", run: () => setRemoving(session) },
                    ]}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {removing && (
        <RemoveSession
          session={removing}
          onClose={() => setRemoving(undefined)}
          onRemoved={() => {
            const at = rows.findIndex((session) => session.id === removing.id);
            removed.current = { id: removing.id, at: Math.max(0, at) };
          }}
        />
      )}
    </>
  );
}

/** The title as a field, where the row was. */
function Rename({ session, onDone }: { session: Session; onDone: () => void }) {
  const [title, setTitle] = useState(session.title);
  const form = useRef<HTMLFormElement>(null);
  const rename = useLabel();
  useEffect(() => form.current?.querySelector("input")?.select(), []);
  const problem = rename.error instanceof Problem ? rename.error.field("title") : undefined;
  const close = () => {
    onDone();
    // The row that comes back has the focus again.
    requestAnimationFrame(() =>
      document.querySelector<HTMLElement>(`[data-session="${session.id}"]`)?.focus(),
    );
  };
  return (
    <form
      ref={form}
      className="history-rename"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate({ id: session.id, title }, { onSuccess: close });
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <TextField
        label={`New title for “${session.title}”`}
        labelUnseen
        placeholder="Empty: the original title"
        value={title}
        wrong={problem}
        onChange={(event) => setTitle(event.target.value)}
      />
      <Button type="submit" look="primary" disabled={rename.isPending}>
        {rename.isPending ? "Saving…" : "Save"}
      </Button>
      <Button onClick={close}>Cancel</Button>
      <Wrong error={problem ? null : rename.error} />
    </form>
  );
}
