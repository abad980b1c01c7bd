// An invitation as a link. It stands after the #, which browsers keep to themselves, so that
// it is in no log of a server or a proxy on the way.

import type { Role } from "./identity";

export interface Invited {
  name: string;
  role: Role;
  invitation: string;
}

const ROLES: readonly string[] = ["specialist", "facilitator", "operator"] satisfies Role[];

export function linkOf(board: string, invited: Invited, origin: string): string {
  const hash = new URLSearchParams({ ...invited });
  return `${origin}/whiteboards/${encodeURIComponent(board)}#${hash}`;
}

/** The invitation that an address carries. */
export function invitedBy(hash: string): Invited | undefined {
  const told = new URLSearchParams(hash.replace(/^#/, ""));
  const [name, role, invitation] = ["name", "role", "invitation"].map((one) => told.get(one) ?? "");
  if (!invitation || !role || !ROLES.includes(role)) return undefined;
  return { name: name ?? "", role: role as Role, invitation };
}
