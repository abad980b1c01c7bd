// What the palette offers: places, things to do, what this page can do, and sessions.

import type { Theme } from "./theme";
import { PLACES } from "./places";
import { ALL_KINDS, kindIcon, kindName, pageOf } from "../session/kinds";
import { waitsFor, type Session } from "./sessions";
import { statusOf } from "./status";
import type { IconName } from "../ui/icons";
import type { Shortcut } from "../ui/shortcuts";

export interface Command {
  id: string;
  label: string;
  icon: IconName;
  /** Beside the label, muted. */
  note?: string;
  /** The key that does the same. */
  shortcut?: string;
  /** Found by these words too. */
  words?: string;
  run: () => void;
}

export interface CommandGroup {
  title: string;
  commands: Command[];
}

export function placeCommands(go: (href: string) => void): Command[] {
  return PLACES.map((place) => ({
    id: `place ${place.href}`,
    label: place.name,
    icon: place.icon,
    words: "go to open page",
    run: () => go(place.href),
  }));
}

export function actionCommands(
  go: (href: string) => void,
  theme: Theme,
  setTheme: (theme: Theme) => void,
): Command[] {
  const starts: Command[] = ALL_KINDS.map(({ icon, start: { label, href, words } }) => ({
    id: `start ${href}`,
    label,
    icon,
    words,
    run: () => go(href),
  }));
  const looks: Command[] = (["system", "light", "dark"] as const)
    .filter((one) => one !== theme)
    .map((one) => ({
      id: `theme ${one}`,
      label: one === "system" ? "System theme" : `${kindName(one)} theme`,
      icon: "sun",
      words: "appearance colours mode",
      run: () => setTheme(one),
    }));
  return [...starts, ...looks];
}

export function pageCommands(shortcuts: readonly Shortcut[]): Command[] {
  return shortcuts
    .filter((one) => one.key !== "Mod+k")
    .map((one) => ({
      id: `key ${one.key} ${one.label}`,
      label: one.label,
      icon: "keyboard",
      shortcut: one.key,
      run: one.run,
    }));
}

export function sessionCommands(
  sessions: readonly Session[],
  go: (href: string) => void,
): Command[] {
  return sessions.map((session) => {
    const names = waitsFor(session);
    return {
      id: `session ${session.id}`,
      label: session.title,
      icon: kindIcon(session.kind),
      note:
        names.length > 0
          ? `Waiting for ${names.join(", ")}`
          : statusOf(session.status, session.kind).word,
      run: () => go(pageOf(session)),
    };
  });
}

/** Those in which every word that was typed begins some word. */
export function matching(commands: readonly Command[], typed: string): Command[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return commands.filter((command) => {
    const words = `${command.label} ${command.words ?? ""}`.toLowerCase().split(/[\s-]+/);
    return wanted.every((one) => words.some((word) => word.startsWith(one)));
  });
}
