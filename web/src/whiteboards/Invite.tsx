// Somebody is invited by name, and gets a link.

import { useState } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { copy } from "../ui/announce";
import { Confirm } from "../ui/Confirm";
import { SelectField, TextField } from "../ui/Field";
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
    <Confirm
      title="Invite someone"
      action={link ? "Copy link" : "Create link"}
      icon={link ? "copy" : "link"}
      cancel={link ? "Done" : "Cancel"}
      isReady={name !== "" && nameProblem(name) === undefined}
      isBusy={invite.isPending}
      error={invite.error}
      onClose={onClose}
      onSure={() => (link ? void copy(link) : invite.mutate({ invite: name, role }))}
    >
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
        options={ROLES.map((one) => [one, roleName(one)])}
      />
      {link && (
        <TextField
          label="Link"
          hint="Anyone with this link can join under this name. Share it only with them."
          readOnly
          value={link}
          onFocus={(event) => event.target.select()}
        />
      )}
    </Confirm>
  );
}
