// Who reads at the end of the timeline stays there; a chip tells the others what came since.

import { useEffect, useState, type RefObject } from "react";
import { useFollowEnd, type FollowEnd } from "../session/useFollowEnd";

export interface Following extends FollowEnd {
  /** Turns that came while the reader was elsewhere. */
  missed: number;
}

const page = () => document.getElementById("main");

export function useFollowing(timeline: RefObject<HTMLElement | null>, turns: number): Following {
  const following = useFollowEnd(page, timeline);
  const [seen, setSeen] = useState(turns);
  const { isAtEnd } = following;
  useEffect(() => {
    if (isAtEnd) setSeen(turns);
  }, [isAtEnd, turns]);
  return { ...following, missed: Math.max(0, turns - seen) };
}
