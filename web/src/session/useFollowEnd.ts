// The end of a text that grows stays in view as long as the reader is there. Whoever reads
// further up is never moved.

import { useCallback, useEffect, useRef, useState, type RefObject } from "react";

/** This near the end counts as being there. */
const NEAR_PX = 48;
/** What grows this soon after a click is what was clicked for. */
const PRESSED_MS = 200;

interface Options {
  /** Whether it begins at the end; by itself, if it is there. */
  starts?: boolean;
  /** Whether coming to the end means to stay there. */
  isOn?: boolean;
  /** Before it is moved, for whoever listens to its scrolling. */
  onMove?: (box: HTMLElement) => void;
}

export interface FollowEnd {
  isAtEnd: boolean;
  /** Read when something is about to change; not a cause to draw again. */
  isFollowing: RefObject<boolean>;
  toEnd: () => void;
  /** The reader goes elsewhere; growth moves nothing from now on. */
  leave: () => void;
}

/** `scroller` must always be the same function: what scrolls, which may be around `content`. */
export function useFollowEnd(
  scroller: () => HTMLElement | null,
  content: RefObject<HTMLElement | null>,
  { starts, isOn = true, onMove }: Options = {},
): FollowEnd {
  const [isAtEnd, setAtEnd] = useState(true);
  const isFollowing = useRef(starts ?? false);
  const latest = useRef({ isOn, onMove });
  latest.current = { isOn, onMove };

  const toEnd = useCallback(() => {
    const box = scroller();
    if (!box) return;
    isFollowing.current = latest.current.isOn;
    latest.current.onMove?.(box);
    box.scrollTop = box.scrollHeight;
    setAtEnd(true);
  }, [scroller]);
  const leave = useCallback(() => {
    isFollowing.current = false;
  }, []);

  useEffect(() => {
    const box = scroller();
    const inside = content.current;
    if (!box || !inside) return undefined;
    let top = box.scrollTop;
    let pressedAt = -Infinity;
    const settle = (isNear: boolean) => {
      isFollowing.current = isNear && latest.current.isOn;
      // Whoever follows is kept at the end by us; the browser would keep what is in view instead.
      box.style.overflowAnchor = isFollowing.current ? "none" : "";
      setAtEnd(isNear);
    };
    const look = () => {
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX;
      const isUp = box.scrollTop < top;
      top = box.scrollTop;
      // What grows below the reader takes nobody away from the end; only scrolling up does.
      if (isNear || isUp || !isFollowing.current) settle(isNear);
    };
    const press = () => {
      pressedAt = performance.now();
    };
    // Told after the layout is done, so that asking for sizes costs nothing.
    const grown = new ResizeObserver(() => {
      const isPressed = performance.now() - pressedAt < PRESSED_MS;
      if (isFollowing.current && !isPressed) toEnd();
      else look();
      // What somebody has just opened stays where it was opened.
      if (isPressed) settle(box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX);
    });
    if (isFollowing.current) toEnd();
    else look();
    box.addEventListener("scroll", look, { passive: true });
    box.addEventListener("click", press, { capture: true });
    grown.observe(inside);
    if (box.contains(inside)) grown.observe(box);
    return () => {
      box.removeEventListener("scroll", look);
      box.removeEventListener("click", press, { capture: true });
      grown.disconnect();
      box.style.overflowAnchor = "";
    };
  }, [scroller, content, toEnd]);

  return { isAtEnd, isFollowing, toEnd, leave };
}
