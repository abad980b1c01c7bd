import { useMutation } from "@tanstack/react-query";
import { asked, client, Problem } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { useKeptText } from "../stored";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import type { CouncilView } from "./useCouncil";
import { forget } from "./useSender";

interface Props {
  view: CouncilView;
  onClose: () => void;
  onDone: () => void;
}

export function CloseCouncil({ view, onClose, onDone }: Props) {
  const place = `council-summary.${view.sessionId}`;
  const [summary, setSummary] = useKeptText(place);
  const close = useWrite(
    (written: string, header) =>
      asked(
        client.POST("/api/councils/{council}/close", {
          params: { path: { council: view.council }, header },
          body: { summary: written || null },
        }),
      ),
    { place, onSent: (_, written) => forgetSent<string>(place, (kept) => kept.trim() === written) },
  );
  const field = close.error instanceof Problem ? close.error.field("summary") : undefined;
  return (
    <Dialog
      title="Close this council"
      onClose={onClose}
      onSubmit={() => close.mutate(summary.trim(), { onSuccess: onDone })}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={close.isPending}>
            {close.isPending ? "Closing…" : "Close council"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          Nobody will be able to post, but everything stays readable. A closed council cannot be
          reopened.
          {view.answering !== undefined && ` ${view.answering} is answering and will be cut off.`}
        </p>
        <TextArea
          label="Summary (optional)"
          hint="What came of it, in Markdown. Shown at the end of the thread and in the export."
          rows={6}
          value={summary}
          wrong={field}
          onChange={(event) => setSummary(event.target.value)}
        />
        {!field && <Wrong error={close.error} />}
      </div>
    </Dialog>
  );
}

export function RemoveCouncil({ view, onClose, onDone }: Props) {
  const remove = useMutation({
    mutationFn: () =>
      asked(client.DELETE("/api/sessions/{id}", { params: { path: { id: view.sessionId } } })),
    onSuccess: () => {
      forget(view.sessionId);
      onDone();
    },
  });
  return (
    <Dialog
      title={`Remove ${view.council}`}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="danger"
            icon="trash"
            disabled={remove.isPending}
            onClick={() => remove.mutate()}
          >
            {remove.isPending ? "Removing…" : "Remove"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p>
          The charter and every post will be permanently removed, and the name cannot be used again.
          To keep a copy, export it first.
        </p>
        <Wrong error={remove.error} />
      </div>
    </Dialog>
  );
}
