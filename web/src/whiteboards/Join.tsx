// Taking part: by a new name, or by the token of an agent that joined elsewhere.

import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { asked, client, Problem, type Schemas } from "../api/client";
import { useWrite } from "../api/write";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { TextField } from "../ui/Field";
import { Wrong } from "../ui/Notice";
import { knownIdentities, usualName, type Identity, type Role } from "./identity";
import { invitedBy } from "./invitation";
import { nameProblem, NAME_RULE } from "./names";
import { roleName } from "./People";

interface Props {
  board: string;
  /** Nobody can join any more in resolve and after it. */
  canJoin: boolean;
  onClose: () => void;
  onJoined: (identity: Identity) => void;
}

const ROLES: readonly { role: Role; about: string }[] = [
  { role: "specialist", about: "Posts, annotates and votes." },
  { role: "operator", about: "Also moves the board on. For people who run it." },
  { role: "facilitator", about: "Also moves the board on. For the person who leads it." },
];

export function Join({ board, canJoin, onClose, onJoined }: Props) {
  return (
    <Dialog title={canJoin ? "Join this board" : "Use an agent token"} onClose={onClose}>
      {canJoin ? (
        <>
          <Register board={board} onClose={onClose} onJoined={onJoined} />
          <details className="fold">
            <summary>I have an agent token already</summary>
            <ByToken board={board} onJoined={onJoined} />
          </details>
        </>
      ) : (
        <>
          <p>Joining is closed. If you joined elsewhere, enter your agent token.</p>
          <ByToken board={board} onJoined={onJoined} />
        </>
      )}
    </Dialog>
  );
}

function Register({ board, onClose, onJoined }: Omit<Props, "canJoin">) {
  const [invited] = useState(() => invitedBy(location.hash));
  const [name, setName] = useState(() => {
    if (invited) return invited.name;
    const usual = usualName();
    return knownIdentities(board).some((one) => one.name === usual) ? "" : usual;
  });
  const [role, setRole] = useState<Role>(invited?.role ?? "specialist");
  const [domain, setDomain] = useState("");
  const [invitation, setInvitation] = useState(invited?.invitation ?? "");
  const join = useWrite(
    (body: Schemas["NewAgent"], header) => {
      const params = { path: { board }, header };
      return asked(client.POST("/api/whiteboards/{board}/agents", { params, body }));
    },
    {
      // A token that got lost on its way is given out again for the same words.
      place: `draft.whiteboard/${encodeURIComponent(board)}/join`,
      onSent: (joined) => {
        // An invitation is for once, and should not stay in the address.
        if (invited) history.replaceState(history.state, "", location.pathname);
        onJoined({ name: joined.agentName, role: joined.role, token: joined.agentToken });
      },
    },
  );
  const problem = join.error instanceof Problem ? join.error : undefined;
  const isTaken = problem?.code === "not-your-agent";
  // Most boards ask nobody for one.
  const wantsInvitation = problem?.code === "not-invited" || invitation !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    join.mutate({
      agentName: name,
      role,
      ...(domain.trim() !== "" && { domain }),
      ...(invitation.trim() !== "" && { invitation: invitation.trim() }),
    });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Your name here"
        hint={nameProblem(name) ? undefined : NAME_RULE}
        autoFocus
        value={name}
        wrong={
          nameProblem(name) ??
          (isTaken ? "This name is taken. Choose another." : undefined) ??
          problem?.field("agentName")
        }
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="choices">
        <legend className="legend">As</legend>
        {ROLES.map((one) => (
          <label key={one.role} className="choice">
            <input
              type="radio"
              name="role"
              value={one.role}
              checked={role === one.role}
              onChange={() => setRole(one.role)}
            />
            <span>
              {roleName(one.role)} <span className="muted small">{one.about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <TextField
        label="Expertise (optional)"
        placeholder="databases, security, documentation…"
        value={domain}
        wrong={problem?.field("domain")}
        onChange={(event) => setDomain(event.target.value)}
      />
      {wantsInvitation && (
        <TextField
          label="Invitation"
          hint="The code you got from the facilitator."
          spellCheck={false}
          value={invitation}
          wrong={problem?.field("invitation")}
          onChange={(event) => setInvitation(event.target.value)}
        />
      )}
      {!isTaken && (problem?.fields.length ?? 0) === 0 && <Wrong error={join.error} />}
      <div className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          type="submit"
          disabled={name === "" || nameProblem(name) !== undefined || join.isPending}
        >
          {join.isPending ? "Joining…" : "Join"}
        </Button>
      </div>
    </form>
  );
}

function ByToken({ board, onJoined }: Pick<Props, "board" | "onJoined">) {
  const [token, setToken] = useState("");
  const show = useMutation({
    mutationFn: async (given: string): Promise<Identity> => {
      const view = await asked(
        client.GET("/api/whiteboards/{board}", {
          params: { path: { board }, query: { limit: 1 }, header: { "Agent-Token": given } },
        }),
      );
      if (!view.you) throw new Error("No agent on this board has this token.");
      return { name: view.you.agentName, role: view.you.role, token: given };
    },
    onSuccess: onJoined,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    show.mutate(token.trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextField
        label="Agent token"
        hint="You got it when you joined from the command line or another browser."
        type="password"
        spellCheck={false}
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <Wrong error={show.error} />
      <div className="row">
        <Button type="submit" disabled={!/^[!-~]+$/.test(token.trim()) || show.isPending}>
          Act as this agent
        </Button>
      </div>
    </form>
  );
}
