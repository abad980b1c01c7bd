import type { IconName } from "../ui/icons";

/** Where one can go, in the order of the rail. */
export const PLACES: readonly { href: string; name: string; icon: IconName; kind?: string }[] = [
  { href: "/", name: "Home", icon: "home" },
  { href: "/boardrooms", name: "Boardroom", icon: "boardroom", kind: "boardroom" },
  { href: "/discussions", name: "Discussions", icon: "discussion", kind: "discussion" },
  { href: "/whiteboards", name: "Whiteboards", icon: "whiteboard", kind: "whiteboard" },
  { href: "/councils", name: "Councils", icon: "council", kind: "council" },
  { href: "/history", name: "History", icon: "history" },
  { href: "/library", name: "Library", icon: "library" },
  { href: "/settings", name: "Settings", icon: "settings" },
];

export function isUnder(here: string, place: string): boolean {
  return place === "/" ? here === "/" : here === place || here.startsWith(`${place}/`);
}
