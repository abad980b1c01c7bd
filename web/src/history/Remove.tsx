import { useMutation, useQueryClient } from "@tanstack/react-query";
import { asked, client } from "../api/client";
import { exportOf, kindName, type Session } from "../shell/sessions";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { Wrong } from "../ui/Notice";

interface Props {
  session: Session;
  onClose: () => void;
  onRemoved: () => void;
}

/** Asks before a session goes for good. */
export function Remove({ session, onClose, onRemoved }: Props) {
  const queries = useQueryClient();
  const removal = useMutation({
    mutationFn: () =>
      asked(client.DELETE("/api/sessions/{id}", { params: { path: { id: session.id } } })),
    onSuccess: async () => {
      onRemoved();
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      toast("Removed");
      onClose();
    },
  });
  return (
    <Dialog
      title="Permanently remove this session?"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            icon="trash"
            disabled={removal.isPending}
            onClick={() => removal.mutate()}
          >
            {removal.isPending ? "Removing…" : "Remove"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          {kindName(session.kind)}: <strong>{session.title}</strong>
        </p>
        <p>
          {session.active && "Anything still running is stopped. "}
          Its whole record is removed for everyone. This cannot be undone.
          {session.name !== undefined && ` The name ${session.name} stays taken.`}
        </p>
        <p>
          <a href={exportOf(session)} download>
            Download a copy first
          </a>
        </p>
        <Wrong error={removal.error} />
      </div>
    </Dialog>
  );
}
