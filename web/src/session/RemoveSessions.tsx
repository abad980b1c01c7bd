import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import { toast } from "../ui/announce";
import { Confirm } from "../ui/Confirm";
import { some } from "../ui/time";
import { exportOf, kindName } from "./kinds";
import { withEach } from "./several";

interface Removed {
  id: string;
  kind: string;
  name?: string | undefined;
  title: string;
  active?: boolean;
}

interface RemoveProps {
  sessions: readonly Removed[];
  onClose: () => void;
  onRemoved: () => unknown;
}

/** So many are named. */
const NAMED = 5;

/** Asks before sessions go for good. */
export function RemoveSessions({ sessions, onClose, onRemoved }: RemoveProps) {
  const queries = useQueryClient();
  const removal = useMutation({
    mutationFn: async () => {
      const { failed, error } = await withEach(sessions, ({ id }) =>
        asked(client.DELETE("/api/sessions/{id}", { params: { path: { id } } })),
      );
      if (failed.length < sessions.length) {
        onRemoved();
        await queries.invalidateQueries({ queryKey: ["sessions"] });
      }
      if (error !== undefined) throw error;
      return sessions.length;
    },
    onSuccess: (count) => {
      toast(count === 1 ? "Removed" : `${some(count, "session")} removed`);
      onClose();
    },
  });
  const [only] = sessions;
  const isOne = only !== undefined && sessions.length === 1;
  const names = sessions.flatMap(({ name }) => (name === undefined ? [] : [name]));
  return (
    <Confirm
      title={`Permanently remove ${isOne ? "this session" : some(sessions.length, "session")}?`}
      action="Remove"
      doing="Removing…"
      icon="trash"
      look="danger"
      isBusy={removal.isPending}
      error={removal.error}
      onClose={onClose}
      onSure={() => removal.mutate()}
    >
      <ul className="removed-names">
        {sessions.slice(0, NAMED).map(({ id, kind, title }) => (
          <li key={id}>
            {kindName(kind)}: <strong>{title}</strong>
          </li>
        ))}
        {sessions.length > NAMED && <li>and {sessions.length - NAMED} more</li>}
      </ul>
      <p>
        {sessions.some(({ active }) => active) && "Anything still running is stopped. "}
        {isOne ? "Its whole record is" : "Their whole records are"} removed for everyone. This
        cannot be undone.
        {names.length > 0 &&
          (names.length === 1
            ? ` The name ${names[0]} cannot be reused.`
            : ` The names ${names.join(", ")} cannot be reused.`)}
      </p>
      {isOne && (
        <p>
          <a href={exportOf(only)} download>
            Download a copy first
          </a>
        </p>
      )}
    </Confirm>
  );
}
