import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { useStored } from "../stored";
import { BudgetFields } from "../ui/Budget";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { TextArea, TextField } from "../ui/Field";
import { nameProblem, roomName, roomNameHint } from "../whiteboards/names";
import { MembersEditor } from "./MembersEditor";
import { BLANK, NAME_RULE, requestOf, SAMPLE, type NewCouncil } from "./newCouncil";

export const DRAFT = "council-new";

/** What was filled in stays, also when the dialog or the page is closed. */
export function OpenCouncil({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useStored<NewCouncil>(DRAFT, BLANK);
  const queries = useQueryClient();
  const [, go] = useLocation();
  const change = (to: Partial<NewCouncil>) => setDraft({ ...draft, ...to });
  const open = useWrite(
    (body: Schemas["NewCouncil"], header) =>
      asked(client.POST("/api/councils", { params: { header }, body })),
    {
      place: DRAFT,
      onSent: (view) => {
        setDraft(undefined);
        void queries.invalidateQueries({ queryKey: ["sessions"] });
        go(`/councils/${encodeURIComponent(view.council)}`);
      },
    },
  );
  const problem = open.error instanceof Problem ? open.error : undefined;
  const isReady =
    roomName(draft.name) !== "" &&
    draft.charter.trim() !== "" &&
    draft.members.every((member) => nameProblem(member.name.trim()) === undefined);
  return (
    <Confirm
      title="Open a council"
      action="Open council"
      doing="Opening…"
      wide
      isReady={isReady}
      isBusy={open.isPending}
      error={open.error}
      onClose={onClose}
      onSure={() => open.mutate(requestOf(draft))}
    >
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
        hint={roomNameHint(draft.name, NAME_RULE)}
        value={draft.name}
        wrong={
          problem?.code === "taken"
            ? `There is, or was, a council called ${roomName(draft.name)}. Choose another name.`
            : problem?.field("name")
        }
        placeholder="API redesign"
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
        label="Project (optional)"
        hint="Shown in lists."
        value={draft.project}
        wrong={problem?.field("project")}
        onChange={(event) => change({ project: event.target.value })}
      />
      <MembersEditor
        members={draft.members}
        problem={problem}
        onChange={(members) => change({ members })}
      />
      <BudgetFields
        value={draft.allowance}
        hasTime={false}
        wrong={(field) => problem?.field(field)}
        hint="Shared by all members. When it runs out, no member can be asked."
        onChange={(allowance) => change({ allowance })}
      />
    </Confirm>
  );
}
