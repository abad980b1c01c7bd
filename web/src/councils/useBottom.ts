// Keeps a scroller at its end for whoever is there, and never moves it for anybody else.

import { useCallback, useEffect, useRef, useState } from "react";

const NEAR_PX = 48;

export function useBottom() {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isAtBottom, setAtBottom] = useState(true);

  const toBottom = useCallback(() => {
    follows.current = true;
    setAtBottom(true);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  /** The reader goes elsewhere; growth moves nothing from now on. */
  const leaveBottom = useCallback(() => {
    follows.current = false;
  }, []);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const rest = element.scrollHeight - element.scrollTop - element.clientHeight;
    follows.current = rest < NEAR_PX;
    setAtBottom(follows.current);
  }, []);

  useEffect(() => {
    const element = scroller.current;
    const inside = content.current;
    if (!element || !inside) return undefined;
    const observer = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
      // Where there is no room, there may be some by now, or the other way round.
      else onScroll();
    });
    observer.observe(inside);
    observer.observe(element);
    return () => observer.disconnect();
  }, [onScroll]);

  return { scroller, content, isAtBottom, toBottom, leaveBottom, onScroll };
}
