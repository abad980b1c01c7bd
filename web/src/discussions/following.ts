// The end of the timeline stays in view as long as the reader is there. Whoever reads
// further up is not moved; a chip tells what came since.

import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

/** This near the end counts as being there. */
const NEAR_PX = 48;
/** What grows this soon after a click is what was clicked for. */
const PRESSED_MS = 200;

export interface Following {
  /** The reader is at the end. */
  isAtEnd: boolean;
  /** Read when something is about to change; not a cause to draw again. */
  isFollowing: RefObject<boolean>;
  /** Turns that came while the reader was elsewhere. */
  missed: number;
  toEnd: () => void;
}

export function useFollowing(timeline: RefObject<HTMLElement | null>, turns: number): Following {
  const [isAtEnd, setAtEnd] = useState(true);
  const [seen, setSeen] = useState(turns);
  const isFollowing = useRef(false);
  const latest = useRef(turns);
  latest.current = turns;

  const toEnd = useCallback(() => {
    const page = scroller();
    page?.scrollTo({ top: page.scrollHeight });
  }, []);

  useEffect(() => {
    const page = scroller();
    const content = timeline.current;
    if (!page || !content) return undefined;
    let top = page.scrollTop;
    const settle = (follows: boolean) => {
      isFollowing.current = follows;
      // Whoever follows is kept at the end by us; the browser would keep what is in view instead.
      page.style.overflowAnchor = follows ? "none" : "";
      setAtEnd(follows);
      if (follows) setSeen(latest.current);
    };
    const look = () => {
      const isNear = isNearEnd(page);
      const isUp = page.scrollTop < top;
      top = page.scrollTop;
      // What grows below the reader takes nobody away from the end; only scrolling up does.
      if (isNear || isUp || !isFollowing.current) settle(isNear);
    };
    let pressedAt = -Infinity;
    const press = () => {
      pressedAt = performance.now();
    };
    const grown = new ResizeObserver(() => {
      // What somebody has just opened stays where it was opened.
      const isPressed = performance.now() - pressedAt < PRESSED_MS;
      if (isPressed) settle(isNearEnd(page));
      else if (isFollowing.current) toEnd();
      else look();
    });
    look();
    page.addEventListener("scroll", look, { passive: true });
    page.addEventListener("click", press, { capture: true });
    grown.observe(content.parentElement ?? content);
    return () => {
      page.removeEventListener("scroll", look);
      page.removeEventListener("click", press, { capture: true });
      grown.disconnect();
      page.style.overflowAnchor = "";
    };
  }, [timeline, toEnd]);

  useEffect(() => {
    if (isFollowing.current) setSeen(turns);
  }, [turns]);

  return { isAtEnd, isFollowing, missed: Math.max(0, turns - seen), toEnd };
}

function isNearEnd(page: HTMLElement): boolean {
  return page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_PX;
}

function scroller(): HTMLElement | null {
  return document.getElementById("main");
}
