// One place where milestones are announced ("Critic finished, 2 of 6") and one for short
// confirmations that everybody sees ("Copied").

import { useEffect, useRef, useState, useSyncExternalStore } from "react";

interface Said {
  /** The number tells two of the same words apart. */
  announced: { id: number; text: string };
  toasts: readonly { id: number; text: string }[];
}

let said: Said = { announced: { id: 0, text: "" }, toasts: [] };
let count = 0;
const listeners = new Set<() => void>();
const TOAST_MS = 2_500;

function change(next: Said): void {
  said = next;
  for (const listener of listeners) listener();
}

/** For assistive technology only. */
export function announce(text: string): void {
  count += 1;
  change({ ...said, announced: { id: count, text } });
}

/** For everybody, and gone after a moment. */
export function toast(text: string): void {
  announce(text);
  const id = count;
  change({ ...said, toasts: [...said.toasts.slice(-2), { id, text }] });
  setTimeout(
    () => change({ ...said, toasts: said.toasts.filter((one) => one.id !== id) }),
    TOAST_MS,
  );
}

/** Says once what has come about since the last look. What was there at first is no news. */
export function useMilestones<View>(
  view: View | undefined,
  news: (before: View, now: View) => string,
): void {
  const before = useRef(view);
  useEffect(() => {
    const earlier = before.current;
    before.current = view;
    const words = earlier && view ? news(earlier, view) : "";
    if (words !== "") announce(words);
    // How it is said is the same for as long as it is looked at.
  }, [view]);
}

export async function copy(text: string): Promise<void> {
  // Browsers keep the clipboard from pages that came by plain http over a network; what is
  // marked by hand can still be copied.
  const isDone = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  toast(isDone || copyMarked(text) ? "Copied" : "The browser blocked copying");
}

function copyMarked(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.className = "unseen";
  const focused = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isDone;
}

/** Says what is announced from now on. Once in the shell, and once in each dialog. */
export function Announcer() {
  const [since] = useState(() => count);
  const { announced, toasts } = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => said,
  );
  return (
    <>
      <div role="status" aria-live="polite" className="unseen" data-testid="announcer">
        {/* Words that come again are new all the same. */}
        {announced.id > since && <p key={announced.id}>{announced.text}</p>}
      </div>
      <div className="toasts no-print" aria-hidden="true">
        {toasts.map((one) => (
          <div key={one.id} className="toast">
            {one.text}
          </div>
        ))}
      </div>
    </>
  );
}
