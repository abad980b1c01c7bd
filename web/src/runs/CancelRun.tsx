import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { useKeptText } from "../stored";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import type { RunView } from "./run";

interface Props {
  run: RunView;
  onClose: () => void;
}

export function CancelRun({ run: { id }, onClose }: Props) {
  const place = `cancelling.${id}`;
  const [reason, setReason] = useKeptText(place);
  const cancel = useWrite(
    (words: string, header) =>
      asked(
        client.POST("/api/runs/{id}/cancel", {
          params: { path: { id }, header },
          body: { reason: words || null },
        }),
      ),
    { place, onSent: () => setReason("") },
  );
  return (
    <Dialog
      title="Cancel this run?"
      onClose={onClose}
      onSubmit={() => cancel.mutate(reason.trim(), { onSuccess: onClose })}
      foot={
        <>
          <Button onClick={onClose}>Keep running</Button>
          <Button type="submit" look="danger" icon="stop" disabled={cancel.isPending}>
            {cancel.isPending ? "Cancelling…" : "Cancel run"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          Steps in progress are stopped, and the sessions they opened end with the run. What has
          been done so far is kept.
        </p>
        <TextArea
          label="Reason (optional)"
          hint="Goes on the record."
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <Wrong error={cancel.error} />
      </div>
    </Dialog>
  );
}
