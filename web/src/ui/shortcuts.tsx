// What the keyboard does on this page. Pages name their shortcuts; the help dialog and the
// palette show what is named. Single keys can be switched off in the settings.

import { useEffect, useRef, useSyncExternalStore } from "react";
import { remembered } from "../stored";

export interface Shortcut {
  /** As `KeyboardEvent.key`, with `Mod+` for Ctrl or Command: `s`, `?`, `Mod+k`. */
  key: string;
  label: string;
  run: () => void;
}

export const SINGLE_KEYS = "single-keys";

let all: readonly Shortcut[][] = [];
const listeners = new Set<() => void>();

function change(next: readonly Shortcut[][]): void {
  all = next;
  for (const listener of listeners) listener();
}

/** These work as long as the component is there. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const names = shortcuts.map((one) => `${one.key} ${one.label}`).join("\n");
  useEffect(() => {
    const mine = latest.current.map((one, index) => ({
      ...one,
      run: () => latest.current[index]?.run(),
    }));
    change([...all, mine]);
    return () => change(all.filter((one) => one !== mine));
  }, [names]);
}

export function useAllShortcuts(): readonly Shortcut[] {
  const groups = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
  return groups.flat();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement && target.type === "checkbox") return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

function matches(shortcut: Shortcut, event: KeyboardEvent): boolean {
  const mod = event.ctrlKey || event.metaKey;
  if (shortcut.key.startsWith("Mod+"))
    return mod && !event.altKey && event.key.toLowerCase() === shortcut.key.slice(4).toLowerCase();
  return !mod && !event.altKey && event.key.toLowerCase() === shortcut.key.toLowerCase();
}

/** Listens for the whole page. Once, in the shell. */
export function useShortcutKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat) return;
      // F8 writes nothing, wherever it is pressed.
      const single = !event.ctrlKey && !event.metaKey && !/^F\d+$/.test(event.key);
      if (single && (isTyping(event.target) || !remembered(SINGLE_KEYS, true))) return;
      // A dialog has the page's attention.
      if (document.querySelector("dialog[open]")) return;
      const found = all.flat().findLast((one) => matches(one, event));
      if (!found) return;
      event.preventDefault();
      found.run();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}
