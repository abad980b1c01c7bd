// What can be done with several sessions at once.

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asked, client, textAt } from "../api/client";
import { exportOf } from "../session/kinds";
import { withEach } from "../session/several";
import type { Session } from "../shell/sessions";
import { toast } from "../ui/announce";
import { Button, IconButton } from "../ui/Button";
import { Wrong } from "../ui/Notice";
import { save } from "../ui/save";
import { some } from "../ui/time";

interface Props {
  sessions: readonly Session[];
  onChoose: (sessions: readonly Session[]) => void;
  onRemove: () => void;
}

interface Action {
  on: readonly Session[];
  act: (session: Session) => Promise<unknown>;
  /** What is done with them then: `pinned`. */
  done: string;
  /** Done also when nobody looks any more. */
  after?: () => void;
}

export function Selection({ sessions, onChoose, onRemove }: Props) {
  const queries = useQueryClient();
  const doing = useMutation({
    mutationFn: async ({ on, act, done, after }: Action) => {
      const { failed, error } = await withEach(on, act);
      const count = on.length - failed.length;
      if (count > 0) after?.();
      if (count > 0) toast(`${some(count, "session")} ${done}`);
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      // What is left to do stays chosen.
      if (failed.length > 0) onChoose(failed);
      if (error !== undefined) throw error;
    },
  });
  const isPinned = sessions.every(({ pinned }) => pinned);
  const active = sessions.filter((session) => session.active);
  const pin = ({ id }: Session) => {
    const params = { path: { id } };
    return asked(client.PATCH("/api/sessions/{id}", { params, body: { pinned: !isPinned } }));
  };
  const stop = ({ id }: Session) =>
    asked(client.POST("/api/sessions/{id}/stop", { params: { path: { id } } }));
  const exported = () => {
    const texts: string[] = [];
    const act = async (session: Session) => texts.push(await textAt(exportOf(session)));
    const after = () => save("sessions.md", texts.join("\n\n---\n\n"));
    doing.mutate({ on: sessions, act, done: "exported", after });
  };
  return (
    <section className="selection" aria-label="Selected sessions">
      <Wrong error={doing.error} />
      <div className="selection-bar">
        <strong role="status">{sessions.length} selected</strong>
        <Button
          icon={isPinned ? "unpin" : "pin"}
          disabled={doing.isPending}
          onClick={() =>
            doing.mutate({ on: sessions, act: pin, done: isPinned ? "unpinned" : "pinned" })
          }
        >
          {isPinned ? "Unpin" : "Pin"}
        </Button>
        <Button icon="download" disabled={doing.isPending} onClick={exported}>
          Export
        </Button>
        {active.length > 0 && (
          <Button
            icon="stop"
            disabled={doing.isPending}
            onClick={() => doing.mutate({ on: active, act: stop, done: "stopped" })}
          >
            Stop
          </Button>
        )}
        <Button icon="trash" look="danger" disabled={doing.isPending} onClick={onRemove}>
          Remove…
        </Button>
        <IconButton icon="close" label="Clear the selection" onClick={() => onChoose([])} />
      </div>
    </section>
  );
}
