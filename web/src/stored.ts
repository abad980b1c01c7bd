// Stored in this browser: theme, shortcuts, the last board, who I am on a whiteboard.

import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
const parsed = new Map<string, { text: string | null; value: unknown }>();
/** What a browser that is full, or stores nothing, could not take: kept until the page is left. */
const unstored = new Map<string, string | null>();

function key(name: string): string {
  return `plenary.${name}`;
}

/** A remembered value; `missing` when there is none or it cannot be read. */
export function remembered<T>(name: string, missing: T): T {
  const text = kept(name);
  const known = parsed.get(name);
  // The same text gives the same object, so that readers see a change only when there is one.
  if (known && known.text === text && text !== null) return known.value as T;
  if (text === null) return missing;
  try {
    const value = JSON.parse(text) as T;
    parsed.set(name, { text, value });
    return value;
  } catch {
    return missing;
  }
}

function kept(name: string): string | null {
  const text = unstored.get(name);
  if (text !== undefined) return text;
  try {
    return localStorage.getItem(key(name));
  } catch {
    return null;
  }
}

export function remember<T>(name: string, value: T | undefined): void {
  const text = value === undefined ? null : JSON.stringify(value);
  try {
    if (text === null) localStorage.removeItem(key(name));
    else localStorage.setItem(key(name), text);
    unstored.delete(name);
  } catch {
    unstored.set(name, text);
  }
  for (const listener of listeners) listener();
}

/** Forgets all but this. */
export function forgetAllBut(...names: string[]): void {
  for (const name of [...unstored.keys(), ...rememberedNames()]) {
    if (!names.includes(name)) remember(name, undefined);
  }
}

/** Everything that is remembered, by name. */
export function rememberedNames(): string[] {
  try {
    const mine = Object.keys(localStorage).filter((one) => one.startsWith(key("")));
    return mine.map((one) => one.slice(key("").length)).sort();
  } catch {
    return [];
  }
}

export function useRememberedNames(): string[] {
  // As one text, because the same names must be the same value.
  const names = useSyncExternalStore(subscribe, () => rememberedNames().join("\n"));
  return names === "" ? [] : names.split("\n");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Like `useState`, but remembered. `missing` must not change from one call to the next. */
export function useStored<T>(name: string, missing: T): [T, (value: T | undefined) => void] {
  const value = useSyncExternalStore(subscribe, () => remembered(name, missing));
  const set = useCallback((next: T | undefined) => remember(name, next), [name]);
  return [value, set];
}

/** A text that is being written, kept until it is sent; an empty one is none. */
export function useKeptText(name: string): [string, (text: string) => void] {
  const [text, setText] = useStored(name, "");
  const keep = useCallback((next: string) => setText(next || undefined), [setText]);
  return [text, keep];
}
