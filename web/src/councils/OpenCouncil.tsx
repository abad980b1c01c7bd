import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { useLocation } from "wouter";
import { asked, client, Problem, writeKey } from "../api/client";
import { useStored } from "../stored";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea, TextField } from "../ui/Field";
import { FormProblem } from "../library/FormProblem";
import { MembersEditor } from "./MembersEditor";
import { BLANK, NAME_RULE, requestOf, SAMPLE, type NewCouncil } from "./newCouncil";

export const DRAFT = "council-new";

/** What was filled in stays, also when the dialog or the page is closed. */
export function OpenCouncil({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useStored<NewCouncil>(DRAFT, BLANK);
  const queries = useQueryClient();
  const [, go] = useLocation();
  const attempt = useRef<{ what: string; key: ReturnType<typeof writeKey> }>(undefined);
  const change = (to: Partial<NewCouncil>) => setDraft({ ...draft, ...to });
  const open = useMutation({
    mutationFn: () => {
      const body = requestOf(draft);
      const what = JSON.stringify(body);
      if (attempt.current?.what !== what) attempt.current = { what, key: writeKey() };
      return asked(client.POST("/api/councils", { params: { header: attempt.current.key }, body }));
    },
    onSuccess: (view) => {
      setDraft(undefined);
      void queries.invalidateQueries({ queryKey: ["sessions"] });
      go(`/councils/${encodeURIComponent(view.council)}`);
    },
  });
  const problem = open.error instanceof Problem ? open.error : undefined;
  return (
    <Dialog
      title="Open a council"
      wide
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={open.isPending || draft.name.trim() === "" || draft.charter.trim() === ""}
            onClick={() => open.mutate()}
          >
            {open.isPending ? "Opening…" : "Open council"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <div className="row">
          <p className="muted">A thread with a charter, open for as long as you need it.</p>
          <span className="spread" />
          {draft.name === "" && draft.charter === "" && (
            <Button onClick={() => change(SAMPLE)}>Fill in an example</Button>
          )}
          {draft !== BLANK && <Button onClick={() => setDraft(undefined)}>Clear</Button>}
        </div>
        <TextField
          label="Name"
          hint={NAME_RULE}
          value={draft.name}
          wrong={
            problem?.field("name") ?? (problem?.code === "taken" ? problem.message : undefined)
          }
          placeholder="api-redesign"
          spellCheck={false}
          onChange={(event) => change({ name: event.target.value })}
        />
        <TextArea
          label="Charter"
          hint="What it is for, and how its members should talk. Markdown; every member reads it."
          rows={5}
          value={draft.charter}
          wrong={problem?.field("charter")}
          onChange={(event) => change({ charter: event.target.value })}
        />
        <TextField
          label="Project"
          hint="May be left empty. Lists can be narrowed to a project."
          value={draft.project}
          wrong={problem?.field("project")}
          onChange={(event) => change({ project: event.target.value })}
        />
        <MembersEditor
          members={draft.members}
          problem={problem}
          onChange={(members) => change({ members })}
        />
        <FormProblem error={open.error} />
      </div>
    </Dialog>
  );
}
