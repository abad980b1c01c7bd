// A panel that stays at the end of its text while that grows, for as long as its reader is at
// the end. Somebody who has scrolled up is never moved.

import { useCallback, useEffect, useRef, useState } from "react";
import type { ScrollSync } from "./scrollSync";

const NEAR_PX = 48;

export function useFollowing(isLive: boolean, sync: ScrollSync) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(isLive);
  const live = useRef(isLive);
  live.current = isLive;
  const [isAway, setAway] = useState(false);

  const jump = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    follows.current = true;
    box.scrollTop = box.scrollHeight;
    box.focus({ preventScroll: true });
  }, []);

  useEffect(() => {
    const box = scroller.current;
    const inside = content.current;
    if (!box || !inside) return undefined;
    let last = box.scrollTop;
    const look = () => {
      const top = box.scrollTop;
      const isNear = box.scrollHeight - top - box.clientHeight < NEAR_PX;
      if (isNear && live.current) follows.current = true;
      else if (!isNear && top < last - 1) follows.current = false;
      last = top;
      setAway(!isNear && !follows.current);
    };
    // Told after the layout is done, so that asking for sizes costs nothing.
    const grown = new ResizeObserver(() => {
      if (!follows.current) return;
      sync.movesItself(box);
      box.scrollTop = box.scrollHeight;
    });
    grown.observe(inside);
    box.addEventListener("scroll", look, { passive: true });
    const leave = sync.add(box);
    return () => {
      leave();
      grown.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, [sync]);

  return { scroller, content, isAway: isAway && isLive, jump };
}
