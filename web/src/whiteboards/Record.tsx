// The decision record of an archived board, and the export of any board as you see it.

import { Markdown } from "../markdown/Markdown";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Empty";
import type { MenuItem } from "../ui/Menu";
import { Wrong } from "../ui/Notice";
import { save } from "../ui/save";
import { copy, toast } from "../ui/announce";
import { recordText, useBoardPage, useRecord, type Looking, type RecordFormat } from "./board";
import { recordParts } from "./madr";

export function DecisionRecord() {
  const { looking } = useBoardPage();
  const record = useRecord(looking);
  const parts = record.data === undefined ? undefined : recordParts(record.data);
  return (
    <section className="card record" aria-labelledby="record-heading" aria-busy={record.isPending}>
      <div className="record-head">
        <h2 id="record-heading">Decision record</h2>
        <div className="row no-print">
          <Button
            icon="copy"
            disabled={record.data === undefined}
            onClick={() => void copy(record.data ?? "")}
          >
            Copy
          </Button>
          <Button icon="download" onClick={() => void download(looking, "markdown")}>
            Markdown
          </Button>
          <Button icon="download" onClick={() => void download(looking, "json")}>
            JSON
          </Button>
        </div>
      </div>
      <Wrong error={record.error} onRetry={() => void record.refetch()} />
      {record.isPending && <Loading />}
      {parts && (
        <>
          <dl className="record-facts">
            {parts.facts.map((fact) => (
              <div key={fact.name}>
                <dt>{fact.name}</dt>
                <dd>{fact.value}</dd>
              </div>
            ))}
          </dl>
          <Markdown text={parts.text} under={1} />
        </>
      )}
    </section>
  );
}

export function exportItems(looking: Looking): MenuItem[] {
  return [
    {
      label: "Decision record (Markdown)",
      icon: "download",
      run: () => void download(looking, "markdown"),
    },
    { label: "Everything (JSON)", icon: "download", run: () => void download(looking, "json") },
  ];
}

/** A link cannot say who you are, so the record is asked for and then kept as a file. */
async function download(looking: Looking, format: RecordFormat): Promise<void> {
  try {
    const text = await recordText(looking, format);
    if (format === "json") save(`${looking.board}.json`, text, "application/json");
    else save(`${looking.board}.md`, text);
  } catch (error) {
    toast(error instanceof Error ? error.message : "The record could not be loaded.");
  }
}
