import { useEffect, useRef, useState } from "react";
import { RemoveSession } from "../session/Confirm";
import { SessionRow } from "../shell/SessionRow";
import type { Session } from "../shell/sessions";
import { IconButton } from "../ui/Button";

interface Props {
  rows: readonly Session[];
  isStale: boolean;
  /** What was searched for. */
  words: string;
}

export function Rows({ rows, isStale, words }: Props) {
  const [removing, setRemoving] = useState<Session>();
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
  return (
    <>
      {rows.length > 0 && (
        <ul className="list history-rows" aria-label="Sessions" aria-busy={isStale}>
          {rows.map((session) => (
            <li key={session.id}>
              <SessionRow session={session} words={words} />
              <IconButton
                icon="trash"
                label={`Remove “${session.title}”`}
                onClick={() => setRemoving(session)}
              />
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
