import { useState } from "react";
import { SessionRow } from "../shell/SessionRow";
import type { Session } from "../shell/sessions";
import { IconButton } from "../ui/Button";
import { useNow } from "../ui/time";
import { Remove } from "./Remove";

const AGES_MS = 30_000;

export function Rows({ rows, isStale }: { rows: readonly Session[]; isStale: boolean }) {
  const [removing, setRemoving] = useState<Session>();
  const now = useNow(true, AGES_MS);
  if (rows.length === 0) return null;
  return (
    <>
      <ul className="list history-rows" aria-label="Sessions" aria-busy={isStale}>
        {rows.map((session) => (
          <li key={session.id}>
            <SessionRow session={session} now={now} />
            <IconButton
              icon="trash"
              label={`Remove “${session.title}”`}
              onClick={() => setRemoving(session)}
            />
          </li>
        ))}
      </ul>
      {removing && <Remove session={removing} onClose={() => setRemoving(undefined)} />}
    </>
  );
}
