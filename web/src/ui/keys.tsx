// Keys as this machine's keyboard names them.

const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

const NAMES: Record<string, string> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
};

/** `Mod+k` is `⌘ K` or `Ctrl K`. */
export function keyName(key: string): string {
  return key
    .split("+")
    .map((part) => {
      if (part === "Mod") return IS_APPLE ? "⌘" : "Ctrl";
      return NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part);
    })
    .join(" ");
}

/** As `aria-keyshortcuts` wants it. */
export function ariaKey(key: string): string {
  return key.replace("Mod", IS_APPLE ? "Meta" : "Control");
}

interface Pressed {
  nativeEvent: KeyboardEvent;
}

/** Whether the key belongs to an input method that composes a word. */
export function isComposing({ nativeEvent: event }: Pressed): boolean {
  // Safari ends the composing before the Enter that ended it; only the old code tells.
  return event.isComposing || event.keyCode === 229;
}

/** Enter sends, alone or with Ctrl or Command; with Shift it begins a line. */
export function isSending(pressed: Pressed): boolean {
  const { key, shiftKey } = pressed.nativeEvent;
  return key === "Enter" && !shiftKey && !isComposing(pressed);
}

/** Where Enter begins a line, Ctrl or Command with it sends. */
export function isSendingLong(pressed: Pressed): boolean {
  const { ctrlKey, metaKey } = pressed.nativeEvent;
  return (ctrlKey || metaKey) && isSending(pressed);
}

export function Key({ of }: { of: string }) {
  return <kbd>{keyName(of)}</kbd>;
}
