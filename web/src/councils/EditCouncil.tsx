import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { FormProblem } from "../library/FormProblem";
import { useStored } from "../stored";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextArea } from "../ui/Field";
import { nameProblem } from "../whiteboards/names";
import { Face } from "./Face";
import { MembersEditor } from "./MembersEditor";
import { changeOf, NO_EDIT, type Edit } from "./newCouncil";
import type { CouncilView } from "./useCouncil";

interface Props {
  view: CouncilView;
  onClose: () => void;
  onDone: () => void;
}

/** Charter and members, for whoever opened the council. What was filled in stays until sent. */
export function EditCouncil({ view, onClose, onDone }: Props) {
  const place = `council-edit.${view.sessionId}`;
  const [edit, setEdit] = useStored<Edit>(place, NO_EDIT);
  const to = (part: Partial<Edit>) => setEdit({ ...edit, ...part });
  const save = useWrite(
    (body: Schemas["CouncilChange"], header) =>
      asked(
        client.PATCH("/api/councils/{council}", {
          params: { path: { council: view.council }, header },
          body,
        }),
      ),
    {
      place,
      onSent: () => {
        setEdit(undefined);
        onDone();
      },
    },
  );
  const problem = save.error instanceof Problem ? save.error : undefined;
  const change = changeOf(edit, view);
  const charter = edit.charter ?? view.charter;
  const isReady =
    change !== undefined &&
    charter.trim() !== "" &&
    edit.add.every((member) => nameProblem(member.name.trim()) === undefined);
  const cutOff = edit.remove.find((name) => name === view.answering);
  return (
    <Dialog
      title="Edit this council"
      wide
      onClose={onClose}
      onSubmit={() => change && save.mutate(change)}
      foot={
        <>
          {edit !== NO_EDIT && <Button onClick={() => setEdit(undefined)}>Discard changes</Button>}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={save.isPending || !isReady}>
            {save.isPending ? "Saving…" : "Save"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <TextArea
          label="Charter"
          hint="Markdown. Members read the new charter from their next answer on."
          rows={6}
          value={charter}
          wrong={problem?.field("charter")}
          onChange={(event) => to({ charter: event.target.value })}
        />
        {view.members.length > 0 && (
          <fieldset className="new-members">
            <legend className="legend">Members</legend>
            <ul className="edited-members">
              {view.members.map((member) => {
                const isLeaving = edit.remove.includes(member.name);
                const others = edit.remove.filter((name) => name !== member.name);
                return (
                  <li key={member.name} data-leaving={isLeaving}>
                    <Face name={member.name} isModel={member.model !== undefined} small />
                    <strong>{member.name}</strong>
                    <span className="mono">{member.model}</span>
                    <span className="spread" />
                    <Button
                      aria-label={isLeaving ? `Keep ${member.name}` : `Remove ${member.name}`}
                      onClick={() => to({ remove: isLeaving ? others : [...others, member.name] })}
                    >
                      {isLeaving ? "Keep" : "Remove"}
                    </Button>
                  </li>
                );
              })}
            </ul>
            {cutOff !== undefined && (
              <p className="muted small">{cutOff} is answering and will be cut off.</p>
            )}
          </fieldset>
        )}
        <MembersEditor
          legend="New members"
          field="addMembers"
          members={edit.add}
          problem={problem}
          onChange={(add) => to({ add })}
        />
        <FormProblem error={save.error} />
      </div>
    </Dialog>
  );
}
