import { ALL_KINDS, listOf } from "../session/kinds";
import type { IconName } from "../ui/icons";

export interface Place {
  href: string;
  name: string;
  icon: IconName;
  kind?: string;
}

/** Where one can go, in the order of the rail. */
export const PLACES: readonly Place[] = [
  { href: "/", name: "Home", icon: "home" },
  ...ALL_KINDS.map(({ kind, name, plural, icon }) => ({
    href: listOf(kind),
    // One convenes a board in the boardroom.
    name: kind === "boardroom" ? name : plural,
    icon,
    kind,
  })),
  { href: "/history", name: "History", icon: "history" },
  { href: "/library", name: "Library", icon: "library" },
  { href: "/settings", name: "Settings", icon: "settings" },
];

/** A run belongs to the workflows, though its address does not say so. */
const ASIDE: Record<string, string> = { "/workflows": "/runs" };

export function isUnder(here: string, place: string): boolean {
  const isIn = (root: string) => here === root || here.startsWith(`${root}/`);
  const aside = ASIDE[place];
  return place === "/" ? here === "/" : isIn(place) || (aside !== undefined && isIn(aside));
}

/** The page of one session has the room for itself. */
export function isSessionPage(here: string): boolean {
  const [, place, id] = here.split("/");
  return (
    id !== undefined &&
    id !== "new" &&
    ALL_KINDS.some((kind) => kind.place === place || kind.list === place)
  );
}
