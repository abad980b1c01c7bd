// Who I am on a board. One browser may hold several identities of a board; each tab acts as
// one of them, or looks on as nobody. The token is the only proof: it stays in this browser.

import { useCallback, useState } from "react";
import { remember, remembered, useStored } from "../stored";
import type { Schemas } from "../api/client";

export type Role = Schemas["BoardRole"];

export interface Identity {
  name: string;
  role: Role;
  token: string;
}

interface Known {
  identities: Identity[];
  /** As whom a new tab begins. */
  last?: string | undefined;
}

const NOBODY: Known = { identities: [] };
const MY_NAME = "my-name";

function place(board: string): string {
  return `whiteboard.${board}`;
}

/** Keeps an identity, and acts as it from now on. */
export function keepIdentity(board: string, identity: Identity): void {
  const { identities } = remembered(place(board), NOBODY);
  const others = identities.filter((one) => one.name !== identity.name);
  remember<Known>(place(board), { identities: [...others, identity], last: identity.name });
  remember(MY_NAME, identity.name);
}

/** The name that was last used anywhere, as whiteboards take it: without spaces. */
export function usualName(): string {
  return remembered(MY_NAME, "").trim().replace(/\s+/g, "-");
}

export function knownIdentities(board: string): Identity[] {
  return remembered(place(board), NOBODY).identities;
}

export interface Identities {
  all: Identity[];
  me: Identity | undefined;
  /** `undefined`: look on as nobody. */
  actAs: (name: string | undefined) => void;
  keep: (identity: Identity) => void;
  forget: (name: string) => void;
}

export function useIdentities(board: string): Identities {
  const [known, setKnown] = useStored<Known>(place(board), NOBODY);
  const [acting, setActing] = useState(known.last);
  const actAs = useCallback(
    (name: string | undefined) => {
      setActing(name);
      const { identities } = remembered(place(board), NOBODY);
      setKnown({ identities, last: name });
    },
    [board, setKnown],
  );
  const keep = useCallback(
    (identity: Identity) => {
      keepIdentity(board, identity);
      setActing(identity.name);
    },
    [board],
  );
  const forget = useCallback(
    (name: string) => {
      const left = knownIdentities(board).filter((one) => one.name !== name);
      setKnown(left.length === 0 ? undefined : { identities: left, last: left[0]?.name });
      setActing(left[0]?.name);
    },
    [board, setKnown],
  );
  const me = known.identities.find((one) => one.name === acting);
  return { all: known.identities, me, actAs, keep, forget };
}
