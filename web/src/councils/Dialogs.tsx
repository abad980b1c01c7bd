import { asked, client, Problem } from "../api/client";
import { forgetSent, useWrite } from "../api/write";
import { useKeptText } from "../stored";
import { Confirm } from "../ui/Confirm";
import { TextArea } from "../ui/Field";
import type { CouncilView } from "./useCouncil";

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
    <Confirm
      title="Close this council"
      action="Close council"
      doing="Closing…"
      isBusy={close.isPending}
      error={close.error}
      onClose={onClose}
      onSure={() => close.mutate(summary.trim(), { onSuccess: onDone })}
    >
      <p>
        No one will be able to post, but everything stays readable. A closed council cannot be
        reopened.
        {view.answering !== undefined && ` ${view.answering} is answering and will be cut off.`}
      </p>
      <TextArea
        label="Summary (optional)"
        hint="The outcome, in Markdown. Shown at the end of the thread and in the export."
        rows={6}
        value={summary}
        wrong={field}
        onChange={(event) => setSummary(event.target.value)}
      />
    </Confirm>
  );
}
