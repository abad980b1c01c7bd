// A text that shows its first twelve lines until somebody wants more.

import { useCallback, useEffect, useId, useRef, useState, type ReactNode } from "react";

export interface Folding {
  isOpen: boolean;
  isLong: boolean;
  close: () => void;
  toggle: () => void;
  measure: (isLong: boolean) => void;
}

const LINES = 12;
const LINE_PX = 21;
const FOLDED_PX = LINES * LINE_PX;
/** Nobody wants to press a button for one more line. */
const SPARE_PX = LINE_PX;
const LINE_CHARS = 110;

/** Until it is drawn nobody knows how long a text is; this is near enough. */
export function looksLong(text: string): boolean {
  let lines = 0;
  for (const line of text.split("\n")) {
    lines += Math.max(1, Math.ceil(line.length / LINE_CHARS));
    if (lines > LINES) return true;
  }
  return false;
}

export function useFold(text: string, startsOpen: boolean): Folding {
  const [isOpen, setOpen] = useState(startsOpen);
  const [isLong, setLong] = useState(() => looksLong(text));
  const close = useCallback(() => setOpen(false), []);
  const toggle = useCallback(() => setOpen((now) => !now), []);
  return { isOpen, isLong, close, toggle, measure: setLong };
}

export function Fold({
  fold,
  name,
  children,
}: {
  fold: Folding;
  /** Whose text it is. */
  name: string;
  children: ReactNode;
}) {
  const { isOpen, isLong, toggle, measure } = fold;
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => {
    const text = inner.current;
    if (!text) return undefined;
    const drawn = new ResizeObserver(([box]) => {
      const height = box?.contentRect.height ?? 0;
      if (height > 0) measure(height > FOLDED_PX + SPARE_PX);
    });
    drawn.observe(text);
    return () => drawn.disconnect();
  }, [measure]);
  return (
    <>
      <div
        ref={outer}
        id={id}
        className="fold"
        data-folded={(isLong && !isOpen) || undefined}
        style={isLong && !isOpen ? { maxHeight: FOLDED_PX } : undefined}
        // A link or a table that is folded away opens what it stands in when it gets the focus.
        onFocus={(event) => {
          if (isLong && !isOpen && outer.current && isBelow(event.target, outer.current)) toggle();
        }}
      >
        <div ref={inner}>{children}</div>
      </div>
      {isLong && (
        <button
          type="button"
          className="show-more no-print"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={toggle}
        >
          {isOpen ? "Show less" : "Show more"}
          <span className="unseen"> of what {name} said</span>
        </button>
      )}
    </>
  );
}

function isBelow(target: Element, box: HTMLElement): boolean {
  return target.getBoundingClientRect().bottom > box.getBoundingClientRect().bottom;
}
