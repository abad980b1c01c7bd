import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { asked, client } from "../api/client";
import { toast } from "../ui/announce";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import type { IconName } from "../ui/icons";
import { Wrong } from "../ui/Notice";
import { exportOf, kindName } from "./kinds";

interface Props {
  title: string;
  action: string;
  /** While it is done. */
  doing?: string;
  icon?: IconName;
  look?: "primary" | "danger";
  cancel?: string;
  isBusy?: boolean;
  error?: unknown;
  onClose: () => void;
  onSure: () => void;
  children: ReactNode;
}

/** Asks whether something is meant. */
export function Confirm(props: Props) {
  const { title, action, doing, icon, look = "primary", isBusy = false, onClose } = props;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={props.onSure}
      foot={
        <>
          <Button onClick={onClose}>{props.cancel ?? "Cancel"}</Button>
          <Button type="submit" look={look} {...(icon && { icon })} disabled={isBusy}>
            {isBusy ? (doing ?? action) : action}
          </Button>
        </>
      }
    >
      <div className="stack">
        {props.children}
        <Wrong error={props.error} />
      </div>
    </Dialog>
  );
}

interface RemoveProps {
  session: { id: string; kind: string; name?: string | undefined; title: string; active?: boolean };
  onClose: () => void;
  onRemoved: () => unknown;
}

/** Asks before a session goes for good. */
export function RemoveSession({ session, onClose, onRemoved }: RemoveProps) {
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
    <Confirm
      title="Permanently remove this session?"
      action="Remove"
      doing="Removing…"
      icon="trash"
      look="danger"
      isBusy={removal.isPending}
      error={removal.error}
      onClose={onClose}
      onSure={() => removal.mutate()}
    >
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
    </Confirm>
  );
}
