// As whom you act on a board: switch, join under another name, forget.

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../ui/Button";
import { Confirm } from "../ui/Confirm";
import { Icon } from "../ui/icons";
import { Menu, type MenuItem } from "../ui/Menu";
import { copy, toast } from "../ui/announce";
import { viewerKey } from "./board";
import type { Identities, Identity } from "./identity";
import { invitedBy } from "./invitation";
import { Join } from "./Join";
import { roleName } from "./People";

interface Props {
  board: string;
  identities: Identities;
  canJoin: boolean;
}

export function Acting({ board, identities, canJoin }: Props) {
  const { all, me, actAs, keep, forget } = identities;
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<"join" | "forget" | undefined>(() =>
    invitedBy(location.hash) ? "join" : undefined,
  );
  const close = () => setDialog(undefined);

  // What one identity has loaded is not there for the next one.
  const leave = () => queries.removeQueries({ queryKey: viewerKey({ board, me }) });
  const become = (name: string | undefined) => {
    if (name === me?.name) return;
    leave();
    actAs(name);
    arrive(name);
  };

  const items: MenuItem[] = [
    ...all.map((one) => ({
      label: `${one.name}, ${roleName(one.role).toLowerCase()}`,
      isChosen: one.name === me?.name,
      run: () => become(one.name),
    })),
    {
      label: "As a guest",
      isChosen: !me,
      run: () => become(undefined),
    },
    ...(canJoin || all.length > 0
      ? [{ label: "Join under another name…", icon: "plus" as const, run: () => setDialog("join") }]
      : []),
    ...(me
      ? [{ label: `Forget ${me.name}…`, icon: "trash" as const, run: () => setDialog("forget") }]
      : []),
  ];

  return (
    <>
      {all.length === 0 ? (
        <Button
          look={canJoin ? "primary" : "plain"}
          icon="person"
          onClick={() => setDialog("join")}
        >
          {canJoin ? "Join" : "Use an agent token"}
        </Button>
      ) : (
        <Menu
          label={me ? `Acting as ${me.name}` : "Just looking"}
          face={
            <>
              <span className="muted">{me ? "Acting as" : "Just looking"}</span>{" "}
              {me && <strong className="acting-name">{me.name}</strong>}
              <Icon name="down" size={12} />
            </>
          }
          items={items}
        />
      )}
      {dialog === "join" && (
        <Join
          board={board}
          canJoin={canJoin}
          onClose={close}
          onJoined={(identity) => {
            leave();
            keep(identity);
            close();
            arrive(identity.name);
          }}
        />
      )}
      {dialog === "forget" && me && (
        <Forget
          identity={me}
          onClose={close}
          onForget={() => {
            leave();
            forget(me.name);
            close();
            arrive(all.find((one) => one.name !== me.name)?.name);
          }}
        />
      )}
    </>
  );
}

/** The page is another one now, though its address is the same. */
function arrive(name: string | undefined): void {
  toast(name === undefined ? "You are viewing as a guest" : `You are ${name} here`);
  document.getElementById("main")?.focus({ preventScroll: true });
}

interface ForgetProps {
  identity: Identity;
  onClose: () => void;
  onForget: () => void;
}

function Forget({ identity, onClose, onForget }: ForgetProps) {
  return (
    <Confirm
      title={`Forget ${identity.name}?`}
      action="Forget"
      icon="trash"
      look="danger"
      extra={
        <Button icon="copy" onClick={() => void copy(identity.token)}>
          Copy the token
        </Button>
      }
      onClose={onClose}
      onSure={onForget}
    >
      <p>
        This browser holds the agent token that proves you are {identity.name} on this board. The
        server will not issue it again: without a copy, no one can act as {identity.name} anymore.
        What {identity.name} has written stays.
      </p>
    </Confirm>
  );
}
