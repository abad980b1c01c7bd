// Stored in this browser: theme, shortcuts, the last board, who I am on a whiteboard.

import { useCallback, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
/** By name: the text, what it says, and that as it was asked for. */
const parsed = new Map<string, { text: string; value: unknown; fitting: Map<unknown, unknown> }>();
/** What a browser that is full, or stores nothing, could not take: kept until the page is left. */
const unstored = new Map<string, string | null>();

function key(name: string): string {
  return `plenary.${name}`;
}

/**
 * A remembered value; `missing` when there is none or it cannot be read. Another version of this
 * page may have stored something else there: what is not like `like` is missing as well.
 */
export function remembered<T>(name: string, missing: T, like: unknown = missing): T {
  const text = kept(name);
  if (text === null) return missing;
  let known = parsed.get(name);
  if (known?.text !== text) {
    known = { text, value: read(text), fitting: new Map() };
    parsed.set(name, known);
  }
  // The same text gives the same object, so that readers see a change only when there is one.
  if (!known.fitting.has(like)) known.fitting.set(like, fitted(known.value, like));
  const value = known.fitting.get(like);
  return value === undefined ? missing : (value as T);
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The value, its parts made good from `like`; nothing where it is something else altogether. */
function fitted(value: unknown, like: unknown): unknown {
  if (like === undefined || like === null) return value ?? undefined;
  if (Array.isArray(like)) return Array.isArray(value) ? value : undefined;
  if (typeof like !== "object") return typeof value === typeof like ? value : undefined;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const parts = Object.entries(like).flatMap(([name, part]) => {
    const mine: unknown = (value as Record<string, unknown>)[name];
    const fits = fitted(mine, part) ?? part;
    return fits === mine ? [] : [[name, fits] as const];
  });
  return parts.length === 0 ? value : { ...value, ...Object.fromEntries(parts) };
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

/** Like `useState`, but remembered. `missing` and `like` must not change between calls. */
export function useStored<T>(
  name: string,
  missing: T,
  like: unknown = missing,
): [T, (value: T | undefined) => void] {
  const value = useSyncExternalStore(subscribe, () => remembered(name, missing, like));
  const set = useCallback((next: T | undefined) => remember(name, next), [name]);
  return [value, set];
}

/** A text that is being written, kept until it is sent; an empty one is none. */
export function useKeptText(name: string): [string, (text: string) => void] {
  const [text, setText] = useStored(name, "");
  const keep = useCallback((next: string) => setText(next || undefined), [setText]);
  return [text, keep];
}
