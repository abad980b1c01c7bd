import { asked, client } from "../api/client";
import { useWrite } from "../api/write";
import { useKeptText } from "../stored";
import { Confirm } from "../ui/Confirm";
import { TextArea } from "../ui/Field";
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
    <Confirm
      title="Cancel this run?"
      action="Cancel run"
      doing="Cancelling…"
      icon="stop"
      look="danger"
      cancel="Keep running"
      isBusy={cancel.isPending}
      error={cancel.error}
      onClose={onClose}
      onSure={() => cancel.mutate(reason.trim(), { onSuccess: onClose })}
    >
      <p>
        Steps in progress are stopped, and the sessions they opened end with the run. What has been
        done so far is kept.
      </p>
      <TextArea
        label="Reason (optional)"
        hint="Goes on the record."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </Confirm>
  );
}
