// Somebody is invited by name, and gets a link.

import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { copy } from "../ui/announce";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { SelectField, TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { agentHeader, useBoardPage } from "./board";
import type { Role } from "./identity";
import { linkOf } from "./invitation";
import { nameProblem, NAME_RULE } from "./names";
import { roleName } from "./People";

const ROLES: readonly Role[] = ["specialist", "operator", "facilitator"];

export function Invite({ onClose }: { onClose: () => void }) {
  const { looking, view } = useBoardPage();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("specialist");
  const invite = useWrite((body: Schemas["NewInvitation"], key) => {
    const params = {
      path: { board: view.boardId },
      header: { ...agentHeader(looking.me), ...key },
    };
    return asked(client.POST("/api/whiteboards/{board}/invitations", { params, body }));
  });
  const problem = invite.error instanceof Problem ? invite.error : undefined;
  const made = invite.data;
  const link =
    made && linkOf(view.boardId, { name, role, invitation: made.invitation }, location.origin);
  const change = (change: () => void) => {
    invite.reset();
    change();
  };
  return (
    <Dialog
      title="Invite someone"
      onClose={onClose}
      onSubmit={() => (link ? void copy(link) : invite.mutate({ invite: name, role }))}
      foot={
        <>
          <Button onClick={onClose}>{link ? "Done" : "Cancel"}</Button>
          <Button
            type="submit"
            look="primary"
            icon={link ? "copy" : "link"}
            disabled={name === "" || nameProblem(name) !== undefined || invite.isPending}
          >
            {link ? "Copy link" : "Create link"}
          </Button>
        </>
      }
    >
      <div className="stack">
        <TextField
          label="Their name here"
          hint={nameProblem(name) ? undefined : NAME_RULE}
          value={name}
          wrong={nameProblem(name) ?? problem?.field("invite")}
          onChange={(event) => change(() => setName(event.target.value))}
        />
        <SelectField
          label="As"
          value={role}
          wrong={problem?.field("role")}
          onChange={(event) => change(() => setRole(event.target.value as Role))}
        >
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {roleName(one)}
            </option>
          ))}
        </SelectField>
        {link && (
          <TextField
            label="Link"
            hint="Anyone with this link can join under this name. Share it only with them."
            readOnly
            value={link}
            onFocus={(event) => event.target.select()}
          />
        )}
        {(problem?.fields.length ?? 0) === 0 && <Wrong error={invite.error} />}
      </div>
    </Dialog>
  );
}
