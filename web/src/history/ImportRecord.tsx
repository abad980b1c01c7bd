// Taking over a board that was exported as JSON, here or elsewhere.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { FilePicker } from "../ui/FilePicker";
import { Wrong } from "../ui/Notice";

export function ImportRecord() {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [error, setError] = useState<Error>();
  const write = useWrite(
    (body: Schemas["Import"], header) =>
      asked(client.POST("/api/boardrooms/import", { params: { header }, body })),
    { onSent: () => queries.invalidateQueries({ queryKey: ["sessions"] }) },
  );
  const take = async (file: File) => {
    const body = recordIn(await file.text());
    if (!body) {
      setError(new Problem(0, "not-a-record", "This file is not a board exported as JSON."));
      return;
    }
    write.mutate(body, {
      onSuccess: (board) => go(`/boardrooms/${board.id}`),
      onError: setError,
    });
  };
  return (
    <>
      <FilePicker
        label="Exported board"
        accept=".json"
        onPick={([file]) => file && void take(file)}
      >
        {(pick) => (
          <Button icon="upload" disabled={write.isPending} onClick={pick}>
            {write.isPending ? "Importing…" : "Import"}
          </Button>
        )}
      </FilePicker>
      {error && (
        <Dialog title="The file was not imported" onClose={() => setError(undefined)}>
          <Wrong error={error} />
        </Dialog>
      )}
    </>
  );
}

/** What is sent of an exported record; nothing where the file is none. */
function recordIn(text: string): Schemas["Import"] | undefined {
  try {
    const { format, formatVersion, events, boardroom } = JSON.parse(text) as Schemas["Import"];
    if (format !== "plenary.boardroom") return undefined;
    return { format, formatVersion, events, ...(boardroom && { boardroom }) };
  } catch {
    return undefined;
  }
}
