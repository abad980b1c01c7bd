import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { useStored } from "../stored";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
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
    <Confirm
      title="Edit this council"
      action="Save"
      doing="Saving…"
      wide
      extra={
        edit !== NO_EDIT && <Button onClick={() => setEdit(undefined)}>Discard changes</Button>
      }
      isReady={isReady}
      isBusy={save.isPending}
      error={save.error}
      onClose={onClose}
      onSure={() => change && save.mutate(change)}
    >
      <TextArea
        label="Charter"
        hint="Markdown. Members follow the new charter from their next answer."
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
    </Confirm>
  );
}
